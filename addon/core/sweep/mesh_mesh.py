"""Sweep of two meshes whose corners move in straight lines.

By a best-first simultaneous traversal of both BVHs: the swept spheres and boxes of two nodes bound the time
of impact of their triangles from below.
"""

from __future__ import annotations

import numpy as np

from ..distance.mesh_mesh import closest_on_any_side
from ..distance.separating_axis import WitnessPoints
from ..mesh.meshes import Meshes, interpolated_meshes, moving_nodes
from ..mesh.node_pool import MovingNodes, offsets_between
from ..mesh.pair_search import QueuedPairs
from ..mesh.points_inside import are_inside
from ..mesh.support_search import Heights, SupportSearch
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    cross,
    dot,
    largest_component,
    length,
    normalized,
    unit_or_zero,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes.primitives import parts_of_corners
from .one_sided import times_in_front
from .triangle_triangle import (
    MAX_STEPS,
    SLOW_STEPS,
    MovingTriangles,
    contacts_of_triangles,
    first_impacts_of_triangles,
)

_MOST_PASSES = 4
"""Times at which a triangle comes to the front of another one, at most, and the search for these."""
_ON_PLANE = 1e-6
"""Distance from a one-sided triangle, relative to its size, at which a center is on its plane."""
_NEGLIGIBLE = 1e-9
"""Part of an interval by which contacts may be found early."""
AFTER_END = 2.0
"""A time that is later than any contact."""


def time_within_meshes(a0: Meshes, a1: Meshes, b0: Meshes, b1: Meshes, clearance: Floats | float) -> Floats:
    """First times (m,) in [0, 1] at which meshes (m,) are within `clearance`, or one is inside the other.

    Never late, and early by no more than `first_impacts_of_meshes`; NaN for never.
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
) -> tuple[Floats, Ints]:
    """First times in [begin, 1] at which the surfaces of pairs of moving meshes are within `clearance`.

    Never late, and early by no more than `first_impacts_of_triangles`, or 1e-9 of the interval.

    a, b : MovingNodes, (m,). The meshes, in one space and unit.
    clearance : (m,) or (2, m) float64. Distances that count as contact, maybe others at the end.
    begin : (m,) float64. Times until which the meshes are known to be disjoint; 0 by default.
    rows : (r,) int64. Pairs to solve; all by default.
    guess : (2, m) int64. Nodes of triangles that may touch first; -1 for unknown.
    Returns time : (m,) float64. NaN for never.
    Returns nodes : (2, m) int64. Nodes of the triangles that touch first; -1 for never.
    """
    first, last = clearance if clearance.ndim == 2 else (clearance, clearance)
    begin = np.zeros(len(first)) if begin is None else begin
    search = _ImpactSearch(a, b, (first, last - first), begin)
    rows = np.arange(len(first)) if rows is None else rows
    if guess is not None:
        guessed = rows[guess[0, rows] >= 0]
        search.solve(guessed, guess[:, guessed])
    search.run(rows)
    return search.times_and_nodes()


def are_ever_within(a: MovingNodes, b: MovingNodes, clearance: Floats, rows: Ints, behind: Floats) -> Bools:
    """Decide for which pairs of moving meshes in rows (r,) surfaces come within `clearance` at any time.

    Never wrong where they do, as `first_impacts_of_meshes`, which takes longer.

    a, b : MovingNodes, (m,). The meshes, in one space and unit.
    clearance : (2, m) float64. Distances that count as contact, at both ends.
    behind : (m,) float64. Distances by which triangles may be behind one-sided ones that they touch.
    Returns are_within : (r,) bool
    """
    first, last = clearance
    search = _NearnessSearch(a, b, (first, last - first), np.zeros(len(first)), behind)
    search.run(rows)
    return np.asarray(search.nodes[0, rows] >= 0)


def closing_speeds(a: MovingNodes, b: MovingNodes, clearance: Floats, time: Floats, nodes: Ints) -> Floats:
    """Compute the speeds (m,) at which moving triangles come within `clearance`, at these times (m,).

    a, b : MovingNodes, (m,). The meshes, in one space and unit.
    clearance : (2, m) float64. As in `first_impacts_of_meshes`, which finds the times and triangles.
    time : (m,) float64. NaN for never.
    nodes : (2, m) int64. Nodes of triangles; -1 for never.
    Returns speed : (m,) float64. In lengths per interval; NaN for never, and for one-sided meshes.
    """
    is_partial = a.start.one_sided | b.start.one_sided
    speed, rows = np.full(len(time), np.nan), np.flatnonzero((nodes[0] >= 0) & ~is_partial)
    if not len(rows):
        return speed
    now = time[rows]
    first, second = (
        MovingTriangles(*each.corners(rows, node)) for each, node in zip((a, b), nodes[:, rows], strict=True)
    )
    on_a, on_b, normal = contacts_of_triangles(first, second, now)
    of_a, of_b = (
        (parts_of_corners(points, each.at(now))[..., None] * (each.end - each.start)).sum(axis=1)
        for each, points in ((first, on_a), (second, on_b))
    )
    speed[rows] = (clearance[1] - clearance[0])[rows] - dot(of_b - of_a, normal)
    return speed


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

    tries = 2

    def __init__(
        self,
        a: MovingNodes,
        b: MovingNodes,
        clearance: tuple[Floats, Floats],
        begin: Floats,
        behind: Floats | float = 0.0,
    ) -> None:
        super().__init__(a, b, np.full(len(begin), AFTER_END))
        self._clearance, self._growth = clearance
        self._is_turned = np.zeros(len(begin), dtype=bool)
        self._begin, self._apart_until, self._nearly_apart_until = begin.copy(), begin.copy(), begin.copy()
        self._behind = np.broadcast_to(np.asarray(behind, dtype=np.float64), begin.shape)
        self._is_partial = a.start.one_sided | b.start.one_sided
        self._total_radius = a.radius_of_roots() + b.radius_of_roots()

    def times_and_nodes(self) -> tuple[Floats, Ints]:
        """Return the first times (m,) of contact, NaN for never, and the nodes (2, m) that touch."""
        # Until then they overlap by rounding at most.
        time = np.where(self._are_certain(), np.minimum(self._nearly_apart_until, self.best), self.best)
        return np.where(self.nodes[0] < 0, np.nan, time), self.nodes

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
        known = np.flatnonzero((self.nodes[0, rows] >= 0) & ~self._is_turned[rows])
        if len(known):
            row = rows[known]
            a, b = (
                MovingTriangles(*each.corners(row, node))
                for each, node in zip((self._a, self._b), self.nodes[:, row], strict=True)
            )
            result[known] = contacts_of_triangles(a, b, self.best[row]).normal
        self._is_turned[rows] = False
        return result

    def turn(self, rows: Ints) -> None:
        self._is_turned[rows] = True

    def _heights(self, rows: Ints) -> tuple[Heights, Heights]:
        self._begin[rows] = self._apart_until[rows]
        return super()._heights(rows)

    def remaining(self, rows: Ints) -> Floats:
        return np.asarray(self.best - self._apart_until)[rows]

    def times(self, rows: Ints) -> tuple[Floats, Floats]:
        return self._begin[rows], np.minimum(self.best[rows], 1.0)

    def narrow(self, rows: Ints, first: Floats, last: Floats) -> Bools:
        rounding = 2 * self._rounding[rows]
        for until, more in ((self._apart_until, 0.0), (self._nearly_apart_until, rounding)):
            low = np.minimum(self.lowest_values(rows, first + more, last + more), self.best[rows])
            until[rows] = np.maximum(self._begin[rows], low)
        return np.asarray((self.nodes[0, rows] >= 0) & self._are_certain()[rows])

    def _are_certain(self) -> Bools:
        """Mask (m,) of pairs that are apart until their contacts, as far as it matters."""
        return np.asarray(self.best - self._apart_until <= _NEGLIGIBLE)

    def lowest_values(self, rows: Ints, first: Floats, last: Floats) -> Floats:
        begin, end = self.times(rows)
        first = first - (self._clearance[rows] + begin * self._growth[rows]) * (1 + DISTANCE_ROUNDING)
        last = last - (self._clearance[rows] + end * self._growth[rows]) * (1 + DISTANCE_ROUNDING)
        time = closing_times(first, last)
        return np.where(time <= 1, begin + np.minimum(time, 1.0) * (end - begin), np.inf)

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
            lambda left: self._facing(self._a, left, left.i, _nearest_offsets(left)),
            lambda left: self._facing(self._b, left, left.j, -_nearest_offsets(left)),
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

    def _facing(self, nodes: MovingNodes, pairs: _MovingNodePairs, node: Ints, offset: Floats) -> Floats:
        """Return unit vectors (n, 3) along axes of the boxes of nodes (n,) at the start."""
        return nodes.facing(nodes.start, pairs.row, node, offset, self._are_very_large[pairs.row])

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
        steps = range(SLOW_STEPS) if is_quick else range(SLOW_STEPS, MAX_STEPS)
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


class _NearnessSearch(_ImpactSearch):
    """Search for any impact of moving meshes, at whatever time: see `are_ever_within`."""

    def values(self, row: Ints, i: Ints, j: Ints, low: Floats, is_quick: bool) -> tuple[Floats, Floats]:
        time, slow = super().values(row, i, j, low, is_quick)
        return np.where(np.isnan(time), np.nan, self._begin[row]), slow


def _nearest_offsets(pairs: _MovingNodePairs) -> Floats:
    """Offsets (n, 3) from the first centers to the second ones when these are nearest."""
    start = pairs.b - pairs.a
    change = pairs.offset_end - start
    with np.errstate(divide="ignore", invalid="ignore"):
        time = np.clip(np.nan_to_num(-dot(start, change) / dot(change, change)), 0, 1)
    return np.asarray(start + time[:, None] * change)


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
