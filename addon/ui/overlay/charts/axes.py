"""Axes of the graph of a separation: range, ticks, and the parts of the curve above and below zero."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....core.numeric.arrays import Floats
from ....scene.jobs.pair_separation import SeparationCurve

_MARGIN = 0.06
"""Part of the height that is free above and below the curve."""


class GraphAxes(NamedTuple):
    """Range of a graph: first and last frame, lowest and highest separation. Zero is always within."""

    first: float
    last: float
    low: float
    high: float

    @classmethod
    def of(cls, curve: SeparationCurve) -> GraphAxes:
        """Return the range that shows a whole curve, with a margin."""
        first, last = float(curve.frames[0]), float(curve.frames[-1])
        low = min(float(np.nanmin(curve.values)), 0.0)
        high = max(float(np.nanmax(curve.values)), curve.clearance, 0.0)
        margin = _MARGIN * ((high - low) or 1.0)
        return cls(first, last if last > first else first + 1.0, low - margin, high + margin)

    def across(self, frames: Floats) -> Floats:
        """Return horizontal positions (n,) of frames, from 0 at the first to 1 at the last."""
        return (frames - self.first) / (self.last - self.first)

    def up(self, values: Floats) -> Floats:
        """Return vertical positions (n,) of separations, from 0 at the lowest to 1 at the highest."""
        return (values - self.low) / (self.high - self.low)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers from `low` to `high`, in steps of 1, 2 or 5 times a power of 10."""
    power = math.floor(math.log10((high - low) / max(most, 1)))
    for step in (
        factor * 10.0**exponent for exponent in (power, power + 1, power + 2) for factor in (1, 2, 5)
    ):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [number * step for number in range(first, last + 1)]


def segments(curve: SeparationCurve) -> tuple[Floats, Floats]:
    """Divide a curve into straight segments above and below zero, cut where it goes through zero.

    Returns
    -------
    above, below : (n, 2, 2) float64
        Frame and separation of both ends. Samples without a value have no segments.
    """
    times, values = curve.frames, curve.values
    crosses = np.flatnonzero(values[:-1] * values[1:] < 0)
    part = values[crosses] / (values[crosses] - values[crosses + 1])
    between = times[crosses] + part * (times[crosses + 1] - times[crosses])
    times = np.insert(times, crosses + 1, between)
    values = np.insert(values, crosses + 1, 0.0)
    points = np.stack([times, values], axis=1)
    both = np.stack([points[:-1], points[1:]], axis=1)
    both = both[~np.isnan(both[:, :, 1]).any(axis=1)]
    is_below = both[:, :, 1].min(axis=1) < 0
    return both[~is_below], both[is_below]
