"""Two meshes in motion, every corner in a straight line: the first of their triangles that touch.

Spheres around the parts of both meshes move along and are gone down at once, the pairs that meet first before
the others; triangles answer by the method of two triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, cross, dot, length, unit
from .mesh_nodes import PosedMesh, least_pair
from .separation_triangles import closest_points_triangle_triangle, triangles_of
from .sweep_two_triangles import MovingTriangles, first_of_triangle_pairs, normals_of_touching

_ROUNDING = 64 * np.finfo(np.float64).eps


class MovingMesh(NamedTuple):
    """One mesh at both ends of an interval."""

    start: PosedMesh
    end: PosedMesh

    def triangles(self, nodes: Ints) -> MovingTriangles:
        """Those that nodes (n,) are."""
        places = self.start.places(nodes)
        return MovingTriangles(self.start.corners(places), self.end.corners(places))

    def spheres(self, nodes: Ints) -> tuple[Floats, Floats, Floats]:
        """Around nodes (n,) all along: centres (n, 3) at both ends, and the radius (n,)."""
        start, end = self.start.spheres(nodes), self.end.spheres(nodes)
        return start.center, end.center, np.maximum(start.radius, end.radius)


class Meeting(NamedTuple):
    """When two moving meshes touch: the time in [0, 1] and the triangles' nodes; NaN and -1 for never."""

    time: float
    i: int
    j: int

    def point_and_normal(self, a: MovingMesh, b: MovingMesh) -> tuple[Floats, Floats]:
        """(3,) where the triangles touch, and the unit vector from the first to the second."""
        time = np.array([self.time])
        first, second = a.triangles(np.array([self.i])), b.triangles(np.array([self.j]))
        pair = (triangles_of(moving.at(time)) for moving in (first, second))
        point: Floats = closest_points_triangle_triangle(*pair).middle[0]
        return point, normals_of_touching(first, second, time)[0]


def first_meeting(
    a: MovingMesh, b: MovingMesh, clearance: float = 0.0, begin: float = 0.0, slack: float = 0.0
) -> Meeting:
    """The first time in [begin, 1] at which surfaces are within `clearance`; they are apart until `begin`.

    Never late, and early by no more than `first_of_triangle_pairs`, with that `slack`.
    """
    nodes_a, nodes_b = a.start.nodes, b.start.nodes
    whole = float(nodes_a.radius[0] * a.start.stretch + nodes_b.radius[0] * b.start.stretch)

    def bounds(i: Ints, j: Ints, reached: float) -> tuple[Ints, Floats, Floats, Floats]:
        (p0, p1, r), (q0, q1, s) = a.spheres(i), b.spheres(j)
        size = np.max([np.abs(x).max(axis=-1) for x in (p0, p1, q0, q1)], axis=0) + r + s
        wider = clearance + _ROUNDING * size
        low = _balls_meet(q0 - p0, q1 - p1, r + s + wider)
        rows = np.flatnonzero(low <= reached)
        low = low[rows]
        # A large triangle is told from the sphere around it.
        for mesh, nodes, large, other, start, end in ((a, i, r, s, q0, q1), (b, j, s, r, p0, p1)):
            near = np.flatnonzero((mesh.start.places(nodes[rows]) >= 0) & (2 * other < large)[rows])
            if len(near):
                at = rows[near]
                enter = _ball_meets(start[at], end[at], (other + wider)[at], mesh.triangles(nodes[at]))
                low[near] = np.maximum(low[near], enter)
        met = np.flatnonzero(low <= reached)
        rows, low = rows[met], np.maximum(low[met], begin)
        # Small ones before those that they are part of.
        return rows, low, np.full(len(rows), np.inf), low + (r + s)[rows] / whole

    def values(i: Ints, j: Ints, low: Floats, best: float) -> tuple[float, int]:
        return first_of_triangle_pairs(a.triangles(i), b.triangles(j), clearance, low, min(best, 1.0), slack)

    time, i, j = least_pair(nodes_a, nodes_b, bounds, values, float(np.nextafter(1.0, 2.0)))
    return Meeting(time if i >= 0 else np.nan, i, j)


def _balls_meet(start: Floats, end: Floats, reach: Floats) -> Floats:
    """When points that go from `start` to `end` (n, 3) are within `reach` of 0; (n,), inf for never."""
    way = end - start
    squared, approach = dot(way, way), -dot(start, way)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = approach / squared
        # As a rejection, which keeps its digits for fast ones.
        beside = start + nearest[:, None] * way
        inside = reach * reach - dot(beside, beside)
        apart = dot(start, start) - reach * reach
        time = apart / (approach + np.sqrt(squared * np.maximum(inside, 0)))
    meets = (approach > 0) & (inside >= -_ROUNDING * reach * reach) & (time <= 1 + _ROUNDING)
    return np.where(apart <= 0, 0.0, np.where(meets, np.maximum(time - _ROUNDING, 0.0), np.inf))


def _ball_meets(start: Floats, end: Floats, radius: Floats, moving: MovingTriangles) -> Floats:
    """When balls with centres (n, 3) at both ends may first touch moving triangles; (n,), inf for never.

    A ball may touch while its centre is in a flat prism around the triangle, which is seen from its middle:
    what its corners move by beside that is added to the radius. Never late.
    """
    change = moving.end - moving.start
    move = change.mean(axis=1)
    radius = radius + length(change - move[:, None]).max(axis=1)
    triangle = triangles_of(moving.start)
    normal = triangle.normal
    way = end - start - move
    enter, leave = np.zeros(len(radius)), np.ones(len(radius))
    corners = moving.start
    sides = unit(corners[:, [1, 2, 0]] - corners)
    planes = [(corners[:, 0], normal), (corners[:, 0], -normal)]
    planes += [(corners[:, k], cross(normal, sides[:, k])) for k in range(3)]
    for origin, inward in planes:
        height, change_of_height = dot(start - origin, inward) + radius, dot(way, inward)
        with np.errstate(divide="ignore", invalid="ignore"):
            time = -height / change_of_height
        enter = np.where(change_of_height > 0, np.maximum(enter, time), enter)
        leave = np.where(change_of_height < 0, np.minimum(leave, time), leave)
        enter = np.where((change_of_height == 0) & (height < 0), np.inf, enter)
    return np.where(enter <= leave + _ROUNDING, enter - _ROUNDING, np.inf)
