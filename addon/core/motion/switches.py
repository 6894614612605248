"""Samples between frames at which subjects appear or disappear whose motion is only sampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
from ..shapes import Aabb, differences, where_shapes
from .motion import Sample, as_sample, select_times

_FOUND = 2.0**-16
"""Frames within which a switch is found. In single precision frames are not much nearer to each other."""
_BEFORE = 2.0**-12
"""Frames before a switch at which there is a sample, too."""
_SHORTEST = 2.0**-10
"""Frames between samples below which no switch is searched: there are samples next to it already."""
_FEW = 2
"""Subjects that appear or disappear within an interval above which only those near others are searched."""


class SwitchFinder:
    """Adds samples where subjects appear or disappear between two samples.

    Without them, a subject that disappears would stay where it was until the next sample, and one that
    appears would be absent until then.
    """

    def __init__(self, motion: Any, subject_of: Ints, clearance: float) -> None:
        """Start before the first sample of a section.

        motion : With `find_present`. All subjects can be sampled between frames.
        subject_of : (n,) int. Subject of each shape.
        clearance : Distance up to which subjects are in contact.
        """
        self._motion = motion
        self._subject_of, self._clearance = subject_of, clearance
        self._every = np.arange(len(motion.refinable))
        self._is_sampled = np.ones(len(self._every), dtype=bool)
        certain = getattr(motion, "certain", None)
        if certain is not None:
            # There are samples at the switches of those that are certain.
            is_certain = np.asarray(certain.is_certain, dtype=bool)
            self._is_sampled[subject_of] = False
            self._is_sampled[subject_of[~is_certain]] = True
        self._last: tuple[float, Sample] | None = None

    def with_switches(self, times: Floats, sample: Sample, begin: float, end: float) -> tuple[Floats, Sample]:
        """Return samples with those that are added between them, and between them and the ones before.

        times, sample : (k,) increasing, and what was sampled at these
        begin, end : the times between which switches are searched
        """
        last, count = self._last, len(times)
        self._last = float(times[-1]), select_times(sample, slice(count - 1, count))
        if sample.present is None and (last is None or last[1].present is None):
            return times, sample
        every, whole = times, sample
        if last is not None:
            every, whole = np.append(last[0], times), Sample.concatenate([last[1], sample])
        assert whole.present is not None
        starts, ends, present = every[:-1], every[1:], np.asarray(whole.present, dtype=bool)
        is_changed = (present[1:] != present[:-1])[:, self._is_sampled].any(axis=1)
        is_changed &= (starts >= begin) & (ends <= end) & (ends - starts >= _SHORTEST)
        kept = len(every) - count
        found: list[float] = []
        parts: list[Sample] = []
        for row in np.flatnonzero(is_changed).tolist():
            around = select_times(whole, slice(row, row + 2))
            switches = self._switches(float(starts[row]), float(ends[row]), around, present[row : row + 2])
            if switches:
                found += [*every[kept : row + 1].tolist(), *switches]
                parts += [
                    select_times(whole, slice(kept, row + 1)),
                    *(self._sampled(at, around) for at in switches),
                ]
                kept = row + 1
        if not parts:
            return times, sample
        parts.append(select_times(whole, slice(kept, None)))
        return np.append(found, every[kept:]), Sample.concatenate(parts)

    def _switches(self, begin: float, end: float, around: Sample, present: Bools) -> list[float]:
        """Return increasing times to sample between two, at which subjects are present (2, s) or not."""
        first, second = present
        subjects = np.flatnonzero((first != second) & self._is_sampled)
        if len(subjects) > _FEW:
            subjects = subjects[self._are_near(subjects, around.shapes.aabb(), present)]
        found = self._bisected(begin, end, first[subjects], second[subjects], subjects)
        return sorted({time for each in found for time in (each - _BEFORE, each) if begin < time < end})

    def _bisected(self, begin: float, end: float, first: Bools, second: Bools, subjects: Ints) -> list[float]:
        """Return the times just after which the presence (s,) of subjects differs from that just before."""
        if (first == second).all():
            return []
        if end - begin <= _FOUND:
            return [end]
        middle = (begin + end) / 2
        present = np.asarray(self._motion.find_present(middle, subjects), dtype=bool)
        earlier = self._bisected(begin, middle, first, present, subjects)
        return earlier + self._bisected(middle, end, present, second, subjects)

    def _are_near(self, subjects: Ints, around: Aabb, present: Bools) -> Bools:
        """Mask (s,) of subjects whose boxes, with as much around them, overlap others."""
        if len(np.unique(self._subject_of)) < len(self._every):
            return np.ones(len(subjects), dtype=bool)
        low, high = np.full((2, len(self._every), 3), np.inf)
        for near, far, mask in zip(around.min, around.max, present, strict=True):
            shown = mask[self._subject_of]
            np.minimum.at(low, self._subject_of[shown], near[shown])
            np.minimum.at(high, self._subject_of[shown], -far[shown])
        boxes = Aabb.unchecked(low, -high)
        margin = np.linalg.norm(boxes.max - boxes.min, axis=1)[subjects, None] + self._clearance
        near, far = boxes.min[subjects] - margin, boxes.max[subjects] + margin
        overlaps = (near[:, None] <= boxes.max).all(axis=2) & (boxes.min <= far[:, None]).all(axis=2)
        return np.asarray(overlaps.sum(axis=1) > 1)

    def _sampled(self, time: float, around: Sample) -> Sample:
        """Sample all subjects at a time between two, of which there is a sample."""
        sample = as_sample(self._motion.sample_between(time, self._every), f"sample at {time}").as_batch()
        # To the bit, so that what is at rest counts as that.
        before, after = select_times(around, slice(1)), select_times(around, slice(1, 2))
        moves = differences(before.shapes, after.shapes)
        shapes = where_shapes(moves, sample.shapes, before.shapes)
        present = np.asarray(self._motion.find_present(time, self._every), dtype=bool)[None]
        return Sample(shapes, present, after.moved)
