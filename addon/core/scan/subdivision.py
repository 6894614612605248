"""Adaptive subdivision: whether linear motion decides a pair, and where to ask its motion again if not.

The linear motion of an interval deviates from the real one by an amount that the motion bounds, or estimates
from neighboring samples. A pair whose contact this may change is open: its interval is split, first near the
contact of the linear motion. Whole intervals are the first round of this subdivision.

Pairs whose motion is certain are split each on its own, and what a round settles of them is proven. All
others that are open in an interval are split at the same times, because one sample serves all of them.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Any

import numpy as np

from ..curves.transform_bounds import SHORT
from ..interval.dispatch import INTERVALS, with_minimum_separation
from ..interval.meshes import minimum_separation_of_meshes
from ..interval.pair_motion import IntervalContacts, PairMotion, raised_lower_bounds
from ..mesh.meshes import Meshes, moving_vertices
from ..motion.motion import Motion
from ..motion.samples import GRAZE, MOST_UNTIL_CONTACT, SHORTEST, SampledMotion
from ..motion.steps import next_jumps
from ..numeric.arguments import LARGEST_LENGTH
from ..numeric.arrays import Bools, Floats, Ints, chunks_by_cost, is_run_start, largest_component
from ..numeric.tolerances import CHAIN_ROUNDING
from ..progress import in_steps, scaled
from ..shapes import Aabb, Sphere, concatenated, where_shapes
from .candidates import DEPTH_TOLERANCE, Candidates, NearSearch, may_be_deeper
from .rounds import PROVEN, ContactLeast, Pieces, Spans, assess_pairs

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
_LEAST_AT_ONCE, _COST_OF_MESHES, _VERTICES_OF_ROW = 1 << 18, 40, 16
"""Rows whose least separations are searched at once, as how many a row of meshes counts, and how many of its
vertices that move count as one more.
"""
_SHARING = 0.9
"""Part of the work of a split that samples are, for the progress."""
_MANY_CONTACTS = 4
"""Pairs in contact within one part above which halving it separates them sooner than sampling near each."""
_MARGIN, _LEAST_MARGIN = 1.5, 2.0**-20
"""Uncertainties on either side of a contact between which it is expected; the least part of an interval."""


class Subdivision:
    """Rounds of solving candidate pairs in their intervals: whole intervals first, then parts of open ones.

    Each round: solve and `assess` its intervals, `give_up` those that have been split enough, and `split` the
    open ones into those of the next round. All open parts are solved in one batch, which takes far fewer
    array operations than part by part.

    candidates : Candidates, batch (m,)
    begin, end : (m,) float. Their intervals.
    is_certain : (m,) bool. Candidates whose motion is certain.
    graze : (m,) float. Deviation that does not decide between a graze and a near miss of the candidates.
    doubtful_since : (m,) float. Time from which the candidates may touch without a record, for want of
        samples; inf for none.
    """

    def __init__(
        self,
        motion: Motion,
        near: NearSearch,
        times: Floats,
        cells: Ints,
        candidates: Candidates,
    ) -> None:
        """Start with pairs (m,) in whole intervals of a block: in cells (m,)."""
        self._motion, self.candidates = motion, candidates
        self._movers = candidates.pairs.T
        self._steps, self._step_of = near.steps, near.rows(cells)
        interval = cells % (len(times) - 1)
        self.begin, self.end = times[interval], times[interval + 1]
        self.is_certain = candidates.contact_motion == PROVEN
        # Intervals are split that are longer, in which both motions say more: whole ones in any case.
        grain = motion.grain[candidates.pairs].max(axis=1)
        shortest = np.minimum(grain, np.nextafter(self.end - self.begin, -np.inf))
        self._grain = np.where(grain < np.inf, shortest, np.inf)
        self._is_opened = np.zeros(len(cells), dtype=bool)
        self._first_contact = np.where(candidates.has_contact_before, -np.inf, np.inf)
        self._samples = np.zeros(len(cells), dtype=np.int64)
        self.doubtful_since = np.full(len(cells), np.inf)
        # Where linear motion is assumed, nothing is in doubt.
        self._is_assumed = isinstance(motion, SampledMotion) and not motion.is_adaptive
        # Deviations below this are rounding, of the largest coordinate where a pair may touch: a point that
        # both shapes have in common is in both boxes, so the one nearer to the origin counts.
        rounding: Floats | float = 0.0
        if not self._is_assumed:
            boxes = [side.aabb() for side in (self._steps.start, self._steps.ending)]
            sides = [largest_component(side) for box in boxes for side in (box.min, box.max)]
            rounding = _ROUNDING * np.maximum.reduce(sides)[self._step_of].min(axis=0)
        self.graze = np.maximum(GRAZE * candidates.size, rounding)
        self._depth_tolerance = np.maximum(DEPTH_TOLERANCE * candidates.size, rounding)
        _, self._pair_of = np.unique(candidates.keys, return_inverse=True)
        in_interval = np.sort(interval * (len(cells) + 1) + self._pair_of)
        self._has_parts = bool((in_interval[1:] == in_interval[:-1]).any())
        # Of all rounds.
        self._least = ContactLeast(self._pair_of, candidates.open_least, float(times[0]), self._has_parts)
        # Spans in which pairs of subjects touch for certain.
        self._certain = Spans(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    def whole_intervals(self) -> Pieces:
        """Return the pairs of the first round."""
        steps, (a, b) = self._steps, self._step_of
        return Pieces.unsolved(
            np.arange(len(a)),
            PairMotion(steps.start[a], steps.ending[a], steps.start[b], steps.ending[b]),
            steps.deviation[a] + steps.deviation[b],
            np.zeros(len(a), dtype=bool),
            self.begin,
            self.end,
        )

    def assess(self, solved: Pieces, clearance: float) -> None:
        """Decide which pairs of a round are settled, and fill that in: all, if motion is linear.

        Contacts of certain motion begin when they can touch first, so never late. The uncertainty lasts from
        then to a time at which they touch for certain. Where there is no such time the pair is not settled,
        except where its deviation is rounding.
        """
        rows = solved.rows
        if self._is_assumed:
            solved.is_settled[:] = solved.is_timed[:] = True
            return
        assess_pairs(solved, self.graze[rows], clearance, self._first_contact[rows] < solved.begin)
        if not self.is_certain[rows].all():
            self._assess_jumps(solved, clearance)
        self._assess_certain(solved, clearance)
        self._complete(solved, clearance)

    def _assess_jumps(self, solved: Pieces, clearance: float) -> None:
        """Open pairs of sampled motion that may jump, and settle those that do."""
        rows, contacts = solved.rows, solved.contacts
        # Where pairs may jump, a begin or an end of a contact is open until the jump is found.
        is_open = solved.may_jump & self._can_split(solved) & ((contacts.enter > 0) | (contacts.leave < 1))
        is_stepped = isinstance(self._motion, SampledMotion) and not self._motion.is_probed
        if is_stepped:
            # Motion in steps appears linear at whole frames.
            is_whole = (solved.begin == self.begin[rows]) & (solved.end == self.end[rows])
            is_whole &= (solved.begin < solved.end) & ~self.is_certain[rows]
            is_open |= is_whole & (self._grain[rows] < np.inf)
        solved.is_settled[is_open] = solved.is_timed[is_open] = False
        # Pairs that jump are settled: a contact that begins with a jump begins at the end of the part.
        jumps = np.flatnonzero(~np.isnan(solved.rest))
        solved.is_settled[jumps] = True
        begins = jumps[(solved.is_touching & (solved.rest == 1))[jumps] & (solved.farther[jumps] > clearance)]
        contacts.enter[begins] = solved.uncertainty[begins] = 1.0
        if is_stepped or len(jumps):
            solved.is_timed[:] = solved.is_settled

    def _assess_certain(self, solved: Pieces, clearance: float) -> None:
        """Let contacts of certain motion begin when they can touch first."""
        enter, deviation, uncertainty = solved.contacts.enter, solved.deviation, solved.uncertainty
        is_wanted = solved.is_settled & (enter > 0) & (deviation > 0)
        rows = np.flatnonzero(is_wanted & self.is_certain[solved.rows])
        if not len(rows):
            return
        motion, error = solved.motion.take(rows), deviation[rows]
        reach = (clearance + error) * (1 + CHAIN_ROUNDING)
        # Around corners, padded boxes reach farther. Without a clearance that is part of the deviation.
        earliest = motion.time_within(reach) if clearance else motion.padded(reach).time_within(0.0)
        earliest = np.fmin(earliest, enter[rows])
        if isinstance(motion.a_start, Meshes) and isinstance(motion.b_start, Meshes):
            # Padding does not bring what is behind a face to its front any earlier.
            is_partial = motion.a_start.are_one_sided | motion.b_start.are_one_sided
            before = np.maximum(enter[rows] - uncertainty[rows], 0.0)
            earliest = np.where(is_partial, np.minimum(earliest, before), earliest)
        latest = np.minimum(enter[rows] + _MARGIN * uncertainty[rows], 1.0)
        is_touching = motion.separation_at(latest) + error <= clearance
        is_decided = is_touching | (error <= self.graze[solved.rows[rows]])
        solved.is_settled[rows] = solved.is_timed[rows] = is_decided
        uncertainty[rows] = np.where(
            is_touching, latest - earliest, uncertainty[rows] + enter[rows] - earliest
        )
        enter[rows] = earliest

    def _complete(self, solved: Pieces, clearance: float) -> None:
        """Settle pairs (m,) whose times change nothing, and open those whose depth is not known yet."""
        is_settled, rows, contacts = solved.is_settled, solved.rows, solved.contacts
        if self._has_parts and not is_settled.all():
            # While other parts of the same two subjects touch for certain, a touch is within that contact.
            spans = Spans(self._pair_of[rows], solved.begin, solved.end)
            is_certain = (contacts.high + solved.deviation <= clearance) & (contacts.enter == 0)
            is_certain &= contacts.leave == 1
            self._certain = Spans.concatenate([self._certain, spans.take(is_certain)]).union()
            is_settled |= self._certain.cover(spans)
            solved.is_timed[is_settled] = True
        deviation, tolerance = np.nan_to_num(solved.deviation), self._depth_tolerance[rows]
        if isinstance(solved.motion.b_start, Meshes):
            # How deep these are is measured, because it has no other bound that would be of use.
            deep = np.flatnonzero(is_settled & solved.is_touching & (deviation > tolerance))
            found = minimum_separation_of_meshes(
                solved.motion.take(deep), contacts.take(deep), np.full(len(deep), np.inf)
            )
            contacts.least[deep], contacts.least_time[deep] = found
            contacts.low[deep] = found[0]
        cutoff = self.candidates.cutoff[rows]
        least, touching = self._least.known(solved, contacts.least + deviation, cutoff)
        is_doubtful = is_settled & may_be_deeper(deviation, contacts.low, least, tolerance)
        apart = np.flatnonzero(is_doubtful & ~solved.is_touching)
        if len(apart) and not isinstance(solved.motion.b_start, (Sphere, Aabb, Meshes)):
            # The lower bounds of others than these prove no more than that pairs do not touch.
            pairs, wanted = solved.motion.take(apart), (deviation + least - tolerance)[apart]
            nothing = np.full(len(apart), np.nan)
            contacts.low[apart] = raised_lower_bounds(pairs, nothing, contacts.low[apart], 0.0, wanted)
            is_doubtful &= may_be_deeper(deviation, contacts.low, least, tolerance)
        self._least.keep(~is_doubtful[touching])
        is_settled[is_doubtful] = False

    def with_least(self, solved: Pieces, cutoff: Floats) -> Generator[float, None, Pieces]:
        """Fill in the least separations of settled pieces (m,) of all rounds, and their times.

        Yields the part of the work that is done.

        cutoff : (m,) as in `with_minimum_separation`
        """
        contacts, a, b = solved.contacts, solved.motion.a_start, solved.motion.b_start
        if len(cutoff) and INTERVALS[type(a), type(b)].least:
            cutoffs, keys = self._least.to_search(solved, cutoff)
            # Rows of one key rule out each other.
            order = np.argsort(keys, kind="stable")
            starts = np.flatnonzero(is_run_start(keys[order]))
            ends, costs = np.append(starts[1:], len(order)), np.ones(len(order), dtype=np.int64)
            if isinstance(a, Meshes) and isinstance(b, Meshes):
                vertices = moving_vertices(a) + moving_vertices(b)
                costs = (_COST_OF_MESHES + vertices // _VERTICES_OF_ROW)[order]
            for chunk in chunks_by_cost(np.add.reduceat(costs, starts), _LEAST_AT_ONCE):
                yield starts[chunk.start] / len(order)
                part = order[starts[chunk.start] : ends[chunk.stop - 1]]
                search = partial(with_minimum_separation, solved.motion, contacts, part, cutoffs, keys)
                contacts = yield from in_steps(search, starts[chunk.start] / len(order))
        # Pairs that jump are put at rest where they are at the nearer end, and they are there only then.
        least_time = np.where(np.isnan(solved.rest), contacts.least_time, solved.rest)
        # What is least before a jump is shown up to a little before it.
        with np.errstate(divide="ignore"):
            before = 1 - SHORT / (solved.end - solved.begin)
        rows = np.flatnonzero((least_time > before) & (contacts.least < cutoff))
        if len(rows):
            rows = rows[self._ends_at_limit(solved.rows[rows], solved.begin[rows], solved.end[rows])]
        least_time[rows] = np.maximum(np.nan_to_num(contacts.enter[rows]), before[rows])
        return solved.replaced(contacts=contacts.replaced(least_time=least_time))

    def _can_split(self, intervals: Pieces) -> Bools:
        """Mask (m,) of intervals that are long enough to be split, of pairs that can be sampled there."""
        return np.asarray(intervals.end - intervals.begin > self._grain[intervals.rows])

    def _ends_at_limit(self, pair: Ints, begin: Floats, end: Floats) -> Bools:
        """Mask of parts (r,) of candidates at whose ends a shape jumps or disappears, as far as is known."""
        is_whole = (end == self.end[pair]) & (begin < end)
        is_limit = is_whole & self._steps.has_limit[self._step_of[:, pair]].any(axis=0)
        jumps = next_jumps(self._motion, self._movers[:, pair], begin, np.nextafter(end, np.inf))
        return np.asarray(is_limit | (jumps == end))

    def give_up(self, solved: Pieces) -> Bools:
        """Record the uncertainty of rows that are not settled, but have been split enough.

        Rows that are not settled are split as long as the pair has samples left. A round takes half of those,
        at most, for the earliest parts: the first contact of a pair matters most, and then its depth.

        Returns is_open : (m,) rows to split.
        """
        is_open = ~solved.is_settled & self._can_split(solved)
        rows = np.flatnonzero(is_open)
        rows = rows[np.lexsort((solved.begin[rows], solved.is_timed[rows], solved.rows[rows]))]
        pair = solved.rows[rows]
        rank = np.arange(len(rows)) - np.searchsorted(pair, pair)
        # How many samples pairs may take in an interval: many before the first contact.
        is_certain = self.is_certain[solved.rows]
        most = np.where(solved.may_jump, _MOST_AT_JUMPS, _MOST_SAMPLES)
        if is_certain.any():
            first_contact = np.full(len(self._pair_of), np.inf)
            np.minimum.at(first_contact, self._pair_of, self._first_contact)
            is_before = (solved.begin < first_contact[self._pair_of[solved.rows]]) & ~solved.is_timed
            most = np.where(is_certain, np.where(is_before, MOST_UNTIL_CONTACT, _MOST_CERTAIN), most)
        left = most[rows] - self._samples[pair]
        per_split = np.where(self.is_certain[pair], _SAMPLES_PER_SPLIT, 1)
        rows = rows[rank >= (left + 1) // (2 * per_split)]
        is_open[rows] = False
        # Where the time is settled, and the depth is not, a contact is not in doubt.
        rows = rows[~solved.is_timed[rows]]
        pair, enter = solved.rows[rows], solved.contacts.enter[rows]
        # The pair may touch from the beginning of the part on. At the beginning itself the sample is exact.
        doubtful = ~(enter == 0)
        np.minimum.at(self.doubtful_since, pair[doubtful], solved.begin[rows[doubtful]])
        # A contact at neither end may not exist: then the first one is later, at any time in the interval.
        brief = rows[(enter > 0) & (solved.contacts.leave[rows] < 1)]
        begin, step = solved.begin[brief], (solved.end - solved.begin)[brief]
        solved.uncertainty[brief] = (self.end[solved.rows[brief]] - begin) / step
        return is_open

    def split(self, solved: Pieces, is_open: Bools) -> Generator[float, None, Pieces | None]:
        """End the round: split its open rows (m,). Returns the next round; None for none.

        Yields the part of the work that is done. Whole intervals of sampled motion are not split, but solved
        again: samples around them show better how their shapes move.
        """
        is_split = is_open & (self.is_certain | self._is_opened)[solved.rows]
        touching = ~is_open & solved.is_touching
        np.minimum.at(self._first_contact, solved.rows[touching], solved.begin[touching])
        np.add.at(self._samples, solved.rows[is_split], 1)
        solved = solved.take(is_open)
        begin, end, pair = solved.begin, solved.end, solved.rows
        if not len(pair):
            return None
        positions = split_positions(solved.contacts, solved.uncertainty, solved.is_timed)
        cuts = begin[:, None] + (end - begin)[:, None] * positions
        jumps = next_jumps(self._motion, self._movers[:, pair], begin, end)
        shared = np.flatnonzero(~self.is_certain[pair])
        if len(shared):
            cuts[shared] = np.nan
            sharing = self._share_cuts(solved, shared, cuts, jumps)
            yield from scaled(sharing, 0.0, _SHARING)
        has_jump = jumps < end
        cuts[has_jump] = np.nan
        cuts[has_jump, 0] = jumps[has_jump]
        costs = self._motion.costs[self._movers[:, pair]].mean(axis=0)
        chunks = chunks_by_cost(costs, _SPLIT_AT_ONCE)
        parts: list[tuple[Pieces, Ints]] = []
        for chunk in chunks:
            done = len(parts) / len(chunks)
            yield _SHARING + (1 - _SHARING) * done if len(shared) else done
            parts.append(self._split(solved.take(chunk), cuts[chunk], has_jump[chunk]))
        every = parts[0][0]
        if len(parts) > 1:
            # The first parts of all rows, then the second ones, and so on.
            order = np.argsort(np.concatenate([place for _, place in parts]), kind="stable")
            every = Pieces.concatenate([part for part, _ in parts]).take(order)
        return every if self.is_certain[every.rows].all() else self._at_jumps(every)

    def _share_cuts(
        self, solved: Pieces, shared: Ints, cuts: Floats, jumps: Floats
    ) -> Generator[float, None, None]:
        """Choose one time for all sampled pairs that are open in a part, and sample them; fills `cuts`.

        Yields before each sample.

        solved : rows to split (r,)
        shared : those of them (s,) of sampled motion
        cuts, jumps : (r, 3) and (r,) of all rows
        """
        motion = self._motion
        assert isinstance(motion, SampledMotion), "other motions are certain"
        begin = solved.begin[shared]
        order = np.argsort(begin, kind="stable")
        begins, starts = np.unique(begin[order], return_index=True)
        for number, (first, members) in enumerate(
            zip(begins.tolist(), np.split(shared[order], starts[1:]), strict=True)
        ):
            pair = solved.rows[members]
            movers = self.candidates.pairs[pair].ravel()
            if not self._is_opened[pair[0]]:
                motion.open_interval(first, movers)
                self._is_opened[pair] = True
                jumps[members] = np.inf
                continue
            yield number / len(begins)
            last = float(solved.end[members[0]])
            begin, end = solved.begin[members], solved.end[members]
            jump = float(jumps[members].min())
            if jump < last:
                middle = jump
            elif (solved.may_jump[members] | self._ends_at_limit(pair, begin, end)).any():
                # Most jumps are at whole frames: next to the end if that is a frame, else halves.
                middle = last - _JUST_BEFORE
                is_frame = last == self.end[pair[0]]
                if not (is_frame and middle - first > last - middle):
                    middle = (first + last) / 2
            else:
                middle = first + (last - first) * _shared_position(solved.take(members))
            jumps[members] = np.where(jumps[members] == middle, middle, np.inf)
            cuts[members, 0] = middle
            sampled = movers[~motion.is_certain[movers]]
            motion.at(sampled[:1], np.array([middle]))

    def _split(self, solved: Pieces, cuts: Floats, has_jump: Bools) -> tuple[Pieces, Ints]:
        """Parts (p,) of intervals (r,), and the place (p,) of each part within its interval.

        cuts : (r, c) increasing times at which they are split; NaN for none
        has_jump : (r,) whether a shape jumps at the first
        """
        begin, end, pair = solved.begin, solved.end, solved.rows
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
        motion = self._motion_of_parts(
            solved.motion, pair[of_cut], time, has_jump[of_cut], row, (before, after)
        )
        pair = pair[row]
        movers = self._movers[:, pair]
        times = (np.tile(side, len(movers)) for side in (begin, end))
        deviation, may_jump = self._motion.bound(movers.ravel(), *times)
        split = Pieces.unsolved(
            pair,
            motion,
            np.minimum(deviation, LARGEST_LENGTH).reshape(movers.shape).sum(axis=0),
            np.asarray(may_jump.reshape(movers.shape).any(axis=0)),
            begin,
            end,
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
        movers = self._movers[:, pair]
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
        return PairMotion(*shapes)

    def _at_jumps(self, intervals: Pieces) -> Pieces:
        """Put pairs at rest that jump within a part too short to be split: a jump passes through nothing.

        They are put at the nearer end, but at the begin where the end is a limit that is not shown.
        """
        deviation, pair = intervals.deviation, intervals.rows
        # What is too fast to be known in the shortest parts jumps, too.
        is_jump = (intervals.may_jump | (deviation > self._depth_tolerance[pair])) & ~self._can_split(
            intervals
        )
        rows = np.flatnonzero(is_jump & ~self.is_certain[pair])
        if not len(rows):
            return intervals
        # Where one shape is known to jump at the end, the other one may be after its own jump there.
        is_limit = self._ends_at_limit(pair[rows], intervals.begin[rows], intervals.end[rows])
        ends = intervals.motion.take(rows).separation_at(np.array([[0.0], [1.0]]) + np.zeros(len(rows)))
        is_after = np.asarray((ends[1] < ends[0]) & ~is_limit)
        deviation, rest, farther = (
            column.copy() for column in (deviation, intervals.rest, intervals.farther)
        )
        deviation[rows], rest[rows], farther[rows] = 0.0, is_after, ends.max(axis=0)
        shapes: list[Any] = []
        a0, a1, b0, b1 = intervals.motion
        pairs: Any = ((a0, a1), (b0, b1))
        for start, end in pairs:
            shapes += (where_shapes(rest == 1, end, start), where_shapes(rest == 0, start, end))
        motion = PairMotion(*shapes)
        return intervals.replaced(motion=motion, deviation=deviation, rest=rest, farther=farther)


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


def _shared_position(solved: Pieces) -> float:
    """Position in [0, 1] at which to split a part: near the first contact of its open rows, else 0.5."""
    contacts, is_timed = solved.contacts, solved.is_timed
    enter = np.where(~solved.is_touching | (contacts.enter == 0) | is_timed, np.inf, contacts.enter)
    row = int(enter.argmin())
    first, second, third = split_positions(contacts.take([row]), solved.uncertainty[[row]], is_timed[[row]])[
        0
    ].tolist()
    # Of quarters, the middle.
    many = np.isfinite(enter).sum() > _MANY_CONTACTS
    return 0.5 if many else (first if np.isnan(third) else second)
