"""Envelopes: one box and one sphere around everything that moving bounds sweep, between samples too.

Swept bounds are accumulated as a k-DOP: the largest support distance so far along fixed directions. Six of
these make the box, and a sphere is fitted around all. Each support distance is a function of time. Between
two samples it is at most a parabola above both, whose height follows from neighboring samples
(`interval.linearity`). Where that adds too much, the interval is halved and sampled again; what is still
unknown then is added. Samples are dropped as soon as the next ones are taken: memory does not grow with the
number of frames.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..numeric.arguments import as_mask, as_times, require_methods
from ..numeric.arrays import CHUNK_ROWS, Bools, Ints, as_array
from ..progress import Progress
from ..scan.motion import BoundsMotion, BoundsSample, as_bounds_sample
from ..shapes import Aabb, Sphere
from ..sweep.interpolation import at
from .swept_bounds import SUPPORT_COUNT, SampleArrays, SweptBounds

_PROBE = (3 - 5**0.5) / 2
"""Position of the sample within each interval. Unlike 1/2, 1/3 or 1/4, it shows periodic motion."""
_MOST_HALVINGS = 10
"""Halvings of an interval; what is open after so many is accepted as it is."""
_FRAMES_PER_BLOCK = 12
"""Samples processed together: so the supports at samples are known before any interval is halved."""
_SPHERES_PER_CHUNK = 64
"""Subjects whose spheres are fitted at once."""

_TimedSample: TypeAlias = tuple[float, BoundsSample]


@dataclass(frozen=True)
class Envelopes:
    """Bounds of everything that each subject (n,) sweeps.

    Attributes
    ----------
    boxes : Aabb, batch (n,)
        Around the boxes at all times.
    spheres : Sphere, batch (n,)
        Around the intersections of box and sphere at all times.
    present : (n,) bool
        False for subjects that were never present, whose bounds have no meaning.
    """

    boxes: Aabb
    spheres: Sphere
    present: Bools


def envelopes_over(motion: BoundsMotion, frames: ArrayLike) -> Generator[Progress, None, Envelopes]:
    """Compute the envelopes of all subjects over the sample times of an animation.

    Guarantee: encloses every sample, to rounding. Between samples conservative as far as the curvature of
    the motion follows from four neighboring samples, with a safety factor of four; motion that goes out and
    back between two samples is missed. Subjects that are not refinable are taken to move linearly. A box is
    at most about 0.2 % of its size larger than needed on a side. A sphere is at most about 3 % larger than
    the smallest around the intersections of box and sphere at all times; that of a subject at rest is its
    own.

    Parameters
    ----------
    motion : BoundsMotion
        Bounds of n subjects. Each interval is also sampled within, at least once.
    frames : (k,) float
        Increasing sample times, at least one.

    Yields
    ------
    progress : Progress
        After each sample, and again after each chunk of work between samples.

    Returns
    -------
    envelopes : Envelopes
        Return value of the generator.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For times that do not increase.
    """
    times = as_times(frames)
    require_methods(motion, ("refinable", "sample", "sample_between"), "motion")
    refinable = as_array(motion.refinable, "refinable")
    refinable = as_mask(refinable, "refinable", (refinable.size,))
    swept = SweptBounds(len(refinable), refinable)
    samples: list[_TimedSample] = []
    begin = 0
    for index, time in enumerate(times.tolist()):
        sample = as_bounds_sample(motion.sample(time), f"sample at {time}", len(refinable))
        if samples and refinable.any():
            yield Progress(index, len(times), time)
            samples.append(_probe_sample(motion, samples[-1], (time, sample), refinable))
        samples.append((time, sample))
        progress = Progress(index + 1, len(times), time)
        yield progress
        is_last = index == len(times) - 1
        if is_last or len(samples) > _FRAMES_PER_BLOCK:
            # The last interval waits for the sample after it.
            end = len(samples) - 1 if is_last else len(samples) - 2
            for _ in _add_block(swept, motion, samples, begin, end):
                yield progress
            samples, begin = samples[-3:], 1
    rows = np.flatnonzero(swept.is_present)
    for start in range(0, len(rows), _SPHERES_PER_CHUNK):
        yield progress
        swept.fit_spheres(rows[start : start + _SPHERES_PER_CHUNK])
    radius = np.where(swept.is_present, swept.radius, 0.0)
    return Envelopes(swept.boxes(), Sphere.unchecked(swept.center, radius), swept.is_present)


def _probe_sample(
    motion: BoundsMotion, start: _TimedSample, end: _TimedSample, refinable: Bools
) -> _TimedSample:
    """Sample within an interval, of refinable subjects; the others are interpolated linearly."""
    time = start[0] + _PROBE * (end[0] - start[0])
    first, last = start[1], end[1]
    part = np.full(len(refinable), _PROBE)
    boxes, spheres = at(first.boxes, last.boxes, part), at(first.spheres, last.spheres, part)
    present = first.present & last.present
    rows = np.flatnonzero(refinable)
    sampled = as_bounds_sample(motion.sample_between(time, rows), f"sample at {time}", len(rows))
    low, high = boxes.min.copy(), boxes.max.copy()
    center, radius = spheres.center.copy(), spheres.radius.copy()
    low[rows], high[rows] = sampled.boxes.min, sampled.boxes.max
    center[rows], radius[rows] = sampled.spheres.center, sampled.spheres.radius
    present[rows] = sampled.present
    return time, BoundsSample(Aabb.unchecked(low, high), Sphere.unchecked(center, radius), present)


class _OpenInterval(NamedTuple):
    """An interval that must be sampled again for some subjects.

    rows : (m,) the subjects
    samples : of those subjects, at both ends, and the neighbors where there are any
    begin : index of the sample at the beginning
    depth : how often it was halved already
    """

    rows: Ints
    samples: list[_TimedSample]
    begin: int
    depth: int

    @classmethod
    def of_subjects(
        cls, samples: Sequence[_TimedSample], rows: Ints, interval: int, subset: Ints, depth: int
    ) -> _OpenInterval:
        """Interval of a `subset` (s,) of the subjects `rows` (m,) of samples, both increasing."""
        first = max(interval - 1, 0)
        local = np.searchsorted(rows, subset)
        around = [(time, sample.take(local)) for time, sample in samples[first : interval + 3]]
        return cls(subset, around, interval - first, depth)


def _add_block(
    swept: SweptBounds, motion: BoundsMotion, samples: Sequence[_TimedSample], begin: int, end: int
) -> Generator[None, None, None]:
    """Add samples of all subjects, and the intervals from `begin` to `end`, of which open ones are halved."""
    every = np.arange(len(swept.radius))
    still_open = yield from _add_samples(swept, _arrays_of(samples, every, begin, end, accept_all=False))
    waiting = [_OpenInterval.of_subjects(samples, every, *each, 0) for each in still_open]
    while waiting:
        rows, around, place, depth = waiting.pop()
        middle = (around[place][0] + around[place + 1][0]) / 2
        sample = as_bounds_sample(motion.sample_between(middle, rows), f"sample at {middle}", len(rows))
        around = [*around[: place + 1], (middle, sample), *around[place + 1 :]]
        yield
        depth += 1
        arrays = _arrays_of(around, rows, place, place + 2, accept_all=depth == _MOST_HALVINGS)
        still_open = yield from _add_samples(swept, arrays)
        waiting += [_OpenInterval.of_subjects(around, rows, *each, depth) for each in still_open]


def _add_samples(swept: SweptBounds, arrays: SampleArrays) -> Generator[None, None, list[tuple[int, Ints]]]:
    """Add samples and intervals in chunks; return open intervals, each with the subjects it is open for."""
    is_moving = arrays.is_moving()
    swept.add_resting(arrays, np.flatnonzero(~is_moving & arrays.present[0]))
    moving = np.flatnonzero(is_moving)
    accepted = np.zeros((max(arrays.end - arrays.begin, 0), len(arrays.rows)), dtype=bool)
    chunk = max(1, 4 * CHUNK_ROWS // (len(arrays.times) * SUPPORT_COUNT))
    for start in range(0, len(moving), chunk):
        if start:
            yield
        columns = moving[start : start + chunk]
        accepted[:, columns] = swept.add_moving(arrays, columns)
    swept.merge_spheres_of_samples(arrays, moving)
    if moving.size and len(accepted):
        swept.merge_spheres_between(arrays, accepted)
    is_open = is_moving & arrays.is_present_throughout() & ~accepted
    intervals = np.flatnonzero(is_open.any(axis=1)).tolist()
    return [(arrays.begin + interval, arrays.rows[is_open[interval]]) for interval in intervals]


def _arrays_of(
    samples: Sequence[_TimedSample], rows: Ints, begin: int, end: int, accept_all: bool
) -> SampleArrays:
    """Convert samples of subjects `rows` (m,) to arrays."""
    return SampleArrays(
        rows,
        np.array([time for time, _ in samples]),
        np.stack([np.concatenate([each.boxes.min, each.boxes.max], axis=1) for _, each in samples]),
        np.stack(
            [
                np.concatenate([each.spheres.center, each.spheres.radius[:, None]], axis=1)
                for _, each in samples
            ]
        ),
        np.stack([each.present for _, each in samples]),
        begin,
        end,
        accept_all,
    )
