"""Times at which objects jump, because a curve of theirs goes from one value to another at once."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, Ints
from .segments import CONSTANT
from .transforms import Transforms

SHORT = 2.0**-10
"""Frames before or after a time from which its limit is computed; any would do."""


class Jumps:
    """Jumps of objects (n,), those of their parents included.

    times : list of (j,) float64. Times of each object's jumps, increasing, in frames.
    """

    def __init__(self, transforms: Transforms) -> None:
        """Find the jumps of all objects."""
        curves = transforms.animated.curves
        segments = curves.segments
        # A segment that is constant ends with a jump if its end has another value.
        ends = np.flatnonzero((segments.kind == CONSTANT) & (segments.start[:, 1] != segments.end[:, 1]))
        curve_of = np.searchsorted(segments.first, ends, side="right") - 1
        by_curve: dict[int, list[float]] = {}
        for curve, time in zip(curve_of.tolist(), segments.end[ends, 0].tolist(), strict=True):
            by_curve.setdefault(curve, []).append(time)
        self.times: list[Floats] = []
        for row, parent in enumerate(transforms.parent.tolist()):
            inherited = [] if parent < 0 else self.times[parent].tolist()
            mine = (
                (by_curve.get(curve, []) for curve in transforms.curve_of[row].tolist()) if by_curve else ()
            )
            self.times.append(np.unique([*inherited, *(time for times in mine for time in times)]))
        self._has_any = np.array([len(times) > 0 for times in self.times], dtype=bool)

    def next_after(self, objects: Ints, begin: Floats) -> Floats:
        """First jump (m,) of each object after its time (m,); inf for none."""
        result = np.full(len(objects), np.inf)
        for row in np.flatnonzero(self._has_any[objects]).tolist():
            times = self.times[objects[row]]
            position = np.searchsorted(times, begin[row], side="right")
            result[row] = times[position] if position < len(times) else np.inf
        return result

    def at(self, objects: Ints, times: Floats) -> np.ndarray:
        """Mask (t, m) of objects that jump at times (t,)."""
        result = np.zeros((len(times), len(objects)), dtype=bool)
        for column in np.flatnonzero(self._has_any[objects]).tolist():
            result[:, column] = np.isin(times, self.times[objects[column]])
        return result
