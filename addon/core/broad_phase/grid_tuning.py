"""Choice of the grid that is cheapest to search, from a sample of the boxes.

Only the speed depends on it. A sample shows what a formula would have to assume: clusters, sizes of many
scales, flat and thin layouts. The unit of cost is one candidate, a pair that has to be compared.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from ..numeric.arrays import Floats
from .grid import MANY_COLUMNS, Boxes, Columns, Footprint, Grid

FEW_BOXES = 64
"""Up to this many boxes are compared with all others faster than those are sorted into columns again."""

_CELLS = (1.0, 2.0, 6.0)
"""Sizes of cells to compare, in typical extents: for thin boxes, for most, and for sizes of many scales."""

_ENTRY_COST, _GATHERED_COST, _SECOND_SEARCH_COST = 20, 4, 30
"""Measured costs of an entry in a column, of a candidate between two groups, because these are gathered, and
of a box in the second search, which finds the pairs of boxes too wide for the first grid."""

_ATTEMPT_COST = 20_000
"""Cost of comparing grids."""

_COLUMN_BITS = 16
"""NumPy sorts integers of up to this many bits in linear time."""


def choose_grid(sides: list[Boxes]) -> Grid:
    """Choose the grid in which to search one group of boxes, or two groups for the pairs between them.

    sides : One or two groups.
    Returns grid : Grid. The cheapest of a line and of three sizes of cells; any grid gives the same pairs.
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
    if (
        min(overlaps) * weights[0] * weights[-1]
        <= _ENTRY_COST * sum(len(s.ids) for s in sides) + _ATTEMPT_COST
    ):
        return line
    typical = np.max([_typical_extents(each) for each in samples], axis=0)
    grids = [line, *(_grid_of_cells(line, low, typical * cells) for cells in _CELLS)]
    return min(grids, key=lambda grid: _cost(samples, weights, grid))


def _typical_extents(boxes: Boxes) -> Floats:
    """Mean extents (3,) without the largest twentieth: outliers must not decide the cost of all others."""
    # Subtract halves, because the difference of two large coordinates can overflow.
    extents = np.sort(boxes.high * 0.5 - boxes.low * 0.5)
    with np.errstate(over="ignore"):
        return np.asarray(2 * extents[:, : max(1, extents.shape[1] * 19 // 20)].mean(axis=1))


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


def _cost(samples: list[Boxes], weights: list[float], grid: Grid) -> float:
    """Estimate the cost of searching all boxes in a grid, from the samples and the boxes per sample."""
    cost, columns = 0.0, []
    for sample, weight in zip(samples, weights, strict=True):
        boxes = sample.sorted_along(grid.sweep_axis)
        footprint = Footprint.of(boxes, grid)
        too_wide = footprint.too_wide(grid)
        cost += _ENTRY_COST * weight * float(np.where(too_wide, MANY_COLUMNS, footprint.columns).sum())
        if np.count_nonzero(too_wide) * weight > FEW_BOXES:
            cost += _SECOND_SEARCH_COST * sum(w * len(s.ids) for s, w in zip(samples, weights, strict=True))
        kept = np.flatnonzero(~too_wide)
        columns.append(Columns.of(boxes.take(kept), footprint.take(kept), grid))
    a, b = columns[0], columns[-1]
    if len(columns) == 1:
        count = (np.searchsorted(a.keys, a.candidates_end(a)) - np.arange(1, len(a.keys) + 1)).sum()
    else:
        ranges = a.candidates(b, also_equal=True), b.candidates(a, also_equal=False)
        count = _GATHERED_COST * sum((stop - start).sum() for start, stop in ranges)
    return cost + weights[0] * weights[-1] * float(count)
