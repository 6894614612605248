"""Samples between frames at which subjects appear or disappear whose motion is only sampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
from ..shapes import Aabb, differences, where_shapes
from .motion import Sample, as_sample

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
        self._last = float(times[-1]), _part(sample, count - 1, count)
        every: list[float] = []
        parts: list[Sample] = []
        kept = 0
        for row in self._changed_rows(times, sample, last, begin, end):
            before = last if row == 0 else (float(times[row - 1]), _part(sample, row - 1, row))
            assert before is not None, "nothing changes at the first sample"
            here = _part(sample, row, row + 1)
            switches = self._switches(before, (float(times[row]), here))
            if switches:
                every += [*times[kept:row].tolist(), *switches]
                parts += [_part(sample, kept, row), *(self._sampled(at, before[1], here) for at in switches)]
                kept = row
        if not parts:
            return times, sample
        return np.append(every, times[kept:]), Sample.concatenate([*parts, _part(sample, kept, count)])

    def _changed_rows(
        self, times: Floats, sample: Sample, last: tuple[float, Sample] | None, begin: float, end: float
    ) -> list[int]:
        """Return the rows of times (k,) before which a sampled subject appears or disappears in the span."""
        if sample.present is None and (last is None or last[1].present is None):
            return []
        present = self._presence(sample)
        before = np.concatenate([present[:1] if last is None else self._presence(last[1]), present[:-1]])
        starts = np.append(times[0] if last is None else last[0], times[:-1])
        is_searched = (starts >= begin) & (times <= end) & (times - starts >= _SHORTEST)
        is_changed = (present != before)[:, self._is_sampled].any(axis=1)
        rows: list[int] = np.flatnonzero(is_searched & is_changed).tolist()
        return rows

    def _presence(self, sample: Sample) -> Bools:
        """Mask (k, s) of subjects that are present in a sample of k times."""
        if sample.present is not None:
            return np.asarray(sample.present, dtype=bool)
        return np.ones((sample.shapes.shape[0], len(self._every)), dtype=bool)

    def _switches(self, before: tuple[float, Sample], after: tuple[float, Sample]) -> list[float]:
        """Return increasing times to sample between two samples of one time each."""
        (begin, first), (end, second) = before, after
        masks = [self._presence(each)[0] for each in (first, second)]
        subjects = np.flatnonzero((masks[0] != masks[1]) & self._is_sampled)
        if len(subjects) > _FEW:
            subjects = subjects[self._are_near(subjects, (first, second), masks)]
        found = self._bisected(begin, end, masks[0][subjects], masks[1][subjects], subjects)
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

    def _are_near(self, subjects: Ints, samples: tuple[Sample, Sample], masks: list[Bools]) -> Bools:
        """Mask (s,) of subjects whose boxes, with as much around them, overlap others; and obstacles."""
        if len(np.unique(self._subject_of)) < len(self._every):
            return np.ones(len(subjects), dtype=bool)
        low, high = np.full((2, len(self._every), 3), np.inf)
        for sample, mask in zip(samples, masks, strict=True):
            boxes, shown = sample.shapes.aabb(), mask[self._subject_of]
            np.minimum.at(low, self._subject_of[shown], boxes.min[0, shown])
            np.minimum.at(high, self._subject_of[shown], -boxes.max[0, shown])
        boxes = Aabb.unchecked(low, -high)
        around = np.linalg.norm(boxes.max - boxes.min, axis=1)[subjects, None] + self._clearance
        near, far = boxes.min[subjects] - around, boxes.max[subjects] + around
        overlaps = (near[:, None] <= boxes.max).all(axis=2) & (boxes.min <= far[:, None]).all(axis=2)
        return np.asarray(overlaps.sum(axis=1) > 1)

    def _sampled(self, time: float, before: Sample, after: Sample) -> Sample:
        """Sample all subjects at a time between two samples of one time each."""
        sample = as_sample(self._motion.sample_between(time, self._every), f"sample at {time}").as_batch()
        # To the bit, so that what is at rest counts as that.
        moves = differences(before.shapes, after.shapes)
        shapes = where_shapes(moves, sample.shapes, before.shapes)
        present = np.asarray(self._motion.find_present(time, self._every), dtype=bool)[None]
        return Sample(shapes, present, sample.poses, after.moved)


def _part(sample: Sample, start: int, stop: int) -> Sample:
    """Return a sample of some of several times."""
    part = slice(start, stop)
    return Sample(
        sample.shapes[part],
        None if sample.present is None else sample.present[part],
        None if sample.poses is None else sample.poses[part],
        None if sample.moved is None else sample.moved[part],
    )
