"""Two shapes that move in a straight line from one sample to the next: when they overlap.

Time runs from 0 at the start to 1 at the end. Radii and box sides change linearly with it. Then the signed
separation is a convex function of time, so that a pair overlaps during one span of time, or never. Touching
counts as overlap; no overlap is NaN, never an error and never 1. Float32 input is widened first.
"""

from __future__ import annotations

from itertools import combinations
from typing import TypeAlias, TypeVar

import numpy as np

from .arrays import Bools, Floats, dot, length
from .errors import InvalidShapeError
from .separation import overlaps, separation, unsupported_pair
from .separation_boxes import aabb_gaps
from .separation_spheres import signed_distance
from .shapes import Aabb, Shape, Sphere

_BISECTIONS = 60

_Kind = TypeVar("_Kind", Sphere, Aabb)
_Any = TypeVar("_Any")
_Four: TypeAlias = tuple[_Any, _Any, _Any, _Any]


def time_of_impact(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Floats:
    """When two moving shapes first overlap: (...) float64 in [0, 1], NaN where they never do.

    Already overlapping is 0; grazing at one instant and contact exactly at 1 count. Exact up to float64
    rounding for shapes that move linearly. Raises InvalidShapeError for a pair of kinds without a method.
    """
    return overlap_span(a_start, a_end, b_start, b_end)[0]


def overlap_span(
    a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape, clearance: float = 0.0
) -> tuple[Floats, Floats]:
    """When two moving shapes begin and cease to be within `clearance` of each other.

    Returns (enter, leave), each (...) float64 in [0, 1], both NaN where they never are. `enter` is 0 exactly
    where the shapes are within clearance at the start, and `leave` is 1 exactly where they are at the end, so
    that spans of neighbouring intervals join without a seam.

    A clearance above 0 is Euclidean: for boxes it rounds the corners. It is found by bisection and `enter`
    is then early by less than 1e-15.
    """
    enter: Floats
    leave: Floats
    if not clearance >= 0:
        raise InvalidShapeError(f"clearance: {clearance} is not a length >= 0")
    motion = a_start, a_end, b_start, b_end
    if spheres := _all_of(Sphere, motion):
        # Being within a clearance of a sphere is overlapping a sphere with that much more radius.
        a0, a1, b0, b1 = spheres
        a0, a1 = a0.padded(clearance), a1.padded(clearance)
        enter = _sphere_entry(a0, a1, b0, b1)
        leave = 1 - _sphere_entry(a1, a0, b1, b0)
        leave = np.where(np.isnan(leave), enter, leave)
        enter = np.where(np.isnan(enter), leave, enter)
    elif boxes := _all_of(Aabb, motion):
        if clearance > 0:
            return _span_by_bisection(*boxes, clearance=clearance)
        enter, leave = _aabb_span(*boxes)
    else:
        raise unsupported_pair("sweep", a_start, b_start)
    return enter, np.maximum(enter, leave)


def closest_time(a_start: Shape, a_end: Shape, b_start: Shape, b_end: Shape) -> Floats:
    """The first time in [0, 1] at which the signed separation is least.

    Exact up to float64 rounding: the smallest gap of a pair that passes by, the deepest overlap of one that
    meets. Raises InvalidShapeError for a pair of kinds without a method.
    """
    motion = a_start, a_end, b_start, b_end
    if spheres := _all_of(Sphere, motion):
        candidates = _sphere_extremes(*spheres)
    elif boxes := _all_of(Aabb, motion):
        candidates = _aabb_extremes(*boxes)
    else:
        raise unsupported_pair("sweep", a_start, b_start)
    times = np.sort(candidates, axis=0)
    values = np.stack([separation(at(a_start, a_end, t), at(b_start, b_end, t)) for t in times])
    best: Floats = np.take_along_axis(times, values.argmin(axis=0)[None], axis=0)[0]
    return best


def at(start: Shape, end: Shape, time: Floats) -> Shape:
    """The shapes at `time` (...) in [0, 1] of a linear motion; exact at both ends."""
    t = np.asarray(time, dtype=np.float64)
    if isinstance(start, Sphere) and isinstance(end, Sphere):
        return Sphere(_lerp(start.center, end.center, t[..., None]), _lerp(start.radius, end.radius, t))
    if isinstance(start, Aabb) and isinstance(end, Aabb):
        low, high = _lerp(start.min, end.min, t[..., None]), _lerp(start.max, end.max, t[..., None])
        return Aabb(low, np.maximum(low, high))
    raise unsupported_pair("motion", start, end)


def _lerp(start: Floats, end: Floats, t: Floats) -> Floats:
    result: Floats = start * (1 - t) + end * t
    return result


def _all_of(kind: type[_Kind], motion: _Four[Shape]) -> _Four[_Kind] | None:
    """The start and end of both shapes, if all four are of one kind."""
    a_start, a_end, b_start, b_end = motion
    if (
        isinstance(a_start, kind)
        and isinstance(a_end, kind)
        and isinstance(b_start, kind)
        and isinstance(b_end, kind)
    ):
        return a_start, a_end, b_start, b_end
    return None


# Spheres. With p the relative centre, v its change, r the sum of radii and s its change, they touch where
# |p + v t| = r + s t: the quadratic A t^2 + 2 B t + C with A = v.v - s s, B = p.v - r s, C = p.p - r r.


def _sphere_entry(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """First time of overlap. Going back in time it is the last one, from the other end."""
    p = b_start.center - a_start.center
    v = (b_end.center - a_end.center) - p
    r = a_start.radius + b_start.radius
    s = (a_end.radius + b_end.radius) - r
    a_term, b_term = dot(v, v) - s * s, dot(p, v) - r * s
    c_term = dot(p, p) - r * r
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        # The textbook discriminant B B - A C cancels for fast shapes. Subtracting the path first, as a
        # rejection, keeps the digits: it is A (rho^2 - q.q) with q and rho at the time of closest approach.
        # Where radii change about as fast as centres move, A itself is rounding noise and that time far off.
        nearest = b_term / a_term
        q = p - nearest[..., None] * v
        rho = r - nearest * s
        discriminant = np.where(
            a_term > 1e-6 * (dot(v, v) + s * s),
            a_term * (rho * rho - dot(q, q)),
            b_term * b_term - a_term * c_term,
        )
        root = np.sqrt(np.maximum(discriminant, 0))
        time = c_term / (root - b_term)
    starts = overlaps(a_start, b_start)
    ends = overlaps(a_end, b_end)
    # Apart at both ends, they meet only around a closest approach in between. The end samples decide about
    # the end, so that rounding cannot lose or invent a contact there.
    passes = (a_term > 0) & (b_term < 0) & (a_term + b_term > 0) & (discriminant >= 0)
    time = np.where(passes | ends, np.where(np.isfinite(time), np.clip(time, 0, 1), 1.0), np.nan)
    return np.where(starts, 0.0, time)


def _sphere_extremes(a_start: Sphere, a_end: Sphere, b_start: Sphere, b_end: Sphere) -> Floats:
    """(3, ...) times among which the separation |p + v t| - (r + s t) is least: the ends, its minimum."""
    p = b_start.center - a_start.center
    v = (b_end.center - a_end.center) - p
    s = (a_end.radius + b_end.radius) - (a_start.radius + b_start.radius)
    speed_squared = dot(v, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = -dot(p, v) / speed_squared
        miss = length(p + nearest[..., None] * v)
        slack = speed_squared - s * s
        # Where growing outruns the motion the separation has no minimum inside: one of the ends.
        bottom = nearest + np.where(slack > 0, s * miss / np.sqrt(speed_squared * slack), 0)
    bottom = np.where(np.isfinite(bottom), np.clip(bottom, 0, 1), 0)
    return np.stack([np.zeros_like(bottom), bottom, np.ones_like(bottom)])


# Boxes. They overlap while six linear functions of time, two gaps an axis, are all <= 0.


def _gap_lines(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> tuple[Floats, Floats]:
    """The six gaps at the start and at the end, each (6, ...)."""

    def gaps(a: Aabb, b: Aabb) -> Floats:
        both = np.concatenate([a.min - b.max, b.min - a.max], axis=-1)
        return np.moveaxis(both, -1, 0)

    return gaps(a_start, b_start), gaps(a_end, b_end)


def _aabb_span(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> tuple[Floats, Floats]:
    """The latest time at which a gap closes and the earliest at which one opens."""
    g0, g1 = _gap_lines(a_start, a_end, b_start, b_end)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.clip(g0 / (g0 - g1), 0, 1)
    enter = np.where(g0 > 0, np.where(g1 > 0, np.inf, crossing), 0.0).max(axis=0)
    leave = np.where(g1 > 0, np.where(g0 > 0, -np.inf, crossing), 1.0).min(axis=0)
    missed = enter > leave
    return np.where(missed, np.nan, enter), np.where(missed, np.nan, leave)


def _aabb_extremes(a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb) -> Floats:
    """(k, ...) times among which the separation is least.

    Between the times at which one of the six gaps changes sign or two change rank, the separation is either
    one line (overlapping: least at the ends) or the root of one parabola (apart: least at its bottom).
    """
    g0, g1 = _gap_lines(a_start, a_end, b_start, b_end)
    slope = g1 - g0
    zeros = [_root(g0[i], slope[i]) for i in range(6)]
    ranks = [_root(g0[i] - g0[j], slope[i] - slope[j]) for i, j in combinations(range(6), 2)]
    edges = np.sort(np.stack([np.zeros_like(g0[0]), *zeros, *ranks, np.ones_like(g0[0])]), axis=0)
    low, high = edges[:-1], edges[1:]
    middle = (low + high) / 2
    positive = g0[:, None] + slope[:, None] * middle > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        # Only the larger of the two gaps of an axis can be positive, so the sum holds one line an axis.
        bottom = -(positive * (g0 * slope)[:, None]).sum(axis=0) / (positive * (slope**2)[:, None]).sum(
            axis=0
        )
    bottom = np.where(np.isfinite(bottom), np.clip(bottom, low, high), low)
    return np.concatenate([edges, bottom])


def _root(start: Floats, slope: Floats) -> Floats:
    """Where start + slope t crosses 0, clipped to [0, 1]; 0 for a line that does not."""
    root = np.divide(-start, slope, out=np.zeros_like(start), where=slope != 0)
    return np.clip(root, 0, 1)


def _span_by_bisection(
    a_start: Aabb, a_end: Aabb, b_start: Aabb, b_end: Aabb, clearance: float
) -> tuple[Floats, Floats]:
    """Where the convex separation is <= clearance: between two crossings on either side of its minimum."""

    def within(t: Floats) -> Bools:
        gaps = aabb_gaps(_box_at(a_start, a_end, t), _box_at(b_start, b_end, t))
        return np.asarray(signed_distance(gaps) <= clearance)

    bottom = closest_time(a_start, a_end, b_start, b_end)
    missed = ~within(bottom)
    spans = []
    for end in (0.0, 1.0):
        outside, inside = np.full_like(bottom, end), bottom
        for _ in range(_BISECTIONS):
            middle = (outside + inside) / 2
            is_in = within(middle)
            inside, outside = np.where(is_in, middle, inside), np.where(is_in, outside, middle)
        # The outer side of the last bracket: a contact may be reported early by a rounding, never late.
        at_end = within(np.full_like(bottom, end))
        spans.append(np.where(missed, np.nan, np.where(at_end, end, outside)))
    return spans[0], spans[1]


def _box_at(start: Aabb, end: Aabb, t: Floats) -> Aabb:
    box = at(start, end, t)
    assert isinstance(box, Aabb)
    return box
