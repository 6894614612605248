"""Samples of some shapes around one interval, to which more are added while the interval is subdivided."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShapeError
from ..interval.linearity import max_deviation, velocities, velocity_change
from ..interval.pair_motion import PairMotion
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints
from ..shapes import Shape, gathered
from ..sweep.interpolation import at
from .interval_block import IntervalBlock, where_shapes
from .motion import Sample, SubframeSampler


class Timeline:
    """Samples of the shapes of some subjects around one interval of a block, by time.

    Attributes
    ----------
    subjects : (s,) int
        Indices of the subjects.
    members : (n,) int
        Indices of their shapes, increasing.
    start, end : float
        Times of both ends of the interval.
    shapes, poses : dict
        Shapes (n,) and the obstacle's pose (4, 4) at each sampled time.
    """

    def __init__(self, block: IntervalBlock, interval: int, subject_of: Ints, pairs: Ints) -> None:
        """Start with the frames around the interval, for the subjects of `pairs` (m, 2) of shapes."""
        self.subjects = np.unique(subject_of[pairs])
        self.members = np.flatnonzero(np.isin(subject_of, self.subjects))
        self.start, self.end = float(block.times[interval]), float(block.times[interval + 1])
        self.shapes: dict[float, Shape] = {}
        self.poses: dict[float, Floats] = {}
        self._present: dict[float, Bools] = {}
        self._times: list[float] = []
        frames = block.neighborhood(interval)
        for k, time in enumerate(frames.times.tolist()):
            if time not in self.shapes:
                self.shapes[time] = frames.shapes[k, self.members]
                self.poses[time] = frames.poses[k]
                self._present[time] = frames.present[k, self.members]
                self._times.append(time)
        # A shape that is absent at the end stays where it was: it counts as present for this interval.
        self.shapes[self.end] = block.ending[interval][self.members]
        self._present[self.end] = self._present[self.start] & self._present[self.end]

    def add_sample(self, time: float, motion: SubframeSampler, begin: float, end: float) -> None:
        """Sample the motion between the samples at `begin` and `end`; absent shapes move linearly."""
        returned = motion.sample_between(time, self.subjects)
        sample = returned if isinstance(returned, Sample) else Sample(returned)
        shapes = sample.shapes
        self.poses[time] = self.poses[begin] if sample.poses is None else sample.poses[0]
        if sample.present is not None:
            present = np.asarray(sample.present)
            if present.shape != shapes.shape:
                raise InvalidShapeError(f"sample at {time}: {present.shape} present of {shapes.shape} shapes")
            if not present.all():
                part = (time - begin) / (end - begin)
                linear = at(self.shapes[begin], self.shapes[end], np.full(shapes.shape, part))
                shapes = where_shapes(present, shapes, linear)
        self.shapes[time] = shapes
        self._present[time] = np.ones(shapes.shape, dtype=bool)
        insort(self._times, time)

    def neighbors(self, begin: float) -> tuple[float, float]:
        """Return the times before and after the part that begins at a sample, or else its own ends."""
        index = self._times.index(begin)
        return self._times[max(index - 1, 0)], self._times[min(index + 2, len(self._times) - 1)]

    def is_present(self, rows: Ints, *times: float) -> Bools:
        """Mask (r,) of members that are present at all of these times."""
        return np.asarray(np.logical_and.reduce([self._present[time][rows] for time in times]))


class IntervalPart(NamedTuple):
    """Part of an interval between two successive samples, and the rows (r,) of pairs still open in it."""

    timeline: Timeline
    begin: float
    end: float
    rows: Ints


def linear_motion_of_parts(
    parts: Sequence[IntervalPart], members: Ints, mesh: TriangleMesh | None
) -> tuple[PairMotion, Floats]:
    """Linear motion of the pairs of all parts, concatenated, and its estimated deviation; NaN for unknown.

    members : (m, 2) positions of both shapes of a row among the members of its timeline
    """
    gathers: list[list[tuple[Shape, Ints]]] = [[], [], [], []]
    steps, known_before, known_after = [], [], []
    for timeline, begin, end, rows in parts:
        both = members[rows].T.ravel()
        times = (begin, end, *timeline.neighbors(begin))
        for gather, time in zip(gathers, times, strict=True):
            gather.append((timeline.shapes[time], both))
        steps.append(np.tile(np.diff((times[2], begin, end, times[3])), (len(both), 1)))
        known_before.append(timeline.is_present(both, *times[:3]) & (times[2] < begin))
        known_after.append(timeline.is_present(both, *times[:2], times[3]) & (times[3] > end))
    s1, s2, s0, s3 = map(gathered, gathers)
    h0, h1, h2 = np.concatenate(steps).T
    speed = velocities(s1, s2, h1)
    deviation = np.full(len(h1), np.nan)
    for near, far, step, is_known in ((s0, s1, h0, known_before), (s2, s3, h2, known_after)):
        known = np.flatnonzero(np.concatenate(is_known))
        change = velocity_change(velocities(near[known], far[known], step[known]), speed[known])
        estimate = max_deviation(change, h1[known], h1[known] + step[known])
        deviation[known] = np.fmax(deviation[known], estimate)
    # Each part lists the first shapes of its pairs, then the second ones.
    count = np.repeat([len(part.rows) for part in parts], 2)
    is_first = np.repeat(np.arange(len(count)) % 2 == 0, count)
    a, b = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    second = (mesh, mesh) if mesh else (s1[b], s2[b])
    return PairMotion(s1[a], s2[a], *second), deviation[a] + deviation[b]
