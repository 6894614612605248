"""Small array operations that the rest of the package shares."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import EmptyGeometryError, InvalidShapeError, NonFiniteGeometryError

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]

_SMALL, _LARGE = 1e-140, 1e150
"""Lengths between these can be squared and added without losing digits."""

CHUNK_ROWS = 16_384
"""Rows worked on at a time: larger temporaries fall out of the cache and cost more than the arithmetic."""


def as_floats(values: ArrayLike, what: str, tail: tuple[int, ...] = ()) -> Floats:
    """`values` as a finite float64 array whose last axes are `tail`.

    Raises InvalidShapeError or NonFiniteGeometryError, naming `what` and the first bad element.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidShapeError(f"{what}: not an array of numbers ({error})") from None
    if tail and array.shape[-len(tail) :] != tail:
        raise InvalidShapeError(f"{what}: the shape must end in {tail}, not {array.shape}")
    require_finite(array, what)
    return array


def require_finite(array: NDArray[Any], what: str) -> None:
    """Raise NonFiniteGeometryError, naming the first element that is NaN or infinite."""
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise NonFiniteGeometryError(f"{what}: element {index} is {array[index]}")


def as_point_sets(points: ArrayLike) -> NDArray[Any]:
    """`points` as a (..., n, 3) array with n >= 1; float32 and float64 are kept, the rest is widened.

    Floats are not looked at: for callers who see from their result whether all of them are finite.
    Raises InvalidShapeError, EmptyGeometryError or NonFiniteGeometryError.
    """
    array = np.asarray(points)
    if array.dtype != np.float64 and array.dtype != np.float32:
        array = as_floats(array, "points")
    if array.ndim < 2 or array.shape[-1] != 3:
        if array.size == 0:
            raise EmptyGeometryError("no points")
        raise InvalidShapeError(f"points: the shape must be (..., n, 3), not {array.shape}")
    if array.shape[-2] == 0:
        raise EmptyGeometryError("no points")
    return array


def dot(a: Floats, b: Floats) -> Floats:
    """Dot product over the last axis: (..., 3) and (..., 3) -> (...)."""
    result: Floats = a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]
    return result


def cross(a: Floats, b: Floats) -> Floats:
    """Cross product over the last axis, (..., 3) each; much faster than NumPy's on short batches."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return np.stack([x, y, z], axis=-1)


def length(vectors: Floats) -> Floats:
    """Euclidean length over the last axis, (..., 3) -> (...); without over- or underflow on the way."""
    with np.errstate(over="ignore", under="ignore"):
        result = np.sqrt(dot(vectors, vectors))
    if result.size and not (result.min() > _SMALL and result.max() < _LARGE):
        odd = ~((result > _SMALL) & (result < _LARGE))
        sizes = np.abs(vectors[odd]).max(axis=-1, keepdims=True)
        # A power of two scales without a rounding; the one below each size, as the one above may overflow.
        powers = np.ldexp(1.0, np.frexp(np.where(np.isfinite(sizes), sizes, 1.0))[1] - 1)
        scaled = vectors[odd] / powers
        result = np.asarray(result)
        with np.errstate(over="ignore"):
            result[odd] = np.sqrt(dot(scaled, scaled)) * powers[..., 0]
    return np.asarray(result)


def unit(vectors: Floats) -> Floats:
    """Vectors scaled to length 1; zero vectors become +X, a stated choice instead of NaN."""
    lengths = length(vectors)[..., None]
    # Lengths near the smallest number there is have no inverse: first to a size that has one.
    tiny = lengths < 1e-290
    if tiny.any():
        vectors = np.where(tiny, vectors * 1e30, vectors)
        lengths = np.where(tiny, length(vectors)[..., None], lengths)
    scaled = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return np.where(lengths > 0, scaled, np.array([1.0, 0.0, 0.0]))


def perpendicular(vectors: Floats) -> Floats:
    """A unit vector at a right angle to each (..., 3) vector; +X for zero vectors. Never NaN."""
    # Crossed with the axis that it has least of, a vector cannot be parallel.
    least = np.eye(3)[np.abs(vectors).argmin(axis=-1)]
    across = unit(cross(unit(vectors), least))
    return np.where((vectors == 0).all(axis=-1)[..., None], np.array([1.0, 0.0, 0.0]), across)


def transform_points(matrix: ArrayLike, points: ArrayLike) -> Floats:
    """(..., 3) points moved by affine 4x4 matrices (column vectors, translation in the last column)."""
    m = as_floats(matrix, "matrix", (4, 4))
    result: Floats = transform_vectors(m[..., :3, :3], np.asarray(points, dtype=np.float64)) + m[..., :3, 3]
    return result


def transform_vectors(linear: Floats, vectors: Floats) -> Floats:
    """(..., 3) vectors multiplied by (..., 3, 3) matrices from the left."""
    # No matrix product: Blender's NumPy has no tuned BLAS, and this keeps one summation order everywhere.
    x, y, z = vectors[..., 0:1], vectors[..., 1:2], vectors[..., 2:3]
    # Of what is infinite, zero times is not a number: for callers to see.
    with np.errstate(invalid="ignore"):
        result: Floats = x * linear[..., 0] + y * linear[..., 1] + z * linear[..., 2]
    return result


def rotation_matrix(quaternion: ArrayLike) -> Floats:
    """The matrices (..., 3, 3) that turn column vectors by quaternions (..., 4), w first, not all 0."""
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
