"""Segments of animation curves: what a curve is before, between and after its keys."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Bools, Ints
from ..numeric.table import Table
from .bezier import Singles, cubic_coefficients, shortened_handles

CONSTANT, LINEAR, BEZIER, EXTRAPOLATED, EASED = range(5)
"""Kinds of segments. For an eased one, the number of its easing is added: see `easings.easing_code`."""
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
        """Prepare the segments of all curves; see `Curves`."""
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
            has_neighbor = np.diff(starts)[curves] > 1
            neighbor = np.where(has_neighbor, end + step, end)
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
        right, left = shortened_handles(start, right, left, end)
        self.controls = np.zeros((4, len(self.kind), 2), dtype=np.float32)
        self.controls[:, rows] = start, right, left, end
        self.polynomials = np.zeros((4, len(self.kind), 2), dtype=np.float32)
        self.polynomials[:, rows] = cubic_coefficients(self.controls[:, rows])
