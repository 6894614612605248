"""Base class of all shapes: frozen arrays that share their leading axes, the batch.

A field of a shape is an array (*batch, *own axes). Indexing, broadcasting and reshaping act on the batch
axes of all fields at once.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from .arrays import Floats, as_floats

_Self = TypeVar("_Self", bound="Batched")


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
        if not _is_row_index(index, len(self.shape)):
            # Test the index on a field without its own axes, because it must not reach into these.
            name, tail = next(iter(self.field_shapes.items()))
            getattr(self, name)[(..., *(0,) * len(tail))][index]
        whole = index if isinstance(index, tuple) else (index,)
        has_ellipsis = any(part is Ellipsis for part in whole)
        arrays = {}
        for name, tail in self.field_shapes.items():
            # After an ellipsis, index the field's own axes too: the index would be applied to them otherwise.
            all_of_tail = (slice(None),) * len(tail)
            arrays[name] = getattr(self, name)[(*whole, *all_of_tail) if has_ellipsis else index]
        return self._with_arrays(arrays)

    def broadcast_to(self: _Self, shape: tuple[int, ...]) -> _Self:
        """Repeat the batch to `shape` without copies, like np.broadcast_to, which raises ValueError."""
        return self._with_arrays(
            {
                name: np.broadcast_to(getattr(self, name), shape + tail)
                for name, tail in self.field_shapes.items()
            }
        )

    def to_list(self: _Self) -> list[_Self]:
        """Return the shapes of a batch (n,) as single shapes."""
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
        """Return the same shapes in a batch of another shape and the same size, like np.reshape."""
        return self._with_arrays(
            {name: getattr(self, name).reshape(shape + tail) for name, tail in self.field_shapes.items()}
        )

    @classmethod
    def unchecked(cls: type[_Self], *arrays: Any) -> _Self:
        """Make shapes from valid arrays, one for each field, in order: the constructor without its checks."""
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
        return type(self).unchecked(*arrays.values())

    def _freeze(self, arrays: tuple[Any, ...]) -> None:
        """Set the fields of a frozen dataclass to read-only views of the arrays."""
        # Keep this short: for one small shape it takes a tenth of the time of its fit.
        fields = self.__dict__
        for index, name in enumerate(self.field_shapes):
            view = np.asarray(arrays[index], np.float64).view()
            view.setflags(write=False)
            fields[name] = view


def _is_row_index(index: Any, axes: int) -> bool:
    """Return whether an index is made of integer arrays only, at most one for each of `axes` batch axes."""
    parts = index if type(index) is tuple else (index,)
    return len(parts) <= axes and all(type(part) is np.ndarray and part.dtype.kind == "i" for part in parts)


def broadcast_fields(name: str, fields: list[tuple[Floats, int]]) -> list[Floats]:
    """Broadcast fields to one common batch.

    Parameters
    ----------
    name : str
        Name of the shape, for the error message.
    fields : list of (array, own axes)
        Arrays (*batch, *own axes), with the number of their own axes.

    Returns
    -------
    arrays : list of float64 arrays

    Raises
    ------
    InvalidShapeError
        When the batches do not broadcast.
    """
    leading = [array.shape[: array.ndim - tail_axes] for array, tail_axes in fields]
    if all(axes == leading[0] for axes in leading):
        return [array for array, _ in fields]
    batch = common_batch(name, *leading)
    return [
        np.broadcast_to(array, batch + array.shape[array.ndim - tail_axes :]) for array, tail_axes in fields
    ]


def common_batch(name: str, *batches: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which batches broadcast. Raises InvalidShapeError, with `name`, if they do not."""
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        listed = " and ".join(map(str, batches))
        raise InvalidShapeError(f"{name}: batches {listed} do not broadcast") from None


def first_index(mask: ArrayLike) -> tuple[int, ...]:
    """Return the index of the first true element, one integer for each axis."""
    return tuple(int(i) for i in np.argwhere(np.asarray(mask))[0])
