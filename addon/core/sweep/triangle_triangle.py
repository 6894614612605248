"""Sweep of two triangles whose corners move in straight lines, by conservative advancement (Mirtich 1996).

They are disjoint as long as an axis shows a gap between them: a face normal or the cross product of two
edges, which move with the triangles, or the line between their closest points. The gap along such an axis is
a cubic polynomial in time. A lower bound of that polynomial gives a time before which the gap cannot close.
Advance to that time, choose the axes again, and repeat.

Triangles that move far compared with their size are solved twice: to the time at which a gap is rounding of
their path, and from just before that, over a short interval, in coordinates that are exact there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distance.separating_axis import WitnessPoints
from ..distance.triangle_triangle import best_axis, closest_points_triangle_triangle, separating_axes
from ..numeric.arrays import (
    Bools,
    Floats,
    Table,
    cross_first,
    dot_first,
    power_of_two_scale,
)
from ..numeric.floating_point import Exact, two_difference, two_product
from ..numeric.tolerances import GAP_ROUNDING
from ..progress import pause

MAX_STEPS = 101
SLOW_STEPS = 4
"""Steps after which the line between closest points is an axis too: edges that slide along each other have no
other axis with a large gap. Searches postpone pairs that take more, because few of them are still needed."""
_ALL_STEPS = range(MAX_STEPS)
_CHUNK_PAIRS = 512
_NEXT = [1, 2, 0]
_MIN_DISTANCE = 1e-7
"""Distance of closest points, relative to the size of a pair, above which their direction has at least single
precision."""
_TIME_BEFORE = 1e-7
"""Time before a contact at which its separating axes are evaluated."""


_KEPT_GAP = GAP_ROUNDING / 2
"""Part of a gap that closes slowly that is left by a step. It exceeds the rounding errors of gaps."""
_SLOW = 8
"""Ratio of the speed of corners to that of a gap, above which it closes slowly."""
_FAR = 2.0**13
"""Path in sizes of the triangles, above which it is far: rounding of it exceeds 1e-12 of the size."""
_PASSED = 16 * GAP_ROUNDING
"""Path by which rounding lets a step pass a contact, at most: more than `_SLOW` rounding errors of gaps."""
_SHORT = 4
"""Path, in sizes of a pair with the gap between them, over which it is solved in coordinates of one place."""


class MovingTriangles(Table):
    """Triangles (m,) whose corners (m, 3, 3) move in straight lines between both ends of an interval."""

    start: Floats
    end: Floats

    def at(self, time: Floats) -> Floats:
        """Corners (m, 3, 3) at times (m,) in [0, 1]; exact at both ends."""
        t = time[:, None, None]
        return np.where(t == 1, self.end, self.start + t * (self.end - self.start))


def first_impacts_of_triangles(
    a: MovingTriangles,
    b: MovingTriangles,
    clearance: Floats | float = 0.0,
    begin: Floats | float = 0.0,
    until: Floats | float = 1.0,
    steps: range = _ALL_STEPS,
    growth: Floats | float = 0.0,
) -> tuple[Floats, Bools]:
    """First times in [begin, until] at which pairs of triangles are within `clearance`; NaN for never.

    Late by no more than rounding: before, triangles overlap by no more than 1e-15 of the pair's coordinates.
    Early by no more than the time in which a gap of 1e-14 of these closes; of 1e-10 for edges that are nearly
    parallel, whose cross product is rounding. If corners move more than 8192 times the size of the triangles,
    early by no more than the time in which a gap of 1e-13 of that size closes, and by rounding of the time.
    A pair that is not within that gap after 100 steps is not resolved: it does not touch before that time.

    a, b : MovingTriangles, (m,). Pairs of triangles, in one space and unit.
    clearance : (m,) float or float. Distance that counts as contact.
    begin : (m,) float or float. Times until which pairs are known to be disjoint.
    until : (m,) float or float. Last time that is searched.
    steps : Numbers of the steps to take, all by default. Pairs that the first ones do not resolve can be
        continued from their times on.
    growth : (m,) float or float. By how much the clearance is larger at time 1.
    Returns time : (m,) float64
    Returns is_resolved : (m,) bool. False where the pair may touch later than the time, or never.
    """
    count = len(a.start)
    numbers = [
        np.broadcast_to(np.asarray(each, dtype=np.float64), (count,))
        for each in (clearance, growth, begin, until)
    ]
    time, is_resolved = np.full(count, np.nan), np.ones(count, dtype=bool)
    for first in range(0, count, _CHUNK_PAIRS):
        pause()
        rows = slice(first, first + _CHUNK_PAIRS)
        start, end = (np.concatenate([p[rows], q[rows]], axis=1) for p, q in zip(a, b, strict=True))
        sweeps = _Sweeps.scaled(start, end, *(each[rows] for each in numbers))
        time[rows], is_resolved[rows] = _first_impacts(sweeps, steps)
    return time, is_resolved


def contacts_of_triangles(a: MovingTriangles, b: MovingTriangles, time: Floats) -> WitnessPoints:
    """Closest points of pairs of triangles that touch, and contact normals.

    Of disjoint triangles the normal is the direction between their closest points. For triangles in contact
    it is the axis with the largest gap just before, along which they approach fastest.

    a, b : MovingTriangles, (m,). Pairs of triangles.
    time : (m,) float64. Their times of contact.
    Returns contacts : WitnessPoints, (m, 3) each
    """
    first, second = a.at(time), b.at(time)
    size = np.maximum(np.abs(first - first[:, :1]), np.abs(second - first[:, :1])).max(axis=(1, 2))
    witness = closest_points_triangle_triangle(first, second)
    is_disjoint = np.abs(witness.on_b - witness.on_a).max(axis=1) > _MIN_DISTANCE * size
    before = a.at(time - _TIME_BEFORE), b.at(time - _TIME_BEFORE)
    normal = best_axis(*before, separating_axes(*before), separating_axes(first, second))[1]
    return witness._replace(normal=np.where(is_disjoint[:, None], witness.normal, normal))


class _Sweeps(Table):
    """Sweeps (m,) of pairs of triangles, in units of their coordinates.

    start, end : (m, 6, 3) float64. Corners of both triangles at both ends of an interval.
    clearance, growth : (m,) float64. Gap that counts as contact, but for rounding errors, and its change.
    begin, until : (m,) float64. Times between which contact is searched.
    """

    start: Floats
    end: Floats
    clearance: Floats
    growth: Floats
    begin: Floats
    until: Floats

    @classmethod
    def scaled(
        cls, start: Floats, end: Floats, clearance: Floats, growth: Floats, begin: Floats, until: Floats
    ) -> _Sweeps:
        largest = np.maximum(np.abs(start), np.abs(end)).max(axis=(1, 2))
        scale = power_of_two_scale(np.maximum(largest, np.maximum(clearance, clearance + growth)))
        unit = scale[:, None, None]
        return cls(start / unit, end / unit, clearance / scale, growth / scale, begin, until)

    def near(self, time: Floats) -> tuple[_Sweeps, Floats, Floats]:
        """Sweeps from just before times (m,) on, over a short interval, with its start and its end (m,).

        Corners are relative to the first one, which moves, without rounding of the path.
        """
        first, last = (Exact(*two_difference(each, each[:, :1])) for each in (self.start, self.end))
        change, error = two_difference(last.value, first.value)
        speed = np.abs(change).max(axis=(1, 2))
        start = np.maximum(self.begin, time - _PASSED / speed)
        corners = _exactly_at(start[:, None, None], first, Exact(change, error + (last.error - first.error)))
        clearance = _exactly_at(start, Exact(self.clearance), Exact(self.growth))
        stop = start + _SHORT * np.maximum(np.abs(corners).max(axis=(1, 2)), 2 * _PASSED) / speed
        # Not beyond 1, because contact at the end of the interval counts, which is also that of the motion.
        stop = np.where(start < 1, np.minimum(stop, 1.0), stop)
        duration = stop - start
        corners_end, growth = corners + duration[:, None, None] * change, duration * self.growth
        until = (self.until - start) / duration
        local = _Sweeps.scaled(corners, corners_end, clearance, growth, np.zeros_like(start), until)
        return local, start, stop


def _exactly_at(time: Floats, first: Exact, change: Exact) -> Floats:
    """Compute first + time * change; what cancels leaves no rounding error of its terms."""
    path, path_error = two_product(time, change.value)
    place, place_error = two_difference(first.value, -path)
    return np.asarray(place + (place_error + path_error + (first.error + time * change.error)))


class _TrianglePairs(Table, last=True):
    """Pairs of triangles in units of their coordinates, coordinates first and batch last.

    p, q : (3 coordinates, 3 corners, m) float64. Corners of both triangles.
    p_change, q_change : (3 coordinates, 3 corners, m) float64. Their changes over the interval.
    clearance, growth : (m,) float64. Gap that counts as contact, but for rounding errors, and its change.
    speed : (m,) float64. Largest relative speed of a corner of one and a corner of the other.
    """

    p: Floats
    p_change: Floats
    q: Floats
    q_change: Floats
    clearance: Floats
    growth: Floats
    speed: Floats

    @classmethod
    def of(cls, sweeps: _Sweeps) -> _TrianglePairs:
        first = sweeps.start[:, :1]
        start, end = ((each - first).transpose(2, 1, 0) for each in (sweeps.start, sweeps.end))
        p, q, p_end, q_end = (
            np.ascontiguousarray(part) for each in (start, end) for part in (each[:, :3], each[:, 3:])
        )
        p_change, q_change = p_end - p, q_end - q
        apart = q_change[:, None] - p_change[:, :, None]
        speed = np.sqrt(dot_first(apart, apart).max(axis=(0, 1)))
        return cls(p, p_change, q, q_change, sweeps.clearance, sweeps.growth, speed)

    def at(self, time: Floats) -> _TrianglePairs:
        """Pairs at times (m,); the changes stay those of the whole interval."""
        clearance = np.maximum(self.clearance + time * self.growth, 0.0)
        return self.replaced(
            p=self.p + time * self.p_change, q=self.q + time * self.q_change, clearance=clearance
        )

    def move_far(self) -> Bools:
        """Decide which pairs (m,) move so far that rounding of the path is not small for their triangles."""
        ends = [self.p, self.q, self.p + self.p_change, self.q + self.q_change]
        size = np.max([np.abs(corners - corners[:, :1]).max(axis=(0, 1)) for corners in ends], axis=0)
        return np.asarray(self.speed > _FAR * np.maximum(size, 2 * _PASSED))


def _first_impacts(sweeps: _Sweeps, steps: range) -> tuple[Floats, Bools]:
    """First contacts (m,), NaN for none; also whether they are resolved."""
    pairs = _TrianglePairs.of(sweeps)
    time, is_resolved = _first_contacts(pairs, sweeps.begin, sweeps.until, steps)
    found = np.flatnonzero(is_resolved & ~np.isnan(time))
    far = found[pairs.take(found).move_far()]
    if len(far):
        time[far], is_resolved[far] = _first_impacts_near(sweeps.take(far), time[far], steps)
    return time, is_resolved


def _first_impacts_near(sweeps: _Sweeps, time: Floats, steps: range) -> tuple[Floats, Bools]:
    """First contacts (m,) of pairs that move far, as before, from times (m,) at which gaps are rounding."""
    local, start, stop = sweeps.near(time)
    part, is_resolved = _first_contacts(_TrianglePairs.of(local), local.begin, local.until, steps)
    found = start + part * (stop - start)
    # What is not resolved is searched from there on, so rounding must not pass a contact.
    found = np.where(is_resolved, np.minimum(found, sweeps.until), np.maximum(np.nextafter(found, 0), start))
    later = np.flatnonzero(np.isnan(part) & (stop < sweeps.until))
    if len(later):
        rest = sweeps.take(later).replaced(begin=stop[later])
        found[later], is_resolved[later] = _first_impacts(rest, steps)
    return found, is_resolved


def _first_contacts(
    pairs: _TrianglePairs, begin: Floats, until: Floats, steps: range
) -> tuple[Floats, Bools]:
    """First contacts (m,) from times on, by `until` (m,), NaN for none; also whether they are resolved."""
    found, is_resolved = np.full(len(begin), np.nan), np.ones(len(begin), dtype=bool)
    time = begin.copy()
    active = np.flatnonzero(time <= until)
    for step_number in steps:
        if not len(active):
            break
        now, remaining = pairs.take(active).at(time[active]), 1 - time[active]
        gap, step = _gaps_and_steps(now, remaining, step_number >= SLOW_STEPS)
        touching = gap <= GAP_ROUNDING
        ends = touching | ((step_number == steps[-1]) & (remaining > 0))
        ended = active[ends]
        found[ended], is_resolved[ended] = time[ended], touching[ends]
        continues = ~ends & (remaining > 0)
        active, step, remaining = active[continues], step[continues], remaining[continues]
        # A step beyond the end stops at it, because contact at the end counts.
        time[active] = np.where(step >= remaining, 1.0, time[active] + step)
        active = active[time[active] <= until[active]]
    return found, is_resolved


def _gaps_and_steps(now: _TrianglePairs, remaining: Floats, is_slow: bool) -> tuple[Floats, Floats]:
    """Largest gaps (m,) beyond the clearance, and times (m,) in which one of them stays positive."""
    gap, step = _safe_steps(now, _feature_axes(now), remaining)
    close = np.flatnonzero((gap <= GAP_ROUNDING) | is_slow)
    if len(close):
        # The gap along the line of closest points: -inf, which counts as contact, where these are too
        # close for a direction.
        near = now.take(close)
        along = closest_points_triangle_triangle(near.p.T, near.q.T).normal.T
        better = _safe_steps(near, _axes_across_edges(near, along), remaining[close])
        gap[close], step[close] = np.maximum((gap[close], step[close]), better)
    return gap, step


class _Axes(NamedTuple):
    """Separating axes (3 coordinates, k, m) in motion: first + second t + third t^2, of any length."""

    first: Floats
    second: Floats
    third: Floats


def _feature_axes(now: _TrianglePairs) -> _Axes:
    """Eleven separating axes: the normals of both triangles and the cross products of their edges."""
    u, v = now.p[:, _NEXT] - now.p, now.q[:, _NEXT] - now.q
    u_change, v_change = (change[:, _NEXT] - change for change in (now.p_change, now.q_change))
    m = u.shape[-1]
    left = np.concatenate([u[:, :1], v[:, :1], u.repeat(3, axis=1)], axis=1)
    right = np.concatenate([u[:, 1:2], v[:, 1:2], np.tile(v, (1, 3, 1))], axis=1)
    left_change = np.concatenate([u_change[:, :1], v_change[:, :1], u_change.repeat(3, axis=1)], axis=1)
    right_change = np.concatenate([u_change[:, 1:2], v_change[:, 1:2], np.tile(v_change, (1, 3, 1))], axis=1)
    assert left.shape == (3, 11, m)
    return _Axes(
        cross_first(left, right),
        cross_first(left, right_change) + cross_first(left_change, right),
        cross_first(left_change, right_change),
    )


def _axes_across_edges(now: _TrianglePairs, along: Floats) -> _Axes:
    """Seven separating axes: directions (3, m), and their parts across each of the edges.

    The direction between close points is rounding, but no part of an edge is ahead along an axis across it.
    """
    along = along[:, None]
    edges = np.concatenate([now.p[:, _NEXT] - now.p, now.q[:, _NEXT] - now.q], axis=1)
    change = np.concatenate(
        [now.p_change[:, _NEXT] - now.p_change, now.q_change[:, _NEXT] - now.q_change], axis=1
    )
    sides, sides_change = cross_first(along, edges), cross_first(along, change)
    return _Axes(
        np.concatenate([along, cross_first(edges, sides)], axis=1),
        np.concatenate(
            [np.zeros_like(along), cross_first(edges, sides_change) + cross_first(change, sides)], axis=1
        ),
        np.concatenate([np.zeros_like(along), cross_first(change, sides_change)], axis=1),
    )


def _safe_steps(now: _TrianglePairs, axes: _Axes, remaining: Floats) -> tuple[Floats, Floats]:
    """Largest gap (m,) over the axes beyond the clearance, and the time (m,) in which one stays positive.

    The time is inf if that exceeds `remaining` (m,), the rest of the interval.
    """
    of_p, of_q = _projections(axes, now.p, now.p_change), _projections(axes, now.q, now.q_change)
    sizes = [np.sqrt(dot_first(n, n)) for n in axes]
    ahead, behind = of_q[0].min(axis=1) - of_p[0].max(axis=1), of_p[0].min(axis=1) - of_q[0].max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.where(sizes[0] > 0, np.maximum(ahead, behind) / sizes[0], -np.inf) - now.clearance
    sign = np.where(ahead >= behind, 1.0, -1.0)[:, None, None]
    # Distance of each corner of one triangle to each of the other, less the clearance times the axis length,
    # which is no more than the sum of the lengths of its coefficients.
    terms = [sign * (of_q[k][:, None] - of_p[k][:, :, None]) for k in range(4)]
    for power, size in enumerate(sizes):
        terms[power] -= (size * now.clearance)[:, None, None]
        terms[power + 1] -= (size * now.growth)[:, None, None]
    step = _kept_duration(_positive_duration(terms, remaining), gaps, now.speed)
    if axes.second.any() or axes.third.any():
        # Over a shorter stretch the bound is tighter.
        shorter = np.minimum(2 * step, remaining)
        tighter = _kept_duration(_positive_duration(terms, shorter), gaps, now.speed)
        step = np.maximum(step, np.minimum(tighter, shorter))
    return gaps.max(axis=0), np.where(step >= remaining, np.inf, step)


def _kept_duration(duration: Floats, gaps: Floats, speed: Floats) -> Floats:
    """Longest time (m,) that rounding does not exceed, of times (k, m) in which gaps (k, m) stay positive.

    If a gap closes slowly, its rounding error takes so long to close that another gap may open in the
    meantime. Steps end before that. A bound that falls faster and faster keeps a part of the gap until that
    part of its time is left.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        kept = np.where(gaps > _KEPT_GAP, duration * (1 - _KEPT_GAP / gaps), 0.0)
        is_slow = duration * speed > _SLOW * gaps
    return np.asarray(np.where(is_slow, kept, duration).max(axis=0))


def _projections(axes: _Axes, corners: Floats, change: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Coefficients (k, 3, m) of the cubics in time that corners (3, 3, m) are on axes (3, k, m)."""
    x, v = corners[:, None], change[:, None]
    first, second, third = (axis[:, :, None] for axis in axes)
    return (
        dot_first(first, x),
        dot_first(first, v) + dot_first(second, x),
        dot_first(second, v) + dot_first(third, x),
        dot_first(third, v),
    )


def _positive_duration(terms: list[Floats], stretch: Floats) -> Floats:
    """Lower bound (k, m) of the time in which all cubics with coefficients (k, 3, 3, m) stay positive.

    Within `stretch` (m,) each cubic is above a parabola that includes all of its negative curvature. 0 if a
    cubic is not positive at the start.
    """
    c0, c1, c2, c3 = terms
    curvature = np.maximum(-c2, 0) + np.maximum(-c3, 0) * stretch
    with np.errstate(divide="ignore", invalid="ignore"):
        total = np.sqrt(c1 * c1 + 4 * curvature * np.maximum(c0, 0)) + np.abs(c1)
        falls = c1 < 0
        until = np.where(falls, 2 * c0, total) / np.where(falls, total, 2 * curvature)
    # One that neither falls nor rises was 0 / 0.
    until[total == 0] = np.inf
    until[c0 <= 0] = 0.0
    return np.asarray(until.min(axis=(1, 2)))
