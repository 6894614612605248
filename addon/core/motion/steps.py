"""Shapes over intervals, and their next jumps, as a motion gives them."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..interval.pair_motion import rotation_sagitta
from ..numeric.arguments import LARGEST_LENGTH
from ..numeric.arrays import Bools, Floats, Ints, Table, chunks_by_cost
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Aabb, Shape, assigned, concatenated, where_shapes
from .motion import Motion

_PLACED_AT_ONCE, _BOUNDED_AT_ONCE = 1 << 13, 1 << 11
"""Shapes and times, by their costs, for which a motion is queried at once: about 12 ms.

Arrays of as many numbers fit the cache.
"""


class Steps(Table):
    """Shapes (r,) over one interval each.

    shape : (r,) int
    start, ending : Shape, batch (r,). At the begin, and the limit at the end. A shape that disappears by then
        is where it was before; one that appears belongs to the next interval.
    deviation : (r,) float. Assumed deviation from linear motion, and the distance of a jump at the end.
    is_present, stays : (r,) bool. Whether the shape is present at the begin, and at the end.
    has_limit : (r,) bool. Shapes of certain motion that jump or disappear at the end.
    """

    shape: Ints
    start: Shape
    ending: Shape
    deviation: Floats
    is_present: Bools
    stays: Bools
    has_limit: Bools

    def swept_boxes(self, margin: Floats) -> Aabb:
        """Boxes (r,) around the shapes over their intervals, padded by `margin` (r,) and the deviation."""
        with np.errstate(invalid="ignore"):
            padding = margin + np.nan_to_num(self.deviation) + rotation_sagitta(self.start, self.ending)
        # Rounded outward, because the sides of boxes around spheres carry a rounding error or two.
        reach = (padding * (1 + CHAIN_ROUNDING))[:, None]
        start, ending = self.start.aabb(), self.ending.aabb()
        return Aabb.unchecked(
            np.minimum(start.min, ending.min) - reach, np.maximum(start.max, ending.max) + reach
        )


def placed_steps(motion: Motion, shapes: Ints, begin: Floats, end: Floats) -> Generator[float, None, Steps]:
    """Ask where shapes (r,) are at both ends of intervals; the deviation is that of jumps at the end alone.

    Rows are in order of shapes, then times, so that successive intervals share what is between them.
    """
    points, times, first = _ends_of_runs(shapes, begin, end)
    parts: list[Shape] = []
    for chunk in chunks_by_cost(motion.costs[points], _PLACED_AT_ONCE):
        parts.append(motion.at(points[chunk], times[chunk]))
        yield (chunk.stop + 1) / (len(times) + 1)
    every = parts[0] if len(parts) == 1 else concatenated(*parts)
    present = motion.are_present(points, times)
    start, ending, is_present, stays = every[first], every[first + 1], present[first], present[first + 1]
    is_certain = motion.is_certain[shapes]
    is_gone = ~stays & ~is_certain
    if is_gone.any():
        ending = where_shapes(is_gone, start, ending)
    vanishes = is_certain & is_present & ~stays
    # Jumps at the end itself.
    has_limit, rows = vanishes.copy(), np.flatnonzero(is_certain & (begin < end) & stays)
    if len(rows):
        has_limit[rows] = (
            motion.breaks(shapes[rows], *np.nextafter(end[rows], [[-np.inf], [np.inf]])) < np.inf
        )
    deviation, rows = np.zeros(len(shapes)), np.flatnonzero(has_limit)
    if len(rows):
        after = ending[rows].aabb()
        limits = motion.at(shapes[rows], end[rows], is_before=True)
        ending, before = assigned(ending, rows, limits), limits.aabb()
        moved = np.maximum(np.abs(after.min - before.min), np.abs(after.max - before.max)).sum(axis=-1)
        # So it holds for the sample after the jump too.
        deviation[rows] = np.where(vanishes[rows], 0.0, moved)
    return Steps(shapes, start, ending, deviation, is_present, stays, has_limit)


def _ends_of_runs(shapes: Ints, begin: Floats, end: Floats) -> tuple[Ints, Floats, Ints]:
    """Find the shapes and times (p,) at the ends of intervals (r,), of which successive ones share theirs.

    Also returns which of them is the begin of each interval (r,); its end is the one after it.
    """
    count = len(shapes)
    continues = np.zeros(count + 1, dtype=bool)
    continues[1:-1] = (shapes[1:] == shapes[:-1]) & (begin[1:] == end[:-1])
    first, is_last = np.arange(count) + np.cumsum(~continues[:-1]) - 1, ~continues[1:]
    points, times = np.empty(count + int(is_last.sum()), dtype=np.int64), np.empty(count + int(is_last.sum()))
    points[first], times[first] = shapes, begin
    points[first[is_last] + 1], times[first[is_last] + 1] = shapes[is_last], end[is_last]
    return points, times, first


def bounded_steps(motion: Motion, steps: Steps, begin: Floats, end: Floats) -> Generator[float, None, Steps]:
    """Add the deviations over the intervals of steps (r,); yields the part of the work that is done."""
    deviation = steps.deviation.copy()
    for chunk in chunks_by_cost(motion.costs[steps.shape], _BOUNDED_AT_ONCE):
        found = motion.bound(steps.shape[chunk], begin[chunk], end[chunk])[0]
        # A shape that may be anywhere has no bound.
        deviation[chunk] += np.minimum(found, LARGEST_LENGTH)
        yield (chunk.stop + 1) / (len(deviation) + 1)
    return steps.replaced(deviation=deviation)


def next_jumps(motion: Motion, movers: Ints, begin: Floats, end: Floats) -> Floats:
    """Return the first times (m,) in intervals at which any of the shapes (s, m) jumps; inf for none."""
    sides = len(movers)
    jumps = motion.breaks(movers.ravel(), np.tile(begin, sides), np.tile(end, sides))
    return np.asarray(jumps.reshape(movers.shape).min(axis=0))
