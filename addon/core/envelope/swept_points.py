"""Points around everything that moving points sweep, for shapes of any kind: at samples, and between them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np

from ..fitting.quickhull import face_planes, max_height_above, quickhull
from ..interval.pair_motion import interval_deviations
from ..numeric.arrays import Floats, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..progress import Progress

SampledPoints: TypeAlias = Mapping[int, Floats]
"""Points (n, 3) of each group that is present, by its number."""
_Sample: TypeAlias = tuple[float, SampledPoints]
"""A time, and the points at it."""
_ABSENT: Floats = np.empty(0)

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


def _deviation(samples: Sequence[_Sample], place: int, group: int) -> float:
    """Estimate the deviation from linear motion after a sample; 0 where the number of points changes."""
    first = samples[place][1].get(group)
    if first is None:
        return 0.0
    near = range(max(place - 1, 0), min(place + 3, len(samples)))
    equal = [k for k in near if samples[k][1].get(group, _ABSENT).shape == first.shape]
    if place + 1 not in equal or len(equal) < 3:
        return 0.0
    steps = np.diff([samples[k][0] for k in equal])[:, None]
    speeds = np.diff(np.stack([samples[k][1][group] for k in equal]), axis=0) / steps[..., None]
    changes = length(np.diff(speeds, axis=0))
    return float(interval_deviations(changes, steps, 0.0)[equal.index(place)].max(initial=0.0))


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

    def sampled(time: float) -> _Sample:
        groups = sample(time)
        for group, points in groups.items():
            swept[group].add(points)
        return time, groups

    window: list[_Sample] = []
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
    swept: Sequence[_SweptGroup], sampled: Callable[[float], _Sample], window: list[_Sample], place: int
) -> None:
    """Add the deviations from linear motion after a sample; halve the interval where they are too large."""
    # Samples, the one at the begin, open groups, their deviations in the halved interval, number of halvings.
    waiting = [(window, place, np.arange(len(swept)), np.full(len(swept), np.inf), 0)]
    while waiting:
        samples, place, groups, before, depth = waiting.pop()
        deviations = np.array([_deviation(samples, place, group) for group in groups.tolist()])
        sizes = np.array([swept[group].size for group in groups.tolist()])
        is_jump = (depth >= _JUMP_HALVINGS) & (deviations > _JUMP_RATIO * before)
        is_open = (deviations > _TOLERANCE * sizes) & ~is_jump & (depth < _MOST_HALVINGS)
        for row in np.flatnonzero(~is_open & ~is_jump).tolist():
            group = swept[groups[row]]
            group.between = max(group.between, float(deviations[row]))
        if is_open.any():
            (start, _), (end, _) = samples[place : place + 2]
            samples = [*samples[: place + 1], sampled((start + end) / 2), *samples[place + 1 :]]
            groups, before = groups[is_open], deviations[is_open]
            waiting += [(samples, half, groups, before, depth + 1) for half in (place, place + 1)]
