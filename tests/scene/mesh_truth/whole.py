"""Whole answers of scans of meshes: intervals, depths and gaps, compared with dense samples of the scene."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tests.scene.mesh_truth.building import FRAMES, Pair
from tests.scene.mesh_truth.depths import Depths
from tests.scene.mesh_truth.evaluation import CURVED, SHORTEST, Sample, Sampler, sample_times, travel_between

_END = 0.01
"""Frames by which ends of contacts may be off: see docs/format.md."""
_MORE = 1e-3
"""Frames by which a begin may be off beyond its uncertainty, and an end."""
_LENGTH = 0.01
"""Part of the size of the smaller body by which a depth or a gap may be off."""
_FINE = 0.3
"""Part of that to which the truth is known."""
_SHORTEST_DOUBT = 2.0**-10
"""Frames below which an interval between samples without a touch is not divided."""
_MOST = 400
"""Times at which depths, or gaps, are measured."""


@dataclass(frozen=True)
class WholeAnswer:
    """Answer of a scan about a pair.

    Attributes
    ----------
    spans : list of (float, float, float)
        Begin, end and uncertainty of all intervals of contact.
    depth, gap : float or None
        Of the contact, and of the near miss.
    """

    spans: list[tuple[float, float, float]] = field(default_factory=list)
    depth: float | None = None
    gap: float | None = None


class WholeTruth:
    """Two bodies at dense times of the scene that is open, and when they touch, how deep, and how near."""

    def __init__(self, sampler: Sampler, per_frame: int) -> None:
        """Sample the scene."""
        self._sampler, self._depths = sampler, Depths()
        self._touches: dict[float, bool] = {}
        self._travels: dict[tuple[float, float], float] = {}
        self._times = sample_times(*FRAMES, per_frame)
        self.size = self._sampler.at(FRAMES[0]).size() / 2
        intervals = list(pairwise(self._times))[::-1]
        while intervals:
            before, after = intervals.pop()
            if self._is_decided(before, after):
                continue
            middle = 0.5 * (before + after)
            intervals += [(middle, after), (before, middle)]

    def touches(self, time: float) -> bool:
        """Return whether the surfaces touch, or one body is inside the other."""
        if time not in self._touches:
            sample = self._sampler.at(time)
            is_crossing = sample.least_gap == 0 and sample.gap == 0
            self._touches[time] = is_crossing or (_do_boxes_overlap(sample) and sample.has_one_inside())
        return self._touches[time]

    def _is_decided(self, before: float, after: float) -> bool:
        """Return whether nothing shorter than a millisecond can happen between two samples."""
        states, length = (self.touches(before), self.touches(after)), after - before
        if states[0] != states[1]:
            return length <= SHORTEST
        if states[0]:
            return length <= (self._times[1] - self._times[0]) / 2
        first, second = (self._sampler.at(time) for time in (before, after))
        travel = CURVED * travel_between(first, second)
        if length <= _SHORTEST_DOUBT or first.least_gap + second.least_gap > travel:
            return True
        return first.gap + second.gap > travel

    def wrong_times(self, spans: list[tuple[float, float, float]]) -> list[str]:
        """Return times at which the bodies touch outside of the spans of an answer, or are apart within."""
        for first, second in pairwise(sorted(spans)):
            self.touches(0.5 * (first[1] + second[0]))
        for begin, end, _ in spans:
            self.touches(0.5 * (begin + end))
        found = []
        for time, touches in sorted(self._touches.items()):
            within = any(
                begin - uncertainty - _MORE <= time <= end + _END + _MORE for begin, end, uncertainty in spans
            )
            inside = any(
                begin + uncertainty + _MORE < time < end - _END - _MORE for begin, end, uncertainty in spans
            )
            if touches and not within and not self._is_rounding(time):
                found.append(f"touch at {time}")
            if not touches and inside and self._sampler.at(time).gap > self._sampler.at(time).rounding():
                found.append(f"apart at {time}")
        return found

    def _is_rounding(self, time: float) -> bool:
        """Return whether Blender's rounding may move the bodies apart."""
        sample = self._sampler.at(time)
        if sample.has_one_inside():
            return False
        one, other = sample.corners
        for direction in np.concatenate([np.eye(3), -np.eye(3), _diagonals(), -_diagonals()]):
            moved = other + 2 * sample.rounding() * direction
            if Sample(time, (one, moved), sample.indices).gap > 0:
                return True
        return False

    def depth(self) -> float | None:
        """Return the greatest depth of all times; None if neither body is closed when they touch."""

        def depth_at(time: float) -> float:
            found = self._depths.at(self._sampler.at(time))
            return math.nan if found is None else -found

        intervals = [each for each in pairwise(sorted(self._touches)) if any(map(self.touches, each))]
        least = self._least(depth_at, intervals)
        return None if math.isnan(least) else -least

    def gap(self) -> float:
        """Return the least distance of the surfaces."""
        return self._least(lambda time: self._sampler.at(time).gap, list(pairwise(sorted(self._touches))))

    def _least(self, value_at: Callable[[float], float], intervals: list[tuple[float, float]]) -> float:
        """Least value, which changes no faster than the bodies move; NaN if it is that everywhere."""
        values = {time: value_at(time) for interval in intervals for time in interval}
        least, most = float(np.fmin.reduce(list(values.values()))), len(values) + _MOST
        while intervals and len(values) < most:
            bounds = [self._bound(values, *interval) for interval in intervals]
            lowest = int(np.argmin(bounds))
            if bounds[lowest] >= least - _FINE * _LENGTH * self.size:
                break
            before, after = intervals.pop(lowest)
            middle = 0.5 * (before + after)
            values[middle] = value_at(middle)
            least = float(np.fmin(least, values[middle]))
            intervals += [(before, middle), (middle, after)]
        return least

    def _bound(self, values: dict[float, float], before: float, after: float) -> float:
        """Bound the value between two times; inf where bodies jump or have none."""
        both = values[before] + values[after]
        if math.isnan(both) or after - before < 4 * SHORTEST:
            return math.inf
        if (before, after) not in self._travels:
            samples = (self._sampler.at(time) for time in (before, after))
            self._travels[before, after] = travel_between(*samples)
        travel = self._travels[before, after]
        return math.inf if math.isinf(travel) else (both - CURVED * travel) / 2


def _diagonals() -> np.ndarray:
    """Return unit vectors (4, 3) along the diagonals of a cube."""
    return np.array([(1, 1, 1), (1, 1, -1), (1, -1, 1), (-1, 1, 1)]) / math.sqrt(3)


def _do_boxes_overlap(sample: Sample) -> bool:
    low, high = ([getattr(each, name)(axis=(0, 1)) for each in sample.corners] for name in ("min", "max"))
    return bool((np.maximum(*low) <= np.minimum(*high)).all())


def wrong_wholes(answer: WholeAnswer, truth: WholeTruth, pair: Pair) -> list[str]:
    """Return what is wrong with the whole answer of a scan of meshes whose first touch is right.

    Of simulations, which are linear between frames, nothing is known.
    """
    if pair.is_linear:
        return []
    slack = _LENGTH * truth.size
    if not answer.spans:
        gap = truth.gap()
        if answer.gap is None:
            return [f"no gap, but {gap}"] if gap < truth.size / 2 else []
        return [f"gap {answer.gap}, not {gap}"] if abs(answer.gap - gap) > slack else []
    times, depth = truth.wrong_times(answer.spans), truth.depth()
    found = [f"{times[0]}, and {len(times) - 1} more"] if times else []
    if (answer.depth is None) != (depth is None):
        found.append(f"depth {answer.depth}, not {depth}")
    elif depth is not None and answer.depth is not None and abs(answer.depth - depth) > slack:
        found.append(f"depth {answer.depth}, not {depth}, of size {truth.size}")
    return found
