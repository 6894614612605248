"""Adaptive subdivision: whether linear motion decides a pair, and where to sample the motion again if not.

The linear motion of an interval deviates from the real one by an amount that is estimated from neighboring
samples. A pair whose contact this may change is open: its interval is split, first near the contact of the
linear motion, and each part is assessed by its own, nearer neighbors. Whole intervals are the first round of
this subdivision.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..curves.transform_bounds import SHORT
from ..interval.dispatch import with_minimum_separation
from ..interval.pair_motion import IntervalContacts, PairMotion, raised_lower_bounds, rotation_sagitta
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints, largest_component
from ..numeric.spans import CutLines, Spans, span_runs
from ..shapes import Aabb, Sphere, where_shapes
from .interval_block import IntervalBlock, IntervalPart, Timeline, linear_motion_of_parts
from .motion import SubframeSampler
from .pair_filter import DEPTH_TOLERANCE, Candidates, may_be_deeper
from .records import LINEAR, SAMPLED, time_within

FIRST_TOLERANCE = 2e-4
"""Frames by which a first contact may be off; what is promised is a thousandth."""
_LATER_TOLERANCE = 5e-3
"""Frames by which ends of contacts may be off, and further contacts of a pair."""
GRAZE = 1e-4
"""Part of a pair's size below which a deviation does not decide between a graze and a near miss."""
_TURN = 10.0
"""The same for gaps within a contact of shapes that turn, as a multiple: a thousandth of the size."""
_ROUNDING = 2.0**-21
"""Part of a pair's coordinates below which a deviation is rounding, and decides as little as a graze.

Blender evaluates scenes in single precision: a coordinate is rounded by up to 2^-24 of itself as a key, and
again as part of a matrix. Three samples of a linear motion deviate by twice that, and both shapes of a pair
together by four times: 4 * 2 * 2^-24.
"""
SHORTEST, KNOWN_SHORTEST = 2.0**-13, 2.0**-24
"""Length in frames of intervals that are not split further: of sampled motion, and of known motion.

What moves a unit a frame moves 6e-8 units in the second.
"""
MOST_UNTIL_CONTACT = 12_000
"""Samples of known motion within one interval before the first contact of a pair.

Many turns a frame need thousands of parts before their first contact is certain.
"""
_MOST_SAMPLES, _MOST_AT_JUMPS = 30, 45
"""Samples within one interval, of which there are two between frames, for each pair, and where it may jump.

What is open then is recorded with its uncertainty.
"""
_JUST_BEFORE = 0.999 * SHORTEST
"""Frames before a frame from which a jump at that frame is certain: nothing that is this short is split."""
_MANY_CONTACTS = 4
"""Pairs in contact within one part above which halving it separates them sooner than sampling near each."""


class PairJumps(NamedTuple):
    """Pairs (j,) that jump within parts too short to be split. Their motion is at rest at the nearer end.

    rows : (j,) of the pairs in the round
    is_after : (j,) whether the nearer end is the one after the jump
    farther : (j,) separation at the other end
    """

    rows: Ints
    is_after: Bools
    farther: Floats


class PairIntervals(NamedTuple):
    """Candidate pairs in one round of a subdivision, a row for each pair and interval or part of one.

    rows : (m,) int. Rows of the pairs among the candidates.
    motion : PairMotion, batch (m,). Linear motion over the interval.
    deviation : (m,) float. Deviation of both shapes together from that motion; NaN for unknown.
    begin, end : (m,) float. Times of the interval in frames.
    has_contact_before : (m,) bool. Whether the pair is known to be in contact before the interval.
    can_split : (m,) bool. Whether the interval is long enough to be split, and the pair can be sampled
        between frames.
    poses : (p, 4, 4) float twice, and (m,) int, or None. Poses of the obstacle at begin and end of each
        part, and the part of each row; None without an obstacle.
    jumps : Which pairs jump; None for none.
    """

    rows: Ints
    motion: PairMotion
    deviation: Floats
    begin: Floats
    end: Floats
    has_contact_before: Bools
    can_split: Bools
    poses: tuple[Floats, Floats, Ints] | None
    jumps: PairJumps | None = None


class Assessment(NamedTuple):
    """Result for pairs (m,) in linear motion.

    is_settled : whether the linear motion decides the pair
    uncertainty : part of the interval by which the time of contact may be off
    is_timed : whether it decides the times of contact, but maybe not the depth
    """

    is_settled: Bools
    uncertainty: Floats
    is_timed: Bools


def assess_pairs(
    intervals: PairIntervals, contacts: IntervalContacts, graze: Floats, clearance: float
) -> Assessment:
    """Decide which pairs (m,) are settled by their linear motion, and which must be subdivided.

    graze : (m,) deviation that does not decide between a graze and a near miss
    """
    deviation, is_touching = intervals.deviation, ~np.isnan(contacts.enter)
    is_apart = ~is_touching & ((contacts.low - deviation > clearance) | (deviation <= graze))
    is_within = (contacts.high + deviation <= clearance) & (contacts.enter == 0) & (contacts.leave == 1)
    is_settled = is_apart | is_within | (deviation == 0)
    uncertainty = np.zeros(len(deviation))
    rows = np.flatnonzero(is_touching & ~is_settled)
    if len(rows):
        is_settled[rows], uncertainty[rows] = _assess_times(intervals, contacts, rows, graze[rows], clearance)
    is_timed = is_settled.copy()
    # Shapes that turn may part and touch again within a span that linear motion gives as one.
    turning = np.flatnonzero(is_touching & is_settled & ~is_within)
    a0, a1, b0, b1 = intervals.motion.take(turning)
    sagitta = rotation_sagitta(a0, a1) + (0.0 if isinstance(b0, TriangleMesh) else rotation_sagitta(b0, b1))
    is_settled[turning] = sagitta <= _TURN * graze[turning]
    return Assessment(is_settled, uncertainty, is_timed)


def _assess_times(
    intervals: PairIntervals, contacts: IntervalContacts, rows: Ints, graze: Floats, clearance: float
) -> tuple[Bools, Floats]:
    """Decide whether linear motion gives the times of the contacts of rows (r,) well enough.

    Also returns the part of the interval (r,) by which the begin may be off. graze : (r,)
    """
    motion, deviation = intervals.motion.take(rows), intervals.deviation[rows]
    enter, leave = contacts.enter[rows], contacts.leave[rows]
    # As long as pairs take to cover the deviation, at the speed at which they come closer. A contact that
    # reaches an end of the interval is timed by the neighboring interval.
    speeds = motion.closing_speed(enter), motion.reversed_in_time().closing_speed(1 - leave)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = deviation / np.stack(speeds)
    errors = np.where(errors >= 0, errors, np.inf)
    enter_error, leave_error = np.where(np.stack([enter == 0, leave == 1]), 0.0, errors)
    is_later = intervals.has_contact_before[rows] | (enter == 0)
    tolerance = np.where(is_later, _LATER_TOLERANCE, FIRST_TOLERANCE)
    step, is_fine = (intervals.end - intervals.begin)[rows], deviation <= graze
    is_in_time = (enter_error * step <= tolerance) & (leave_error * step <= _LATER_TOLERANCE)
    # Overlap at both ends does not exclude a gap in between.
    is_settled = np.where((enter == 0) & (leave == 1), is_fine, is_in_time)
    # A contact at neither end may not exist if the deviation exceeds its depth, however fast it is.
    brief = np.flatnonzero(is_settled & (enter > 0) & (leave < 1) & ~is_fine)
    every, no_cutoff = np.arange(len(intervals.rows)), np.full(len(intervals.rows), np.inf)
    least = with_minimum_separation(intervals.motion, contacts, rows[brief], no_cutoff, every).least
    is_settled[brief] = least[rows[brief]] + deviation[brief] <= clearance
    return is_settled, np.minimum(enter_error, 1.0)


class SubframeSource(NamedTuple):
    """Motion that adaptive scans sample between frames.

    motion : the sampler
    subject_of : (n,) subject of each shape
    is_refinable : (n,) shapes that can be sampled between frames
    is_probed : whether all are, before anything is solved: see `probed_times`
    """

    motion: SubframeSampler
    subject_of: Ints
    is_refinable: Bools
    is_probed: bool


class Subdivision:
    """Rounds of solving candidate pairs in their intervals: whole intervals first, then parts of open ones.

    Each round: solve and `assess` its intervals, and `split` the open ones into those of the next round. All
    open parts are solved in one batch, which takes far fewer array operations than part by part.

    candidates : Candidates, batch (m,)
    is_refinable : (m,) bool. Candidates whose shapes can both be sampled between frames.
    contact_motion : (m,) int. Motion from which contacts of the candidates follow, an index of `MOTIONS`.
    graze : (m,) float. Deviation that does not decide between a graze and a near miss of the candidates.
    doubtful_since : (m,) float. Time from which the candidates may touch without a record, for want of
        samples; inf for none.
    is_known : Whether the motion of all candidates is known.
    samples_per_split : Samples that the split of a row takes, at most.
    """

    is_known = False
    samples_per_split = 1

    def __init__(
        self, block: IntervalBlock, interval: Ints, candidates: Candidates, source: SubframeSource | None
    ) -> None:
        """Start with pairs (m,) in whole intervals (m,) of a block; without a source nothing is split."""
        self._block, self._interval, self._source = block, interval, source
        self.candidates = candidates
        self.is_refinable = np.zeros(len(interval), dtype=bool)
        if source is not None:
            first, second = candidates.pairs.T
            self.is_refinable = source.is_refinable[first] & source.is_refinable[second]
        self.contact_motion = np.where(self.is_refinable, SAMPLED, LINEAR)
        # Of the round: parts between samples; none for whole intervals.
        self._parts: list[IntervalPart] = []
        self._members = np.empty_like(candidates.pairs)
        self._first_contact = np.where(candidates.has_contact_before, -np.inf, np.inf)
        self._samples = np.zeros(len(interval), dtype=np.int64)
        # Rows of the round that may jump.
        self._is_abrupt: Bools = np.zeros(len(interval), dtype=bool)
        self.doubtful_since = np.full(len(interval), np.inf)
        # Of the largest coordinate where a pair may touch: a point that both shapes have in common is in both
        # boxes, so the one nearer to the origin counts.
        boxes = ((block.boxes.min, block.boxes.max), (block.ending_boxes.min, block.ending_boxes.max))
        nearer = np.minimum(
            *(
                np.maximum.reduce(
                    [largest_component(side[interval, shapes]) for box in boxes for side in box]
                )
                for shapes in candidates.pairs.T
            )
        )
        rounding = _ROUNDING * (nearer + (np.abs(block.poses[:, :3, 3]).max() if block.mesh else 0.0))
        self.graze = np.maximum(GRAZE * candidates.size, rounding)
        self._depth_tolerance = np.maximum(DEPTH_TOLERANCE * candidates.size, rounding)
        # Least separation by pairs of subjects, of all rounds.
        _, self._pair_of = np.unique(candidates.keys, return_inverse=True)
        self._least = np.full(len(candidates.keys), np.inf)
        # Contacts that last over several intervals: the least separation of each, before this block too.
        self._run_of: Ints | None = None
        self._open_least_of_run = np.full(len(interval), np.inf)
        # Contacts end where later rounds find a gap. In each round, they may end where rows are open.
        self._gaps, self._doubts = CutLines(), CutLines()
        # Runs, times and least separations of settled pieces of contacts.
        self._pieces: list[Any] = [np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)]
        in_interval = np.sort(interval * (len(interval) + 1) + self._pair_of)
        self._has_parts = bool((in_interval[1:] == in_interval[:-1]).any())
        # Spans in which pairs of subjects touch for certain.
        self._certain = Spans(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def whole_intervals(self) -> PairIntervals:
        """Return the pairs of the first round."""
        block, interval, candidates = self._block, self._interval, self.candidates
        a, b = ((interval, shapes) for shapes in candidates.pairs.T)
        second = (block.mesh, block.mesh) if block.mesh else (block.shapes[b], block.ending[b])
        return PairIntervals(
            np.arange(len(interval)),
            PairMotion(block.shapes[a], block.ending[a], *second),
            block.deviation[a] + block.deviation[b],
            block.times[interval],
            block.times[interval + 1],
            candidates.has_contact_before,
            self.is_refinable,
            (block.poses[:-1], block.poses[1:], interval) if block.mesh else None,
        )

    def _open_parts(self) -> PairIntervals:
        """Return the pairs of the round in all parts."""
        parts = self._parts
        rows = np.concatenate([part.rows for part in parts])
        part_of_row = np.repeat(np.arange(len(parts)), [len(part.rows) for part in parts])
        begin, end = (np.array([part[k] for part in parts])[part_of_row] for k in (1, 2))
        motion, deviation, self._is_abrupt = linear_motion_of_parts(parts, self._members, self._block.mesh)
        poses = None
        if self._block.mesh:
            start_poses = np.stack([part.timeline.poses[part.begin] for part in parts])
            end_poses = np.stack([part.timeline.poses[part.end] for part in parts])
            poses = start_poses, end_poses, part_of_row
        has_contact_before = self._first_contact[rows] < begin
        can_split = end - begin > SHORTEST
        # What is too fast to be known in the shortest parts jumps, too.
        is_jump = (self._is_abrupt | (deviation > self._depth_tolerance[rows])) & ~can_split
        jumping = np.flatnonzero(is_jump)
        # Where one shape is known to jump at the end, the other one may be after its own jump there.
        is_limit = self._ends_at_limit(rows[jumping], begin[jumping], end[jumping])
        motion, deviation, jumps = _at_jumps(motion, deviation, jumping, is_limit)
        return PairIntervals(rows, motion, deviation, begin, end, has_contact_before, can_split, poses, jumps)

    def assess(
        self, intervals: PairIntervals, contacts: IntervalContacts, clearance: float
    ) -> tuple[Assessment, IntervalContacts]:
        """Decide which pairs of a round are settled: all, if motion is linear. Returns their contacts too."""
        if self._source is None:
            every = np.ones(len(intervals.rows), dtype=bool)
            return Assessment(every, np.zeros(len(every)), every), contacts
        assessment = assess_pairs(intervals, contacts, self.graze[intervals.rows], clearance)
        is_settled, is_timed = assessment.is_settled, assessment.is_timed
        if not self._source.is_probed:
            # Motion in steps appears linear at whole frames.
            times, interval = self._block.times, self._interval[intervals.rows]
            is_whole = (intervals.begin == times[interval]) & (intervals.end == times[interval + 1])
            is_whole &= intervals.begin < intervals.end
            is_settled = is_timed = is_settled & ~(is_whole & self.is_refinable[intervals.rows])
        # Where pairs may jump, a begin or an end of a contact is open until the jump is found.
        is_open = self._is_abrupt & intervals.can_split & ((contacts.enter > 0) | (contacts.leave < 1))
        assessment = assessment._replace(is_settled=is_settled & ~is_open, is_timed=is_timed & ~is_open)
        jumps = intervals.jumps
        if jumps is not None:
            # Pairs that jump are settled: a contact that begins with a jump begins at the end of the part.
            is_touch = ~np.isnan(contacts.enter[jumps.rows])
            begins = jumps.rows[is_touch & jumps.is_after & (jumps.farther > clearance)]
            contacts = contacts.take(np.arange(len(contacts.enter)))
            contacts.enter[begins] = 1.0
            contacts.least_time[jumps.rows] = np.where(jumps.is_after, 1.0, 0.0)
            is_settled, uncertainty = assessment.is_settled.copy(), assessment.uncertainty.copy()
            is_settled[jumps.rows], uncertainty[begins] = True, 1.0
            assessment = Assessment(is_settled, uncertainty, is_settled)
        return self._completed(intervals, contacts, assessment, clearance), contacts

    def _completed(
        self, intervals: PairIntervals, contacts: IntervalContacts, assessment: Assessment, clearance: float
    ) -> Assessment:
        """Settle pairs (m,) whose times change nothing, and open those whose depth is not known yet."""
        is_settled, is_timed, rows = assessment.is_settled, assessment.is_timed, intervals.rows
        if self._has_parts and not is_settled.all():
            # While other parts of the same two subjects touch for certain, a touch is within that contact.
            spans = Spans(self._pair_of[rows], intervals.begin, intervals.end)
            is_certain = (contacts.high + intervals.deviation <= clearance) & (contacts.enter == 0)
            is_certain &= contacts.leave == 1
            self._certain = Spans.concatenate([self._certain, spans.take(is_certain)]).union()
            is_settled = is_settled | self._certain.cover(spans)
            is_timed = is_timed | is_settled
        deviation, tolerance = np.nan_to_num(intervals.deviation), self._depth_tolerance[rows]
        # What is reached for certain.
        at_most = contacts.least + deviation
        self._find_gaps(intervals, contacts, is_settled)
        # Rows that touch. Those that are open may be the gap between two contacts.
        touching = np.flatnonzero(~np.isnan(contacts.enter) & (is_settled | self._has_parts))
        piece = (
            self._runs(contacts)[rows[touching]],
            _middles(intervals, contacts)[touching],
            at_most[touching],
        )
        np.minimum.at(self._least, self._pair_of[rows], at_most)
        least = np.minimum(
            self._least[self._pair_of[rows]], self.candidates.separation_cutoff(clearance)[rows]
        )
        if len(touching):
            least[touching] = self._least_of_contacts(*piece)
        is_doubtful = is_settled & may_be_deeper(deviation, contacts.low, least, tolerance)
        apart = np.flatnonzero(is_doubtful & np.isnan(contacts.enter))
        if len(apart) and not isinstance(intervals.motion.b_start, (Sphere, Aabb)):
            # The lower bounds of others than these prove no more than that pairs do not touch.
            pairs, wanted = intervals.motion.take(apart), (deviation + least - tolerance)[apart]
            low = contacts.low.copy()
            low[apart] = raised_lower_bounds(pairs, contacts.enter[apart], low[apart], 0.0, wanted)
            contacts = contacts.replaced(low=low)
        is_doubtful &= may_be_deeper(deviation, contacts.low, least, tolerance)
        is_kept = ~is_doubtful[touching]
        self._pieces = [np.append(old, new[is_kept]) for old, new in zip(self._pieces, piece, strict=True)]
        return assessment._replace(is_settled=is_settled & ~is_doubtful, is_timed=is_timed)

    def _find_gaps(self, intervals: PairIntervals, contacts: IntervalContacts, is_settled: Bools) -> None:
        """Note where contacts of a round's pairs begin and end, and where they may be interrupted.

        Not of pairs of several parts: while one pair of parts is apart, another may touch.

        is_settled : (m,) rows whose times are known
        """
        pair = self._pair_of[intervals.rows]
        has_contact = np.zeros(len(self._least), dtype=bool)
        has_contact[pair[~np.isnan(contacts.enter)]] = True
        has_contact[self._pair_of[self._pieces[0]]] = True
        self._doubts = CutLines()
        if self._has_parts or not has_contact.any():
            return
        is_wanted, middle = has_contact[pair], (intervals.begin + intervals.end) / 2
        enter, leave = (
            time_within(intervals.begin, intervals.end, part) for part in (contacts.enter, contacts.leave)
        )
        is_known = is_wanted & is_settled
        apart, begins = is_known & np.isnan(contacts.enter), is_known & (contacts.enter > 0)
        ends, is_open = is_known & (contacts.leave < 1), is_wanted & ~is_settled
        self._gaps.cut_before(np.append(pair[apart], pair[begins]), np.append(middle[apart], enter[begins]))
        self._gaps.cut_after(pair[ends], leave[ends])
        self._doubts.cut_before(pair[is_open], middle[is_open])

    def _least_of_contacts(self, run: Ints, time: Floats, least: Floats) -> Floats:
        """Least separations (t,) of the contacts that pieces (t,) of runs are part of, with what is kept."""
        is_current = np.isin(self._pieces[0], run)
        runs, times, values = (
            np.append(kept[is_current], new)
            for kept, new in zip(self._pieces, (run, time, least), strict=True)
        )
        _, contact = np.unique(self._contact_numbers(runs, times), return_inverse=True)
        of_contact = np.full(len(values), np.inf)
        np.minimum.at(of_contact, contact, np.minimum(values, self._open_least(runs, times)))
        return np.asarray(of_contact[contact[len(contact) - len(run) :]])

    def _contact_numbers(self, run: Ints, time: Floats) -> Ints:
        """Numbers (t,) of the contacts that pieces of runs (t,) at times (t,) are part of."""
        piece = self._pieces_between(run, time)
        return np.asarray(run * (int(piece.max(initial=0)) + 1) + piece)

    def _pieces_between(self, run: Ints, time: Floats) -> Ints:
        """Numbers (t,) that are equal for times of one run between which no gap is known or possible."""
        pair = self._pair_of[run]
        return self._gaps.pieces(pair, time) + self._doubts.pieces(pair, time)

    def _open_least(self, run: Ints, time: Floats) -> Floats:
        """Least separations (t,) before the block, of contacts that last since then; inf for others."""
        least = self._open_least_of_run[run]
        rows = np.flatnonzero(least < np.inf)
        if len(rows):
            start = np.full(len(rows), self._block.times[0])
            is_same = self._pieces_between(run[rows], time[rows]) == self._pieces_between(run[rows], start)
            least[rows[~is_same]] = np.inf
        return np.asarray(least)

    def _runs(self, contacts: IntervalContacts) -> Ints:
        """Numbers (m,) of the contacts that candidates have in their intervals.

        What lasts over several intervals has one number, from the contacts of the first round: several
        contacts, if later rounds find gaps.
        """
        if self._run_of is not None:
            return self._run_of
        self._run_of = np.arange(len(self._interval))
        touching = np.flatnonzero(~np.isnan(contacts.enter))
        begin, end = self._block.times[self._interval], self._block.times[self._interval + 1]
        enter, leave = (time_within(begin, end, part)[touching] for part in (contacts.enter, contacts.leave))
        order, begins, _ = span_runs(self._pair_of[touching], enter, leave)
        first = touching[order[begins]]
        self._run_of[touching[order]] = first[np.cumsum(begins) - 1]
        continued = first[enter[order[begins]] == self._block.times[0]]
        self._open_least_of_run[continued] = self.candidates.open_least[continued]
        return self._run_of

    def with_least(
        self, intervals: PairIntervals, contacts: IntervalContacts, rows: Ints, cutoff: Floats
    ) -> IntervalContacts:
        """Fill in the least separations of settled rows (r,) of a round, and their times.

        intervals, contacts : those of a round (m,)
        cutoff : of the candidates, as in `with_minimum_separation`
        """
        touching, keys = np.flatnonzero(~np.isnan(contacts.enter)), self._pair_of[intervals.rows]
        cutoffs = cutoff[intervals.rows]
        if len(touching):
            # The gap of a pair that touches does not matter, and each of its contacts has a least separation.
            has_contact = np.zeros(len(self._least), dtype=bool)
            has_contact[keys[touching]] = True
            cutoffs[has_contact[keys]] = -np.inf
            run = self._runs(contacts)[intervals.rows[touching]]
            middle = _middles(intervals, contacts)[touching]
            cutoffs[touching] = self._open_least(run, middle)
            keys = keys.copy()
            keys[touching] = len(self._least) + self._contact_numbers(run, middle)
        contacts = with_minimum_separation(intervals.motion, contacts, rows, cutoffs, keys)
        least_time, jumps = contacts.least_time.copy(), intervals.jumps
        if jumps is not None:
            # These are put at rest where they are at the nearer end, and they are there only then.
            least_time[jumps.rows] = np.where(jumps.is_after, 1.0, 0.0)
        # What is least before a jump is shown up to a little before it.
        rows = rows[(least_time[rows] == 1) & (contacts.least[rows] < cutoff[intervals.rows[rows]])]
        ends = intervals.begin[rows], intervals.end[rows]
        rows = rows[self._ends_at_limit(intervals.rows[rows], *ends)]
        part = SHORT / (intervals.end - intervals.begin)[rows]
        least_time[rows] = np.maximum(np.nan_to_num(contacts.enter[rows]), 1 - part)
        return contacts.replaced(least_time=least_time)

    def _ends_at_limit(self, pair: Ints, begin: Floats, end: Floats) -> Bools:
        """Mask of parts (r,) of candidates at whose ends a shape jumps or disappears, as far as is known."""
        interval = self._interval[pair]
        is_whole = (end == self._block.times[interval + 1]) & (begin < end)
        has_limit = self._block.has_limit[interval[:, None], self.candidates.pairs[pair]].any(axis=1)
        return np.asarray(is_whole & has_limit)

    def estimated_deviations(self, rows: Ints) -> Floats:
        """Deviation (r,) from linear motion of candidates over their whole intervals; NaN for unknown."""
        members, position = np.unique(self.candidates.pairs[rows], return_inverse=True)
        deviations, interval = self._block.estimated_deviations(members), self._interval[rows]
        first, second = position.reshape(-1, 2).T
        return np.asarray(deviations[interval, first] + deviations[interval, second])

    def velocities_before(self, rows: Ints, times: Floats) -> Floats:
        """Relative velocities (r, 3) of candidates just before times (r,), if the motion is known."""
        raise NotImplementedError

    def open_rows(
        self, intervals: PairIntervals, contacts: IntervalContacts, assessment: Assessment
    ) -> tuple[Bools, Floats]:
        """Mask (m,) of rows to split, and the uncertainty (m,) of the others, as part of their intervals.

        Rows that are not settled are split as long as the pair has samples left. A round takes half of those,
        at most, for the earliest parts: the first contact of a pair matters most, and then its depth.
        """
        is_open = ~assessment.is_settled & intervals.can_split
        rows = np.flatnonzero(is_open)
        order = np.lexsort((intervals.begin[rows], assessment.is_timed[rows], intervals.rows[rows]))
        rows = rows[order]
        pair = intervals.rows[rows]
        rank = np.arange(len(rows)) - np.searchsorted(pair, pair)
        left = self._most_samples(intervals, assessment)[rows] - self._samples[pair]
        rows = rows[rank >= (left + 1) // (2 * self.samples_per_split)]
        is_open[rows] = False
        # Where the time is settled, and the depth is not, a contact is not in doubt.
        rows = rows[~assessment.is_timed[rows]]
        pair, enter = intervals.rows[rows], contacts.enter[rows]
        # The pair may touch from the beginning of the part on. At the beginning itself the sample is exact.
        doubtful = ~(enter == 0)
        np.minimum.at(self.doubtful_since, pair[doubtful], intervals.begin[rows[doubtful]])
        # A contact at neither end may not exist: then the first one is later, at any time in the interval.
        brief = rows[(enter > 0) & (contacts.leave[rows] < 1)]
        begin, step = intervals.begin[brief], (intervals.end - intervals.begin)[brief]
        end = self._block.times[self._interval[intervals.rows[brief]] + 1]
        uncertainty = assessment.uncertainty.copy()
        uncertainty[brief] = (end - begin) / step
        return is_open, uncertainty

    def _most_samples(self, intervals: PairIntervals, assessment: Assessment) -> Ints:
        """Return how many samples (m,) pairs of a round may take within an interval."""
        if not self._parts:
            return np.full(len(intervals.rows), _MOST_SAMPLES)
        return np.where(self._is_abrupt, _MOST_AT_JUMPS, _MOST_SAMPLES)

    def _record_round(self, intervals: PairIntervals, contacts: IntervalContacts, is_open: Bools) -> None:
        """Record the contacts that a round settled, and count the samples that it asks for."""
        touching = ~is_open & ~np.isnan(contacts.enter)
        np.minimum.at(self._first_contact, intervals.rows[touching], intervals.begin[touching])
        np.add.at(self._samples, intervals.rows[is_open], 1)

    def split(
        self, intervals: PairIntervals, contacts: IntervalContacts, assessment: Assessment, is_open: Bools
    ) -> Generator[float, None, PairIntervals | None]:
        """End the round: split the open rows (m,) of its intervals. Returns the next round; None for none.

        Yields the part of the work that is done, before each sample. Whole intervals are not split, but
        solved again: samples around them show better how their shapes move.
        """
        parts, self._parts = self._parts, []
        if not parts:
            rows, pairs = np.flatnonzero(is_open), self.candidates.pairs
            for k in np.unique(self._interval[rows]).tolist():
                assert self._source is not None
                in_interval = rows[self._interval[rows] == k]
                timeline = Timeline(self._block, k, self._source.subject_of, pairs[in_interval])
                self._members[in_interval] = np.searchsorted(timeline.members, pairs[in_interval])
                self._parts.append(IntervalPart(timeline, timeline.start, timeline.end, in_interval))
        else:
            self._record_round(intervals, contacts, is_open)
            pending = self._split_times(parts, intervals, contacts, assessment, is_open)
            for done, (part, middle) in enumerate(pending):
                yield done / len(pending)
                assert self._source is not None
                part.timeline.add_sample(middle, self._source.motion, part.begin, part.end)
                self._parts += [part._replace(end=middle), part._replace(begin=middle)]
        return self._open_parts() if self._parts else None

    def _split_times(
        self,
        parts: Sequence[IntervalPart],
        intervals: PairIntervals,
        contacts: IntervalContacts,
        assessment: Assessment,
        is_open: Bools,
    ) -> list[tuple[IntervalPart, float]]:
        """Return parts with those of their rows that are open (m,), and the time at which to split each."""
        pending, start = [], 0
        for part in parts:
            open_rows = start + np.flatnonzero(is_open[start : start + len(part.rows)])
            start += len(part.rows)
            if not len(open_rows):
                continue
            rows = intervals.rows[open_rows]
            begin, end = intervals.begin[open_rows], intervals.end[open_rows]
            if (self._is_abrupt[open_rows] | self._ends_at_limit(rows, begin, end)).any():
                # Most jumps are at whole frames: next to the end if that is a frame, else halves.
                middle = part.end - _JUST_BEFORE
                is_frame = part.end == part.timeline.end
                if not (is_frame and middle - part.begin > part.end - middle):
                    middle = (part.begin + part.end) / 2
            else:
                split = _split_position(contacts, assessment, open_rows)
                middle = part.begin + (part.end - part.begin) * split
            pending.append((part._replace(rows=rows), middle))
        return pending


def _middles(intervals: PairIntervals, contacts: IntervalContacts) -> Floats:
    """Return the times (m,) in the middle of contacts; of the interval where there is none."""
    middle = np.nan_to_num((contacts.enter + contacts.leave) / 2, nan=0.5)
    return time_within(intervals.begin, intervals.end, middle)


def _split_position(contacts: IntervalContacts, assessment: Assessment, rows: Ints) -> float:
    """Position in [0, 1] at which to split a part: near the first contact of open `rows` (r,), else 0.5."""
    enter, is_timed = contacts.enter[rows], assessment.is_timed[rows]
    enter = np.where(np.isnan(enter) | (enter == 0) | is_timed, np.inf, enter)
    row = rows[int(enter.argmin())]
    if np.isfinite(enter).sum() > _MANY_CONTACTS:
        return 0.5
    if np.isfinite(enter.min()):
        time, margin = float(contacts.enter[row]), 1.5 * float(assessment.uncertainty[row])
        for split in (time - margin, time + margin):
            if 0.1 < split < 0.9 and margin < 0.2:
                return split
        return 0.5
    ends = contacts.leave[row] > 0 and not assessment.is_timed[row]
    closest = float(contacts.leave[row] if ends else contacts.least_time[row])
    return closest if 0.25 < closest < 0.75 else 0.5


def _at_jumps(
    motion: PairMotion, deviation: Floats, rows: Ints, is_limit: Bools
) -> tuple[PairMotion, Floats, PairJumps | None]:
    """Put pairs at rest that jump within a part, rows (j,): a jump passes through nothing.

    They are put at the nearer end, but at the begin where the end is a limit (j,) that is not shown.

    Returns the motion and the deviation (m,) of all pairs, and the jumps.
    """
    if not len(rows):
        return motion, deviation, None
    a0, a1, b0, b1 = motion
    ends = motion.take(rows).separation_at(np.array([[0.0], [1.0]]) + np.zeros(len(rows)))
    is_after = np.asarray((ends[1] < ends[0]) & ~is_limit)
    chosen, deviation = np.zeros((2, len(deviation)), dtype=bool), deviation.copy()
    chosen[0, rows], chosen[1, rows] = ~is_after, is_after
    deviation[rows] = 0.0
    shapes: list[Any] = []
    pairs: Any = ((a0, a1), (b0, b1))
    for start, end in pairs:
        if isinstance(start, TriangleMesh):
            shapes += (start, end)
        else:
            shapes += (where_shapes(chosen[1], end, start), where_shapes(chosen[0], start, end))
    return PairMotion(*shapes), deviation, PairJumps(rows, is_after, ends.max(axis=0))
