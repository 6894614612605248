"""Choice of the grid that is cheapest to search, from a sample of the boxes.

Only the speed depends on it. A sample shows what a formula would have to assume: clusters, sizes of many
scales, flat and thin layouts. The unit of cost is one candidate, a pair that has to be compared.
"""

from __future__ import annotations

from math import isqrt
from typing import NamedTuple

import numpy as np

from .grid import MANY_COLUMNS, Boxes, Columns, Footprint, Grid

FEW_BOXES = 64
"""Up to this many boxes are compared with all others faster than those are sorted into columns again."""

_ENTRY_COST = 20
"""Cost of an entry in a column. All costs are measured."""

_GATHERED_COST = 4
"""Cost of a candidate between two groups, because these are gathered. Within a group it is 1."""

_SECOND_SEARCH_COST = 30
"""Cost of a box in the second search, which finds the pairs of boxes too wide for the first grid."""

_CHEAP, _ATTEMPT_COST = 40, 20_000
"""Cost per box below which hardly any grid gets, and the cost of evaluating a grid."""

_COLUMN_BITS = 16
"""NumPy sorts integers of up to this many bits in linear time."""


def choose_grid(sides: list[Boxes]) -> Grid:
    """Choose the grid in which to search one group of boxes, or two groups for the pairs between them.

    The cell size is doubled or halved as long as the estimated cost falls.

    Parameters
    ----------
    sides : list of Boxes
        One or two groups.

    Returns
    -------
    grid : Grid
        Approximately the cheapest; any grid gives the same pairs.
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
    boxes = sum(len(side.ids) for side in sides)
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
    """Cost of all candidates for which one candidate of the samples stands."""
    return weights[0] * weights[-1] * (1 if len(weights) == 1 else _GATHERED_COST)


def _overlaps(samples: list[Boxes], axis: int) -> int:
    """Count the pairs of the samples that overlap on one axis."""
    a, b = samples[0], samples[-1]
    started = np.searchsorted(np.sort(b.low[axis]), a.high[axis], side="right")
    ended = np.searchsorted(np.sort(b.high[axis]), a.low[axis], side="left")
    overlaps = int((started - ended).sum())
    # Within one group each pair was counted twice, and each box with itself.
    return overlaps if len(samples) == 2 else (overlaps - len(a.ids)) // 2


def _cost(samples: list[Boxes], weights: list[float], grid: Grid) -> float:
    """Estimate the cost of searching all boxes in a grid, from the samples and the boxes per sample."""
    cost = 0.0
    columns = []
    for sample, weight in zip(samples, weights, strict=True):
        boxes = sample.sorted_along(grid.sweep_axis)
        footprint = Footprint.of(boxes, grid)
        too_wide = footprint.too_wide(grid)
        cost += _ENTRY_COST * weight * float(np.where(too_wide, MANY_COLUMNS, footprint.columns).sum())
        if np.count_nonzero(too_wide) * weight > FEW_BOXES:
            cost += _SECOND_SEARCH_COST * sum(w * len(s.ids) for s, w in zip(samples, weights, strict=True))
        kept = np.flatnonzero(~too_wide)
        columns.append(Columns.of(boxes.take(kept), footprint.take(kept), grid))
    if len(columns) == 1:
        keys = columns[0].keys
        counts = [np.searchsorted(keys, columns[0].candidates_end(columns[0])) - np.arange(1, len(keys) + 1)]
    else:
        a, b = columns
        counts = [
            stop - start
            for start, stop in (a.candidates(b, also_equal=True), b.candidates(a, also_equal=False))
        ]
    return cost + _pair_cost(weights) * float(sum(count.sum() for count in counts))


class _Axis(NamedTuple):
    """Statistics of the samples along one axis.

    Attributes
    ----------
    median, extent : float
        Of the low faces.
    typical : float
        Mean extent of the boxes without the largest twentieth, because outliers must not decide the cost of
        all others. For points, 1/128 of the range that most of them take up.
    """

    median: float
    extent: float
    typical: float

    @classmethod
    def of(cls, samples: list[Boxes], axis: int) -> _Axis:
        """Measure the samples along one axis."""
        # Subtract halves, because the difference of two large coordinates can overflow.
        lows = np.sort(np.concatenate([sample.low[axis] for sample in samples])) * 0.5
        sizes = [np.sort(sample.high[axis] * 0.5 - sample.low[axis] * 0.5) for sample in samples]
        with np.errstate(over="ignore"):
            typical = 2 * max(float(size[: max(1, len(size) * 19 // 20)].mean()) for size in sizes)
        if typical == 0:
            skipped = len(lows) // 20
            typical = float(lows[-1 - skipped] - lows[skipped]) / 128
        return cls(float(lows[len(lows) // 2]) * 2, float(lows[-1] - lows[0]) * 2, typical)


def _grid_of_cells(line: Grid, axes: list[_Axis], factor: float) -> Grid:
    """Make the grid with cells of `factor` times the typical size of the boxes."""
    origin, scale, bits = [0.0, 0.0], [0.0, 0.0], [0, 0]
    for k, axis in enumerate(axes):
        size = axis.typical * factor
        # Skip sizes that are infinite or have no finite inverse.
        if 1e-290 < size < axis.extent < 1e290:
            # Start at the median, so that outliers do not cost the other boxes precision.
            origin[k], scale[k] = axis.median, 1 / size
            bits[k] = min(int(min(axis.extent / size, 2.0**_COLUMN_BITS)).bit_length() + 1, _COLUMN_BITS)
    if sum(bits) > _COLUMN_BITS:
        bits[0] = min(bits[0], max(_COLUMN_BITS // 2, _COLUMN_BITS - bits[1]))
        bits[1] = min(bits[1], _COLUMN_BITS - bits[0])
    return line._replace(origin=(origin[0], origin[1]), scale=(scale[0], scale[1]), bits=(bits[0], bits[1]))
