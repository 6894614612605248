"""Sweep of spheres and sphere trees against a mesh at rest: the first triangle that they touch.

The swept boxes of the spheres are culled by the BVH of the mesh; the remaining triangles are solved by the
sweep of a sphere and a triangle, and are exact like that. For a mesh that moves as a whole, move the spheres
into its space.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..distance.sphere import separation_sphere_triangle
from ..distance.sphere_mesh import scatter_min
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Floats, Ints, length
from ..shapes import Segment, Sphere, Triangle
from ..shapes.primitives import closest_on_segment
from ..trees.sphere_tree import SphereTree
from ..trees.traversal import NodePairBounds, NodePairs
from .interpolation import at
from .sphere_triangle import (
    CLOSEST_CHUNK_PAIRS,
    entry_times_sphere_triangle,
    minimum_separation_sphere_triangle,
)

_CHUNK_SPHERES = 2048


class SphereMeshImpact(NamedTuple):
    """First impact of spheres on a mesh, in the space of the mesh.

    start, end : Sphere, batch (...). The spheres at times 0 and 1; of a tree the leaf that touches first.
    triangle, triangle_end : Triangle, batch (...). The triangle that is touched first, twice, because it is
        at rest.
    time : (...) float64. Time in [0, 1]; NaN for never.
    """

    start: Sphere
    end: Sphere
    triangle: Triangle
    triangle_end: Triangle
    time: Floats


def time_of_impact_sphere_mesh(
    a_start: Sphere | SphereTree, a_end: Sphere | SphereTree, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """First time in [0, 1] at which a moving sphere, or a leaf of a sphere tree, touches a mesh at rest.

    Exact up to float64 rounding.

    a_start, a_end : Sphere or SphereTree, batch (...). The sphere or tree at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns time : (...) float64. NaN for never.
    Raises InvalidShapeError: for a mesh that moves, and for poses of two different trees.
    """
    return first_impact_sphere_mesh(a_start, a_end, b_start, b_end).time


def first_impact_sphere_mesh(
    a_start: Sphere | SphereTree, a_end: Sphere | SphereTree, b_start: TriangleMesh, b_end: TriangleMesh
) -> SphereMeshImpact:
    """First impact on a mesh at rest: time, sphere and triangle. Exact up to float64 rounding.

    a_start, a_end : Sphere or SphereTree, batch (...). The sphere or tree at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns impact : SphereMeshImpact. For an overlap at the start, the sphere and the triangle are the pair
        with the deepest overlap.
    Raises InvalidShapeError: as `time_of_impact_sphere_mesh`.
    """
    b_start.require_same(b_end)
    if isinstance(a_start, SphereTree) and isinstance(a_end, SphereTree):
        a_start.require_same_nodes(a_end)
        a0, a1 = a_start.leaf_spheres, a_end.leaf_spheres
        time, first = _first_triangles(a0, a1, b_start)
        leaf = time.argmin(axis=-1)
        index = (*np.indices(leaf.shape), leaf)
        a0, a1, time, first = a0[index], a1[index], time[index], first[index]
    else:
        a0, a1 = a_start, a_end  # type: ignore[assignment]
        time, first = _first_triangles(a0, a1, b_start)
    triangle = b_start.triangles[np.maximum(first, 0)]
    return SphereMeshImpact(a0, a1, triangle, triangle, np.where(first < 0, np.nan, np.maximum(time, 0.0)))


def closest_time_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """First time in [0, 1] of the minimum separation of a moving sphere and a mesh at rest.

    Exact up to float64 rounding.

    a_start, a_end : Sphere, batch (...). The sphere at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns time : (...) float64. 0 for a sphere that stays behind all triangles of a one-sided mesh.
    Raises InvalidShapeError: for a mesh that moves.
    """
    b_start.require_same(b_end)
    a0, a1 = a_start.reshaped((-1,)), a_end.reshaped((-1,))
    best, least = np.zeros(a0.shape), np.full(a0.shape, np.inf)
    for i, t in _closest_candidates(a0, a1, b_start):
        time, value = minimum_separation_sphere_triangle(a0[i], a1[i], b_start.triangles[t])
        scatter_min(best, least, i, time, value)
    return best.reshape(a_start.shape)


def _first_triangles(a_start: Sphere, a_end: Sphere, mesh: TriangleMesh) -> tuple[Floats, Ints]:
    """First times (...) at which spheres touch the mesh, and the triangles (...); inf and -1 for never.

    An overlap at the start has its separation, at most 0, instead of a time, so that the deepest pair wins.
    """
    a0, a1 = a_start.reshaped((-1,)), a_end.reshaped((-1,))
    first, earliest = np.full(a0.shape, -1), np.full(a0.shape, np.inf)
    for i, t in mesh.box_triangle_pairs(a0.aabb().merged(a1.aabb())):
        time = entry_times_sphere_triangle(a0[i], a1[i], mesh.triangles[t], mesh.normals[t])
        time = np.where(np.isnan(time), np.inf, time)
        starts = np.flatnonzero(time == 0)
        time[starts] = separation_sphere_triangle(a0[i[starts]], mesh.triangles[t[starts]])
        scatter_min(first, earliest, i, t, time)
    return earliest.reshape(a_start.shape), first.reshape(a_start.shape)


def _closest_candidates(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of spheres (n,) and triangles that include the closest, as indices, a chunk at a time."""
    bounds = _bounds(a0, a1, mesh)
    for begin in range(0, len(a0.radius), _CHUNK_SPHERES):
        spheres = np.arange(begin, min(begin + _CHUNK_SPHERES, len(a0.radius)))
        i, t = mesh.parts.candidates(spheres, bounds)
        for start in range(0, len(i), CLOSEST_CHUNK_PAIRS):
            yield i[start : start + CLOSEST_CHUNK_PAIRS], t[start : start + CLOSEST_CHUNK_PAIRS]


def _bounds(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> NodePairBounds:
    """Bounds of the minimum separation of moving spheres (n,) from parts of the mesh."""
    parts = mesh.parts
    paths = Segment.unchecked(a0.center, a1.center)
    largest = np.maximum(a0.radius, a1.radius)

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        i, center = rows.element, parts.tree.center[rows.b]
        path = paths[i]
        nearest = closest_on_segment(center, path)
        whole = length(path.end - path.start)
        t = np.divide(length(nearest - path.start), whole, out=np.zeros(len(i)), where=whole > 0)
        # The separation at one time bounds the minimum from above; a bound from below needs the largest
        # radius.
        sphere = at(a0[i], a1[i], np.minimum(t, 1.0))
        pairs = NodePairs(np.arange(len(i)), rows.a, rows.b)
        _, high = parts.bounds(sphere)(pairs)
        low, _ = parts.two_sided.bounds(Sphere.unchecked(nearest, largest[i]))(pairs)
        if parts.one_sided:
            # A center behind the triangles at both ends is behind them throughout.
            (low_start, high_start), (low_end, high_end) = (parts.bounds(a[i])(pairs) for a in (a0, a1))
            low = np.where(np.isinf(low_start) & np.isinf(low_end), np.inf, low)
            high = np.minimum(high, np.minimum(high_start, high_end))
        return low, high

    return bounds
