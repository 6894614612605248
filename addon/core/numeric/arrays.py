"""Arrays, shared by the whole package: checked conversion, vector algebra, affine transforms, tables.

Vectors lie along the last axis, (..., 3), unless a name ends in `_first`: then along the first, (3, ...),
which NumPy computes faster for many short vectors. Batches of two arguments broadcast.

`Table` is the base class of columns with one value for each row, declared like the fields of a dataclass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise, product
from typing import Any, ClassVar, Self, TypeAlias, dataclass_transform

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import EmptyGeometryError, InvalidShapeError, NonFiniteGeometryError

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

_SMALL, _LARGE = 1e-140, 1e150
"""Lengths between these can be squared and added without loss of precision."""

_FEW_VECTORS = 1024
"""Up to this many vectors, products over the last axis are as fast as those by coordinates."""

CHUNK_ROWS = 16_384
"""Rows per chunk: larger temporaries do not fit the cache and cost more than the arithmetic."""

UNIT_BOX_CORNERS: Floats = np.array(list(product((-1.0, 1.0), repeat=3)))
"""(8, 3) corners of the box from -1 to 1 on each axis; the last axis varies fastest."""
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Odd multiplier with well mixed bits, for multiplicative hashing (Knuth)."""
_SHIFT = np.uint64(29)


def as_floats(values: ArrayLike, name: str, tail: tuple[int, ...] = ()) -> Floats:
    """Convert `values` of any shape to a finite float64 array whose last axes have the sizes `tail`.

    Returns array : (..., *tail) float64. `values` itself if it is such an array already.
    Raises InvalidShapeError, NonFiniteGeometryError: with `name`, and the index of the first element that
        is not finite.
    """
    if type(values) is float or (type(values) is np.ndarray and values.dtype == np.float64):
        array = np.asarray(values, dtype=np.float64)
    else:
        numbers = as_array(values, name)
        try:
            # Too large numbers become infinite.
            with np.errstate(over="ignore"):
                array = numbers.astype(np.float64, copy=False)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise InvalidShapeError(f"{name}: not an array of numbers ({error})") from None
    if tail and array.shape[-len(tail) :] != tail:
        raise InvalidShapeError(f"{name}: the shape must end in {tail}, not {array.shape}")
    require_finite(array, name)
    return array


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """Convert `values` of any shape to an array of numbers of any type.

    Returns array : (...) of bool, int, float or object. `values` itself if it is a plain array already.
    Raises InvalidShapeError: with `name`, also for ragged lists, texts, dates and complex numbers, and for
        masked elements.
    """
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidShapeError(f"{name}: not an array of numbers ({error})") from None
    if array.dtype.kind not in "fiubO":
        kind = _KINDS.get(array.dtype.kind, f"of type {array.dtype.name}")
        raise InvalidShapeError(f"{name}: not an array of numbers, but {kind}")
    if array is not values and isinstance(values, np.ndarray) and np.any(getattr(values, "mask", False)):
        raise InvalidShapeError(f"{name}: not an array of numbers, but with masked elements")
    return array


_KINDS = {"U": "text", "S": "bytes", "c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}


def require_finite(array: NDArray[Any], name: str) -> None:
    """Require that an array of floats is finite.

    Raises NonFiniteGeometryError: with `name`, and the index of the first element that is NaN or infinite.
    """
    finite = np.isfinite(array)
    if not finite.all():
        index = first_index(~finite)
        raise NonFiniteGeometryError(f"{name}: element {index} is {array[index]}")


def first_index(mask: ArrayLike) -> tuple[int, ...]:
    """Return the index of the first true element of a mask, of which there is one. Exact."""
    return tuple(int(i) for i in np.argwhere(np.asarray(mask))[0])


def as_point_sets(points: ArrayLike) -> NDArray[Any]:
    """Convert `points` to one or more non-empty point sets (..., n, 3) of float32 or float64.

    float32 and float64 are kept, other types become float64. Unlike in `as_floats`, their values are not
    tested for NaN and infinity: callers find these in their result, which is cheaper.

    Raises InvalidShapeError, EmptyGeometryError
    Raises NonFiniteGeometryError: for other types than float32 and float64 only.
    """
    array = as_array(points, "points")
    if array.dtype != np.float64 and array.dtype != np.float32:
        array = as_floats(array, "points")
    if array.ndim < 2 or array.shape[-1] != 3:
        if array.size == 0:
            raise EmptyGeometryError("no points")
        raise InvalidShapeError(f"points: the shape must be (..., n, 3), not {array.shape}")
    if array.shape[-2] == 0:
        raise EmptyGeometryError("no points")
    return array


def as_points(points: ArrayLike) -> Floats:
    """Convert `points` to one non-empty set of finite points (n, 3) of float64.

    Raises InvalidShapeError, EmptyGeometryError, NonFiniteGeometryError
    """
    array = as_floats(as_point_sets(points), "points")
    if array.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {array.shape}")
    return array


def concatenated_ranges(starts: Ints, sizes: Ints) -> Ints:
    """Concatenate ranges of consecutive integers, from their starts (k,) and sizes (k,). Exact."""
    before = np.cumsum(sizes) - sizes
    return (starts - before).repeat(sizes) + np.arange(sizes.sum())


def is_run_start(values: Ints) -> Bools:
    """Mask (m,) of sorted values that differ from the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts


def chunks_by_cost(costs: Floats | Ints, most: int) -> list[slice]:
    """Cut rows (m,) into successive chunks, at least one, that cost about `most` together, or are one row."""
    chunk_of = np.cumsum(costs) // most
    cuts = [0, *(np.flatnonzero(np.diff(chunk_of)) + 1).tolist(), len(costs)]
    return [slice(begin, end) for begin, end in pairwise(cuts)]


def dot(a: Floats, b: Floats) -> Floats:
    """Compute the dot product over the last axis. Exact up to float64 rounding."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def cross(a: Floats, b: Floats) -> Floats:
    """Compute the cross product over the last axis; much faster than np.cross on short batches."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return np.stack([x, y, z], axis=-1)


def dot_first(a: Floats, b: Floats) -> Floats:
    """Compute the dot product over the first axis. Exact up to float64 rounding."""
    result: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return result


def cross_first(a: Floats, b: Floats) -> Floats:
    """Compute the cross product over the first axis. Exact up to float64 rounding."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def length_first(vectors: Floats) -> Floats:
    """Compute the Euclidean length over the first axis. Exact up to float64 rounding.

    Squares must neither overflow nor underflow; `length` has no such limit.
    """
    return np.sqrt(dot_first(vectors, vectors))


def length(vectors: Floats) -> Floats:
    """Compute the Euclidean length over the last axis. Exact up to float64 rounding.

    Vectors of any size: squares neither overflow nor underflow.
    """
    with np.errstate(over="ignore", under="ignore"):
        result = np.sqrt(dot(vectors, vectors))
    if result.size and not (result.min() > _SMALL and result.max() < _LARGE):
        unsafe = ~((result > _SMALL) & (result < _LARGE))
        sizes = np.abs(vectors[unsafe]).max(axis=-1, keepdims=True)
        # Scale by a power of two because that is exact; by the one below each size, as the one above may
        # overflow.
        powers = np.ldexp(1.0, np.frexp(np.where(np.isfinite(sizes), sizes, 1.0))[1] - 1)
        scaled = vectors[unsafe] / powers
        result = np.asarray(result)
        with np.errstate(over="ignore"):
            result[unsafe] = np.sqrt(dot(scaled, scaled)) * powers[..., 0]
    return np.asarray(result)


def largest_component(vectors: Floats) -> Floats:
    """Find the largest component, of either sign, of vectors (..., 3); NaN where one is. Exact."""
    x, y, z = (np.abs(vectors[..., axis]) for axis in range(3))
    # Ten times as fast as a reduction over so short an axis.
    return np.asarray(np.maximum(np.maximum(x, y), z))


def normalized(vectors: Floats) -> Floats:
    """Scale vectors (..., 3) of any length to length 1. Exact up to float64 rounding.

    Zero vectors become +X, by definition, never NaN.
    """
    lengths = length(vectors)[..., None]
    # Lengths near the smallest float64 have no finite inverse: scale such vectors up first.
    tiny = lengths < 1e-290
    if tiny.any():
        vectors = vectors * np.where(tiny, 1e30, 1.0)
        lengths = np.where(tiny, length(vectors)[..., None], lengths)
    scaled = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return np.where(lengths > 0, scaled, np.array([1.0, 0.0, 0.0]))


def unit_or_zero(vectors: Floats) -> Floats:
    """Scale vectors (..., 3) to length 1; zero stays zero. Exact up to float64 rounding."""
    return np.where((vectors != 0).any(axis=-1)[..., None], normalized(vectors), 0.0)


def perpendicular(vectors: Floats) -> Floats:
    """Find a unit vector perpendicular to each vector (..., 3). Exact up to float64 rounding.

    +X for zero vectors, never NaN.
    """
    # Cross with the axis of the smallest component: a vector cannot be parallel to that one.
    least = np.eye(3)[np.abs(vectors).argmin(axis=-1)]
    across = normalized(cross(normalized(vectors), least))
    return np.where((vectors == 0).all(axis=-1)[..., None], np.array([1.0, 0.0, 0.0]), across)


def transform_points(matrix: ArrayLike, points: ArrayLike) -> Floats:
    """Transform points (..., 3) by affine matrices (..., 4, 4) for column vectors; both broadcast.

    Raises InvalidShapeError, NonFiniteGeometryError: for the matrix; points are not tested.
    """
    m = as_floats(matrix, "matrix", (4, 4))
    return transform_vectors(m[..., :3, :3], np.asarray(points, dtype=np.float64)) + m[..., :3, 3]


def power_of_two_scale(size: Floats) -> Floats:
    """Find a power of two above each size >= 0, to scale by without rounding.

    2 for size 0, and the largest power for sizes above that.
    """
    exponent = np.frexp(np.where(size > 0, size, 1.0))[1]
    return np.asarray(np.ldexp(1.0, np.minimum(exponent, 1023)))


def transform_vectors(linear: Floats, vectors: Floats) -> Floats:
    """Multiply vectors (..., 3) by matrices (..., 3, 3) from the left; both broadcast.

    Exact up to float64 rounding.
    """
    # No matmul: Blender's NumPy has no tuned BLAS, and this sums in one order on all systems.
    # Zero times infinity is NaN: callers test for it.
    with np.errstate(invalid="ignore"):
        if linear.ndim == 2 and vectors.ndim == 2 and len(vectors) > _FEW_VECTORS:
            # By coordinates: more than twice as fast as over an axis of three, with the same sums.
            return np.ascontiguousarray(transform_columns(linear, np.ascontiguousarray(vectors.T)).T)
        x, y, z = vectors[..., 0:1], vectors[..., 1:2], vectors[..., 2:3]
        result: Floats = x * linear[..., 0] + y * linear[..., 1] + z * linear[..., 2]
    return result


def transform_columns(linear: Floats, columns: Floats) -> Floats:
    """Multiply columns (3, n) by matrices (3, 3) or (3, 3, n), to the bit as `transform_vectors` does."""
    x, y, z = columns
    result: Floats = np.empty_like(columns)
    with np.errstate(invalid="ignore"):
        for k, (a, b, c) in enumerate(linear):
            np.multiply(x, a, out=result[k])
            result[k] += y * b
            result[k] += z * c
    return result


def rotation_matrix(quaternion: ArrayLike) -> Floats:
    """Convert quaternions (..., 4), w first, of any length but 0, to matrices for column vectors.

    Raises InvalidShapeError, NonFiniteGeometryError
    """
    w, x, y, z = np.moveaxis(as_floats(quaternion, "quaternion", (4,)), -1, 0)
    scale = 2 / (w * w + x * x + y * y + z * z)
    matrix = np.empty((*x.shape, 3, 3))
    matrix[..., 0, 0] = 1 - scale * (y * y + z * z)
    matrix[..., 0, 1] = scale * (x * y - w * z)
    matrix[..., 0, 2] = scale * (x * z + w * y)
    matrix[..., 1, 0] = scale * (x * y + w * z)
    matrix[..., 1, 1] = 1 - scale * (x * x + z * z)
    matrix[..., 1, 2] = scale * (y * z - w * x)
    matrix[..., 2, 0] = scale * (x * z - w * y)
    matrix[..., 2, 1] = scale * (y * z + w * x)
    matrix[..., 2, 2] = 1 - scale * (x * x + y * y)
    return matrix


def distinct_rows(rows: Floats) -> tuple[Ints, Ints]:
    """Find the rows (n, k) that differ in any bit: NaN equals itself, and 0.0 differs from -0.0. Exact.

    Returns first : (g,) int. Index of the first row of each kind, in any order of kinds.
    Returns kind_of : (n,) int. Kind of each row.
    """
    bits = np.ascontiguousarray(rows).view(np.uint64)
    _, first, kind_of = np.unique(row_codes(bits.T), return_index=True, return_inverse=True)
    if not np.array_equal(bits[first][kind_of], bits):
        # Two kinds have the same code. Sorting whole rows takes four times as long.
        _, first, kind_of = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return first, kind_of.reshape(-1)


def row_codes(columns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix the bits of rows, from their columns (k, n), to codes (n,), which different rows rarely share."""
    codes = np.zeros(columns.shape[1], dtype=np.uint64)
    for column in columns:
        codes = (codes ^ column) * _MULTIPLIER
        codes ^= codes >> _SHIFT
    return codes


@dataclass_transform(frozen_default=True, eq_default=False)
class Table:
    """Columns of arrays, batches of shapes, or further tables. Unpacks to its columns.

    Rows are along the first axis, or with `class Pairs(Table, last=True)` along the last: then sums over few
    coordinates of many rows are sums of whole columns.
    """

    _axis: ClassVar[int] = 0

    def __init_subclass__(cls, last: bool = False) -> None:
        """Make the subclass a frozen dataclass."""
        cls._axis = -1 if last else 0
        dataclass(frozen=True, eq=False)(cls)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the columns, in the order of their declaration."""
        return iter(vars(self).values())

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(each.name for each in fields(cls))  # type: ignore[arg-type]

    def take(self, rows: Any) -> Self:
        """Select rows by anything that indexes an array; by indices (k,) or a mask where rows are last."""
        if self._axis:
            if np.asarray(rows).dtype == bool:
                rows = np.flatnonzero(rows)  # np.take would read masks as indices
            return type(self)(*(np.take(column, rows, axis=-1) for column in self))
        columns = (column.take(rows) if isinstance(column, Table) else column[rows] for column in self)
        return type(self)(*columns)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Join the rows of tables of arrays and tables, at least one, in order."""
        return cls(
            *(
                columns[0].concatenate(columns)
                if isinstance(columns[0], Table)
                else np.concatenate(columns, axis=cls._axis)
                for columns in zip(*parts, strict=True)
            )
        )

    def assign(self, rows: Any, new: Self) -> None:
        """Overwrite rows of the arrays in place."""
        for column, values in zip(self, new, strict=True):
            column[rows] = values

    def replaced(self, **columns: Any) -> Self:
        """Return the table with other columns of these names."""
        return replace(self, **columns)  # type: ignore[type-var]
