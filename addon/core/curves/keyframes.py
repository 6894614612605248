"""Animation curves as arrays: values at times, as Blender computes and rounds them, and bounds in between.

A curve is a sequence of keys. Between two keys the first one's interpolation applies; before the first and
after the last key the curve is extrapolated. These are its segments. A Bezier segment maps a parameter in
[0, 1] to time and to value, one cubic each. Its handles are shortened so that time never decreases.

Values have Blender's formulas and rounding, in single precision. Chords are computed in float64, from keys as
Blender stores them: that of a curve over an interval is the straight line from its value at the begin to its
limit at the end. The distance of a part of a segment from a line is a cubic Bezier function again, and its
inner control values bound it. No slope over time is used, because tangents can stand upright.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Singles, Table
from .easing_bounds import eased_part
from .easings import eased_values

Numbers = TypeVar("Numbers", Singles, Floats)

CONSTANT, LINEAR, BEZIER, EXTRAPOLATED, EASED = range(5)
"""Kinds of segments. For an eased one, the number of its easing is added: see `easings.EASING_CODES`."""
_FLAT = float(np.finfo(np.float32).eps)
"""Difference of values below which Blender takes a segment as constant."""
NEAR_KEY = np.float32(1e-4)
"""Distance in frames from a key within which Blender returns the key's value."""


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
        # Curves go on from both ends.
        curves = np.flatnonzero(is_extrapolated)
        for segments, ends, step, handles in (
            (before_first, starts[:-1], 1, keys.left),
            (after_last, starts[1:] - 1, -1, keys.right),
        ):
            end = ends[curves]
            kind = keys.interpolation[end]
            neighbor = np.where(counts[curves] > 1, end + step, end)
            to_neighbor, to_handle = keys.points[neighbor] - keys.points[end], keys.points[end] - handles[end]
            delta = np.where((kind == LINEAR)[:, None], to_neighbor, to_handle)
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = delta[:, 1] / delta[:, 0]
            is_sloped = (kind != CONSTANT) & (delta[:, 0] != 0)
            rows = segments[curves[is_sloped]]
            self.kind[rows], self.slope[rows] = EXTRAPOLATED, slope[is_sloped]
        self._prepare_polynomials(keys, after)

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


class Chords(Table):
    """Curves (m,) over intervals.

    begin, end : (m,) float64. Value at the begin, and limit of the values at the end, which a jump there
        does not change.
    deviation : (m,) float64. Bound of the distance between curve and chord, jumps within the interval
        included.
    """

    begin: Floats
    end: Floats
    deviation: Floats


class Curves:
    """Curves (c,) of one or more keys each.

    starts : (c + 1,) int64. First key of each curve, and the number of all keys.
    is_constant : (c,) bool. Curves that have one value at all times.
    """

    def __init__(self, keys: Keys, starts: Ints, is_extrapolated: Bools) -> None:
        """Prepare the segments of all curves, from the keys of one curve after the other.

        is_extrapolated : (c,) bool. Whether a curve continues linearly before the first and after the last
            key.
        """
        self.keys, self.starts, self.count = keys, starts, len(starts) - 1
        self.segments = segments = Segments(keys, starts, is_extrapolated)
        self._times = np.ascontiguousarray(keys.points[:, 0])
        # Complex numbers are in order of their real part first: of the curve, then of the time.
        curve_of_key = np.repeat(np.arange(self.count), np.diff(starts))
        self._by_curve = curve_of_key + 1j * self._times.astype(np.float64)
        # Of each curve, the first one whose segments have the same kinds and times.
        seen: dict[bytes, int] = {}
        self._layout_of = np.empty(self.count, dtype=np.int64)
        times = (segments.controls[:, :, 0], segments.start[:, 0], segments.end[:, 0], segments.kind)
        columns = np.vstack([np.asarray(rows, dtype=np.float32) for rows in times]).T
        columns = np.ascontiguousarray(columns)
        for curve, (begin, end) in enumerate(zip(segments.first, segments.first[1:], strict=False)):
            self._layout_of[curve] = seen.setdefault(columns[begin:end].tobytes(), curve)
        first = segments.first[:-1]
        value = np.repeat(segments.start[first, 1], np.diff(segments.first))
        is_flat = (segments.kind == CONSTANT) & (segments.start[:, 1] == value)
        self.is_constant: Bools = np.logical_and.reduceat(is_flat, first) if len(first) else is_flat

    def values_at(self, times: Floats) -> Singles:
        """Compute the values (c, t) of all curves at increasing times (t,) in frames, rounded to float32."""
        t = times.astype(np.float32)
        result = np.empty((self.count, len(t)), dtype=np.float32)
        result[:] = self.segments.start[self.segments.first[:-1], 1][:, None]
        moving = np.flatnonzero(~self.is_constant)
        # What depends on time is located once for curves whose keys and handles are at equal times.
        curves, of_curve = np.unique(self._layout_of[moving], return_inverse=True)
        first = self.segments.first
        segments, nearest, parameters = self._located(np.repeat(curves, len(t)), np.tile(t, len(curves)))
        shape = (len(curves), len(t))
        segments = segments.reshape(shape)[of_curve] + (first[moving] - first[curves][of_curve])[:, None]
        near = nearest.reshape(shape)[of_curve]
        # A curve has as many keys more than the one before as it has segments more, less one.
        key_shift = self.starts[moving] - self.starts[curves][of_curve]
        near = np.where(near >= 0, near + key_shift[:, None], -1)
        values = self._values(
            segments.ravel(),
            np.broadcast_to(t, segments.shape).ravel(),
            parameters.reshape(shape)[of_curve].ravel(),
            near.ravel(),
        )
        result[moving] = values.reshape(segments.shape)
        return result

    def values_of(self, curves: Ints, times: Floats) -> Singles:
        """Compute the values (m,) of curves (m,), each at its own time (m,) in frames."""
        t = times.astype(np.float32)
        segments, nearest, parameters = self._located(curves, t)
        return self._values(segments, t, parameters, nearest)

    def chords(self, which: Ints, begin: Floats, end: Floats) -> Chords:
        """Compute the chords (m,) of curves (m,) over intervals of time (m,), which begin before they end."""
        first = self._key_counts(which, begin, is_inclusive=True) + which
        last = self._key_counts(which, end, is_inclusive=False) + which
        counts = last - first + 1
        row = np.repeat(np.arange(len(which)), counts)
        starts = np.cumsum(counts) - counts
        segment = np.arange(len(row)) - starts[row] + first[row]
        low = np.where(segment == first[row], begin[row], self.segments.start[segment, 0])
        high = np.where(segment == last[row], end[row], self.segments.end[segment, 0])
        low_value, high_value, deviation = self._parts(segment, low, high)
        at_begin, at_end = low_value[starts], high_value[starts + counts - 1]
        slope = (at_end - at_begin) / (end - begin)
        chord_low, chord_high = (at_begin[row] + slope[row] * (time - begin[row]) for time in (low, high))
        deviation += np.maximum(np.abs(low_value - chord_low), np.abs(high_value - chord_high))
        return Chords(at_begin, at_end, np.maximum.reduceat(deviation, starts) if len(starts) else at_begin)

    def _parts(self, of_parts: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Values (p,) at both ends of parts of segments, and their deviation from their own chords."""
        segments = self.segments
        kind, deviation = segments.kind[of_parts], np.zeros(len(of_parts))
        start, end = (side[of_parts].astype(np.float64) for side in (segments.start, segments.end))
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (end[:, 1] - start[:, 1]) / (end[:, 0] - start[:, 0])
        slope = np.where(kind == LINEAR, slope, np.where(kind == EXTRAPOLATED, segments.slope[of_parts], 0))
        first, last = (start[:, 1] + slope * (time - start[:, 0]) for time in (low, high))
        rows = np.flatnonzero(kind == BEZIER)
        if len(rows):
            # In rows of times and of values, because products of pairs of numbers take four times as long.
            controls = np.moveaxis(segments.controls[:, of_parts[rows]], 2, 1).astype(np.float64, order="C")
            times = np.append(low[rows], high[rows])
            ends = parameter_of_time(np.tile(controls[:, 0], 2), times).reshape(2, -1)
            first[rows], last[rows], deviation[rows] = bezier_part(controls, *ends)
        rows = np.flatnonzero(kind >= EASED)
        if len(rows):
            start, span = start[rows], end[rows] - start[rows]
            settings = segments.settings[of_parts[rows]].astype(np.float64)
            low, high = (np.clip((time[rows] - start[:, 0]) / span[:, 0], 0, 1) for time in (low, high))
            *eased, deviation[rows] = eased_part(kind[rows] - EASED, settings, span, low, high)
            first[rows], last[rows] = (start[:, 1] + value for value in eased)
        return first, last, deviation

    def _located(self, curves: Ints, times: Singles) -> tuple[Ints, Ints, Singles]:
        """Segments (m,) at times, the keys (m,) that are as good there or -1, and parameters (m,)."""
        low = self._key_counts(curves, times, is_inclusive=True)
        first, last = self.starts[curves], self.starts[curves + 1] - 1
        before, after = np.maximum(low - 1, first), np.minimum(low, last)
        inside = (times >= self._times[first]) & (times <= self._times[last])
        near_after = np.abs(self._times[after] - times) <= NEAR_KEY
        near_before = np.abs(times - self._times[before]) <= NEAR_KEY
        nearest = np.where(inside & near_before, before, np.where(inside & near_after, after, -1))
        segments = low + curves
        parameters = np.zeros(len(times), dtype=np.float32)
        rows = np.flatnonzero((self.segments.kind[segments] == BEZIER) & (nearest < 0))
        coefficients = self.segments.polynomials[:, segments[rows], 0]
        start = self.segments.start[segments[rows], 0]
        parameters[rows] = parameters_at(coefficients, start, times[rows])
        return segments, nearest, parameters

    def _key_counts(self, curves: Ints, times: Singles | Floats, is_inclusive: bool) -> Ints:
        """First key (m,) after a time, or the next curve's first key if there is none.

        Plus the index of the curve, it is the segment at that time. If inclusive, a key at the time itself is
        before it.
        """
        wanted = np.empty(len(curves), dtype=np.complex128)
        wanted.real, wanted.imag = curves, times
        return np.searchsorted(self._by_curve, wanted, side="right" if is_inclusive else "left")

    def _values(self, segments: Ints, times: Singles, parameters: Singles, nearest: Ints) -> Singles:
        """Values (m,) of segments at times and parameters, or of the nearest keys where there are any."""
        all_segments = self.segments
        kind = np.where(nearest >= 0, CONSTANT, all_segments.kind[segments])
        result = all_segments.start[segments, 1]
        rows = np.flatnonzero(nearest >= 0)
        result[rows] = self.keys.points[nearest[rows], 1]
        rows = np.flatnonzero(kind == LINEAR)
        if len(rows):
            start, end = all_segments.start[segments[rows]], all_segments.end[segments[rows]]
            change, duration = (end - start)[:, 1], (end - start)[:, 0]
            result[rows] = change * (times[rows] - start[:, 0]) / duration + start[:, 1]
        rows = np.flatnonzero(kind == EXTRAPOLATED)
        if len(rows):
            start = all_segments.start[segments[rows]]
            slope = all_segments.slope[segments[rows]]
            result[rows] = start[:, 1] - slope * (start[:, 0] - times[rows])
        rows = np.flatnonzero(kind == BEZIER)
        if len(rows):
            c0, c1, c2, c3 = all_segments.polynomials[:, segments[rows], 1]
            s = parameters[rows]
            values = c0 + s * c1 + s * s * c2 + s * s * s * c3
            # Without a solution Blender returns 0.
            result[rows] = np.where(np.isnan(s), np.float32(0), values)
        rows = np.flatnonzero(kind >= EASED)
        if len(rows):
            chosen = segments[rows]
            sides = all_segments.start[chosen], all_segments.end[chosen]
            settings = all_segments.settings[chosen]
            result[rows] = eased_values(kind[rows] - EASED, times[rows], *sides, settings)
        return np.asarray(result)


def rounded_times(times: Floats) -> Floats:
    """Round times (t,) as Blender does: the part of a frame to single precision, and then the sum."""
    whole = np.floor(times)
    return np.asarray(whole.astype(np.float32) + (times - whole).astype(np.float32), dtype=np.float64)


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


def bezier_part(controls: Floats, begin: Floats, end: Floats) -> tuple[Floats, Floats, Floats]:
    """Values (m,) at both ends of the parts of Bezier segments between two parameters (m,).

    Also returns bounds (m,) of their distance from the lines through their ends. Conservative, and exact for
    handles at equal distances: the inner control values d1, d2 of the distance give at most
    3 s (1 - s) max(|d1|, |d2|).

    controls : (4, 2, m) times, which do not decrease, and values
    """
    q0, q1, q2, q3 = controls
    parts = []
    # Values of the polar form, which is symmetric, and linear in each argument.
    for r, s, t in ((begin, begin, begin), (begin, begin, end), (begin, end, end), (end, end, end)):
        a, b, c = q0 + r * (q1 - q0), q1 + r * (q2 - q1), q2 + r * (q3 - q2)
        a, b = a + s * (b - a), b + s * (c - b)
        parts.append(a + t * (b - a))
    times, values = np.stack(parts, axis=1)
    span = times[3] - times[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(span > 0, (values[3] - values[0]) / span, 0.0)
    inner = np.abs(values[1:3] - values[0] - slope * (times[1:3] - times[0])).max(axis=0)
    jump = np.abs(values[1:] - values[0]).max(axis=0)
    return values[0], values[3], np.where(span > 0, 0.75 * inner, jump)
