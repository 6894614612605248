"""What every shape is made of: frozen arrays that share their leading axes, the batch."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, as_floats
from .errors import InvalidShapeError

_Self = TypeVar("_Self", bound="Batched")


class Batched:
    """Base of the shapes. A single shape is a batch of shape (); its arrays are read-only views."""

    tails: ClassVar[dict[str, tuple[int, ...]]]
    """The fields in order, and the axes of each that follow the batch axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch axes."""
        name, tail = next(iter(self.tails.items()))
        axes: tuple[int, ...] = getattr(self, name).shape
        return axes[: len(axes) - len(tail)]

    def __getitem__(self: _Self, index: Any) -> _Self:
        """The shapes at `index` of the batch axes: anything that indexes an array. IndexError beyond it."""
        if not _names_rows(index, len(self.shape)):
            # Without axes of its own, a field refuses what would reach into them.
            name, tail = next(iter(self.tails.items()))
            getattr(self, name)[(..., *(0,) * len(tail))][index]
        whole = index if isinstance(index, tuple) else (index,)
        from_the_end = any(part is Ellipsis for part in whole)
        arrays = {}
        for name, tail in self.tails.items():
            # Behind an ellipsis the field's own axes have to be named, or it would take the index for them.
            own = (slice(None),) * len(tail)
            arrays[name] = getattr(self, name)[(*whole, *own) if from_the_end else index]
        return self._alike(arrays)

    def broadcast_to(self: _Self, shape: tuple[int, ...]) -> _Self:
        """The batch repeated to `shape`, without copies, as numpy.broadcast_to does it."""
        return self._alike(
            {name: np.broadcast_to(getattr(self, name), shape + tail) for name, tail in self.tails.items()}
        )

    def each(self: _Self) -> list[_Self]:
        """The shapes of a batch (n,) one by one."""
        # There may be many: views of what is read-only are so too, which saves most of `trusted`.
        shapes = []
        for index in range(self.shape[0]):
            shape = object.__new__(type(self))
            shape.__dict__.update(self.__dict__)
            for name in self.tails:
                shape.__dict__[name] = getattr(self, name)[index, ...]
            shapes.append(shape)
        return shapes

    def reshaped(self: _Self, shape: tuple[int, ...]) -> _Self:
        """The same shapes in a batch of another shape of the same size."""
        return self._alike(
            {name: getattr(self, name).reshape(shape + tail) for name, tail in self.tails.items()}
        )

    @classmethod
    def trusted(cls: type[_Self], *arrays: Any) -> _Self:
        """A shape from valid arrays, one a field, in order: the constructor without its checks."""
        shape = object.__new__(cls)
        shape._freeze(arrays)
        return shape

    def _beside(self, values: ArrayLike, what: str, tail: tuple[int, ...] = ()) -> Floats:
        """`values` as finite float64 arrays with axes `tail`, in batches that broadcast against this one.

        Raises InvalidShapeError or NonFiniteGeometryError, naming `what`.
        """
        array = as_floats(values, what, tail)
        common_batch(what, self.shape, array.shape[: array.ndim - len(tail)])
        return array

    def _alike(self: _Self, arrays: dict[str, Any]) -> _Self:
        """A shape of the same kind from valid arrays; keeps what is not an array."""
        return type(self).trusted(*arrays.values())

    def _freeze(self, arrays: tuple[Any, ...]) -> None:
        """Set the fields of a frozen dataclass to read-only views."""
        # The least there is to do: for one small shape this is a tenth of the time its fit takes.
        fields = self.__dict__
        for index, name in enumerate(self.tails):
            view = np.asarray(arrays[index], np.float64).view()
            view.setflags(write=False)
            fields[name] = view


def _names_rows(index: Any, axes: int) -> bool:
    """Whether an index is a plain array of rows, one for each of no more than so many axes."""
    parts = index if type(index) is tuple else (index,)
    return len(parts) <= axes and all(type(part) is np.ndarray and part.dtype.kind == "i" for part in parts)


def broadcast_fields(what: str, fields: list[tuple[Floats, int]]) -> list[Floats]:
    """Arrays with so many own axes each, repeated to one common batch.

    Raises InvalidShapeError, naming `what`, when the batches do not fit each other.
    """
    leading = [array.shape[: array.ndim - own] for array, own in fields]
    if all(axes == leading[0] for axes in leading):
        return [array for array, _ in fields]
    batch = common_batch(what, *leading)
    return [np.broadcast_to(array, batch + array.shape[array.ndim - own :]) for array, own in fields]


def common_batch(what: str, *batches: tuple[int, ...]) -> tuple[int, ...]:
    """What batches broadcast to. Raises InvalidShapeError, naming `what`, when they do not fit each other."""
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        listed = " and ".join(map(str, batches))
        raise InvalidShapeError(f"{what}: batches {listed} do not broadcast") from None


def first_index(mask: ArrayLike) -> tuple[int, ...]:
    """The index of the first true element."""
    return tuple(int(i) for i in np.argwhere(np.asarray(mask))[0])
