"""Envelopes: one box and one sphere around all that bounds sweep while they move, between samples too.

What something sweeps is told by how far it ever reaches along some fixed directions; a box is six of these
numbers, and a sphere is put around all of them. Each is a number that changes over time, and between two
samples it is above both by what the samples beside them tell of its bend, see `straightness`. Where that
matters the motion is asked again, and what is still in doubt then is added. Samples are dropped as soon as
the next ones are there: memory does not grow with the frames.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, as_floats, length
from .bounds_motion import BoundsMotion, BoundsSample
from .contact_report import Progress
from .errors import InvalidShapeError
from .interpolation import at
from .reach import DIRECTIONS, most_between, reach_of, sphere_around, strays_of
from .shapes import Aabb, Sphere

_TOLERANCE = 2e-3
"""Part of an envelope's size that may be added to a side of its box where nobody looked."""
_SLANTED = 4.0
"""How much more along slanted directions, which only the sphere goes by."""
_SINGLE_PRECISION = 4e-7
"""Part of a coordinate that it may be off: no look will tell less."""
_PROBE = (3 - 5**0.5) / 2
"""Where each interval is looked into once. What comes round in halves, thirds or quarters is not missed."""
_DEEPEST = 10
"""How often an interval is halved at most."""
_BLOCK = 12
"""Samples that are looked at together: what they reach is known before any is asked about in between."""
_AT_ONCE = 64
"""Subjects whose spheres are put around together."""

_Timed: TypeAlias = tuple[float, BoundsSample]


@dataclass(frozen=True)
class Envelopes:
    """Boxes and spheres (n,) around all that each subject swept; `present` (n,) is False for who never came.

    Boxes are around the boxes, spheres around what is in both box and sphere at each time.
    """

    boxes: Aabb
    spheres: Sphere
    present: Bools


def envelopes_over(motion: BoundsMotion, frames: ArrayLike) -> Generator[Progress, None, Envelopes]:
    """The envelopes of all subjects over growing sample times `frames` (k,), k >= 1.

    Yields a Progress after each sample and each look in between; the return value is the result. Each
    interval is looked into at least once.

    Guarantee: holds every sample, to rounding. Between samples conservative as far as four neighbouring
    samples tell the bend of the motion, with a factor of four for what they do not: what goes there and
    back again between two looks is missed. What is not refinable is held as if it went straight.
    A box is at most about 0.2 % of its size larger than needed on a side. A sphere is at most about 3 %
    larger than the smallest around what is in both box and sphere at each time; that of something at rest
    is its own.

    Raises InvalidShapeError or NonFiniteGeometryError for times that do not grow.
    """
    times = as_floats(frames, "frames")
    if times.ndim != 1 or not len(times) or (np.diff(times) <= 0).any():
        raise InvalidShapeError("frames: one or more growing times are needed")
    refinable = np.asarray(motion.refinable, dtype=bool)
    swept = _Swept(len(refinable), refinable)
    held: list[_Timed] = []
    begun = 0
    for index, time in enumerate(times.tolist()):
        sample = motion.sample(time)
        if held and refinable.any():
            yield Progress(index, len(times), time)
            held.append(_looked_into(motion, held[-1], (time, sample), refinable))
        held.append((time, sample))
        progress = Progress(index + 1, len(times), time)
        yield progress
        is_last = index == len(times) - 1
        if is_last or len(held) > _BLOCK:
            # The last interval waits for what comes after it.
            until = len(held) - 1 if is_last else len(held) - 2
            yield from swept.take(motion, held, begun, until, progress)
            held, begun = held[-3:], 1
    return (yield from swept.envelopes(progress))


def _looked_into(motion: BoundsMotion, start: _Timed, end: _Timed, asked: Bools) -> _Timed:
    """A sample within an interval, of those that are asked; the others go straight."""
    time = start[0] + _PROBE * (end[0] - start[0])
    first, last = start[1], end[1]
    part = np.full(len(asked), _PROBE)
    boxes, spheres = at(first.boxes, last.boxes, part), at(first.spheres, last.spheres, part)
    present = first.present & last.present
    rows = np.flatnonzero(asked)
    found = motion.sample_between(time, rows)
    low, high = boxes.min.copy(), boxes.max.copy()
    center, radius = spheres.center.copy(), spheres.radius.copy()
    low[rows], high[rows] = found.boxes.min, found.boxes.max
    center[rows], radius[rows] = found.spheres.center, found.spheres.radius
    present[rows] = found.present
    return time, BoundsSample(Aabb.trusted(low, high), Sphere.trusted(center, radius), present)


class _Part(NamedTuple):
    """An interval that has to be looked at again for some subjects, called `rows`.

    samples : of those subjects, at both ends, and beside them where there are any
    place : of the one at the beginning
    depth : how often it was halved already
    """

    rows: Ints
    samples: list[_Timed]
    place: int
    depth: int

    @classmethod
    def of(cls, held: Sequence[_Timed], rows: Ints, interval: int, some: Ints, depth: int) -> _Part:
        """Of `some` of the subjects `rows` that samples are of, growing both."""
        first = max(interval - 1, 0)
        local = np.searchsorted(rows, some)
        samples = [(time, sample.picked(local)) for time, sample in held[first : interval + 3]]
        return cls(some, samples, interval - first, depth)


class _Swept:
    """How far subjects (n,) have reached so far."""

    def __init__(self, count: int, refinable: Bools) -> None:
        self._refinable = refinable
        # What samples show, and beside it what was added where nobody looked: that must not add up.
        self._seen = np.full((count, 6 + len(DIRECTIONS.vectors)), -np.inf)
        self._reach = self._seen.copy()
        # Each sphere merged into that of all before: the smallest while it keeps to one line.
        self._center, self._radius = np.zeros((count, 3)), np.full(count, -np.inf)

    def take(
        self,
        motion: BoundsMotion,
        held: Sequence[_Timed],
        begin: int,
        end: int,
        progress: Progress,
    ) -> Generator[Progress, None, None]:
        """Take samples in, and the intervals between them from `begin` up to `end`."""
        everyone = np.arange(len(self._radius))
        far = yield from self._taken(held, everyone, begin, end, False, progress)
        waiting = [_Part.of(held, everyone, *found, 0) for found in far]
        while waiting:
            part = waiting.pop()
            middle = (part.samples[part.place][0] + part.samples[part.place + 1][0]) / 2
            samples = list(part.samples)
            samples.insert(part.place + 1, (middle, motion.sample_between(middle, part.rows)))
            yield progress
            depth = part.depth + 1
            place, is_deepest = part.place, depth == _DEEPEST
            far = yield from self._taken(samples, part.rows, place, place + 2, is_deepest, progress)
            waiting += [_Part.of(samples, part.rows, *found, depth) for found in far]

    def _taken(
        self,
        held: Sequence[_Timed],
        rows: Ints,
        begin: int,
        end: int,
        everything: bool,
        progress: Progress,
    ) -> Generator[Progress, None, list[tuple[int, Ints]]]:
        """Take in samples of subjects `rows` (m,), and intervals that go no farther or not much farther.

        Yields the progress again and again. Returns the other intervals, each with the subjects whose ways in
        it have to be looked at again; none if `everything` is to be taken as it is.
        """
        times = np.array([time for time, _ in held])
        boxes = np.stack([np.concatenate([own.boxes.min, own.boxes.max], axis=1) for _, own in held])
        balls = np.stack([_numbers(own.spheres) for _, own in held])
        present = np.stack([own.present for _, own in held])
        far: dict[int, list[Ints]] = {}
        moves = (boxes[1:] != boxes[:-1]).any(axis=(0, 2)) | (balls[1:] != balls[:-1]).any(axis=(0, 2))
        moves |= (present[1:] != present[:-1]).any(axis=0)
        rests = np.flatnonzero(~moves & present[0])
        self._take_seen(rows[rests], reach_of(boxes[:1, rests], balls[:1, rests])[0])
        self._merge(rows[rests], balls[0, rests])
        moving = np.flatnonzero(moves)
        taken = np.zeros((max(end - begin, 0), len(rows)), dtype=bool)
        size = max(1, 4 * CHUNK_ROWS // (len(held) * self._reach.shape[1]))
        for start in range(0, len(moving), size):
            if start:
                yield progress
            some = moving[start : start + size]
            reaches, there = reach_of(boxes[:, some], balls[:, some]), present[:, some]
            self._take_seen(rows[some], np.where(there[..., None], reaches, -np.inf).max(axis=0))
            if end <= begin:
                continue
            both = there[begin:end] & there[begin + 1 : end + 1]
            strays = strays_of(reaches, times, there)[begin:end]
            strays[:, ~self._refinable[rows[some]]] = 0.0
            tops = most_between(reaches[begin:end], reaches[begin + 1 : end + 1], strays)
            over = tops - self._seen[rows[some]]
            over = np.maximum(over[..., :6].max(axis=2), over[..., 6:].max(axis=2) / _SLANTED)
            accepted = both & ((over <= self._tolerance(rows[some])) | everything)
            most = np.where(accepted[..., None], tops, -np.inf).max(axis=0)
            self._reach[rows[some]] = np.maximum(self._reach[rows[some]], most)
            taken[:, some] = accepted
            for interval, row in enumerate(both & ~accepted):
                if row.any():
                    far.setdefault(begin + interval, []).append(rows[some[row]])
        for k in range(len(held)):
            some = moving[present[k, moving]]
            self._merge(rows[some], balls[k, some])
        if moving.size and end > begin:
            each = strays_of(balls, times, present)[begin:end]
            strays = (length(each[..., :3]) + each[..., 3]) * self._refinable[rows]
            for interval in range(end - begin):
                # Spheres on their way, which may stray.
                some = np.flatnonzero(taken[interval] & (strays[interval] > 0))
                for k in (begin + interval, begin + interval + 1):
                    wider = balls[k, some]
                    wider[:, 3] += strays[interval, some]
                    self._merge(rows[some], wider)
        return [(interval, np.concatenate(left)) for interval, left in sorted(far.items())]

    def _tolerance(self, rows: Ints) -> Floats:
        reach = np.where(np.isfinite(self._seen[rows, :6]), self._seen[rows, :6], 0.0)
        size = (reach[:, :3] + reach[:, 3:]).max(axis=1) / 2
        tolerance: Floats = _TOLERANCE * size + _SINGLE_PRECISION * np.abs(reach).max(axis=1)
        return tolerance

    def _take_seen(self, rows: Ints, reach: Floats) -> None:
        self._seen[rows] = np.maximum(self._seen[rows], reach)

    def _merge(self, rows: Ints, balls: Floats) -> None:
        """Spheres (m, 4) of subjects (m,), as far as they are not held already."""
        radius = self._radius[rows]
        first = radius == -np.inf
        self._center[rows[first]], self._radius[rows[first]] = balls[first, :3], balls[first, 3]
        beyond = ~first & (length(balls[:, :3] - self._center[rows]) + balls[:, 3] > radius)
        rows, balls = rows[beyond], balls[beyond]
        if len(rows):
            merged = Sphere.trusted(self._center[rows], self._radius[rows]).merged(_sphere(balls))
            self._center[rows], self._radius[rows] = merged.center, merged.radius

    def envelopes(self, progress: Progress) -> Generator[Progress, None, Envelopes]:
        """The boxes, and the smaller of two spheres. Yields the progress again and again."""
        present = np.isfinite(self._radius)
        reach = np.where(present[:, None], np.maximum(self._seen, self._reach), 0.0)
        boxes = Aabb.trusted(-reach[:, 3:6], reach[:, :3])
        center, radius = self._center.copy(), np.where(present, self._radius, 0.0)
        rows = np.flatnonzero(present)
        for start in range(0, len(rows), _AT_ONCE):
            yield progress
            some = rows[start : start + _AT_ONCE]
            found = sphere_around(reach[some, 6:])
            smaller = found.radius < radius[some]
            center[some[smaller]], radius[some[smaller]] = found.center[smaller], found.radius[smaller]
        return Envelopes(boxes, Sphere.trusted(center, radius), present)


def _numbers(spheres: Sphere) -> Floats:
    return np.concatenate([spheres.center, spheres.radius[:, None]], axis=1)


def _sphere(balls: Floats) -> Sphere:
    return Sphere.trusted(balls[..., :3], balls[..., 3])
