"""Sweep of two spheres in linear motion: the first root of a quadratic.

With p the relative center, v its change, r the sum of the radii and s its change, the spheres touch where |p
+ v t| = r + s t. That is the quadratic A t^2 + 2 B t + C = 0 with A = v.v - s s, B = p.v - r s and C = p.p -
r r (Ericson 2005). Its discriminant is evaluated with error-free transformations (Knuth, Dekker),
because it cancels for fast spheres.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, dot, length, power_of_two_scale
from ..numeric.floating_point import Exact, two_difference, two_product
from ..numeric.tolerances import EPS, SAME_DISTANCE
from ..shapes import Sphere

_UNDERFLOW_FLOOR = 1e-270
"""Squares below this have lost digits to underflow."""


def time_of_impact_sphere_sphere(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """First time in [0, 1] at which two moving spheres touch.

    Exact up to float64 rounding, grazes and misses included. Three dot products reject pairs that recede,
    that do not reach each other before the end, or that are out of reach throughout; only the other pairs are
    solved.

    a_start, a_end, b_start, b_end : Sphere, batch (...). Both spheres at times 0 and 1, in one batch shape.
    Returns time : (...) float64. NaN for never.
    """
    a0, a1, b0, b1 = (sphere.reshaped((-1,)) for sphere in (a_start, a_end, b_start, b_end))
    times = np.full(a0.shape, np.nan)
    for start in range(0, len(times), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        p0 = b0.center[rows] - a0.center[rows]
        p1 = b1.center[rows] - a1.center[rows]
        r0 = a0.radius[rows] + b0.radius[rows]
        r1 = a1.radius[rows] + b1.radius[rows]
        candidates = start + np.flatnonzero(_may_touch(p0, p1, r0, r1))
        if len(candidates):
            times[candidates] = _entry_times(a0[candidates], a1[candidates], b0[candidates], b1[candidates])
    return times.reshape(a_start.shape)


def quadratic_entry_time(position: Exact, velocity: Exact, reach: Exact, growth: Exact) -> Floats:
    """First time at which |p + v t| is r + s t, for motion that starts outside of the reach.

    The textbook discriminant B B - A C cancels for fast shapes. Subtracting the path first, as in a vector
    rejection, keeps the digits: it is A (rho^2 - q.q), with q and rho at the time of closest approach. That
    difference decides between a graze and a miss, so it includes the rounding errors of its products. If the
    closest approach is later than twice the interval, the textbook discriminant does not cancel and is used.
    That is the case where radii change about as fast as centers move, so that A is rounding noise.

    position, velocity : Exact, (..., 3). p and v.
    reach, growth : Exact, (...). r and s.
    Returns time : (...) float64. Not clipped to the interval; NaN for never.
    """
    p, v, r, s = (each.value for each in (position, velocity, reach, growth))
    a_term, b_term, c_term = dot(v, v) - s * s, dot(p, v) - r * s, dot(p, p) - r * r
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        nearest = np.asarray(-b_term / a_term)
        slack = _slack_at(nearest, position, velocity, reach, growth)
        is_near = (a_term > 0) & (nearest < 2)
        discriminant = np.where(is_near, a_term * slack, b_term * b_term - a_term * c_term)
        root = np.sqrt(discriminant)
        return np.where(b_term <= 0, c_term / (root - b_term), -(root + b_term) / a_term)


def _slack_at(time: Floats, position: Exact, velocity: Exact, reach: Exact, growth: Exact) -> Floats:
    """Compute (r + s t)^2 - |p + v t|^2 at the closest approach, to twice the digits of float64."""
    path, path_error = two_product(time[..., None], velocity.value)
    q, q_error = two_difference(position.value, -path)
    q_error += path_error + position.error + time[..., None] * velocity.error
    change, change_error = two_product(time, growth.value)
    rho, rho_error = two_difference(reach.value, -change)
    rho_error += change_error + reach.error + time * growth.error
    slack, slack_error = two_product(rho, rho)
    slack_error += 2 * rho * rho_error
    squares, squares_error = two_product(q, q)
    for k in range(3):
        slack, lost = two_difference(slack, squares[..., k])
        slack_error += lost - squares_error[..., k] - 2 * q[..., k] * q_error[..., k]
    slack = slack + slack_error
    # The time is rounded, so the path ends slightly before or after the closest approach.
    rounding = 16 * EPS * EPS * (dot(path, path) + change * change)
    return np.where((slack < 0) & (slack >= -rounding), 0.0, slack)


def closest_time_candidates_sphere_sphere(
    a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere
) -> Floats:
    """Candidate times (3, ...) of the minimum separation |p + v t| - (r + s t): ends and local minimum."""
    p, end, r, r_end, _ = relative_motion(a_start, a_end, b_start, b_end)
    minimum = time_of_minimum_gap(p, end - p, r_end - r)
    return np.stack([np.zeros_like(minimum), minimum, np.ones_like(minimum)])


def relative_motion(
    a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Relative centers (..., 3) and sums of radii (...) at both ends, in units (...) of each pair."""
    p, end = b_start.center - a_start.center, b_end.center - a_end.center
    r, r_end = a_start.radius + b_start.radius, a_end.radius + b_end.radius
    size = np.maximum(np.abs(p), np.abs(end)).max(axis=-1)
    unit = power_of_two_scale(np.maximum(size, np.maximum(r, r_end)))
    return p / unit[..., None], end / unit[..., None], r / unit, r_end / unit, unit


def time_of_minimum_gap(p: Floats, v: Floats, s: Floats) -> Floats:
    """Find the time in [0, 1] at which |p + v t| - s t is minimal. Exact up to float64 rounding.

    p, v : (..., 3) float64. Relative center at time 0, and its change.
    s : (...) float64. Change of the sum of the radii.
    Returns time : (...) float64. 0 without such a minimum before the end.
    """
    speed_squared = dot(v, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = -dot(p, v) / speed_squared
        miss = length(p + nearest[..., None] * v)
        slack = speed_squared - s * s
        # If the radii change as fast as the centers move, the separation is monotonic.
        minimum = np.where(slack > 0, nearest + s * miss / np.sqrt(speed_squared * slack), 0)
    return np.where(np.isfinite(minimum), np.clip(minimum, 0, 1), 0)


def _may_touch(p0: Floats, p1: Floats, r0: Floats, r1: Floats) -> Bools:
    """Return whether pairs may touch, (n,), from relative centers (n, 3) and radii (n,) at both ends."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        start, across, end = dot(p0, p0), dot(p0, p1), dot(p1, p1)
        noise = (start + end) * SAME_DISTANCE + _UNDERFLOW_FLOOR
        s = r1 - r0
        recedes = across - start - r0 * s > noise
        approaches = end - across - r1 * s < -noise
        is_disjoint = (start > r0 * r0 + noise) & (end > r1 * r1 + noise)
        # Overflow makes the noise infinite, and no pair disjoint.
        return np.asarray(~(is_disjoint & (recedes | approaches)))


def _entry_times(a0: Sphere, a1: Sphere, b0: Sphere, b1: Sphere) -> Floats:
    """First times of overlap (n,), solved in units of each pair's own size."""
    largest = [np.maximum(np.abs(sphere.center).max(axis=-1), sphere.radius) for sphere in (a0, a1, b0, b1)]
    scale = power_of_two_scale(np.max(largest, axis=0))
    start, end = (
        Exact(*two_difference(b.center / scale[:, None], a.center / scale[:, None]))
        for a, b in ((a0, b0), (a1, b1))
    )
    reach, reach_end = (
        Exact(*two_difference(a.radius / scale, -b.radius / scale)) for a, b in ((a0, b0), (a1, b1))
    )
    return entry_time_within_reach(start, end, reach, reach_end)


def entry_time_within_reach(start: Exact, end: Exact, reach: Exact, reach_end: Exact) -> Floats:
    """First time in [0, 1] at which a vector in linear motion is no longer than a linear reach.

    The ends decide exactly about contact at the ends: 0 if and only if |start| <= reach, and never NaN if
    |end| <= reach_end.

    start, end : Exact, (..., 3). The vector at times 0 and 1, of about size 1.
    reach, reach_end : Exact, (...). The reach at times 0 and 1.
    Returns time : (...) float64. NaN for never.
    """
    p, q, r, r_end = start.value, end.value, reach.value, reach_end.value
    v, v_error = two_difference(q, p)
    v_error += end.error - start.error
    s, s_error = two_difference(r_end, r)
    s_error += reach_end.error - reach.error
    starts, ends = _is_within(p, r), _is_within(q, r_end)
    time = quadratic_entry_time(start, Exact(v, v_error), reach, Exact(s, s_error))
    # A pair that is disjoint at both ends touches only around a closest approach in between. The end samples
    # decide about contact at the end, so that rounding can neither lose nor invent one.
    passes = (dot(p, v) < r * s) & (dot(q, v) > r_end * s) & (dot(v, v) > s * s)
    time = np.where((passes & ~np.isnan(time)) | ends, np.where(np.isfinite(time), time, 1.0), np.nan)
    return np.where(starts, 0.0, np.clip(time, 0, 1))


def _is_within(vector: Floats, reach: Floats) -> Bools:
    """Return whether vectors (..., 3) are no longer than the reach (...)."""
    return np.asarray(dot(vector, vector) <= reach * reach)
