"""Distances between a sphere and a triangle mesh.

Space: results are in the space and unit of the mesh, (...) for the batch of the spheres.

Sign: separation is the minimum over the triangles; negative where they overlap, inf behind all of a
one-sided mesh. A mesh is a surface: a sphere inside that touches no triangle does not overlap it.

Guarantee: exact like the method of a sphere and a triangle, minimized over all triangles.

Overlapping triangles are found by the BVH of the mesh. Spheres that overlap none traverse its sphere tree
for the nearest triangle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints
from ..shapes import Sphere
from .sphere import overlaps_sphere_triangle, separation_sphere_triangle, witness_points_sphere_triangle
from .witness import WitnessPoints

_ALL_PAIRS = 16_384
"""Up to this many pairs of a sphere and a triangle, all are solved without a traversal."""

_SPHERES_AT_ONCE = 2048


def separation_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Floats:
    """Minimum separation from a triangle, (...); inf behind all of a one-sided mesh."""
    flat, nearest = _nearest(sphere, mesh)
    has_nearest = np.flatnonzero(nearest >= 0)
    result = np.full(flat.shape, np.inf)
    triangles = mesh.triangles[nearest[has_nearest]]
    result[has_nearest] = separation_sphere_triangle(flat[has_nearest], triangles)
    return result.reshape(sphere.shape)


def overlaps_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Bools:
    """Decide which spheres overlap a triangle, (...) bool."""
    flat = sphere.reshaped((-1,))
    result = np.zeros(flat.shape, dtype=bool)
    for i, t in mesh.box_triangle_pairs(flat.aabb()):
        result[i[overlaps_sphere_triangle(flat[i], mesh.triangles[t])]] = True
    return result.reshape(sphere.shape)


def witness_points_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> WitnessPoints:
    """Witness points of the triangle of minimum separation, the nearest or the deepest; on ties of the first.

    Behind all of a one-sided mesh, where nothing collides, they are those of its first triangle.
    """
    flat, nearest = _nearest(sphere, mesh)
    witness = witness_points_sphere_triangle(flat, mesh.triangles[np.maximum(nearest, 0)])
    return WitnessPoints(*(points.reshape(*sphere.shape, 3) for points in witness))


def minimum_translation_sphere_mesh(sphere: Sphere, mesh: TriangleMesh) -> Floats:
    """Shortest translation that separates the sphere from its deepest triangle, (..., 3); zero for none.

    Other triangles may still overlap, as in a corner, and then need another translation.
    """
    flat = sphere.reshaped((-1,))
    move = np.zeros((*flat.shape, 3))
    deepest, depth = _deepest(flat, mesh)
    hits = np.flatnonzero(deepest >= 0)
    witness = witness_points_sphere_triangle(flat[hits], mesh.triangles[deepest[hits]])
    move[hits] = witness.normal * depth[hits, None] + 0.0
    return move.reshape(*sphere.shape, 3)


def _nearest(sphere: Sphere, mesh: TriangleMesh) -> tuple[Sphere, Ints]:
    """Spheres as a flat batch (n,), and their triangles (n,) of minimum separation; -1 where all are inf."""
    flat = sphere.reshaped((-1,))
    nearest, depth = _deepest(flat, mesh)
    for start in range(0, len(depth), _SPHERES_AT_ONCE):
        apart = start + np.flatnonzero(depth[start : start + _SPHERES_AT_ONCE] > 0)
        if len(apart):
            nearest[apart] = _nearest_by_traversal(flat[apart], mesh)
    return flat, nearest


def _deepest(flat: Sphere, mesh: TriangleMesh) -> tuple[Ints, Floats]:
    """Deepest triangles (n,) of spheres (n,) and their separations (n,); -1 and inf for none."""
    best, least = np.full(flat.shape, -1), np.full(flat.shape, np.inf)
    for i, t in mesh.box_triangle_pairs(flat.aabb()):
        value = separation_sphere_triangle(flat[i], mesh.triangles[t])
        scatter_min(best, least, i, t, np.where(value <= 0, value, np.inf))
    return best, least


def _nearest_by_traversal(apart: Sphere, mesh: TriangleMesh) -> Ints:
    """Triangles (n,) of minimum separation from spheres (n,); -1 where all are inf."""
    best, least = np.full(apart.shape, -1), np.full(apart.shape, np.inf)
    count = len(mesh.triangles.a)
    if len(best) * count <= _ALL_PAIRS:
        i, t = np.arange(len(best)).repeat(count), np.tile(np.arange(count), len(best))
    else:
        i, t = mesh.parts.candidates(np.arange(len(best)), mesh.parts.bounds(apart))
    for start in range(0, len(i), CHUNK_ROWS):
        spheres, triangles = i[start : start + CHUNK_ROWS], t[start : start + CHUNK_ROWS]
        value = separation_sphere_triangle(apart[spheres], mesh.triangles[triangles])
        scatter_min(best, least, spheres, triangles, value)
    return best


def scatter_min(best: NDArray[Any], least: Floats, i: Ints, t: NDArray[Any], value: Floats) -> None:
    """Update the minima of rows in place. Exact.

    best : (n,) float64 or int64. Where the minimum of each row was found; updated.
    least : (n,) float64. The minimum of each row; updated.
    i : (k,) int64. Row of each candidate.
    t : (k,) float64 or int64. Triangle or time of each candidate. Of equal values the smallest wins.
    value : (k,) float64. Infinite values are ignored.
    """
    better = np.flatnonzero((value < least[i]) | ((value == least[i]) & (t < best[i])))
    i, t, value = i[better], t[better], value[better]
    # Assign in descending order, so that the best candidate of a row is written last.
    order = np.lexsort((t, value))[::-1]
    best[i[order]], least[i[order]] = t[order], value[order]
