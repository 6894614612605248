"""Spheres and sphere trees in motion against a mesh at rest: the first of its triangles that they touch.

Exact like the sweep of a sphere and a triangle. The boxes that spheres sweep are looked up in the hierarchy
that the mesh keeps. A mesh that moves as a whole is asked from where it rests: move the spheres instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, length
from .closest_points import closest_on_segment
from .errors import InvalidShapeError
from .interpolation import at
from .separation_spheres import separation_sphere_triangle
from .shapes import Aabb, Segment, Sphere, Triangle
from .sphere_tree import SphereTree, ranges
from .sweep_triangles import (
    closest_time_sphere_triangle,
    entry_times,
    overlap_spans,
    require_at_rest,
)
from .tree_descent import NO_TREE, Bounds, Rows, close_leaves
from .triangle_mesh import TriangleMesh, keep_least

_SPHERES_AT_ONCE = 2048
_PAIRS_AT_ONCE = CHUNK_ROWS // 8
"""Pairs of which each has twenty times to choose from."""


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
    """The answer of `time_of_impact_on_mesh`, and what touches what."""
    require_mesh_at_rest(b_start, b_end)
    if not (isinstance(a_start, SphereTree) and isinstance(a_end, SphereTree)):
        return _struck_by(a_start, a_end, b_start)  # type: ignore[arg-type]
    a_start.require_same_nodes(a_end)
    leaves = _struck_by(a_start.leaf_spheres, a_end.leaf_spheres, b_start)
    first = np.where(np.isnan(leaves.time), np.inf, leaves.time).argmin(axis=-1)
    place = (*np.indices(first.shape), first)
    parts: tuple[Any, ...] = leaves
    return Struck(*(part[place] for part in parts))


def _struck_by(a_start: Sphere, a_end: Sphere, mesh: TriangleMesh) -> Struck:
    a0, a1 = a_start.reshaped((-1,)), a_end.reshaped((-1,))
    first, time = np.full(a0.shape, -1), np.full(a0.shape, np.inf)
    for i, t in mesh.pairs_of_boxes(_swept(a0, a1)):
        found = entry_times(a0[i], a1[i], mesh.triangles[t], mesh.normals[t])
        keep_least(first, time, i, t, np.where(np.isnan(found), np.inf, found))
    time[first < 0] = np.nan
    triangle = mesh.triangles[np.maximum(first, 0).reshape(a_start.shape)]
    return Struck(a_start, a_end, triangle, triangle, time.reshape(a_start.shape))


def overlap_span_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh, clearance: float
) -> tuple[Floats, Floats]:
    """From the first to the last time within `clearance` of the mesh, (...) each; NaN for never.

    Exact up to float64 rounding. In between a sphere may leave one triangle and meet another.
    """
    require_mesh_at_rest(b_start, b_end)
    a0, a1 = (sphere.padded(clearance).reshaped((-1,)) for sphere in (a_start, a_end))
    enter, leave = np.full(a0.shape, np.nan), np.full(a0.shape, np.nan)
    for i, t in b_start.pairs_of_boxes(_swept(a0, a1)):
        begin, end = overlap_spans(a0[i], a1[i], b_start.triangles[t], b_start.normals[t])
        np.fmin.at(enter, i, begin)
        np.fmax.at(leave, i, end)
    return enter.reshape(a_start.shape), leave.reshape(a_start.shape)


def overlaps_throughout(a_start: Sphere, a_end: Sphere, mesh: TriangleMesh) -> Bools:
    """Which spheres (n,) overlap some triangle of a mesh at rest all the way. Exact but for rounding."""
    found = [(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))]
    for i, t in mesh.pairs_of_boxes(_swept(a_start, a_end)):
        begin, end = overlap_spans(a_start[i], a_end[i], mesh.triangles[t], mesh.normals[t])
        hit = ~np.isnan(begin)
        found.append((i[hit], begin[hit], end[hit]))
    i, begin, end = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((begin, i))
    i, begin, end = i[order], begin[order], end[order]
    # The latest end so far: with 2 more for each sphere, none carries over to the next.
    latest = np.maximum.accumulate(end + 2 * i) - 2 * i
    before = np.where(np.diff(i, prepend=-1) != 0, 0.0, np.concatenate([[0.0], latest[:-1]])[: len(i)])
    result = np.zeros(a_start.shape, dtype=bool)
    result[i] = True
    result[i[begin > before]] = False
    most = np.zeros(a_start.shape)
    np.maximum.at(most, i, end)
    return np.asarray(result & (most == 1))


def closest_time_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """The first time in [0, 1] at which the separation from the mesh is least, (...).

    Exact up to float64 rounding. 0 for a sphere that stays behind all of a one-sided mesh.
    """
    require_mesh_at_rest(b_start, b_end)
    a0, a1 = a_start.reshaped((-1,)), a_end.reshaped((-1,))
    best, least = np.zeros(a0.shape), np.full(a0.shape, np.inf)
    for i, t in _pairs_that_may_be_closest(a0, a1, b_start):
        first, last, triangle = a0[i], a1[i], b_start.triangles[t]
        times = np.sort(closest_time_sphere_triangle(first, last, triangle, triangle), axis=0)
        values = separation_sphere_triangle(at(first, last, times), triangle)
        lowest = values.argmin(axis=0)[None]
        time, value = (np.take_along_axis(x, lowest, axis=0)[0] for x in (times, values))
        # Backwards, so that the best is written last.
        order = np.lexsort((time, value))[::-1]
        order = order[(value < least[i])[order] | ((value == least[i]) & (time < best[i]))[order]]
        best[i[order]], least[i[order]] = time[order], value[order]
    return best.reshape(a_start.shape)


def require_mesh_at_rest(start: TriangleMesh, end: TriangleMesh) -> None:
    """Raise InvalidShapeError for a mesh that is not the same at both ends of an interval."""
    if start is not end:
        if start.triangles.shape != end.triangles.shape:
            raise InvalidShapeError("meshes: two with other numbers of triangles are not one at rest")
        require_at_rest(start.triangles, end.triangles)


def _swept(a0: Sphere, a1: Sphere) -> Aabb:
    """Boxes around the ways of spheres (n,)."""
    return a0.aabb().merged(a1.aabb())


def _pairs_that_may_be_closest(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> Iterator[tuple[Ints, Ints]]:
    """Spheres (n,) and triangles of which one is nearest on its way, a chunk of indices at a time."""
    tree, bounds = mesh.parts.tree, _bounds(a0, a1, mesh)
    for begin in range(0, len(a0.radius), _SPHERES_AT_ONCE):
        spheres = np.arange(begin, min(begin + _SPHERES_AT_ONCE, len(a0.radius)))
        rows, _ = close_leaves(spheres, NO_TREE, tree.children, bounds)
        first, last = tree.parts[rows.b].T
        i, t = rows.element.repeat(last - first), tree.order[ranges(first, last - first)]
        for start in range(0, len(i), _PAIRS_AT_ONCE):
            yield i[start : start + _PAIRS_AT_ONCE], t[start : start + _PAIRS_AT_ONCE]


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
        return low, high

    return bounds
