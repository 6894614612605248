"""The one loop of swept bounds: intervals between samples are halved until little may be added within them.

Each interval is also sampled within, off its middle. What may be added between two samples is estimated from
the two around them. Frames are sampled in blocks, so that most of what is swept is known before any interval
is halved, and then all that is open is halved together. Memory does not grow with the number of frames.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..interval.pair_motion import max_deviation
from ..numeric.arrays import Bools, Floats, Ints
from ..progress import Progress, converted

SWEPT_TOLERANCE = 2e-3
"""Part of the size of what is swept that may be added between samples."""
_PROBE = (3 - 5**0.5) / 2
"""Position of the sample within each interval. Unlike 1/2, 1/3 or 1/4, it shows periodic motion."""
_FRAMES_PER_BLOCK = 6
_JUMP_RATIO = 0.8
"""An excess that remains this large in half the interval, after some halvings, is that of a jump."""


class Sweep(Protocol):
    """Subjects that move, by their indices, and all that they have swept so far.

    most_halvings : Halvings of an interval; what is open after so many is added as it is.
    jump_halvings : Halvings after which a jump is known, within which nothing is added.
    chunk : Intervals that are assessed together.
    """

    most_halvings: int
    jump_halvings: int
    chunk: int

    def sample(self, rows: Ints, times: Floats) -> Generator[float, None, Ints]:
        """Sample subjects (m,), each at its time (m,); yields times after steps of it.

        Returns numbers (m,) of the samples, which count up.
        """

    def keep(self, samples: Ints) -> None:
        """Forget all samples but some (k,), whose numbers are then 0 to k - 1."""

    def growth(self, rows: Ints, around: Ints, times: Floats) -> tuple[Ints, Floats, Any]:
        """Estimate what subjects (m,), in order, sweep in one interval each.

        around, times : (4, m). Numbers of the samples before, at both ends, and after, and their times; -1
            where there is none before or after.
        Returns moving : (k,) int. Places in `rows` of those that may sweep more than the samples.
        Returns excess : (k,) float. How much that adds, as a part of what may be added.
        Returns growth : (k, ...). What that adds.
        """

    def add(self, rows: Ints, growth: Any) -> None:
        """Add what subjects (k,), in order, sweep in one interval each."""


def sweep_over(sweep: Sweep, times: Floats, refinable: Bools) -> Generator[Progress, None, None]:
    """Sample at increasing times (t,), and within the intervals between them; yields after each step.

    refinable : (n,) bool. Subjects that can be sampled between the times too. Others move linearly.
    """
    count = len(refinable)
    # Numbers of samples (k, n), and their times (k,): the last of the block before, then those of a block.
    samples, at = np.empty((0, count), dtype=np.int64), times[:0]
    for start in range(0, len(times), _FRAMES_PER_BLOCK):
        frames, first = times[start : start + _FRAMES_PER_BLOCK], len(at)
        is_last = start + _FRAMES_PER_BLOCK >= len(times)
        ends = np.append(at[-1:], frames)
        probes = ends[:-1] + _PROBE * (ends[1:] - ends[:-1]) if refinable.any() else times[:0]
        at = np.append(at, np.sort(np.append(frames, probes)))
        places, rows = np.nonzero(np.isin(at[first:], frames)[:, None] | refinable)
        sampling = sweep.sample(rows, at[first + places])
        new = yield from converted(sampling, partial(_progress, times))
        samples = np.concatenate([samples, np.full((len(at) - first, count), -1)])
        samples[first + places, rows] = new
        for place in range(first, len(at)):
            # Those that are not sampled between frames stay until the next one.
            samples[place] = np.where(samples[place] < 0, samples[place - 1], samples[place])
        if len(at) == 1 and is_last:
            samples, at = np.repeat(samples, 2, axis=0), np.append(at, at + 1)
        # The last interval waits for the sample after it.
        near = np.arange(first > 0, len(at) - (1 if is_last else 2))[:, None] + np.arange(-1, 3)
        around = np.append(samples, np.full((1, count), -1), axis=0)[np.where(near < len(at), near, -1)]
        around[:, ::3, ~refinable] = -1
        shape = around.transpose(1, 2, 0).shape
        adding = _add_intervals(
            sweep,
            np.arange(count).repeat(shape[2]),
            around.transpose(1, 2, 0).reshape(4, -1),
            np.broadcast_to(at[near.T.clip(0, len(at) - 1)][:, None], shape).reshape(4, -1),
        )
        for _ in adding:
            yield _progress(times, frames[-1])
        sweep.keep(samples[-3:].ravel())
        at = at[-3:]
        samples = np.arange(len(at) * count).reshape(len(at), count)


def _progress(times: Floats, time: float) -> Progress:
    return Progress(int(np.searchsorted(times, time, side="right")), len(times), float(time))


def _add_intervals(sweep: Sweep, rows: Ints, around: Ints, times: Floats) -> Generator[object, None, None]:
    """Add what subjects (m,) sweep in intervals, given as for `Sweep.growth`; halve those that are open."""
    before, depth = np.full(len(rows), np.inf), 0
    while len(rows):
        is_open, excess = np.zeros(len(rows), dtype=bool), np.zeros(len(rows))
        for start in range(0, len(rows), sweep.chunk):
            part = slice(start, start + sweep.chunk)
            moving, found, growth = sweep.growth(rows[part], around[:, part], times[:, part])
            moving = moving + start
            is_jump = (found > np.maximum(_JUMP_RATIO * before[moving], 1)) & (depth >= sweep.jump_halvings)
            excess[moving] = found
            is_open[moving] = (found > 1) & ~is_jump & (depth < sweep.most_halvings)
            is_settled = ~(is_open[moving] | is_jump)
            sweep.add(rows[moving[is_settled]], growth[is_settled])
            yield None
        rows, times, around = rows[is_open], times[:, is_open], around[:, is_open]
        middle = (times[1] + times[2]) / 2
        new = yield from sweep.sample(rows, middle)
        rows, before, depth = rows.repeat(2), excess[is_open].repeat(2), depth + 1
        around, times = _halves(around, new), _halves(times, middle)


def _halves(around: Any, middle: Any) -> Any:
    """Values (4, 2m) around both halves of each interval, from those (4, m) around it and in its middle."""
    five = np.insert(around, 2, middle, axis=0)
    return np.stack([five[:-1], five[1:]], axis=2).reshape(4, -1)


def deviations(times: Floats, values: Floats, is_known: Bools) -> Floats:
    """Estimate deviations (...) from linear motion between the second and third of four samples. Approximate.

    times : (4, ...) float. values : (4, ...) float. Any number for a sample that is not known.
    is_known : (2, ...) bool. Whether the sample before, and the one after, are known; without both, it is 0.
    """
    steps = times[1:] - times[:-1]
    # There is no step to a sample that does not exist.
    speeds = (values[1:] - values[:-1]) * (1 / np.where(steps > 0, steps, 1.0))
    result = np.zeros(values.shape[1:])
    for outer, is_there in zip((0, 2), is_known, strict=True):
        change = np.abs(speeds[outer] - speeds[1])
        np.copyto(change, 0.0, where=~is_there)
        np.maximum(result, max_deviation(change, steps[1], steps[1] + steps[outer]), out=result)
    return result
