"""Sweeps of axis-aligned boxes, with each other by slabs, with spheres by piecewise quadratics.

Every face moves linearly, so six gaps that are linear in time describe a pair: two for each axis, at most one
of which is positive. Boxes overlap while all six are <= 0: the intersection of one time interval for each
axis (slabs, Kay and Kajiya 1986). A sphere overlaps a box while its center is within a radius of it: while
the vector of the positive gaps is no longer than the radius (Ericson 2005). The same holds for two
boxes and a clearance. The length of that vector is a convex function of time.

Gap arrays have the six gaps first: (6, ...), where i and i + 3 belong to one axis. All shapes of one call
have the same batch shape.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..numeric.arrays import Bools, Floats, power_of_two_scale
from ..numeric.floating_point import Exact
from ..numeric.tolerances import GAP_ROUNDING
from ..shapes import Aabb, Sphere
from .sphere_sphere import quadratic_entry_time

LAST_TIME_BEFORE_END = np.nextafter(1.0, 0.0)
"""Largest float64 below 1."""


def time_of_impact_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """First time in [0, 1] at which two moving boxes touch. Exact up to float64 rounding.

    a_start, a_end, b_start, b_end : Aabb, batch (...). Both boxes at times 0 and 1, in one batch shape.
    Returns time : (...) float64. NaN for never.
    """
    return overlap_span_aabb_aabb(a_start, a_end, b_start, b_end)[0]


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

    a_start, a_end : Sphere, batch (...). The sphere at times 0 and 1.
    b_start, b_end : Aabb, batch (...). The box at times 0 and 1.
    Returns time : (...) float64. NaN for never.
    """
    return gap_entry_time(
        point_gaps(a_start.center, b_start), point_gaps(a_end.center, b_end), a_start.radius, a_end.radius
    )


def time_within_clearance_aabb_aabb(
    a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb, clearance: Floats | float
) -> Floats:
    """First time in [0, 1] at which two boxes are within a clearance. Exact up to float64 rounding.

    a_start, a_end, b_start, b_end : Aabb, batch (...). Both boxes at times 0 and 1, in one batch shape.
    clearance : (...) float64 or float. Euclidean distance, in the unit of the boxes.
    Returns time : (...) float64. NaN for never.
    """
    reach = np.full(a_start.shape, clearance)
    return gap_entry_time(box_gaps(a_start, b_start), box_gaps(a_end, b_end), reach, reach)


def closest_time_candidates_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """Candidate times (k, ...) of the minimum separation.

    The interval is cut where one of the six gaps changes sign or two gaps are equal. In each piece the
    separation is a line (overlapping boxes: minimal at the ends) or the root of a parabola (disjoint: minimal
    at its vertex).
    """
    g0, g1 = box_gaps(a_start, b_start), box_gaps(a_end, b_end)
    scale = power_of_two_scale(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0))
    g0, g1 = g0 / scale, g1 / scale
    slope = g1 - g0
    zeros = [_clipped_root(g0[i], slope[i]) for i in range(6)]
    ties = [_clipped_root(g0[i] - g0[j], slope[i] - slope[j]) for i, j in combinations(range(6), 2)]
    start, end = np.zeros_like(scale), np.ones_like(scale)
    edges = np.sort(np.stack([start, *zeros, *ties, end]), axis=0)
    no_reach = np.zeros_like(scale)
    return np.concatenate([edges, _vertex_times(edges, g0, slope, no_reach, no_reach)])


def closest_end_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """First time (...) of the minimum separation where it is 0 or 1; NaN elsewhere.

    Gaps are the larger one of two lines, and the separation is a convex function of them that never falls
    where a gap grows. So it is convex in time: if it does not fall at the begin, or falls until the end, the
    minimum is there.
    """
    g0, g1 = box_gaps(a_start, b_start), box_gaps(a_end, b_end)
    # So that no product overflows or underflows.
    scale = power_of_two_scale(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0))
    g0, g1 = g0 / scale, g1 / scale
    grows, falls = _growth(g0, g1 - g0) >= 0, _growth(g1, g0 - g1) > 0
    return np.where(grows, 0.0, np.where(falls, 1.0, np.nan))


def _growth(gaps: Floats, slope: Floats) -> Floats:
    """Return a number (...) of the sign of the separation's slope, where gaps (6, ...) change by `slope`."""
    largest = gaps.max(axis=0)
    apart = (np.maximum(gaps, 0) * slope).sum(axis=0)
    return np.where(largest > 0, apart, np.where(gaps == largest, slope, -np.inf).max(axis=0))


def box_gaps(a: Aabb, b: Aabb) -> Floats:
    """Signed gaps (6, ...) between the faces of two boxes."""
    return np.moveaxis(np.concatenate([a.min - b.max, b.min - a.max], axis=-1), -1, 0)


def point_gaps(points: Floats, box: Aabb) -> Floats:
    """Signed gaps (6, ...) between points (..., 3) and the faces of boxes."""
    return np.moveaxis(np.concatenate([points - box.max, box.min - points], axis=-1), -1, 0)


def gap_entry_time(g0: Floats, g1: Floats, reach_start: Floats, reach_end: Floats) -> Floats:
    """First time in [0, 1] at which the vector of the positive gaps is no longer than the reach.

    Between two times at which a gap changes sign the condition is one quadratic. Evaluating those times, and
    the minimum of each quadratic between them, brackets the first entry in a single piece. Exact up to
    float64 rounding.

    g0, g1 : (6, ...) float64. Gaps at times 0 and 1.
    reach_start, reach_end : (...) float64. The reach at times 0 and 1.
    Returns time : (...) float64. NaN for never.
    """
    batch = reach_start.shape
    g0, g1 = g0.reshape(6, -1), g1.reshape(6, -1)
    r0, r1 = reach_start.ravel(), reach_end.ravel()
    times = np.full(len(r0), np.nan)
    # Scaled so that no square overflows or underflows.
    scale = power_of_two_scale(np.maximum(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0), np.maximum(r0, r1)))
    g0, g1, r0, r1 = g0 / scale, g1 / scale, r0 / scale, r1 / scale
    # A gap that stays larger than the reach separates the pair throughout. This rejects most pairs.
    reach = np.maximum(r0, r1)
    rows = np.flatnonzero(((g0 <= reach) | (g1 <= reach)).all(axis=0))
    if len(rows):
        times[rows] = _solve_pieces(g0[:, rows], g1[:, rows], r0[rows], r1[rows])
    return times.reshape(batch)


def _solve_pieces(g0: Floats, g1: Floats, r0: Floats, r1: Floats) -> Floats:
    """First times (n,) within reach, from gaps (6, n) and reaches (n,) of about size 1; NaN for never."""
    slope, growth = g1 - g0, r1 - r0
    ends = np.zeros_like(r0), np.ones_like(r0)
    edges = np.sort(
        np.stack([ends[0], *(_clipped_root(g, d) for g, d in zip(g0, slope, strict=True)), ends[1]]), axis=0
    )
    samples = np.empty((15, len(r0)))
    samples[0::2], samples[1::2] = edges, _vertex_times(edges, g0, slope, r0, growth)
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


def _clipped_root(start: Floats, slope: Floats) -> Floats:
    """Time of the zero of start + slope t, clipped to [0, 1]; 0 for a constant line."""
    root = np.divide(-start, slope, out=np.zeros_like(start), where=slope != 0)
    return np.clip(root, 0, 1)
