"""Which columns are cheapest to search, told from a sample of the boxes.

Only speed depends on the choice. A sample sees what a formula would have to assume: clusters, sizes of all kinds,
flat and thin layouts.
"""

from __future__ import annotations

from math import isqrt

import numpy as np

from .arrays import Floats, Ints
from .box_columns import TOO_MANY_COLUMNS, Boxes, Columns, Footprint, Grid

_ENTRY_COST = 20.0
"""What a box in a column costs, in candidates; measured."""

_CHEAP = 80.0
"""Cost a box, in candidates, below which looking for something better costs more than it gains."""

_COLUMN_BITS = 16

_MOST = 19 / 20
"""The share of boxes that decides the size of the cells. The largest are to be left over for larger cells."""


def chosen_grid(sides: list[Boxes]) -> Grid:
    """The grid in which to search one set of boxes, or two for the pairs between them."""
    # A set seed: the time taken is repeatable. The size of the sample: one of its candidates stands for those
    # of 16 boxes.
    chance = np.random.default_rng(0)
    samples, weights = [], []
    for side in sides:
        total = len(side.index)
        size = min(total, 4 * isqrt(total))
        samples.append(side.picked(chance.choice(total, size, replace=False, shuffle=False)))
        weights.append(total / size)
    boxes = sum(len(side.index) for side in sides)

    overlaps = [_overlaps(samples, axis) for axis in range(3)]
    best = Grid.without_columns(int(np.argmin(overlaps)))
    least = _ENTRY_COST * boxes + min(overlaps) * weights[0] * weights[-1]
    if least <= _CHEAP * boxes:
        return best

    units = [_typical_extent(samples, axis) for axis in best.axes]
    factor = 2.0
    grid = _grid_of_cells(samples, best.sweep, [factor * unit for unit in units])
    cost = _cost(samples, weights, grid)
    for step in (2.0, 0.5):
        while cost > _CHEAP * boxes:
            other = _grid_of_cells(samples, best.sweep, [factor * step * unit for unit in units])
            other_cost = _cost(samples, weights, other)
            if other_cost > 0.95 * cost:
                break
            factor, grid, cost = factor * step, other, other_cost
    return grid if cost < least else best


def _overlaps(samples: list[Boxes], axis: int) -> int:
    """How many pairs overlap on one axis."""
    a, b = samples[0], samples[-1]
    begun = np.searchsorted(np.sort(b.low[axis]), a.high[axis], side="right").sum()
    ended = np.searchsorted(np.sort(b.high[axis]), a.low[axis], side="left").sum()
    count = int(begun - ended)
    return count if len(samples) == 2 else (count - len(a.index)) // 2


def _cost(samples: list[Boxes], weights: list[float], grid: Grid) -> float:
    """What the search in a grid would cost for all boxes, in candidates."""
    cost = 0.0
    columns = []
    for sample, weight in zip(samples, weights, strict=True):
        boxes = sample.sorted_along(grid.sweep)
        footprint = Footprint.of(boxes, grid)
        cost += _ENTRY_COST * weight * float(np.minimum(footprint.columns, TOO_MANY_COLUMNS).sum())
        kept = np.flatnonzero(~footprint.too_wide(grid))
        columns.append(Columns.of(boxes.picked(kept), footprint.picked(kept), grid))
    a, b = columns[0], columns[-1]
    start, stop = a.candidates(b, also_equal=True)
    count = float((stop - start).sum())
    if len(columns) == 2:
        start, stop = b.candidates(a, also_equal=False)
        count += float((stop - start).sum())
    return cost + weights[0] * weights[-1] * count


def _typical_extent(samples: list[Boxes], axis: int) -> float:
    """Mean extent on an axis, without the largest; of points, a small part of the space that they take up."""
    means = [_most(sample.high[axis] * 0.5 - sample.low[axis] * 0.5).mean() * 2 for sample in samples]
    if max(means) > 0:
        return float(max(means))
    lows = _most(np.concatenate([sample.low[axis] for sample in samples]))
    return float(lows[-1] * 0.5 - lows[len(lows) // 20] * 0.5) / 128


def _most(values: Floats) -> Floats:
    """The values in order, without the largest."""
    return np.sort(values)[: max(1, int(len(values) * _MOST))]


def _grid_of_cells(samples: list[Boxes], sweep: int, sizes: list[float]) -> Grid:
    """The grid with cells of about these sizes on its two axes."""
    grid = Grid.without_columns(sweep)
    origins, scales, bits = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for k, (axis, size) in enumerate(zip(grid.axes, sizes, strict=True)):
        lows = np.concatenate([sample.low[axis] for sample in samples])
        extent = float(lows.max() * 0.5 - lows.min() * 0.5) * 2
        # Neither too large for a number nor so small that it has no inverse.
        if 1e-290 < size < extent < 1e290:
            # In the middle, where an outlier takes no digits from the others.
            origins[k], scales[k] = float(np.median(lows)), 1 / size
            bits[k] = min(int(min(extent / size, 2.0**_COLUMN_BITS)).bit_length() + 1, _COLUMN_BITS)
    half = _COLUMN_BITS // 2
    if sum(bits) > _COLUMN_BITS:
        bits[0] = min(bits[0], max(half, _COLUMN_BITS - bits[1]))
        bits[1] = min(bits[1], _COLUMN_BITS - bits[0])
    return grid._replace(origin=(origins[0], origins[1]), scale=(scales[0], scales[1]), bits=(bits[0], bits[1]))
