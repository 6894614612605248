"""Sweeps of spheres against triangles at rest, whose separation is a convex function of time.

The distance of a point from a triangle is convex, so it is convex in time along a straight path, and so is
the separation of a sphere whose radius changes linearly. Newton's method finds the first contact from before
it: a tangent is below a convex function, so no step goes past the contact. The least separation is where the
slope changes its sign. That is found by the ITP method, which brackets a root like bisection and approaches
it like the secant method (Oliveira and Takahashi 2020).

The center is in front of a one-sided triangle for one interval of time, to which the search is confined. So
there is one span of contact or none, for one-sided triangles too. Contact within rounding errors counts, so
that none is lost where two triangles join.
"""

from __future__ import annotations

import numpy as np

from ..distance.sphere import overlaps_sphere_triangle, separation_sphere_triangle
from ..numeric.arrays import CHUNK_ROWS, Floats, Table, dot, length, power_of_two_scale, unit_or_zero
from ..numeric.tolerances import EPS, GAP_ROUNDING
from ..shapes import Sphere, Triangle
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .interpolation import at

_NEWTON_STEPS = 64
"""A graze needs about 26, because each step halves the time that is left."""
_WIDTHS = 2.0 ** -np.arange(56)
"""Widths of the bracket of a root that are allowed after each step: those of bisection."""


def entry_times_sphere_triangle(a0: Sphere, a1: Sphere, triangle: Triangle) -> Floats:
    """Compute entry times of moving spheres into triangles. Exact up to float64 rounding.

    a0, a1 : Sphere, batch (n,). The spheres at times 0 and 1.
    triangle : Triangle, batch (n,). At rest.
    Returns time : (n,) float64. In [0, 1]; NaN for never.
    """
    times = np.empty(a0.shape)
    for start in range(0, len(times), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        pairs = _SpheresInMotion.of(a0[rows], a1[rows], triangle[rows])
        starts, ends = (overlaps_sphere_triangle(sphere[rows], triangle[rows]) for sphere in (a0, a1))
        # The samples decide about contact at the ends, so that rounding cannot lose one there.
        time = np.fmin(pairs.entry_times(), np.where(ends, 1.0, np.nan))
        times[rows] = np.where(starts, 0.0, np.maximum(time, np.finfo(np.float64).tiny))
    return times


def minimum_separation_sphere_triangle(
    a0: Sphere, a1: Sphere, triangle: Triangle, most: Floats | float = np.inf
) -> tuple[Floats, Floats]:
    """Find the minimum separation of moving spheres and triangles at rest. Exact up to float64 rounding.

    a0, a1 : Sphere, batch (n,). The spheres at times 0 and 1.
    triangle : Triangle, batch (n,)
    most : (n,) float64 or float. Minima above that need not be found: any separation above it is returned.
    Returns time : (n,) float64. First time of the minimum, in [0, 1]; 0 for a sphere that stays behind a
        one-sided triangle.
    Returns separation : (n,) float64
    """
    time = np.empty(a0.shape)
    for start in range(0, len(time), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        pairs = _SpheresInMotion.of(a0[rows], a1[rows], triangle[rows])
        time[rows] = pairs.closest_times(np.broadcast_to(most, time.shape)[rows] / pairs.scale)
    return time, separation_sphere_triangle(at(a0, a1, time), triangle)


class _SpheresInMotion(Table):
    """Motion of spheres (n,) relative to the first corners of their triangles, in units of each pair's size.

    center, path : (n, 3) float64. Centers at time 0, and their changes.
    radius, growth : (n,) float64. Radii at time 0, and their changes.
    corners : (n, 3, 3) float64. Of the triangles.
    through : (n,) float64. Times in [0, 1] at which centers pass the planes, if they do so faster than the
        radius changes; 0 otherwise.
    first, last : (n,) float64. Times between which centers are in front; NaN for never.
    reach : (n,) float64. Separations at the first times that are contact, by rounding.
    scale : (n,) float64. The units.
    """

    center: Floats
    path: Floats
    radius: Floats
    growth: Floats
    corners: Floats
    through: Floats
    first: Floats
    last: Floats
    reach: Floats
    scale: Floats

    @classmethod
    def of(cls, a0: Sphere, a1: Sphere, triangle: Triangle) -> _SpheresInMotion:
        """Return the motion of spheres (n,) and triangles (n,)."""
        points = np.stack([a0.center, a1.center, triangle.a, triangle.b, triangle.c], axis=1)
        relative = points - triangle.a[:, None]
        largest, extent = (np.abs(each).max(axis=(1, 2)) for each in (points, relative))
        scale = power_of_two_scale(np.maximum(extent, np.maximum(a0.radius, a1.radius)))
        relative /= scale[:, None, None]
        rounding = GAP_ROUNDING * np.maximum(largest / scale, 1.0)
        radius, growth = a0.radius / scale, (a1.radius - a0.radius) / scale
        height, end = (dot(relative[:, k], triangle.normal) for k in (0, 1))
        climb = np.abs(height - end)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            through = np.nan_to_num(np.clip(height / (height - end), 0.0, 1.0))
            # So much in front that rounding does not leave the center behind.
            slack = np.nan_to_num(rounding / climb)
        first, last = np.zeros(len(scale)), np.ones(len(scale))
        if triangle.one_sided:
            first = np.where(height < 0, np.where(end < 0, np.nan, np.minimum(through + slack, 1.0)), 0.0)
            last = np.where(end < 0, np.maximum(through - slack, 0.0), 1.0)
        return cls(
            relative[:, 0],
            relative[:, 1] - relative[:, 0],
            radius,
            growth,
            relative[:, 2:],
            np.where(climb > np.abs(growth), through, 0.0),
            first,
            last,
            np.where(first > 0, 2 * rounding, GAP_ROUNDING),
            scale,
        )

    def gaps(self, time: Floats) -> tuple[Floats, Floats]:
        """Separations (n,) at times (n,), and their slopes."""
        center = self.center + time[:, None] * self.path
        offset = center - closest_on_triangle(center, triangles_from_corners(self.corners))
        slope = dot(unit_or_zero(offset), self.path) - self.growth
        return length(offset) - (self.radius + time * self.growth), slope

    def entry_times(self) -> Floats:
        """First times (n,) of contact; NaN for never."""
        result, time = np.full(len(self.first), np.nan), self.first.copy()
        active = np.flatnonzero(~np.isnan(time))
        for _ in range(_NEWTON_STEPS):
            if not len(active):
                break
            pairs = self.take(active)
            gap, slope = pairs.gaps(time[active])
            touches = gap <= np.where(time[active] == pairs.first, pairs.reach, GAP_ROUNDING)
            result[active[touches]] = time[active[touches]]
            with np.errstate(divide="ignore", invalid="ignore"):
                time[active] -= gap / slope
            active = active[~touches & (slope < 0) & (time[active] <= pairs.last)]
        return result

    def closest_times(self, most: Floats) -> Floats:
        """First times (n,) of the minimum separation; 0 for spheres that are never in front.

        Any time for separations that are above the most (n,).
        """
        low, high = np.nan_to_num(self.first), np.where(np.isnan(self.first), 0.0, self.last)
        # Over a face the slope is zero up to rounding.
        level = GAP_ROUNDING * (length(self.path) + np.abs(self.growth))
        # Times, separations and slopes at both ends.
        ends = np.stack([[time, *self.gaps(time)] for time in (low, high)])
        ends[:, 2] += level
        ends[1, 0] = np.where(ends[0, 2] >= 0, low, high)
        ends[0, 0] = np.where(ends[1, 2] < 0, high, low)
        # Where a center passes the face, the slope changes its sign at once.
        distance = self.gaps(self.through)[0] + self.radius + self.through * self.growth
        is_on = (distance <= GAP_ROUNDING) & (self.through > ends[0, 0]) & (self.through < ends[1, 0])
        ends[:, 0, is_on] = self.through[is_on]
        for width in _WIDTHS:
            active = np.flatnonzero(ends[1, 0] - ends[0, 0] > GAP_ROUNDING)
            time, least = _next_times(ends[..., active], width)
            is_less = least <= most[active] + GAP_ROUNDING
            active, time = active[is_less], time[is_less]
            if not len(active):
                break
            gap, slope = self.take(active).gaps(time)
            slope += level[active]
            ends[(slope >= 0).astype(int), :, active] = np.stack([time, gap, slope], axis=1)
        return np.asarray(ends[1, 0])


def _next_times(ends: Floats, width: float) -> tuple[Floats, Floats]:
    """Choose times (n,) between both ends, so that these are no farther apart than `width` after some steps.

    ends : (2, 3, n) float64. Times, separations, and slopes, negative and not.
    Also returns lower bounds (n,) of the separation: where the tangents at both ends meet.
    """
    (low, gap, before), (high, gap_end, after) = ends
    size, middle = high - low, (low + high) / 2
    least = gap + before * (gap_end - gap - after * size) / (before - after)
    offset = low + size * before / (before - after) - middle
    # Beyond the secant, so that both ends move.
    beyond = np.minimum(np.abs(offset), size * size + 2 * EPS)
    most = np.maximum(width - size / 2, 0.0)
    return middle + np.clip(offset - np.copysign(beyond, offset), -most, most), least
