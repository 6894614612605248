"""Pairs on their way from one sample to the next: from when to when in contact, when closest, how close."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, dot, length
from .errors import InvalidShapeError
from .interpolation import at
from .separation import separation
from .separation_boxes import axis_gap_obb_obb
from .shapes import Aabb, Obb, Shape, Sphere, joined
from .sweep import closest_time, overlap_span, time_of_impact

_LEAP = 1e-3
"""The part of an interval over which a closing speed is measured."""
_NARROWINGS = 3
"""Looks at the separation of oriented boxes after the first five: by parabolas."""


class PairMotion(NamedTuple):
    """Pairs of shapes (m,), at the start and at the end."""

    a_start: Shape
    a_end: Shape
    b_start: Shape
    b_end: Shape

    def picked(self, rows: object) -> PairMotion:
        """Some of the pairs."""
        return PairMotion(*(shape[rows] for shape in self))

    def at(self, time: Floats) -> tuple[Shape, Shape]:
        """Both shapes at `time` (..., m) in [0, 1]."""
        return at(self.a_start, self.a_end, time), at(self.b_start, self.b_end, time)

    def separation_at(self, time: Floats) -> Floats:
        """Their signed separation (..., m) at `time` (..., m)."""
        return separation(*self.at(time))


class Encounters(NamedTuple):
    """What pairs do within an interval; times are in [0, 1].

    enter, leave : (m,) the contact, NaN for none
    least, least_time : (m,) the least separation and when; of oriented boxes that touch or are far apart only
        what the ends show, see `with_extremes`
    low, high : (m,) what the separation is never below, and never above
    """

    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    low: Floats
    high: Floats


def encounters(pairs: PairMotion, clearance: float, doubt: Floats) -> Encounters:
    """What pairs do on straight ways, oriented boxes turning at a constant rate.

    Exact for spheres and axis-aligned boxes. Of oriented boxes, a contact is never late, a clearance is kept
    to every face, which at corners is up to 0.73 of it more, and the least separation is that of a few
    samples, closer together towards the least of them.

    doubt : (m,) pairs that stay farther apart than the clearance and this need no exact separation
    """
    if isinstance(pairs.a_start, (Sphere, Aabb)):
        enter, leave = overlap_span(*pairs, clearance=clearance)
        time = closest_time(*pairs)
        least = pairs.separation_at(time)
        ends = separation(pairs.a_start, pairs.b_start), separation(pairs.a_end, pairs.b_end)
        return Encounters(enter, leave, least, time, least, np.maximum(*ends))
    padded = PairMotion(*(_padded(box, clearance / 2) for box in pairs)) if clearance else pairs
    # Both ways at once.
    a, a_back, b, b_back = (joined(padded[k], padded[j]) for k, j in ((0, 1), (1, 0), (2, 3), (3, 2)))
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
    met = Encounters(enter, leave, least, least_time, low, high)
    rows = np.flatnonzero(np.isnan(enter) & (doubt > 0) & (low <= clearance + doubt))
    # Samples of the separation bound it from above only: what stays apart, larger boxes tell.
    reach = (clearance + doubt[rows]) * (1 + 1e-9)
    larger = PairMotion(*(_padded(box, reach / 2) for box in pairs.picked(rows)))
    never = np.isnan(time_of_impact(*larger))
    low[rows[never]] = reach[never]
    return _with_least(pairs, met, rows[~never])


def with_extremes(pairs: PairMotion, met: Encounters, rows: Ints, news: Floats) -> Encounters:
    """The same with the least separations that oriented boxes of `rows` have on the way, where below `news`.

    It takes longer than anything else about them, and is not needed to tell when they touch.
    """
    if not isinstance(pairs.a_start, Obb):
        return met
    return _with_least(pairs, met, rows[met.low[rows] < news[rows]])


def _padded(box: Shape, amount: Floats | float) -> Obb:
    if not isinstance(box, Obb):
        raise InvalidShapeError(f"a scan follows spheres and boxes, not {type(box).__name__}")
    return box.padded(amount)


def closing_speed(pairs: PairMotion, time: Floats) -> Floats:
    """How fast the separation shrinks just before `time` (m,), in lengths per interval."""
    earlier = np.maximum(time - _LEAP, 0)
    before, after = pairs.separation_at(np.stack([earlier, time]))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(time > earlier, (before - after) / (time - earlier), 0.0)


def _with_least(pairs: PairMotion, met: Encounters, rows: Ints) -> Encounters:
    if not len(rows):
        return met
    least, least_time = met.least.copy(), met.least_time.copy()
    least[rows], least_time[rows] = _searched(pairs.picked(rows), met.enter[rows], met.leave[rows])
    return met._replace(least=least, least_time=least_time)


def _searched(pairs: PairMotion, enter: Floats, leave: Floats) -> tuple[Floats, Floats]:
    """The least separation of pairs and its time, (m,) each, among samples around the least ones."""
    begin = np.where(np.isnan(enter), 0.0, enter)
    end = np.where(np.isnan(leave), 1.0, leave)
    times = np.vstack([begin, _around_nearest(pairs, begin, end), end])
    values = pairs.separation_at(times)
    column = np.arange(len(begin))
    for _ in range(_NARROWINGS):
        # The lowest point of the parabola through the least sample and those beside it.
        middle = np.clip(values.argmin(axis=0), 1, len(values) - 2)
        t0, t1, t2 = (times[middle + k, column] for k in (-1, 0, 1))
        y0, y1, y2 = (values[middle + k, column] for k in (-1, 0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            s0, s1 = (y1 - y0) / (t1 - t0), (y2 - y1) / (t2 - t1)
            lowest = (t0 + t1) / 2 - s0 * (t2 - t0) / (2 * (s1 - s0))
        new = np.where(np.isfinite(lowest), np.clip(lowest, t0, t2), t1)
        times, values = np.vstack([times, new]), np.vstack([values, pairs.separation_at(new)])
        order = times.argsort(axis=0, kind="stable")
        times, values = times[order, column], values[order, column]
    best = values.argmin(axis=0)
    return values[best, column], times[best, column]


def _around_nearest(pairs: PairMotion, begin: Floats, end: Floats) -> Floats:
    """(3, m) when the centres are nearest, and before and past that when they are as far as boxes reach."""
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    way = b0.center - a0.center
    velocity = (b1.center - a1.center) - way
    reach = length(np.maximum(a0.half_extents, a1.half_extents))
    reach += length(np.maximum(b0.half_extents, b1.half_extents))
    speed = length(velocity)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        nearest = np.clip(-dot(way, velocity) / speed**2, begin, end)
        lasts = reach / speed
    # Those that hardly move are looked at evenly.
    nearest = np.where(np.isfinite(nearest) & (lasts < end - begin), nearest, (begin + end) / 2)
    lasts = np.where(lasts < (end - begin) / 2, lasts, (end - begin) / 4)
    return np.clip(np.stack([nearest - lasts, nearest, nearest + lasts]), begin, end)


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


def turned_angle(start: Obb, end: Obb) -> Floats:
    """The angle (...) in [0, pi] between the rotations of boxes, to about 1e-8."""
    cosine = 0.5 * (dot(start.rotation, end.rotation).sum(axis=-1) - 1)
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)))
