"""Scanner of all pairs of a section of a scan."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from ..interval.dispatch import INTERVALS, SLOW_CHUNK
from ..interval.rotating import may_touch
from ..mesh.meshes import Meshes
from ..motion.motion import Motion
from ..motion.samples import SampledMotion
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, is_run_start, length
from ..progress import in_steps, scaled
from ..shapes import Sphere
from .candidates import Candidates, NearSearch, PairFilter, separation_bounds, undecided_cells
from .pair_cache import ContactSpans, Descriptions, PairCache, PairRecords
from .rounds import SAMPLED, Pieces
from .subdivision import Subdivision

_CANDIDATES_PER_CHUNK = 1 << 16
"""Candidates in their intervals whose motion is gathered at once."""

_BROAD_PHASE = 0.1
"""Part of the work of a block that is done before its candidates are solved, for the progress."""

_RECORDING = 0.02
"""Part of the work of a block that records what its candidates do."""

_ROUNDS = 0.7
"""Part of the work on candidates that all rounds take, for the progress; least separations take the rest."""

_LEFT_AFTER_ROUND = 0.7
"""Part of the work on candidates that is left after each round, for the progress: their number is unknown."""


@dataclass(frozen=True)
class ScanPlan:
    """Settings that all pairs of a scan have in common.

    pair_filter : PairFilter
    static_pairs : Whether contacts of pairs that never move count.
    subject_of : (n,) int. Subject that each shape of a sample is part of.
    is_whole : Whether each subject is one shape.
    clearance : float
    first_time : Time of the first sample, in frames.
    """

    pair_filter: PairFilter
    static_pairs: bool
    subject_of: Ints
    is_whole: bool
    clearance: float
    first_time: float


class PairScanner:
    """All pairs of a scan: blocks of a motion go in, contacts come out.

    cache : All that was found so far.
    """

    def __init__(self, plan: ScanPlan, motion: Motion) -> None:
        self.motion, self._plan = motion, plan
        self._subject_of = plan.subject_of
        self._count = plan.pair_filter.count
        self.cache = PairCache(np.zeros(self._count, dtype=bool))
        # Sizes of subjects, NaN until measured.
        self._sizes = np.full(self._count, np.nan)
        # Shapes that were present in the last interval that was solved.
        self._was_present = np.ones(len(self._subject_of), dtype=bool)

    def measure(self, times: Floats) -> None:
        """Measure subjects that are present for the first time at one of some times (k,).

        Their size is the radius of a sphere, or half the diagonal of the box around their shapes.
        """
        new = np.flatnonzero(np.isnan(self._sizes[self._subject_of]))
        present = self.motion.are_present(np.tile(new, len(times)), np.repeat(times, len(new)))
        present = present.reshape(len(times), -1)
        first, new = times[present.argmax(axis=0)], new[present.any(axis=0)]
        if not len(new):
            return
        shapes = self.motion.at(new, first[present.any(axis=0)])
        if self._plan.is_whole and isinstance(shapes, Sphere):
            self._sizes[new] = shapes.radius
            return
        boxes, subject_of = shapes.aabb(), self._subject_of[new]
        starts = np.flatnonzero(is_run_start(subject_of))
        low, high = np.minimum.reduceat(boxes.min, starts), np.maximum.reduceat(boxes.max, starts)
        self._sizes[subject_of[starts]] = length((high - low) / 2)
        if self._plan.is_whole and isinstance(shapes, Meshes):
            balls = np.flatnonzero(shapes.are_balls)
            self._sizes[new[balls]] = shapes.margin[balls]

    @property
    def sampled(self) -> SampledMotion:
        """Return the motion, of which samples are added."""
        assert isinstance(self.motion, SampledMotion), "nothing is sampled of motion that is certain"
        return self.motion

    def process(self, times: Floats) -> Generator[float, None, None]:
        """Record what all candidate pairs do in a block of times (k + 1,), or at one time given twice.

        Yields the part that is done.
        """
        plan, motion, is_instant = self._plan, self.motion, bool(times[0] == times[-1])
        self.measure(times)
        margin = np.nan_to_num(self._sizes[self._subject_of] / 2) + plan.clearance / 2
        # At an instant, pairs at rest are tested too.
        every = np.arange(len(self._subject_of))
        present = motion.are_present(every, np.full(len(every), times[0]))
        near = NearSearch(motion, times, margin)
        finding = near.find(self._subject_of, plan.pair_filter, present & ~self._was_present, is_instant)
        yield from scaled(finding, 0.0, 0.8 * _BROAD_PHASE)
        is_moving = np.full(self._count, is_instant)
        if not is_instant:
            is_moving[self._subject_of[near.moving]] = True
            self.cache.has_moved |= is_moving
        subjects = self._subject_of[near.pairs].T
        keys, size = plan.pair_filter.keys(*subjects), np.minimum(*self._sizes[subjects])
        candidates = self.cache.candidates(motion, near.pairs, keys, size, plan.clearance)
        cells, continued = yield from self._undecided(near, times, candidates)
        pairs, pieces = yield from scaled(
            self._solve_candidates(near, times, candidates, cells), _BROAD_PHASE, 1 - _RECORDING
        )
        # Open contacts of pairs at rest last until the end of the block unsolved, unless one has disappeared.
        is_moving[self._subject_of[~present]] = True
        resting = self.cache.open
        resting = resting.take(~is_moving[np.stack(np.divmod(resting.keys, max(1, self._count)))].any(axis=0))
        resting = resting.replaced(leave=np.full(len(resting.keys), times[-1]))
        found = Descriptions(motion, plan.clearance, plan.first_time, candidates, pieces)
        continued = ContactSpans.concatenate([continued, resting])
        recording = self.cache.record(pairs, continued, float(times[-1]), found)
        yield from scaled(recording, 1 - _RECORDING, 1.0)
        self._was_present = motion.are_present(every, np.full(len(every), times[-2]))

    def _undecided(
        self, near: NearSearch, times: Floats, candidates: Candidates
    ) -> Generator[float, None, tuple[Ints, ContactSpans]]:
        """Find the cells (r,) to solve, by interval; yields the part done.

        Also returns spans of candidates that stay in contact without being deeper than elsewhere.
        """
        motion, count, bounds_of = self.motion, len(times) - 1, separation_bounds(near)
        # What may move in steps may deviate by any amount: that is sampled in any case.
        is_stepped: Bools = np.zeros(len(near.pairs), dtype=bool)
        if isinstance(motion, SampledMotion) and motion.is_adaptive and not motion.is_probed:
            is_stepped = candidates.contact_motion == SAMPLED
        left, within = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        # Successive intervals of a pair are decided together.
        pair_of, starts = near.cells // max(count, 1), [0]
        while starts[-1] < len(pair_of):
            last = pair_of[min(starts[-1] + CHUNK_ROWS, len(pair_of)) - 1]
            starts.append(int(np.searchsorted(pair_of, last, side="right")))
        for begin, end in pairwise(starts):
            cells = near.cells[begin:end]
            bounds = bounds_of(cells)
            if is_stepped.any():
                bounds[3][is_stepped[cells // count]] = np.inf
            is_apart, is_within = undecided_cells(cells, candidates, bounds, self._plan.clearance, count)
            # Of parts of subjects, spans in contact decide others.
            is_within &= self._plan.is_whole
            left.append(cells[~(is_apart | is_within)])
            within.append(cells[is_within])
            yield (0.8 + 0.2 * end / len(near.cells)) * _BROAD_PHASE
        # One span for each run of intervals in contact.
        cells = np.concatenate(within)
        begins = is_run_start(cells - np.arange(len(cells))) | (cells % count == 0)
        row, interval = np.divmod(cells[begins], count)
        until = cells[np.append(begins[1:], True)[: len(cells)]] % count + 1
        continued = ContactSpans.found(candidates.keys[row], times[interval], times[until])
        row, interval = np.divmod(np.concatenate(left), count)
        order = np.lexsort((row, interval))
        return row[order] * count + interval[order], continued

    def _solve_candidates(
        self, near: NearSearch, times: Floats, candidates: Candidates, cells: Ints
    ) -> Generator[float, None, tuple[list[PairRecords], list[Pieces]]]:
        """Make records of candidates in cells (r,), and their pieces that touch; yields the part done."""
        pairs: list[PairRecords] = []
        pieces: list[Pieces] = []
        for start in range(0, len(cells), _CANDIDATES_PER_CHUNK):
            chunk = cells[start : start + _CANDIDATES_PER_CHUNK]
            rows = chunk // (len(times) - 1)
            subdivision = Subdivision(self.motion, near, times, chunk, candidates.take(rows))
            begin, end = start / len(cells), (start + len(chunk)) / len(cells)
            yield begin + 0.1 * (end - begin)
            solving = self._solve(subdivision, pairs)
            found = yield from scaled(solving, begin + 0.1 * (end - begin), end)
            pieces.append(found.replaced(rows=rows[found.rows]))
        return pairs, pieces

    def _solve(self, subdivision: Subdivision, pairs: list[PairRecords]) -> Generator[float, None, Pieces]:
        """Find the pieces that touch of candidate pairs in their intervals, subdivided where they have to be.

        Yields the part of the work that is done, which never falls.

        pairs : gets records of the pairs
        """
        candidates, clearance = subdivision.candidates, self._plan.clearance
        settled: list[Pieces] = []
        begin = 0.0
        solved: Pieces | None = subdivision.whole_intervals()
        while solved is not None:
            of_all = (_ROUNDS - begin) * (1 - _LEFT_AFTER_ROUND)
            yield from scaled(self._solve_motion(solved), begin + 0.1 * of_all, begin + 0.4 * of_all)
            yield from in_steps(partial(subdivision.assess, solved, clearance), begin + 0.45 * of_all)
            is_open = subdivision.give_up(solved)
            # Drop pairs that neither touch nor come closer than already recorded.
            matters = solved.is_touching | (solved.contacts.low < candidates.cutoff[solved.rows])
            settled.append(solved.take(~is_open & matters))
            splitting = subdivision.split(solved, is_open)
            solved = yield from scaled(splitting, begin + 0.5 * of_all, begin + of_all)
            begin += of_all
            yield begin
        # Parts first: of two contacts of a pair that begin at the same time, the better sampled one is
        # described.
        found = Pieces.concatenate([*settled[1:], settled[0]])
        cutoffs = candidates.cutoff[found.rows]
        searching = subdivision.with_least(found, cutoffs)
        found = yield from scaled(searching, begin + 0.1 * (1 - begin), 1.0)
        touches, least = found.is_touching, found.contacts.least
        rows = np.flatnonzero(touches | (least < cutoffs))
        pair, least, times = found.rows[rows], least[rows], found.times(found.contacts.least_time)[rows]
        is_near = least <= candidates.size[pair]
        pairs.append(PairRecords.found(candidates.keys[pair], least, times, touches[rows], is_near))
        doubtful = np.flatnonzero(subdivision.doubtful_since < np.inf)
        since = subdivision.doubtful_since[doubtful]
        pairs.append(PairRecords.found(candidates.keys[doubtful], doubtful_since=since))
        return found.take(touches)

    def _solve_motion(self, solved: Pieces) -> Generator[float, None, None]:
        """Fill in the contacts of all pairs of a round; yields before each chunk the part that is done."""
        motion, contacts, clearance = solved.motion, solved.contacts, self._plan.clearance
        deviation = np.nan_to_num(solved.deviation)
        methods = INTERVALS[type(motion.a_start), type(motion.b_start)]
        for start in range(0, len(deviation), 2 * SLOW_CHUNK):
            yield 0.5 * start / len(deviation)
            chunk = slice(start, start + 2 * SLOW_CHUNK)
            solve = partial(methods.first, motion.take(chunk), clearance, deviation[chunk])
            contacts.assign(chunk, (yield from in_steps(solve, 0.5 * start / len(deviation))))
        if methods.second is None:
            return
        left = np.flatnonzero(may_touch(motion, contacts.low, clearance, deviation))
        for start in range(0, len(left), SLOW_CHUNK):
            yield 0.5 + 0.5 * start / len(left)
            rows = left[start : start + SLOW_CHUNK]
            found = methods.second(motion.take(rows), clearance, deviation[rows], contacts.take(rows))
            contacts.assign(rows, found)
