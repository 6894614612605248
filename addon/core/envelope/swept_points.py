"""Points around everything that moving points sweep, for shapes of any kind: at samples, and between them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np

from ..fitting.quickhull import face_planes, max_height_above, quickhull
from ..interval.pair_motion import interval_deviations
from ..numeric.arrays import Floats, Ints, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..progress import Progress

SampledPoints: TypeAlias = Mapping[int, Floats]
"""Points (n, 3) of each group that is present, by its number."""

_PROBE = (3 - 5**0.5) / 2
"""Position of the sample within each interval. Unlike 1/2, 1/3 or 1/4, it shows periodic motion."""
_TOLERANCE = 2e-3
"""Part of the size of a group by which its points may grow between samples."""
_MOST_HALVINGS = 9
_JUMP_HALVINGS, _JUMP_RATIO = 3, 0.8
"""A deviation that remains this large in half the interval, after so many halvings, is that of a jump."""
_SAME = 1e-6
"""Points that moved by less than this part of the size of their group are not kept again."""
_MOST_KEPT = 20_000
"""Points that are kept until those inside a convex hull of a few of them are removed."""
_FEW = 2000
"""Points that are returned as they are, because a hull of them takes longer than what it saves."""
_MOST_VERTICES = 100
"""Vertices of that hull."""


@dataclass
class _SweptGroup:
    """Points that a group has swept: those kept, and the distance within which the omitted ones are."""

    kept: list[Floats] = field(default_factory=list)
    last: Floats = field(default_factory=lambda: np.empty((0, 3)))
    size: float = 0.0
    omitted: float = 0.0
    between: float = 0.0
    limit: int = _MOST_KEPT

    def add(self, points: Floats) -> None:
        """Add points (n, 3), except those that are where they were when they were last kept."""
        self.size = max(self.size, float(np.ptp(points, axis=0).max(initial=0.0)) if len(points) else 0.0)
        if self.last.shape != points.shape:
            self.kept.append(points)
            self.last = points.copy()
            return
        distance = length(points - self.last)
        is_same = distance <= _SAME * self.size
        self.omitted = max(self.omitted, float(distance[is_same].max(initial=0.0)))
        if not is_same.all():
            self.kept.append(points[~is_same])
            self.last[~is_same] = points[~is_same]
        if sum(map(len, self.kept)) > self.limit:
            self._reduce()
            self.limit = max(_MOST_KEPT, 2 * len(self.kept[0]))

    def points(self) -> Floats:
        """Points whose convex hull holds everything that was swept."""
        if sum(map(len, self.kept)) > _FEW:
            self._reduce()
        kept = np.concatenate(self.kept)
        growth = self.omitted + self.between
        if not growth:
            return kept
        corners = np.array(list(product((-growth, growth), repeat=3)))
        return np.asarray((kept[:, None] + corners).reshape(-1, 3))

    def _reduce(self) -> None:
        """Remove points that are inside of the convex hull of a few."""
        points = np.concatenate(self.kept)
        low, high = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)
        extent = float((high - low).max())
        if extent > 0 and np.isfinite(extent):
            scaled = (points - (low + high) / 2) / extent
            hull = quickhull(scaled, max_vertices=_MOST_VERTICES)
            if hull is not None:
                height = max_height_above(scaled, *face_planes(scaled, hull.faces))
                points = points[height > -CHAIN_ROUNDING]
        self.kept = [points]


class _Interval(NamedTuple):
    """An interval between two of up to four successive samples, with the groups for which it is open.

    samples : list of (float, SampledPoints)
    place : Index of the sample at its beginning.
    groups : (g,) int
    depth : Number of halvings.
    before : (g,) float. Deviation of each group over the interval that was halved.
    """

    samples: Sequence[tuple[float, SampledPoints]]
    place: int
    groups: Ints
    depth: int
    before: Floats

    def deviation(self, group: int) -> float:
        """Estimate the deviation of a group from linear motion; 0 where its points differ in number."""
        every = [points.get(group) for _, points in self.samples]
        first, last = every[self.place], every[self.place + 1]
        if first is None or last is None or first.shape != last.shape:
            return 0.0
        begin, end = self.place, self.place + 2
        if begin and _has_as_many(every[begin - 1], first):
            begin -= 1
        if end < len(every) and _has_as_many(every[end], first):
            end += 1
        if end - begin < 3:
            return 0.0
        steps = np.diff([time for time, _ in self.samples[begin:end]])[:, None]
        speeds = np.diff(np.stack([points for points in every[begin:end] if points is not None]), axis=0)
        changes = length(np.diff(speeds / steps[..., None], axis=0))
        return float(interval_deviations(changes, steps, 0.0)[self.place - begin].max(initial=0.0))

    def halves(
        self, middle: tuple[float, SampledPoints], is_open: Ints, deviations: Floats
    ) -> list[_Interval]:
        """Both halves, for the open groups."""
        samples = [*self.samples[: self.place + 1], middle, *self.samples[self.place + 1 :]]
        groups, before = self.groups[is_open], deviations[is_open]
        around = (_around(samples, place) for place in (self.place, self.place + 1))
        return [_Interval(*each, groups, self.depth + 1, before) for each in around]


def _has_as_many(points: Floats | None, like: Floats) -> bool:
    return points is not None and points.shape == like.shape


def _around(
    samples: Sequence[tuple[float, SampledPoints]], place: int
) -> tuple[Sequence[tuple[float, SampledPoints]], int]:
    """Select both ends of an interval with their neighbors, and its place among these."""
    first = max(place - 1, 0)
    return samples[first : place + 3], place - first


def points_swept(
    sample: Callable[[float], SampledPoints], frames: Sequence[float], count: int, is_refinable: bool
) -> Generator[Progress, None, list[Floats]]:
    """Find points whose convex hulls hold everything that groups of moving points sweep.

    Guarantee: holds every sample, to rounding. Between samples conservative as far as the curvature of the
    motion follows from four neighboring samples, with a safety factor of four; motion that goes out and back
    between two samples is missed, and so is everything between samples of groups whose number of points
    changes. The points are at most about 0.4 % of the size of their group larger than needed.

    sample : Returns the points of all groups that are present at a time.
    frames : Increasing sample times, at least one.
    count : Number of groups.
    is_refinable : Whether `sample` accepts times between the frames, in any order. Otherwise motion is
        taken to be linear.
    Yields progress : After each frame.
    Returns points : list of (k, 3) float64. Points of each group; none for one that was never present.
    """
    swept = [_SweptGroup() for _ in range(count)]

    def sampled(time: float) -> tuple[float, SampledPoints]:
        groups = sample(time)
        for group, points in groups.items():
            swept[group].add(points)
        return time, groups

    window: list[tuple[float, SampledPoints]] = []
    for index, time in enumerate(frames):
        if window and is_refinable:
            for between in (window[-1][0] + _PROBE * (time - window[-1][0]), time):
                window = [*window[-3:], sampled(between)]
                if len(window) > 2:
                    _add_interval(swept, sampled, window, len(window) - 3)
        else:
            window = [*window[-3:], sampled(time)]
        yield Progress(index + 1, len(frames), time)
    if is_refinable and len(window) > 1:
        _add_interval(swept, sampled, window, len(window) - 2)
    return [group.points() if group.kept else np.empty((0, 3)) for group in swept]


def _add_interval(
    swept: Sequence[_SweptGroup],
    sampled: Callable[[float], tuple[float, SampledPoints]],
    window: Sequence[tuple[float, SampledPoints]],
    place: int,
) -> None:
    """Add the deviations from linear motion in an interval; halve it where they are too large."""
    every = np.arange(len(swept))
    waiting = [_Interval(*_around(window, place), every, 0, np.full(len(swept), np.inf))]
    while waiting:
        interval = waiting.pop()
        groups = interval.groups.tolist()
        deviations = np.array([interval.deviation(group) for group in groups])
        sizes = np.array([swept[group].size for group in groups])
        is_jump = (interval.depth >= _JUMP_HALVINGS) & (deviations > _JUMP_RATIO * interval.before)
        is_open = (deviations > _TOLERANCE * sizes) & ~is_jump & (interval.depth < _MOST_HALVINGS)
        for row in np.flatnonzero(~is_open & ~is_jump).tolist():
            group = swept[groups[row]]
            group.between = max(group.between, float(deviations[row]))
        if is_open.any():
            (start, _), (end, _) = interval.samples[interval.place], interval.samples[interval.place + 1]
            waiting += interval.halves(sampled((start + end) / 2), np.flatnonzero(is_open), deviations)
