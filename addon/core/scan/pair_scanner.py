"""Scanner of all pairs of one kind: bodies among themselves, or bodies and one obstacle."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..interval.dispatch import INTERVALS, SLOW_CHUNK, solve_first_pass
from ..interval.pair_motion import IntervalContacts
from ..interval.rotating import may_touch
from ..mesh.triangle_mesh import TriangleMesh
from ..motion.motion import Motion, ObstacleSpace
from ..motion.samples import SampledMotion
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, length
from ..numeric.spans import is_run_start
from ..progress import scaled
from ..shapes import Sphere
from .candidates import Candidates, CenterPaths, NearCells, NearSearch, undecided_cells
from .pair_cache import Descriptions, IntervalRecords, PairCache, ScannerRecords
from .pair_filter import PairFilter
from .rounds import PairIntervals
from .subdivision import Subdivision

_CANDIDATES_PER_CHUNK = 1 << 16
"""Candidates in their intervals whose motion is gathered at once."""

_BROAD_PHASE = 0.1
"""Part of the work of a block that is done before its candidates are solved, for the progress."""

_RECORDING = 0.02
"""Part of the work of a block that records what its candidates do."""

_LEFT_AFTER_ROUND = 0.7
"""Part of the work on candidates that is left after each round, for the progress: their number is unknown."""


@dataclass(frozen=True)
class ScanPlan:
    """Settings that all pairs of a scan have in common.

    pair_filter : PairFilter
    spaces : Of the scanners: None for bodies among themselves, then one for each obstacle.
    static_pairs : Whether contacts of pairs that never move count.
    subject_of : (n,) int. Subject that each shape of a sample is part of.
    is_whole : Whether each subject is one shape.
    clearance : float
    first_time : Time of the first sample, in frames.
    """

    pair_filter: PairFilter
    spaces: Sequence[ObstacleSpace | None]
    static_pairs: bool
    subject_of: Ints
    is_whole: bool
    clearance: float
    first_time: float

    def subjects_in(self, space: ObstacleSpace | None) -> Ints:
        """Return the subject of each shape in a space, of which the obstacle is the last."""
        return self.subject_of if space is None else np.append(self.subject_of, space.obstacle.subject)


class PairScanner:
    """All pairs of bodies, or of bodies and one obstacle: blocks of a motion go in, contacts come out.

    solved_until : Time up to which all contacts are recorded.
    solving : The same, with the part that is done of the block that is being solved.
    instants : Number of frames that are solved by themselves, with the part that is done of the next one.
    """

    def __init__(self, plan: ScanPlan, space: ObstacleSpace | None, motion: Motion, times: Floats) -> None:
        self.motion, self._plan, self._times = motion, plan, times
        self._mesh = space.obstacle.mesh if space else None
        self._subject_of = plan.subjects_in(space)
        self._count = plan.pair_filter.count
        self._cache = PairCache()
        # Sizes of subjects, NaN until measured.
        self._sizes = np.full(self._count, np.nan)
        self._has_moved = np.zeros(self._count, dtype=bool)
        # Shapes that were present in the last interval that was solved.
        self._was_present = np.ones(len(self._subject_of), dtype=bool)
        self.solving = self.solved_until = plan.first_time
        self.instants = 0.0

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

    @property
    def sampled(self) -> SampledMotion:
        """Return the motion, of which samples are added."""
        assert isinstance(self.motion, SampledMotion), "nothing is sampled of motion that is certain"
        return self.motion

    @property
    def times(self) -> Floats:
        """Times of all samples, or of those that are kept."""
        return self.motion.times if isinstance(self.motion, SampledMotion) else self._times

    def process(self, first: int, last: int) -> Generator[None, None, None]:
        """Record what all candidate pairs do from one sample to another, or at one by itself."""
        if isinstance(self.motion, SampledMotion):
            self.motion.set_block(first, last)
        times = self.times[slice(first, last + 1) if first < last else [first, first]]
        begin, end, before = float(times[0]), float(times[-1]), self.instants
        for part in self._parts(times):
            self.solving = begin + (end - begin) * part
            self.instants = before + (part if begin == end else 0.0)
            yield
        self.solving, self.instants = end, before + (begin == end)
        self.solved_until = end

    def _parts(self, times: Floats) -> Generator[float, None, None]:
        """Process a block of times (k + 1,), or one time given twice; yields the part that is done."""
        plan, motion, is_instant = self._plan, self.motion, bool(times[0] == times[-1])
        self.measure(times)
        margin = np.nan_to_num(self._sizes[self._subject_of] / 2) + plan.clearance / 2
        # At an instant, pairs at rest are tested too.
        every = np.arange(len(self._subject_of))
        present = motion.are_present(every, np.full(len(every), times[0]))
        search = NearSearch(motion, times, margin).find(
            self._subject_of,
            plan.pair_filter,
            self._mesh is not None,
            present & ~self._was_present,
            is_instant,
        )
        near = yield from scaled(search, 0.0, 0.8 * _BROAD_PHASE)
        is_moving = np.full(self._count, is_instant)
        if not is_instant:
            is_moving[self._subject_of[near.moving]] = True
            self._has_moved |= is_moving
        subjects = self._subject_of[near.pairs].T
        candidates = self._cache.candidates(
            near.pairs, plan.pair_filter.keys(*subjects), np.minimum(*self._sizes[subjects])
        )
        cells, continued = yield from self._undecided(near, times, candidates)
        descriptions = Descriptions(motion, self._mesh, plan.clearance, plan.first_time)
        parts = self._solve_candidates(near, times, candidates, cells, descriptions)
        found = yield from scaled(parts, _BROAD_PHASE, 1 - _RECORDING)
        # Open contacts of pairs at rest last until the end of the block unsolved, unless one has disappeared.
        is_moving[self._subject_of[~present]] = True
        resting = self._cache.open
        resting = resting.take(~is_moving[np.stack(np.divmod(resting.keys, max(1, self._count)))].any(axis=0))
        found.append(IntervalRecords.from_continued_contacts(resting.keys, resting.enter, float(times[-1])))
        records = IntervalRecords.concatenate([continued, *found])
        recording = self._cache.record(records, float(times[-1]), descriptions)
        yield from scaled(recording, 1 - _RECORDING, 1.0)
        self._was_present = motion.are_present(every, np.full(len(every), times[-2]))

    def _undecided(
        self, near: NearCells, times: Floats, candidates: Candidates
    ) -> Generator[float, None, tuple[Ints, IntervalRecords]]:
        """Find the cells (r,) to solve, by interval; yields the part done.

        Also returns records of candidates that stay in contact without being deeper than elsewhere.
        """
        motion, pairs, count = self.motion, near.pairs, len(times) - 1
        paths = CenterPaths.of_steps(near, self._mesh is not None)
        clearance = self._plan.clearance
        cutoff = candidates.separation_cutoff(clearance)
        # What may move in steps may deviate by any amount: that is sampled in any case.
        is_stepped: Bools = np.zeros(len(pairs), dtype=bool)
        if isinstance(motion, SampledMotion) and motion.is_adaptive and not motion.is_probed:
            is_stepped = np.asarray((motion.grain[pairs] < np.inf).all(axis=1))
            is_stepped &= ~motion.is_certain[pairs].all(axis=1)
        left, within = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        # Successive intervals of a pair are decided together.
        pair_of, starts = near.cells // max(count, 1), [0]
        while starts[-1] < len(pair_of):
            last = pair_of[min(starts[-1] + CHUNK_ROWS, len(pair_of)) - 1]
            starts.append(int(np.searchsorted(pair_of, last, side="right")))
        for begin, end in pairwise(starts):
            cells = near.cells[begin:end]
            bounds = paths.bounds(*near.rows(cells))
            bounds.deviation[is_stepped[cells // count]] = np.inf
            is_apart, is_within = undecided_cells(cells, candidates, bounds, cutoff, clearance, count)
            # Of parts of subjects, spans in contact decide others.
            is_within &= self._plan.is_whole
            left.append(cells[~(is_apart | is_within)])
            within.append(cells[is_within])
            yield (0.8 + 0.2 * end / len(near.cells)) * _BROAD_PHASE
        records = _continued_records(np.concatenate(within), candidates.keys, times)
        row, interval = np.divmod(np.concatenate(left), count)
        order = np.lexsort((row, interval))
        return row[order] * count + interval[order], records

    def _solve_candidates(
        self, near: NearCells, times: Floats, candidates: Candidates, cells: Ints, descriptions: Descriptions
    ) -> Generator[float, None, list[IntervalRecords]]:
        """Make records of candidates in cells (r,); yields the part done.

        descriptions : gets pieces of the records that touch
        """
        records: list[IntervalRecords] = []
        for start in range(0, len(cells), _CANDIDATES_PER_CHUNK):
            chunk = cells[start : start + _CANDIDATES_PER_CHUNK]
            rows = chunk // (len(times) - 1)
            subdivision = Subdivision(self.motion, near, times, chunk, candidates.take(rows), self._mesh)
            begin, end = start / len(cells), (start + len(chunk)) / len(cells)
            yield begin + 0.1 * (end - begin)
            records += yield from scaled(
                self._solve(subdivision, descriptions), begin + 0.1 * (end - begin), end
            )
        return records

    def _solve(
        self, subdivision: Subdivision, descriptions: Descriptions
    ) -> Generator[float, None, list[IntervalRecords]]:
        """Make records of candidate pairs in their intervals, subdivided where they have to be.

        Yields the part of the work that is done, which never falls.

        descriptions : gets pieces of the records that touch
        """
        candidates, clearance = subdivision.candidates, self._plan.clearance
        cutoff = candidates.separation_cutoff(clearance)
        records: list[IntervalRecords] = []
        begin = 0.0
        intervals: PairIntervals | None = subdivision.whole_intervals()
        while intervals is not None:
            of_all = (1 - begin) * (1 - _LEFT_AFTER_ROUND)
            yield begin + 0.1 * of_all
            parts = self._interval_contacts(intervals)
            contacts = yield from scaled(parts, begin + 0.1 * of_all, begin + 0.25 * of_all)
            yield begin + 0.3 * of_all
            solved = subdivision.assess(intervals, contacts, clearance)
            yield begin + 0.4 * of_all
            is_open, cutoffs = subdivision.give_up(solved), cutoff[solved.rows]
            rows = np.flatnonzero(~is_open)
            solved = subdivision.with_least(solved, rows, cutoffs)
            yield begin + 0.45 * of_all
            # Drop pairs that neither touch nor come closer than already recorded.
            is_less = solved.contacts.least < cutoffs
            found = subdivision.pieces(solved, rows[(solved.is_touching | is_less)[rows]])
            records.append(found.records())
            touching = np.flatnonzero(found.solved.is_touching)
            records[-1].piece[touching] = descriptions.add(found.take(touching))
            splitting = subdivision.split(solved, is_open)
            intervals = yield from scaled(splitting, begin + 0.5 * of_all, begin + of_all)
            begin += of_all
            yield begin
        self._cache.doubt(candidates.keys, subdivision.doubtful_since)
        # Parts first: of two contacts of a pair that begin at the same time, the better sampled one is
        # described.
        return [*records[1:], records[0]]

    def _interval_contacts(self, intervals: PairIntervals) -> Generator[float, None, IntervalContacts]:
        """Contacts (m,) of all pairs of a round, chunk by chunk."""
        motion, clearance = intervals.motion, self._plan.clearance
        deviation = np.nan_to_num(intervals.deviation)
        parts = _in_chunks(
            lambda rows: solve_first_pass(motion.take(rows), clearance, deviation[rows]),
            len(deviation),
            SLOW_CHUNK if isinstance(motion.b_start, TriangleMesh) else 2 * SLOW_CHUNK,
        )
        contacts = yield from scaled(parts, 0.0, 0.5)
        second = INTERVALS[type(motion.a_start), type(motion.b_start)].second
        if second is not None:
            left = np.flatnonzero(may_touch(motion, contacts.low, clearance, deviation))
            if len(left):
                parts = _in_chunks(
                    lambda rows: second(
                        motion.take(left[rows]), clearance, deviation[left[rows]], contacts.take(left[rows])
                    ),
                    len(left),
                    SLOW_CHUNK,
                )
                contacts.assign(left, (yield from scaled(parts, 0.5, 1.0)))
        return contacts

    def records(self) -> ScannerRecords:
        """Return all that was found so far."""
        pairs, size = self._cache.pairs, self._sizes
        i, j = np.divmod(pairs.keys, max(1, self._count))
        pairs = pairs.replaced(is_near=pairs.least <= np.minimum(size[i], size[j]))
        return ScannerRecords(pairs, self._cache.spans(), self._has_moved)


def _continued_records(cells: Ints, keys: Ints, times: Floats) -> IntervalRecords:
    """Make records of cells (r,) of candidates in contact throughout, one for each run of intervals."""
    count = len(times) - 1
    starts = is_run_start(cells - np.arange(len(cells))) | (cells % count == 0)
    row, first = np.divmod(cells[starts], count)
    last = cells[np.append(starts[1:], True)[: len(cells)]] % count
    return IntervalRecords.from_continued_contacts(keys[row], times[first], times[last + 1])


def _in_chunks(
    solve: Callable[[slice], IntervalContacts], count: int, chunk: int
) -> Generator[float, None, IntervalContacts]:
    """Solve `count` rows, at most `chunk` at once, and yield after each chunk the part that is done."""
    if count <= chunk:
        return solve(slice(None))
    parts = []
    for start in range(0, count, chunk):
        parts.append(solve(slice(start, start + chunk)))
        yield min(1.0, (start + chunk) / count)
    return IntervalContacts.concatenate(parts)
