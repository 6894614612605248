"""Blocks of successive intervals, solved together as arrays, and timelines of subdivided intervals."""

from __future__ import annotations

from bisect import insort
from collections.abc import Generator, Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShapeError
from ..interval.pair_motion import (
    PairMotion,
    interval_deviations,
    max_deviation,
    rotation_sagitta,
    velocities,
    velocity_change,
)
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints, Table, largest_component
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Aabb, Shape, assigned, concatenated, where_shapes
from ..sweep.interpolation import at
from .motion import KnownMotion, ObstacleSpace, Sample, SubframeSampler, as_sample

_DOUBT = 3.0
"""Part of its path, or of that in the neighboring interval, by which a shape may deviate from linear motion
where one neighbor alone is known.
"""
_DOUBT_OF_FINE, _RESERVE_OF_FINE = 0.25, 16.0
"""The same for short parts, and the factor of the estimate that it is at most.

A wave deviates by an eighth of its path in a radian, and hardly at all where it passes through its middle.
"""
_FINE_PART = 0.25
"""Part of an interval that is short enough for that, and for estimates from two neighbors without reserve."""
_ABRUPT = 8.0
"""Ratio of speeds from which a part is much faster than its neighbors: less where smooth motion is fine."""
_COARSE = 8
"""Intervals over which deviations are bounded together, before it is known where shapes come near others."""
_KNOWN_PER_CHUNK = 1 << 12
"""Shapes times intervals, by their costs, whose deviations are bounded at once: about 25 ms."""
_RESERVE, _RESERVE_OF_WHOLE = 2.0, 4.0
"""Factors of deviations over longer parts, and over whole intervals.

A wave of one radian in a quarter of a frame changes the velocity between frames by too little: where it turns
within an interval it deviates by four times as much.
"""


class Frames(Table):
    """All shapes at some times.

    times : (k,) float
    shapes : Shape, batch (k, n)
    present : (k, n) bool
    poses : (k, 4, 4) float. Pose of the obstacle whose space the shapes are in, in the world; identity for
        bodies among themselves.
    moved : (k, n) bool. Shapes of subjects that have moved or deformed since the frame before, even if the
        shapes have not.
    """

    times: Floats
    shapes: Shape
    present: Bools
    poses: Floats
    moved: Bools

    @classmethod
    def from_sample(
        cls, times: Floats, sample: Sample, subject_of: Ints, space: ObstacleSpace | None = None
    ) -> Frames:
        """Convert a sample of `times` (k,) to shapes in the space of an obstacle, if there is one."""
        if space is not None:
            sample = space.to_local(sample, sample.present)
        # Bodies among themselves do not need obstacle poses.
        shape, poses = sample.shapes.shape, None if space is None else sample.poses
        masks = []
        for name, mask, default in (("present", sample.present, True), ("moved", sample.moved, False)):
            if mask is not None and len(subject_of) and mask.shape[1] <= subject_of.max():
                raise InvalidShapeError(f"sample at {times[0]}: {name} has {mask.shape[1]} subjects, too few")
            masks.append(np.full(shape, default) if mask is None else mask[:, subject_of])
        present, moved = masks
        poses = np.broadcast_to(np.eye(4), (len(times), 4, 4)) if poses is None else poses[:, 0]
        return cls(times, sample.shapes, present, poses, moved)


class IntervalBlock:
    """The intervals (k,) between frames (k + 1,) of shapes (n,).

    mesh : Mesh of the obstacle, whose bounding sphere is the last shape; None for bodies among themselves.
    begin, end : Times of the first and the last frame.
    is_instant : Whether the block is one frame, as start and end of an interval without duration.
    count : Number of intervals, k.
    times, shapes, present, poses, moved : (k + 1, ...). Of the frames.
    ending : Shape, batch (k, n). Shapes at the end of each interval. A shape that is absent by then stays
        where it was; one that appears belongs to the next interval.
    boxes, ending_boxes : Aabb, batches (k + 1, n) and (k, n). Boxes around `shapes` and `ending`.
    jumps : (k, n) bool. Known shapes that jump at the end of each interval.
    has_limit : (k, n) bool. Known shapes whose ending is not shown at the end of each interval: they jump
        or disappear there.
    moves_unseen : (n,) bool. Shapes that move within the block, whether their samples show it or not.
    deviation : (k, n) float. Assumed deviation of each shape from linear motion; 0 if the scan takes motion
        as linear.
    """

    def __init__(
        self, frames: Frames, first: int, last: int, mesh: TriangleMesh | None, is_linear: bool
    ) -> None:
        """Make a block of `frames` from `first` to `last`; their neighbors serve to estimate deviations."""
        self.mesh = mesh
        within = frames.take(slice(first, last + 1))
        self.begin, self.end = float(within.times[0]), float(within.times[-1])
        self.is_instant = self.begin == self.end
        self.count = last - first
        self.times, self.shapes, self.poses = within.times, within.shapes, within.poses
        self.present, self.moved = within.present, within.moved
        stays = self.present[1:]
        self.boxes = self.shapes.aabb()
        self.ending, self.ending_boxes = self.shapes[1:], self.boxes[1:]
        if not stays.all():
            self.ending = where_shapes(stays, self.shapes[1:], self.shapes[:-1])
            self.ending_boxes = self.ending.aabb()
        # With one frame before and one after, if there are any.
        self._around = frames.take(slice(max(first - 1, 0), last + 2))
        self._first = min(first, 1)
        self._has_next = last + 1 < len(frames.times)
        shape = (self.count, self.present.shape[1])
        self.moves_unseen: Bools = np.zeros(shape[1], dtype=bool)
        self.jumps: Bools = np.zeros(shape, dtype=bool)
        self._known: KnownMotion | None = None
        self._jump_lengths: Floats = np.zeros(shape)
        # Number of shapes that are no bounds of an obstacle.
        self._movers = self.present.shape[1] - bool(mesh)
        self.has_limit: Bools = np.zeros(shape, dtype=bool)
        self.deviation = np.zeros(shape) if is_linear else self.estimated_deviations(np.arange(shape[1]))
        unknown = np.isnan(self.deviation)
        if unknown.any():
            # As much as they move.
            low, high = (
                self.ending_boxes.min - self.boxes.min[:-1],
                self.ending_boxes.max - self.boxes.max[:-1],
            )
            moved = np.maximum(largest_component(low), largest_component(high))
            self.deviation = np.where(unknown, moved, self.deviation)

    def doubt(self, is_refinable: Bools) -> None:
        """Assume larger deviations of shapes (n,) that can be sampled, so that pairs which are near are.

        At the begin and at the end of a scan one change of velocity alone is known. It does not show how much
        the next one would be.
        """
        if self.is_instant or not self.count:
            return
        self.deviation[:, is_refinable] *= _RESERVE_OF_WHOLE
        steps = np.diff(self._around.times)[:, None]
        around = self._around.shapes
        paths = velocity_change(np.zeros(()), velocities(around[:-1], around[1:], steps)) * steps
        for is_end, interval, near in (
            (not self._first, 0, slice(0, 2)),
            (not self._has_next, self.count - 1, slice(-2, None)),
        ):
            if is_end:
                doubtful = np.where(is_refinable, _DOUBT * paths[near].max(axis=0), 0.0)
                self.deviation[interval] = np.fmax(self.deviation[interval], doubtful)

    def use_known(
        self, motion: KnownMotion, is_known: Bools, has_jumped: Bools
    ) -> Generator[float, None, None]:
        """Replace what is assumed of known shapes (n,) by what their motion gives.

        Shapes that have jumped (n,) at the first frame count as moving.

        The ending of a shape that jumps or disappears at the end of an interval is where it is before that.
        Where it jumps, its deviation includes the jump, so that it holds for the sample after it too.

        Deviations are those over several intervals, until `refine` bounds those of intervals in question. In
        linear motion over several intervals, a shape is at each sample within this deviation of the sample.
        So it is within twice the deviation of linear motion between two of these samples.

        Yields after each chunk of work the part of it that is done.
        """
        known = np.flatnonzero(is_known)
        if self.is_instant or not len(known):
            return
        self._known = motion
        self._find_limits(motion, known)
        starts = np.arange(0, self.count, _COARSE)
        ends = np.minimum(starts + _COARSE, self.count)
        group, shape = np.repeat(np.arange(len(starts)), len(known)), np.tile(known, len(starts))
        begin, end = starts[group], ends[group]
        coarse = 2 * (yield from self._bounded(shape, begin, end))
        self.moves_unseen = has_jumped.copy()
        self.moves_unseen[shape[coarse > 0]] = True
        first, last = self.shapes[begin, shape], self.ending[end - 1, shape]
        # Where a shape is absent at an end, the samples do not show how far it turns.
        absent = ~(self.present[begin, shape] & self.present[end - 1, shape]) & (shape < self._movers)
        if absent.any():
            first = assigned(first, absent, motion.shapes_of(shape[absent], self.times[begin[absent]]))
            limits = motion.shapes_of(shape[absent], self.times[end[absent]], is_before=True)
            last = assigned(last, absent, limits)
        coarse += rotation_sagitta(first, last)
        self.deviation[:, known] = coarse.reshape(len(starts), -1)[np.arange(self.count) // _COARSE]
        self.deviation += self._jump_lengths

    def _find_limits(self, motion: KnownMotion, known: Ints) -> None:
        """Find the endings of known shapes (m,) that jump or disappear at the end of an interval."""
        moving = known[known < self._movers]
        shapes, begin, last = moving, np.full(len(moving), self.begin), np.nextafter(self.end, np.inf)
        while len(shapes):
            begin = motion.next_jumps(shapes, begin, np.full(len(shapes), last))
            shapes, begin = shapes[begin < last], begin[begin < last]
            frame = np.searchsorted(self.times, begin)
            is_end = self.times[frame] == begin
            self.jumps[frame[is_end] - 1, shapes[is_end]] = True
        vanishes = np.zeros(self.jumps.shape, dtype=bool)
        vanishes[:, moving] = (self.present[:-1] & ~self.present[1:])[:, moving]
        self.has_limit = (self.jumps & self.present[1:]) | vanishes
        if not self.has_limit.any():
            return
        interval, shape = np.nonzero(self.has_limit)
        limits = motion.shapes_of(shape, self.times[interval + 1], is_before=True)
        self.ending = assigned(self.ending, (interval, shape), limits)
        self.ending_boxes = self.ending.aabb()
        after, before = self.boxes[interval + 1, shape], self.ending_boxes[interval, shape]
        moved = np.maximum(np.abs(after.min - before.min), np.abs(after.max - before.max)).sum(axis=-1)
        self._jump_lengths[interval, shape] = np.where(vanishes[interval, shape], 0.0, moved)

    def refine(self, interval: Ints, shapes: Ints) -> Generator[float, None, None]:
        """Bound the deviations of known shapes (m,) in their intervals (m,)."""
        deviations = yield from self._bounded(shapes, interval, interval + 1)
        self.deviation[interval, shapes] = deviations + self._jump_lengths[interval, shapes]

    def _bounded(self, shapes: Ints, begin: Ints, end: Ints) -> Generator[float, None, Floats]:
        """Deviations (m,) of known shapes (m,) between two frames (m,) of each; yields the part done."""
        assert self._known is not None
        # The bounds of an obstacle, which is at rest, are no shape of the motion.
        result, rows = np.zeros(len(shapes)), np.flatnonzero(shapes < self._movers)
        chunk_of = np.cumsum(self._known.costs[shapes[rows]]) // _KNOWN_PER_CHUNK
        for chunk in np.split(rows, np.flatnonzero(np.diff(chunk_of)) + 1):
            ends = self.times[begin[chunk]], self.times[end[chunk]]
            result[chunk] = self._known.deviations(shapes[chunk], *ends)
            yield (chunk[-1] + 1) / len(shapes) if len(chunk) else 1.0
        return result

    def neighborhood(self, interval: int) -> Frames:
        """Return both frames of an interval, the one before and the one after, as far as there are any."""
        begin = self._first + interval
        return self._around.take(slice(max(begin - 1, 0), begin + 3))

    def swept_boxes(self, margin: Floats, rows: tuple[Ints, ...] | None = None) -> Aabb:
        """Boxes (k, n) around the shapes over each interval, padded by `margin` (n,) and the deviation.

        Those of shapes that are not present at the begin are empty, from inf to -inf.

        rows : Intervals and shapes (m,), for which the boxes (m,) are; all without them.
        """
        interval, shape = rows or (slice(None), slice(None))
        ending, margin = self.ending[interval, shape], margin[shape]
        with np.errstate(invalid="ignore"):
            padding = margin + np.nan_to_num(self.deviation[interval, shape])
            padding += rotation_sagitta(self.shapes[:-1][interval, shape], ending)
        # Rounded outward, because the sides of boxes around spheres carry a rounding error or two.
        boxes = self.boxes[:-1][interval, shape].merged(self.ending_boxes[interval, shape])
        boxes = boxes.padded(padding * (1 + CHAIN_ROUNDING))
        present = self.present[:-1][interval, shape][..., None]
        if present.all():
            return boxes
        return Aabb.unchecked(np.where(present, boxes.min, np.inf), np.where(present, boxes.max, -np.inf))

    def estimated_deviations(self, shapes: Ints) -> Floats:
        """Deviation (k, m) of some shapes (m,) from linear motion; NaN where no neighbor is known."""
        if not self.count or self.is_instant:
            return np.zeros((self.count, len(shapes)))
        around, present = self._around.shapes[:, shapes], self._around.present[:, shapes]
        steps = np.diff(self._around.times)[:, None]
        speed = velocities(around[:-1], around[1:], steps)
        is_known = present[:-2] & present[1:-1] & present[2:]
        changes = np.where(is_known, velocity_change(speed[:-1], speed[1:]), np.nan)
        return interval_deviations(changes, steps, np.nan)[self._first : self._first + self.count]


class Timeline:
    """Samples of the shapes of some subjects around one interval of a block, by time.

    subjects : (s,) int. Indices of the subjects.
    members : (n,) int. Indices of those of their shapes that are in the pairs, increasing.
    start, end : Times of both ends of the interval.
    shapes, poses : Shapes (n,) and the obstacle's pose (4, 4) at each sampled time.
    """

    def __init__(self, block: IntervalBlock, interval: int, subject_of: Ints, pairs: Ints) -> None:
        """Start with the frames around the interval, for the shapes of `pairs` (m, 2)."""
        self.members = np.unique(pairs)
        self.subjects = np.unique(subject_of[self.members])
        # Positions of the members among all shapes of the subjects.
        every = np.flatnonzero(np.isin(subject_of, self.subjects))
        self._places = np.searchsorted(every, self.members)
        self._count = len(every)
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
        name, sample_parts = f"sample at {time}", getattr(motion, "sample_parts", None)
        is_part = sample_parts is not None
        if sample_parts is not None:
            sample = as_sample(sample_parts(time, self.subjects, self.members), name)
        else:
            sample = as_sample(motion.sample_between(time, self.subjects), name)
        shapes, present = sample.shapes, sample.present
        expected = self.shapes[begin]
        count = len(self.members) if is_part else self._count
        if type(shapes) is not type(expected) or shapes.shape != (count,):
            raise InvalidShapeError(
                f"{name}: {type(shapes).__name__} {shapes.shape} instead of"
                f" {type(expected).__name__} {(count,)}"
            )
        self.poses[time] = self.poses[begin] if sample.poses is None else sample.poses[0]
        if present is not None and present.shape != shapes.shape:
            raise InvalidShapeError(f"{name}: {present.shape} present of {shapes.shape} shapes")
        if not is_part:
            shapes, present = shapes[self._places], None if present is None else present[self._places]
        if present is not None and not present.all():
            part = (time - begin) / (end - begin)
            linear = at(self.shapes[begin], self.shapes[end], np.full(shapes.shape, part))
            shapes = where_shapes(present, shapes, linear)
        self.shapes[time] = shapes
        self._present[time] = np.ones(shapes.shape, dtype=bool)
        insort(self._times, time)

    def around(self, begin: float, end: float) -> tuple[float, float, float, float]:
        """Return the times of the samples before, at both ends of, and after a part; its own end for none."""
        index = self._times.index(begin)
        after = self._times[min(index + 2, len(self._times) - 1)]
        return self._times[max(index - 1, 0)], begin, end, after

    def knows_sides(self, times: tuple[float, float, float, float], rows: Ints) -> Bools:
        """Mask (2, r) of members that are present in the part before and in the one after: see `around`."""
        before, begin, end, after = (self._present[time][rows] for time in times)
        is_within = begin & end
        return np.stack(
            [before & is_within & (times[0] < times[1]), is_within & after & (times[3] > times[2])]
        )


class IntervalPart(NamedTuple):
    """Part of an interval between two successive samples, and the rows (r,) of pairs still open in it."""

    timeline: Timeline
    begin: float
    end: float
    rows: Ints


def linear_motion_of_parts(
    parts: Sequence[IntervalPart], members: Ints, mesh: TriangleMesh | None
) -> tuple[PairMotion, Floats, Bools]:
    """Linear motion of the pairs (m,) of all parts, concatenated, and how well that fits.

    Also returns the estimated deviation (m,) of both shapes together from that motion, NaN for unknown; and a
    mask (m,) of pairs of which a shape is so much faster than just before and after that it may have jumped.

    members : (m, 2) positions of both shapes of a row among the members of its timeline
    """
    gathers: list[list[Shape]] = [[], [], [], []]
    steps, is_known, lengths = [], [], []
    for timeline, begin, end, rows in parts:
        both = members[rows].T.ravel()
        times = timeline.around(begin, end)
        for gather, time in zip(gathers, times, strict=True):
            gather.append(timeline.shapes[time][both])
        steps.append(np.tile(np.diff(times), (len(both), 1)))
        is_known.append(timeline.knows_sides(times, both))
        lengths.append(np.full(len(both), timeline.end - timeline.start))
    shapes = [concatenated(*gather) for gather in gathers]
    deviation, is_abrupt = _deviations_of_parts(
        shapes, np.concatenate(steps).T, np.concatenate(is_known, axis=1), np.concatenate(lengths)
    )
    # Each part lists the first shapes of its pairs, then the second ones.
    is_second = np.concatenate([np.repeat([False, True], len(part.rows)) for part in parts])
    a, b = np.flatnonzero(~is_second), np.flatnonzero(is_second)
    second = (mesh, mesh) if mesh else (shapes[1][b], shapes[2][b])
    motion = PairMotion(shapes[1][a], shapes[2][a], *second)
    return motion, deviation[a] + deviation[b], is_abrupt[a] | is_abrupt[b]


def _deviations_of_parts(
    shapes: Sequence[Shape], steps: Floats, is_known: Bools, lengths: Floats
) -> tuple[Floats, Bools]:
    """Estimate deviations (n,) of shapes from linear motion over parts of intervals; NaN for unknown.

    Also returns which of them (n,) move much faster than just before and after: where they jump, they deviate
    by their whole path. What precedes or follows a jump is estimated without it.

    shapes : at the begin of the part before, at both ends of the part, and at the end of the part after
    steps : (3, n) lengths of the three parts, in frames
    is_known : (2, n) whether the part before and the one after are known
    lengths : (n,) of the intervals
    """
    step = steps[1]
    estimates, rates, own_rate = _estimates_by_sides(shapes, steps, is_known)
    # A neighbor that may be a jump does not show how a part moves, if the other one shows something else.
    is_dropped = rates > _ABRUPT * np.fmax(own_rate, rates[::-1])
    is_dropped &= steps[::2] <= _FINE_PART * lengths
    estimates[is_dropped] = np.nan
    is_long = step > _FINE_PART * (1 + 1e-9) * lengths
    deviation = np.fmax(*estimates) * np.where(is_long, _RESERVE, 1.0)
    # One neighbor alone may not show how a part moves: by a part of its path, it may deviate in any case.
    is_doubtful = is_known.any(axis=0) & np.isnan(estimates).any(axis=0)
    of_path = _DOUBT * (np.fmax.reduce([own_rate, *np.where(is_dropped, np.nan, rates)]) * step)
    is_coarse = is_doubtful & (is_long | is_dropped.any(axis=0))
    deviation = np.where(is_coarse, np.fmax(deviation, of_path), deviation)
    of_fine = np.minimum(_DOUBT_OF_FINE * own_rate * step, _RESERVE_OF_FINE * deviation)
    deviation = np.where(is_doubtful, np.fmax(deviation, of_fine), deviation)
    is_abrupt = own_rate > _ABRUPT * np.fmax(*rates)
    return np.where(is_abrupt, np.maximum(deviation, own_rate * step), deviation), is_abrupt


def _estimates_by_sides(
    shapes: Sequence[Shape], steps: Floats, is_known: Bools
) -> tuple[Floats, Floats, Floats]:
    """Estimate deviations (2, n) of parts from the one before and the one after; NaN where that is not known.

    Also returns the speeds (2, n) of the parts before and after, and (n,) of the parts themselves.
    """
    velocity, at_rest = velocities(shapes[1], shapes[2], steps[1]), np.zeros(())
    estimates, rates = np.full((2, *is_known.shape), np.nan)
    for side, first in enumerate((0, 2)):
        known = np.flatnonzero(is_known[side])
        step, side_step = steps[1, known], steps[first, known]
        of_side = velocities(shapes[first][known], shapes[first + 1][known], side_step)
        change = velocity_change(of_side, velocity[known])
        estimates[side, known] = max_deviation(change, step, step + side_step)
        rates[side, known] = velocity_change(at_rest, of_side)
    return estimates, rates, velocity_change(at_rest, velocity)
