"""Sweep of two triangles, and of two meshes, whose corners move in straight lines.

Two triangles are solved by conservative advancement (Mirtich 1996). They are disjoint as long as an axis
shows a gap between them: a face normal or the cross product of two edges, which move with the triangles, or
the line between their closest points. The gap along such an axis is a cubic polynomial in time. A lower bound
of that polynomial gives a time before which the gap cannot close. Advance to that time, choose the axes
again, and repeat.

Two meshes are solved by a best-first simultaneous traversal of both BVHs: the swept spheres and boxes of two
nodes bound the time of impact of their triangles from below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distance.mesh_mesh import (
    best_axis,
    closest_on_any_side,
    closest_points_triangle_triangle,
    separating_axes,
)
from ..distance.separating_axis import WitnessPoints
from ..mesh.meshes import Meshes, interpolated_meshes, moving_nodes
from ..mesh.node_pool import MovingNodes, offsets_between
from ..mesh.pair_search import QueuedPairs
from ..mesh.points_inside import are_inside
from ..mesh.support_search import SupportSearch
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    cross,
    cross_first,
    dot,
    dot_first,
    largest_component,
    length,
    normalized,
    power_of_two_scale,
    unit_or_zero,
)
from ..numeric.tolerances import DISTANCE_ROUNDING, GAP_ROUNDING
from .one_sided import times_in_front

_MAX_STEPS = 101
_SLOW_STEPS = 4
"""Steps after which the line between closest points is an axis too: edges that slide along each other have no
other axis with a large gap. Searches postpone pairs that take more, because few of them are still needed."""
_ALL_STEPS = range(_MAX_STEPS)
_CHUNK_PAIRS = 512
_NEXT = [1, 2, 0]
_MIN_DISTANCE = 1e-7
"""Distance of closest points, relative to the size of a pair, above which their direction has at least single
precision."""
_MOST_PASSES = 4
"""Times at which a triangle comes to the front of another one, at most, and the search for these."""
_ON_PLANE = 1e-6
"""Distance from a one-sided triangle, relative to its size, at which a center is on its plane."""
_TIME_BEFORE = 1e-7
"""Time before a contact at which its separating axes are evaluated."""


_KEPT_GAP = GAP_ROUNDING / 2
"""Part of a gap that closes slowly that is left by a step. It exceeds the rounding errors of gaps."""
_SLOW = 8
"""Ratio of the speed of corners to that of a gap, above which it closes slowly."""


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
    parallel, whose cross product is rounding. A pair that is not within that gap after 100 steps is not
    resolved: it does not touch before that time.

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
    clearances, growths, begins, ends = (
        np.broadcast_to(np.asarray(each, dtype=np.float64), (count,))
        for each in (clearance, growth, begin, until)
    )
    time, is_resolved = np.full(count, np.nan), np.ones(count, dtype=bool)
    for start in range(0, count, _CHUNK_PAIRS):
        rows = slice(start, start + _CHUNK_PAIRS)
        pairs = _TrianglePairs.of(a.take(rows), b.take(rows), clearances[rows], growths[rows])
        time[rows], is_resolved[rows] = _first_contacts(pairs, begins[rows], ends[rows], steps)
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
    normal = best_axis(*before, separating_axes(*before))[1]
    return witness._replace(normal=np.where(is_disjoint[:, None], witness.normal, normal))


class _TrianglePairs(Table, last=True):
    """Pairs of triangles in units of their own size, coordinates first and batch last.

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
    def of(cls, a: MovingTriangles, b: MovingTriangles, clearance: Floats, growth: Floats) -> _TrianglePairs:
        corners = np.concatenate([a.start, a.end, b.start, b.end], axis=1)
        largest = np.maximum(clearance, clearance + growth)
        scale = power_of_two_scale(np.maximum(np.abs(corners).max(axis=(1, 2)), largest))
        corners = corners / scale[:, None, None]
        corners = np.moveaxis(corners - corners[:, :1], 0, -1).swapaxes(0, 1)
        p, p_end, q, q_end = (np.ascontiguousarray(part) for part in np.split(corners, 4, axis=1))
        p_change, q_change = p_end - p, q_end - q
        apart = q_change[:, None] - p_change[:, :, None]
        speed = np.sqrt(dot_first(apart, apart).max(axis=(0, 1)))
        return cls(p, p_change, q, q_change, clearance / scale, growth / scale, speed)

    def at(self, time: Floats) -> _TrianglePairs:
        """Pairs at times (m,); the changes stay those of the whole interval."""
        clearance = np.maximum(self.clearance + time * self.growth, 0.0)
        return self.replaced(
            p=self.p + time * self.p_change, q=self.q + time * self.q_change, clearance=clearance
        )


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
        gap, step = _gaps_and_steps(now, remaining, step_number >= _SLOW_STEPS)
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


AFTER_END = 2.0
"""A time that is later than any contact."""


def time_within_meshes(a0: Meshes, a1: Meshes, b0: Meshes, b1: Meshes, clearance: Floats | float) -> Floats:
    """First times (m,) in [0, 1] at which meshes (m,) are within `clearance`, or one is inside the other.

    Never late, and early only by what `first_impacts_of_triangles` is; NaN for never.
    """
    margin, margin_end = a0.margin + b0.margin, a1.margin + b1.margin
    nodes = moving_nodes((a0, a1), (b0, b1))
    time, _ = first_impacts_of_meshes(*nodes, clearance + np.stack([margin, margin_end]))
    apart = np.flatnonzero(~(time == 0))
    time[apart[are_inside(a0[apart], b0[apart])]] = 0.0
    return time


def contacts_of_meshes(a0: Meshes, a1: Meshes, b0: Meshes, b1: Meshes, time: Floats) -> WitnessPoints:
    """Closest points of meshes (m,) at their times of contact (m,): see `contacts_of_triangles`."""
    a, b = interpolated_meshes(a0, a1, time), interpolated_meshes(b0, b1, time)
    rows, nodes = np.arange(len(time)), closest_on_any_side(*moving_nodes((a, a), (b, b)))
    moving = moving_nodes((a0, a1), (b0, b1))
    first, second = (
        MovingTriangles(*each.corners(rows, node)) for each, node in zip(moving, nodes, strict=True)
    )
    on_a, on_b, normal = contacts_of_triangles(first, second, time)
    # What just comes to the front of a face is on its plane.
    for each, sign, triangles in ((moving[0], 1.0, first), (moving[1], -1.0, second)):
        if each.start.one_sided.any():
            sides = np.diff(triangles.at(time), axis=1)
            is_on = length(on_b - on_a) <= _ON_PLANE * np.abs(sides).max(axis=(1, 2))
            of_face = sign * unit_or_zero(cross(sides[:, 0], sides[:, 1]))
            normal = np.where((is_on & each.start.one_sided)[:, None], of_face, normal)
    return WitnessPoints(on_a + normal * a.margin[:, None], on_b - normal * b.margin[:, None], normal)


def first_impacts_of_meshes(
    a: MovingNodes,
    b: MovingNodes,
    clearance: Floats,
    begin: Floats | None = None,
    rows: Ints | None = None,
    guess: Ints | None = None,
    behind: Floats | float = 0.0,
) -> tuple[Floats, Ints]:
    """First times in [begin, 1] at which the surfaces of pairs of moving meshes are within `clearance`.

    Never late, and early by no more than `first_impacts_of_triangles`.

    a, b : MovingNodes, (m,). The meshes, in one space and unit.
    clearance : (m,) or (2, m) float64. Distances that count as contact, maybe others at the end.
    begin : (m,) float64. Times until which the meshes are known to be disjoint; 0 by default.
    rows : (r,) int64. Pairs to solve; all by default.
    guess : (2, m) int64. Nodes of triangles that may touch first; -1 for unknown.
    behind : (m,) float64. Distances by which triangles may be behind one-sided ones that they touch.
    Returns time : (m,) float64. NaN for never.
    Returns nodes : (2, m) int64. Nodes of the triangles that touch first; -1 for never.
    """
    first, last = clearance if clearance.ndim == 2 else (clearance, clearance)
    begin = np.zeros(len(first)) if begin is None else begin
    search = _ImpactSearch(a, b, (first, last - first), begin, behind)
    rows = np.arange(len(first)) if rows is None else rows
    if guess is not None:
        guessed = rows[guess[0, rows] >= 0]
        search.solve(guessed, guess[:, guessed])
    search.run(rows)
    return np.where(search.nodes[0] < 0, np.nan, search.best), search.nodes


class _MovingNodePairs(Table):
    """Pairs of nodes (n,) in motion.

    row, i, j : (n,) int64. Pair of meshes, and both nodes.
    a, radius_a, b, radius_b : Centers (n, 3) at the start, and radii (n,).
    offset_end : (n, 3) float64. From one center to the other at the end.
    wider : (n,) float64. Distance that counts as contact, and rounding.
    """

    row: Ints
    i: Ints
    j: Ints
    a: Floats
    radius_a: Floats
    b: Floats
    radius_b: Floats
    offset_end: Floats
    wider: Floats


class _ImpactSearch(SupportSearch):
    """Search for the first impacts of moving meshes: see `first_impacts_of_meshes`."""

    def __init__(
        self,
        a: MovingNodes,
        b: MovingNodes,
        clearance: tuple[Floats, Floats],
        begin: Floats,
        behind: Floats | float,
    ) -> None:
        super().__init__(a, b, np.full(len(begin), AFTER_END))
        self._clearance, self._growth = clearance
        self._begin = begin
        self._behind = np.broadcast_to(np.asarray(behind, dtype=np.float64), begin.shape)
        self._is_partial = a.start.one_sided | b.start.one_sided
        self._total_radius = a.radius_of_roots() + b.radius_of_roots()

    def _largest_clearance(self, rows: Ints) -> Floats:
        return np.asarray(self._clearance[rows] + np.maximum(self._growth[rows], 0.0))

    def directions(self, rows: Ints) -> Floats:
        # Between the centers when the spheres touch, or where they are nearest.
        (start_a, radius_a), (start_b, radius_b) = (each.around(each.start) for each in (self._a, self._b))
        start = (start_b - start_a)[rows]
        end = (self._b.around(self._b.end)[0] - self._a.around(self._a.end)[0])[rows]
        reach = (radius_a + radius_b)[rows] + self._largest_clearance(rows)
        time, path = sphere_entry_times(start, end, reach), end - start
        with np.errstate(divide="ignore", invalid="ignore"):
            nearest = np.clip(np.nan_to_num(-dot(start, path) / dot(path, path)), 0, 1)
        time = np.maximum(np.where(np.isinf(time), nearest, time), self._begin[rows])
        result = normalized(start + time[:, None] * path)
        # Where triangles touch, their axis says more.
        known = np.flatnonzero(self.nodes[0, rows] >= 0)
        if len(known):
            row = rows[known]
            a, b = (
                MovingTriangles(*each.corners(row, node))
                for each, node in zip((self._a, self._b), self.nodes[:, row], strict=True)
            )
            result[known] = contacts_of_triangles(a, b, self.best[row]).normal
        return result

    def lowest_values(self, rows: Ints, first: Floats, last: Floats) -> Floats:
        first = first - self._clearance[rows] * (1 + DISTANCE_ROUNDING)
        last = last - (self._clearance + self._growth)[rows] * (1 + DISTANCE_ROUNDING)
        return np.maximum(closing_times(first, last), self._begin[rows])

    def may_be_less(self, pairs: QueuedPairs) -> Bools:
        lows, highs = [], []
        for each, node in ((self._a, pairs.i), (self._b, pairs.j)):
            triangles = MovingTriangles(*each.corners(pairs.row, node))
            # Between two times, corners that move in straight lines are between their places.
            ends = [triangles.at(np.minimum(time, 1.0)) for time in (pairs.low, self.best[pairs.row])]
            lows.append(np.minimum(*(end.min(axis=1) for end in ends)))
            highs.append(np.maximum(*(end.max(axis=1) for end in ends)))
        apart = np.maximum(lows[1] - highs[0], lows[0] - highs[1]).max(axis=1)
        return np.asarray(apart <= self._largest_clearance(pairs.row) + self._rounding[pairs.row])

    def bounds(self, row: Ints, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        a0, a1, radius_a = self._a.spheres(row, i)
        b0, b1, radius_b = self._b.spheres(row, j)
        clearance, total = self._largest_clearance(row), radius_a + radius_b
        size = np.maximum.reduce([largest_component(each) for each in (a0, a1, b0, b1)]) + total
        wider = clearance + DISTANCE_ROUNDING * (size + clearance)
        low = sphere_entry_times(b0 - a0, b1 - a1, total + wider)
        places = np.flatnonzero(low <= self.reached[row])
        pairs = _MovingNodePairs(row, i, j, a0, radius_a, b0, radius_b, b1 - a1, wider).take(places)
        low = low[places]
        for choose in (
            self._between,
            lambda left: self._a.facing(self._a.start, left.row, left.i),
            lambda left: self._b.facing(self._b.start, left.row, left.j),
        ):
            rows = np.flatnonzero(low <= self.reached[pairs.row])
            left = pairs.take(rows)
            low[rows] = np.maximum(low[rows], self._slab_entry_times(left, choose(left)))
        reachable = np.flatnonzero(low <= self.reached[pairs.row])
        places, row = places[reachable], pairs.row[reachable]
        low = np.maximum(low[reachable], self._begin[row])
        # Small nodes first, because they are closer to triangles.
        priority = low + total[places] / self._total_radius[row]
        return places, low, np.full(len(places), np.inf), priority

    def _between(self, pairs: _MovingNodePairs) -> Floats:
        """Return unit vectors (n, 3) from the first nodes to the second ones."""
        spheres = pairs.a, pairs.radius_a, pairs.b, pairs.radius_b
        return normalized(offsets_between(self._a, self._b, pairs.row, (pairs.i, pairs.j), spheres)[0])

    def _slab_entry_times(self, pairs: _MovingNodePairs, direction: Floats) -> Floats:
        """Find times (n,) before which nodes (n,) are farther apart along a direction than they may be.

        Of corners that move in straight lines, how far a node reaches along a direction is convex in time. So
        the gap is not below a linear function of time.

        direction : (n, 3) unit vectors, either way
        """
        offset = pairs.b - pairs.a
        ahead = np.where(dot(offset, direction)[:, None] < 0, -direction, direction)
        left = []
        for apart, nodes_a, nodes_b in (
            (offset, self._a.start, self._b.start),
            (pairs.offset_end, self._a.end, self._b.end),
        ):
            reach = [
                moving.extents(nodes, pairs.row, node, along, moving.radii(nodes, pairs.row, node))
                for moving, nodes, node, along in (
                    (self._a, nodes_a, pairs.i, ahead),
                    (self._b, nodes_b, pairs.j, -ahead),
                )
            ]
            left.append(dot(apart, ahead) - sum(reach) - pairs.wider)
        return closing_times(*left)

    def values(self, row: Ints, i: Ints, j: Ints, low: Floats, is_quick: bool) -> tuple[Floats, Floats]:
        first, second = MovingTriangles(*self._a.corners(row, i)), MovingTriangles(*self._b.corners(row, j))
        begin = np.maximum(low, self._begin[row])
        steps = range(_SLOW_STEPS) if is_quick else range(_SLOW_STEPS, _MAX_STEPS)
        time, is_resolved = first_impacts_of_triangles(
            first, second, self._clearance[row], begin, self.best[row], steps, self._growth[row]
        )
        partial = np.flatnonzero(self._is_partial[row] & is_resolved & ~np.isnan(time))
        if len(partial):
            sides = first.take(partial), second.take(partial)
            time[partial] = self._in_front(row[partial], sides, time[partial])
        # What the last steps do not resolve may touch from there on.
        is_slow = ~is_resolved & is_quick
        return np.where(is_slow, np.nan, time), np.where(is_slow, time, np.nan)

    def _in_front(self, row: Ints, sides: tuple[MovingTriangles, MovingTriangles], time: Floats) -> Floats:
        """First times (k,) from given ones on at which triangles touch what is not behind one-sided ones."""
        time, rows = time.copy(), np.arange(len(row))
        for _ in range(_MOST_PASSES):
            now = time[rows]
            for moving, (face, other) in ((self._a, sides), (self._b, sides[::-1])):
                is_face = moving.start.one_sided[row[rows]] & ~np.isnan(now)
                faces = rows[is_face]
                now[is_face] = times_in_front(
                    (face.start[faces], face.end[faces]),
                    (other.start[faces], other.end[faces]),
                    now[is_face],
                    self._behind[row[faces]],
                )
            later = now > time[rows]
            time[rows] = now
            rows = rows[later]
            if not len(rows):
                break
            # In the meantime they may have parted.
            pairs = sides[0].take(rows), sides[1].take(rows)
            clearance, growth = self._clearance[row[rows]], self._growth[row[rows]]
            time[rows], _ = first_impacts_of_triangles(*pairs, clearance, time[rows], growth=growth)
            rows = rows[~np.isnan(time[rows])]
        return time


def closing_times(first: Floats, last: Floats) -> Floats:
    """Compute times at which linear gaps close, rounded down; 0 for closed ones, inf for never."""
    with np.errstate(divide="ignore", invalid="ignore"):
        time = first / (first - last) * (1 - DISTANCE_ROUNDING)
    return np.where(first > 0, np.where(last > 0, np.inf, time), 0.0)


def sphere_entry_times(start: Floats, end: Floats, reach: Floats) -> Floats:
    """Entry times (n,) of points moving from `start` to `end` (n, 3) into spheres around 0; inf for never.

    Never late, if the reach includes rounding errors.
    """
    path = end - start
    squared, approach = dot(path, path), -dot(start, path)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = approach / squared
        # The vector rejection keeps its digits for fast spheres, unlike the textbook discriminant.
        rejection = start + nearest[:, None] * path
        inside = reach * reach - dot(rejection, rejection)
        outside = dot(start, start) - reach * reach
        time = outside / (approach + np.sqrt(squared * np.maximum(inside, 0)))
    touches = (approach > 0) & (inside >= 0) & (time <= 1)
    return np.where(outside <= 0, 0.0, np.where(touches, time, np.inf))
