"""Two spheres in linear motion, radii included: when they touch.

With p the relative centre, v its change, r the sum of radii and s its change, the spheres touch where
|p + v t| = r + s t: the quadratic A t^2 + 2 B t + C with A = v.v - s s, B = p.v - r s, C = p.p - r r.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, dot, length
from .exact_arithmetic import difference, product
from .shapes import Sphere

_MARGIN = 1e-13
"""What a quick look may be wrong by, against the squares of a pair's size: such pairs get a long look."""
_FLOOR = 1e-270
"""Squares below this have lost digits to underflow."""
_EPS = np.finfo(np.float64).eps


def time_of_impact_sphere_sphere(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """First time in [0, 1] at which the spheres touch, (...); NaN for never. Exact up to float64 rounding.

    A quick look at the three dot products rejects pairs that recede, that do not reach each other before the
    end, or that are out of reach throughout; the rest is solved.
    """
    a0, a1, b0, b1 = (sphere.reshaped((-1,)) for sphere in (a_start, a_end, b_start, b_end))
    times = np.full(a0.shape, np.nan)
    for start in range(0, len(times), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        p0 = b0.center[rows] - a0.center[rows]
        p1 = b1.center[rows] - a1.center[rows]
        r0 = a0.radius[rows] + b0.radius[rows]
        r1 = a1.radius[rows] + b1.radius[rows]
        maybe = start + np.flatnonzero(_may_touch(p0, p1, r0, r1))
        if len(maybe):
            times[maybe] = _entry(a0[maybe], a1[maybe], b0[maybe], b1[maybe])
    return times.reshape(a_start.shape)


_Low: TypeAlias = Floats | float


def entry_time(
    p: Floats,
    v: Floats,
    r: Floats,
    s: Floats,
    p_low: _Low = 0.0,
    v_low: _Low = 0.0,
    r_low: _Low = 0.0,
    s_low: _Low = 0.0,
) -> Floats:
    """When |p + v t| first is r + s t, for motion that starts outside; (...), NaN where it never is.

    p, v : (..., 3); r, s : (...); with what each of them lost to rounding

    The textbook discriminant B B - A C cancels for fast shapes. Subtracting the path first, as a rejection,
    keeps the digits: it is A (rho^2 - q.q) with q and rho at the time of closest approach. That difference
    decides between a graze and a miss, and so takes in the digits that its products lose. Where the closest
    approach is not within twice the interval, as where radii change about as fast as centres move and A is
    rounding noise, nothing cancels in the textbook's.
    """
    a_term, b_term, c_term = dot(v, v) - s * s, dot(p, v) - r * s, dot(p, p) - r * r
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        nearest = -b_term / a_term
        path, path_low = product(nearest[..., None], v)
        q, q_low = difference(p, -path)
        q_low += path_low + p_low + nearest[..., None] * v_low
        growth, growth_low = product(nearest, s)
        rho, rho_low = difference(r, -growth)
        rho_low += growth_low + r_low + nearest * s_low
        slack, slack_low = product(rho, rho)
        slack_low += 2 * rho * rho_low
        squares, squares_low = product(q, q)
        for k in range(3):
            slack, lost = difference(slack, squares[..., k])
            slack_low += lost - squares_low[..., k] - 2 * q[..., k] * q_low[..., k]
        slack = slack + slack_low
        # `nearest` is rounded: the path ends a little before or after the closest approach.
        rounding = 16 * _EPS * _EPS * (dot(path, path) + growth * growth)
        slack = np.where((slack < 0) & (slack >= -rounding), 0.0, slack)
        within = (a_term > 0) & (nearest < 2)
        discriminant = np.where(within, a_term * slack, b_term * b_term - a_term * c_term)
        root = np.sqrt(discriminant)
        return np.where(b_term <= 0, c_term / (root - b_term), -(root + b_term) / a_term)


def closest_time_sphere_sphere(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """(3, ...) times among which the separation |p + v t| - (r + s t) is least: the ends, its minimum."""
    p, end = b_start.center - a_start.center, b_end.center - a_end.center
    r, r_end = a_start.radius + b_start.radius, a_end.radius + b_end.radius
    scale = unit_of_size(np.max([*np.abs([p, end]).max(axis=-1), r, r_end], axis=0))
    p, v, s = p / scale[..., None], (end - p) / scale[..., None], (r_end - r) / scale
    bottom = time_of_least(p, v, s)
    return np.stack([np.zeros_like(bottom), bottom, np.ones_like(bottom)])


def time_of_least(p: Floats, v: Floats, s: Floats) -> Floats:
    """The time in [0, 1] at which |p + v t| - s t is least, (...); 0 where that is at one of the ends."""
    speed_squared = dot(v, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = -dot(p, v) / speed_squared
        miss = length(p + nearest[..., None] * v)
        slack = speed_squared - s * s
        # Where growing outruns the motion the separation has no minimum inside: one of the ends.
        bottom = nearest + np.where(slack > 0, s * miss / np.sqrt(speed_squared * slack), 0)
    return np.where(np.isfinite(bottom), np.clip(bottom, 0, 1), 0)


def unit_of_size(size: Floats) -> Floats:
    """A power of two, which scales without a rounding, above each size; 2 for none."""
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1]))


def _may_touch(p0: Floats, p1: Floats, r0: Floats, r1: Floats) -> Bools:
    """Which pairs are not certain to stay apart. (n, 3) relative centres and (n,) radii at both ends."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        start, across, end = dot(p0, p0), dot(p0, p1), dot(p1, p1)
        noise = (start + end) * _MARGIN + _FLOOR
        s = r1 - r0
        recedes = across - start - r0 * s > noise
        approaches = end - across - r1 * s < -noise
        apart = (start > r0 * r0 + noise) & (end > r1 * r1 + noise)
        # Overflow leaves NaN or infinity, which fail these comparisons or are caught by the last one.
        return np.asarray(~(apart & (recedes | approaches) & (start + end < 1e300)))


def _entry(a0: Sphere, a1: Sphere, b0: Sphere, b1: Sphere) -> Floats:
    """First time of overlap of batches (n,), in units of their own size."""
    largest = [np.maximum(np.abs(sphere.center).max(axis=-1), sphere.radius) for sphere in (a0, a1, b0, b1)]
    scale = unit_of_size(np.max(largest, axis=0))[:, None]
    p, p_low = difference(b0.center / scale, a0.center / scale)
    end, end_low = difference(b1.center / scale, a1.center / scale)
    r, r_low = difference(a0.radius / scale[:, 0], -b0.radius / scale[:, 0])
    r_end, r_end_low = difference(a1.radius / scale[:, 0], -b1.radius / scale[:, 0])
    return entry_before_end(p, end, r, r_end, (p_low, end_low, r_low, r_end_low))


def entry_before_end(
    p: Floats,
    end: Floats,
    r: Floats,
    r_end: Floats,
    lows: tuple[_Low, _Low, _Low, _Low] = (0.0, 0.0, 0.0, 0.0),
) -> Floats:
    """First time in [0, 1] at which a vector that goes from `p` to `end` is at most r to r_end long; or NaN.

    p, end : (n, 3); r, r_end : (n,); all of about size 1, with what each of them lost to rounding
    """
    p_low, end_low, r_low, r_end_low = lows
    v, v_low = difference(end, p)
    v_low += end_low - p_low
    s, s_low = difference(r_end, r)
    s_low += r_end_low - r_low
    starts, ends = _overlap(p, r), _overlap(end, r_end)
    time = entry_time(p, v, r, s, p_low, v_low, r_low, s_low)
    # Apart at both ends, they meet only around a closest approach in between. The end samples decide about
    # the end, so that rounding cannot lose or invent a contact there.
    passes = (dot(p, v) < r * s) & (dot(end, v) > r_end * s) & (dot(v, v) > s * s)
    time = np.where((passes & ~np.isnan(time)) | ends, np.where(np.isfinite(time), time, 1.0), np.nan)
    return np.where(starts, 0.0, np.clip(time, 0, 1))


def _overlap(offset: Floats, reach: Floats) -> Bools:
    return np.asarray(dot(offset, offset) <= reach * reach)
