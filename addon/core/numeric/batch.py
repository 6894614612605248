"""Base class of all shapes: frozen arrays that share their leading axes, the batch.

A field of a shape is an array (*batch, *own axes). Indexing, broadcasting and reshaping act on the batch
axes of all fields at once.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from .arrays import Bools, Floats, as_floats, first_index

_Self = TypeVar("_Self", bound="Batched")
_SIZES = {"radius", "half_length", "half_extents"}
"""Fields that are not negative."""


class Batched:
    """Base of the shapes. A single shape is a batch of shape (); the arrays are read-only views."""

    field_shapes: ClassVar[dict[str, tuple[int, ...]]]
    """Names of the fields, in order, with the shape of one element: the axes that follow the batch axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the batch."""
        name, tail = next(iter(self.field_shapes.items()))
        axes: tuple[int, ...] = getattr(self, name).shape
        return axes[: len(axes) - len(tail)]

    def __getitem__(self: _Self, index: Any) -> _Self:
        """Select shapes by an index of the batch axes: anything that indexes an array.

        Raises IndexError for an index that reaches beyond the batch axes.
        """
        whole = index if isinstance(index, tuple) else (index,)
        are_rows = all(type(part) is np.ndarray and part.dtype.kind == "i" for part in whole)
        if not (are_rows and len(whole) <= len(self.shape)):
            # Test the index on a field without its own axes, because it must not reach into these.
            name, tail = next(iter(self.field_shapes.items()))
            getattr(self, name)[(..., *(0,) * len(tail))][index]
        has_ellipsis = any(part is Ellipsis for part in whole)
        arrays = {}
        for name, tail in self.field_shapes.items():
            array = getattr(self, name)
            if are_rows and len(whole) == 1 and array.ndim > 1 and array.flags.c_contiguous:
                # Rows of several numbers are taken four times as fast as they are indexed.
                arrays[name] = array.take(whole[0], axis=0)
                continue
            # After an ellipsis, index the field's own axes too: the index would be applied to them otherwise.
            all_of_tail = (slice(None),) * len(tail)
            arrays[name] = array[(*whole, *all_of_tail) if has_ellipsis else index]
        return self._with_arrays(arrays)

    def broadcast_to(self: _Self, shape: tuple[int, ...]) -> _Self:
        """Repeat the batch without copies, like np.broadcast_to. Exact.

        Raises InvalidShapeError: if the batch does not broadcast to `shape`.
        """
        fields = self.field_shapes.items()
        try:
            batch = tuple(map(operator.index, shape))
            arrays = {name: np.broadcast_to(getattr(self, name), batch + tail) for name, tail in fields}
        except (TypeError, ValueError, OverflowError):
            text = f"shape: a tuple of whole numbers to which a batch {self.shape} broadcasts is needed"
            raise InvalidShapeError(text) from None
        return self._with_arrays(arrays)

    def to_list(self: _Self) -> list[_Self]:
        """Return the shapes of a batch (n,) as n single shapes of the same kind, batch (). Exact."""
        # Not by `unchecked`, because there may be many: views of read-only arrays are read-only already.
        shapes = []
        for index in range(self.shape[0]):
            shape = object.__new__(type(self))
            shape.__dict__.update(self.__dict__)
            for name in self.field_shapes:
                shape.__dict__[name] = getattr(self, name)[index, ...]
            shapes.append(shape)
        return shapes

    def reshaped(self: _Self, shape: tuple[int, ...]) -> _Self:
        """Return the same shapes in a batch of another shape and the same size, like np.reshape. Exact.

        Raises InvalidShapeError: if `shape`, in which one axis may be -1, has another size.
        """
        fields = self.field_shapes.items()
        try:
            batch = tuple(map(operator.index, shape))
            arrays = {name: getattr(self, name).reshape(batch + tail) for name, tail in fields}
        except (TypeError, ValueError, OverflowError):
            text = f"shape: a tuple of whole numbers to which a batch {self.shape} reshapes is needed"
            raise InvalidShapeError(text) from None
        return self._with_arrays(arrays)

    @classmethod
    def unchecked(cls: type[_Self], *arrays: Any) -> _Self:
        """Make shapes from valid arrays, one for each field in order, of the same batch: without checks."""
        shape = object.__new__(cls)
        shape._freeze(arrays)
        return shape

    def _broadcastable(self, values: ArrayLike, name: str, tail: tuple[int, ...] = ()) -> Floats:
        """Convert `values` to finite float64 (..., *tail) whose batch broadcasts against this one.

        Raises InvalidShapeError or NonFiniteGeometryError, with `name`.
        """
        array = as_floats(values, name, tail)
        common_batch(name, self.shape, array.shape[: array.ndim - len(tail)])
        return array

    def _with_arrays(self: _Self, arrays: dict[str, Any]) -> _Self:
        """Make shapes of the same kind from valid arrays; attributes that are not arrays are kept."""
        shape = object.__new__(type(self))
        shape.__dict__.update(self.__dict__)
        shape._freeze(tuple(arrays.values()))
        return shape

    def _fill(self, kind: str, *arguments: ArrayLike) -> None:
        """Set the fields from arguments, one for each: finite, of one batch, and sizes not negative.

        kind : Name of the shape, for the error message.
        """
        tails = self.field_shapes.values()
        given = zip(arguments, self.field_shapes.items(), strict=True)
        arrays = [as_floats(each, f"{kind} {name.replace('_', ' ')}", tail) for each, (name, tail) in given]
        batches = [array.shape[: array.ndim - len(tail)] for array, tail in zip(arrays, tails, strict=True)]
        if any(batch != batches[0] for batch in batches):
            whole = common_batch(kind, *batches)
            arrays = [np.broadcast_to(each, whole + tail) for each, tail in zip(arrays, tails, strict=True)]
        for name, array in zip(self.field_shapes, arrays, strict=True):
            if name in _SIZES and (array < 0).any():
                index = first_index(array < 0)
                raise InvalidShapeError(f"{kind} {name.replace('_', ' ')}: element {index} is negative")
        self._freeze(tuple(arrays))

    def _freeze(self, arrays: tuple[Any, ...]) -> None:
        """Set the fields of a frozen dataclass to read-only views of the arrays."""
        # Keep this short: for one small shape it takes a tenth of the time of its fit.
        fields = self.__dict__
        for index, name in enumerate(self.field_shapes):
            view = np.asarray(arrays[index], np.float64).view()
            view.setflags(write=False)
            fields[name] = view


def concatenated(*shapes: _Self, axis: int = 0) -> _Self:
    """Concatenate one or more batches of one kind along a batch axis, like np.concatenate. Exact."""
    columns = ([getattr(shape, name) for shape in shapes] for name in shapes[0].field_shapes)
    return type(shapes[0]).unchecked(*(np.concatenate(column, axis=axis) for column in columns))


def where_shapes(condition: Bools, first: _Self, second: _Self) -> _Self:
    """Select shape by shape from two batches of one kind, as `numpy.where` does. Exact."""
    fields = []
    for name, tail in first.field_shapes.items():
        mask = condition.reshape(condition.shape + (1,) * len(tail))
        fields.append(np.where(mask, getattr(first, name), getattr(second, name)))
    return type(first).unchecked(*fields)


def assigned(shapes: _Self, rows: Any, values: _Self) -> _Self:
    """Copy a batch, with other shapes of its kind at some rows. Exact."""
    fields = {name: getattr(shapes, name).copy() for name in shapes.field_shapes}
    for name, column in fields.items():
        column[rows] = getattr(values, name)
    return type(shapes).unchecked(*fields.values())


def differences(first: _Self, second: _Self) -> Bools:
    """Return a mask (...) of shapes of two batches (...) of one kind that differ in any number. Exact."""
    result = np.zeros(first.shape, dtype=bool)
    for name, tail in first.field_shapes.items():
        is_other = getattr(first, name) != getattr(second, name)
        result |= is_other.any(axis=tuple(range(is_other.ndim - len(tail), is_other.ndim)))
    return result


def stacked(shapes: Iterable[_Self]) -> _Self:
    """Stack shapes of one kind along a new first batch axis, like np.stack.

    Exact: the numbers are the same.

    Parameters
    ----------
    shapes : iterable of n shapes, n >= 1
        Of one kind and one batch (...); triangles either all one-sided or all two-sided.

    Returns
    -------
    batch : shapes of the same kind, batch (n, ...)

    Raises
    ------
    InvalidShapeError
        When there are no shapes, or when kinds, sides or batches differ.
    """
    if not isinstance(shapes, Iterable) or getattr(shapes, "ndim", 1) == 0:
        raise InvalidShapeError(f"shapes: an iterable of shapes is needed, not {type(shapes).__name__}")
    listed = list(shapes)
    if not all(isinstance(shape, Batched) for shape in listed):
        raise InvalidShapeError("shapes: an iterable of shapes is needed")
    kinds = {(type(shape), shape.shape, getattr(shape, "one_sided", None)) for shape in listed}
    if len(kinds) != 1:
        text = "shapes: only those of one kind and one batch, and at least one, make a batch"
        raise InvalidShapeError(text)
    arrays = {name: np.stack([getattr(shape, name) for shape in listed]) for name in listed[0].field_shapes}
    return listed[0]._with_arrays(arrays)


def common_batch(name: str, *batches: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which batches broadcast, one or more. Exact.

    Raises InvalidShapeError: with `name`, if the batches do not broadcast.
    """
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        listed = " and ".join(map(str, batches))
        raise InvalidShapeError(f"{name}: batches {listed} do not broadcast") from None
