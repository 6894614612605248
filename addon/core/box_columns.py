"""Boxes sorted into columns of space: what `column_sweep` searches.

Space is cut into columns along one axis, the sweep axis. Each box is entered into every column that it
reaches. Within a column the entries are sorted by where their boxes begin on the sweep axis, so that those
that begin within a box are a run of neighbours: its candidates.

Why every overlapping pair is met, and is told from its repetitions:

- Cells are numbered by a subtraction, a product with a positive factor, a clip and a floor. Rounded or not,
  none of them ever puts two numbers in the other order. So boxes that overlap on an axis have ranges of cells
  that overlap too, and they share a column.
- They share several if both reach across a border. The one that counts is the one in which, on both axes, one
  of the two begins; there is exactly one.
- The numbers of columns wrap around, so that they fit 16 bits however large the space is. No box is entered
  that is wider than half a turn, so two that overlap never meet in columns that only have the same number.
- On the sweep axis the coordinates themselves are compared, without cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import Bools, Floats, Ints

_FAR = 2.0**40
"""Cells beyond this are one, so that an outlier cannot overflow the numbers."""

_RANK_BITS = 32
_RANK = (1 << _RANK_BITS) - 1

MANY_COLUMNS = 16
"""Boxes in more must not make up more than half of the entries."""

BEGINS_ON_BOTH_AXES = 3


class Boxes(NamedTuple):
    """Boxes axis by axis, which is how they are read here."""

    names: Ints
    """(n,) what the answer calls them."""
    low: Floats
    """(3, n)"""
    high: Floats
    """(3, n)"""

    def picked(self, which: Ints) -> Boxes:
        """Those at the given places."""
        return Boxes(self.names[which], self.low.take(which, axis=1), self.high.take(which, axis=1))

    def sorted_along(self, axis: int) -> Boxes:
        """The same by where they begin on an axis."""
        return self.picked(np.argsort(self.low[axis]))


class Grid(NamedTuple):
    """How space is cut: columns along the sweep axis, cells on the other two."""

    sweep: int
    axes: tuple[int, int]
    origin: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (0.0, 0.0)
    """Cells a unit of length; 0 for one cell."""
    bits: tuple[int, int] = (0, 0)
    """As a power of two, how many numbers of cells there are before they wrap around; 16 bits in all."""

    @classmethod
    def without_columns(cls, sweep: int) -> Grid:
        return cls(sweep, ((sweep + 1) % 3, (sweep + 2) % 3))

    def cells(self, coordinates: Floats, which: int) -> Ints:
        """Numbers of cells on the first or second of the axes; never decreasing with the coordinate."""
        if self.scale[which] == 0:
            return np.zeros(len(coordinates), dtype=np.int64)
        with np.errstate(over="ignore"):
            numbers = coordinates - self.origin[which]
            numbers *= self.scale[which]
        np.maximum(numbers, -_FAR, out=numbers)
        np.minimum(numbers, _FAR, out=numbers)
        return np.floor(numbers, out=numbers).astype(np.int64)


class Footprint(NamedTuple):
    """Which columns boxes reach: on both axes of a grid the first cell, and how many."""

    first: tuple[Ints, Ints]
    width: tuple[Ints, Ints]

    @classmethod
    def of(cls, boxes: Boxes, grid: Grid) -> Footprint:
        """Of boxes in a grid."""
        first, last = (
            [grid.cells(x[axis], k) for k, axis in enumerate(grid.axes)] for x in (boxes.low, boxes.high)
        )
        return cls((first[0], first[1]), (last[0] - first[0] + 1, last[1] - first[1] + 1))

    def picked(self, which: Ints) -> Footprint:
        """Those at the given places."""
        (first_u, first_v), (width_u, width_v) = self
        return Footprint((first_u[which], first_v[which]), (width_u[which], width_v[which]))

    @property
    def columns(self) -> Ints:
        """How many each box reaches."""
        return self.width[0] * self.width[1]

    def too_wide(self, grid: Grid) -> Bools:
        """The boxes not to enter: wider than half a turn, or too much work for cells of this size."""
        wide = np.zeros(len(self.columns), dtype=np.bool_)
        for width, bits in zip(self.width, grid.bits, strict=True):
            wide |= width > ((1 << bits) + 1) // 2
        columns = self.columns
        many = np.flatnonzero((columns > MANY_COLUMNS) & ~wide)
        if columns[many].sum() > len(columns):
            many = many[np.argsort(columns[many])]
            wide[many[np.cumsum(columns[many]) > len(columns)]] = True
        return wide


class Columns(NamedTuple):
    """Boxes entered into columns, once into each that they reach; the entries (m,) in order."""

    low: Floats
    high: Floats
    """Of the boxes, on the sweep axis, by which they are sorted."""
    keys: Ints
    """(m,) ascending: the column, then the rank of the box along the sweep axis."""
    rank: Ints
    begins: NDArray[np.uint8]
    """On which axes this column is the box's first: bit 0, bit 1."""

    @classmethod
    def of(cls, boxes: Boxes, footprint: Footprint, grid: Grid) -> Columns:
        """Of boxes that are sorted along the sweep axis, none of them too wide."""
        (first_u, first_v), (width_u, width_v) = footprint
        bits_u, bits_v = grid.bits
        # A box once for each of its cells on the first axis, then each of those for the cells on the second.
        u, begins_u = counted(first_u, width_u)
        u &= (1 << bits_u) - 1
        u <<= bits_v + _RANK_BITS
        u |= np.repeat(np.arange(len(first_u), dtype=np.int64), width_u)
        height = np.repeat(width_v, width_u)
        keys, begins_v = counted(np.repeat(first_v, width_u), height)
        keys &= (1 << bits_v) - 1
        keys <<= _RANK_BITS
        keys |= np.repeat(u, height)
        begins = np.repeat(begins_u, height)
        begins |= begins_v << 1
        # By column alone, 16 bits, which NumPy sorts in linear time. Stable: the ranks ascend already.
        order = np.argsort((keys >> _RANK_BITS).astype(np.uint16), kind="stable")
        keys = keys[order]
        return cls(boxes.low[grid.sweep], boxes.high[grid.sweep], keys, keys & _RANK, begins[order])

    def candidates_end(self, other: Columns) -> Ints:
        """For each entry, the key in `other` behind the last of its candidates."""
        rank = np.searchsorted(other.low, self.high, side="right")
        ends: Ints = (self.keys & ~_RANK) | rank[self.rank]
        return ends

    def candidates(self, other: Columns, also_equal: bool) -> tuple[Ints, Ints]:
        """For each entry, from where to where in `other` its candidates are.

        Boxes that begin at the same coordinate are candidates only if `also_equal`.
        """
        rank = np.searchsorted(other.low, self.low, side="left" if also_equal else "right")
        start = np.searchsorted(other.keys, (self.keys & ~_RANK) | rank[self.rank])
        return start, np.searchsorted(other.keys, self.candidates_end(other))


def counted(first: Ints, number: Ints) -> tuple[Ints, NDArray[np.uint8]]:
    """The numbers first, first + 1, ..., `number` (> 0) of them, row after row; and 1 where a row begins."""
    ends = np.cumsum(number)
    begins = ends - number
    total = int(ends[-1]) if len(ends) else 0
    # Named, since in NumPy 1 on Windows the default has but 32 bits.
    values = np.arange(total, dtype=np.int64)
    values += np.repeat(first - begins, number)
    marks = np.zeros(total, dtype=np.uint8)
    marks[begins] = 1
    return values, marks
