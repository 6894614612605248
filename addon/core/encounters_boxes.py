"""Pairs of oriented boxes on their way: contacts by advancement, separations by samples and bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, dot, length
from .interpolation import BoxWay, turned_angle
from .pair_motion import Encounters, PairMotion, lower_bounds
from .separation_boxes import axis_gap_and_axis, gap_along, separation_and_axis
from .shapes import Obb, joined
from .sweep import time_of_impact

_NARROWINGS = 4
"""Looks at the separation after the first few, at most: where tangents meet."""

_FINE = 1e-6
"""Of the size of a pair: what is not nearer by this is not looked for."""


def bounds_of_boxes(pairs: PairMotion) -> Encounters:
    """What the separations of pairs at the ends say: quick to tell, and of contacts nothing."""
    start, end = _seen_at_ends(pairs)
    travel, sag = _travel_and_sag(pairs)
    first, last = start.separation, end.separation
    low = np.maximum((first + last - travel) / 2, _low_between(start, end, sag))
    # Apart, the gap along an axis is less than the distance: it bounds that from below only.
    high = np.where((first > 0) | (last > 0), np.inf, (first + last + travel) / 2)
    least, least_time = np.minimum(first, last), np.where(last < first, 1.0, 0.0)
    never = np.full(low.shape, np.nan)
    return Encounters(never, never.copy(), np.maximum(least, low), least_time, low, high)


def may_touch(pairs: PairMotion, low: Floats, clearance: float, doubt: Floats) -> Bools:
    """(m,) which pairs that are never nearer than `low` (m,) come within the clearance and doubt (m,)."""
    reach = np.zeros(low.shape)
    for first, last in ((pairs.a_start, pairs.a_end), (pairs.b_start, pairs.b_end)):
        assert isinstance(first, Obb) and isinstance(last, Obb)
        reach += np.maximum(length(first.half_extents), length(last.half_extents))
    # A clearance is kept to every face, which at corners is that much more. Not a number is not apart.
    return np.asarray(~(low > np.sqrt(3) * (clearance + doubt) + _FINE * reach))


def encounters_of_boxes(pairs: PairMotion, clearance: float, doubt: Floats, known: Encounters) -> Encounters:
    """See `encounters.encounters`; `known` (m,) are their `bounds_of_boxes`, which this may change."""
    enter, leave = _spans(pairs, clearance)
    _, _, least, least_time, low, high = known
    low = lower_bounds(pairs, enter, low, clearance, doubt)
    # A pair that may touch after all is looked at where it is nearest.
    rows = np.flatnonzero(np.isnan(enter) & (low <= clearance + doubt) & (doubt > 0))
    if len(rows):
        some = pairs.picked(rows)
        everything = np.full(len(rows), np.inf)
        least[rows], least_time[rows] = least_of_boxes(some, enter[rows], leave[rows], everything)
    # Gaps along an axis may fall short of what is known otherwise.
    return Encounters(enter, leave, np.maximum(least, low), least_time, low, high)


def _spans(pairs: PairMotion, clearance: float) -> tuple[Floats, Floats]:
    """(m,) each: from when to when pairs touch, NaN for never."""
    padded = pairs.grown(clearance) if clearance else pairs
    # Both ways at once.
    a, a_back, b, b_back = (joined(padded[k], padded[j]) for k, j in ((0, 1), (1, 0), (2, 3), (3, 2)))  # type: ignore[arg-type]
    enter, left = time_of_impact(a, a_back, b, b_back).reshape(2, -1)
    leave = 1 - left
    # Rounding may see a graze from one side only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter, np.maximum(enter, leave)


def least_of_boxes(pairs: PairMotion, enter: Floats, leave: Floats, news: Floats) -> tuple[Floats, Floats]:
    """The least separation of pairs and its time, (m,) each, among looks that close in on it.

    Where that cannot be below `news` (m,), of the ends alone.
    """
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    ways = BoxWay.between(a0, a1), BoxWay.between(b0, b1)
    begin = np.where(np.isnan(enter), 0.0, enter)
    end = np.where(np.isnan(leave), 1.0, leave)
    at_begin, at_end = _look(*ways, np.stack([begin, end])).each()
    least = np.minimum(at_begin.separation, at_end.separation)
    least_time = np.where(at_end.separation < at_begin.separation, end, begin)
    low = _low_between(at_begin, at_end, _travel_and_sag(pairs)[1])
    rows = np.flatnonzero(low < np.minimum(least, news))
    if len(rows):
        a, b = (way.picked(rows) for way in ways)
        between = _between(a, b, begin[rows], end[rows])
        looks = at_begin.picked(rows), _look(a, b, between), at_end.picked(rows)
        times = np.vstack([begin[rows], between, end[rows]])
        values = np.vstack([look.separation for look in looks])
        slopes = np.vstack([look.slope(a, b) for look in looks])
        least[rows], least_time[rows] = _narrowed(a, b, times, values, slopes)
    return least, least_time


class _Look(NamedTuple):
    """Pairs (m,) at some time: separations, or less, and unit vectors (m, 3) along which they show."""

    separation: Floats
    axis: Floats
    a: Obb
    b: Obb

    def picked(self, rows: object) -> _Look:
        """Some of them."""
        return _Look(self.separation[rows], self.axis[rows], self.a[rows], self.b[rows])  # type: ignore[call-overload]

    def each(self) -> Iterator[_Look]:
        """Those at several times, one by one."""
        return (self.picked(time) for time in range(len(self.separation)))

    def slope(self, a: BoxWay, b: BoxWay) -> Floats:
        """(m,) how fast the separation grows, on their ways."""
        return np.asarray(-b.speed_along(-self.axis, self.b) - a.speed_along(self.axis, self.a))


def _look(a: BoxWay, b: BoxWay, time: Floats) -> _Look:
    first, second = a.at(time), b.at(time)
    return _Look(*separation_and_axis(first, second), first, second)


def _seen_at_ends(pairs: PairMotion) -> tuple[_Look, _Look]:
    """Pairs at both ends: gaps along the axes that part them."""
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    gap, axis = axis_gap_and_axis(joined(a0, a1), joined(b0, b1))  # type: ignore[arg-type]
    count = len(gap) // 2
    return _Look(gap[:count], axis[:count], a0, b0), _Look(gap[count:], axis[count:], a1, b1)


def _low_between(start: _Look, end: _Look, sag: Floats) -> Floats:
    """(m,) what the separation is never below between two looks.

    sag : (m,) how far the ways of corners are from straight, at most
    """
    low = np.full(sag.shape, -np.inf)
    ways = (
        (start.separation, gap_along(start.axis, end.a, end.b)),
        (gap_along(end.axis, start.a, start.b), end.separation),
    )
    for first, last in ways:
        # The parabola below the straight line, which touches it at both ends: steep lines it does not bend
        # below their lower end.
        bends = np.maximum(4 * sag - np.abs(last - first), 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            below = np.where(bends > 0, bends * bends / (16 * sag), 0.0)
        low = np.maximum(low, np.minimum(first, last) - below)
    return low


def _travel_and_sag(pairs: PairMotion) -> tuple[Floats, Floats]:
    """(m,) what the separation changes by at most, and how far the ways of corners of both boxes may be from
    straight; all added up.

    A function strays from the straight line by an eighth of its second derivative at most: of a corner's way,
    that is the centripetal acceleration, and what comes of growing while it turns.
    """
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    travel = length((b1.center - b0.center) - (a1.center - a0.center))
    sag = np.zeros(a0.shape)
    for first, last in ((a0, a1), (b0, b1)):
        reach = np.maximum(length(first.half_extents), length(last.half_extents))
        grows = length(last.half_extents - first.half_extents)
        angle = turned_angle(first, last)
        travel += grows + reach * angle
        sag += angle * (angle * reach + 2 * grows) / 8
    return travel, sag


def _narrowed(a: BoxWay, b: BoxWay, time: Floats, value: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """The least of looks (k, m) at growing times, and of those where the tangents on both sides of it meet.

    Of boxes that do not turn the separation is convex: there the tangents are never above it.
    """
    every = np.arange(len(value[0]))
    best = value.argmin(axis=0)
    least, least_time = value[best, every], time[best, every]
    # The lowest look is on one side of the least, as its slope tells, and its neighbour there on the other.
    first = np.clip(np.where(slope[best, every] < 0, best, best - 1), 0, len(value) - 2)
    left, right = ([array[k, every] for array in (time, value, slope)] for k in (first, first + 1))
    reach = length(a.start.half_extents) + length(b.start.half_extents)
    rows = every
    for _ in range(_NARROWINGS):
        (t0, y0, s0), (t1, y1, s1) = left, right
        with np.errstate(divide="ignore", invalid="ignore"):
            new = (y1 - y0 + s0 * t0 - s1 * t1) / (s0 - s1)
            fall = least[rows] - (y0 + s0 * (new - t0))
        # Where tangents do not meet in between, or hardly below what is known, nothing is left to find.
        going = np.flatnonzero((s0 < 0) & (s1 > 0) & (new > t0) & (new < t1) & (fall > _FINE * reach[rows]))
        if not len(going):
            break
        rows, a, b, new = rows[going], a.picked(going), b.picked(going), new[going]
        look = _look(a, b, new)
        less = look.separation < least[rows]
        least[rows[less]], least_time[rows[less]] = look.separation[less], new[less]
        seen = new, look.separation, look.slope(a, b)
        falls = seen[2] < 0
        left = [np.where(falls, now, before[going]) for now, before in zip(seen, left, strict=True)]
        right = [np.where(falls, before[going], now) for now, before in zip(seen, right, strict=True)]
    return least, least_time


def _between(a: BoxWay, b: BoxWay, begin: Floats, end: Floats) -> Floats:
    """(3, m) times to look at pairs: about the middle of their way, or of passing by."""
    a0, a1, b0, b1 = a.start, a.end, b.start, b.end
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
    return np.asarray(np.clip(np.stack([nearest - lasts, nearest, nearest + lasts]), begin, end))
