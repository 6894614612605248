"""Spheres in linear motion, radii included, and triangles at rest: when they touch.

A sphere touches a triangle while its centre is within a radius of the face straight below it, of an edge or
of a corner. It reaches one of those seven first. The plane of a face is met as a line is crossed, the line
of an edge and a corner as spheres meet. What is met beside the face or beyond the ends of an edge does not
count, as another of the seven has been met before then.

Touches within rounding count, so that none is lost where two of the seven join. The distance of a triangle
is a convex function of time, and the centre is in front of it for one span: there is one span of contact or
none, of one-sided triangles too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, cross, dot, length, unit
from .closest_points import closest_on_triangle
from .errors import InvalidShapeError
from .interpolation import at
from .separation_spheres import overlaps_sphere_triangle, separation_sphere_triangle
from .shapes import Sphere, Triangle
from .sweep_spheres import entry_before_end, time_of_impact_sphere_sphere, time_of_least, unit_of_size

_ROUNDING = 16 * np.finfo(np.float64).eps
"""What a distance may be off by, against the size of a pair: a touch within this much is a touch."""

CLOSEST_AT_ONCE = CHUNK_ROWS // 8
"""Pairs of which each has twenty times to choose from."""


def time_of_impact_sphere_triangle(
    a_start: Sphere, a_end: Sphere, b_start: Triangle, b_end: Triangle
) -> Floats:
    """First time in [0, 1] at which the sphere touches a triangle at rest, (...); NaN for never.

    Exact up to float64 rounding. A one-sided triangle is touched only while the centre is not behind it: a
    sphere that comes through from behind touches when its centre does. Raises InvalidShapeError for a
    triangle that moves.
    """
    _require_at_rest(b_start, b_end)
    a0, a1, triangle = a_start.reshaped((-1,)), a_end.reshaped((-1,)), b_start.reshaped((-1,))
    return entry_times(a0, a1, triangle, triangle.normal).reshape(a_start.shape)


def closest_time_sphere_triangle(
    a_start: Sphere, a_end: Sphere, b_start: Triangle, b_end: Triangle
) -> Floats:
    """The first time in [0, 1] at which the separation from a triangle at rest is least, (...).

    Exact up to float64 rounding. 0 for a sphere that stays behind a one-sided triangle. Raises
    InvalidShapeError for a triangle that moves.
    """
    _require_at_rest(b_start, b_end)
    a0, a1, triangle = a_start.reshaped((-1,)), a_end.reshaped((-1,)), b_start.reshaped((-1,))
    times = np.empty(a0.shape)
    for start in range(0, len(times), CLOSEST_AT_ONCE):
        rows = slice(start, start + CLOSEST_AT_ONCE)
        times[rows] = least_separation(a0[rows], a1[rows], triangle[rows])[0]
    return times.reshape(a_start.shape)


def least_separation(a0: Sphere, a1: Sphere, triangle: Triangle) -> tuple[Floats, Floats]:
    """When the separation of flat batches (n,) is first least, and how much that is."""
    seen = _Seen.of(a0, a1, triangle, triangle.normal)
    times = np.sort(_least_times(seen, triangle.one_sided), axis=0)
    values = separation_sphere_triangle(at(a0, a1, times), triangle)
    lowest = values.argmin(axis=0)[None]
    return np.take_along_axis(times, lowest, axis=0)[0], np.take_along_axis(values, lowest, axis=0)[0]


def entry_times(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> Floats:
    """Times of impact of flat batches (n,), given the normals of the triangles; NaN for never."""
    times = np.full(a0.shape, np.nan)
    for rows in _may_touch(a0, a1, triangle, normal):
        times[rows] = _entry(a0[rows], a1[rows], triangle[rows], normal[rows])
    return times


def _require_at_rest(start: Triangle, end: Triangle) -> None:
    alike = start.one_sided == end.one_sided
    if not (alike and all(np.array_equal(getattr(start, k), getattr(end, k)) for k in "abc")):
        raise InvalidShapeError("triangles: the two samples differ; hold them still and move the other shape")


def _may_touch(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> list[Ints]:
    """Rows of flat batches (n,) that do not stay on one side of the plane throughout, a chunk at a time."""
    found = []
    for start in range(0, len(a0.radius), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        corner, n = triangle.a[rows], normal[rows]
        p, end, r, r_end = (
            a0.center[rows] - corner,
            a1.center[rows] - corner,
            a0.radius[rows],
            a1.radius[rows],
        )
        h, h_end = dot(p, n), dot(end, n)
        # The normal of a thin triangle is off: the other corners need not be at the height of the first.
        others = dot(triangle.b[rows] - corner, n), dot(triangle.c[rows] - corner, n)
        top, bottom = np.maximum(np.maximum(*others), 0), np.minimum(np.minimum(*others), 0)
        slack = 2 * _ROUNDING * (np.abs(p).max(axis=-1) + np.abs(end).max(axis=-1))
        apart = np.minimum(h - r, h_end - r_end) > top + slack
        apart |= np.maximum(h + r, h_end + r_end) < bottom - slack
        if triangle.one_sided:
            apart |= np.maximum(h, h_end) < -slack
        near = np.flatnonzero(~apart)
        if len(near):
            found.append(start + near)
    return found


def _entry(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> Floats:
    """Times of impact of flat batches (n,)."""
    seen = _Seen.of(a0, a1, triangle, normal)
    corners = Sphere.trusted(np.stack([triangle.a, triangle.b, triangle.c]), np.zeros((3, *a0.shape)))
    first, last = (sphere.broadcast_to(corners.shape) for sphere in (a0, a1))
    at_corners = time_of_impact_sphere_sphere(first, last, corners, corners)
    time = np.fmin.reduce([*at_corners, *seen.at_edges(), seen.at_face()])
    if triangle.one_sided:
        time = seen.in_front(time)
    # The samples decide about the ends, so that rounding cannot lose a contact there.
    starts, ends = (overlaps_sphere_triangle(sphere, triangle) for sphere in (a0, a1))
    time = np.fmin(time, np.where(ends, 1.0, np.nan))
    # Apart at the start, so later than that.
    return np.where(starts, 0.0, np.maximum(time, np.finfo(np.float64).tiny))


class _Seen(NamedTuple):
    """Spheres as their triangles see them, (...) of about size 1: `p` to `end` from each of the corners.

    p, end : (3, ..., 3); u : (3, ..., 3) directions of the edges that begin there, `lengths` (3, ...) long
    r, r_end, h, h_end : (...) radii, and signed heights of the centres above the plane
    hair : (...) in how much time the height changes by what rounding may hide
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
    hair: Floats

    @classmethod
    def of(cls, a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> _Seen:
        corners = np.stack([triangle.a, triangle.b, triangle.c])
        p, end, sides = a0.center - corners, a1.center - corners, corners[[1, 2, 0]] - corners
        extent = np.maximum(np.maximum(np.abs(p), np.abs(end)), np.abs(sides)).max(axis=(0, -1))
        scale = unit_of_size(np.maximum(np.maximum(a0.radius, a1.radius), extent))
        p, end, sides = p / scale[..., None], end / scale[..., None], sides / scale[..., None]
        h, h_end = dot(p[0], normal), dot(end[0], normal)
        r, r_end = a0.radius / scale, a1.radius / scale
        largest = np.max([np.abs(x).max(axis=-1) for x in (a0.center, a1.center, triangle.a)], axis=0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            hair = _ROUNDING * (1 + largest / scale) / np.abs(h_end - h)
        hair = np.where(np.isnan(hair), 0.0, hair)
        return cls(p, end, unit(sides), length(sides), normal, r, r_end, h, h_end, hair)

    def beside(self, k: int | slice) -> tuple[Floats, Floats, Floats, Floats]:
        """Of edge `k`: from its line to the centre at both ends (..., 3), and how far along it (...)."""
        p, end, u = self.p[k], self.end[k], self.u[k]
        along, along_end = dot(p, u), dot(end, u)
        return p - along[..., None] * u, end - along_end[..., None] * u, along, along_end

    def at_edges(self) -> Floats:
        """(3, n) when the line of an edge is reached, between its ends."""
        across, across_end, along, along_end = self.beside(slice(None))
        reach, reach_end = (np.broadcast_to(r + _ROUNDING, along.shape) for r in (self.r, self.r_end))
        time = entry_before_end(across, across_end, reach, reach_end)
        place = along * (1 - time) + along_end * time
        return np.where((place >= -_ROUNDING) & (place <= self.lengths + _ROUNDING), time, np.nan)

    def at_face(self) -> Floats:
        """(n,) when the plane is reached, at the triangle."""
        time = _reached(self.h, self.h_end, self.r, self.r_end)
        rows = np.flatnonzero(~np.isnan(time))
        time[rows] = _reached(*self._heights(rows, time[rows]), self.r[rows], self.r_end[rows])
        rows = rows[~np.isnan(time[rows])]
        time[rows[~self._touches(rows, time[rows])]] = np.nan
        return time

    def in_front(self, time: Floats) -> Floats:
        """(n,) times of impact when only contacts count in which the centre is not behind."""
        rows = np.flatnonzero(~np.isnan(time))
        entry, behind = time[rows], self.h[rows] < 0
        # One that comes from behind touches when its centre is through, if it still does then.
        through = np.where(behind, _crossing(self.h[rows], self.h_end[rows]), 0.0)
        h, h_end = self._heights(rows, np.maximum(entry, through))
        through = np.where(behind, _crossing(h, h_end), 0.0)
        later = np.maximum(entry, through)
        touches = (through <= entry) | self._touches(rows, later)
        touches &= h * (1 - later) + h_end * later >= -_ROUNDING
        # By a hair more, so as not to be behind by rounding.
        later = np.where(
            through < entry, entry, np.minimum(through + np.where(behind, self.hair[rows], 0.0), 1.0)
        )
        time[rows] = np.where(touches, later, np.nan)
        return time

    def _heights(self, rows: Ints, time: Floats) -> tuple[Floats, Floats]:
        """(k,) like `h` and `h_end`, but above the point that is nearest at `time` (k,).

        The normal of a thin triangle is off, and so are heights above a corner far away.
        """
        nearest, _ = self._nearest(rows, time)
        h, h_end = (dot(p[0, rows] - nearest, self.normal[rows]) for p in (self.p, self.end))
        return h, h_end

    def _touches(self, rows: Ints, time: Floats) -> Bools:
        """(k,) whether spheres at `rows` touch at `time` (k,), within rounding."""
        nearest, center = self._nearest(rows, time)
        reach = self.r[rows] * (1 - time) + self.r_end[rows] * time
        return np.asarray(length(nearest - center) <= reach + _ROUNDING)

    def _nearest(self, rows: Ints, time: Floats) -> tuple[Floats, Floats]:
        """(k, 3) the point of the triangle that is nearest at `time` (k,), and the centre."""
        center = self.p[0, rows] * (1 - time)[:, None] + self.end[0, rows] * time[:, None]
        first, last = (self.lengths[k, rows, None] * self.u[k, rows] for k in (0, 2))
        return closest_on_triangle(center, Triangle.trusted(np.zeros_like(first), first, -last)), center


def _reached(h: Floats, h_end: Floats, r: Floats, r_end: Floats) -> Floats:
    """When spheres at heights from `h` to `h_end` reach a plane, from whichever side; NaN for never."""
    side = np.where(h < 0, -1.0, 1.0)
    gap, gap_end = side * h - r, side * h_end - r_end
    time = np.where(gap_end <= _ROUNDING, _crossing(np.maximum(gap, 0.0), gap_end), np.nan)
    return np.where(gap <= _ROUNDING, 0.0, time)


def _least_times(seen: _Seen, one_sided: bool) -> Floats:
    """(k, n) times among which the separation is least.

    Those of the seven parts: the ends, where the plane is crossed, the least of each edge and corner. Where
    the separation stays the same for a while, over the face or along an edge, when that begins.
    """
    s = seen.r_end - seen.r
    lowest = [time_of_least(p, end - p, s) for p, end in zip(seen.p, seen.end, strict=True)]
    through = _crossing(seen.h, seen.h_end)
    # A hair before and after the plane, so that one of them is in front of it, whatever rounding says.
    about = [through - seen.hair, through + seen.hair] if one_sided else [through]
    over = [np.zeros_like(s), np.ones_like(s), *np.clip(about, 0, 1)]
    for k in range(3):
        across, across_end, along, along_end = seen.beside(k)
        lowest.append(time_of_least(across, across_end - across, s))
        over += [_crossing(along, along_end), _crossing(along - seen.lengths[k], along_end - seen.lengths[k])]
        inward = cross(seen.normal, seen.u[k])
        over.append(_crossing(dot(across, inward), dot(across_end, inward)))
    return np.stack([*over, *lowest])


def _crossing(start: Floats, end: Floats) -> Floats:
    """When a line from `start` to `end` crosses 0, clipped to [0, 1]; 0 if it is level."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        time = start / (start - end)
    return np.where(np.isnan(time), 0.0, np.clip(time, 0.0, 1.0))
