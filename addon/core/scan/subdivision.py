"""Adaptive subdivision: whether linear motion decides a pair, and where to ask its motion again if not.

The linear motion of an interval deviates from the real one by an amount that the motion bounds, or estimates
from neighboring samples. A pair whose contact this may change is open: its interval is split, first near the
contact of the linear motion. Whole intervals are the first round of this subdivision.

Pairs whose motion is certain are split each on its own, and what a round settles of them is proven. All
others that are open in an interval are split at the same times, because one sample serves all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..curves.transform_bounds import SHORT
from ..interval.dispatch import with_minimum_separation
from ..interval.pair_motion import IntervalContacts, PairMotion, raised_lower_bounds, rotation_sagitta
from ..mesh.triangle_mesh import TriangleMesh
from ..motion.motion import Motion
from ..motion.samples import FIRST_TOLERANCE, GRAZE, MOST_UNTIL_CONTACT, SHORTEST, SampledMotion
from ..numeric.arrays import Bools, Floats, Ints, Table, largest_component, length
from ..numeric.spans import Spans
from ..numeric.tolerances import CHAIN_ROUNDING
from ..progress import scaled
from ..shapes import Aabb, Sphere, concatenated, where_shapes
from ..sweep.dispatch import time_of_impact
from .candidates import DEPTH_TOLERANCE, Candidates, NearCells, may_be_deeper
from .least import LINEAR, PROVEN, SAMPLED, ContactLeast, time_within

_LATER_TOLERANCE = 5e-3
"""Frames by which ends of contacts may be off, and further contacts of a pair."""
_TURN = 10.0
"""Multiple of `GRAZE` for gaps within a contact of shapes that turn: a thousandth of the size."""
_ROUNDING = 2.0**-21
"""Part of a pair's coordinates below which a deviation is rounding, and decides as little as a graze.

Blender evaluates scenes in single precision: a coordinate is rounded by up to 2^-24 of itself as a key, and
again as part of a matrix. Three samples of a linear motion deviate by twice that, and both shapes of a pair
together by four times: 4 * 2 * 2^-24.
"""
_MOST_CERTAIN, _MOST_SAMPLES, _MOST_AT_JUMPS = 600, 30, 45
"""Samples within one interval for each pair whose motion is certain, which before its first contact may take
`MOST_UNTIL_CONTACT`; for each other one, with two intervals between frames; and for those where it may jump.

What is open then is recorded with its uncertainty.
"""
_JUST_BEFORE = 0.999 * SHORTEST
"""Frames before a frame from which a jump at that frame is certain: nothing that is this short is split."""
_SAMPLES_PER_SPLIT = 3
"""Samples that the split of a pair of certain motion takes, at most."""
_SPLIT_AT_ONCE = 1 << 9
"""Rows, by the costs of their shapes, that are split at once into up to four parts each: about 20 ms."""
_SHARING = 0.9
"""Part of the work of a split that samples are, for the progress."""
_MANY_CONTACTS = 4
"""Pairs in contact within one part above which halving it separates them sooner than sampling near each."""
_BEFORE, _JUST_BEFORE_CONTACT = 2.0**-10, 2.0**-17
"""Frames before a contact between which its velocity is measured; a jump at the contact itself is later."""
_LONGER, _LENGTHS = 4.0, 5
"""Ratio and number of the lengths of time over which velocities are measured: the longest is 1/4 frame."""
_ENOUGH = 1e-4
"""Part of a velocity that may be rounding: if it is more, longer times are tried."""
_POSE_ROUNDING = 2.0**-23
"""Part of the coordinates that is lost in a pose of single precision."""
_MARGIN, _LEAST_MARGIN = 1.5, 2.0**-20
"""Uncertainties on either side of a contact between which it is expected; the least part of an interval."""


class PairIntervals(Table):
    """Candidate pairs in one round of a subdivision, a row for each pair and interval or part of one.

    rows : (m,) int. Rows of the pairs among the candidates.
    motion : PairMotion, batch (m,). Linear motion over the interval.
    deviation : (m,) float. Deviation of both shapes together from that motion; NaN for unknown.
    may_jump : (m,) bool. Pairs of which a shape may jump in the interval, at a time that is not known.
    begin, end : (m,) float. Times of the interval in frames.
    has_contact_before : (m,) bool. Whether the pair is known to be in contact before the interval.
    can_split : (m,) bool. Whether the interval is long enough to be split, and the pair can be sampled
        between frames.
    is_after : (m,) bool. Whether the motion is at rest at the end, because the pair jumps.
    farther : (m,) float. Separation at the farther end of pairs that jump within parts too short to be split,
        whose motion is at rest at the nearer end; NaN for the others.
    """

    rows: Ints
    motion: PairMotion
    deviation: Floats
    may_jump: Bools
    begin: Floats
    end: Floats
    has_contact_before: Bools
    can_split: Bools
    is_after: Bools
    farther: Floats


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


class Subdivision:
    """Rounds of solving candidate pairs in their intervals: whole intervals first, then parts of open ones.

    Each round: solve and `assess` its intervals, and `split` the open ones into those of the next round. All
    open parts are solved in one batch, which takes far fewer array operations than part by part.

    candidates : Candidates, batch (m,)
    begin, end : (m,) float. Their intervals.
    is_certain : (m,) bool. Candidates whose motion is certain.
    contact_motion : (m,) int. Motion from which contacts of the candidates follow, an index of `MOTIONS`.
    graze : (m,) float. Deviation that does not decide between a graze and a near miss of the candidates.
    doubtful_since : (m,) float. Time from which the candidates may touch without a record, for want of
        samples; inf for none.
    """

    def __init__(
        self,
        motion: Motion,
        near: NearCells,
        times: Floats,
        cells: Ints,
        candidates: Candidates,
        mesh: TriangleMesh | None,
    ) -> None:
        """Start with pairs (m,) in whole intervals of a block: in cells (m,)."""
        self._motion, self._mesh, self.candidates = motion, mesh, candidates
        self._steps, self._step_of = near.steps, near.rows(cells)
        interval = cells % (len(times) - 1)
        self.begin, self.end = times[interval], times[interval + 1]
        first, second = candidates.pairs.T
        self.is_certain = motion.is_certain[first] & motion.is_certain[second]
        # Length of intervals in which both motions say more.
        self._grain = np.maximum(motion.grain[first], motion.grain[second])
        can_split = self._grain < np.inf
        self.contact_motion = np.where(self.is_certain, PROVEN, np.where(can_split, SAMPLED, LINEAR))
        self._is_opened = np.zeros(len(cells), dtype=bool)
        self._first_contact = np.where(candidates.has_contact_before, -np.inf, np.inf)
        self._samples = np.zeros(len(cells), dtype=np.int64)
        self.doubtful_since = np.full(len(cells), np.inf)
        # Of the largest coordinate where a pair may touch: a point that both shapes have in common is in both
        # boxes, so the one nearer to the origin counts.
        boxes = [side.aabb() for side in (self._steps.start, self._steps.ending)]
        reach = np.maximum.reduce([largest_component(side) for box in boxes for side in (box.min, box.max)])
        offset = 0.0
        if mesh is not None and isinstance(motion, SampledMotion):
            offset = np.abs(motion.poses_at(times)[:, :3, 3]).max()
        rounding = _ROUNDING * (reach[self._step_of].min(axis=0) + offset)
        self.graze = np.maximum(GRAZE * candidates.size, rounding)
        self._depth_tolerance = np.maximum(DEPTH_TOLERANCE * candidates.size, rounding)
        # Least separation by pairs of subjects, of all rounds.
        _, self._pair_of = np.unique(candidates.keys, return_inverse=True)
        self._least = ContactLeast(
            self._pair_of, self.begin, self.end, candidates.open_least, float(times[0])
        )
        in_interval = np.sort(interval * (len(cells) + 1) + self._pair_of)
        self._has_parts = bool((in_interval[1:] == in_interval[:-1]).any())
        # Spans in which pairs of subjects touch for certain.
        self._certain = Spans(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    @property
    def is_linear(self) -> bool:
        """Return whether all motion is taken to be linear, so that nothing is in doubt."""
        return isinstance(self._motion, SampledMotion) and not self._motion.is_adaptive

    def whole_intervals(self) -> PairIntervals:
        """Return the pairs of the first round."""
        steps, (a, b) = self._steps, self._step_of
        second = (self._mesh, self._mesh) if self._mesh else (steps.start[b], steps.ending[b])
        return PairIntervals(
            np.arange(len(a)),
            PairMotion(steps.start[a], steps.ending[a], *second),
            steps.deviation[a] + steps.deviation[b],
            np.zeros(len(a), dtype=bool),
            self.begin,
            self.end,
            self.candidates.has_contact_before,
            self._grain < np.inf,
            np.zeros(len(a), dtype=bool),
            np.full(len(a), np.nan),
        )

    def assess(
        self, intervals: PairIntervals, contacts: IntervalContacts, clearance: float
    ) -> tuple[Assessment, IntervalContacts]:
        """Decide which pairs of a round are settled: all, if motion is linear. Returns their contacts too.

        Contacts of certain motion begin when they can touch first, so never late. The uncertainty lasts from
        then to a time at which they touch for certain. Where there is no such time the pair is not settled,
        except where its deviation is rounding.
        """
        rows = intervals.rows
        if self.is_linear:
            every = np.ones(len(rows), dtype=bool)
            return Assessment(every, np.zeros(len(every)), every), contacts
        assessment = assess_pairs(intervals, contacts, self.graze[rows], clearance)
        contacts = contacts.take(np.arange(len(rows)))
        if not self.is_certain[rows].all():
            assessment = self._assess_jumps(intervals, contacts, assessment, clearance)
        self._assess_certain(intervals, contacts, assessment, clearance)
        return self._completed(intervals, contacts, assessment, clearance)

    def _assess_jumps(
        self,
        intervals: PairIntervals,
        contacts: IntervalContacts,
        assessment: Assessment,
        clearance: float,
    ) -> Assessment:
        """Open pairs of sampled motion that may jump, and settle those that do; changes `contacts`."""
        rows, (is_settled, uncertainty, is_timed) = intervals.rows, assessment
        if isinstance(self._motion, SampledMotion) and not self._motion.is_probed:
            # Motion in steps appears linear at whole frames.
            is_whole = (intervals.begin == self.begin[rows]) & (intervals.end == self.end[rows])
            is_whole &= (intervals.begin < intervals.end) & ~self.is_certain[rows]
            is_settled = is_timed = is_settled & ~(is_whole & (self._grain[rows] < np.inf))
        # Where pairs may jump, a begin or an end of a contact is open until the jump is found.
        is_open = intervals.may_jump & intervals.can_split & ((contacts.enter > 0) | (contacts.leave < 1))
        is_settled, is_timed = is_settled & ~is_open, is_timed & ~is_open
        jumps = np.flatnonzero(~np.isnan(intervals.farther))
        if len(jumps):
            # Pairs that jump are settled: a contact that begins with a jump begins at the end of the part.
            is_touch, is_after = ~np.isnan(contacts.enter[jumps]), intervals.is_after[jumps]
            begins = jumps[is_touch & is_after & (intervals.farther[jumps] > clearance)]
            contacts.enter[begins] = 1.0
            contacts.least_time[jumps] = np.where(is_after, 1.0, 0.0)
            is_settled, uncertainty = is_settled.copy(), uncertainty.copy()
            is_settled[jumps], uncertainty[begins] = True, 1.0
            is_timed = is_settled
        return Assessment(is_settled, uncertainty, is_timed.copy())

    def _assess_certain(
        self,
        intervals: PairIntervals,
        contacts: IntervalContacts,
        assessment: Assessment,
        clearance: float,
    ) -> None:
        """Let contacts of certain motion begin when they can touch first; changes both."""
        deviation, (is_settled, uncertainty, is_timed) = intervals.deviation, assessment
        is_wanted = is_settled & (contacts.enter > 0) & (deviation > 0)
        rows = np.flatnonzero(is_wanted & self.is_certain[intervals.rows])
        if not len(rows):
            return
        motion, error = intervals.motion.take(rows), deviation[rows]
        reach = (clearance + error) * (1 + CHAIN_ROUNDING)
        # Around corners, padded boxes reach farther. Without a clearance that is part of the deviation.
        earliest = motion.time_within(reach) if clearance else time_of_impact(*motion.padded(reach))
        earliest = np.fmin(earliest, contacts.enter[rows])
        latest = np.minimum(contacts.enter[rows] + _MARGIN * uncertainty[rows], 1.0)
        is_touching = motion.separation_at(latest) + error <= clearance
        is_settled[rows] = is_timed[rows] = is_touching | (error <= self.graze[intervals.rows[rows]])
        uncertainty[rows] = np.where(
            is_touching, latest - earliest, uncertainty[rows] + contacts.enter[rows] - earliest
        )
        contacts.enter[rows] = earliest

    def _completed(
        self, intervals: PairIntervals, contacts: IntervalContacts, assessment: Assessment, clearance: float
    ) -> tuple[Assessment, IntervalContacts]:
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
        pair = self._pair_of[rows]
        self._least.find_gaps(pair, intervals.begin, intervals.end, contacts, is_settled, self._has_parts)
        # Rows that touch. Those that are open may be the gap between two contacts.
        touching = np.flatnonzero(~np.isnan(contacts.enter) & (is_settled | self._has_parts))
        piece = (
            self._least.runs(contacts)[rows[touching]],
            _middles(intervals, contacts)[touching],
            at_most[touching],
        )
        np.minimum.at(self._least.of_pair, pair, at_most)
        least = np.minimum(self._least.of_pair[pair], self.candidates.separation_cutoff(clearance)[rows])
        if len(touching):
            least[touching] = self._least.of_contacts(*piece)
        is_doubtful = is_settled & may_be_deeper(deviation, contacts.low, least, tolerance)
        apart = np.flatnonzero(is_doubtful & np.isnan(contacts.enter))
        if len(apart) and not isinstance(intervals.motion.b_start, (Sphere, Aabb)):
            # The lower bounds of others than these prove no more than that pairs do not touch.
            pairs, wanted = intervals.motion.take(apart), (deviation + least - tolerance)[apart]
            low = contacts.low.copy()
            low[apart] = raised_lower_bounds(pairs, contacts.enter[apart], low[apart], 0.0, wanted)
            contacts = contacts.replaced(low=low)
        is_doubtful &= may_be_deeper(deviation, contacts.low, least, tolerance)
        self._least.keep(piece, ~is_doubtful[touching])
        return assessment._replace(is_settled=is_settled & ~is_doubtful, is_timed=is_timed), contacts

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
            has_contact = np.zeros(len(self._least.of_pair), dtype=bool)
            has_contact[keys[touching]] = True
            cutoffs[has_contact[keys]] = -np.inf
            run = self._least.runs(contacts)[intervals.rows[touching]]
            middle = _middles(intervals, contacts)[touching]
            cutoffs[touching] = self._least.open_least(run, middle)
            keys = keys.copy()
            keys[touching] = len(self._least.of_pair) + self._least.contact_numbers(run, middle)
        contacts = with_minimum_separation(intervals.motion, contacts, rows, cutoffs, keys)
        # Pairs that jump are put at rest where they are at the nearer end, and they are there only then.
        at_rest = np.where(intervals.is_after, 1.0, 0.0)
        least_time = np.where(np.isnan(intervals.farther), contacts.least_time, at_rest)
        # What is least before a jump is shown up to a little before it.
        rows = rows[(least_time[rows] == 1) & (contacts.least[rows] < cutoff[intervals.rows[rows]])]
        ends = intervals.begin[rows], intervals.end[rows]
        rows = rows[self._ends_at_limit(intervals.rows[rows], *ends)]
        part = SHORT / (intervals.end - intervals.begin)[rows]
        least_time[rows] = np.maximum(np.nan_to_num(contacts.enter[rows]), 1 - part)
        return contacts.replaced(least_time=least_time)

    def _ends_at_limit(self, pair: Ints, begin: Floats, end: Floats) -> Bools:
        """Mask of parts (r,) of candidates at whose ends a shape jumps or disappears, as far as is known."""
        is_whole = (end == self.end[pair]) & (begin < end)
        is_limit = is_whole & self._steps.has_limit[self._step_of[:, pair]].any(axis=0)
        return np.asarray(is_limit | (self._next_jumps(pair, begin, np.nextafter(end, np.inf)) == end))

    def poses_at(self, begin: Floats, end: Floats) -> Floats | None:
        """Poses (r, 2, 4, 4) of the obstacle at both ends of intervals (r,); None without one."""
        if self._mesh is None:
            return None
        assert isinstance(self._motion, SampledMotion), "obstacles are sampled"
        every = np.broadcast_to(np.eye(4), (len(begin), 2, 4, 4)).copy()
        # One that is certain rests in the pose of its mesh.
        if not self._motion.is_certain[-1]:
            every[:, 0], every[:, 1] = self._motion.poses_at(begin), self._motion.poses_at(end)
        return every

    def estimated_deviations(self, rows: Ints) -> Floats:
        """Deviation (r,) from linear motion of candidates over their whole intervals; NaN for unknown."""
        motion, pairs, begin = self._motion, self.candidates.pairs[rows], self.begin[rows]
        if isinstance(motion, SampledMotion):
            return np.asarray(sum(motion.estimated_deviations(shapes, begin) for shapes in pairs.T))
        bounds = [motion.bound(shapes, begin, self.end[rows]).deviation for shapes in pairs.T]
        return np.asarray(sum(bounds))

    def velocities_before(self, rows: Ints, times: Floats) -> Floats:
        """Relative velocities (r, 3) of candidates of certain motion just before times (r,), per frame.

        NaN just after a jump.
        """
        begin = times - _BEFORE
        jump = self._next_jumps(rows, begin, times)
        velocities, rounding = self._mean_velocities(rows, np.where(jump < times, jump, begin)[None], times)
        noisy = np.flatnonzero(rounding[0] > _ENOUGH * length(velocities[0]))
        if not len(noisy):
            return np.asarray(velocities[0])
        # Velocities over two lengths of time are extrapolated to a length of 0, so that acceleration counts.
        # A longer time is better as long as its velocity agrees with those over all shorter times, so that
        # what is seen of their change is rounding (Lepski's method).
        rows, times = rows[noisy], times[noisy]
        begin = times - (_BEFORE * _LONGER ** np.arange(1, _LENGTHS))[:, None]
        longer, of_longer = self._mean_velocities(rows, begin, times)
        extrapolated = np.concatenate([velocities[:, noisy], longer])
        noise = np.concatenate([of_longer[:1] * _LONGER, of_longer])
        noise[1:] = (_LONGER * noise[:-1] + noise[1:]) / (_LONGER - 1)
        extrapolated[1:] = (_LONGER * extrapolated[:-1] - extrapolated[1:]) / (_LONGER - 1)
        chosen = np.zeros(len(rows), dtype=np.intp)
        for level in range(1, _LENGTHS):
            agrees = length(extrapolated[:level] - extrapolated[level]) <= noise[:level] + noise[level]
            jumps = self._next_jumps(rows, begin[level - 1], times) < times
            chosen[(chosen == level - 1) & agrees.all(axis=0) & ~jumps] = level
        velocities[0, noisy] = extrapolated[chosen, np.arange(len(rows))]
        return np.asarray(velocities[0])

    def _next_jumps(self, rows: Ints, begin: Floats, end: Floats) -> Floats:
        """Return the first times (r,) at which either shape of candidates (r,) jumps; inf for none."""
        movers = self._movers(rows)
        sides = len(movers)
        jumps = self._motion.breaks(movers.ravel(), np.tile(begin, sides), np.tile(end, sides))
        return np.asarray(jumps.reshape(movers.shape).min(axis=0))

    def _mean_velocities(self, rows: Ints, begin: Floats, times: Floats) -> tuple[Floats, Floats]:
        """Relative velocities (s, r, 3) of candidates (r,) from `begin` (s, r) to just before times (r,).

        Also returns how much of each (s, r) may be rounding of the poses.
        """
        movers, end = self._movers(rows), times - _JUST_BEFORE_CONTACT
        sides, spans, count = len(movers), len(begin), len(rows)
        # All shapes at once, because evaluating curves takes long for few times too.
        both = np.concatenate([begin.ravel(), np.tile(end, spans)])
        shapes: Any = self._motion.at(np.tile(movers, 2 * spans).ravel(), np.tile(both, sides))
        total, mesh = spans * count, self._mesh
        parts = [shapes[k * total : (k + 1) * total] for k in range(2 * sides)]
        impact = PairMotion(*parts, *([mesh, mesh] if mesh else [])).impact_at(np.ones(total))
        reach = largest_component(impact.point) + np.tile(self.candidates.size[rows], spans)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.tile(end, spans) - begin.ravel()
            steps = np.where(steps > _JUST_BEFORE_CONTACT, steps, np.nan)
            velocities = impact.velocity / steps[:, None]
            rounding = 2 * sides * _POSE_ROUNDING * reach / steps
        return np.asarray(velocities).reshape(spans, count, 3), np.asarray(rounding).reshape(spans, count)

    def _movers(self, rows: Ints) -> Ints:
        """Shapes (2, r) of candidates (r,); (1, r) where the second one is the mesh of an obstacle."""
        return self.candidates.pairs[rows, : 1 if self._mesh else 2].T

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
        per_split = np.where(self.is_certain[pair], _SAMPLES_PER_SPLIT, 1)
        rows = rows[rank >= (left + 1) // (2 * per_split)]
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
        end = self.end[intervals.rows[brief]]
        uncertainty = assessment.uncertainty.copy()
        uncertainty[brief] = (end - begin) / step
        return is_open, uncertainty

    def _most_samples(self, intervals: PairIntervals, assessment: Assessment) -> Ints:
        """Return how many samples (m,) pairs may take in an interval: many before the first contact."""
        rows = intervals.rows
        most = np.where(intervals.may_jump, _MOST_AT_JUMPS, _MOST_SAMPLES)
        is_certain = self.is_certain[rows]
        if not is_certain.any():
            return most
        first_contact = np.full(len(self._pair_of), np.inf)
        np.minimum.at(first_contact, self._pair_of, self._first_contact)
        is_before = (intervals.begin < first_contact[self._pair_of[rows]]) & ~assessment.is_timed
        return np.where(is_certain, np.where(is_before, MOST_UNTIL_CONTACT, _MOST_CERTAIN), most)

    def split(
        self, intervals: PairIntervals, contacts: IntervalContacts, assessment: Assessment, is_open: Bools
    ) -> Generator[float, None, PairIntervals | None]:
        """End the round: split the open rows (m,) of its intervals. Returns the next round; None for none.

        Yields the part of the work that is done. Whole intervals of sampled motion are not split, but solved
        again: samples around them show better how their shapes move.
        """
        is_split = is_open & (self.is_certain | self._is_opened)[intervals.rows]
        touching = ~is_open & ~np.isnan(contacts.enter)
        np.minimum.at(self._first_contact, intervals.rows[touching], intervals.begin[touching])
        np.add.at(self._samples, intervals.rows[is_split], 1)
        rows = np.flatnonzero(is_open)
        if not len(rows):
            return None
        begin, end, pair = intervals.begin[rows], intervals.end[rows], intervals.rows[rows]
        positions = split_positions(
            contacts.take(rows), assessment.uncertainty[rows], assessment.is_timed[rows]
        )
        cuts = begin[:, None] + (end - begin)[:, None] * positions
        jumps = self._next_jumps(pair, begin, end)
        shared = np.flatnonzero(~self.is_certain[pair])
        if len(shared):
            cuts[shared] = np.nan
            sharing = self._share_cuts(intervals, contacts, assessment, rows, shared, cuts, jumps)
            yield from scaled(sharing, 0.0, _SHARING)
        has_jump = jumps < end
        cuts[has_jump] = np.nan
        cuts[has_jump, 0] = jumps[has_jump]
        costs = self._motion.costs[self._movers(pair)].mean(axis=0)
        chunk_of = ((np.cumsum(costs) - costs) // _SPLIT_AT_ONCE).astype(np.int64)
        starts = np.flatnonzero(np.diff(chunk_of)) + 1
        parts: list[tuple[PairIntervals, Ints]] = []
        for chunk in np.split(np.arange(len(rows)), starts):
            done = len(parts) / (len(starts) + 1)
            yield _SHARING + (1 - _SHARING) * done if len(shared) else done
            parts.append(self._split(intervals, rows[chunk], cuts[chunk], has_jump[chunk]))
        return self._at_jumps(_joined(parts))

    def _share_cuts(
        self,
        intervals: PairIntervals,
        contacts: IntervalContacts,
        assessment: Assessment,
        rows: Ints,
        shared: Ints,
        cuts: Floats,
        jumps: Floats,
    ) -> Generator[float, None, None]:
        """Choose one time for all sampled pairs that are open in a part, and sample them; fills `cuts`.

        Yields before each sample.

        rows : (r,) rows to split
        shared : those of them (s,) of sampled motion
        cuts, jumps : (r, 3) and (r,) of `rows`
        """
        motion = self._motion
        assert isinstance(motion, SampledMotion), "other motions are certain"
        begin = intervals.begin[rows[shared]]
        order = np.argsort(begin, kind="stable")
        begins, starts = np.unique(begin[order], return_index=True)
        for number, (first, members) in enumerate(
            zip(begins.tolist(), np.split(shared[order], starts[1:]), strict=True)
        ):
            pair = intervals.rows[rows[members]]
            movers = self.candidates.pairs[pair].ravel()
            if not self._is_opened[pair[0]]:
                motion.open_interval(first, movers)
                self._is_opened[pair] = True
                jumps[members] = np.inf
                continue
            yield number / len(begins)
            last = float(intervals.end[rows[members[0]]])
            begin, end = intervals.begin[rows[members]], intervals.end[rows[members]]
            jump = float(jumps[members].min())
            if jump < last:
                middle = jump
            elif (intervals.may_jump[rows[members]] | self._ends_at_limit(pair, begin, end)).any():
                # Most jumps are at whole frames: next to the end if that is a frame, else halves.
                middle = last - _JUST_BEFORE
                is_frame = last == self.end[pair[0]]
                if not (is_frame and middle - first > last - middle):
                    middle = (first + last) / 2
            else:
                middle = first + (last - first) * _shared_position(contacts, assessment, rows[members])
            jumps[members] = np.where(jumps[members] == middle, middle, np.inf)
            cuts[members, 0] = middle
            sampled = movers[~motion.is_certain[movers]]
            motion.at(sampled[:1], np.array([middle]))

    def _split(
        self, intervals: PairIntervals, rows: Ints, cuts: Floats, has_jump: Bools
    ) -> tuple[PairIntervals, Ints]:
        """Parts (p,) of rows (r,) of intervals, and the place (p,) of each part within its interval.

        cuts : (r, c) increasing times at which they are split; NaN for none
        has_jump : (r,) whether a shape jumps at the first
        """
        begin, end, pair = intervals.begin[rows], intervals.end[rows], intervals.rows[rows]
        is_cut = ~np.isnan(cuts)
        of_cut, time, count = np.nonzero(is_cut)[0], cuts[is_cut], is_cut.sum(axis=1)
        # One of the parts is counted already.
        np.add.at(self._samples, pair, np.maximum(count - 1, 0))
        # The first parts of all rows, then the second ones, and so on.
        place, row = np.nonzero(np.arange(cuts.shape[1] + 1)[:, None] <= count)
        # The cuts before and after each part; -1 for an end of the interval.
        after = np.cumsum(count)[row] - count[row] + place
        before, after = np.where(place == 0, -1, after - 1), np.where(place == count[row], -1, after)
        begin = np.where(before < 0, begin[row], time[before]) if len(time) else begin[row]
        end = np.where(after < 0, end[row], time[after]) if len(time) else end[row]
        whole = intervals.motion.take(rows)
        motion = self._motion_of_parts(whole, pair[of_cut], time, has_jump[of_cut], row, (before, after))
        pair = pair[row]
        movers = self._movers(pair)
        times = (np.tile(side, len(movers)) for side in (begin, end))
        deviation, may_jump = self._motion.bound(movers.ravel(), *times)
        split = PairIntervals(
            pair,
            motion,
            deviation.reshape(movers.shape).sum(axis=0),
            np.asarray(may_jump.reshape(movers.shape).any(axis=0)),
            begin,
            end,
            self._first_contact[pair] < begin,
            end - begin > self._grain[pair],
            np.zeros(len(pair), dtype=bool),
            np.full(len(pair), np.nan),
        )
        return split, place

    def _motion_of_parts(
        self,
        whole: PairMotion,
        pair: Ints,
        times: Floats,
        has_jump: Bools,
        row: Ints,
        cuts: tuple[Ints, Ints],
    ) -> PairMotion:
        """Linear motion of parts (p,), between the ends of whole intervals (r,) and cuts (k,) in these.

        pair, times, has_jump : (k,) of the cuts; where a pair jumps, a part ends with the limit before that
        row, cuts : (p,) interval of each part, and the cuts before and after it; -1 for an end of that
        """
        movers = self._movers(pair)
        sides = len(movers)
        at = movers.ravel(), np.tile(times, sides)
        before = after = self._motion.at(*at)
        if has_jump.any():
            limit = self._motion.at(*at, is_before=True)
            before = where_shapes(np.tile(has_jump, sides), limit, after)
        ends: Any = tuple(whole)
        shapes: list[Any] = []
        for side in range(sides):
            of_side = slice(side * len(times), (side + 1) * len(times))
            for shape, at_cuts, cut in (
                (ends[2 * side], after[of_side], cuts[0]),
                (ends[2 * side + 1], before[of_side], cuts[1]),
            ):
                shapes.append(concatenated(shape, at_cuts)[np.where(cut < 0, row, shape.shape[0] + cut)])
        return PairMotion(*shapes, *ends[2 * sides :])

    def _at_jumps(self, intervals: PairIntervals) -> PairIntervals:
        """Put pairs at rest that jump within a part too short to be split: a jump passes through nothing.

        They are put at the nearer end, but at the begin where the end is a limit that is not shown.
        """
        deviation, pair = intervals.deviation, intervals.rows
        # What is too fast to be known in the shortest parts jumps, too.
        is_jump = (intervals.may_jump | (deviation > self._depth_tolerance[pair])) & ~intervals.can_split
        rows = np.flatnonzero(is_jump & ~self.is_certain[pair])
        if not len(rows):
            return intervals
        # Where one shape is known to jump at the end, the other one may be after its own jump there.
        is_limit = self._ends_at_limit(pair[rows], intervals.begin[rows], intervals.end[rows])
        ends = intervals.motion.take(rows).separation_at(np.array([[0.0], [1.0]]) + np.zeros(len(rows)))
        is_after = np.asarray((ends[1] < ends[0]) & ~is_limit)
        chosen, deviation = np.zeros((2, len(deviation)), dtype=bool), deviation.copy()
        chosen[0, rows], chosen[1, rows] = ~is_after, is_after
        deviation[rows] = 0.0
        shapes: list[Any] = []
        a0, a1, b0, b1 = intervals.motion
        pairs: Any = ((a0, a1), (b0, b1))
        for start, end in pairs:
            if isinstance(start, TriangleMesh):
                shapes += (start, end)
            else:
                shapes += (where_shapes(chosen[1], end, start), where_shapes(chosen[0], start, end))
        farther = intervals.farther.copy()
        farther[rows] = ends.max(axis=0)
        motion = PairMotion(*shapes)
        return intervals.replaced(motion=motion, deviation=deviation, is_after=chosen[1], farther=farther)


def _joined(parts: Sequence[tuple[PairIntervals, Ints]]) -> PairIntervals:
    """Join parts, at least one: the first parts of all rows, then the second ones, and so on.

    parts : Each with the place of its rows within what was split.
    """
    if len(parts) == 1:
        return parts[0][0]
    order = np.argsort(np.concatenate([place for _, place in parts]), kind="stable")
    shapes: list[Any] = [
        sides[0] if isinstance(sides[0], TriangleMesh) else concatenated(*sides)[order]
        for sides in zip(*(part.motion for part, _ in parts), strict=True)
    ]
    names = [name for name in PairIntervals.names() if name != "motion"]
    columns = {name: np.concatenate([getattr(part, name) for part, _ in parts])[order] for name in names}
    return PairIntervals(motion=PairMotion(*shapes), **columns)


def _middles(intervals: PairIntervals, contacts: IntervalContacts) -> Floats:
    """Return the times (m,) in the middle of contacts; of the interval where there is none."""
    middle = np.nan_to_num((contacts.enter + contacts.leave) / 2, nan=0.5)
    return time_within(intervals.begin, intervals.end, middle)


def split_positions(contacts: IntervalContacts, uncertainty: Floats, is_timed: Bools) -> Floats:
    """Positions (r, 3) in [0, 1] at which to split intervals of pairs, increasing; NaN for none.

    A contact that is expected within a short span is enclosed: both ends of that span are cut off, unless
    they are near an end of the interval. A pair that touches from the begin on is cut where it ends to touch,
    and one that does not touch, or whose time is settled (r,) but not its depth, at the least separation; the
    latter in the middle if that is near an end. Otherwise the parts are quarters: a round takes long for few
    rows too, and halves would need twice as many rounds.
    """
    margin = np.maximum(_MARGIN * uncertainty, _LEAST_MARGIN)
    has_begin = ~np.isnan(contacts.enter) & (contacts.enter > 0) & ~is_timed
    closest = np.where((contacts.leave > 0) & ~is_timed, contacts.leave, contacts.least_time)
    is_inside = ~has_begin & (closest > 0.25) & (closest < 0.75)
    sides = np.stack([contacts.enter - margin, contacts.enter + margin], axis=1)
    sides[~((has_begin & (margin < 0.2))[:, None] & (sides > 0.1) & (sides < 0.9))] = np.nan
    result = np.tile([0.25, 0.5, 0.75], (len(margin), 1))
    is_enclosed = ~np.isnan(sides).all(axis=1)
    # One side alone comes first.
    result[is_enclosed, :2] = np.sort(sides[is_enclosed], axis=1)
    is_single = is_inside | is_timed
    result[is_single, 0] = np.where(is_inside, closest, 0.5)[is_single]
    result[is_single, 1] = np.nan
    result[is_enclosed | is_single, 2] = np.nan
    return result


def _shared_position(contacts: IntervalContacts, assessment: Assessment, rows: Ints) -> float:
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
