"""Sweep of two meshes whose vertices move in straight lines: the first pair of triangles that touch.

Best-first simultaneous traversal of both BVHs: the swept bounding spheres of two nodes bound the time of
impact of their triangles from below. Pairs of triangles are solved by conservative advancement, see
`triangle_triangle`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distance.triangle_triangle import closest_points_triangle_triangle
from ..mesh.mesh_bvh import MeshPairSearch, PosedMesh
from ..numeric.arrays import Floats, Ints, cross, dot, length, normalized
from ..numeric.table import Table
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes.primitives import triangles_from_corners
from .triangle_triangle import MovingTriangles, contact_normals, first_impact_triangle_pairs

_AFTER_END = 2.0
"""A time that is later than any contact."""
_NEXT = [1, 2, 0]


class MovingMesh(NamedTuple):
    """One mesh, posed at both ends of an interval."""

    start: PosedMesh
    end: PosedMesh

    def triangles(self, nodes: Ints) -> MovingTriangles:
        """Triangles of leaf nodes (n,), in motion."""
        slots = self.start.slots(nodes)
        return MovingTriangles(self.start.corners(slots), self.end.corners(slots))

    def spheres(self, nodes: Ints) -> _MovingSpheres:
        """Bounding spheres of nodes (n,)."""
        start, end = self.start.spheres(nodes), self.end.spheres(nodes)
        return _MovingSpheres(start.center, end.center, np.maximum(start.radius, end.radius))


class _MovingSpheres(Table):
    """Centers (n, 3) of spheres at both ends of an interval, and the larger radius (n,)."""

    start: Floats
    end: Floats
    radius: Floats


class MeshMeshImpact(NamedTuple):
    """First impact of two moving meshes.

    time : Time in [0, 1]; NaN for never.
    i, j : Nodes of the triangles that touch first; -1 for never.
    is_resolved : False if no contact is known there, only that there is none before: see
        `TrianglePairImpact`.
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

    Never late, and early by no more than `first_impact_triangle_pairs` with that `slack`.

    a, b : The meshes, in one space and unit.
    clearance : Distance that counts as contact.
    begin : Time until which the meshes are known to be disjoint.
    slack : Gap beyond the clearance that counts as contact; a larger one takes fewer steps.
    """
    search = _ImpactSearch(a, b, clearance, begin, slack)
    search.run()
    i, j = search.nodes
    return MeshMeshImpact(search.best if i >= 0 else np.nan, i, j, search.is_resolved)


class _ImpactSearch(MeshPairSearch):
    """Search for the first impact of two moving meshes: see `first_impact_mesh_mesh`."""

    is_resolved = True

    def __init__(self, a: MovingMesh, b: MovingMesh, clearance: float, begin: float, slack: float) -> None:
        super().__init__(a.start.nodes, b.start.nodes, _AFTER_END)
        self._meshes, self._clearance, self._begin, self._slack = (a, b), clearance, begin, slack
        self._total_radius = sum(
            float(mesh.start.nodes.radius[0] * mesh.start.max_scale) for mesh in self._meshes
        )

    def bounds(self, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        a, b = self._meshes
        first, second = a.spheres(i), b.spheres(j)
        centers = (first.start, first.end, second.start, second.end)
        total = first.radius + second.radius
        size = np.max([np.abs(x).max(axis=-1) for x in centers], axis=0) + first.radius + second.radius
        wider = self._clearance + DISTANCE_ROUNDING * (size + self._clearance)
        low = _sphere_entry_times(second.start - first.start, second.end - first.end, total + wider)
        rows = np.flatnonzero(low <= self.reached)
        low, wider, first, second = low[rows], wider[rows], first.take(rows), second.take(rows)
        # A triangle much larger than the other node is bounded by its shape instead of its bounding sphere.
        for mesh, nodes, large, small in ((a, i[rows], first, second), (b, j[rows], second, first)):
            near = np.flatnonzero((mesh.start.slots(nodes) >= 0) & (2 * small.radius < large.radius))
            if len(near):
                start, end, radius = small.take(near)
                enter = _triangle_entry_times(start, end, radius + wider[near], mesh.triangles(nodes[near]))
                low[near] = np.maximum(low[near], enter)
        reachable = np.flatnonzero(low <= self.reached)
        rows, low = rows[reachable], np.maximum(low[reachable], self._begin)
        # Small nodes first, because they are closer to triangles.
        return rows, low, np.full(len(rows), np.inf), low + total[rows] / self._total_radius

    def values(self, i: Ints, j: Ints, low: Floats) -> tuple[float, int]:
        first, second = (mesh.triangles(nodes) for mesh, nodes in zip(self._meshes, (i, j), strict=True))
        found = first_impact_triangle_pairs(first, second, self._clearance, low, self.best, self._slack)
        if found.time < self.best:
            self.is_resolved = found.is_resolved
        return found.time, found.pair


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
