"""Grid of columns for sweep and prune.

A grid divides two axes into cells, and so space into columns along the third, the sweep axis. Each box is
entered into every column that it reaches. The entries of a column are sorted by the low face on the sweep
axis, so that the candidates of a box, those that begin within it, are consecutive.

Why every overlapping pair is found, and only once:

- Cell numbers are computed by a subtraction, a product with a positive factor, a clip and a floor. Each of
  these is monotonic, rounded or not. So boxes that overlap on an axis have overlapping ranges of cells, and
  they share a column.
- Boxes share several columns if both reach across a border. A pair counts in that column in which, on both
  axes, one of the two boxes begins; there is exactly one.
- Column numbers wrap around, so that they fit 16 bits however large the space is. Boxes wider than half the
  period are not entered, so two overlapping boxes never share only the number of a column.
- On the sweep axis the coordinates are compared themselves, without cells.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Bools, Floats, Ints, Table, concatenated_ranges

_FAR = 2.0**40
"""Cell numbers are clipped to this, so that an outlier cannot overflow them."""

_RANK_BITS = 32
_RANK = (1 << _RANK_BITS) - 1

MANY_COLUMNS = 16
"""Boxes that reach more columns than this must not make up more than half of the entries."""

BEGINS_ON_BOTH_AXES = 3
"""The `begins` bits of both axes."""
_CELL = 3.0
"""Size of cells, in typical extents."""
_NEAR_MEDIAN = 32
"""Extents that are this many times larger or smaller than their median count as if they were not farther."""
_CANDIDATES_PER_ENTRY = 20
"""Candidates that take as long as an entry in a column."""

_COLUMN_BITS = 16
"""NumPy sorts integers of up to this many bits in linear time."""


class Boxes(Table, last=True):
    """Boxes (n,) in arrays with the axis first, because the search reads one axis at a time.

    ids : (n,) int64. Indices of the boxes in the result.
    low, high : (3, n) float64. Faces of the boxes on each axis.
    """

    ids: Ints
    low: Floats
    high: Floats


class Grid(NamedTuple):
    """Division of space into columns along the sweep axis, by cells on the other two axes.

    sweep_axis : Axis of the columns, 0 to 2.
    axes : The other two axes.
    origin : Where cell 0 begins on each of them.
    scale : Cells per unit of length; 0 for a single cell.
    bits : Cell numbers wrap around after 2 to the power of this; 16 bits in all.
    """

    sweep_axis: int
    axes: tuple[int, int]
    origin: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (0.0, 0.0)
    bits: tuple[int, int] = (0, 0)

    @classmethod
    def without_columns(cls, sweep_axis: int) -> Grid:
        """Make a grid of one column: plain sweep and prune."""
        return cls(sweep_axis, ((sweep_axis + 1) % 3, (sweep_axis + 2) % 3))

    def cells(self, coordinates: Floats, k: int) -> Ints:
        """Cell numbers (n,) of coordinates (n,) on `axes[k]`; never decreasing with the coordinate."""
        if self.scale[k] == 0:
            return np.zeros(len(coordinates), dtype=np.int64)
        with np.errstate(over="ignore"):
            numbers = coordinates - self.origin[k]
            numbers *= self.scale[k]
        np.maximum(numbers, -_FAR, out=numbers)
        np.minimum(numbers, _FAR, out=numbers)
        return np.floor(numbers, out=numbers).astype(np.int64)


class Footprint(Table, last=True):
    """Cells that boxes (n,) reach on both axes of a grid.

    first : (2, n) int64. The first cell of each box.
    width : (2, n) int64. The number of cells.
    """

    first: Ints
    width: Ints

    @classmethod
    def of(cls, boxes: Boxes, grid: Grid) -> Footprint:
        """Find the cells of boxes in a grid."""
        first, last = (
            np.stack([grid.cells(x[axis], k) for k, axis in enumerate(grid.axes)])
            for x in (boxes.low, boxes.high)
        )
        return cls(first, last - first + 1)

    @property
    def columns(self) -> Ints:
        """Number of columns (n,) that each box reaches."""
        return np.asarray(self.width[0] * self.width[1])

    def too_wide(self, grid: Grid) -> Bools:
        """Decide which boxes (n,) are not entered: wider than half the period, or in too many columns."""
        is_wide = np.zeros(len(self.columns), dtype=np.bool_)
        for width, bits in zip(self.width, grid.bits, strict=True):
            is_wide |= width > ((1 << bits) + 1) // 2
        columns = self.columns
        many = np.flatnonzero((columns > MANY_COLUMNS) & ~is_wide)
        if columns[many].sum() > len(columns):
            many = many[np.argsort(columns[many])]
            is_wide[many[np.cumsum(columns[many]) > len(columns)]] = True
        return is_wide


class Columns(NamedTuple):
    """The m entries of boxes (n,) in columns, sorted by column, then along the sweep axis.

    low, high : (n,) float64. Faces of the boxes on the sweep axis, in the order of the low ones.
    keys : (m,) int64. The column in the high bits and the rank in the low ones, ascending.
    rank : (m,) int64. The index of the entry's box.
    begins : (m,) uint8. Bits of the axes on which this column is the box's first: bit 0, bit 1.
    """

    low: Floats
    high: Floats
    keys: Ints
    rank: Ints
    begins: NDArray[np.uint8]

    @classmethod
    def of(cls, boxes: Boxes, footprint: Footprint, grid: Grid) -> Columns:
        """Enter boxes, which are sorted along the sweep axis and none of which is too wide."""
        (first_u, first_v), (width_u, width_v) = footprint
        bits_u, bits_v = grid.bits
        # Repeat each box for its cells on the first axis, then each of these for its cells on the second.
        u, begins_u = expand_ranges(first_u, width_u)
        u &= (1 << bits_u) - 1
        u <<= bits_v + _RANK_BITS
        u |= np.repeat(np.arange(len(first_u), dtype=np.int64), width_u)
        height = np.repeat(width_v, width_u)
        keys, begins_v = expand_ranges(np.repeat(first_v, width_u), height)
        keys &= (1 << bits_v) - 1
        keys <<= _RANK_BITS
        keys |= np.repeat(u, height)
        begins = np.repeat(begins_u, height)
        begins |= begins_v << 1
        # Sort by the 16 bits of the column alone, because NumPy does that in linear time. Ranks ascend
        # already, and the sort is stable.
        order = np.argsort((keys >> _RANK_BITS).astype(np.uint16), kind="stable")
        keys = keys[order]
        return cls(boxes.low[grid.sweep_axis], boxes.high[grid.sweep_axis], keys, keys & _RANK, begins[order])

    def candidates_end(self, other: Columns) -> Ints:
        """For each entry, the key (m,) behind the last of its candidates in `other`."""
        rank = np.searchsorted(other.low, self.high, side="right")
        return (self.keys & ~_RANK) | rank[self.rank]

    def candidates(self, other: Columns, also_equal: bool) -> tuple[Ints, Ints]:
        """Find the range of candidates in `other` for each entry: start and stop, (m,) each.

        Boxes that begin at the same coordinate are candidates only if `also_equal`.
        """
        rank = np.searchsorted(other.low, self.low, side="left" if also_equal else "right")
        start = np.searchsorted(other.keys, (self.keys & ~_RANK) | rank[self.rank])
        return start, np.searchsorted(other.keys, self.candidates_end(other))


def expand_ranges(first: Ints, size: Ints) -> tuple[Ints, NDArray[np.uint8]]:
    """Concatenate ranges of consecutive integers, of sizes > 0, and mark the begin of each. Exact.

    Returns values : (n,) int64. n is the sum of the lengths.
    Returns marks : (n,) uint8. 1 at the first integer of each range, else 0.
    """
    values = concatenated_ranges(first, size)
    marks = np.zeros(len(values), dtype=np.uint8)
    marks[np.cumsum(size) - size] = 1
    return values, marks


def choose_grid(sides: list[Boxes]) -> Grid:
    """Choose the grid in which to search one group of boxes, or two groups for the pairs between them.

    One column where that has few candidates; any grid gives the same pairs.
    """
    # The seed is fixed, so that the running time is repeatable. The sample is so large that one of its
    # candidates stands for a sixteenth of a candidate per box.
    generator = np.random.default_rng(0)
    samples, weights = [], []
    for side in sides:
        total = len(side.ids)
        size = min(total, 4 * isqrt(total))
        samples.append(side.take(generator.choice(total, size, replace=False, shuffle=False)))
        weights.append(total / size)
    sample = Boxes.concatenate(samples)
    low, high = np.sort(sample.low), np.sort(sample.high)
    later = np.arange(1, low.shape[1] + 1)
    overlaps = [int((np.searchsorted(low[k], high[k], side="right") - later).sum()) for k in range(3)]
    line = Grid.without_columns(int(np.argmin(overlaps)))
    entries = sum(len(side.ids) for side in sides)
    if min(overlaps) * weights[0] * weights[-1] <= _CANDIDATES_PER_ENTRY * entries:
        return line
    return _grid_of_cells(line, low, _CELL * np.max([_typical_extents(each) for each in samples], axis=0))


def _typical_extents(boxes: Boxes) -> Floats:
    """Geometric means (3,) of extents near their median: others must not decide the cost of these."""
    # Subtract halves, because the difference of two large coordinates can overflow.
    extents = boxes.high * 0.5 - boxes.low * 0.5
    median = np.median(extents, axis=1, keepdims=True)
    with np.errstate(divide="ignore", over="ignore"):
        near = np.clip(extents, median / _NEAR_MEDIAN, median * _NEAR_MEDIAN)
        return np.asarray(2 * np.exp(np.log(near).mean(axis=1)))


def _grid_of_cells(line: Grid, low: Floats, sizes: Floats) -> Grid:
    """Make the grid with cells of some sizes (3,) for boxes with sorted faces `low` (3, n)."""
    origin, scale, bits = [0.0, 0.0], [0.0, 0.0], [0, 0]
    middle, few = low.shape[1] // 2, low.shape[1] // 20
    for k, axis in enumerate(line.axes):
        extent = 2 * float(low[axis, -1] * 0.5 - low[axis, 0] * 0.5)
        # Points get a part of the range that most of them take up.
        size = float(sizes[axis] or (low[axis, -1 - few] * 0.5 - low[axis, few] * 0.5) / 32)
        # Skip sizes that are infinite or have no finite inverse.
        if 1e-290 < size < extent < 1e290:
            # Start at the median, so that outliers do not cost the other boxes precision.
            origin[k], scale[k] = float(low[axis, middle]), 1 / size
            bits[k] = min(int(min(extent / size, 2.0**_COLUMN_BITS)).bit_length() + 1, _COLUMN_BITS)
    if sum(bits) > _COLUMN_BITS:
        bits[0] = min(bits[0], max(_COLUMN_BITS // 2, _COLUMN_BITS - bits[1]))
        bits[1] = min(bits[1], _COLUMN_BITS - bits[0])
    return line._replace(origin=(origin[0], origin[1]), scale=(scale[0], scale[1]), bits=(bits[0], bits[1]))
