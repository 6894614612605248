"""Sweeps of spheres against triangles and meshes at rest: the first of a triangle's seven features.

A sphere touches a triangle while its center is within a radius of the face, of an edge or of a corner. It
reaches one of these seven features first (Ericson 2005). The plane of the face is a linear equation, the
line of an edge and a corner are the quadratic of two spheres. A contact outside of the face or beyond the
ends of an edge is dropped, because another feature was reached before.

Contact within rounding errors counts, so that none is lost where two features join. The distance of a
triangle is a convex function of time, and the center is in front of the triangle for one interval of time.
So there is one span of contact or none, for one-sided triangles too.

The swept boxes of the spheres are culled by the BVH of a mesh; the remaining triangles are solved one by
one, and are exact like that. For a mesh that moves as a whole, move the spheres into its space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..distance.sphere import overlaps_sphere_triangle, scatter_min, separation_sphere_triangle
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import (
    CHUNK_ROWS,
    Bools,
    Floats,
    Ints,
    cross,
    dot,
    length,
    normalized,
    power_of_two_scale,
)
from ..numeric.floating_point import Exact
from ..numeric.tolerances import GAP_ROUNDING
from ..shapes import Segment, Sphere, Triangle
from ..shapes.primitives import closest_on_segment, closest_on_triangle
from ..trees.sphere_tree import SphereTree
from ..trees.traversal import NodePairBounds, NodePairs
from .closed_forms import entry_time_within_reach, time_of_impact_sphere_sphere, time_of_minimum_gap
from .interpolation import at

_CLOSEST_CHUNK_PAIRS = CHUNK_ROWS // 8
"""Pairs whose closest time is searched together: each has about twenty candidate times."""


def minimum_separation_sphere_triangle(a0: Sphere, a1: Sphere, triangle: Triangle) -> tuple[Floats, Floats]:
    """Find the minimum separation of moving spheres and triangles at rest. Exact up to float64 rounding.

    a0, a1 : Sphere, batch (n,). The spheres at times 0 and 1.
    triangle : Triangle, batch (n,)
    Returns time : (n,) float64. First time of the minimum, in [0, 1]; 0 for a sphere that stays behind a
        one-sided triangle.
    Returns separation : (n,) float64
    """
    time, least = np.empty(a0.shape), np.empty(a0.shape)
    for start in range(0, len(time), _CLOSEST_CHUNK_PAIRS):
        rows = slice(start, start + _CLOSEST_CHUNK_PAIRS)
        first, last, at_rest = a0[rows], a1[rows], triangle[rows]
        motion = _RelativeMotion.of(first, last, at_rest, at_rest.normal)
        times = np.sort(_closest_time_candidates(motion, triangle.one_sided), axis=0)
        values = separation_sphere_triangle(at(first, last, times), at_rest)
        lowest = values.argmin(axis=0)[None]
        time[rows], least[rows] = (np.take_along_axis(each, lowest, axis=0)[0] for each in (times, values))
    return time, least


def entry_times_sphere_triangle(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> Floats:
    """Compute entry times of moving spheres into triangles. Exact up to float64 rounding.

    a0, a1 : Sphere, batch (n,). The spheres at times 0 and 1.
    triangle : Triangle, batch (n,). At rest.
    normal : (n, 3) float64. Unit normals of the triangles.
    Returns time : (n,) float64. In [0, 1]; NaN for never.
    """
    times = np.full(a0.shape, np.nan)
    for start in range(0, len(times), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        near = start + np.flatnonzero(_may_touch(a0[rows], a1[rows], triangle[rows], normal[rows]))
        if len(near):
            times[near] = _entry_times(a0[near], a1[near], triangle[near], normal[near])
    return times


def _may_touch(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> Bools:
    """Mask of pairs (n,) whose sphere does not stay on one side of the plane."""
    corner, r, r_end = triangle.a, a0.radius, a1.radius
    p, end = a0.center - corner, a1.center - corner
    h, h_end = dot(p, normal), dot(end, normal)
    # Because the normal of a thin triangle is inaccurate, its corners may be at different heights.
    heights = dot(triangle.b - corner, normal), dot(triangle.c - corner, normal)
    top, bottom = np.maximum(np.maximum(*heights), 0), np.minimum(np.minimum(*heights), 0)
    # Overlaps at the ends are decided with rounding errors of the coordinates.
    slack = 2 * GAP_ROUNDING * np.max([np.abs(x).max(axis=-1) for x in (p, end, corner)], axis=0)
    is_disjoint = np.minimum(h - r, h_end - r_end) > top + slack
    is_disjoint |= np.maximum(h + r, h_end + r_end) < bottom - slack
    if triangle.one_sided:
        is_disjoint |= np.maximum(h, h_end) < -slack
    return np.asarray(~is_disjoint)


def _entry_times(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> Floats:
    """Entry times (n,) of pairs (n,); NaN for never."""
    motion = _RelativeMotion.of(a0, a1, triangle, normal)
    corners = Sphere.unchecked(np.stack([triangle.a, triangle.b, triangle.c]), np.zeros((3, *a0.shape)))
    first, last, corners = (each.broadcast_to(corners.shape).reshaped((-1,)) for each in (a0, a1, corners))
    at_corners = time_of_impact_sphere_sphere(first, last, corners, corners)
    time = np.fmin.reduce([*at_corners.reshape(3, -1), *motion.edge_entry_times(), motion.face_entry_times()])
    if triangle.one_sided:
        time = motion.in_front(time)
    # The samples decide about contact at the ends, so that rounding cannot lose one there.
    starts, ends = (overlaps_sphere_triangle(sphere, triangle) for sphere in (a0, a1))
    time = np.fmin(time, np.where(ends, 1.0, np.nan))
    # Not 0, because these pairs are disjoint at the start.
    return np.where(starts, 0.0, np.maximum(time, np.finfo(np.float64).tiny))


class _RelativeMotion(NamedTuple):
    """Motion of spheres relative to their triangles, (...), in units of the size of each pair.

    p, end : (3, ..., 3) float64. Centers at times 0 and 1, relative to each corner.
    u, lengths : (3, ..., 3) and (3, ...) float64. Directions and lengths of the edges, each beginning at
        its corner.
    normal : (..., 3) float64. Normals of the triangles.
    r, r_end, h, h_end : (...) float64. Radii, and signed heights of the centers above the plane.
    time_tolerance : (...) float64. Time in which the height changes by a rounding error.
    """

    p: Floats
    end: Floats
    u: Floats
    lengths: Floats
    normal: Floats
    r: Floats
    r_end: Floats
    h: Floats
    h_end: Floats
    time_tolerance: Floats

    @classmethod
    def of(cls, a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> _RelativeMotion:
        """Motion of pairs of one batch."""
        corners = np.stack([triangle.a, triangle.b, triangle.c])
        p, end, sides = a0.center - corners, a1.center - corners, corners[[1, 2, 0]] - corners
        extent = np.maximum(np.maximum(np.abs(p), np.abs(end)), np.abs(sides)).max(axis=(0, -1))
        scale = power_of_two_scale(np.maximum(np.maximum(a0.radius, a1.radius), extent))
        p, end, sides = p / scale[..., None], end / scale[..., None], sides / scale[..., None]
        h, h_end = dot(p[0], normal), dot(end[0], normal)
        r, r_end = a0.radius / scale, a1.radius / scale
        largest = np.max([np.abs(x).max(axis=-1) for x in (a0.center, a1.center, triangle.a)], axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            time_tolerance = GAP_ROUNDING * (1 + largest / scale) / np.abs(h_end - h)
        return cls(p, end, normalized(sides), length(sides), normal, r, r_end, h, h_end, time_tolerance)

    def relative_to_edges(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Center relative to the edges: perpendicular (3, ..., 3) and along (3, ...), at both ends."""
        along, along_end = dot(self.p, self.u), dot(self.end, self.u)
        across, across_end = self.p - along[..., None] * self.u, self.end - along_end[..., None] * self.u
        return across, across_end, along, along_end

    def edge_entry_times(self) -> Floats:
        """First times (3, n) at which the spheres reach an edge between its ends; NaN for never."""
        across, across_end, along, along_end = self.relative_to_edges()
        reach, reach_end = (np.broadcast_to(r + GAP_ROUNDING, along.shape) for r in (self.r, self.r_end))
        time = entry_time_within_reach(Exact(across), Exact(across_end), Exact(reach), Exact(reach_end))
        position = along * (1 - time) + along_end * time
        return np.where((position >= -GAP_ROUNDING) & (position <= self.lengths + GAP_ROUNDING), time, np.nan)

    def face_entry_times(self) -> Floats:
        """First times (n,) at which the spheres reach the plane inside of the triangle; NaN for never."""
        time = _plane_entry_time(self.h, self.h_end, self.r, self.r_end)
        rows = np.flatnonzero(~np.isnan(time))
        time[rows] = _plane_entry_time(*self._heights(rows, time[rows]), self.r[rows], self.r_end[rows])
        rows = rows[~np.isnan(time[rows])]
        time[rows[~self._touches(rows, time[rows])]] = np.nan
        return time

    def in_front(self, time: Floats) -> Floats:
        """Entry times (n,) with one-sided triangles; overwrites `time`, those with both sides."""
        rows = np.flatnonzero(~np.isnan(time))
        entry, behind = time[rows], self.h[rows] < 0
        # A sphere from behind touches when its center comes through, if it still overlaps then.
        through = np.where(behind, _zero_crossing(self.h[rows], self.h_end[rows]), 0.0)
        h, h_end = self._heights(rows, np.maximum(entry, through))
        through = np.where(behind, _zero_crossing(h, h_end), 0.0)
        later = np.maximum(entry, through)
        touches = (through <= entry) | self._touches(rows, later)
        touches &= h * (1 - later) + h_end * later >= -GAP_ROUNDING
        # Slightly later, so that rounding does not leave the center behind.
        later = np.where(
            through < entry,
            entry,
            np.minimum(through + np.where(behind, self.time_tolerance[rows], 0.0), 1.0),
        )
        time[rows] = np.where(touches, later, np.nan)
        return time

    def _heights(self, rows: Ints, time: Floats) -> tuple[Floats, Floats]:
        """Heights (k,) at both ends, above the point of the triangle that is closest at `time` (k,).

        They replace `h` and `h_end`, because the normal of a thin triangle is inaccurate, and so are heights
        above a distant corner.
        """
        nearest, _ = self._nearest(rows, time)
        h, h_end = (dot(p[0, rows] - nearest, self.normal[rows]) for p in (self.p, self.end))
        return h, h_end

    def _touches(self, rows: Ints, time: Floats) -> Bools:
        """Return whether spheres at `rows` (k,) touch at `time` (k,), within rounding errors."""
        nearest, center = self._nearest(rows, time)
        reach = self.r[rows] * (1 - time) + self.r_end[rows] * time
        return np.asarray(length(nearest - center) <= reach + GAP_ROUNDING)

    def _nearest(self, rows: Ints, time: Floats) -> tuple[Floats, Floats]:
        """Closest point (k, 3) of the triangle at `time` (k,), and the center (k, 3)."""
        center = self.p[0, rows] * (1 - time)[:, None] + self.end[0, rows] * time[:, None]
        first, last = (self.lengths[k, rows, None] * self.u[k, rows] for k in (0, 2))
        return closest_on_triangle(center, Triangle.unchecked(np.zeros_like(first), first, -last)), center


def _plane_entry_time(h: Floats, h_end: Floats, r: Floats, r_end: Floats) -> Floats:
    """Time at which spheres at heights from `h` to `h_end` reach a plane, from either side; NaN for never."""
    side = np.where(h < 0, -1.0, 1.0)
    gap, gap_end = side * h - r, side * h_end - r_end
    time = np.where(gap_end <= GAP_ROUNDING, _zero_crossing(np.maximum(gap, 0.0), gap_end), np.nan)
    return np.where(gap <= GAP_ROUNDING, 0.0, time)


def _closest_time_candidates(motion: _RelativeMotion, one_sided: bool) -> Floats:
    """Candidate times (k, n) of the minimum separation, from all seven features.

    They are the ends, the crossing of the plane, and the minima of edges and corners. Where the separation is
    constant for a while, over the face or along an edge, the candidate is when that begins.
    """
    s = motion.r_end - motion.r
    through = _zero_crossing(motion.h, motion.h_end)
    # Slightly before and after the plane, so that one of them is in front of it in spite of rounding.
    about = [through - motion.time_tolerance, through + motion.time_tolerance] if one_sided else [through]
    across, across_end, along, along_end = motion.relative_to_edges()
    inward = cross(motion.normal, motion.u)
    ends = np.zeros_like(s), np.ones_like(s)
    of_features = (
        time_of_minimum_gap(motion.p, motion.end - motion.p, s),
        time_of_minimum_gap(across, across_end - across, s),
        _zero_crossing(along, along_end),
        _zero_crossing(along - motion.lengths, along_end - motion.lengths),
        _zero_crossing(dot(across, inward), dot(across_end, inward)),
    )
    return np.concatenate([np.stack([*ends, *np.clip(about, 0, 1)]), *of_features])


def _zero_crossing(start: Floats, end: Floats) -> Floats:
    """Time at which a line from `start` to `end` crosses 0, clipped to [0, 1]; 0 for a constant line."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        time = start / (start - end)
    return np.where(np.isnan(time), 0.0, np.clip(time, 0.0, 1.0))


_CHUNK_SPHERES = 2048


def first_impact_sphere_mesh(
    a_start: Sphere | SphereTree, a_end: Sphere | SphereTree, b_start: TriangleMesh, b_end: TriangleMesh
) -> tuple[Sphere, Sphere, Triangle, Triangle, Floats]:
    """First impact on a mesh at rest: time, sphere and triangle. Exact up to float64 rounding.

    a_start, a_end : Sphere or SphereTree, batch (n,). The sphere or tree at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns start, end : Sphere, batch (n,). The spheres at times 0 and 1; of a tree the leaf that touches
        first.
    Returns triangle, triangle_end : Triangle, batch (n,). The triangle that is touched first, twice, because
        it is at rest. For an overlap at the start, sphere and triangle are the pair with the deepest overlap.
    Returns time : (n,) float64. Time in [0, 1]; NaN for never.
    """
    leaves = [
        each.leaf_spheres if isinstance(each, SphereTree) else each[:, None] for each in (a_start, a_end)
    ]
    a0, a1 = (each.reshaped((-1,)) for each in leaves)
    time, first = _first_triangles(a0, a1, b_start)
    count, size = leaves[0].shape
    best = np.arange(count) * size + time.reshape(count, size).argmin(axis=1)
    triangle = b_start.triangles[np.maximum(first[best], 0)]
    time = np.where(first[best] < 0, np.nan, np.maximum(time[best], 0.0))
    return a0[best], a1[best], triangle, triangle, time


def closest_time_sphere_mesh(
    a_start: Sphere, a_end: Sphere, b_start: TriangleMesh, b_end: TriangleMesh
) -> Floats:
    """First time in [0, 1] of the minimum separation of a moving sphere and a mesh at rest.

    Exact up to float64 rounding.

    a_start, a_end : Sphere, batch (n,). The sphere at times 0 and 1.
    b_start, b_end : Two equal samples of the mesh.
    Returns time : (n,) float64. 0 for a sphere that stays behind all triangles of a one-sided mesh.
    """
    best, least = np.zeros(a_start.shape), np.full(a_start.shape, np.inf)
    bounds = _bounds(a_start, a_end, b_start)
    for begin in range(0, len(best), _CHUNK_SPHERES):
        spheres = np.arange(begin, min(begin + _CHUNK_SPHERES, len(best)))
        i, t = b_start.parts.candidates(spheres, bounds)
        time, value = minimum_separation_sphere_triangle(a_start[i], a_end[i], b_start.triangles[t])
        scatter_min(best, least, i, time, value)
    return best


def _first_triangles(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> tuple[Floats, Ints]:
    """First times (n,) at which spheres touch the mesh, and the triangles (n,); inf and -1 for never.

    An overlap at the start has its separation, at most 0, instead of a time, so that the deepest pair wins.
    """
    first, earliest = np.full(a0.shape, -1), np.full(a0.shape, np.inf)
    for i, t in mesh.box_triangle_pairs(a0.aabb().merged(a1.aabb())):
        time = entry_times_sphere_triangle(a0[i], a1[i], mesh.triangles[t], mesh.normals[t])
        time = np.where(np.isnan(time), np.inf, time)
        starts = np.flatnonzero(time == 0)
        time[starts] = separation_sphere_triangle(a0[i[starts]], mesh.triangles[t[starts]])
        scatter_min(first, earliest, i, t, time)
    return earliest, first


def _bounds(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> NodePairBounds:
    """Bounds of the minimum separation of moving spheres (n,) from parts of the mesh."""
    parts = mesh.parts
    both_sides = parts._replace(one_sided=False)
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
        low, _ = both_sides.bounds(Sphere.unchecked(nearest, largest[i]))(pairs)
        if parts.one_sided:
            # A center behind the triangles at both ends is behind them throughout.
            (low_start, high_start), (low_end, high_end) = (parts.bounds(a[i])(pairs) for a in (a0, a1))
            low = np.where(np.isinf(low_start) & np.isinf(low_end), np.inf, low)
            high = np.minimum(high, np.minimum(high_start, high_end))
        return low, high

    return bounds
