"""Motion known from samples: linear between them, with deviations estimated from their neighbors.

Where a scan asks within an interval between two samples, all shapes that it asks about there are sampled at
the same times, because one evaluation of a scene serves all. Their neighbors are then nearer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidShapeError
from ..interval.pair_motion import max_deviation, rotation_sagitta, velocities, velocity_change
from ..numeric.arguments import as_mask
from ..numeric.arrays import Bools, Floats, Ints, as_array, largest_component
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Aabb, Shape, assigned, concatenated, differences, where_shapes
from ..sweep.interpolation import at as linear_at
from .motion import Motion, Sample, as_sample, select_times

SHORTEST, KNOWN_SHORTEST = 2.0**-13, 2.0**-24
"""Length in frames of intervals that are not split further: of sampled motion, and of known motion.

What moves a unit a frame moves 6e-8 units in the second.
"""
FIRST_TOLERANCE = 2e-4
"""Frames by which a first contact may be off; what is promised is a thousandth."""
GRAZE = 1e-4
"""Part of a pair's size below which a deviation does not decide between a graze and a near miss."""
MOST_UNTIL_CONTACT = 12_000
"""Samples of known motion within one interval before the first contact of a pair.

Many turns a frame need thousands of parts before their first contact is certain.
"""
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
_RESERVE, _RESERVE_OF_WHOLE = 2.0, 4.0
"""Factors of deviations over longer parts, and over whole intervals.

A wave of one radian in a quarter of a frame changes the velocity between frames by too little: where it turns
within an interval it deviates by four times as much.
"""


class SampledMotion:
    """Motion of a sampler. Implements `Motion`.

    Frames are added in order. Questions are about a block of intervals between them; those about times in
    between are about intervals that were opened.

    is_probed : Whether all subjects can be sampled between frames.
    times : (k,) float. Times of the frames that are kept.
    """

    def __init__(self, sampler: Any, subject_of: Ints, is_adaptive: bool) -> None:
        """Start without frames.

        subject_of : (N,) int. Subject of each shape.
        """
        self._sampler, self._subject_of = sampler, subject_of
        self.is_adaptive = is_adaptive and hasattr(sampler, "sample_between")
        refinable = np.zeros(len(subject_of), dtype=bool)
        self.is_probed = False
        if self.is_adaptive:
            of_subjects = refinable_subjects(sampler)
            refinable, self.is_probed = of_subjects[subject_of], bool(of_subjects.all())
        self._known: Motion | None = None
        count = len(subject_of)
        self.is_certain: Bools = np.zeros(count, dtype=bool)
        self.costs: Floats = np.ones(count)
        certain = getattr(sampler, "certain", None)
        if self.is_adaptive and certain is not None:
            self._known, self.costs = certain, certain.costs
            self.is_certain = np.asarray(certain.is_certain, dtype=bool)
        self.grain: Floats = np.where(refinable, SHORTEST, np.inf)
        self.grain[self.is_certain] = KNOWN_SHORTEST
        self._columns = np.flatnonzero(~self.is_certain)
        self._column_of = np.cumsum(~self.is_certain) - 1
        # Intervals, by the numbers of their first frames, whose shapes (n,) are sampled at the same times:
        # these shapes, in order; the times, with the frames around; and samples of the shapes.
        self._opened: dict[int, tuple[Ints, Floats, Sample]] = {}
        self.times: Floats = np.empty(0)
        # Of all shapes, with a mask of them for each frame.
        self._frames: Sample
        self._block = slice(0, 0)
        self._deviation: Floats = np.empty((0, 0))

    # ---- Frames

    def add_frames(self, times: Floats, sample: Sample) -> None:
        """Add a sample of increasing times (k,)."""
        masks, subject_of = [], self._subject_of
        for name, mask, default in (("present", sample.present, True), ("moved", sample.moved, False)):
            if mask is not None and len(subject_of) and mask.shape[1] <= subject_of.max():
                raise InvalidShapeError(f"sample at {times[0]}: {name} has {mask.shape[1]} subjects, too few")
            masks.append(np.full(sample.shapes.shape, default) if mask is None else mask[:, subject_of])
        frames = Sample(sample.shapes, *masks)
        self._frames = Sample.concatenate([self._frames, frames]) if len(self.times) else frames
        self.times = np.append(self.times, times)

    def keep_frames(self, kept: slice) -> None:
        """Drop the other frames."""
        self.times, self._frames = self.times[kept], select_times(self._frames, kept)

    @property
    def _present(self) -> Bools:
        """Mask (k, N) of shapes that are present at frames."""
        return np.asarray(self._frames.present)

    def set_block(self, first: int, last: int) -> None:
        """Prepare for questions about the intervals from frame `first` to frame `last`.

        The frames before and after serve to estimate deviations.
        """
        self._block, self._opened = slice(first, last), {}
        columns, times = self._columns, self.times
        self._deviation = np.zeros((last - first, len(columns)))
        if not self.is_adaptive or not len(columns) or first == last:
            return
        around = slice(max(first - 1, 0), last + 2)
        samples, present = self._frames.shapes[around, columns], self._present[around, columns]
        estimates = _deviations(samples, present, np.diff(times[around])[:, None])
        self._deviation = estimates[first - around.start :][: last - first]
        unknown = np.isnan(self._deviation)
        if unknown.any():
            # As much as they move.
            begin, end = self._boxes_at_ends()
            moved = np.maximum(largest_component(end.min - begin.min), largest_component(end.max - begin.max))
            self._deviation = np.where(unknown, moved, self._deviation)
        self._doubt()

    def _sampled_shapes(self, start: int, stop: int) -> Shape:
        """Return sampled shapes (k, c) at frames; without a copy if no others are known."""
        shapes: Shape = self._frames.shapes[start:stop]
        return shapes[:, self._columns] if self.is_certain.any() else shapes

    def _shapes_at(self, frames: Ints, shapes: Ints) -> Shape:
        """Return shapes (..., m) at frames (..., m), by one index instead of two: in a sixth of the time."""
        every: Shape = self._frames.shapes.reshaped((-1,))
        return every[frames * len(self.is_certain) + shapes]

    def _boxes_at_ends(self) -> tuple[Aabb, Aabb]:
        """Boxes (k, c) around sampled shapes at both ends of intervals; what disappears stays there."""
        block = self._block
        boxes = self._sampled_shapes(block.start, block.stop + 1).aabb()
        start, ending = boxes[:-1], boxes[1:]
        stays = self._present[block.start + 1 : block.stop + 1, self._columns]
        return start, ending if stays.all() else where_shapes(stays, ending, start)

    def _doubt(self) -> None:
        """Assume larger deviations of shapes that can be sampled, so that pairs which are near are.

        At the begin and at the end of a scan one change of velocity alone is known. It does not show how much
        the next one would be.
        """
        first, last = self._block.start, self._block.stop
        times, columns = self.times, self._columns
        is_refinable = self.grain[columns] < np.inf
        self._deviation[:, is_refinable] *= _RESERVE_OF_WHOLE
        for is_end, interval, near in (
            (not first, 0, slice(0, 3)),
            (last + 1 == len(times), -1, slice(max(len(times) - 3, 0), len(times))),
        ):
            if is_end:
                shapes, steps = self._sampled_shapes(near.start, near.stop), np.diff(times[near])[:, None]
                paths = velocity_change(np.zeros(()), velocities(shapes[:-1], shapes[1:], steps)) * steps
                doubtful = np.where(is_refinable, _DOUBT * paths.max(axis=0), 0.0)
                self._deviation[interval] = np.fmax(self._deviation[interval], doubtful)

    def estimated_deviations(self, shapes: Ints, begin: Floats) -> Floats:
        """Estimate how far shapes (m,) are from linear motion over whole intervals; NaN for unknown."""
        if self._block.start == self._block.stop:
            return np.zeros(len(shapes))
        # At both ends of each interval, and at the samples before and after.
        frames = np.searchsorted(self.times, begin) + np.arange(-1, 3)[:, None]
        near = np.clip(frames, 0, len(self.times) - 1)
        steps = np.diff(self.times[near], axis=0)
        # What is not known has no length.
        steps[steps == 0] = 1.0
        present = (near == frames) & self._present[near, shapes]
        return np.asarray(_deviations(self._shapes_at(near, shapes), present, steps)[1])

    def swept_boxes(self, margin: Floats) -> tuple[Ints, Aabb]:
        """Boxes (k, c) around sampled shapes over the intervals of the block, padded by `margin` (N,).

        Those of shapes that are not present are empty, from inf to -inf. Returns the shapes (c,), too.
        """
        block, columns = self._block, self._columns
        begin, end = self._boxes_at_ends()
        shapes = self._sampled_shapes(block.start, block.stop + 1)
        present = self._present[block, columns]
        with np.errstate(invalid="ignore"):
            padding = margin[columns] + np.nan_to_num(self._deviation)
            padding = padding + rotation_sagitta(shapes[:-1], shapes[1:])
        boxes = begin.merged(end).padded(padding * (1 + CHAIN_ROUNDING))
        low, high = boxes.min, boxes.max
        if not present.all():
            low = np.where(present[..., None], low, np.inf)
            high = np.where(present[..., None], high, -np.inf)
        return columns, Aabb.unchecked(low, high)

    def moving(self) -> Bools:
        """Mask (N,) of sampled shapes that appear, disappear or move within the block, or with its begin."""
        frames = slice(max(self._block.start - 1, 0), self._block.stop + 1)
        present, shapes = self._present[frames], self._frames.shapes[frames]
        after, before = present[1:], present[:-1]
        moves = np.asarray(self._frames.moved)[frames][1:] | differences(shapes[1:], shapes[:-1])
        return np.asarray(((moves & after) | (after != before)).any(axis=0) & ~self.is_certain)

    # ---- Answers

    def at(self, shapes: Ints, times: Floats, is_before: bool = False) -> Shape:
        """See `Motion`. A shape that is absent at a sample is, before it, where it was at the one before."""
        certain = self.is_certain[shapes]
        frame = np.minimum(np.searchsorted(self.times, times), len(self.times) - 1)
        is_frame = self.times[frame] == times
        # What is absent is at no place in samples.
        is_queried = certain & (~is_frame | is_before | ~self._present[frame, shapes])
        if self._known is not None and is_queried.all() and len(shapes):
            return self._known.at(shapes, times, is_before)
        if is_before:
            frame = frame - ~self._present[frame, shapes]
        found = self._shapes_at(frame, shapes)
        if is_queried.any() and self._known is not None:
            found = assigned(
                found, is_queried, self._known.at(shapes[is_queried], times[is_queried], is_before)
            )
        rows = np.flatnonzero(~(is_frame | is_queried))
        for time in np.unique(times[rows]).tolist():
            at_time = rows[times[rows] == time]
            interval, place = self._opened_at(time)
            if self._opened[interval][1][place] != time:
                self._sample(interval, place, time)
            members, _, samples = self._opened[interval]
            found = assigned(found, at_time, samples.shapes[place, np.searchsorted(members, shapes[at_time])])
        result: Shape = found
        return result

    def are_present(self, shapes: Ints, times: Floats) -> Bools:
        """See `Motion`; at frames."""
        return np.asarray(self._present[np.searchsorted(self.times, times), shapes])

    def breaks(self, shapes: Ints, begin: Floats, end: Floats) -> Floats:
        """See `Motion`; none of sampled shapes are known."""
        result = np.full(len(shapes), np.inf)
        rows = np.flatnonzero(self.is_certain[shapes])
        if len(rows) and self._known is not None:
            result[rows] = self._known.breaks(shapes[rows], begin[rows], end[rows])
        return result

    def bound(self, shapes: Ints, begin: Floats, end: Floats) -> tuple[Floats, Bools]:
        """See `Motion`: proven for certain shapes, estimated for others."""
        deviation, may_jump = np.zeros(len(shapes)), np.zeros(len(shapes), dtype=bool)
        rows = np.flatnonzero(self.is_certain[shapes])
        if len(rows) and self._known is not None:
            deviation[rows] = self._known.bound(shapes[rows], begin[rows], end[rows])[0]
        rows = np.flatnonzero(~self.is_certain[shapes] & (begin < end))
        interval = np.searchsorted(self.times, begin[rows], side="right") - 1
        is_opened = np.isin(interval, list(self._opened))
        whole, rows = rows[~is_opened], rows[is_opened]
        deviation[whole] = self._deviation[
            interval[~is_opened] - self._block.start, self._column_of[shapes[whole]]
        ]
        if len(rows):
            deviation[rows], may_jump[rows] = self._bound_parts(shapes[rows], begin[rows])
        return deviation, may_jump

    # ---- Within intervals

    def open_interval(self, begin: float, shapes: Ints) -> None:
        """Prepare to sample shapes (m,) within the interval that begins at a frame."""
        interval = int(np.searchsorted(self.times, begin))
        members = np.unique(shapes[~self.is_certain[shapes]])
        row = min(interval, 1)
        near = slice(interval - row, interval + 3)
        found, present = self._frames.shapes[near, members], self._present[near, members]
        # A shape that is absent at the end stays where it was: it counts as present for this interval.
        at_end = where_shapes(present[row + 1], found[row + 1], found[row])
        found = assigned(found, row + 1, at_end)
        present[row + 1] &= present[row]
        self._opened[interval] = members, self.times[near], Sample(found, present)

    def _opened_at(self, time: float) -> tuple[int, int]:
        """Return the opened interval in which a time is, and the place of the time in its samples."""
        interval = int(np.searchsorted(self.times, time, side="right")) - 1
        return interval, int(np.searchsorted(self._opened[interval][1], time))

    def _sample(self, interval: int, end: int, time: float) -> None:
        """Sample the shapes of an opened interval just before a sample; absent shapes move linearly."""
        members, times, frames = self._opened[interval]
        name, begin, subjects = f"sample at {time}", end - 1, np.unique(self._subject_of[members])
        sample_parts = getattr(self._sampler, "sample_parts", None)
        # Samples are of all shapes of the subjects, or of these alone.
        every = members if sample_parts else np.flatnonzero(np.isin(self._subject_of, subjects))
        if sample_parts is not None:
            sample = as_sample(sample_parts(time, subjects, members), name)
        else:
            sample = as_sample(self._sampler.sample_between(time, subjects), name)
        shapes, present, expected = sample.shapes, sample.present, frames.shapes[begin]
        if type(shapes) is not type(expected) or shapes.shape != every.shape:
            raise InvalidShapeError(
                f"{name}: {type(shapes).__name__} {shapes.shape} instead of"
                f" {type(expected).__name__} {every.shape}"
            )
        if present is not None and present.shape != shapes.shape:
            raise InvalidShapeError(f"{name}: {present.shape} present of {shapes.shape} shapes")
        places = np.searchsorted(every, members)
        shapes, present = shapes[places], None if present is None else present[places]
        if present is not None and not present.all():
            part = (time - times[begin]) / (times[end] - times[begin])
            linear = linear_at(expected, frames.shapes[end], np.full(shapes.shape, part))
            shapes = where_shapes(present, shapes, linear)
        new = Sample(shapes, np.ones(shapes.shape, dtype=bool)).as_batch()
        parts = [select_times(frames, slice(end)), new, select_times(frames, slice(end, None))]
        self._opened[interval] = members, np.insert(times, end, time), Sample.concatenate(parts)

    def _bound_parts(self, shapes: Ints, begin: Floats) -> tuple[Floats, Bools]:
        """Estimate deviations (m,) of shapes over parts of opened intervals, and which of them may jump."""
        order = np.argsort(begin, kind="stable")
        begins, starts = np.unique(begin[order], return_index=True)
        parts = map(self._around_part, np.split(shapes[order], starts[1:]), begins.tolist())
        sides, *columns = zip(*parts, strict=True)
        found = _deviations_of_parts(
            concatenated(*sides, axis=1), *(np.concatenate(column, axis=1) for column in columns)
        )
        deviation, may_jump = np.empty(len(shapes)), np.empty(len(shapes), dtype=bool)
        deviation[order], may_jump[order] = found
        return deviation, may_jump

    def _around_part(self, shapes: Ints, begin: float) -> tuple[Shape, Floats, Bools, Floats]:
        """Return shapes (m,) about a part of an interval, as `_deviations_of_parts` takes them."""
        interval, place = self._opened_at(begin)
        members, times, frames = self._opened[interval]
        around = np.clip(np.arange(place - 1, place + 3), 0, len(times) - 1)
        near, steps = (around[:, None], np.searchsorted(members, shapes)), np.diff(times[around])[:, None]
        present = np.asarray(frames.present)[near]
        is_known = present[:2] & present[1:3] & present[2:] & (steps[::2] > 0)
        start, end = self.times[interval : interval + 2]
        return (
            frames.shapes[near],
            np.tile(steps, len(shapes)),
            is_known,
            np.full((1, len(shapes)), end - start),
        )


def refinable_subjects(sampler: Any) -> Bools:
    """Mask of the subjects that can be sampled between frames, validated."""
    refinable = as_array(sampler.refinable, "refinable")
    return as_mask(refinable, "refinable", (refinable.size,))


def _deviations(samples: Shape, present: Bools, steps: Floats) -> Floats:
    """Estimate how far shapes (k, m) are from linear motion between successive samples; NaN for unknown.

    Of the estimates from both neighbors of an interval, the larger one counts.

    present : (k, m) bool
    steps : (k - 1, 1) or (k - 1, m) lengths of the intervals, in frames
    """
    speed = velocities(samples[:-1], samples[1:], steps)
    is_known = present[:-2] & present[1:-1] & present[2:]
    changes = np.where(is_known, velocity_change(speed[:-1], speed[1:]), np.nan)
    both_steps, result = steps[:-1] + steps[1:], np.full((len(steps), *changes.shape[1:]), np.nan)
    result[1:] = max_deviation(changes, steps[1:], both_steps)
    result[:-1] = np.fmax(result[:-1], max_deviation(changes, steps[:-1], both_steps))
    return result


def _deviations_of_parts(
    shapes: Shape, steps: Floats, is_known: Bools, lengths: Floats
) -> tuple[Floats, Bools]:
    """Estimate deviations (n,) of shapes from linear motion over parts of intervals; NaN for unknown.

    Also returns which of them (n,) move much faster than just before and after: where they jump, they deviate
    by their whole path. What precedes or follows a jump is estimated without it.

    shapes : (4, n) at the begin of the part before, at both ends of it, and at the end of the part after
    steps : (3, n) lengths of the three parts, in frames
    is_known : (2, n) whether the part before and the one after are known
    lengths : (1, n) of the intervals
    """
    step = steps[1]
    velocity, at_rest = velocities(shapes[1], shapes[2], step), np.zeros(())
    estimates, rates = np.full((2, *is_known.shape), np.nan)
    for side, first in enumerate((0, 2)):
        known = np.flatnonzero(is_known[side])
        own_step, side_step = step[known], steps[first, known]
        of_side = velocities(shapes[first, known], shapes[first + 1, known], side_step)
        change = velocity_change(of_side, velocity[known])
        estimates[side, known] = max_deviation(change, own_step, own_step + side_step)
        rates[side, known] = velocity_change(at_rest, of_side)
    own_rate = velocity_change(at_rest, velocity)
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
