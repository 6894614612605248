"""All the pairs of one kind in a scan: bodies among themselves, or bodies and one obstacle."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Floats, Ints, length
from .contact_report import Clearance, Contact, Progress
from .encounters import encounters, with_extremes
from .found_pairs import PairRows, clearances_of, contacts_of
from .frame_block import FrameBlock, Frames, candidate_pairs, near_by_balls, near_by_interval, sizes
from .motion import AskedBetween, Sample
from .obstacles import SeenMotion, View, in_world
from .pair_choice import PairChoice
from .pair_history import Candidates, Findings, PairHistory
from .refinement import Refinement, judged, time_within
from .settled_spheres import settled_by_samples, ways_of_spheres

_LONG_BLOCK, _LONGEST_BLOCK = 16, 128
"""Intervals looked at together: more save little, and cover longer ways with more pairs that never meet."""

_BLOCK_SHAPES = 1 << 16
"""Shapes times intervals, for blocks longer than the long: of few shapes a block is a few array calls, and of
many it takes so long that whoever waits for the next frame would notice.
"""

_FEW_TESTS = 1 << 20
"""Pairs times intervals, twice: so few are looked at before it is worth while to tell which need not be."""

_AT_ONCE = 1 << 16
"""Candidates whose shapes are taken apart at a time."""


@dataclass(frozen=True)
class ScanPlan:
    """What all pairs of a scan have in common.

    owners : (N,) the subject that each shape of a sample is part of
    is_whole : whether each subject is one shape
    motion : what to ask between samples; None: motion is linear
    """

    choice: PairChoice
    owners: Ints
    is_whole: bool
    motion: AskedBetween | None
    clearance: float
    static_pairs: bool
    first_time: float


class PairScan:
    """All pairs of bodies, or all bodies and one obstacle: samples go in one by one, contacts come out."""

    def __init__(self, plan: ScanPlan, view: View | None) -> None:
        self._plan = plan
        self._view = view
        self._mesh = view.obstacle.mesh if view else None
        self.owners = plan.owners if view is None else np.append(plan.owners, view.obstacle.subject)
        self.count = plan.choice.count
        self.choice = plan.choice
        self.history = PairHistory()
        self.refinement = None
        if plan.motion is not None:
            asked = plan.motion if view is None else SeenMotion(plan.motion, view)
            self.refinement = Refinement(asked, self.owners, plan.clearance)
        self.size = np.full(len(self.owners), np.nan)
        self.subject_size = np.full(self.count, np.nan)
        self._all_measured = False
        self.moved = np.zeros(self.count, dtype=bool)
        self._longest = int(np.clip(_BLOCK_SHAPES // max(1, len(self.size)), _LONG_BLOCK, _LONGEST_BLOCK))
        self._shortest = 1
        if self.refinement is None:
            self._shortest = int(np.clip(_FEW_TESTS // max(1, len(self.size)) ** 2, 1, self._longest))
        self.block_length = self._shortest
        self._blocks = 0
        # The frames of the next block; one before it, and one after it, tell how straight the motion is.
        self._waiting: Frames | None = None
        self._context = 0

    def take(self, times: Floats, sample: Sample) -> None:
        """Take in a sample of growing times (k,), of no more than are wanted."""
        if self._view is None:
            sample = Sample(sample.shapes, sample.present)  # where obstacles are is nothing to bodies
        else:
            sample = self._view.sample(sample, sample.present)
        frames = Frames.of(times, sample, self.owners)
        if not self._all_measured:
            self._measure(frames)
        self._waiting = frames if self._waiting is None else self._waiting.joined(frames)

    @property
    def wanted(self) -> int:
        """How many more times it has to take in before it looks at what is between them."""
        waiting = 0 if self._waiting is None else len(self._waiting.times)
        return self._context + self.block_length + 2 - waiting

    def look(self, progress: Progress) -> Generator[Progress, None, None]:
        """Look at the intervals between the samples so far, once it is worth while."""
        frames = self._waiting
        if frames is not None and not self.wanted:
            yield from self._block(frames, self._context, len(frames.times) - 2, progress)
            self._waiting, self._context = frames.picked(slice(-3, None)), 1

    def finish(self, progress: Progress) -> Generator[Progress, None, None]:
        """Look at what is left, after the last sample."""
        frames = self._waiting
        assert frames is not None
        if len(frames.times) > self._context + 1:
            yield from self._block(frames, self._context, len(frames.times) - 1, progress)
        # The last sample on its own: a scan of one frame, and subjects only there in the last one.
        yield from self._block(frames.picked([-1, -1]), 0, 1, progress)

    def _measure(self, frames: Frames) -> None:
        """Sizes of new subjects: their shape's, or half the diagonal of the box around their parts."""
        new = np.flatnonzero(frames.present.any(axis=0) & np.isnan(self.size))
        if not len(new):
            return
        first = frames.shapes[frames.present[:, new].argmax(axis=0), new]
        self.size[new] = sizes(first)
        self._all_measured = not np.isnan(self.size).any()
        if self._plan.is_whole:
            self.subject_size[new] = self.size[new]
            return
        boxes = first.aabb()
        starts = np.flatnonzero(np.diff(self.owners[new], prepend=-1))
        low = np.minimum.reduceat(boxes.min, starts)
        high = np.maximum.reduceat(boxes.max, starts)
        self.subject_size[self.owners[new[starts]]] = length((high - low) / 2)

    def _block(
        self, frames: Frames, first: int, last: int, progress: Progress
    ) -> Generator[Progress, None, None]:
        """Look at the intervals between `frames` from `first` to `last`.

        Yields between its parts too, none of which takes long: whoever steps the scan has a window to serve.
        """
        block = FrameBlock(frames, first, last, self._mesh)
        if self.refinement:
            block.stray = _with_guesses(block)
        yield progress
        changes = np.zeros(self.count, dtype=bool)
        changes[self.owners[block.changes()]] = True
        self.moved |= changes
        end = float(block.times[-1])
        # Those that stand still are looked at once; then their contacts go on as they are.
        moving = np.ones(self.count, dtype=bool) if self._blocks == 0 or block.is_instant else changes
        keys, since = self.history.going_on
        # Nor does a contact go on with who is gone.
        ended = moving.copy()
        ended[self.owners[~block.present[0]]] = True
        resting = ~(ended[keys // max(1, self.count)] | ended[keys % max(1, self.count)])
        findings = [Findings.going_on(keys[resting], since[resting], end)]
        margin = np.nan_to_num(self.subject_size[self.owners] / 2) + self._plan.clearance / 2
        boxes = block.swept(margin)
        yield progress
        pairs = candidate_pairs(block, boxes, moving[self.owners])
        candidates = self._candidates(pairs[self.choice.wanted(*self.owners[pairs].T)])
        yield progress
        ways = ways_of_spheres(block)
        if ways is None:
            near = near_by_interval(block, boxes, candidates.pairs)
            reach = np.maximum(candidates.news(), self._plan.clearance)
            near = near_by_balls(block, near, candidates.pairs, reach)
        else:
            doubt = block.stray if self.refinement else None
            told, near = settled_by_samples(block, ways, doubt, candidates, self._plan.clearance)
            findings += told
        yield progress
        for start in range(0, len(near), _AT_ONCE):
            interval, row = near[start : start + _AT_ONCE].T
            findings += yield from self._looked_at(block, interval, candidates.picked(row), progress)
        found = Findings.joined(findings)
        # The first sample itself is sure.
        sure = np.where(found.enter == self._plan.first_time, 0.0, found.uncertainty)
        self.history.note(found._replace(uncertainty=sure), end)
        self._blocks += 1
        self._set_length(block)

    def _candidates(self, pairs: Ints) -> Candidates:
        """Pairs (m, 2) of shapes and what is known of them."""
        owners = self.owners[pairs]
        keys = self.choice.keys(*owners.T)
        size = np.minimum(*self.subject_size[owners].T)
        return Candidates(pairs, keys, size, *self.history.known(keys))

    def _looked_at(
        self, block: FrameBlock, interval: Ints, candidates: Candidates, progress: Progress
    ) -> Generator[Progress, None, list[Findings]]:
        """What candidate pairs (m,) do in their intervals (m,)."""
        pairs, keys, size, _, known = candidates
        first, second = pairs.T
        motion = block.pairs(interval, first, second)
        both = block.stray[interval, first] + block.stray[interval, second]
        steps = block.steps[interval]
        news = candidates.news(self._plan.clearance)
        yield progress
        met = yield from encounters(motion, self._plan.clearance, both, progress)
        yield progress
        looks = []
        rows = np.arange(len(keys))
        uncertainty, adaptive = np.zeros(len(keys)), np.zeros(len(keys), dtype=bool)
        if self.refinement:
            verdict = judged(motion, met, both, size, known, self._plan.clearance, steps)
            uncertainty = verdict.uncertainty
            adaptive = self.refinement.refinable[first] & self.refinement.refinable[second]
            is_open = ~verdict.settled & adaptive
            if is_open.any():
                of: list[Any] = [values[is_open] for values in (keys, interval, pairs, size, known, news)]
                looks.append((yield from self.refinement.looked_at(block, progress, *of)))
            rows = np.flatnonzero(~is_open)
        yield progress
        met = with_extremes(motion, met, rows, news, keys)
        yield progress
        # Most of those that stay apart have been nearer, or never are near enough to tell.
        rows = rows[~np.isnan(met.enter[rows]) | (met.least[rows] < news[rows])]
        begin, end = block.times[interval[rows]], block.times[interval[rows] + 1]
        enter = met.enter[rows]
        point, normal = np.full((len(rows), 3), np.nan), np.full((len(rows), 3), np.nan)
        sure = uncertainty[rows] * steps[rows]
        # Only a first contact is described.
        told = np.flatnonzero(~np.isnan(enter) & ~known[rows])
        if len(told):
            seen = motion.picked(rows[told]).contact_at(enter[told])
            places = block.places[interval[rows[told]]], block.places[interval[rows[told]] + 1]
            point[told], normal[told] = in_world(*places, enter[told], *seen)
            linear = told[~adaptive[rows[told]]]
            if len(linear):
                of_pair = rows[linear]
                strays = _strays(block, interval[of_pair], pairs[of_pair])
                speed = motion.picked(of_pair).closing_speed(enter[linear])
                sure[linear] = _doubt(strays, speed, steps[of_pair])
        looks.append(
            Findings(
                keys[rows],
                time_within(begin, end, enter),
                time_within(begin, end, met.leave[rows]),
                met.least[rows],
                time_within(begin, end, met.least_time[rows]),
                sure,
                point,
                normal,
                adaptive[rows],
            )
        )
        return looks

    def _set_length(self, block: FrameBlock) -> None:
        """As many intervals in the next block as what moves needs to go about twice its own length."""
        if self._shortest >= _LONG_BLOCK:
            return
        low = block.boxes.min
        moved = np.abs(low[1:] - low[:-1]).max(axis=-1)
        moved = moved[(moved > 0) & block.present[1:] & block.present[:-1]]
        if not len(moved):
            self.block_length = self._longest
            return
        ways = 4 * float(np.nanmedian(self.size)) / max(float(np.median(moved)), 1e-300)
        self.block_length = int(np.clip(ways, self._shortest, self._longest))

    def found(self) -> tuple[list[Contact], list[Clearance]]:
        """All contacts, and all near misses."""
        history = self.history
        firsts, spans = history.finish()
        i, j = np.divmod(history.keys, max(1, self.count))
        a, b = self.choice.in_order(i, j)
        # Normals go from the lower index, or to the obstacle.
        flipped = a != i if self._view is None else a == self._view.obstacle.subject
        pairs = PairRows(a, b, flipped, history.least, history.least_time)
        moves = self.moved[i] | self.moved[j]
        near = history.least <= np.minimum(self.subject_size[i], self.subject_size[j])
        told = moves | self._plan.static_pairs | (self._blocks == 1)
        first = firsts.picked(told[history.touched])
        return (
            contacts_of(pairs.picked(history.touched & told), first, spans, self._plan.first_time),
            clearances_of(pairs.picked(~history.touched & near & moves)),
        )


def _with_guesses(block: FrameBlock) -> Floats:
    """(k, n) what shapes may stray; where nothing tells, as much as they move."""
    strays = block.strays(np.arange(block.present.shape[1]))
    unknown = np.isnan(strays)
    if not unknown.any():
        return strays
    low, high = block.ending_boxes.min - block.boxes.min[:-1], block.ending_boxes.max - block.boxes.max[:-1]
    return np.where(unknown, np.maximum(np.abs(low), np.abs(high)).max(axis=-1), strays)


def _strays(block: FrameBlock, interval: Ints, pairs: Ints) -> Floats:
    """(m,) how far from straight the two ways of pairs (m, 2) may be together; NaN where nothing tells."""
    members, place = np.unique(pairs, return_inverse=True)
    strays = block.strays(members)
    first, second = place.reshape(-1, 2).T
    return np.asarray(strays[interval, first] + strays[interval, second])


def _doubt(strays: Floats, speed: Floats, steps: Floats) -> Floats:
    """Frames: how long pairs take to cover the distance by which the straight line may be wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        frames = np.where(strays > 0, strays / speed, 0.0) * steps
    return np.where(np.isnan(strays) | (speed <= 0), steps, np.minimum(frames, steps))
