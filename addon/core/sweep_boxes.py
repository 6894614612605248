"""Axis-aligned boxes in linear motion, faces included, with each other and with spheres.

Every face moves linearly, so that a pair is described by six gaps that are linear in time, two an axis, of
which at most one an axis is positive. Boxes overlap while all six are <= 0. A sphere overlaps a box while its
centre is within a radius of it: while the positive gaps, taken as a vector, are at most that long. The same
holds for two boxes and a clearance. Both are convex functions of time.

Gap arrays have the six gaps first: (6, ...), of which i and i + 3 belong to one axis. The shapes of one call
have one batch.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .arrays import Bools, Floats
from .shapes import Aabb, Sphere
from .sweep_spheres import entry_time, unit_of_size

_ROUNDING = 16 * np.finfo(np.float64).eps
"""What a gap may be off by, against the gaps at both ends: a touch within this much is a touch."""
BEFORE_END = np.nextafter(1.0, 0.0)
"""The last time that is not the end."""


def time_of_impact_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """First time in [0, 1] at which the boxes touch, (...); NaN for never. Exact up to float64 rounding."""
    return overlap_span_aabb_aabb(a_start, a_end, b_start, b_end)[0]


def overlap_span_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> tuple[Floats, Floats]:
    """The latest time at which a gap closes and the earliest at which one opens; NaN for never."""
    g0, g1 = box_gaps(a_start, b_start), box_gaps(a_end, b_end)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = g0 / (g0 - g1)
    enter = np.where(g0 > 0, np.where(g1 > 0, np.inf, crossing), 0.0).max(axis=0)
    leave = np.where(g1 > 0, np.where(g0 > 0, -np.inf, np.minimum(crossing, BEFORE_END)), 1.0).min(axis=0)
    missed = enter > leave
    return np.where(missed, np.nan, enter), np.where(missed, np.nan, leave)


def time_of_impact_sphere_aabb(a_start: Sphere, a_end: Sphere, b_start: Aabb, b_end: Aabb) -> Floats:
    """First time in [0, 1] at which a sphere touches a box, (...); NaN for never.

    Exact up to float64 rounding: the distance of the centre is a piecewise quadratic in time.
    """
    return entry_within(
        point_gaps(a_start.center, b_start), point_gaps(a_end.center, b_end), a_start.radius, a_end.radius
    )


def entry_within_clearance_aabb_aabb(
    a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb, clearance: float
) -> Floats:
    """First time in [0, 1] at which the Euclidean gap of the boxes is at most `clearance`; NaN for never."""
    reach = np.full(a_start.shape, clearance)
    return entry_within(box_gaps(a_start, b_start), box_gaps(a_end, b_end), reach, reach)


def closest_time_aabb_aabb(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """(k, ...) times among which the separation is least.

    Between the times at which one of the six gaps changes sign or two change rank, the separation is either
    one line (overlapping: least at the ends) or the root of one parabola (apart: least at its bottom).
    """
    g0, g1 = box_gaps(a_start, b_start), box_gaps(a_end, b_end)
    scale = unit_of_size(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0))
    g0, g1 = g0 / scale, g1 / scale
    slope = g1 - g0
    zeros = [_root(g0[i], slope[i]) for i in range(6)]
    ranks = [_root(g0[i] - g0[j], slope[i] - slope[j]) for i, j in combinations(range(6), 2)]
    edges = np.sort(np.stack([np.zeros_like(g0[0]), *zeros, *ranks, np.ones_like(g0[0])]), axis=0)
    return np.concatenate([edges, _bottoms(edges, g0, slope, np.zeros_like(g0[0]), np.zeros_like(g0[0]))])


def box_gaps(a: Aabb, b: Aabb) -> Floats:
    """(6, ...) signed gaps between the faces of two boxes."""
    return np.moveaxis(np.concatenate([a.min - b.max, b.min - a.max], axis=-1), -1, 0)


def point_gaps(points: Floats, box: Aabb) -> Floats:
    """(6, ...) signed gaps between points (..., 3) and the faces of boxes."""
    return np.moveaxis(np.concatenate([points - box.max, box.min - points], axis=-1), -1, 0)


def entry_within(g0: Floats, g1: Floats, reach_start: Floats, reach_end: Floats) -> Floats:
    """When the positive ones of six gaps, as a vector, first are at most `reach` long; NaN for never.

    g0, g1 : (6, ...) gaps at both ends; reach_start, reach_end : (...), the same batch

    Between the times at which a gap changes sign the condition is one quadratic. Looking at those times, and
    at the least of each quadratic between them, brackets the first entry in a single piece.
    """
    batch = reach_start.shape
    g0, g1 = g0.reshape(6, -1), g1.reshape(6, -1)
    r0, r1 = reach_start.reshape(-1), reach_end.reshape(-1)
    times = np.full(len(r0), np.nan)
    # Squares of far and near must stay in range.
    scale = unit_of_size(np.maximum(np.maximum(np.abs(g0), np.abs(g1)).max(axis=0), np.maximum(r0, r1)))
    g0, g1, r0, r1 = g0 / scale, g1 / scale, r0 / scale, r1 / scale
    # A gap that stays wider than the reach keeps the pair apart. Most pairs end here.
    reach = np.maximum(r0, r1)
    rows = np.flatnonzero(((g0 <= reach) | (g1 <= reach)).all(axis=0))
    if len(rows):
        times[rows] = _entry(g0[:, rows], g1[:, rows], r0[rows], r1[rows])
    return times.reshape(batch)


def _entry(g0: Floats, g1: Floats, r0: Floats, r1: Floats) -> Floats:
    slope, growth = g1 - g0, r1 - r0
    ends = np.zeros_like(r0), np.ones_like(r0)
    edges = np.sort(
        np.stack([ends[0], *(_root(g, d) for g, d in zip(g0, slope, strict=True)), ends[1]]), axis=0
    )
    bottoms = _bottoms(edges, g0, slope, r0, growth)
    looks = np.empty((15, len(r0)))
    looks[0::2], looks[1::2] = edges, bottoms
    inside = np.stack([_within(g0, g1, r0, r1, t) for t in looks])
    first = inside.argmax(axis=0)
    hit = np.flatnonzero(inside.any(axis=0))
    time = np.full(len(r0), np.nan)
    time[hit[first[hit] == 0]] = 0.0
    hit = hit[first[hit] > 0]
    if not len(hit):
        return time
    # In between: one piece, entered from outside. Solved from the last look outside.
    before, after = looks[first[hit] - 1, hit], looks[first[hit], hit]
    at_before = g0[:, hit] * (1 - before) + g1[:, hit] * before
    active = g0[:, hit] * (2 - before - after) + g1[:, hit] * (before + after) > 0
    p = np.where(active, at_before, 0)
    v = np.where(active, slope[:, hit], 0)
    p, v = (p[:3] + p[3:]).T, (v[:3] + v[3:]).T
    local = entry_time(p, v, r0[hit] + growth[hit] * before, growth[hit])
    # Apart at the start, so later than that.
    before = np.maximum(before, np.finfo(np.float64).tiny)
    time[hit] = np.where(np.isnan(local), after, np.clip(before + local, before, after))
    return time


def _within(g0: Floats, g1: Floats, r0: Floats, r1: Floats, t: Floats) -> Bools:
    """Whether the positive gaps at `t` are within reach; at the ends by the numbers given, exactly."""
    gaps = np.maximum(g0 * (1 - t) + g1 * t, 0)
    distance = np.sqrt((gaps * gaps).sum(axis=0))
    # In between the gaps have been rounded, in units of the pair's size.
    slack = np.where((t == 0) | (t == 1), 0.0, _ROUNDING)
    return np.asarray(distance <= r0 * (1 - t) + r1 * t + slack)


def _bottoms(edges: Floats, g0: Floats, slope: Floats, r0: Floats, growth: Floats) -> Floats:
    """(k - 1, ...) where between neighbouring (k, ...) `edges` the quadratic in force is least."""
    low, high = edges[:-1], edges[1:]
    middle = (low + high) / 2
    # Only the larger of the two gaps of an axis can be positive, so the sum holds one line an axis.
    positive = g0[:, None] + slope[:, None] * middle > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        steepness = (positive * (slope**2)[:, None]).sum(axis=0) - growth**2
        bottom = (r0 * growth - (positive * (g0 * slope)[:, None]).sum(axis=0)) / steepness
    bottom = np.where(np.isfinite(bottom) & (steepness > 0), bottom, low)
    return np.clip(bottom, low, high)


def _root(start: Floats, slope: Floats) -> Floats:
    """Where start + slope t crosses 0, clipped to [0, 1]; 0 for a line that does not."""
    root = np.divide(-start, slope, out=np.zeros_like(start), where=slope != 0)
    return np.clip(root, 0, 1)
