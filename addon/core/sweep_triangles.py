"""Spheres in linear motion, radii included, and triangles at rest: when they touch.

A sphere touches a triangle while its centre is within a radius of the face straight below it, of an edge or
of a corner. It reaches one of those seven first. The plane of a face is met as a line is crossed, the line
of an edge and a corner as spheres meet. What is met beside the face or beyond the ends of an edge does not
count, as another of the seven has been met before then.

Touches within rounding count, so that none is lost where two of the seven join. The distance of a triangle
is a convex function of time: there is one span of contact or none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, cross, dot, length, unit
from .closest_points import closest_on_triangle
from .errors import InvalidShapeError
from .separation_spheres import overlaps_sphere_triangle
from .shapes import Sphere, Triangle
from .sweep_boxes import BEFORE_END, span_between
from .sweep_spheres import entry_before_end, time_of_impact_sphere_sphere, time_of_least, unit_of_size

_ROUNDING = 16 * np.finfo(np.float64).eps
"""What a distance may be off by, against the size of a pair: a touch within this much is a touch."""


def time_of_impact_sphere_triangle(
    a_start: Sphere, a_end: Sphere, b_start: Triangle, b_end: Triangle
) -> Floats:
    """First time in [0, 1] at which the sphere touches a triangle at rest, (...); NaN for never.

    Exact up to float64 rounding. A one-sided triangle does not touch a sphere whose centre is behind it when
    the two meet; that this centre comes to the front later makes no difference. Raises InvalidShapeError for
    a triangle that moves.
    """
    require_at_rest(b_start, b_end)
    a0, a1, triangle = a_start.reshaped((-1,)), a_end.reshaped((-1,)), b_start.reshaped((-1,))
    return entry_times(a0, a1, triangle, triangle.normal).reshape(a_start.shape)


def overlap_span_sphere_triangle(
    a_start: Sphere, a_end: Sphere, b_start: Triangle, b_end: Triangle, clearance: float
) -> tuple[Floats, Floats]:
    """From when to when the sphere is within `clearance` of a triangle at rest, (...) each; NaN for never.

    Exact up to float64 rounding. Contact with a one-sided triangle ends where the centre passes behind it.
    Raises InvalidShapeError for a triangle that moves.
    """
    require_at_rest(b_start, b_end)
    a0, a1 = (sphere.padded(clearance).reshaped((-1,)) for sphere in (a_start, a_end))
    triangle = b_start.reshaped((-1,))
    enter, leave = overlap_spans(a0, a1, triangle, triangle.normal)
    return enter.reshape(a_start.shape), leave.reshape(a_start.shape)


def closest_time_sphere_triangle(
    a_start: Sphere, a_end: Sphere, b_start: Triangle, b_end: Triangle
) -> Floats:
    """(k, ...) times among which the separation is least, for a triangle at rest.

    Those of its seven parts: the ends, where the plane is crossed, the least of each edge and corner. Where
    the separation stays the same for a while, over the face or along an edge, when that begins.
    """
    require_at_rest(b_start, b_end)
    seen = _Seen.of(a_start, a_end, b_start)
    s = seen.r_end - seen.r
    lowest = [time_of_least(p, end - p, s) for p, end in zip(seen.p, seen.end, strict=True)]
    over = [np.zeros_like(s), np.ones_like(s), _crossing(seen.h, seen.h_end)]
    # A hair to either side of the plane, so that one of them is in front of it.
    over += [over[2] * (1 - _ROUNDING), np.minimum(over[2] * (1 + _ROUNDING), 1.0)]
    for k in range(3):
        across, across_end, along, along_end = seen.beside(k)
        lowest.append(time_of_least(across, across_end - across, s))
        over += [_crossing(along, along_end), _crossing(along - seen.lengths[k], along_end - seen.lengths[k])]
        inward = cross(seen.normal, seen.u[k])
        over.append(_crossing(dot(across, inward), dot(across_end, inward)))
    return np.stack([*over, *lowest])


def require_at_rest(start: Triangle, end: Triangle) -> None:
    """Raise InvalidShapeError for triangles that are not the same at both ends of an interval."""
    if start is end:
        return
    alike = start.one_sided == end.one_sided
    if not (alike and all(np.array_equal(getattr(start, k), getattr(end, k)) for k in "abc")):
        raise InvalidShapeError("triangles: only for those at rest; see the sphere from where they rest")


def entry_times(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> Floats:
    """Times of impact of flat batches (n,), given the normals of the triangles; NaN for never."""
    times = np.full(a0.shape, np.nan)
    for rows in _may_touch(a0, a1, triangle, normal):
        seen = _Seen.of(a0[rows], a1[rows], triangle[rows], normal[rows])
        time = seen.entry(a0[rows], a1[rows], triangle[rows])
        times[rows] = np.where(seen.from_front(time), time, np.nan) if triangle.one_sided else time
    return times


def overlap_spans(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> tuple[Floats, Floats]:
    """Spans of overlap of flat batches (n,), given the normals of the triangles; NaN for never."""
    enter, leave = np.full(a0.shape, np.nan), np.full(a0.shape, np.nan)
    for rows in _may_touch(a0, a1, triangle, normal):
        first, last, part = a0[rows], a1[rows], triangle[rows]
        seen, back = _Seen.of(first, last, part, normal[rows]), _Seen.of(last, first, part, normal[rows])
        begin, end = span_between(seen.entry(first, last, part), back.entry(last, first, part))
        if triangle.one_sided:
            front = seen.from_front(begin)
            passes = (seen.h >= 0) & (seen.h_end < 0)
            behind = np.where(passes, np.minimum(_crossing(seen.h, seen.h_end), BEFORE_END), 1.0)
            end = np.maximum(np.minimum(end, behind), begin)
            begin, end = np.where(front, begin, np.nan), np.where(front, end, np.nan)
        enter[rows], leave[rows] = begin, end
    return enter, leave


class _Seen(NamedTuple):
    """Spheres as their triangles see them, (...) of about size 1: `p` to `end` from each of the corners.

    p, end : (3, ..., 3); u : (3, ..., 3) directions of the edges that begin there, `lengths` (3, ...) long
    r, r_end, h, h_end : (...) radii, and signed heights of the centres above the plane
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

    @classmethod
    def of(cls, a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats | None = None) -> _Seen:
        normal = triangle.normal if normal is None else normal
        corners = np.stack([triangle.a, triangle.b, triangle.c])
        p, end, sides = a0.center - corners, a1.center - corners, corners[[1, 2, 0]] - corners
        extent = np.maximum(np.maximum(np.abs(p), np.abs(end)), np.abs(sides)).max(axis=(0, -1))
        scale = unit_of_size(np.maximum(np.maximum(a0.radius, a1.radius), extent))
        p, end, sides = p / scale[..., None], end / scale[..., None], sides / scale[..., None]
        h, h_end = dot(p[0], normal), dot(end[0], normal)
        return cls(p, end, unit(sides), length(sides), normal, a0.radius / scale, a1.radius / scale, h, h_end)

    def beside(self, k: int | slice) -> tuple[Floats, Floats, Floats, Floats]:
        """Of edge `k`: from its line to the centre at both ends (..., 3), and how far along it (...)."""
        p, end, u = self.p[k], self.end[k], self.u[k]
        along, along_end = dot(p, u), dot(end, u)
        return p - along[..., None] * u, end - along_end[..., None] * u, along, along_end

    def entry(self, a0: Sphere, a1: Sphere, triangle: Triangle) -> Floats:
        """First time of overlap of a flat batch (n,), whatever the side; NaN for never."""
        corners = Sphere.trusted(np.stack([triangle.a, triangle.b, triangle.c]), np.zeros((3, *a0.shape)))
        first, last = (sphere.broadcast_to(corners.shape) for sphere in (a0, a1))
        at_corners = time_of_impact_sphere_sphere(first, last, corners, corners)
        times = [*at_corners, *self._edges(), self._face()]
        two_sided = Triangle.trusted(triangle.a, triangle.b, triangle.c)
        starts, ends = (overlaps_sphere_triangle(sphere, two_sided) for sphere in (a0, a1))
        # The samples decide about the ends, so that rounding cannot lose a contact there.
        time = np.fmin.reduce([*times, np.where(ends, 1.0, np.nan)])
        # Apart at the start, so later than that.
        return np.where(starts, 0.0, np.maximum(time, np.finfo(np.float64).tiny))

    def _edges(self) -> Floats:
        """(3, n) when the line of an edge is reached, between its ends."""
        across, across_end, along, along_end = self.beside(slice(None))
        reach, reach_end = (np.broadcast_to(r + _ROUNDING, along.shape) for r in (self.r, self.r_end))
        time = entry_before_end(across, across_end, reach, reach_end)
        place = along * (1 - time) + along_end * time
        return np.where((place >= -_ROUNDING) & (place <= self.lengths + _ROUNDING), time, np.nan)

    def _face(self) -> Floats:
        """(n,) when the plane is reached, at the triangle."""
        side = np.where(self.h < 0, -1.0, 1.0)
        gap, gap_end = side * self.h - self.r, side * self.h_end - self.r_end
        time = np.where(gap_end <= _ROUNDING, _crossing(np.maximum(gap, 0.0), gap_end), np.nan)
        time = np.where(gap <= _ROUNDING, 0.0, time)
        rows = np.flatnonzero(~np.isnan(time))
        t = time[rows]
        center = self.p[0, rows] * (1 - t)[:, None] + self.end[0, rows] * t[:, None]
        first, last = (self.lengths[k, rows, None] * self.u[k, rows] for k in (0, 2))
        nearest = closest_on_triangle(center, Triangle.trusted(np.zeros_like(first), first, -last))
        reach = self.r[rows] * (1 - t) + self.r_end[rows] * t
        time[rows[~(length(nearest - center) <= reach + _ROUNDING)]] = np.nan
        return time

    def from_front(self, time: Floats) -> Bools:
        """(n,) whether the centre is in front at `time`, or on the plane and not from behind."""
        height = self.h * (1 - time) + self.h_end * time
        front = np.where(self.h >= 0, height >= -_ROUNDING, height > _ROUNDING)
        return np.where(time == 0, self.h >= 0, front)


def _may_touch(a0: Sphere, a1: Sphere, triangle: Triangle, normal: Floats) -> list[Ints]:
    """Rows of flat batches (n,) that do not stay on one side of the plane throughout, a chunk at a time."""
    found = []
    for start in range(0, len(a0.radius), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        p, end, n = a0.center[rows] - triangle.a[rows], a1.center[rows] - triangle.a[rows], normal[rows]
        h, h_end, r, r_end = dot(p, n), dot(end, n), a0.radius[rows], a1.radius[rows]
        slack = 2 * _ROUNDING * (np.abs(p).max(axis=-1) + np.abs(end).max(axis=-1))
        apart = np.minimum(h - r, h_end - r_end) > slack
        apart |= np.minimum(-h - r, -h_end - r_end) > slack
        near = np.flatnonzero(~apart)
        if len(near):
            found.append(start + near)
    return found


def _crossing(start: Floats, end: Floats) -> Floats:
    """When a line from `start` to `end` crosses 0, clipped to [0, 1]; 0 if it is level."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        time = start / (start - end)
    return np.where(np.isnan(time), 0.0, np.clip(time, 0.0, 1.0))
