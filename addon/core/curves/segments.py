"""Segments of animation curves: what a curve is before, between and after its keys.

A Bezier segment maps a parameter in [0, 1] to time and to value, one cubic each. Its handles are shortened
so that time never decreases. Values have Blender's formulas and rounding, in single precision.

Parts of segments are computed in float64. The distance of a part from a line is a cubic Bezier function
again, whose inner control values bound it. No slope over time is used, because tangents can stand upright.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Bools, Floats, Ints, Table

Singles = NDArray[np.float32]
Numbers = TypeVar("Numbers", Singles, Floats)

_LARGEST_PARAMETER = np.float32(1.000001)
_SMALLEST_PARAMETER = np.float32(-1e-10)


def polynomial(controls: Numbers) -> Numbers:
    """Convert control values (4, ...) of Bezier functions to the coefficients of 1, s, s^2 and s^3.

    Rounded like Blender's in float32.
    """
    q0, q1, q2, q3 = controls
    return np.stack([q0, 3 * (q1 - q0), 3 * (q0 - 2 * q1 + q2), q3 - q0 + 3 * (q1 - q2)])


def parameters_at(coefficients: Singles, first: Singles, times: Singles) -> Singles:
    """Find the parameters (m,) at which segments reach times (m,), with Blender's formulas and rounding.

    NaN where rounding leaves Blender without a solution.

    coefficients : (4, m) float32. `polynomial` of the times of the control points.
    first : (m,) float32. Time of the first key.
    """
    c1, c2, c3 = coefficients[1:].astype(np.float64)
    c0 = (first - times).astype(np.float64)
    result = np.full(times.shape, np.nan, dtype=np.float32)
    with np.errstate(all="ignore"):
        is_cubic = c3 != 0
        for is_kind, solve in ((is_cubic, _cubic_roots), (~is_cubic, _quadratic_roots)):
            rows = np.flatnonzero(is_kind)
            if len(rows):
                # The first of the roots that is a parameter of a segment.
                roots = solve(c0[rows], c1[rows], c2[rows], c3[rows]).astype(np.float32)
                is_valid = (roots >= _SMALLEST_PARAMETER) & (roots <= _LARGEST_PARAMETER)
                chosen = np.take_along_axis(roots, is_valid.argmax(axis=0)[None], axis=0)[0]
                result[rows] = np.where(is_valid.any(axis=0), chosen, np.float32(np.nan))
    return result


def _cubic_roots(c0: Floats, c1: Floats, c2: Floats, c3: Floats) -> Floats:
    """Roots (3, m) of cubic polynomials (m,), by Cardano's formulas; NaN for none."""
    a, b, c = c2 / c3 / 3, c1 / c3, c0 / c3
    p = b / 3 - a * a
    q = (2 * a * a * a - a * b + c) / 2
    discriminant = q * q + p * p * p
    roots = np.full((3, len(a)), np.nan)
    one = np.flatnonzero(discriminant > 0)
    t = np.sqrt(discriminant[one])
    roots[0, one] = _cube_root(-q[one] + t) + _cube_root(-q[one] - t) - a[one]
    double = np.flatnonzero(discriminant == 0)
    t = _cube_root(-q[double])
    roots[0, double], roots[1, double] = 2 * t - a[double], -t - a[double]
    three = np.flatnonzero(discriminant < 0)
    p, q, a = p[three], q[three], a[three]
    cosine = np.cos(np.arccos(-q / np.sqrt(-(p * p * p))) / 3)
    t, sine = np.sqrt(-p), np.sqrt(3 - 3 * cosine * cosine)
    roots[:, three] = 2 * t * cosine - a, -t * (cosine + sine) - a, -t * (cosine - sine) - a
    return roots


def _quadratic_roots(c0: Floats, c1: Floats, c2: Floats, _: Floats) -> Floats:
    """Roots (2, m) of polynomials (m,) without cubic term; NaN for none."""
    root = np.sqrt(c1 * c1 - 4 * c2 * c0)
    linear = np.where(c1 != 0, -c0 / c1, np.where(c0 == 0, 0.0, np.nan))
    is_linear = c2 == 0
    first, second = ((-c1 + sign * root) / (2 * c2) for sign in (-1, 1))
    return np.stack([np.where(is_linear, linear, first), np.where(is_linear, np.nan, second)])


def _cube_root(values: Floats) -> Floats:
    """Cube roots as Blender computes them; NumPy's own differ in the last bit."""
    return np.where(values == 0, 0.0, np.sign(values) * np.exp(np.log(np.abs(values)) / 3))


CONSTANT, LINEAR, BEZIER, EXTRAPOLATED, EASED = range(5)
"""Kinds of segments. For an eased one, the number of its easing is added: see `easings.EASING_CODES`."""
_FLAT = float(np.finfo(np.float32).eps)
"""Difference of values below which Blender takes a segment as constant."""


class Keys(Table):
    """Keys (k,) of curves, those of each curve in order of time.

    points : (k, 2) float32. Time in frames, and value.
    left, right : (k, 2) float32. Handles, as time and value.
    interpolation : (k,) int64. CONSTANT, LINEAR, BEZIER, or EASED and the number of an easing, up to the
        next key.
    settings : (k, 3) float32. Overshoot, amplitude and period of easings, see `easings.eased_values`.
    """

    points: Singles
    left: Singles
    right: Singles
    interpolation: Ints
    settings: Singles


class Segments:
    """Segments (s,) of curves (c,), one more in each curve than it has keys.

    Segment i of a curve ends at its key i, and the last one begins at its last key.

    first : (c + 1,) int64. First segment of each curve, and the number of all segments.
    kind : (s,) int64. CONSTANT, LINEAR, BEZIER, EXTRAPOLATED, or EASED and the number of an easing.
    start, end : (s, 2) float32. Time and value of the keys at both ends; at the ends of a curve, twice that
        of its only key there.
    slope : (s,) float32. Values per frame of extrapolated segments.
    settings : (s, 3) float32. Of eased segments, as of the keys.
    controls : (4, s, 2) float32. Control points of Bezier segments.
    polynomials : (4, s, 2) float32. Their coefficients, as Blender rounds them.
    """

    def __init__(self, keys: Keys, starts: Ints, is_extrapolated: Bools) -> None:
        counts = np.diff(starts)
        curve_of_key = np.repeat(np.arange(len(counts)), counts)
        self.first = starts + np.arange(len(starts))
        total = len(keys.points) + len(counts)
        # Of each key, the segment that begins there.
        after = np.arange(len(keys.points)) + curve_of_key + 1
        before_first, after_last = self.first[:-1], self.first[1:] - 1
        self.start = np.zeros((total, 2), dtype=np.float32)
        self.start[after] = keys.points
        self.start[before_first] = keys.points[starts[:-1]]
        self.end = np.zeros((total, 2), dtype=np.float32)
        self.end[after[:-1]] = keys.points[1:]
        self.end[after_last] = keys.points[starts[1:] - 1]
        self.end[before_first] = keys.points[starts[:-1]]
        self.kind = np.full(total, CONSTANT)
        self.kind[after] = keys.interpolation
        self.kind[before_first] = self.kind[after_last] = CONSTANT
        is_instant = self.start[:, 0] == self.end[:, 0]
        self.kind[((self.kind == LINEAR) | (self.kind >= EASED)) & is_instant] = CONSTANT
        self.settings = np.zeros((total, 3), dtype=np.float32)
        self.settings[after] = keys.settings
        self.slope = np.zeros(total, dtype=np.float32)
        self._extrapolate(keys, starts, np.flatnonzero(is_extrapolated))
        self._prepare_polynomials(keys, after)

    def _extrapolate(self, keys: Keys, starts: Ints, curves: Ints) -> None:
        """Set the slopes of the segments at both ends of some curves."""
        for segments, ends, step, handles in (
            (self.first[:-1], starts[:-1], 1, keys.left),
            (self.first[1:] - 1, starts[1:] - 1, -1, keys.right),
        ):
            end = ends[curves]
            kind = keys.interpolation[end]
            neighbor = np.where(np.diff(starts)[curves] > 1, end + step, end)
            to_neighbor, to_handle = keys.points[neighbor] - keys.points[end], keys.points[end] - handles[end]
            delta = np.where((kind == LINEAR)[:, None], to_neighbor, to_handle)
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = delta[:, 1] / delta[:, 0]
            is_sloped = (kind != CONSTANT) & (delta[:, 0] != 0)
            rows = segments[curves[is_sloped]]
            self.kind[rows], self.slope[rows] = EXTRAPOLATED, slope[is_sloped]

    def _prepare_polynomials(self, keys: Keys, after: Ints) -> None:
        """Compute the cubic polynomials of Bezier segments; those with equal values become constant."""
        first = np.flatnonzero(self.kind[after] == BEZIER)
        rows = after[first]
        start, end = keys.points[first], keys.points[first + 1]
        right, left = keys.right[first], keys.left[first + 1]
        y0, y1, y2, y3 = (points[:, 1] for points in (start, right, left, end))
        is_flat = (np.abs(y0 - y3) < _FLAT) & (np.abs(y1 - y2) < _FLAT) & (np.abs(y2 - y3) < _FLAT)
        is_flat |= start[:, 0] == end[:, 0]
        self.kind[rows[is_flat]] = CONSTANT
        span, shortened = (end - start)[:, 0], []
        # So that neither handle reaches beyond the other key.
        for key, handle in ((start, right), (end, left)):
            delta = key - handle
            reach = np.abs(delta[:, 0])
            with np.errstate(divide="ignore", invalid="ignore"):
                shorter = key - (span / reach)[:, None] * delta
            shortened.append(np.where((reach > span)[:, None], shorter, handle))
        self.controls = np.zeros((4, len(self.kind), 2), dtype=np.float32)
        self.controls[:, rows] = start, *shortened, end
        self.polynomials = np.zeros_like(self.controls)
        self.polynomials[:, rows] = polynomial(self.controls[:, rows])


_MOST_STEPS = 60
_NOISE = 2.0**-51
"""Part of the largest control value by which a value may be off through rounding."""


def parameter_of_time(controls: Floats, times: Floats) -> Floats:
    """Find the parameters (m,) at which monotonic cubic Bezier functions (4, m) reach values (m,).

    By Newton's method within a bracket, from where a straight line would reach the value: handles are mostly
    such that time is nearly linear. The error is a few ulps of the value, divided by the slope.
    """
    low, high = np.zeros(len(times)), np.ones(len(times))
    span = controls[3] - controls[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(span > 0, np.clip((times - controls[0]) / span, 0, 1), 0.5)
    c = polynomial(controls)
    noise = _NOISE * np.maximum(np.abs(controls[0]), np.abs(controls[3]))
    for _ in range(_MOST_STEPS):
        value = c[0] + s * (c[1] + s * (c[2] + s * c[3])) - times
        low, high = np.where(value <= 0, s, low), np.where(value >= 0, s, high)
        slope = c[1] + s * (2 * c[2] + s * 3 * c[3])
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = s - value / slope
        inside = (newton >= low) & (newton <= high)
        following = np.where(inside, newton, (low + high) / 2)
        # Where rounding moves it to and fro, no further step is better.
        is_open = (np.abs(following - s) > 4e-16) & (np.abs(value) > noise)
        s = following
        if not is_open.any():
            break
    return s


def cut(controls: Floats, begin: Floats, end: Floats) -> Floats:
    """Control values (4, m) of the parts of Bezier functions (4, m) between two parameters (m,)."""
    q0, q1, q2, q3 = controls
    parts = []
    # Values of the polar form, which is symmetric, and linear in each argument.
    for r, s, t in ((begin, begin, begin), (begin, begin, end), (begin, end, end), (end, end, end)):
        a, b, c = q0 + r * (q1 - q0), q1 + r * (q2 - q1), q2 + r * (q3 - q2)
        a, b = a + s * (b - a), b + s * (c - b)
        parts.append(a + t * (b - a))
    return np.stack(parts)


def deviation_of_bezier(times: Floats, values: Floats) -> Floats:
    """Bound the distance (m,) of Bezier segments from the lines through their ends.

    Conservative, and exact for handles at equal distances: the inner control values d1, d2 of the distance
    give at most 3 s (1 - s) max(|d1|, |d2|). Times of the control points (4, m) do not decrease.
    """
    span = times[3] - times[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(span > 0, (values[3] - values[0]) / span, 0.0)
    inner = np.abs(values[1:3] - values[0] - slope * (times[1:3] - times[0])).max(axis=0)
    jump = np.abs(values[1:] - values[0]).max(axis=0)
    return np.where(span > 0, 0.75 * inner, jump)
