"""Animation curves as arrays: their values at times, as Blender computes and rounds them.

A curve is a sequence of keys. Between two keys the first one's interpolation applies; before the first and
after the last key the curve is extrapolated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
from .bezier import Singles, cubic_coefficients, parameters_at, shortened_handles, values_at
from .chords import Chords, cut, deviation_of_bezier, parameter_of_time

CONSTANT, LINEAR, BEZIER, EXTRAPOLATED = range(4)
_NEAR_KEY = np.float32(1e-4)
"""Distance in frames from a key within which Blender returns the key's value."""
_FLAT = float(np.finfo(np.float32).eps)
"""Difference of values below which Blender takes a segment as constant."""


class Keys(NamedTuple):
    """Keys (k,) of curves, those of each curve in order of time.

    Attributes
    ----------
    points : (k, 2) float32
        Time in frames, and value.
    left, right : (k, 2) float32
        Handles, as time and value.
    interpolation : (k,) int64
        CONSTANT, LINEAR or BEZIER, up to the next key.
    """

    points: Singles
    left: Singles
    right: Singles
    interpolation: Ints


class Curves:
    """Curves (c,) of one or more keys each.

    Attributes
    ----------
    starts : (c + 1,) int64
        First key of each curve, and the number of all keys.
    is_constant : (c,) bool
        Curves that have one value at all times.
    """

    def __init__(self, keys: Keys, starts: Ints, is_extrapolated: Bools) -> None:
        """Prepare the segments of all curves.

        Parameters
        ----------
        keys : Keys
            Of all curves, one curve after the other.
        starts : (c + 1,) int64
            First key of each curve, and the number of all keys.
        is_extrapolated : (c,) bool
            Whether a curve continues linearly before the first and after the last key.
        """
        self.starts = starts
        self._keys = keys
        self._times = keys.points[:, 0]
        self._prepare_segments(is_extrapolated)
        self._layout_of, self._layouts = self._group_layouts()
        flat = self._kind == CONSTANT
        per_curve = np.logical_and.reduceat(flat, self._segment_starts[:-1])
        first = np.repeat(self._start[self._segment_starts[:-1], 1], np.diff(self._segment_starts))
        per_curve &= np.logical_and.reduceat(self._start[:, 1] == first, self._segment_starts[:-1])
        self.is_constant: Bools = per_curve

    def __len__(self) -> int:
        """Return the number of curves."""
        return len(self.starts) - 1

    def _prepare_segments(self, is_extrapolated: Bools) -> None:
        """Compute kind, start and polynomials of each segment: one more in each curve than it has keys."""
        keys, starts = self._keys, self.starts
        counts = np.diff(starts)
        curve_of_key = np.repeat(np.arange(len(counts)), counts)
        self._segment_starts = starts + np.arange(len(starts))
        total = len(keys.points) + len(counts)
        # Segment i + 1 of a curve begins at its key i; segment 0 ends at key 0.
        after = np.arange(len(keys.points)) + curve_of_key + 1
        before_first, after_last = self._segment_starts[:-1], self._segment_starts[1:] - 1
        self._kind = np.full(total, CONSTANT)
        self._start = np.zeros((total, 2), dtype=np.float32)
        self._start[after] = keys.points
        self._start[before_first] = keys.points[starts[:-1]]
        self._end = np.zeros((total, 2), dtype=np.float32)
        self._end[after[:-1]] = keys.points[1:]
        self._end[after_last] = keys.points[starts[1:] - 1]
        self._end[before_first] = keys.points[starts[:-1]]
        self._kind[after] = keys.interpolation
        self._slope = np.zeros(total, dtype=np.float32)
        self._kind[before_first] = self._kind[after_last] = CONSTANT
        self._extrapolate(np.flatnonzero(is_extrapolated), before_first, after_last)
        self._kind[(self._kind == LINEAR) & (self._start[:, 0] == self._end[:, 0])] = CONSTANT
        self._prepare_polynomials(np.flatnonzero(self._kind == BEZIER), after)

    def _extrapolate(self, curves: Ints, before_first: Ints, after_last: Ints) -> None:
        """Set the slopes of the segments at both ends of some curves."""
        keys, starts = self._keys, self.starts
        for segments, ends, step, handles in (
            (before_first, starts[:-1], 1, keys.left),
            (after_last, starts[1:] - 1, -1, keys.right),
        ):
            end = ends[curves]
            kind = keys.interpolation[end]
            has_neighbor = np.diff(starts)[curves] > 1
            neighbor = np.where(has_neighbor, end + step, end)
            target = np.where(
                (kind == LINEAR)[:, None],
                keys.points[neighbor] - keys.points[end],
                keys.points[end] - handles[end],
            )
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = target[:, 1] / target[:, 0]
            is_sloped = (kind != CONSTANT) & (target[:, 0] != 0)
            rows = segments[curves[is_sloped]]
            self._kind[rows], self._slope[rows] = EXTRAPOLATED, slope[is_sloped]

    def _prepare_polynomials(self, rows: Ints, after: Ints) -> None:
        """Compute the cubic polynomials of Bezier segments; those with equal values become constant."""
        key_of = np.zeros(len(self._kind), dtype=np.int64)
        key_of[after] = np.arange(len(after))
        first = key_of[rows]
        start, end = self._keys.points[first], self._keys.points[first + 1]
        right, left = self._keys.right[first], self._keys.left[first + 1]
        y0, y1, y2, y3 = (points[:, 1] for points in (start, right, left, end))
        is_flat = (np.abs(y0 - y3) < _FLAT) & (np.abs(y1 - y2) < _FLAT) & (np.abs(y2 - y3) < _FLAT)
        is_flat |= start[:, 0] == end[:, 0]
        self._kind[rows[is_flat]] = CONSTANT
        right, left = shortened_handles(start, right, left, end)
        self._controls = np.zeros((4, len(self._kind), 2), dtype=np.float32)
        self._controls[:, rows] = start, right, left, end
        self._polynomials = np.zeros((4, len(self._kind), 2), dtype=np.float32)
        self._polynomials[:, rows] = cubic_coefficients(self._controls[:, rows])

    def _group_layouts(self) -> tuple[Ints, Ints]:
        """Group curves whose segments have the same kinds and times: index of each, and one curve of each."""
        seen: dict[bytes, int] = {}
        layouts: list[int] = []
        layout_of = np.empty(len(self), dtype=np.int64)
        times = np.ascontiguousarray(self._controls[:, :, 0].T)
        columns = np.column_stack([times, self._start[:, 0], self._end[:, 0], self._kind.astype(np.float32)])
        for curve, (begin, end) in enumerate(
            zip(self._segment_starts, self._segment_starts[1:], strict=False)
        ):
            key = columns[begin:end].tobytes()
            if key not in seen:
                seen[key] = len(layouts)
                layouts.append(curve)
            layout_of[curve] = seen[key]
        return layout_of, np.array(layouts, dtype=np.int64)

    def values_at(self, times: Floats) -> Singles:
        """Compute the values of all curves at times.

        Parameters
        ----------
        times : (t,) float64
            Increasing, in frames; rounded to float32.

        Returns
        -------
        values : (c, t) float32
        """
        t = times.astype(np.float32)
        result = np.empty((len(self), len(t)), dtype=np.float32)
        constant = self.is_constant
        result[constant] = self._start[self._segment_starts[:-1][constant], 1][:, None]
        moving = np.flatnonzero(~constant)
        layouts, layout_of = np.unique(self._layout_of[moving], return_inverse=True)
        curves = np.repeat(self._layouts[layouts], len(t))
        grid = np.tile(t, len(layouts))
        segment, nearest = self._segments_at(curves, grid)
        kind = self._kind[segment]
        parameters = np.zeros(len(grid), dtype=np.float32)
        rows = np.flatnonzero((kind == BEZIER) & (nearest < 0))
        parameters[rows] = self._parameters(segment[rows], grid[rows])
        shift = self._segment_starts[moving] - self._segment_starts[self._layouts[layouts]][layout_of]
        key_shift = self.starts[moving] - self.starts[self._layouts[layouts]][layout_of]
        shape = (len(layouts), len(t))
        segments = segment.reshape(shape)[layout_of] + shift[:, None]
        near = nearest.reshape(shape)[layout_of]
        near = np.where(near >= 0, near + key_shift[:, None], -1)
        values = self._values(
            segments.ravel(),
            np.broadcast_to(t, segments.shape).ravel(),
            parameters.reshape(shape)[layout_of].ravel(),
            near.ravel(),
        )
        result[moving] = values.reshape(segments.shape)
        return result

    def values_of(self, curves: Ints, times: Floats) -> Singles:
        """Compute the values (m,) of curves (m,), each at its own time (m,) in frames."""
        t = times.astype(np.float32)
        segments, nearest = self._segments_at(curves, t)
        parameters = np.zeros(len(t), dtype=np.float32)
        rows = np.flatnonzero((self._kind[segments] == BEZIER) & (nearest < 0))
        parameters[rows] = self._parameters(segments[rows], t[rows])
        return self._values(segments, t, parameters, nearest)

    def _segments_at(self, curves: Ints, times: Singles) -> tuple[Ints, Ints]:
        """Segment (m,) of each curve at its time, and the key (m,) that is as good as there, or -1."""
        low = self._key_counts(curves, times, is_inclusive=True)
        first, last = self.starts[curves], self.starts[curves + 1] - 1
        before, after = np.maximum(low - 1, first), np.minimum(low, last)
        inside = (times >= self._times[first]) & (times <= self._times[last])
        near_after = np.abs(self._times[after] - times) <= _NEAR_KEY
        near_before = np.abs(times - self._times[before]) <= _NEAR_KEY
        nearest = np.where(near_before, before, np.where(near_after, after, -1))
        return low + curves, np.where(inside, nearest, -1)

    def _key_counts(self, curves: Ints, times: Singles | Floats, is_inclusive: bool) -> Ints:
        """Index (m,) of the first key of each curve after its time; or at it, unless `is_inclusive`."""
        low, high = self.starts[curves], self.starts[curves + 1]
        last = high - 1
        # Binary search.
        for _ in range(int(np.diff(self.starts).max(initial=1)).bit_length()):
            middle = (low + high) // 2
            key = self._times[np.minimum(middle, last)]
            is_later = (key <= times) if is_inclusive else (key < times)
            is_open = low < high
            low = np.where(is_open & is_later, middle + 1, low)
            high = np.where(is_open & ~is_later, middle, high)
        return low

    def _parameters(self, segments: Ints, times: Singles) -> Singles:
        """Parameters (m,) of Bezier segments at times."""
        coefficients = self._polynomials[:, segments, 0]
        return parameters_at(coefficients, self._start[segments, 0], times)

    def _values(self, segments: Ints, times: Singles, parameters: Singles, nearest: Ints) -> Singles:
        """Values (m,) of segments at times and parameters, or of the nearest keys where there are any."""
        kind = np.where(nearest >= 0, CONSTANT, self._kind[segments])
        result = self._start[segments, 1]
        rows = np.flatnonzero(nearest >= 0)
        result[rows] = self._keys.points[nearest[rows], 1]
        rows = np.flatnonzero(kind == LINEAR)
        if len(rows):
            start, end = self._start[segments[rows]], self._end[segments[rows]]
            change, duration = (end - start)[:, 1], (end - start)[:, 0]
            result[rows] = change * (times[rows] - start[:, 0]) / duration + start[:, 1]
        rows = np.flatnonzero(kind == EXTRAPOLATED)
        if len(rows):
            start = self._start[segments[rows]]
            result[rows] = start[:, 1] - self._slope[segments[rows]] * (start[:, 0] - times[rows])
        rows = np.flatnonzero(kind == BEZIER)
        if len(rows):
            values = values_at(self._polynomials[:, segments[rows], 1], parameters[rows])
            # Without a solution Blender returns 0.
            result[rows] = np.where(np.isnan(parameters[rows]), np.float32(0), values)
        return np.asarray(result)

    def chords(self, curves: Ints, begin: Floats, end: Floats) -> Chords:
        """Compute the ends of curves over intervals of time, and bound their deviation from the chord.

        Computed in float64, from keys as Blender stores them.

        Parameters
        ----------
        curves : (m,) int64
            Indices of curves.
        begin, end : (m,) float64
            Times in frames, begin before end.

        Returns
        -------
        chords : Chords
        """
        first = self._key_counts(curves, begin, is_inclusive=True) + curves
        last = self._key_counts(curves, end, is_inclusive=False) + curves
        counts = last - first + 1
        row = np.repeat(np.arange(len(curves)), counts)
        starts = np.cumsum(counts) - counts
        segment = np.arange(len(row)) - starts[row] + first[row]
        low = np.where(segment == first[row], begin[row], self._start[segment, 0])
        high = np.where(segment == last[row], end[row], self._end[segment, 0])
        low_value, high_value, deviation = self._pieces(segment, low, high)
        at_begin, at_end = low_value[starts], high_value[starts + counts - 1]
        slope = (at_end - at_begin) / (end - begin)
        chord_low, chord_high = (at_begin[row] + slope[row] * (time - begin[row]) for time in (low, high))
        deviation += np.maximum(np.abs(low_value - chord_low), np.abs(high_value - chord_high))
        return Chords(at_begin, at_end, np.maximum.reduceat(deviation, starts) if len(starts) else at_begin)

    def _pieces(self, segments: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        """Values (p,) at both ends of parts of segments, and their deviation from their own chords."""
        start, end = self._start[segments].astype(np.float64), self._end[segments].astype(np.float64)
        kind = self._kind[segments]
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(kind == LINEAR, (end - start)[:, 1] / (end - start)[:, 0], 0.0)
        slope = np.where(kind == EXTRAPOLATED, self._slope[segments], slope)
        first, last = (start[:, 1] + slope * (time - start[:, 0]) for time in (low, high))
        deviation = np.zeros(len(segments))
        rows = np.flatnonzero(kind == BEZIER)
        if len(rows):
            times, values = np.moveaxis(self._controls[:, segments[rows]].astype(np.float64), -1, 0)
            ends = [parameter_of_time(times, time[rows]) for time in (low, high)]
            times, values = cut(times, *ends), cut(values, *ends)
            first[rows], last[rows] = values[0], values[3]
            deviation[rows] = deviation_of_bezier(times, values)
        return first, last, deviation
