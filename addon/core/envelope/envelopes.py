"""Envelopes: one box and one sphere around everything that moving bounds sweep, between samples too.

Swept bounds are accumulated as a k-DOP: the largest support distance so far along fixed directions. Six of
these make the box, and a sphere is fitted around all. Each support distance is a function of time. Between
two samples it is at most a parabola above both, whose height follows from neighboring samples
(`interval.pair_motion`). Where that adds too much, the interval is halved and sampled again; what is still
unknown then is added. Samples are dropped as soon as the next ones are taken: memory does not grow with the
number of frames.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..fitting.enclosing import spheres_from_groups
from ..interval.pair_motion import interval_deviations, parabola_overshoot
from ..motion.motion import BoundsMotion, BoundsSample, as_bounds_sample
from ..numeric.arguments import as_mask, as_times, require_methods
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, Table, as_array, length, transform_vectors
from ..numeric.geodesic import geodesic_directions
from ..numeric.tolerances import GAP_ROUNDING
from ..progress import Progress
from ..shapes import Aabb, Sphere

_TOLERANCE = 2e-3
"""Part of an envelope's size that may be added to a side of its box between samples."""
_SLANTED = 4.0
"""How much more may be added along slanted directions, which only the sphere uses."""
_SINGLE_PRECISION = 4e-7
"""Relative error of coordinates from single precision: no further sample is more exact."""
DIRECTIONS = geodesic_directions(4)
SUPPORT_COUNT = 6 + len(DIRECTIONS.vectors)
"""Support distances of a k-DOP: up the axes, down the axes, then along the directions."""
_AXES = DIRECTIONS.vectors.argmax(axis=0)
_OPPOSITES = DIRECTIONS.vectors.argmin(axis=0)
"""Indices of the directions along the axes, and of their opposites."""
_CORNER_SOLVERS = np.asarray(np.linalg.inv(DIRECTIONS.vectors[DIRECTIONS.triangles]), dtype=np.float64)
"""Matrices (t, 3, 3) that map three supports to the corner where their planes meet."""


class _Samples(Table):
    """Bounds of some subjects (m,) at successive times (k,).

    numbers : (k, m, 10) float64. Both corners of the boxes, then center and radius of the spheres.
    present : (k, m) bool
    """

    times: Floats
    numbers: Floats
    present: Bools

    @classmethod
    def of(cls, time: float, returned: BoundsSample, count: int) -> _Samples:
        """Check and convert what a motion returned for `count` subjects at one time."""
        sample = as_bounds_sample(returned, f"sample at {time}", count)
        boxes, spheres = sample.boxes, sample.spheres
        columns = boxes.min, boxes.max, spheres.center, spheres.radius[:, None]
        return cls(np.array([time]), np.concatenate(columns, axis=1)[None], sample.present[None])

    def of_subjects(self, columns: Ints | Bools) -> _Samples:
        """Select subjects."""
        return _Samples(self.times, self.numbers[:, columns], self.present[:, columns])

    def deviations(self, values: Floats, span: slice) -> Floats:
        """Estimate deviations (i, m, c) of values (k, m, c) from linear interpolation in a span of intervals.

        Approximate: see `interval.pair_motion`. 0 where unknown.
        """
        steps = np.diff(self.times)[:, None, None]
        speeds = np.diff(values, axis=0) / steps
        is_known = self.present[:-2] & self.present[1:-1] & self.present[2:]
        changes = np.where(is_known[..., None], np.abs(np.diff(speeds, axis=0)), 0.0)
        return interval_deviations(changes, steps, 0.0)[span]


class SweptBounds:
    """Bounds of everything that subjects (n,) have swept so far.

    center, radius : (n, 3) and (n,) float. All spheres of a subject merged one after another: the smallest
        sphere while it moves along a line. The radius is -inf for subjects that were never present.
    """

    def __init__(self, count: int, refinable: Bools) -> None:
        self._refinable = refinable
        # Supports at samples, and those with what was added between samples: additions must not add up.
        self._sampled = np.full((count, SUPPORT_COUNT), -np.inf)
        self._supports = self._sampled.copy()
        self.center, self.radius = np.zeros((count, 3)), np.full(count, -np.inf)

    @property
    def is_present(self) -> Bools:
        """Mask (n,) of subjects that were present at some sample."""
        return np.asarray(np.isfinite(self.radius))

    def add_supports(self, rows: Ints, samples: _Samples, span: slice, depth: int) -> Bools:
        """Add supports of subjects (r,), and of a span of intervals, those that do not add too much.

        Returns a mask (intervals, r) of the intervals that were added.
        """
        supports, present = supports_of(samples.numbers), samples.present
        at_samples = np.where(present[..., None], supports, -np.inf).max(axis=0)
        self._sampled[rows] = np.maximum(self._sampled[rows], at_samples)
        both = (present[:-1] & present[1:])[span]
        if not len(both):
            return both
        deviation = samples.deviations(supports, span)
        deviation[:, ~self._refinable[rows]] = 0.0
        first, last = supports[:-1][span], supports[1:][span]
        highest = np.maximum(first, last) + parabola_overshoot(np.abs(last - first), deviation)
        added = highest - self._sampled[rows]
        added = np.maximum(added[..., :6].max(axis=2), added[..., 6:].max(axis=2) / _SLANTED)
        accepted = both & ((added <= self._tolerance(rows)) | (depth == _MOST_HALVINGS))
        largest = np.where(accepted[..., None], highest, -np.inf).max(axis=0)
        self._supports[rows] = np.maximum(self._supports[rows], largest)
        return np.asarray(accepted)

    def merge_spheres_between(self, rows: Ints, samples: _Samples, span: slice, accepted: Bools) -> None:
        """Merge the spheres at both ends of accepted intervals (i, r), padded by the deviation in between."""
        each = samples.deviations(samples.numbers[..., 6:], span)
        deviation = (length(each[..., :3]) + each[..., 3]) * self._refinable[rows]
        for interval, is_merged in enumerate(accepted & (deviation > 0)):
            columns = np.flatnonzero(is_merged)
            for k in (span.start + interval, span.start + interval + 1):
                padded = samples.numbers[k, columns, 6:]
                padded[:, 3] += deviation[interval, columns]
                self.merge_spheres(rows[columns], padded)

    def boxes(self) -> Aabb:
        """Boxes (n,) around everything so far; zero for subjects that were never present."""
        supports = np.maximum(self._sampled[:, :6], self._supports[:, :6])
        supports = np.where(self.is_present[:, None], supports, 0.0)
        return Aabb.unchecked(-supports[:, 3:6], supports[:, :3])

    def fit_spheres(self, rows: Ints) -> None:
        """Replace spheres of present subjects (r,) by those around their k-DOPs where these are smaller."""
        fitted = spheres_around(np.maximum(self._sampled[rows], self._supports[rows])[:, 6:])
        smaller = fitted.radius < self.radius[rows]
        rows, fitted = rows[smaller], fitted[smaller]
        self.center[rows], self.radius[rows] = fitted.center, fitted.radius

    def _tolerance(self, rows: Ints) -> Floats:
        """Length (r,) that may be added to the supports of subjects (r,)."""
        supports = np.where(np.isfinite(self._sampled[rows, :6]), self._sampled[rows, :6], 0.0)
        size = (supports[:, :3] + supports[:, 3:]).max(axis=1) / 2
        return np.asarray(_TOLERANCE * size + _SINGLE_PRECISION * np.abs(supports).max(axis=1))

    def merge_spheres(self, rows: Ints, spheres: Floats) -> None:
        """Merge spheres (r, 4) into those of subjects (r,), unless they are inside already."""
        radius = self.radius[rows]
        is_first = radius == -np.inf
        self.center[rows[is_first]], self.radius[rows[is_first]] = spheres[is_first, :3], spheres[is_first, 3]
        distance = length(spheres[:, :3] - self.center[rows])
        is_outside = ~is_first & (distance + spheres[:, 3] > radius)
        rows, spheres = rows[is_outside], spheres[is_outside]
        if len(rows):
            added = Sphere.unchecked(spheres[:, :3], spheres[:, 3])
            merged = Sphere.unchecked(self.center[rows], self.radius[rows]).merged(added)
            self.center[rows], self.radius[rows] = merged.center, merged.radius


def supports_of(numbers: Floats) -> Floats:
    """Compute support distances of the intersections of boxes and spheres. Conservative: rounded up.

    numbers : (k, m, 10) float64. As those of samples.
    Returns supports : (k, m, SUPPORT_COUNT) float64. Along the axes, of the box alone.
    """
    low, high, center, radius = np.split(numbers, (3, 6, 9), axis=-1)
    middle, half = (low + high) / 2, (high - low) / 2
    # Rounded up by the error of the sums.
    lost = GAP_ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=-1)[..., None]
    box = _along(middle) + _along(half, np.abs(DIRECTIONS.vectors))
    sphere = _along(center) + radius
    return np.concatenate([high, -low, np.minimum(box, sphere) + lost], axis=-1)


def _along(points: Floats, directions: Floats = DIRECTIONS.vectors) -> Floats:
    """Coordinates (..., k) of points (..., 3) along the directions (k, 3)."""
    # No matrix product, because its rounding depends on the machine.
    x, y, z = points[..., 0:1], points[..., 1:2], points[..., 2:3]
    return x * directions[:, 0] + y * directions[:, 1] + z * directions[:, 2]


def spheres_around(supports: Floats) -> Sphere:
    """Spheres (m,) around k-DOPs with supports (m, directions), the six of the axes not included.

    The center is that of the smallest sphere around the corners where neighboring planes meet, which is
    nearly the best one. Seen from there, everything in the cone of a triangle of directions is within the
    largest of its supports, divided by the cosine of the angle to the nearest direction.
    """
    _, triangles, covering_cosine = DIRECTIONS
    middle: Floats = (supports[:, _AXES] - supports[:, _OPPOSITES]) / 2
    local: Floats = supports - _along(middle)
    corners = transform_vectors(_CORNER_SOLVERS, local[:, triangles])
    offsets = np.arange(len(supports) + 1) * len(triangles)
    center = spheres_from_groups(corners.reshape(-1, 3), offsets).center
    farthest = (local - _along(center)).max(axis=1)
    lost = GAP_ROUNDING * np.abs(supports).max(axis=1)
    return Sphere.unchecked(center + middle, (farthest + lost) / covering_cosine + lost)


_PROBE = (3 - 5**0.5) / 2
"""Position of the sample within each interval. Unlike 1/2, 1/3 or 1/4, it shows periodic motion."""
_MOST_HALVINGS = 10
"""Halvings of an interval; what is open after so many is accepted as it is."""
_FRAMES_PER_BLOCK = 12
"""Samples processed together: so the supports at samples are known before any interval is halved."""
_SPHERES_PER_CHUNK = 64
"""Subjects whose spheres are fitted at once."""


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
    samples: list[_Samples] = []
    begin = 0
    for index, time in enumerate(times.tolist()):
        sample = _Samples.of(time, motion.sample(time), len(refinable))
        if samples and refinable.any():
            yield Progress(index, len(times), time)
            samples.append(_probe_sample(motion, samples[-1], sample, refinable))
        samples.append(sample)
        progress = Progress(index + 1, len(times), time)
        yield progress
        is_last = index == len(times) - 1
        if is_last or len(samples) > _FRAMES_PER_BLOCK:
            # The last interval waits for the sample after it.
            span = slice(begin, len(samples) - 1 if is_last else len(samples) - 2)
            for _ in _add_block(swept, motion, _Samples.concatenate(samples), span):
                yield progress
            samples, begin = samples[-3:], 1
    rows = np.flatnonzero(swept.is_present)
    for start in range(0, len(rows), _SPHERES_PER_CHUNK):
        yield progress
        swept.fit_spheres(rows[start : start + _SPHERES_PER_CHUNK])
    radius = np.where(swept.is_present, swept.radius, 0.0)
    return Envelopes(swept.boxes(), Sphere.unchecked(swept.center, radius), swept.is_present)


def _probe_sample(motion: BoundsMotion, start: _Samples, end: _Samples, refinable: Bools) -> _Samples:
    """Sample within an interval, of refinable subjects; the others are interpolated linearly."""
    times = start.times + _PROBE * (end.times - start.times)
    rows = np.flatnonzero(refinable)
    sampled = _Samples.of(times.item(), motion.sample_between(times.item(), rows), len(rows))
    numbers, present = start.numbers * (1 - _PROBE) + end.numbers * _PROBE, start.present & end.present
    numbers[:, rows], present[:, rows] = sampled.numbers, sampled.present
    return _Samples(times, numbers, present)


_OpenInterval: TypeAlias = tuple[Ints, _Samples, int, int]
"""An interval to halve: for which subjects, their samples at both ends and the neighbors where there are any,
which of these is at its beginning, and how often it was halved already."""


def _add_block(
    swept: SweptBounds, motion: BoundsMotion, samples: _Samples, span: slice
) -> Generator[None, None, None]:
    """Add samples of all subjects, and a span of intervals, of which open ones are halved."""
    waiting = yield from _add_samples(swept, samples, np.arange(len(swept.radius)), span, 0)
    while waiting:
        rows, around, place, depth = waiting.pop()
        middle = (around.times[place : place + 2].sum() / 2).item()
        new = _Samples.of(middle, motion.sample_between(middle, rows), len(rows))
        before, after = around.take(slice(place + 1)), around.take(slice(place + 1, None))
        halves = _Samples.concatenate([before, new, after])
        yield
        waiting += yield from _add_samples(swept, halves, rows, slice(place, place + 2), depth + 1)


def _add_samples(
    swept: SweptBounds, samples: _Samples, rows: Ints, span: slice, depth: int
) -> Generator[None, None, list[_OpenInterval]]:
    """Add samples of subjects (m,) and a span of intervals in chunks; return the intervals that are open."""
    numbers, present = samples.numbers, samples.present
    # Subjects that change, appear or disappear.
    is_moving = (numbers[1:] != numbers[:-1]).any(axis=(0, 2)) | (present[1:] != present[:-1]).any(axis=0)
    # Of the others, one sample is enough.
    resting, moving = np.flatnonzero(~is_moving & present[0]), np.flatnonzero(is_moving)
    swept.add_supports(rows[resting], samples.take(slice(1)).of_subjects(resting), span, depth)
    swept.merge_spheres(rows[resting], numbers[0, resting, 6:])
    both = (present[:-1] & present[1:])[span]
    accepted = np.zeros_like(both)
    chunk = max(1, 4 * CHUNK_ROWS // (len(numbers) * SUPPORT_COUNT))
    for start in range(0, len(moving), chunk):
        if start:
            yield
        columns = moving[start : start + chunk]
        accepted[:, columns] = swept.add_supports(rows[columns], samples.of_subjects(columns), span, depth)
    for at_time, is_present in zip(numbers, present, strict=True):
        shown = moving[is_present[moving]]
        swept.merge_spheres(rows[shown], at_time[shown, 6:])
    if moving.size and len(accepted):
        swept.merge_spheres_between(rows, samples, span, accepted)
    still_open = []
    for interval, is_open in enumerate(is_moving & both & ~accepted, start=span.start):
        if is_open.any():
            first = max(interval - 1, 0)
            around = samples.take(slice(first, interval + 3)).of_subjects(is_open)
            still_open.append((rows[is_open], around, interval - first, depth))
    return still_open
