"""Points around everything that moving points sweep, for shapes of any kind: at samples, and between them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

import numpy as np

from ..fitting.quickhull import face_planes, max_height_above, quickhull
from ..numeric.arrays import Floats, Ints, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..progress import Progress
from .halving import SWEPT_TOLERANCE, deviations, sweep_over

SampledPoints: TypeAlias = Mapping[int, Floats]
"""Points (n, 3) of each group that is present, by its number."""
_ABSENT: Floats = np.empty(0)

_SMALLEST = 1e-200
"""Size of a group of one point."""
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
            faces = quickhull(scaled, max_vertices=_MOST_VERTICES)
            if faces is not None:
                height = max_height_above(scaled, *face_planes(scaled, faces))
                points = points[height > -CHAIN_ROUNDING]
        self.kept = [points]


class _SweptPoints:
    """Groups of points, and what they have swept. Implements `halving.Sweep`."""

    most_halvings = 9
    jump_halvings = 3
    chunk = 16

    def __init__(self, sample: Callable[[float], SampledPoints], count: int) -> None:
        self._sample = sample
        self._samples: list[Floats] = []
        self.groups = [_SweptGroup() for _ in range(count)]

    def sample(self, rows: Ints, times: Floats) -> Generator[float, None, Ints]:
        numbers = np.empty(len(rows), dtype=np.int64)
        for time in np.unique(times).tolist():
            found = self._sample(time)
            for group, points in found.items():
                self.groups[group].add(points)
            places = np.flatnonzero(times == time)
            numbers[places] = np.arange(len(places)) + len(self._samples)
            self._samples += [found.get(group, _ABSENT) for group in rows[places].tolist()]
            yield time
        return numbers

    def keep(self, samples: Ints) -> None:
        self._samples = [self._samples[number] for number in samples.tolist()]

    def growth(self, rows: Ints, around: Ints, times: Floats) -> tuple[Ints, Floats, Floats]:
        """See `Sweep`: 0 where the number of points changes."""
        found, size = np.zeros(len(rows)), np.array([self.groups[group].size for group in rows.tolist()])
        for place, numbers in enumerate(around.T.tolist()):
            points = [_ABSENT if number < 0 else self._samples[number] for number in numbers]
            is_known = np.array([each.shape == points[1].shape for each in points])
            if len(points[1]) and is_known[2]:
                values = np.stack([points[each if is_known[each] else 1] for each in range(4)])
                near = times[:, place, None, None]
                found[place] = length(deviations(near, values, is_known[::3, None, None])).max()
        return np.arange(len(rows)), found / np.maximum(SWEPT_TOLERANCE * size, _SMALLEST), found

    def add(self, rows: Ints, growth: Floats) -> None:
        for group, deviation in zip(rows.tolist(), growth.tolist(), strict=True):
            self.groups[group].between = max(self.groups[group].between, deviation)


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
    Yields progress : After each sample, and each step of work between samples.
    Returns points : list of (k, 3) float64. Points of each group; none for one that was never present.
    """
    swept = _SweptPoints(sample, count)
    yield from sweep_over(swept, np.asarray(frames, dtype=np.float64), np.full(count, is_refinable))
    found: list[Floats] = []
    for group in swept.groups:
        found.append(group.points() if group.kept else np.empty((0, 3)))
        yield Progress(len(frames), len(frames), frames[-1])
    return found
