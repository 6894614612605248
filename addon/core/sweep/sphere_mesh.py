"""Sweeps of spheres against meshes at rest: the earliest or least of the values of all triangles.

For a mesh that moves as a whole, move the spheres into its space.
"""

from __future__ import annotations

import numpy as np

from ..distance.sphere_mesh import SphereSearch
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Floats, Ints
from ..shapes import Sphere
from .closed_forms import time_of_minimum_gap
from .mesh_mesh import AFTER_END, closing_times, sphere_entry_times
from .sphere_triangle import entry_times_sphere_triangle, minimum_separation_sphere_triangle


def time_of_impact_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """First time in [0, 1] at which a moving sphere touches a mesh at rest. Exact up to float64 rounding.

    a_start, a_end : Sphere, batch (n,). The sphere at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns time : (n,) float64. NaN for never.
    """
    time, _, _ = _ImpactSearch.least(
        (a_start, a_end),
        b_start,
        lambda a0, a1, triangle, most: (entry_times_sphere_triangle(a0, a1, triangle), 0.0),
        AFTER_END,
    )
    return np.where(time < AFTER_END, time, np.nan)


def closest_time_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """First time in [0, 1] of the minimum separation of a moving sphere and a mesh at rest.

    Exact up to float64 rounding.

    a_start, a_end : Sphere, batch (n,). The sphere at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns time : (n,) float64. 0 for a sphere that stays behind all triangles of a one-sided mesh.
    """
    return _ClosestSearch.least(
        (a_start, a_end), b_start, lambda *pairs: minimum_separation_sphere_triangle(*pairs)[::-1], np.inf
    )[1]


class _ClosestSearch(SphereSearch):
    """Search for the triangles of the minimum separation."""

    def offsets(self, row: Ints, points: Floats) -> tuple[Floats, Floats]:
        start, end = (each[row] for each in (self._ends[0], self._ends[-1]))
        offset, path, growth = start.center - points, end.center - start.center, end.radius - start.radius
        unit = self._unit[row]
        time = time_of_minimum_gap(offset / unit[:, None], path / unit[:, None], growth / unit)
        return offset + time[:, None] * path, start.radius + time * growth


class _ImpactSearch(SphereSearch):
    """Search for the triangles that spheres touch first. Values are times."""

    def bounds(self, row: Ints, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        which, fitted = self._b.fitted(self._b.start, row, j)
        start, end = (each.center[row] - fitted.center[which] for each in (self._ends[0], self._ends[-1]))
        radius = fitted.radius[which]
        unit, reach = self._unit[row], radius + self._largest[row] + self._rounding[row]
        low = sphere_entry_times(start / unit[:, None], end / unit[:, None], reach / unit)
        places = np.flatnonzero(low <= self.reached[row])
        row, j = row[places], j[places]
        # How far the sphere is from each side of the box is linear in time.
        ends = self.beyond_boxes(row, j)
        low = np.maximum(low[places], closing_times(ends[0], ends[-1]).max(axis=(0, 2)))
        if self._mesh.triangles.one_sided:
            low[self.are_behind(row, j)] = np.inf
        # Small nodes first, because they are closer to triangles.
        priority = low + radius[places] / (self._size or 1.0)
        reached = np.flatnonzero(low <= self.reached[row])
        return places[reached], low[reached], np.full(len(reached), np.inf), priority[reached]
