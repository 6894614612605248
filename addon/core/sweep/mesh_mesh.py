"""Sweep of two triangles, and of two meshes, whose corners move in straight lines.

Two triangles are solved by conservative advancement (Mirtich 1996). They are disjoint as long as an axis
shows a gap between them: a face normal or the cross product of two edges, which move with the triangles, or
the line between their closest points. The gap along such an axis is a cubic polynomial in time. A lower bound
of that polynomial gives a time before which the gap cannot close. Advance to that time, choose the axes
again, and repeat.

Two meshes are solved by a best-first simultaneous traversal of both BVHs: the swept bounding spheres of two
nodes bound the time of impact of their triangles from below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distance.mesh_mesh import best_axis, closest_points_triangle_triangle, separating_axes
from ..mesh.mesh_bvh import PosedMesh
from ..mesh.meshes import Meshes, MovingNodes, are_inside, moving_nodes, single
from ..mesh.pair_search import MeshPairSearch
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
)
from ..numeric.tolerances import DISTANCE_ROUNDING, GAP_ROUNDING
from ..shapes.primitives import triangles_from_corners

_MAX_STEPS = 100
_SLOW_STEPS = 8
"""Steps after which the line between closest points is an axis too: edges that slide along each other have no
other axis with a large gap."""
_CHUNK_PAIRS = 512
_NEXT = [1, 2, 0]
_MIN_DISTANCE = 1e-7
"""Distance of closest points, relative to the size of a pair, above which their direction has at least single
precision."""
_TIME_BEFORE = 1e-7
"""Time before a contact at which its separating axes are evaluated."""


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
    slack: Floats | float = 0.0,
) -> tuple[Floats, Bools]:
    """First times in [begin, until] at which pairs of triangles are within `clearance`; NaN for never.

    Never late. Early by no more than the time in which a gap of `slack` plus 1e-14 of the pair's size closes;
    of 2**-26 of the size for edges that are nearly parallel, whose cross product is rounding. A pair that is
    not within that gap after 100 steps is not resolved: it does not touch before that time.

    a, b : MovingTriangles, (m,). Pairs of triangles, in one space and unit.
    clearance : (m,) float or float. Distance that counts as contact.
    begin : (m,) float or float. Times until which pairs are known to be disjoint.
    until : (m,) float or float. Last time that is searched.
    slack : (m,) float or float. Gap beyond the clearance that counts as contact; a larger one takes fewer
        steps.
    Returns time : (m,) float64
    Returns is_resolved : (m,) bool. False where the pair may touch later than the time, or never.
    """
    count = len(a.start)
    clearances, begins, ends, slacks = (
        np.broadcast_to(np.asarray(each, dtype=np.float64), (count,))
        for each in (clearance, begin, until, slack)
    )
    time, is_resolved = np.full(count, np.nan), np.ones(count, dtype=bool)
    for start in range(0, count, _CHUNK_PAIRS):
        rows = slice(start, start + _CHUNK_PAIRS)
        pairs = _TrianglePairs.of(a.take(rows), b.take(rows), clearances[rows], slacks[rows])
        time[rows], is_resolved[rows] = _first_contacts(pairs, begins[rows], ends[rows])
    return time, is_resolved


def contact_normals(a: MovingTriangles, b: MovingTriangles, time: Floats) -> Floats:
    """Contact normals: unit vectors from the first to the second triangle of pairs that touch.

    Disjoint triangles have the direction between their closest points. For triangles in contact it is the
    axis with the largest gap just before, along which they approach fastest.

    a, b : MovingTriangles, (m,). Pairs of triangles.
    time : (m,) float64. Their times of contact.
    Returns normal : (m, 3) float64
    """
    first, second = a.at(time), b.at(time)
    size = np.maximum(np.abs(first - first[:, :1]), np.abs(second - first[:, :1])).max(axis=(1, 2))
    witness = closest_points_triangle_triangle(triangles_from_corners(first), triangles_from_corners(second))
    is_disjoint = np.abs(witness.on_b - witness.on_a).max(axis=1) > _MIN_DISTANCE * size
    before = a.at(time - _TIME_BEFORE), b.at(time - _TIME_BEFORE)
    normal = best_axis(*before, separating_axes(*before))[1]
    return np.where(is_disjoint[:, None], witness.normal, normal)


class _TrianglePairs(Table, last=True):
    """Pairs of triangles in units of their own size, coordinates first and batch last.

    p, q : (3 coordinates, 3 corners, m) float64. Corners of both triangles.
    p_change, q_change : (3 coordinates, 3 corners, m) float64. Their changes over the interval.
    clearance : (m,) float64. Gap that counts as contact.
    contact_gap : (m,) float64. The clearance with slack and rounding errors.
    """

    p: Floats
    p_change: Floats
    q: Floats
    q_change: Floats
    clearance: Floats
    contact_gap: Floats

    @classmethod
    def of(cls, a: MovingTriangles, b: MovingTriangles, clearance: Floats, slack: Floats) -> _TrianglePairs:
        corners = np.concatenate([a.start, a.end, b.start, b.end], axis=1)
        scale = power_of_two_scale(np.maximum(np.abs(corners).max(axis=(1, 2)), clearance))
        corners = corners / scale[:, None, None]
        corners = np.moveaxis(corners - corners[:, :1], 0, -1).swapaxes(0, 1)
        p, p_end, q, q_end = (np.ascontiguousarray(part) for part in np.split(corners, 4, axis=1))
        distance = clearance / scale
        return cls(p, p_end - p, q, q_end - q, distance, distance + slack / scale + GAP_ROUNDING)

    def at(self, time: Floats) -> _TrianglePairs:
        """Pairs at times (m,); the changes stay those of the whole interval."""
        return self.replaced(p=self.p + time * self.p_change, q=self.q + time * self.q_change)


def _first_contacts(pairs: _TrianglePairs, begin: Floats, until: Floats) -> tuple[Floats, Bools]:
    """First contacts (m,) from times on, by `until` (m,), NaN for none; also whether they are resolved."""
    found, is_resolved = np.full(len(begin), np.nan), np.ones(len(begin), dtype=bool)
    time = begin.copy()
    active = np.flatnonzero(time <= until)
    for step_number in range(_MAX_STEPS + 1):
        if not len(active):
            break
        part = pairs.take(active)
        now = part.at(time[active])
        remaining = 1 - time[active]
        gap, step = _safe_steps(now, _feature_axes(now), remaining)
        close = np.flatnonzero((gap <= part.contact_gap) | (step_number >= _SLOW_STEPS))
        if len(close):
            # The gap along the line of closest points: -inf, which counts as contact, where these are too
            # close for a direction.
            near = now.take(close)
            triangles = (triangles_from_corners(corners.T) for corners in (near.p, near.q))
            along = closest_points_triangle_triangle(*triangles).normal.T[:, None]
            axis = _Axes(along, np.zeros_like(along), np.zeros_like(along))
            gap[close], step[close] = np.maximum(
                (gap[close], step[close]), _safe_steps(near, axis, remaining[close])
            )
        touching = gap <= part.contact_gap
        ends = touching | ((step_number == _MAX_STEPS) & (remaining > 0))
        ended = active[ends]
        found[ended], is_resolved[ended] = time[ended], touching[ends]
        continues = ~ends & (remaining > 0)
        active, step, remaining = active[continues], step[continues], remaining[continues]
        # A step beyond the end stops at it, because contact at the end counts.
        time[active] = np.where(step >= remaining, 1.0, time[active] + step)
        active = active[time[active] <= until[active]]
    return found, is_resolved


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


def _safe_steps(now: _TrianglePairs, axes: _Axes, remaining: Floats) -> tuple[Floats, Floats]:
    """Largest gap (m,) over the axes, and the time (m,) in which one of them stays larger than the clearance.

    The time is inf if that exceeds `remaining` (m,), the rest of the interval.
    """
    of_p, of_q = _projections(axes, now.p, now.p_change), _projections(axes, now.q, now.q_change)
    sizes = [np.sqrt(dot_first(n, n)) for n in axes]
    ahead, behind = of_q[0].min(axis=1) - of_p[0].max(axis=1), of_p[0].min(axis=1) - of_q[0].max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.where(sizes[0] > 0, np.maximum(ahead, behind) / sizes[0], -np.inf)
    sign = np.where(ahead >= behind, 1.0, -1.0)[:, None, None]
    # Distance of each corner of one triangle to each of the other, less the clearance times the axis length.
    terms = [sign * (of_q[k][:, None] - of_p[k][:, :, None]) for k in range(4)]
    for term, size in zip(terms, sizes, strict=False):
        term -= (size * now.clearance)[:, None, None]
    step = _positive_duration(terms, remaining).max(axis=0)
    if not (axes.second.any() or axes.third.any()):
        return gaps.max(axis=0), np.where(step >= remaining, np.inf, step)
    # Over a shorter stretch the bound is tighter.
    shorter = np.minimum(2 * step, remaining)
    step = np.maximum(step, np.minimum(_positive_duration(terms, shorter).max(axis=0), shorter))
    return gaps.max(axis=0), np.where(step >= remaining, np.inf, step)


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
        root = np.sqrt(c1 * c1 + 4 * curvature * np.maximum(c0, 0))
        until = np.where(c1 < 0, 2 * c0 / (root - c1), (c1 + root) / (2 * curvature))
    until = np.where((c1 >= 0) & (curvature == 0), np.inf, until)
    return np.asarray(np.where(c0 > 0, until, 0.0).min(axis=(1, 2)))


_AFTER_END = 2.0
"""A time that is later than any contact."""


def time_within_meshes(a0: Meshes, a1: Meshes, b0: Meshes, b1: Meshes, clearance: Floats | float) -> Floats:
    """First times (m,) in [0, 1] at which meshes (m,) are within `clearance`, or one is inside the other.

    Never late, and early only by what `first_impacts_of_triangles` is; NaN for never.
    """
    reach = clearance + np.maximum(a0.margin + b0.margin, a1.margin + b1.margin)
    time = first_impacts_of_meshes(*moving_nodes((a0, a1), (b0, b1)), reach).time
    apart = np.flatnonzero(~(time == 0))
    time[apart[are_inside(a0[apart], b0[apart])]] = 0.0
    return time


class MovingMesh(NamedTuple):
    """One mesh, posed at both ends of an interval."""

    start: PosedMesh
    end: PosedMesh

    def triangles(self, nodes: Ints) -> MovingTriangles:
        """Triangles of leaf nodes (n,), in motion."""
        slots = self.start.slots(nodes)
        return MovingTriangles(self.start.corners(slots), self.end.corners(slots))


class MeshMeshImpact(NamedTuple):
    """First impact of two moving meshes.

    time : Time in [0, 1]; NaN for never.
    i, j : Nodes of the triangles that touch first; -1 for never.
    is_resolved : False if no contact is known there, only that there is none before: see
        `first_impacts_of_triangles`.
    """

    time: float
    i: int
    j: int
    is_resolved: bool = True

    def point_and_normal(self, a: MovingMesh, b: MovingMesh) -> tuple[Floats, Floats]:
        """Point of contact (3,), and the unit normal (3,) from the first mesh to the second."""
        time = np.array([self.time])
        first, second = a.triangles(np.array([self.i])), b.triangles(np.array([self.j]))
        pair = (triangles_from_corners(moving.at(time)) for moving in (first, second))
        point: Floats = closest_points_triangle_triangle(*pair).middle[0]
        return point, contact_normals(first, second, time)[0]


def first_impact_mesh_mesh(
    a: MovingMesh, b: MovingMesh, clearance: float = 0.0, begin: float = 0.0, slack: float = 0.0
) -> MeshMeshImpact:
    """First time in [begin, 1] at which the surfaces of two moving meshes are within `clearance`.

    Never late, and early by no more than `first_impacts_of_triangles` with that `slack`.

    a, b : The meshes, in one space and unit.
    clearance : Distance that counts as contact.
    begin : Time until which the meshes are known to be disjoint.
    slack : Gap beyond the clearance that counts as contact; a larger one takes fewer steps.
    """
    nodes = moving_nodes((single(a.start), single(a.end)), (single(b.start), single(b.end)))
    found = first_impacts_of_meshes(*nodes, np.array([clearance]), np.array([begin]), np.array([slack]))
    i, j = found.nodes[:, 0].tolist()
    return MeshMeshImpact(float(found.time[0]), i, j, bool(found.is_resolved[0]))


class MeshImpacts(NamedTuple):
    """First impacts of pairs of moving meshes (m,).

    time : (m,) float64. In [0, 1]; NaN for never.
    nodes : (2, m) int64. Nodes of the triangles that touch first; -1 for never.
    is_resolved : (m,) bool. False if no contact is known there, only that there is none before: see
        `first_impacts_of_triangles`.
    """

    time: Floats
    nodes: Ints
    is_resolved: Bools


def first_impacts_of_meshes(
    a: MovingNodes,
    b: MovingNodes,
    clearance: Floats,
    begin: Floats | None = None,
    slack: Floats | None = None,
    rows: Ints | None = None,
) -> MeshImpacts:
    """First times in [begin, 1] at which the surfaces of pairs of moving meshes are within `clearance`.

    Never late, and early by no more than `first_impacts_of_triangles` with that `slack`.

    a, b : MovingNodes, (m,). The meshes, in one space and unit.
    clearance : (m,) float64. Distances that count as contact.
    begin : (m,) float64. Times until which the meshes are known to be disjoint; 0 by default.
    slack : (m,) float64. Gaps beyond the clearance that count as contact, 0 by default; larger ones take
        fewer steps.
    rows : (r,) int64. Pairs to solve; all by default.
    """
    nothing = np.zeros(len(clearance))
    search = _ImpactSearch(
        a, b, clearance, nothing if begin is None else begin, nothing if slack is None else slack
    )
    search.run(np.arange(len(clearance)) if rows is None else rows)
    is_never = search.nodes[0] < 0
    return MeshImpacts(np.where(is_never, np.nan, search.best), search.nodes, search.best < search.unresolved)


class _ImpactSearch(MeshPairSearch):
    """Search for the first impacts of moving meshes: see `first_impacts_of_meshes`.

    unresolved : (m,) float64. First times at which pairs of triangles are not resolved.
    """

    def __init__(
        self, a: MovingNodes, b: MovingNodes, clearance: Floats, begin: Floats, slack: Floats
    ) -> None:
        super().__init__(a, b, np.full(len(clearance), _AFTER_END))
        self._clearance, self._begin, self._gap = clearance, begin, slack
        self.unresolved = np.full(len(clearance), np.inf)
        self._total_radius = a.radius_of_roots() + b.radius_of_roots()

    def bounds(self, row: Ints, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        a0, a1, radius_a = self._a.spheres(row, i)
        b0, b1, radius_b = self._b.spheres(row, j)
        total, clearance = radius_a + radius_b, self._clearance[row]
        size = np.maximum.reduce([largest_component(each) for each in (a0, a1, b0, b1)]) + total
        wider = clearance + DISTANCE_ROUNDING * (size + clearance)
        low = _sphere_entry_times(b0 - a0, b1 - a1, total + wider)
        places = np.flatnonzero(low <= self.reached[row])
        low, wider = low[places], wider[places]
        centers = tuple(each[places] for each in (a0, a1, b0, b1))
        low = np.maximum(low, self._slab_entry_times(row[places], i[places], j[places], centers, wider))
        # A triangle much larger than the other node is bounded by its shape instead of its bounding sphere.
        for nodes, node, radius, start, end, small in (
            (self._a, i, radius_a, b0, b1, radius_b),
            (self._b, j, radius_b, a0, a1, radius_a),
        ):
            is_large = (2 * small < radius)[places]
            near = np.flatnonzero(is_large & nodes.is_triangle(row[places], node[places]))
            if len(near):
                at = places[near]
                triangles = MovingTriangles(*nodes.corners(row[at], node[at]))
                enter = _triangle_entry_times(start[at], end[at], small[at] + wider[near], triangles)
                low[near] = np.maximum(low[near], enter)
        reachable = np.flatnonzero(low <= self.reached[row[places]])
        places = places[reachable]
        low = np.maximum(low[reachable], self._begin[row[places]])
        # Small nodes first, because they are closer to triangles.
        priority = low + total[places] / self._total_radius[row[places]]
        return places, low, np.full(len(places), np.inf), priority

    def _slab_entry_times(
        self, row: Ints, i: Ints, j: Ints, centers: tuple[Floats, ...], reach: Floats
    ) -> Floats:
        """Find times (n,) before which nodes (n,) are farther apart than `reach` (n,) along a direction.

        Of corners that move in straight lines, how far a node reaches along a direction is convex in time. So
        the gap is not below a linear function of time.
        """
        a0, a1, b0, b1 = centers
        direction = normalized(b0 - a0)
        gaps = []
        for start, end, nodes_a, nodes_b in (
            (a0, b0, self._a.start, self._b.start),
            (a1, b1, self._a.end, self._b.end),
        ):
            ahead = self._a.extents(nodes_a, row, i, direction, self._a.radii(nodes_a, row, i))
            behind = self._b.extents(nodes_b, row, j, -direction, self._b.radii(nodes_b, row, j))
            gaps.append(dot(end - start, direction) - ahead - behind - reach)
        first, last = gaps
        with np.errstate(divide="ignore", invalid="ignore"):
            time = first / (first - last)
        return np.where(first > 0, np.where(last > 0, np.inf, time * (1 - DISTANCE_ROUNDING)), 0.0)

    def values(self, row: Ints, i: Ints, j: Ints, low: Floats) -> Floats:
        first, second = MovingTriangles(*self._a.corners(row, i)), MovingTriangles(*self._b.corners(row, j))
        time, is_resolved = first_impacts_of_triangles(
            first, second, self._clearance[row], low, self.best[row], self._gap[row]
        )
        np.minimum.at(self.unresolved, row[~is_resolved], time[~is_resolved])
        return time


def _sphere_entry_times(start: Floats, end: Floats, reach: Floats) -> Floats:
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


def _triangle_entry_times(start: Floats, end: Floats, radius: Floats, moving: MovingTriangles) -> Floats:
    """Earliest times (n,) at which spheres with centers (n, 3) may touch moving triangles; inf for never.

    Never late, if the radii include rounding errors. A sphere may touch while its center is in a prism around
    the triangle, the common part of five half-spaces. The prism translates with the mean motion of the
    corners; their deviation from it is added to the radius.
    """
    change = moving.end - moving.start
    move = change.mean(axis=1)
    radius = radius + length(change - move[:, None]).max(axis=1)
    corners = moving.start
    normal = triangles_from_corners(corners).normal
    sides = normalized(corners[:, _NEXT] - corners)
    directions = np.stack([normal, -normal, *(cross(normal, sides[:, k]) for k in range(3))])
    # The normal of a needle is inaccurate. So each slab is as thick as the triangle is along its direction.
    lowest = dot(directions[:, :, None], corners - corners[:, :1]).min(axis=-1)
    height = dot(directions, start - corners[:, 0]) - lowest + radius
    change_of_height = dot(directions, end - start - move)
    with np.errstate(divide="ignore", invalid="ignore"):
        time = -height / change_of_height
    enter = np.where(change_of_height > 0, time, 0.0).max(axis=0, initial=0.0)
    leave = np.where(change_of_height < 0, time, 1.0).min(axis=0, initial=1.0)
    stays_outside = ((change_of_height == 0) & (height < 0)).any(axis=0)
    return np.where((enter <= leave) & ~stays_outside, enter, np.inf)
