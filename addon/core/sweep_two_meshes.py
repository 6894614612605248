"""Two meshes in motion, every corner in a straight line: the first of their triangles that touch.

Spheres around the parts of both meshes move along and are gone down at once, the pairs that meet first before
the others; triangles answer by the method of two triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, length
from .mesh_nodes import PosedMesh, least_pair
from .separation_triangles import closest_points_triangle_triangle, triangles_of
from .shapes import Sphere, Triangle
from .sweep_spheres import time_of_impact_sphere_sphere
from .sweep_triangles import entry_times
from .sweep_two_triangles import MovingTriangles, normals_of_touching, time_of_impact_triangle_triangle

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
    """When two moving meshes touch: the time in [0, 1] and the nodes of the triangles; NaN and -1 for never."""

    time: float
    i: int
    j: int

    def point_and_normal(self, a: MovingMesh, b: MovingMesh) -> tuple[Floats, Floats]:
        """(3,) where the triangles touch, and the unit vector from the first to the second."""
        time = np.array([self.time])
        on_a, on_b = (mesh.triangles(np.array([k])).at(time) for mesh, k in ((a, self.i), (b, self.j)))
        witness = closest_points_triangle_triangle(triangles_of(on_a), triangles_of(on_b))
        return witness.middle[0], normals_of_touching(on_a, on_b)[0]


def first_meeting(a: MovingMesh, b: MovingMesh, clearance: float = 0.0, begin: float = 0.0) -> Meeting:
    """The first time in [begin, 1] at which surfaces are within `clearance`; they are apart until `begin`.

    Never late, as `time_of_impact_triangle_triangle`.
    """
    nodes_a, nodes_b = a.start.nodes, b.start.nodes
    whole = float(nodes_a.radius[0] * a.start.stretch + nodes_b.radius[0] * b.start.stretch)

    def bounds(i: Ints, j: Ints, reached: float) -> tuple[Ints, Floats, Floats, Floats]:
        (p0, p1, r), (q0, q1, s) = a.spheres(i), b.spheres(j)
        size = np.max([np.abs(x).max(axis=-1) for x in (p0, p1, q0, q1)], axis=0) + r + s
        reach = r + clearance + _ROUNDING * size
        low = time_of_impact_sphere_sphere(
            Sphere.trusted(p0, reach), Sphere.trusted(p1, reach), Sphere.trusted(q0, s), Sphere.trusted(q1, s)
        )
        rows = np.flatnonzero(low <= reached)
        low = low[rows]
        # A large triangle is told from the sphere around it.
        for mesh, large, other, start, end in ((a, r, s, q0, q1), (b, s, r, p0, p1)):
            near = np.flatnonzero(
                (mesh.start.places((i if mesh is a else j)[rows]) >= 0) & (2 * other < large)[rows]
            )
            if len(near):
                at = rows[near]
                triangles = mesh.triangles((i if mesh is a else j)[at])
                still, move, stray = _held(triangles)
                grown = other[at] + clearance + stray + _ROUNDING * size[at]
                first, last = Sphere.trusted(start[at], grown), Sphere.trusted(end[at] - move, grown)
                entry = entry_times(first, last, still, still.normal)
                low[near] = np.fmax(low[near], np.where(np.isnan(entry), np.inf, entry))
        met = np.flatnonzero(low <= reached)
        rows, low = rows[met], np.maximum(low[met], begin)
        # Small ones before those that they are part of.
        return rows, low, np.full(len(rows), np.inf), low + (r + s)[rows] / whole

    def values(i: Ints, j: Ints, low: Floats, best: float) -> Floats:
        times = time_of_impact_triangle_triangle(
            a.triangles(i), b.triangles(j), clearance, low, min(best, 1.0)
        )
        return np.where(np.isnan(times), np.inf, times)

    limit = float(np.nextafter(1.0, 2.0))
    time, i, j = least_pair(nodes_a, nodes_b, bounds, values, limit)
    return Meeting(time if i >= 0 else np.nan, i, j)


def _held(triangles: MovingTriangles) -> tuple[Triangle, Floats, Floats]:
    """Moving triangles seen from their own middles: at rest, how these move (n, 3), and by how much they turn."""
    change = triangles.end - triangles.start
    move = change.mean(axis=1)
    stray = length(change - move[:, None]).max(axis=1)
    return triangles_of(triangles.start), move, stray
