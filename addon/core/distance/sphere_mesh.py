"""Spheres and meshes at rest: overlaps and nearest triangles, by a best-first search of the tree of the mesh.

A mesh is a surface: a sphere inside that touches no triangle does not overlap it. The separation is the
minimum over all triangles, inf behind all of a one-sided mesh. Triangles are solved as those of single pairs,
so results are to the bit those of the best one of all triangles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..mesh.pair_search import MeshPairSearch
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    is_run_start,
    largest_component,
    length,
    power_of_two_scale,
    transform_vectors,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Sphere, Triangle
from .mesh_mesh import TOUCHING
from .sphere import overlaps_sphere_triangle, separation_sphere_triangle

_SPHERES_AT_ONCE = 1 << 13
"""Spheres that are searched together: the nodes that they still have to visit take memory."""

TriangleValues: TypeAlias = Callable[[Sphere, Sphere, Triangle, Floats], tuple[Floats, Floats | float]]
"""Values of triangles (k,) for spheres (k,) from start to end, NaN for none, and their times."""


class SphereSearch(MeshPairSearch):
    """Search for the triangles of a mesh at rest with the least values, for spheres (n,) in motion.

    time, triangle : (n,) float64 and int64. Those of the least values, 0 without any; of equal values the
        earliest, and of these the first triangle.
    """

    def __init__(
        self, spheres: tuple[Sphere, Sphere], mesh: TriangleMesh, values_of: TriangleValues, limit: float
    ) -> None:
        """Search for values below a limit.

        spheres : Sphere, batch (n,). At both ends of their motion; twice the same object for spheres at rest.
        """
        start, end = spheres
        super().__init__(*mesh.pool.pairs_at_rest(len(start.radius)), np.full(start.shape, limit))
        self._ends = (start,) if end is start else spheres
        self._values_of, self._mesh = values_of, mesh
        self._least_radius = np.minimum(start.radius, end.radius)
        self._largest = np.maximum(start.radius, end.radius)
        middle, self._size = mesh.nodes.sphere
        farthest = np.maximum.reduce([largest_component(each.center) for each in self._ends])
        size = np.abs(middle).max() + self._size + farthest + self._largest
        self._rounding, self._unit = DISTANCE_ROUNDING * size, power_of_two_scale(size)
        self.evaluated = max(self.evaluated, len(start.radius))
        self.time, self.triangle = np.zeros(start.shape), np.zeros(start.shape, dtype=np.int64)

    @classmethod
    def least(
        cls, spheres: tuple[Sphere, Sphere], mesh: TriangleMesh, values_of: TriangleValues, limit: float
    ) -> tuple[Floats, Floats, Ints]:
        """Search for values below a limit: the least ones or the limit, and their times and triangles."""
        found = []
        for first in range(0, max(len(spheres[0].radius), 1), _SPHERES_AT_ONCE):
            rows = slice(first, first + _SPHERES_AT_ONCE)
            start = spheres[0][rows]
            ends = start, start if spheres[1] is spheres[0] else spheres[1][rows]
            search = cls(ends, mesh, values_of, limit)
            search.run(np.arange(len(start.radius)))
            found.append((search.best, search.time, search.triangle))
        best, time, triangle = map(np.concatenate, zip(*found, strict=True))
        return best, time, triangle

    def bounds(self, row: Ints, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        which, fitted = self._b.fitted(self._b.start, row, j)
        center = fitted.center[which]
        offset, radius = self.offsets(row, center)
        distance = length(offset)
        low = distance - radius - fitted.radius[which] - self._rounding[row]
        places = np.flatnonzero(low <= self.reached[row])
        row, j = row[places], j[places]
        beyond = np.minimum.reduce(self.beyond_boxes(row, j)).max(axis=0)
        # The radius at which the distance from the box is the least one.
        smallest = np.clip(-beyond.max(axis=1), self._least_radius[row], self._largest[row])
        low = np.maximum(low[places], length(np.maximum(beyond + smallest[:, None], 0.0)) - smallest)
        far = distance[places] + fitted.near_distance[which[places]]
        high = far - radius[places]
        if self._mesh.triangles.one_sided:
            low[self.are_behind(row, j)] = np.inf
            points = (center + offset)[places]
            is_in_front = self._mesh.normal_ranges.heights(j, points)[0] > self._rounding[row]
            high = np.where(is_in_front, high, np.inf)
        return places, low, high, far / (self._size or 1.0)

    def offsets(self, row: Ints, points: Floats) -> tuple[Floats, Floats]:
        """Offsets (k, 3) of spheres from points (k, 3) when they are closest, and their radii (k,) then."""
        return self._ends[0].center[row] - points, self._ends[0].radius[row]

    def beyond_boxes(self, row: Ints, j: Ints) -> list[Floats]:
        """Heights of spheres beyond both sides of the boxes of nodes, (2, k, 3) at each end, rounded down."""
        which, fitted = self._b.fitted(self._b.start, row, j)
        result = []
        for sphere in self._ends:
            local = transform_vectors(fitted.axes[which], sphere.center[row] - fitted.center[which])
            beyond = np.stack([local - fitted.highest[which], fitted.lowest[which] - local])
            result.append(beyond - (sphere.radius + self._rounding)[row, None])
        return result

    def are_behind(self, row: Ints, j: Ints) -> Bools:
        """Mask (k,) of nodes all of whose triangles centers are behind, at both ends and so in between."""
        heights = [self._mesh.normal_ranges.heights(j, each.center[row])[1] for each in self._ends]
        return np.asarray(np.maximum.reduce(heights) < -self._rounding[row])

    def values(self, row: Ints, i: Ints, j: Ints, low: Floats, is_quick: bool) -> tuple[Floats, Floats]:
        nodes = self._mesh.nodes
        triangle = nodes.tree.order[nodes.nodes.first_triangle[j]]
        start, end = self._ends[0], self._ends[-1]
        value, time = self._values_of(start[row], end[row], self._mesh.triangles[triangle], self.best[row])
        time = np.broadcast_to(time, value.shape)
        order = np.lexsort((triangle, time, value, row))
        first = order[is_run_start(row[order])]
        of_row = row[first]
        is_less, is_equal = value[first] < self.best[of_row], value[first] == self.best[of_row]
        for old, new in ((self.time, time[first]), (self.triangle, triangle[first])):
            is_less |= is_equal & (new < old[of_row])
            is_equal &= new == old[of_row]
        self.time[of_row[is_less]] = time[first[is_less]]
        self.triangle[of_row[is_less]] = triangle[first[is_less]]
        return value, np.full(len(row), np.nan)


def overlaps_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Bools:
    """Decide which spheres overlap a triangle, (...) bool."""
    flat = sphere.reshaped((-1,))
    best, _, _ = SphereSearch.least(
        (flat, flat),
        mesh,
        lambda sphere, _, triangle, most: (
            np.where(overlaps_sphere_triangle(sphere, triangle), 0.0, np.nan),
            0.0,
        ),
        TOUCHING,
    )
    return np.asarray(best == 0).reshape(sphere.shape)


def nearest_triangles(sphere: Sphere, mesh: TriangleMesh) -> Ints:
    """Find the triangles of minimum separation, the nearest or the deepest ones; on ties the first.

    Behind all of a one-sided mesh, where nothing collides, the first triangle: it is as far, infinitely.

    sphere : Batch (n,).
    Returns nearest : (n,) int64
    """
    return SphereSearch.least(
        (sphere, sphere),
        mesh,
        lambda sphere, _, triangle, most: (separation_sphere_triangle(sphere, triangle), 0.0),
        np.inf,
    )[2]
