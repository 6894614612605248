"""Sweeps in closed form: spheres by a quadratic, boxes along the axes by slabs and piecewise quadratics.

Of two spheres, with p the relative center, v its change, r the sum of the radii and s its change, the
spheres touch where |p + v t| = r + s t. That is the quadratic A t^2 + 2 B t + C = 0 with A = v.v - s s, B =
p.v - r s and C = p.p - r r (Ericson 2005). Its discriminant is evaluated with error-free transformations
(Knuth, Dekker), because it cancels for fast spheres.

Every face of a box moves linearly, so six gaps that are linear in time describe a pair: two for each axis,
at most one of which is positive. Boxes overlap while all six are <= 0: the intersection of one time interval
for each axis (slabs, Kay and Kajiya 1986). A sphere overlaps a box while its center is within a radius of
it: while the vector of the positive gaps is no longer than the radius (Ericson 2005). The same holds for two
boxes and a clearance. The length of that vector is a convex function of time.

Gap arrays have the six gaps first: (6, n), where i and i + 3 belong to one axis. All shapes of one call have
the same batch shape.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, dot, length, power_of_two_scale
from ..numeric.floating_point import Exact, two_difference, two_product
from ..numeric.tolerances import EPS, GAP_ROUNDING, SAME_DISTANCE, SUM_ROUNDING
from ..shapes import Aabb, Sphere

_CANDIDATES_CHUNK_PAIRS = 2048
"""Pairs evaluated together for their closest time: boxes have about fifty candidate times each."""

_UNDERFLOW_FLOOR = 1e-270
"""Squares below this have lost digits to underflow."""


def time_of_impact_sphere_sphere(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """First time in [0, 1] at which two moving spheres touch.

    Exact up to float64 rounding, grazes and misses included. Three dot products reject pairs that recede,
    that do not reach each other before the end, or that are out of reach throughout; only the other pairs are
    solved.

    a_start, a_end, b_start, b_end : Sphere, batch (n,). Both spheres at times 0 and 1.
    Returns time : (n,) float64. NaN for never.
    """
    times = np.full(a_start.shape, np.nan)
    for start in range(0, len(times), CHUNK_ROWS):
        rows = slice(start, start + CHUNK_ROWS)
        p0 = b_start.center[rows] - a_start.center[rows]
        p1 = b_end.center[rows] - a_end.center[rows]
        r0 = a_start.radius[rows] + b_start.radius[rows]
        r1 = a_end.radius[rows] + b_end.radius[rows]
        candidates = start + np.flatnonzero(_may_touch(p0, p1, r0, r1))
        if len(candidates):
            spheres = (each[candidates] for each in (a_start, a_end, b_start, b_end))
            times[candidates] = _entry_times(*spheres)
    return times


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


def closest_time_sphere_sphere(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """First time (n,) of the minimum separation. Exact up to float64 rounding."""
    p, end, r, r_end, _ = relative_motion(a_start, a_end, b_start, b_end)
    minimum = time_of_minimum_gap(p, end - p, r_end - r)
    times = np.stack([np.zeros_like(minimum), minimum, np.ones_like(minimum)])
    centers = p * (1 - times)[..., None] + end * times[..., None]
    separations = length(centers) - (r * (1 - times) + r_end * times)
    return np.asarray(np.take_along_axis(times, separations.argmin(axis=0)[None], axis=0)[0])


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
    """First times of overlap (n,), solved in units of each pair's own size; NaN for never.

    The ends decide exactly about contact at the ends: 0 if and only if the spheres overlap at the start, and
    never NaN if they do at the end.
    """
    largest = [np.maximum(np.abs(sphere.center).max(axis=-1), sphere.radius) for sphere in (a0, a1, b0, b1)]
    scale = power_of_two_scale(np.max(largest, axis=0))
    start, end = (
        Exact(*two_difference(b.center / scale[:, None], a.center / scale[:, None]))
        for a, b in ((a0, b0), (a1, b1))
    )
    reach, reach_end = (
        Exact(*two_difference(a.radius / scale, -b.radius / scale)) for a, b in ((a0, b0), (a1, b1))
    )
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


LAST_TIME_BEFORE_END = np.nextafter(1.0, 0.0)
"""Largest float64 below 1."""


def overlap_span_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> tuple[Floats, Floats]:
    """First and last time of contact of two moving boxes, exact up to float64 rounding.

    a_start, a_end, b_start, b_end : Aabb, batch (...). Both boxes at times 0 and 1.
    Returns enter, leave : (...) float64. The latest time at which a gap closes and the earliest at which
        one opens; both NaN for never.
    """
    g0, g1 = box_gaps(a_start, b_start), box_gaps(a_end, b_end)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = g0 / (g0 - g1)
    enter = np.where(g0 > 0, crossing, 0.0).max(axis=0)
    # A gap that is open at both ends is never closed.
    leave = np.where(g1 > 0, np.where(g0 > 0, -np.inf, np.minimum(crossing, LAST_TIME_BEFORE_END)), 1.0).min(
        axis=0
    )
    missed = enter > leave
    return np.where(missed, np.nan, enter), np.where(missed, np.nan, leave)


def time_of_impact_sphere_aabb(a_start: Sphere, a_end: Sphere, b_start: Aabb, b_end: Aabb) -> Floats:
    """First time in [0, 1] at which a moving sphere touches a moving box.

    Exact up to float64 rounding: the squared distance of the center is a piecewise quadratic in time.

    a_start, a_end : Sphere, batch (n,). The sphere at times 0 and 1.
    b_start, b_end : Aabb, batch (n,). The box at times 0 and 1.
    Returns time : (n,) float64. NaN for never.
    """
    centers = (Aabb.unchecked(each.center, each.center) for each in (a_start, a_end))
    g0, g1 = map(box_gaps, centers, (b_start, b_end))
    return gap_entry_time(g0, g1, a_start.radius, a_end.radius)


def time_within_clearance_aabb_aabb(
    a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb, clearance: Floats | float
) -> Floats:
    """First time in [0, 1] at which two boxes are within a clearance. Exact up to float64 rounding.

    a_start, a_end, b_start, b_end : Aabb, batch (n,). Both boxes at times 0 and 1.
    clearance : (n,) float64 or float. Euclidean distance, in the unit of the boxes.
    Returns time : (n,) float64. NaN for never.
    """
    if not np.any(clearance):
        return overlap_span_aabb_aabb(a_start, a_end, b_start, b_end)[0]
    reach = np.full(a_start.shape, clearance)
    return gap_entry_time(box_gaps(a_start, b_start), box_gaps(a_end, b_end), reach, reach)


def closest_time_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """First time (n,) of the minimum separation. Exact up to float64 rounding.

    Gaps are the larger one of two lines, and the separation is a convex function of them that never falls
    where a gap grows. So it is convex in time: if it does not fall at the begin, or falls until the end, the
    minimum is there.
    """
    g0, g1 = box_gaps(a_start, b_start), box_gaps(a_end, b_end)
    # So that no product overflows or underflows.
    scale = power_of_two_scale(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0))
    gaps = np.stack([g0, g1], axis=1) / scale
    slope = gaps[:, ::-1] - gaps
    # Numbers (2, n) of the sign of the separation's slope at each end, seen from that end.
    largest, apart = gaps.max(axis=0), (np.maximum(gaps, 0) * slope).sum(axis=0)
    growth = np.where(largest > 0, apart, np.where(gaps == largest, slope, -np.inf).max(axis=0))
    time = np.where(growth[0] >= 0, 0.0, np.where(growth[1] > 0, 1.0, np.nan))
    left = np.flatnonzero(np.isnan(time))
    for begin in range(0, len(left), _CANDIDATES_CHUNK_PAIRS):
        rows = left[begin : begin + _CANDIDATES_CHUNK_PAIRS]
        time[rows] = _least_of_candidates(gaps[:, 0, rows], gaps[:, 1, rows])
    return time


def _least_of_candidates(g0: Floats, g1: Floats) -> Floats:
    """First time (n,) of the minimum separation of gaps (6, n) of about size 1 at both ends.

    The interval is cut where one of the gaps changes sign or two gaps are equal. In each piece the separation
    is a line (overlapping boxes: minimal at the ends) or the root of a parabola (disjoint: minimal at its
    vertex).
    """
    slope, no_reach = g1 - g0, np.zeros(g0.shape[1])
    i, j = np.triu_indices(6, 1)
    edges = _cuts_at_zeros(np.concatenate([g0, g0[i] - g0[j]]), np.concatenate([slope, slope[i] - slope[j]]))
    vertices = _vertex_times(edges, g0, slope, no_reach, no_reach)
    times = np.sort(np.concatenate([edges, vertices]), axis=0)
    gaps = g0[:, None] * (1 - times) + g1[:, None] * times
    largest, positive = gaps.max(axis=0), np.maximum(gaps, 0)
    separations = np.where(largest > 0, np.sqrt((positive * positive).sum(axis=0)), largest)
    # Of times at which it is equal, the first, whatever they were rounded to.
    first = (separations <= separations.min(axis=0) + SUM_ROUNDING).argmax(axis=0)
    return np.asarray(np.take_along_axis(times, first[None], axis=0)[0])


def box_gaps(a: Aabb, b: Aabb) -> Floats:
    """Signed gaps (6, ...) between the faces of two boxes."""
    return np.moveaxis(np.concatenate([a.min - b.max, b.min - a.max], axis=-1), -1, 0)


def gap_entry_time(g0: Floats, g1: Floats, r0: Floats, r1: Floats) -> Floats:
    """First time in [0, 1] at which the vector of the positive gaps is no longer than the reach.

    Between two times at which a gap changes sign the condition is one quadratic. Evaluating those times, and
    the minimum of each quadratic between them, brackets the first entry in a single piece. Exact up to
    float64 rounding.

    g0, g1 : (6, n) float64. Gaps at times 0 and 1.
    r0, r1 : (n,) float64. The reach at times 0 and 1.
    Returns time : (n,) float64. NaN for never.
    """
    times = np.full(len(r0), np.nan)
    # Scaled so that no square overflows or underflows.
    scale = power_of_two_scale(np.maximum(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0), np.maximum(r0, r1)))
    g0, g1, r0, r1 = g0 / scale, g1 / scale, r0 / scale, r1 / scale
    # A gap that stays larger than the reach separates the pair throughout. This rejects most pairs.
    reach = np.maximum(r0, r1)
    rows = np.flatnonzero(((g0 <= reach) | (g1 <= reach)).all(axis=0))
    if len(rows):
        times[rows] = _solve_pieces(g0[:, rows], g1[:, rows], r0[rows], r1[rows])
    return times


def _solve_pieces(g0: Floats, g1: Floats, r0: Floats, r1: Floats) -> Floats:
    """First times (n,) within reach, from gaps (6, n) and reaches (n,) of about size 1; NaN for never."""
    slope, growth = g1 - g0, r1 - r0
    samples = np.empty((15, len(r0)))
    samples[0::2] = _cuts_at_zeros(g0, slope)
    samples[1::2] = _vertex_times(samples[0::2], g0, slope, r0, growth)
    inside = np.stack([_is_within_reach(g0, g1, r0, r1, t) for t in samples])
    first = inside.argmax(axis=0)
    hit = np.flatnonzero(inside.any(axis=0))
    time = np.full(len(r0), np.nan)
    time[hit[first[hit] == 0]] = 0.0
    hit = hit[first[hit] > 0]
    if not len(hit):
        return time
    # The entry is in one piece, between the last sample outside and the first inside: solve it from the
    # former.
    before, after = samples[first[hit] - 1, hit], samples[first[hit], hit]
    at_before = g0[:, hit] * (1 - before) + g1[:, hit] * before
    active = g0[:, hit] * (2 - before - after) + g1[:, hit] * (before + after) > 0
    p = np.where(active, at_before, 0)
    v = np.where(active, slope[:, hit], 0)
    p, v = (p[:3] + p[3:]).T, (v[:3] + v[3:]).T
    reach = r0[hit] + growth[hit] * before
    local = quadratic_entry_time(Exact(p), Exact(v), Exact(reach), Exact(growth[hit]))
    # Not 0, because these pairs are disjoint at the start.
    before = np.maximum(before, np.finfo(np.float64).tiny)
    time[hit] = np.where(np.isnan(local), after, np.clip(before + local, before, after))
    return time


def _is_within_reach(g0: Floats, g1: Floats, r0: Floats, r1: Floats, t: Floats) -> Bools:
    """Return whether gaps (6, n) are within reach at times (n,); exact at the ends of the interval."""
    gaps = np.maximum(g0 * (1 - t) + g1 * t, 0)
    distance = np.sqrt((gaps * gaps).sum(axis=0))
    # Between the ends the gaps are rounded, relative to the size of the pair.
    slack = np.where((t == 0) | (t == 1), 0.0, GAP_ROUNDING)
    return np.asarray(distance <= r0 * (1 - t) + r1 * t + slack)


def _vertex_times(edges: Floats, g0: Floats, slope: Floats, r0: Floats, growth: Floats) -> Floats:
    """Vertex times (k - 1, ...): the minimum of the quadratic in each piece between `edges` (k, ...)."""
    low, high = edges[:-1], edges[1:]
    middle = (low + high) / 2
    # At most one of the two gaps of an axis is positive, so the sum has one line for each axis.
    positive = g0[:, None] + slope[:, None] * middle > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        steepness = (positive * (slope**2)[:, None]).sum(axis=0) - growth**2
        vertex = (r0 * growth - (positive * (g0 * slope)[:, None]).sum(axis=0)) / steepness
    vertex = np.where(np.isfinite(vertex) & (steepness > 0), vertex, low)
    return np.clip(vertex, low, high)


def _cuts_at_zeros(start: Floats, slope: Floats) -> Floats:
    """Return times (k + 2, ...) in [0, 1]: the ends, and zeros of the lines start + slope t (k, ...)."""
    zeros = np.divide(-start, slope, out=np.zeros_like(start), where=slope != 0)
    ends = np.zeros_like(start[:1])
    return np.sort(np.clip(np.concatenate([ends, zeros, ends + 1]), 0, 1), axis=0)
