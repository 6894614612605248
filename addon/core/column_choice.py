"""Which columns are the cheapest to search, told from a sample of the boxes.

Only speed depends on the choice. A sample sees what a formula would have to assume: clusters, sizes of many
scales, flat and thin layouts. Costs are counted in candidates: pairs that have to be compared.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np

from .box_columns import MANY_COLUMNS, Boxes, Columns, Footprint, Grid

FEW_BOXES = 64
"""So few are compared with all others faster than the others are sorted into columns once more."""

_ENTRY_COST = 20
"""Of a box in a column; measured, like all of these."""

_GATHERED_COST = 4
"""Of a candidate from the other of two groups; within one group they are compared in place."""

_SECOND_SEARCH_COST = 30
"""Of a box that is searched once more, for those that are too wide for the first columns."""

_CHEAP, _ATTEMPT_COST = 40, 20_000
"""What hardly any grid is below, for a box; and the cost of looking whether one is."""

_COLUMN_BITS = 16
"""NumPy sorts integers of so many bits in linear time."""


def chosen_grid(sides: list[Boxes]) -> Grid:
    """The grid in which to search one group of boxes, or two for the pairs between them."""
    # The seed is fixed so that the time taken is repeatable. The sample is large enough that one of its
    # candidates stands for a sixteenth of a candidate a box.
    chance = np.random.default_rng(0)
    samples, weights = [], []
    for side in sides:
        total = len(side.names)
        size = min(total, 4 * isqrt(total))
        samples.append(side.picked(chance.choice(total, size, replace=False, shuffle=False)))
        weights.append(total / size)
    boxes = sum(len(side.names) for side in sides)
    cheap = _CHEAP * boxes + _ATTEMPT_COST

    overlaps = [_overlaps(samples, axis) for axis in range(3)]
    line = Grid.without_columns(int(np.argmin(overlaps)))
    line_cost = _ENTRY_COST * boxes + _pair_cost(weights) * min(overlaps)
    if line_cost <= cheap:
        return line

    axes = [_Axis.of(samples, axis) for axis in line.axes]
    factor = 2.0
    grid = _grid_of_cells(line, axes, factor)
    cost = first_cost = _cost(samples, weights, grid)
    cheap += 3 * _ATTEMPT_COST
    for step in (2.0, 0.5):
        while cost > cheap:
            other = _grid_of_cells(line, axes, factor * step)
            other_cost = _cost(samples, weights, other)
            if other_cost > 0.95 * cost:
                break
            factor, grid, cost = factor * step, other, other_cost
        if cost < first_cost:
            break
    return grid if cost < line_cost else line


def _pair_cost(weights: list[float]) -> float:
    """Cost of the candidates for which one in the samples stands."""
    return weights[0] * weights[-1] * (1 if len(weights) == 1 else _GATHERED_COST)


def _overlaps(samples: list[Boxes], axis: int) -> int:
    """How many pairs overlap on one axis."""
    a, b = samples[0], samples[-1]
    begun = np.searchsorted(np.sort(b.low[axis]), a.high[axis], side="right")
    ended = np.searchsorted(np.sort(b.high[axis]), a.low[axis], side="left")
    overlaps = int((begun - ended).sum())
    # Within one group each pair was counted twice, and each box with itself.
    return overlaps if len(samples) == 2 else (overlaps - len(a.names)) // 2


def _cost(samples: list[Boxes], weights: list[float], grid: Grid) -> float:
    """What the search in a grid would cost for all boxes."""
    cost = 0.0
    columns = []
    for sample, weight in zip(samples, weights, strict=True):
        boxes = sample.sorted_along(grid.sweep)
        footprint = Footprint.of(boxes, grid)
        too_wide = footprint.too_wide(grid)
        cost += _ENTRY_COST * weight * float(np.where(too_wide, MANY_COLUMNS, footprint.columns).sum())
        if np.count_nonzero(too_wide) * weight > FEW_BOXES:
            cost += _SECOND_SEARCH_COST * sum(w * len(s.names) for s, w in zip(samples, weights, strict=True))
        kept = np.flatnonzero(~too_wide)
        columns.append(Columns.of(boxes.picked(kept), footprint.picked(kept), grid))
    if len(columns) == 1:
        keys = columns[0].keys
        runs = [np.searchsorted(keys, columns[0].candidates_end(columns[0])) - np.arange(1, len(keys) + 1)]
    else:
        a, b = columns
        runs = [
            stop - start
            for start, stop in (a.candidates(b, also_equal=True), b.candidates(a, also_equal=False))
        ]
    return cost + _pair_cost(weights) * float(sum(run.sum() for run in runs))


class _Axis(NamedTuple):
    """What the samples tell of an axis."""

    middle: float
    extent: float
    typical: float
    """Mean extent of the boxes without the largest, which must not decide what all others cost; of points, a
    small part of the space that they take up."""

    @classmethod
    def of(cls, samples: list[Boxes], axis: int) -> _Axis:
        # Halves are subtracted: the difference of two large coordinates could overflow.
        lows = np.sort(np.concatenate([sample.low[axis] for sample in samples])) * 0.5
        sizes = [np.sort(sample.high[axis] * 0.5 - sample.low[axis] * 0.5) for sample in samples]
        with np.errstate(over="ignore"):
            typical = 2 * max(float(size[: max(1, len(size) * 19 // 20)].mean()) for size in sizes)
        if typical == 0:
            few = len(lows) // 20
            typical = float(lows[-1 - few] - lows[few]) / 128
        return cls(float(lows[len(lows) // 2]) * 2, float(lows[-1] - lows[0]) * 2, typical)


def _grid_of_cells(line: Grid, axes: list[_Axis], factor: float) -> Grid:
    """The grid whose cells are so many times as large as the boxes are typically."""
    origin, scale, bits = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for k, axis in enumerate(axes):
        size = axis.typical * factor
        # Neither infinite nor so small that it has no inverse.
        if 1e-290 < size < axis.extent < 1e290:
            # From the middle, where an outlier takes no digits from the others.
            origin[k], scale[k] = axis.middle, 1 / size
            bits[k] = min(int(min(axis.extent / size, 2.0**_COLUMN_BITS)).bit_length() + 1, _COLUMN_BITS)
    if sum(bits) > _COLUMN_BITS:
        bits[0] = min(bits[0], max(_COLUMN_BITS // 2, _COLUMN_BITS - bits[1]))
        bits[1] = min(bits[1], _COLUMN_BITS - bits[0])
    return line._replace(origin=(origin[0], origin[1]), scale=(scale[0], scale[1]), bits=(bits[0], bits[1]))
