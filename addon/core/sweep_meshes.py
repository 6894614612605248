"""Spheres and sphere trees in motion against a mesh at rest: the first of its triangles that they touch.

Exact like the sweep of a sphere and a triangle. The boxes that spheres sweep are looked up in the hierarchy
that the mesh keeps. A mesh that moves as a whole is asked from where it rests: move the spheres instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, length
from .closest_points import closest_on_segment
from .interpolation import at
from .separation_spheres import separation_sphere_triangle
from .shapes import Segment, Sphere, Triangle
from .sphere_tree import SphereTree, ranges
from .sweep_triangles import CLOSEST_AT_ONCE, entry_times, least_separation
from .tree_descent import NO_TREE, Bounds, Rows, close_leaves
from .triangle_mesh import TriangleMesh, keep_least

_SPHERES_AT_ONCE = 2048


class Struck(NamedTuple):
    """Spheres (...) at both ends, the triangles that they touch first, and when: NaN for never."""

    start: Sphere
    end: Sphere
    triangle: Triangle
    triangle_end: Triangle
    time: Floats


def time_of_impact_on_mesh(
    a_start: Sphere | SphereTree, a_end: Sphere | SphereTree, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """When spheres, or the first leaf of trees, touch a mesh at rest, (...); NaN for never.

    Exact up to float64 rounding. Raises InvalidShapeError for a mesh that moves and for poses of two trees.
    """
    return struck(a_start, a_end, b_start, b_end).time


def struck(
    a_start: Sphere | SphereTree, a_end: Sphere | SphereTree, b_start: TriangleMesh, b_end: TriangleMesh
) -> Struck:
    """The answer of `time_of_impact_on_mesh`, and what touches what: from the start, what overlaps most."""
    b_start.require_same(b_end)
    if isinstance(a_start, SphereTree) and isinstance(a_end, SphereTree):
        a_start.require_same_nodes(a_end)
        a0, a1 = a_start.leaf_spheres, a_end.leaf_spheres
        when, first = _first_triangles(a0, a1, b_start)
        leaf = when.argmin(axis=-1)
        place = (*np.indices(leaf.shape), leaf)
        a0, a1, when, first = a0[place], a1[place], when[place], first[place]
    else:
        a0, a1 = a_start, a_end  # type: ignore[assignment]
        when, first = _first_triangles(a0, a1, b_start)
    triangle = b_start.triangles[np.maximum(first, 0)]
    return Struck(a0, a1, triangle, triangle, np.where(first < 0, np.nan, np.maximum(when, 0.0)))


def closest_time_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """The first time in [0, 1] at which the separation from the mesh is least, (...).

    Exact up to float64 rounding. 0 for a sphere that stays behind all of a one-sided mesh. Raises
    InvalidShapeError for a mesh that moves.
    """
    b_start.require_same(b_end)
    a0, a1 = a_start.reshaped((-1,)), a_end.reshaped((-1,))
    best, least = np.zeros(a0.shape), np.full(a0.shape, np.inf)
    for i, t in _pairs_that_may_be_closest(a0, a1, b_start):
        time, value = least_separation(a0[i], a1[i], b_start.triangles[t])
        keep_least(best, least, i, time, value)
    return best.reshape(a_start.shape)


def _first_triangles(a_start: Sphere, a_end: Sphere, mesh: TriangleMesh) -> tuple[Floats, Ints]:
    """When spheres (...) touch the mesh, and which triangle first: inf and -1 for never.

    Those that overlap it from the start have their least separation, which is at most 0, for a time.
    """
    a0, a1 = a_start.reshaped((-1,)), a_end.reshaped((-1,))
    first, when = np.full(a0.shape, -1), np.full(a0.shape, np.inf)
    for i, t in mesh.pairs_of_boxes(a0.aabb().merged(a1.aabb())):
        found = entry_times(a0[i], a1[i], mesh.triangles[t], mesh.normals[t])
        found = np.where(np.isnan(found), np.inf, found)
        starts = np.flatnonzero(found == 0)
        depth = separation_sphere_triangle(a0[i[starts]], mesh.triangles[t[starts]])
        found[starts] = np.minimum(depth, 0.0)
        keep_least(first, when, i, t, found)
    return when.reshape(a_start.shape), first.reshape(a_start.shape)


def _pairs_that_may_be_closest(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> Iterator[tuple[Ints, Ints]]:
    """Spheres (n,) and triangles of which one is nearest on its way, a chunk of indices at a time."""
    tree, bounds = mesh.parts.tree, _bounds(a0, a1, mesh)
    for begin in range(0, len(a0.radius), _SPHERES_AT_ONCE):
        spheres = np.arange(begin, min(begin + _SPHERES_AT_ONCE, len(a0.radius)))
        rows, _ = close_leaves(spheres, NO_TREE, tree.children, bounds)
        first, last = tree.parts[rows.b].T
        i, t = rows.element.repeat(last - first), tree.order[ranges(first, last - first)]
        for start in range(0, len(i), CLOSEST_AT_ONCE):
            yield i[start : start + CLOSEST_AT_ONCE], t[start : start + CLOSEST_AT_ONCE]


def _bounds(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> Bounds:
    """Of spheres (n,): bounds of the least separation on their way from parts of the mesh."""
    parts = mesh.parts
    path = Segment.trusted(a0.center, a1.center)
    largest = np.maximum(a0.radius, a1.radius)

    def bounds(rows: Rows) -> tuple[Floats, Floats]:
        i, center = rows.element, parts.tree.center[rows.b]
        way = path[i]
        nearest = closest_on_segment(center, way)
        whole = length(way.end - way.start)
        t = np.divide(length(nearest - way.start), whole, out=np.zeros(len(i)), where=whole > 0)
        # What holds at one time bounds the least from above, from below only with the largest radius.
        there = at(a0[i], a1[i], np.minimum(t, 1.0))
        alone = Rows(np.arange(len(i)), rows.a, rows.b)
        _, high = parts.bounds(there)(alone)
        low, _ = parts.two_sided.bounds(Sphere.trusted(nearest, largest[i]))(alone)
        if parts.one_sided:
            # Behind at both ends is behind all along.
            (low_start, high_start), (low_end, high_end) = (parts.bounds(a[i])(alone) for a in (a0, a1))
            low = np.where(np.isinf(low_start) & np.isinf(low_end), np.inf, low)
            high = np.minimum(high, np.minimum(high_start, high_end))
        return low, high

    return bounds
