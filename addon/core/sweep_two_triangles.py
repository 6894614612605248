"""Two triangles in motion, all corners in straight lines: the first time at which they touch.

As long as some direction shows a gap between two triangles they are apart: the normal of a face or the
crossing of two edges, moving along with its triangles, or the way between their closest points. How the gap
along one of these changes is a polynomial of third degree in time, and a bound on when it may close is never
too late. Go there, look anew, and repeat: conservative advancement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints
from .separation_triangles import (
    TOUCH,
    best_axis,
    closest_points_triangle_triangle,
    cross_first,
    dot_first,
    separating_axes,
    triangles_of,
)
from .sweep_spheres import unit_of_size

_MAX_STEPS = 100
_PAIRS_AT_ONCE = 512
_NEXT = [1, 2, 0]
_CLEAR = 1e-7
"""Closest points so far apart, against a pair's size, tell a direction to single precision or better."""
_BEFORE = 1e-7
"""So much of an interval before a touch, what separated the two still shows."""


class MovingTriangles(NamedTuple):
    """Corners (m, 3, 3) of triangles at both ends of an interval; in between they move in straight lines."""

    start: Floats
    end: Floats

    def picked(self, rows: Ints) -> MovingTriangles:
        """Some of the triangles."""
        return MovingTriangles(self.start[rows], self.end[rows])

    def at(self, time: Floats) -> Floats:
        """(m, 3, 3) at times (m,) in [0, 1]; exact at both ends."""
        t = time[:, None, None]
        return np.where(t == 1, self.end, self.start + t * (self.end - self.start))


def first_of_triangle_pairs(
    a: MovingTriangles,
    b: MovingTriangles,
    clearance: float = 0.0,
    begin: Floats | float = 0.0,
    until: float = 1.0,
    slack: float = 0.0,
) -> tuple[float, int]:
    """The first time in [begin, until] when a pair (m,) is within `clearance`, and which; NaN, -1 for never.

    begin : (m,) times until which pairs are known to be apart
    slack : a gap that much larger than the clearance will do, and takes fewer steps to find

    Never late, and early by no more than the time in which that slack and a gap of 1e-14 of the pair's size
    close. What is not that close after 100 steps, as where triangles slide past each other, is said to touch
    from there.
    """
    begins = np.broadcast_to(np.asarray(begin, dtype=np.float64), len(a.start))
    first, which = np.nan, -1
    for start in range(0, len(begins), _PAIRS_AT_ONCE):
        rows = np.arange(start, min(start + _PAIRS_AT_ONCE, len(begins)))
        pairs = _Pairs.of(a.picked(rows), b.picked(rows), clearance, slack)
        time, row = _first_touch(pairs, begins[rows], until)
        if row >= 0 and not time >= first:
            first, which, until = time, start + row, time
    return first, which


def normals_of_touching(a: MovingTriangles, b: MovingTriangles, time: Floats) -> Floats:
    """Unit vectors (m, 3) from triangles to those that they touch at times (m,), or nearly do.

    Of the directions that separate them just before, the one along which they come closer fastest.
    """
    first, second = a.at(time), b.at(time)
    size = np.maximum(np.abs(first - first[:, :1]), np.abs(second - first[:, :1])).max(axis=(1, 2))
    witness = closest_points_triangle_triangle(triangles_of(first), triangles_of(second))
    apart = np.abs(witness.on_b - witness.on_a).max(axis=1) > _CLEAR * size
    before = a.at(time - _BEFORE), b.at(time - _BEFORE)
    normal = best_axis(*before, separating_axes(*before))[1]
    return np.where(apart[:, None], witness.normal, normal)


class _Pairs(NamedTuple):
    """Pairs of about size 1: corners (3 axes, 3, m) of both triangles and what they change by until the end.

    clearance, touch : (m,) the gap that counts as contact, and that with what rounding may leave of it
    """

    p: Floats
    p_change: Floats
    q: Floats
    q_change: Floats
    clearance: Floats
    touch: Floats

    @classmethod
    def of(cls, a: MovingTriangles, b: MovingTriangles, clearance: float, slack: float) -> _Pairs:
        every = np.concatenate([a.start, a.end, b.start, b.end], axis=1)
        origin = a.start[:, :1]
        scale = unit_of_size(np.abs(every * 0.5 - origin * 0.5).max(axis=(1, 2)))[:, None, None] * 2
        corners = np.moveaxis(every / scale - origin / scale, 0, -1).swapaxes(0, 1)
        p, p_end, q, q_end = (np.ascontiguousarray(part) for part in np.split(corners, 4, axis=1))
        scale = scale[:, 0, 0]
        rounding = TOUCH * np.maximum(np.abs(every).max(axis=(1, 2)) / scale, 1.0)
        wanted = clearance / scale
        return cls(p, p_end - p, q, q_end - q, wanted, wanted * (1 + TOUCH) + slack / scale + rounding)

    def picked(self, rows: Ints) -> _Pairs:
        return _Pairs(*(np.take(field, rows, axis=-1) for field in self))

    def at(self, time: Floats) -> _Pairs:
        """The pairs as they are at times (m,)."""
        return self._replace(p=self.p + time * self.p_change, q=self.q + time * self.q_change)


def _first_touch(pairs: _Pairs, begin: Floats, until: float) -> tuple[float, int]:
    """The first time of contact and the row; NaN and -1 if there is none by `until`."""
    first, which = np.nan, -1
    time = begin.copy()
    active = np.flatnonzero(time <= until)
    for step_number in range(_MAX_STEPS + 1):
        if not len(active):
            break
        part = pairs.picked(active)
        now = part.at(time[active])
        left = 1 - time[active]
        gap, step = _safe_steps(now, _feature_axes(now), left)
        unsure = np.flatnonzero(gap <= part.touch)
        if len(unsure):
            gap[unsure], step[unsure] = _by_closest_points(now.picked(unsure), left[unsure])
        touching = (gap <= part.touch) | (step_number == _MAX_STEPS)
        touched = active[touching]
        if len(touched):
            row = int(touched[time[touched].argmin()])
            # What comes later is not wanted any more.
            if not time[row] >= first:
                first, which, until = float(time[row]), row, min(until, float(time[row]))
        goes_on = ~touching & (left > 0)
        active, step, left = active[goes_on], step[goes_on], left[goes_on]
        # One more look at the end, where contact counts too.
        time[active] = np.where(step >= left, 1.0, time[active] + step)
        active = active[(time[active] <= until) & ~(time[active] >= first)]
    return first, which


class _Axes(NamedTuple):
    """Directions (3 axes, k, m) that move: first + second t + third t^2, of any length."""

    first: Floats
    second: Floats
    third: Floats


def _feature_axes(now: _Pairs) -> _Axes:
    """The normals of both triangles, and the crossings of their edges: eleven."""
    u, v = now.p[:, _NEXT] - now.p, now.q[:, _NEXT] - now.q
    u_change, v_change = (change[:, _NEXT] - change for change in (now.p_change, now.q_change))
    m = u.shape[-1]
    left = np.concatenate([u[:, :1], v[:, :1], u.repeat(3, axis=1)], axis=1)
    right = np.concatenate([u[:, 1:2], v[:, 1:2], np.tile(v, (1, 3, 1))], axis=1)
    left_change = np.concatenate([u_change[:, :1], v_change[:, :1], u_change.repeat(3, axis=1)], axis=1)
    right_change = np.concatenate([u_change[:, 1:2], v_change[:, 1:2], np.tile(v_change, (1, 3, 1))], axis=1)
    assert left.shape == (3, 11, m)
    return _Axes(
        cross_first(left, right),
        cross_first(left, right_change) + cross_first(left_change, right),
        cross_first(left_change, right_change),
    )


def _by_closest_points(now: _Pairs, left: Floats) -> tuple[Floats, Floats]:
    """The distance (m,), and the time until which it does not close along the way between closest points."""
    witness = closest_points_triangle_triangle(*(triangles_of(corners.T) for corners in (now.p, now.q)))
    along = witness.normal.T[:, None]
    still = np.zeros_like(along)
    # What is too near to have a direction is taken to touch.
    return _safe_steps(now, _Axes(along, still, still), left)


def _safe_steps(now: _Pairs, axes: _Axes, left: Floats) -> tuple[Floats, Floats]:
    """The largest gap (m,) that axes show now, and for how long one of them shows more than the clearance.

    left : (m,) the time that matters; inf where no gap closes within that
    """
    n0, n1, n2 = axes
    shadows = []
    for corners, change in ((now.p, now.p_change), (now.q, now.q_change)):
        x, v = corners[:, None], change[:, None]
        m0, m1, m2 = n0[:, :, None], n1[:, :, None], n2[:, :, None]
        shadows.append(
            (
                dot_first(m0, x),
                dot_first(m0, v) + dot_first(m1, x),
                dot_first(m1, v) + dot_first(m2, x),
                dot_first(m2, v),
            )
        )
    of_p, of_q = shadows
    sizes = [np.sqrt(dot_first(n, n)) for n in axes]
    ahead, behind = of_q[0].min(axis=1) - of_p[0].max(axis=1), of_p[0].min(axis=1) - of_q[0].max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.where(sizes[0] > 0, np.maximum(ahead, behind) / sizes[0], -np.inf)
    sign = np.where(ahead >= behind, 1.0, -1.0)[:, None, None]
    # From each corner of one triangle to each of the other, less the clearance times the axis' length.
    terms = [sign * (of_q[k][:, None] - of_p[k][:, :, None]) for k in range(4)]
    for term, size in zip(terms, sizes, strict=False):
        term -= (size * now.clearance)[:, None, None]
    step = _until_zero(terms, left).max(axis=0)
    if not (axes.second.any() or axes.third.any()):
        return gaps.max(axis=0), np.where(step >= left, np.inf, step)
    # Seen over a shorter time, the bound is better.
    nearer = np.minimum(2 * step, left)
    step = np.maximum(step, np.minimum(_until_zero(terms, nearer).max(axis=0), nearer))
    return gaps.max(axis=0), np.where(step >= left, np.inf, step)


def _until_zero(terms: list[Floats], stretch: Floats) -> Floats:
    """(k, m) until when all of the polynomials with coefficients (k, 3, 3, m) are positive, at least.

    Within `stretch` (m,) each is above a parabola that has all that bends it down. 0 for those that are not.
    """
    c0, c1, c2, c3 = terms
    bend = np.maximum(-c2, 0) + np.maximum(-c3, 0) * stretch
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(c1 * c1 + 4 * bend * np.maximum(c0, 0))
        until = np.where(c1 < 0, 2 * c0 / (root - c1), (c1 + root) / (2 * bend))
    until = np.where((c1 >= 0) & (bend == 0), np.inf, until)
    least: Floats = np.where(c0 > 0, until, 0.0).min(axis=(1, 2))
    return least
