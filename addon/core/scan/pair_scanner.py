"""Scanner of all pairs of one kind: bodies among themselves, or bodies and one obstacle.

The scanner cuts work into chunks of about 50 ms, or of one sample, and yields between them, so the caller can
keep a window responsive. `PairCache.record` takes longer, and so do `use_known` and `refine` of an
`IntervalBlock`: these yield too. Everything else that it calls is a plain function.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ..interval.dispatch import INTERVALS, SLOW_CHUNK, solve_first_pass
from ..interval.pair_motion import IntervalContacts
from ..interval.rotating import may_touch
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import CHUNK_ROWS, Floats, Ints, largest_component
from ..progress import converted
from ..shapes import Aabb, concatenated, differences
from .interval_block import Frames, IntervalBlock
from .known_subdivision import KnownSubdivision
from .motion import KnownMotion, ObstacleSpace, ObstacleSpaceMotion, Sample, SubframeSampler
from .pair_cache import PairCache, Pieces, SolvedPieces, records_of_rows
from .pair_filter import (
    Candidates,
    CenterPaths,
    PairFilter,
    SubjectSizes,
    candidate_pairs,
    changing_subjects,
    overlaps_by_interval,
    places_of,
    undecided_cells,
)
from .records import IntervalRecords, ScannerRecords, is_run_start
from .refinement import PairIntervals, Subdivision, SubframeSource

_Result = TypeVar("_Result")

_LONG_BLOCK, _LONGEST_BLOCK = 32, 256
"""Intervals solved together: more save little, and cover longer paths with more pairs that never touch."""

_BLOCK_SHAPES = 1 << 16
"""Shapes times intervals of blocks longer than the long: more would delay the next frame noticeably."""

_FEW_TESTS = 1 << 24
"""Pairs of subjects times intervals, twice, tested faster than the broad phase could exclude them."""

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
    motion : Sampler between frames; None for linear motion.
    known : The same motion, if some of it is known between samples.
    clearance : float
    first_time : Time of the first sample, in frames.
    """

    pair_filter: PairFilter
    spaces: Sequence[ObstacleSpace | None]
    static_pairs: bool
    subject_of: Ints
    is_whole: bool
    motion: SubframeSampler | None
    known: KnownMotion | None
    clearance: float
    first_time: float


class PairScanner:
    """All pairs of bodies, or of bodies and one obstacle: samples go in, contacts come out.

    solved_until : Time up to which all contacts are recorded.
    solving : The same, with the part that is done of the block that is being solved.
    ended : Part that is done of the last frame by itself.
    """

    def __init__(self, plan: ScanPlan, space: ObstacleSpace | None) -> None:
        self._plan = plan
        self._space = space
        self._mesh = space.obstacle.mesh if space else None
        self._subject_of = plan.subject_of
        if space is not None:
            self._subject_of = np.append(plan.subject_of, space.obstacle.subject)
        self._count = plan.pair_filter.count
        self._cache = PairCache()
        self._source: SubframeSource | None = None
        if plan.motion is not None:
            motion = plan.motion if space is None else ObstacleSpaceMotion(plan.motion, space)
            of_subjects = np.asarray(motion.refinable, dtype=bool)
            is_refinable, is_probed = of_subjects[self._subject_of], bool(of_subjects.all())
            self._source = SubframeSource(motion, self._subject_of, is_refinable, is_probed)
        self._known: KnownMotion | None = None
        self._is_known = self._has_jumped = np.zeros(len(self._subject_of), dtype=bool)
        # Shapes that have moved within the last interval that was solved: maybe by a jump at its end.
        self._moved_last = np.zeros(len(self._subject_of), dtype=bool)
        if plan.known is not None:
            known = np.asarray(plan.known.known, dtype=bool)
            # Relative to an obstacle that moves, no motion is known.
            if space is None or known[space.obstacle.subject]:
                self._known, self._is_known = plan.known, known[self._subject_of]
        self._sizes = SubjectSizes(self._subject_of, self._count, plan.is_whole)
        self._has_moved = np.zeros(self._count, dtype=bool)
        count = max(1, len(self._subject_of))
        self._longest = int(np.clip(_BLOCK_SHAPES // count, _LONG_BLOCK, _LONGEST_BLOCK))
        self._shortest = 1
        if self._source is None or self._is_known.all():
            # Parts that are near each other belong to few pairs of subjects.
            self._shortest = int(np.clip(_FEW_TESTS // max(1, self._count) ** 2, 1, self._longest))
        # The first block tests pairs at rest too, in each of its intervals. Where the next one is long, it is
        # the first frame by itself.
        self._begins_at_instant = self._shortest >= _LONG_BLOCK
        self._block_length = self._shortest if self._begins_at_instant else 1
        self._blocks = 0
        self.solving = self.solved_until = plan.first_time
        self.ended = 0.0
        # Frames of the next block. One before it and one after it serve to estimate deviations.
        self._waiting: Frames | None = None
        self._context = 0

    @property
    def missing_samples(self) -> int:
        """Number of samples to add before the next block can be processed; less than 0 for more than that."""
        waiting = 0 if self._waiting is None else len(self._waiting.times)
        return self._context + self._block_length + 2 - waiting

    def begin_section(self, time: float, first_time: float, first_sample: Sample) -> None:
        """Begin after the first section of a scan, at the time of its first interval.

        The first sample to add is the one before that time.

        first_sample : of the first time of the scan, which gives the sizes of the subjects
        """
        time_of_first = np.array([first_time])
        self._sizes.measure(Frames.from_sample(time_of_first, first_sample, self._subject_of, self._space))
        self.solving = self.solved_until = time
        self._context = 1

    def add_sample(self, times: Floats, sample: Sample) -> None:
        """Add a sample of increasing times (k,), of no more than are missing but for what appears there."""
        frames = Frames.from_sample(times, sample, self._subject_of, self._space)
        self._sizes.measure(frames)
        parts = [frames] if self._waiting is None else [self._waiting, frames]
        every, shapes, *columns = zip(*parts, strict=True)
        self._waiting = Frames(np.concatenate(every), concatenated(*shapes), *map(np.concatenate, columns))

    def process(self) -> Generator[None, None, None]:
        """Process the block of waiting frames once it is complete."""
        frames = self._waiting
        if frames is None:
            return
        if self._begins_at_instant and not self._blocks:
            for _ in self._block_parts(frames.take([self._context] * 2), 0, 1):
                # Not worth a pause: that is one interval of a few hundred shapes.
                pass
        if self.missing_samples <= 0:
            yield from self._process_block(frames, self._context, len(frames.times) - 2)
            self._waiting, self._context = frames.take(slice(-3, None)), 1

    def finish(self, until: float = np.inf) -> Generator[None, None, None]:
        """Process the frames that are left after the last sample, and drop those after a time."""
        assert self._waiting is not None
        times = self._waiting.times
        frames = self._waiting.take(slice(0, int(np.searchsorted(times, until, side="right"))))
        if len(frames.times) > self._context + 1:
            yield from self._process_block(frames, self._context, len(frames.times) - 1)
            frames = frames.take(slice(-1, None))
            self._waiting, self._context = frames, 0
        # The last frame again, by itself: for a scan of one frame, and for subjects present in the last one
        # only.
        yield from self._process_block(frames.take([-1, -1]), 0, 1)
        self.ended = 1.0

    def finish_section(self) -> Generator[None, None, None]:
        """Process the frames that are left before the last sample, with which the next section begins."""
        assert self._waiting is not None
        frames = self._waiting
        if len(frames.times) > self._context + 2:
            yield from self._process_block(frames, self._context, len(frames.times) - 2)

    def _process_block(self, frames: Frames, first: int, last: int) -> Generator[None, None, None]:
        """Record what all candidate pairs do in the intervals between `frames` from `first` to `last`."""
        begin, end = float(frames.times[first]), float(frames.times[last])
        for part in self._block_parts(frames, first, last):
            self.solving, self.ended = begin + (end - begin) * part, part if begin == end else 0.0
            yield
        self.solving = self.solved_until = end

    def _block_parts(self, frames: Frames, first: int, last: int) -> Generator[float, None, None]:
        """Process a block, see `_process_block`; yields the part of it that is done."""
        # Where all motion is known, nothing is assumed.
        plan, source = self._plan, None if self._is_known.all() else self._source
        block = IntervalBlock(frames, first, last, self._mesh, is_linear=source is None)
        if source is not None:
            block.doubt(source.is_refinable)
        if self._known is not None:
            known = block.use_known(self._known, self._is_known, self._has_jumped)
            yield from _scaled(known, 0.0, 0.1 * _BROAD_PHASE)
        yield 0.2 * _BROAD_PHASE
        # In the first block and at an instant, pairs at rest are tested too.
        is_moving = np.ones(self._count, dtype=bool)
        if not block.is_instant:
            changes = changing_subjects(block, self._subject_of, self._count, self._moved_last)
            self._has_moved |= changes
            is_moving = changes if self._blocks else is_moving
        margin = np.nan_to_num(self._sizes.of_subject[self._subject_of] / 2) + plan.clearance / 2
        boxes = block.swept_boxes(margin)
        yield 0.4 * _BROAD_PHASE
        pairs = candidate_pairs(block, boxes, self._subject_of, is_moving, plan.pair_filter)
        subjects = self._subject_of[pairs].T
        candidates = self._cache.candidates(
            pairs, plan.pair_filter.keys(*subjects), np.minimum(*self._sizes.of_subject[subjects])
        )
        near, continued = yield from self._near_rows(block, boxes, candidates)
        yield _BROAD_PHASE
        pieces = SolvedPieces(plan.clearance, plan.first_time)
        parts = self._solve_candidates(block, candidates, near, pieces)
        found = yield from _scaled(parts, _BROAD_PHASE, 1 - _RECORDING)
        # Open contacts of pairs at rest last until the end of the block unsolved, unless one disappears.
        is_moving[self._subject_of[~block.present[0]]] = True
        resting = self._cache.open
        resting = resting.take(~is_moving[np.stack(np.divmod(resting.keys, max(1, self._count)))].any(axis=0))
        found.append(IntervalRecords.from_continued_contacts(resting.keys, resting.enter, block.end))
        records = IntervalRecords.concatenate([continued, *found])
        yield from _scaled(self._cache.record(records, block.end, pieces), 1 - _RECORDING, 1.0)
        if self._known is not None:
            self._has_jumped = block.jumps[-1]
        self._moved_last = differences(block.shapes[-1], block.shapes[-2])
        self._blocks += 1
        self._adapt_block_length(block)

    def _near_rows(
        self, block: IntervalBlock, boxes: Aabb, candidates: Candidates
    ) -> Generator[float, None, tuple[Ints, IntervalRecords]]:
        """Find rows (r, 2) of intervals and candidates to solve, by interval; yields the part done.

        Also returns records of candidates that stay in contact without being deeper than elsewhere.
        """
        parts: list[Ints] = []
        count, pairs = block.count, candidates.pairs
        is_refined = not block.is_instant and bool(self._is_known.any())
        is_near = np.zeros((len(self._is_known), count), dtype=bool)
        pairs_at_once = max(1, CHUNK_ROWS // count)
        for cells in overlaps_by_interval(boxes, pairs, pairs_at_once):
            if is_refined:
                is_near.reshape(-1)[places_of(cells, pairs, count)] = True
            parts.append(cells)
            yield (0.4 + 0.3 * min(1.0, len(parts) * pairs_at_once / len(pairs))) * _BROAD_PHASE
        if is_refined:
            refining = block.refine(*np.nonzero((is_near & self._is_known[:, None]).T))
            yield from _scaled(refining, 0.7 * _BROAD_PHASE, 0.9 * _BROAD_PHASE)
        near, within = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
        paths, clearance = CenterPaths.of_block(block), self._plan.clearance
        cutoff = candidates.separation_cutoff(clearance)
        # What may move in steps may deviate by any amount: that is sampled in any case.
        is_stepped = np.full(len(pairs), self._source is not None and not self._source.is_probed)
        if self._source is not None:
            is_stepped &= self._source.is_refinable[pairs].all(axis=1) & ~self._is_known[pairs].all(axis=1)
        for number, cells in enumerate(parts):
            yield (0.9 + 0.1 * (number + 0.5) / len(parts)) * _BROAD_PHASE
            if not len(cells):
                continue
            bounds = paths.bounds(*places_of(cells, pairs, count))
            bounds.deviation[is_stepped[cells // count]] = np.inf
            is_apart, is_within = undecided_cells(cells, candidates, bounds, cutoff, clearance, count)
            # Of parts of subjects, spans in contact decide others.
            is_within &= self._plan.is_whole
            near.append(cells[~(is_apart | is_within)])
            within.append(cells[is_within])
        records = _continued_records(np.concatenate(within), candidates.keys, block.times)
        row, interval = np.divmod(np.concatenate(near), count)
        order = np.lexsort((row, interval))
        return np.column_stack([interval[order], row[order]]), records

    def _solve_candidates(
        self, block: IntervalBlock, candidates: Candidates, near: Ints, pieces: SolvedPieces
    ) -> Generator[float, None, list[IntervalRecords]]:
        """Make records of rows (r, 2) of intervals and candidates; yields the part done.

        pieces : gets those of the records that touch
        """
        records, part = [], 0.0
        for start in range(0, len(near), _CANDIDATES_PER_CHUNK):
            interval, row = near[start : start + _CANDIDATES_PER_CHUNK].T
            is_known = self._is_known[candidates.pairs[row]].all(axis=1)
            for are_known in (True, False):
                rows = np.flatnonzero(is_known == are_known)
                if not len(rows):
                    continue
                of_rows = block, interval[rows], candidates.take(row[rows])
                if are_known and self._known is not None:
                    subdivision: Subdivision = KnownSubdivision(*of_rows, self._known)
                else:
                    subdivision = Subdivision(*of_rows, self._source)
                end = part + len(rows) / len(near)
                part += 0.1 * (end - part)
                yield part
                records += yield from _scaled(self._solve(subdivision, pieces), part, end)
                part = end
        return records

    def _solve(
        self, subdivision: Subdivision, pieces: SolvedPieces
    ) -> Generator[float, None, list[IntervalRecords]]:
        """Make records of candidate pairs in their intervals, subdivided where they have to be.

        Yields the part of the work that is done, which never falls.

        pieces : gets those of the records that touch
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
            contacts = yield from _scaled(parts, begin + 0.1 * of_all, begin + 0.25 * of_all)
            yield begin + 0.3 * of_all
            assessment, contacts = subdivision.assess(intervals, contacts, clearance)
            yield begin + 0.4 * of_all
            is_open, uncertainty = subdivision.open_rows(intervals, contacts, assessment)
            rows = np.flatnonzero(~is_open)
            contacts = subdivision.with_least(intervals, contacts, rows, cutoff)
            yield begin + 0.45 * of_all
            # Drop pairs that neither touch nor come closer than already recorded.
            is_touching = ~np.isnan(contacts.enter[rows])
            is_relevant = is_touching | (contacts.least[rows] < cutoff[intervals.rows[rows]])
            found = records_of_rows(subdivision, intervals, contacts, rows[is_relevant], uncertainty)
            of_round = Pieces.of_round(subdivision, intervals, contacts, rows[is_touching])
            found.piece[is_touching[is_relevant]] = pieces.add(of_round)
            records.append(found)
            splitting = subdivision.split(intervals, contacts, assessment, is_open)
            intervals = yield from _scaled(splitting, begin + 0.5 * of_all, begin + of_all)
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
        contacts = yield from _scaled(parts, 0.0, 0.5)
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
                contacts.assign(left, (yield from _scaled(parts, 0.5, 1.0)))
        return contacts

    def _adapt_block_length(self, block: IntervalBlock) -> None:
        """Make the next block as long as moving shapes need for about twice their own length."""
        if self._shortest >= _LONG_BLOCK:
            self._block_length = self._shortest
            return
        low = block.boxes.min
        moved = largest_component(low[1:] - low[:-1])
        moved = moved[(moved > 0) & block.present[1:] & block.present[:-1]]
        if not len(moved):
            self._block_length = self._longest
            return
        length = 4 * float(np.nanmedian(self._sizes.of_shape)) / max(float(np.median(moved)), 1e-300)
        self._block_length = int(np.clip(length, self._shortest, self._longest))

    def records(self) -> ScannerRecords:
        """Return all that was found so far."""
        pairs, size = self._cache.pairs, self._sizes.of_subject
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
    return IntervalContacts(*map(np.concatenate, zip(*parts, strict=True)))


def _scaled(
    parts: Generator[float, None, _Result], begin: float, end: float
) -> Generator[float, None, _Result]:
    """Run a generator of parts from 0 to 1, and yield them as parts from `begin` to `end`."""
    return converted(parts, lambda part: begin + (end - begin) * part)
