"""Contacts of two moving oriented boxes over one interval, and bounds of their separation.

Contacts come from conservative advancement in both directions of time. The least separation comes from
samples that close in on it by tangents; bounds from gaps along a separating axis determine where no
search is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distance.obb import axis_gap_and_axis, gap_along_axis, separation_and_axis
from ..numeric.arrays import Bools, Floats, dot, length
from ..shapes import Obb, concatenated
from ..sweep.dispatch import time_of_impact
from ..sweep.interpolation import ObbMotion, rotation_angle
from .linearity import parabola_overshoot
from .pair_motion import IntervalContacts, PairMotion, raised_lower_bounds

_TANGENT_STEPS = 4
"""Further samples of the separation, at most, where the tangents of earlier ones meet."""

_RESOLUTION = 1e-6
"""Part of a pair's size: separations that are not smaller by this are not searched for."""


def contact_bounds_of_boxes(pairs: PairMotion) -> IntervalContacts:
    """Bounds (m,) of the separation from the samples at both ends; contacts are left NaN."""
    start, end = _separated_at_ends(pairs)
    travel, sagitta = _travel_and_sagitta(pairs)
    first, last = start.separation, end.separation
    low = np.maximum((first + last - travel) / 2, _lower_bound_between(start, end, sagitta))
    # Of boxes that are apart, the gap along an axis bounds the separation from below only.
    high = np.where((first > 0) | (last > 0), np.inf, (first + last + travel) / 2)
    least, least_time = np.minimum(first, last), np.where(last < first, 1.0, 0.0)
    never = np.full(low.shape, np.nan)
    return IntervalContacts(never, never.copy(), np.maximum(least, low), least_time, low, high)


def may_touch(pairs: PairMotion, low: Floats, clearance: float, deviation: Floats) -> Bools:
    """Mask (m,) of pairs, never nearer than `low` (m,), that may come within clearance + deviation (m,)."""
    size = np.zeros(low.shape)
    for first, last in ((pairs.a_start, pairs.a_end), (pairs.b_start, pairs.b_end)):
        assert isinstance(first, Obb) and isinstance(last, Obb)
        size += np.maximum(length(first.half_extents), length(last.half_extents))
    # A clearance is kept to every face, which at corners is sqrt(3) of it. A bound that is NaN rules nothing
    # out.
    return np.asarray(~(low > np.sqrt(3) * (clearance + deviation) + _RESOLUTION * size))


def interval_contacts_of_boxes(
    pairs: PairMotion, clearance: float, deviation: Floats, bounds: IntervalContacts
) -> IntervalContacts:
    """Contacts (m,) of oriented boxes: see `dispatch`. Changes `bounds`, from `contact_bounds_of_boxes`."""
    enter, leave = _contact_spans(pairs, clearance)
    _, _, least, least_time, low, high = bounds
    low = raised_lower_bounds(pairs, enter, low, clearance, deviation)
    # A pair that may touch within its deviation: its closest time is where to sample the motion next.
    rows = np.flatnonzero(np.isnan(enter) & (low <= clearance + deviation) & (deviation > 0))
    if len(rows):
        no_cutoff = np.full(len(rows), np.inf)
        least[rows], least_time[rows] = minimum_separation_of_boxes(
            pairs.take(rows), enter[rows], leave[rows], no_cutoff
        )
    # Gaps along an axis may be smaller than a bound known otherwise.
    return IntervalContacts(enter, leave, np.maximum(least, low), least_time, low, high)


def _contact_spans(pairs: PairMotion, clearance: float) -> tuple[Floats, Floats]:
    """Begin and end (m,) of contact, NaN for none."""
    padded = pairs.padded(clearance) if clearance else pairs
    a0, a1, b0, b1 = padded
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    # Both directions of time in one batch.
    directions = (concatenated(*ends) for ends in ((a0, a1), (a1, a0), (b0, b1), (b1, b0)))
    enter, from_end = time_of_impact(*directions).reshape(2, -1)
    leave = 1 - from_end
    # Because of rounding, a graze may be found in one direction only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    return enter, np.maximum(enter, leave)


def minimum_separation_of_boxes(
    pairs: PairMotion, enter: Floats, leave: Floats, cutoff: Floats
) -> tuple[Floats, Floats]:
    """Least separation (m,) among samples that close in on it, and its time (m,).

    Only the ends of the contact, or of the interval, are sampled where it cannot be below `cutoff` (m,).
    """
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    a, b = ObbMotion.between(a0, a1), ObbMotion.between(b0, b1)
    begin = np.where(np.isnan(enter), 0.0, enter)
    end = np.where(np.isnan(leave), 1.0, leave)
    at_ends = _separated_at(a, b, np.stack([begin, end]))
    at_begin, at_end = at_ends.take(0), at_ends.take(1)
    least = np.minimum(at_begin.separation, at_end.separation)
    least_time = np.where(at_end.separation < at_begin.separation, end, begin)
    low = _lower_bound_between(at_begin, at_end, _travel_and_sagitta(pairs)[1])
    rows = np.flatnonzero(low < np.minimum(least, cutoff))
    if len(rows):
        a, b = a.take(rows), b.take(rows)
        between = _sample_times(a, b, begin[rows], end[rows])
        samples = at_begin.take(rows), _separated_at(a, b, between), at_end.take(rows)
        times = np.vstack([begin[rows], between, end[rows]])
        values = np.vstack([sample.separation for sample in samples])
        slopes = np.vstack([sample.slope(a, b) for sample in samples])
        least[rows], least_time[rows] = _minimum_by_tangents(a, b, times, values, slopes)
    return least, least_time


class _SeparatedBoxes(NamedTuple):
    """Pairs of boxes (m,) at one time: separations (m,), or less, along the unit axes (m, 3)."""

    separation: Floats
    axis: Floats
    a: Obb
    b: Obb

    def take(self, rows: object) -> _SeparatedBoxes:
        """Return some rows, or one of several times."""
        return _SeparatedBoxes(self.separation[rows], self.axis[rows], self.a[rows], self.b[rows])  # type: ignore[call-overload]

    def slope(self, a: ObbMotion, b: ObbMotion) -> Floats:
        """Time derivative (m,) of the separation."""
        return np.asarray(-b.speed_along(-self.axis, self.b) - a.speed_along(self.axis, self.a))


def _separated_at(a: ObbMotion, b: ObbMotion, time: Floats) -> _SeparatedBoxes:
    """Boxes at `time` (..., m) with their separations."""
    first, second = a.at(time), b.at(time)
    return _SeparatedBoxes(*separation_and_axis(first, second), first, second)


def _separated_at_ends(pairs: PairMotion) -> tuple[_SeparatedBoxes, _SeparatedBoxes]:
    """Boxes at both ends of the interval, with gaps along separating axes, which are quicker to compute."""
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    gap, axis = axis_gap_and_axis(concatenated(a0, a1), concatenated(b0, b1))
    count = len(gap) // 2
    start = _SeparatedBoxes(gap[:count], axis[:count], a0, b0)
    return start, _SeparatedBoxes(gap[count:], axis[count:], a1, b1)


def _lower_bound_between(start: _SeparatedBoxes, end: _SeparatedBoxes, sagitta: Floats) -> Floats:
    """Lower bound (m,) of the separation between two samples.

    sagitta : (m,) largest deviation of corners from their chords, both boxes added up
    """
    low = np.full(sagitta.shape, -np.inf)
    gaps = (
        (start.separation, gap_along_axis(start.axis, end.a, end.b)),
        (gap_along_axis(end.axis, start.a, start.b), end.separation),
    )
    for first, last in gaps:
        # The gap along a fixed axis is never below a parabola through both ends.
        below = parabola_overshoot(np.abs(last - first), sagitta)
        low = np.maximum(low, np.minimum(first, last) - below)
    return low


def _travel_and_sagitta(pairs: PairMotion) -> tuple[Floats, Floats]:
    """Largest change (m,) of the separation, and deviation (m,) of corners from their chords, both summed.

    A function deviates from its chord by an eighth of its second derivative at most: for the path of a
    corner, that is its centripetal acceleration, and a term from growing while rotating.
    """
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    travel = length((b1.center - b0.center) - (a1.center - a0.center))
    sagitta = np.zeros(a0.shape)
    for first, last in ((a0, a1), (b0, b1)):
        radius = np.maximum(length(first.half_extents), length(last.half_extents))
        growth = length(last.half_extents - first.half_extents)
        angle = rotation_angle(first, last)
        travel += growth + radius * angle
        sagitta += angle * (angle * radius + 2 * growth) / 8
    return travel, sagitta


def _minimum_by_tangents(
    a: ObbMotion, b: ObbMotion, time: Floats, value: Floats, slope: Floats
) -> tuple[Floats, Floats]:
    """Least (m,) of samples (k, m) at increasing times, and of further ones where neighboring tangents meet.

    The separation of boxes that do not rotate is convex: their tangents are never above it.
    """
    every = np.arange(len(value[0]))
    best = value.argmin(axis=0)
    least, least_time = value[best, every], time[best, every]
    # The minimum is between the lowest sample and its neighbor in the direction in which the slope falls.
    first = np.clip(np.where(slope[best, every] < 0, best, best - 1), 0, len(value) - 2)
    left, right = ([array[k, every] for array in (time, value, slope)] for k in (first, first + 1))
    size = length(a.start.half_extents) + length(b.start.half_extents)
    rows = every
    for _ in range(_TANGENT_STEPS):
        (t0, y0, s0), (t1, y1, s1) = left, right
        with np.errstate(divide="ignore", invalid="ignore"):
            new = (y1 - y0 + s0 * t0 - s1 * t1) / (s0 - s1)
            gain = least[rows] - (y0 + s0 * (new - t0))
        # Stop where tangents do not meet in between, or hardly below the least value so far.
        is_open = (s0 < 0) & (s1 > 0) & (new > t0) & (new < t1) & (gain > _RESOLUTION * size[rows])
        going = np.flatnonzero(is_open)
        if not len(going):
            break
        rows, a, b, new = rows[going], a.take(going), b.take(going), new[going]
        sample = _separated_at(a, b, new)
        less = sample.separation < least[rows]
        least[rows[less]], least_time[rows[less]] = sample.separation[less], new[less]
        middle = new, sample.separation, sample.slope(a, b)
        falls = middle[2] < 0
        left = [np.where(falls, mid, old[going]) for mid, old in zip(middle, left, strict=True)]
        right = [np.where(falls, old[going], mid) for mid, old in zip(middle, right, strict=True)]
    return least, least_time


def _sample_times(a: ObbMotion, b: ObbMotion, begin: Floats, end: Floats) -> Floats:
    """Three times (3, m) to sample: about the middle of the interval, or of the passage of a fast pair."""
    a0, a1, b0, b1 = a.start, a.end, b.start, b.end
    offset = b0.center - a0.center
    velocity = (b1.center - a1.center) - offset
    size = length(np.maximum(a0.half_extents, a1.half_extents))
    size += length(np.maximum(b0.half_extents, b1.half_extents))
    speed = length(velocity)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        nearest = np.clip(-dot(offset, velocity) / speed**2, begin, end)
        duration = size / speed
    # A pair passes while its centers are within its size of their closest point.
    passing = np.isfinite(nearest) & (duration < end - begin)
    nearest = np.where(passing, nearest, (begin + end) / 2)
    duration = np.minimum(np.where(passing, duration, np.inf), (end - begin) / 4)
    return np.asarray(np.clip(np.stack([nearest - duration, nearest, nearest + duration]), begin, end))
