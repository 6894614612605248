"""Animation curves as arrays: their values at times, as Blender computes and rounds them.

A curve is a sequence of keys. Between two keys the first one's interpolation applies; before the first and
after the last key the curve is extrapolated.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
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
    parameters_at,
    values_at,
)

NEAR_KEY = np.float32(1e-4)
"""Distance in frames from a key within which Blender returns the key's value."""


class Curves:
    """Curves (c,) of one or more keys each.

    keys : Keys
    starts : (c + 1,) int64. First key of each curve, and the number of all keys.
    segments : Segments
    is_constant : (c,) bool. Curves that have one value at all times.
    """

    def __init__(self, keys: Keys, starts: Ints, is_extrapolated: Bools) -> None:
        """Prepare the segments of all curves.

        keys : Of all curves, one curve after the other.
        starts : (c + 1,) int64. First key of each curve, and the number of all keys.
        is_extrapolated : (c,) bool. Whether a curve continues linearly before the first and after the last
            key.
        """
        self.keys, self.starts = keys, starts
        self.segments = segments = Segments(keys, starts, is_extrapolated)
        self._times = np.ascontiguousarray(keys.points[:, 0])
        # Curves whose segments have the same kinds and times: the group of each, and one curve of each group.
        seen: dict[bytes, int] = {}
        layouts: list[int] = []
        self._layout_of = np.empty(len(self), dtype=np.int64)
        times = (segments.controls[:, :, 0], segments.start[:, 0], segments.end[:, 0], segments.kind)
        columns = np.vstack([np.asarray(rows, dtype=np.float32) for rows in times]).T
        columns = np.ascontiguousarray(columns)
        for curve, (begin, end) in enumerate(zip(segments.first, segments.first[1:], strict=False)):
            key = columns[begin:end].tobytes()
            if key not in seen:
                seen[key] = len(layouts)
                layouts.append(curve)
            self._layout_of[curve] = seen[key]
        self._layouts = np.array(layouts, dtype=np.int64)
        first = segments.first[:-1]
        value = np.repeat(segments.start[first, 1], np.diff(segments.first))
        is_flat = (segments.kind == CONSTANT) & (segments.start[:, 1] == value)
        self.is_constant: Bools = np.logical_and.reduceat(is_flat, first) if len(first) else is_flat

    def __len__(self) -> int:
        """Return the number of curves."""
        return len(self.starts) - 1

    def values_at(self, times: Floats) -> Singles:
        """Compute the values of all curves at times.

        times : (t,) float64. Increasing, in frames; rounded to float32.
        Returns values : (c, t) float32
        """
        t = times.astype(np.float32)
        result = np.empty((len(self), len(t)), dtype=np.float32)
        result[:] = self.segments.start[self.segments.first[:-1], 1][:, None]
        moving = np.flatnonzero(~self.is_constant)
        # What depends on time is located once for curves whose keys and handles are at equal times.
        used, of_curve = np.unique(self._layout_of[moving], return_inverse=True)
        curves, first = self._layouts[used], self.segments.first
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

    def _located(self, curves: Ints, times: Singles) -> tuple[Ints, Ints, Singles]:
        """Segments (m,) at times, the keys (m,) that are as good there or -1, and parameters (m,)."""
        low = self.key_counts(curves, times, is_inclusive=True)
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

    def key_counts(self, curves: Ints, times: Singles | Floats, is_inclusive: bool) -> Ints:
        """Find the first key after a time.

        curves : (m,) int64. Indices of curves.
        times : (m,) float32 or float64. In frames.
        is_inclusive : Whether a key at the time itself is before it.
        Returns keys : (m,) int64. Index of the key, or of the next curve's first key if there is none. Plus
            the index of the curve, it is the segment at that time.
        """
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
            values = values_at(all_segments.polynomials[:, segments[rows], 1], parameters[rows])
            # Without a solution Blender returns 0.
            result[rows] = np.where(np.isnan(parameters[rows]), np.float32(0), values)
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
