"""Animation curves as arrays: values at times, as Blender computes and rounds them, and bounds in between.

A curve is a sequence of keys. Between two keys the first one's interpolation applies; before the first and
after the last key the curve is extrapolated. The chord of a curve over an interval is the straight line from
its value at the begin to its limit at the end; it is computed in float64, from keys as Blender stores them.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Table
from .easing_bounds import eased_part
from .easings import eased_values
from .segments import (
    BEZIER,
    CONSTANT,
    EASED,
    EXTRAPOLATED,
    LINEAR,
    Keys,
    Segments,
    Singles,
    cut,
    deviation_of_bezier,
    parameter_of_time,
    parameters_at,
)

NEAR_KEY = np.float32(1e-4)
"""Distance in frames from a key within which Blender returns the key's value."""


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
        self._by_curve = np.repeat(np.arange(self.count), np.diff(starts)) + 1j * self._times.astype(
            np.float64
        )
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
            times, values = np.moveaxis(segments.controls[:, of_parts[rows]].astype(np.float64), -1, 0)
            ends = parameter_of_time(np.tile(times, 2), np.append(low[rows], high[rows])).reshape(2, -1)
            times, values = cut(times, *ends), cut(values, *ends)
            first[rows], last[rows] = values[0], values[3]
            deviation[rows] = deviation_of_bezier(times, values)
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
