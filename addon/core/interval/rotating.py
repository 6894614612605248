"""Contacts of two moving shapes that rotate, and bounds of their separation: oriented boxes, and capsules.

Contacts come from conservative advancement in both directions of time. The least separation comes from
samples that close in on it by tangents; bounds from gaps along a separating axis determine where no
search is needed. A capsule is a box without width and a radius around it, as in `distance.obb`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..distance.obb import gap_along_axis, separation_and_axis
from ..numeric.arrays import Bools, Floats, Table, dot, length
from ..shapes import Obb, concatenated
from ..sweep.dispatch import overlap_span
from ..sweep.interpolation import ObbMotion, rotation_angle
from ..sweep.obb import boxes_in_motion
from .pair_motion import IntervalContacts, PairMotion, parabola_overshoot, raised_lower_bounds

_TANGENT_STEPS = 4
"""Further samples of the separation, at most, where the tangents of earlier ones meet."""

_RESOLUTION = 1e-6
"""Part of a pair's size: separations that are not smaller by this are not searched for."""


class RoundedPairs(NamedTuple):
    """Pairs (m,) of boxes with a radius around them, at both ends of an interval.

    a_start, a_end, b_start, b_end : Obb, batch (m,)
    radius_start, radius_end : (m,) float64. Both radii of a pair together; 0 for oriented boxes.
    """

    a_start: Obb
    a_end: Obb
    b_start: Obb
    b_end: Obb
    radius_start: Floats
    radius_end: Floats

    @classmethod
    def of(cls, pairs: PairMotion) -> RoundedPairs:
        """Split pairs of oriented boxes or capsules."""
        a0, a1, b0, b1 = pairs
        first, last, r0, r1 = boxes_in_motion(a0, a1)
        start, end, s0, s1 = boxes_in_motion(b0, b1)
        return cls(first, last, start, end, r0 + s0, r1 + s1)

    def size(self) -> Floats:
        """Sum (m,) of the largest distances of both surfaces from their centers."""
        size = np.maximum(self.radius_start, self.radius_end)
        for first, last in ((self.a_start, self.a_end), (self.b_start, self.b_end)):
            size = size + np.maximum(length(first.half_extents), length(last.half_extents))
        return size

    def travel_and_sagitta(self) -> tuple[Floats, Floats]:
        """Compute the largest change (m,) of the separation, and the deviation (m,) of corners from chords.

        A function deviates from its chord by an eighth of its second derivative at most: for the path of a
        corner, that is its centripetal acceleration, and a term from growing while rotating.
        """
        a0, a1, b0, b1, radius_start, radius_end = self
        travel = length((b1.center - b0.center) - (a1.center - a0.center))
        travel += np.abs(radius_end - radius_start)
        sagitta = np.zeros(a0.shape)
        for first, last in ((a0, a1), (b0, b1)):
            radius = np.maximum(length(first.half_extents), length(last.half_extents))
            growth = length(last.half_extents - first.half_extents)
            angle = rotation_angle(first, last)
            travel += growth + radius * angle
            sagitta += angle * (angle * radius + 2 * growth) / 8
        return travel, sagitta


class RoundedMotion(Table):
    """Pairs (m,) of boxes with a radius around them, in motion.

    a, b : ObbMotion
    radius_start, radius_end : (m,) float64. Both radii of a pair together.
    size : (m,) float64. Size of a pair, as `RoundedPairs.size` returns it.
    """

    a: ObbMotion
    b: ObbMotion
    radius_start: Floats
    radius_end: Floats
    size: Floats

    @classmethod
    def of(cls, pairs: RoundedPairs) -> RoundedMotion:
        """Motion between both ends."""
        a0, a1, b0, b1, radius_start, radius_end = pairs
        a, b = ObbMotion.between(a0, a1), ObbMotion.between(b0, b1)
        return cls(a, b, radius_start, radius_end, pairs.size())

    def separated_at(self, time: Floats) -> SeparatedBoxes:
        """Pairs at `time` (..., m) in [0, 1]."""
        first, second = self.a.at(time), self.b.at(time)
        separation, axis = separation_and_axis(first, second)
        radius = self.radius_start * (1 - time) + self.radius_end * time
        return SeparatedBoxes(separation - radius, axis, first, second, radius)

    def tangents_at(self, time: Floats) -> Tangents:
        """Separations (..., m) at times, and their slopes."""
        return self.tangents_of(time, self.separated_at(time))

    def tangents_of(self, time: Floats, now: SeparatedBoxes) -> Tangents:
        """Separations (..., m) at a time, and their slopes."""
        slope = -self.b.speed_along(-now.axis, now.b) - self.a.speed_along(now.axis, now.a)
        return Tangents(time, now.separation, slope - (self.radius_end - self.radius_start))


class Tangents(Table):
    """Tangents (m,) of separations over time.

    time, value, slope : (m,) float64. Where a tangent touches, and the derivative there.
    """

    time: Floats
    value: Floats
    slope: Floats

    def meeting(self, later: Tangents) -> tuple[Floats, Floats]:
        """Return times and values (m,) where tangents meet those of later times; infinite for not between."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = later.value - self.value + self.slope * self.time - later.slope * later.time
            time = rise / (self.slope - later.slope)
            value = self.value + self.slope * (time - self.time)
        is_between = (self.slope < 0) & (later.slope > 0) & (time > self.time) & (time < later.time)
        return time, np.where(is_between, value, np.inf)


class SeparatedBoxes(Table):
    """Pairs of boxes (m,) at one time: separations (m,), or less, along the unit axes (m, 3).

    The separations are less by the radii (m,).
    """

    separation: Floats
    axis: Floats
    a: Obb
    b: Obb
    radius: Floats

    def gap_along(self, axis: Floats) -> Floats:
        """Gap (m,) along unit vectors (m, 3), at most the separation."""
        return gap_along_axis(axis, self.a, self.b) - self.radius


def contact_bounds(pairs: PairMotion) -> IntervalContacts:
    """Bounds (m,) of the separation from the samples at both ends; contacts are left NaN."""
    boxes = RoundedPairs.of(pairs)
    has_radius = bool(boxes.radius_start.any() or boxes.radius_end.any())
    # Around corners, a radius reaches less far than along an axis.
    both = concatenated(boxes.a_start, boxes.a_end), concatenated(boxes.b_start, boxes.b_end)
    (first, last), axes = (np.split(values, 2) for values in separation_and_axis(*both, not has_radius))
    first, last = first - boxes.radius_start, last - boxes.radius_end
    start = SeparatedBoxes(first, axes[0], boxes.a_start, boxes.b_start, boxes.radius_start)
    end = SeparatedBoxes(last, axes[1], boxes.a_end, boxes.b_end, boxes.radius_end)
    travel, sagitta = boxes.travel_and_sagitta()
    low = np.maximum((first + last - travel) / 2, _lower_bound_between(start, end, sagitta))
    # Of boxes that are apart, the gap along an axis bounds the separation from below only.
    is_bound = np.full(first.shape, has_radius) | ((first <= 0) & (last <= 0))
    high = np.where(is_bound, (first + last + travel) / 2, np.inf)
    least, least_time = np.minimum(first, last), np.where(last < first, 1.0, 0.0)
    never = np.full(low.shape, np.nan)
    return IntervalContacts.without_speeds(never, never.copy(), np.maximum(least, low), least_time, low, high)


def may_touch(pairs: PairMotion, low: Floats, clearance: float, deviation: Floats) -> Bools:
    """Mask (m,) of pairs, never nearer than `low` (m,), that may come within clearance + deviation (m,)."""
    size = RoundedPairs.of(pairs).size()
    # A deviation is added to every face, which at corners is sqrt(3) of it. A bound that is NaN rules nothing
    # out.
    return np.asarray(~(low > clearance + np.sqrt(3) * deviation + _RESOLUTION * size))


def interval_contacts_of_rotating(
    pairs: PairMotion, clearance: float, deviation: Floats, bounds: IntervalContacts
) -> IntervalContacts:
    """Contacts (m,) of boxes or capsules: see `dispatch`. Changes `bounds`, from `contact_bounds`."""
    a0, a1, b0, b1 = pairs
    enter, leave = overlap_span(a0, a1, b0, b1, clearance)
    _, _, least, least_time, low, high, *_ = bounds
    low = raised_lower_bounds(pairs, enter, low, clearance, deviation)
    # A pair that may touch within its deviation: its closest time is where to sample the motion next.
    rows = np.flatnonzero(np.isnan(enter) & (low <= clearance + deviation) & (deviation > 0))
    if len(rows):
        no_cutoff = np.full(len(rows), np.inf)
        # Without a contact, as in the bounds.
        found = minimum_separation_of_rotating(pairs.take(rows), bounds.take(rows), no_cutoff)
        least[rows], least_time[rows] = found
    # Gaps along an axis may be smaller than a bound known otherwise.
    return IntervalContacts.without_speeds(enter, leave, np.maximum(least, low), least_time, low, high)


def minimum_separation_of_rotating(
    pairs: PairMotion, contacts: IntervalContacts, cutoff: Floats
) -> tuple[Floats, Floats]:
    """Least separation (m,) among samples that close in on it, and its time (m,).

    Only the ends of contacts, or of the interval, are sampled where it cannot be below `cutoff` (m,).
    """
    whole = RoundedPairs.of(pairs)
    boxes = RoundedMotion.of(whole)
    begin = np.nan_to_num(contacts.enter, nan=0.0)
    end = np.nan_to_num(contacts.leave, nan=1.0)
    at_ends = boxes.separated_at(np.stack([begin, end]))
    at_begin, at_end = at_ends.take(0), at_ends.take(1)
    least = np.minimum(at_begin.separation, at_end.separation)
    least_time = np.where(at_end.separation < at_begin.separation, end, begin)
    low = _lower_bound_between(at_begin, at_end, whole.travel_and_sagitta()[1])
    rows = np.flatnonzero(low < np.minimum(least, cutoff))
    if len(rows):
        boxes = boxes.take(rows)
        between = _sample_times(boxes, begin[rows], end[rows])
        samples = (
            boxes.tangents_of(begin[rows][None], at_begin.take((None, rows))),
            boxes.tangents_at(between),
            boxes.tangents_of(end[rows][None], at_end.take((None, rows))),
        )
        least[rows], least_time[rows] = minimum_by_tangents(boxes, Tangents.concatenate(samples))
    return least, least_time


def _lower_bound_between(start: SeparatedBoxes, end: SeparatedBoxes, sagitta: Floats) -> Floats:
    """Lower bound (m,) of the separation between two samples.

    sagitta : (m,) largest deviation of corners from their chords, both boxes added up
    """
    low = np.full(sagitta.shape, -np.inf)
    gaps = ((start.separation, end.gap_along(start.axis)), (start.gap_along(end.axis), end.separation))
    for first, last in gaps:
        # The gap along a fixed axis is never below a parabola through both ends.
        below = parabola_overshoot(np.abs(last - first), sagitta)
        low = np.maximum(low, np.minimum(first, last) - below)
    return low


def minimum_by_tangents(
    boxes: Any, samples: Tangents, resolution: float = _RESOLUTION
) -> tuple[Floats, Floats]:
    """Least (m,) of samples (k, m) at increasing times, and of further ones where neighboring tangents meet.

    The separation of shapes that do not rotate is convex: their tangents are never above it.
    """
    rows = every = np.arange(len(boxes.size))
    best = samples.value.argmin(axis=0)
    least_time, least, slope = samples.take((best, every))
    # The minimum is between the lowest sample and its neighbor in the direction in which the slope falls.
    first = np.clip(np.where(slope < 0, best, best - 1), 0, len(samples.value) - 2)
    left, right = samples.take((first, every)), samples.take((first + 1, every))
    for _ in range(_TANGENT_STEPS):
        time, bound = left.meeting(right)
        # Stop where tangents do not meet in between, or hardly below the least value so far.
        going = np.flatnonzero(least[rows] - bound > resolution * boxes.size)
        if not len(going):
            break
        rows, boxes, left, right = rows[going], boxes.take(going), left.take(going), right.take(going)
        middle = boxes.tangents_at(time[going])
        less = middle.value < least[rows]
        least[rows[less]], least_time[rows[less]] = middle.value[less], middle.time[less]
        falls = middle.slope < 0
        left.assign(falls, middle.take(falls))
        right.assign(~falls, middle.take(~falls))
    return least, least_time


def _sample_times(boxes: RoundedMotion, begin: Floats, end: Floats) -> Floats:
    """Three times (3, m) to sample: about the middle of the interval, or of the passage of a fast pair."""
    offset = boxes.b.start.center - boxes.a.start.center
    velocity = (boxes.b.end.center - boxes.a.end.center) - offset
    speed = length(velocity)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        nearest = np.clip(-dot(offset, velocity) / speed**2, begin, end)
        duration = boxes.size / speed
    # A pair passes while its centers are within its size of their closest point.
    passing = np.isfinite(nearest) & (duration < end - begin)
    nearest = np.where(passing, nearest, (begin + end) / 2)
    duration = np.minimum(np.where(passing, duration, np.inf), (end - begin) / 4)
    return np.asarray(np.clip(np.stack([nearest - duration, nearest, nearest + duration]), begin, end))
