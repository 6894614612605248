"""Rounds of a subdivision: pairs in intervals, what linear motion decides of them, and least separations.

The least separation matters of each contact. Later rounds may find gaps within what was one contact. So there
are spans on many lines, one for each pair: their unions, which spans these cover, and positions between cuts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from ..interval.dispatch import with_minimum_separation
from ..interval.pair_motion import IntervalContacts, PairMotion, rotation_sagitta
from ..motion.samples import FIRST_TOLERANCE
from ..numeric.arrays import Bools, Floats, Ints, Table
from ..progress import ContactMotion

MOTIONS: tuple[ContactMotion, ...] = get_args(ContactMotion)
LINEAR, SAMPLED, PROVEN = range(3)
"""Indices of `MOTIONS`."""
LATER_TOLERANCE = 5e-3
"""Frames by which ends of contacts may be off, and further contacts of a pair."""
TURN = 10.0
"""Multiple of `GRAZE` for gaps within a contact of shapes that turn: a thousandth of the size."""


class Pieces(Table):
    """Candidate pairs in intervals or parts of these, and what linear motion decides of them.

    rows : (m,) int. Rows of the pairs among the candidates.
    motion : PairMotion, batch (m,). Linear motion over the interval.
    deviation : (m,) float. Deviation of both shapes together from that motion; NaN for unknown.
    may_jump : (m,) bool. Pairs of which a shape may jump in the interval, at a time that is not known.
    begin, end : (m,) float. Times of the interval in frames.
    rest, farther : (m,) float. Of pairs that jump within parts too short to be split: the end, 0 or 1, at
        which their motion is at rest, and the separation at the other one; NaN for other pairs.
    contacts : IntervalContacts, (m,). In linear motion; NaN until that is solved, as all that follows.
    is_settled : (m,) bool. Whether the linear motion decides the pair.
    is_timed : (m,) bool. Whether it decides the times of contact, but maybe not the depth.
    uncertainty : (m,) float. Part of the interval by which the time of contact may be off.
    """

    rows: Ints
    motion: PairMotion
    deviation: Floats
    may_jump: Bools
    begin: Floats
    end: Floats
    rest: Floats
    farther: Floats
    contacts: IntervalContacts
    is_settled: Bools
    is_timed: Bools
    uncertainty: Floats

    @classmethod
    def unsolved(
        cls, rows: Ints, motion: PairMotion, deviation: Floats, may_jump: Bools, begin: Floats, end: Floats
    ) -> Pieces:
        """Pieces (m,) of which only the motion is known."""
        rest, farther, *contacts = np.full((10, len(rows)), np.nan)
        solved = IntervalContacts(*contacts), *np.zeros((2, len(rows)), dtype=bool), np.zeros(len(rows))
        return cls(rows, motion, deviation, may_jump, begin, end, rest, farther, *solved)

    @property
    def is_touching(self) -> Bools:
        """Mask (m,) of pairs with a contact."""
        return ~np.isnan(self.contacts.enter)

    def times(self, part: Floats) -> Floats:
        """Interpolate times (m,) in frames at `part` (m,) in [0, 1] of the intervals, exact at both ends."""
        return np.where(part == 1, self.end, self.begin + part * (self.end - self.begin))


def assess_pairs(solved: Pieces, graze: Floats, clearance: float, has_contact_before: Bools) -> None:
    """Decide which pairs (m,) are settled by their linear motion, and which must be subdivided.

    graze : (m,) deviation that does not decide between a graze and a near miss
    has_contact_before : (m,) whether the pair is known to be in contact before the interval
    """
    contacts, deviation, is_touching = solved.contacts, solved.deviation, solved.is_touching
    is_apart = ~is_touching & ((contacts.low - deviation > clearance) | (deviation <= graze))
    is_within = (contacts.high + deviation <= clearance) & (contacts.enter == 0) & (contacts.leave == 1)
    is_settled = is_apart | is_within | (deviation == 0)
    rows = np.flatnonzero(is_touching & ~is_settled)
    if len(rows):
        tolerance = np.where(
            has_contact_before[rows] | (contacts.enter[rows] == 0), LATER_TOLERANCE, FIRST_TOLERANCE
        )
        is_settled[rows], solved.uncertainty[rows] = _assess_times(
            solved.take(rows), graze[rows], clearance, tolerance
        )
    solved.is_timed[:] = is_settled
    # Shapes that turn may part and touch again within a span that linear motion gives as one.
    turning = np.flatnonzero(is_touching & is_settled & ~is_within)
    a0, a1, b0, b1 = solved.motion.take(turning)
    sagitta = rotation_sagitta(a0, a1) + rotation_sagitta(b0, b1)
    is_settled[turning] = sagitta <= TURN * graze[turning]
    solved.is_settled[:] = is_settled


def _assess_times(solved: Pieces, graze: Floats, clearance: float, tolerance: Floats) -> tuple[Bools, Floats]:
    """Decide whether linear motion gives the times of contacts (r,) well enough.

    Also returns the part of the interval (r,) by which the begin may be off. graze, tolerance : (r,)
    """
    motion, deviation, contacts = solved.motion, solved.deviation, solved.contacts
    enter, leave = contacts.enter, contacts.leave
    # As long as pairs take to cover the deviation, at the speed at which they come closer. A contact that
    # reaches an end of the interval is timed by the neighboring interval.
    back = PairMotion(motion.a_end, motion.a_start, motion.b_end, motion.b_start)
    enter_error = _time_errors(motion, enter, contacts.closing, deviation)
    leave_error = _time_errors(back, 1 - leave, contacts.parting, deviation)
    step, is_fine = solved.end - solved.begin, deviation <= graze
    is_in_time = (enter_error * step <= tolerance) & (leave_error * step <= LATER_TOLERANCE)
    # Overlap at both ends does not exclude a gap in between.
    is_settled = np.where((enter == 0) & (leave == 1), is_fine, is_in_time)
    # A contact at neither end may not exist if the deviation exceeds its depth, however fast it is.
    brief = np.flatnonzero(is_settled & (enter > 0) & (leave < 1) & ~is_fine)
    if len(brief):
        no_cutoff = np.full(len(enter), np.inf)
        least = with_minimum_separation(motion, contacts, brief, no_cutoff, np.arange(len(enter))).least
        is_settled[brief] = least[brief] + deviation[brief] <= clearance
    return is_settled, np.minimum(enter_error, 1.0)


def _time_errors(motion: PairMotion, time: Floats, speed: Floats, deviation: Floats) -> Floats:
    """Parts (r,) of the interval that pairs take to cover deviations (r,) before contacts at times (r,).

    0 for contacts at the start. speed : (r,) at which pairs come closer; NaN for unknown.
    """
    error, rows = np.zeros(len(time)), np.flatnonzero(time > 0)
    speed = speed.copy()
    unknown = rows[np.isnan(speed[rows])]
    if len(unknown):
        speed[unknown] = motion.take(unknown).closing_speed(time[unknown])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = deviation[rows] / speed[rows]
    error[rows] = np.where(found >= 0, found, np.inf)
    return error


class ContactLeast:
    """Least separations so far, of pairs of subjects and of each of their contacts.

    Candidates of one subdivision (m,) are pairs in whole intervals. What lasts over several intervals has one
    run, from the contacts of the first round: several contacts, if later rounds find gaps.
    """

    def __init__(self, pair_of: Ints, open_least: Floats, start: float, has_parts: bool) -> None:
        """Start without separations.

        pair_of : (m,) int. Number of the pair of subjects of each candidate.
        open_least : (m,) float. Least separation within the contact that lasts until the block, which begins
            at `start`; inf for pairs without one.
        has_parts : Whether several candidates are of one pair of subjects in one interval.
        """
        self._pair_of, self._open_least = pair_of, open_least
        self._start, self._has_parts = start, has_parts
        self._of_pair = np.full(len(pair_of), np.inf)
        # Of the candidates, once the first round is solved, and of each run, before this block too.
        self._run_of: Ints | None = None
        self._open_least_of_run = np.full(len(pair_of), np.inf)
        # Contacts end where later rounds find a gap. In each round, they may end where rows are open.
        self._gaps, self._doubts = CutLines(), CutLines()
        # Runs, times and least separations of pieces of contacts: those that are settled, and of this round.
        nothing = np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
        self._pieces: tuple[Any, ...] = nothing
        self._new: tuple[Any, ...] = nothing

    def known(self, solved: Pieces, at_most: Floats, cutoff: Floats) -> tuple[Floats, Ints]:
        """Least separations (m,) so far of the pairs of a round, and of the contacts of those that touch.

        Also returns the rows (t,) that touch. Those that are open may be the gap between two contacts.

        at_most : (m,) separations that pairs reach for certain
        cutoff : (m,) of pairs without contact, separations at or above this do not matter
        """
        pair, contacts = self._pair_of[solved.rows], solved.contacts
        has_contact = np.zeros(len(self._of_pair), dtype=bool)
        has_contact[pair[solved.is_touching]] = True
        has_contact[self._pair_of[self._pieces[0]]] = True
        self._doubts = CutLines()
        # Not of pairs of several parts: while one pair of parts is apart, another may touch.
        if has_contact.any() and not self._has_parts:
            is_known, middle = has_contact[pair] & solved.is_settled, (solved.begin + solved.end) / 2
            for is_cut, positions, is_before in (
                (is_known & ~solved.is_touching, middle, True),
                (is_known & (contacts.enter > 0), solved.times(contacts.enter), True),
                (is_known & (contacts.leave < 1), solved.times(contacts.leave), False),
            ):
                self._gaps.cut(pair[is_cut], positions[is_cut], is_before)
            is_open = has_contact[pair] & ~solved.is_settled
            self._doubts.cut(pair[is_open], middle[is_open], is_before=True)
        np.minimum.at(self._of_pair, pair, at_most)
        least = np.minimum(self._of_pair[pair], cutoff)
        touching = np.flatnonzero(solved.is_touching & (solved.is_settled | self._has_parts))
        self._new = *self._runs(solved, touching), at_most[touching]
        if len(touching):
            is_current = np.isin(self._pieces[0], self._new[0])
            run, time, values = (
                np.append(kept[is_current], new) for kept, new in zip(self._pieces, self._new, strict=True)
            )
            numbers, before = self._contacts(run, time)
            _, contact = np.unique(numbers, return_inverse=True)
            of_contact = np.full(len(values), np.inf)
            np.minimum.at(of_contact, contact, np.minimum(values, before))
            least[touching] = of_contact[contact[len(contact) - len(touching) :]]
        return least, touching

    def keep(self, is_kept: Bools) -> None:
        """Keep the pieces (t,) of this round that are settled."""
        self._pieces = tuple(
            np.append(old, new[is_kept]) for old, new in zip(self._pieces, self._new, strict=True)
        )

    def to_search(self, solved: Pieces, cutoff: Floats) -> tuple[Floats, Ints]:
        """Cutoffs (m,) of pieces for `with_minimum_separation`, and keys (m,) of pairs or of contacts.

        The gap of a pair that touches does not matter, and each of its contacts has a least separation.
        """
        touching, keys = np.flatnonzero(solved.is_touching), self._pair_of[solved.rows]
        if not len(touching):
            return cutoff, keys
        has_contact = np.zeros(len(self._of_pair), dtype=bool)
        has_contact[keys[touching]] = True
        cutoff = np.where(has_contact[keys], -np.inf, cutoff)
        numbers, cutoff[touching] = self._contacts(*self._runs(solved, touching))
        keys[touching] = len(self._of_pair) + numbers
        return cutoff, keys

    def _contacts(self, run: Ints, time: Floats) -> tuple[Ints, Floats]:
        """Numbers (t,) of the contacts that pieces of runs (t,) at times (t,) are part of.

        Also returns their least separations (t,) before the block, if they last since then; inf for others.
        """
        least = self._open_least_of_run[run]
        rows = np.flatnonzero(least < np.inf)
        # Of one run, also at the begin of the block: equal between gaps that are known or possible.
        pair = self._pair_of[np.append(run, run[rows])]
        times = np.append(time, np.full(len(rows), self._start))
        part = self._gaps.pieces(pair, times) + self._doubts.pieces(pair, times)
        part, at_begin = part[: len(run)], part[len(run) :]
        least[rows[part[rows] != at_begin]] = np.inf
        return run * (int(part.max(initial=0)) + 1) + part, least

    def _runs(self, solved: Pieces, touching: Ints) -> tuple[Ints, Floats]:
        """Return the runs (t,) of rows that touch (t,), and times (t,) in the middle of their contacts."""
        contacts = solved.contacts
        if self._run_of is None:
            self._run_of = np.arange(len(self._pair_of))
            touches = solved.is_touching
            rows = solved.rows[touches]
            enter, leave = (solved.times(part)[touches] for part in (contacts.enter, contacts.leave))
            order, begins, _ = span_runs(self._pair_of[rows], enter, leave)
            first = rows[order[begins]]
            self._run_of[rows[order]] = first[np.cumsum(begins) - 1]
            continued = first[enter[order[begins]] == self._start]
            self._open_least_of_run[continued] = self._open_least[continued]
        middle = solved.times((contacts.enter + contacts.leave) / 2)
        return self._run_of[solved.rows[touching]], middle[touching]


class Spans(Table):
    """Closed spans (m,), each on the line with its number; `end` is not before `start`."""

    line: Ints
    start: Floats
    end: Floats

    def union(self) -> Spans:
        """Join spans that overlap or touch. In order of lines, and of starts on each."""
        order, begins, latest = span_runs(self.line, self.start, self.end)
        firsts, is_last = order[begins], np.append(begins, True)[1:]
        return Spans(self.line[firsts], self.start[firsts], latest[is_last])

    def cover(self, spans: Spans) -> Bools:
        """Mask (k,) of other spans (k,) that lie within one of these, which `union` has put in order."""
        if not len(self.line):
            return np.zeros(len(spans.line), dtype=bool)
        before_starts = CutLines(self.line, np.nextafter(self.start, -np.inf))
        found = before_starts.pieces(spans.line, spans.start) - 1
        last = np.maximum(found, 0)
        is_on_line = (found >= 0) & (self.line[last] == spans.line)
        return np.asarray(is_on_line & (spans.end <= self.end[last]))


def span_runs(line: Ints, start: Floats, end: Floats) -> tuple[Ints, Bools, Floats]:
    """Find the runs of spans (m,) that overlap or share an end.

    Returns order : (m,) int. Spans by line and start; of those that start together, instants come first.
    Returns begins : (m,) bool. Which of the spans in that order begin a run.
    Returns latest : (m,) float. Latest end so far of the spans of the line in that order.
    """
    order = np.lexsort((end > start, start, line))
    line, start, end = line[order], start[order], end[order]
    # Running maximum of the ends, as ranks by line, then end: so none carries over to the next line.
    by_end = np.lexsort((end, line))
    ranks = np.empty(len(line), dtype=np.int64)
    ranks[by_end] = np.arange(len(line))
    latest = end[by_end[np.maximum.accumulate(ranks)]] if len(line) else end
    begins = np.ones(len(line), dtype=bool)
    begins[1:] = (line[1:] != line[:-1]) | (start[1:] > latest[:-1])
    return order, begins, latest


@dataclass
class CutLines:
    """Lines with numbers, which are cut at positions: to find out what is between the same cuts.

    line, position : (k,) of all cuts, in order; just after the position.
    """

    line: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    position: Floats = field(default_factory=lambda: np.empty(0))

    def cut(self, lines: Ints, positions: Floats, is_before: bool = False) -> None:
        """Cut lines (m,) just after positions (m,), or just before them."""
        if is_before:
            positions = np.nextafter(positions, -np.inf)
        line, position = np.append(self.line, lines), np.append(self.position, positions)
        order = np.lexsort((position, line))
        self.line, self.position = line[order], position[order]

    def pieces(self, lines: Ints, positions: Floats) -> Ints:
        """Count the cuts before positions (m,) of lines (m,), on lines before too: equal within a piece.

        Positions on different lines may have equal numbers.
        """
        # Search the line and the position together: by their ranks among all.
        every, ranks = np.unique(np.concatenate([self.position, positions]), return_inverse=True)
        keys = np.concatenate([self.line, lines]) * len(every) + ranks
        return np.asarray(np.searchsorted(keys[: len(self.line)], keys[len(self.line) :]))
