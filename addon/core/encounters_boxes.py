"""Pairs of oriented boxes on their way: contacts by advancement, separations by samples and bounds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .arrays import Floats, Ints, dot, length
from .interpolation import turned_angle
from .pair_motion import Encounters, PairMotion, lower_bounds
from .separation_boxes import axis_gap_obb_obb
from .shapes import Obb, joined
from .sweep import time_of_impact

_WIDE = 0.1
"""Radians: boxes that turn farther within an interval are looked at more often."""

_NARROWINGS = 3
"""Looks at the separation after the first few, at most: by parabolas."""


def encounters_of_boxes(pairs: PairMotion, clearance: float, doubt: Floats) -> Encounters:
    """See `encounters.encounters`."""
    padded = pairs.grown(clearance) if clearance else pairs
    # Both ways at once.
    a, a_back, b, b_back = (joined(padded[k], padded[j]) for k, j in ((0, 1), (1, 0), (2, 3), (3, 2)))  # type: ignore[arg-type]
    enter, left = time_of_impact(a, a_back, b, b_back).reshape(2, -1)
    leave = 1 - left
    # Rounding may see a graze from one side only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    leave = np.maximum(enter, leave)
    start = axis_gap_obb_obb(pairs.a_start, pairs.b_start)  # type: ignore[arg-type]
    end = axis_gap_obb_obb(pairs.a_end, pairs.b_end)  # type: ignore[arg-type]
    travel = _travelled(pairs)
    low, high = (start + end - travel) / 2, (start + end + travel) / 2
    # Apart, the gap along an axis is less than the distance: it bounds that from below only.
    high = np.where((start > 0) | (end > 0), np.inf, high)
    least, least_time = np.minimum(start, end), np.where(end < start, 1.0, 0.0)
    low = lower_bounds(pairs, enter, low, clearance, doubt)
    # A pair that may touch after all is looked at where it is nearest.
    rows = np.flatnonzero(np.isnan(enter) & (low <= clearance + doubt) & (doubt > 0))
    if len(rows):
        everything = np.full(len(rows), np.inf)
        some = pairs.picked(rows), enter[rows], leave[rows]
        least[rows], least_time[rows] = least_of_boxes(*some, everything)
    # Gaps along an axis may fall short of what is known otherwise.
    return Encounters(enter, leave, np.maximum(least, low), least_time, low, high)


def least_of_boxes(pairs: PairMotion, enter: Floats, leave: Floats, news: Floats) -> tuple[Floats, Floats]:
    """The least separation of pairs and its time, (m,) each, among samples around the least ones.

    Where that cannot be below `news` (m,), of the ends alone.
    """
    begin = np.where(np.isnan(enter), 0.0, enter)
    end = np.where(np.isnan(leave), 1.0, leave)
    ends = np.stack([begin, end])
    at_ends = pairs.separation_at(ends)
    last = at_ends[1] < at_ends[0]
    least, least_time = at_ends.min(axis=0), np.where(last, end, begin)
    low = (at_ends[0] + at_ends[1] - _travelled(pairs) * (end - begin)) / 2
    open_rows = np.flatnonzero(low < np.minimum(least, news))
    for rows, between in _between(pairs, open_rows, begin, end):
        some = pairs.picked(rows)
        times = np.vstack([begin[rows], between, end[rows]])
        values = np.vstack([at_ends[0, rows], some.separation_at(between), at_ends[1, rows]])
        least[rows], least_time[rows] = _narrowed(some, times, values)
    return least, least_time


def _narrowed(pairs: PairMotion, times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """The least of values (k, m) at growing times (k, m), and of those at the lowest points of parabolas."""
    best = values.argmin(axis=0)[None]
    least, least_time = (np.take_along_axis(each, best, axis=0)[0] for each in (values, times))
    rows = np.arange(len(least))
    for _ in range(_NARROWINGS):
        # The lowest point of the parabola through the least sample and those beside it.
        middle = np.clip(values.argmin(axis=0), 1, len(values) - 2)
        column = np.arange(len(rows))
        t0, t1, t2 = (times[middle + k, column] for k in (-1, 0, 1))
        y0, y1, y2 = (values[middle + k, column] for k in (-1, 0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            s0, s1 = (y1 - y0) / (t1 - t0), (y2 - y1) / (t2 - t1)
            lowest = (t0 + t1) / 2 - s0 * (t2 - t0) / (2 * (s1 - s0))
        new = np.clip(lowest, t0, t2)
        # Where it is one of the three, nothing is left to find.
        going = np.flatnonzero(np.isfinite(new) & (new != t0) & (new != t1) & (new != t2))
        if not len(going):
            break
        rows, pairs, new = rows[going], pairs.picked(going), new[going]
        value = pairs.separation_at(new)
        less = value < least[rows]
        least[rows[less]], least_time[rows[less]] = value[less], new[less]
        times, values = np.vstack([times[:, going], new]), np.vstack([values[:, going], value])
        order = times.argsort(axis=0, kind="stable")
        times, values = (np.take_along_axis(each, order, axis=0) for each in (times, values))
    return least, least_time


def _between(pairs: PairMotion, rows: Ints, begin: Floats, end: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Some of `rows` and times (k, r) to look at them: about the middle of the way, or of passing by."""
    begin, end = begin[rows], end[rows]
    a0, a1, b0, b1 = pairs.picked(rows)
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    way = b0.center - a0.center
    velocity = (b1.center - a1.center) - way
    reach = length(np.maximum(a0.half_extents, a1.half_extents))
    reach += length(np.maximum(b0.half_extents, b1.half_extents))
    speed = length(velocity)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        nearest = np.clip(-dot(way, velocity) / speed**2, begin, end)
        lasts = reach / speed
    # When the centres are nearest, and when they are on from there by as much as boxes reach.
    passing = np.isfinite(nearest) & (lasts < end - begin)
    nearest = np.where(passing, nearest, (begin + end) / 2)
    lasts = np.minimum(np.where(passing, lasts, np.inf), (end - begin) / 4)
    around = np.clip(np.stack([nearest - lasts, nearest, nearest + lasts]), begin, end)
    # Corners that turn come and go within the way.
    many = passing | (turned_angle(a0, a1) > _WIDE) | (turned_angle(b0, b1) > _WIDE)
    if many.any():
        yield rows[many], around[:, many]
    if not many.all():
        yield rows[~many], nearest[None, ~many]


def _travelled(pairs: PairMotion) -> Floats:
    """(m,) what the separation of two oriented boxes changes by at most, all changes added up."""
    total = np.zeros(pairs.a_start.shape)
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    total += length((b1.center - b0.center) - (a1.center - a0.center))
    for first, last in ((a0, a1), (b0, b1)):
        reach = np.maximum(length(first.half_extents), length(last.half_extents))
        total += length(last.half_extents - first.half_extents)
        total += reach * turned_angle(first, last)
    return total
