"""Least separations of contacts, within which later rounds of a subdivision may find gaps."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from ..interval.pair_motion import IntervalContacts
from ..numeric.arrays import Bools, Floats, Ints
from ..numeric.spans import CutLines, span_runs
from ..progress import ContactMotion

MOTIONS: tuple[ContactMotion, ...] = get_args(ContactMotion)
LINEAR, SAMPLED, PROVEN = range(3)
"""Indices of `MOTIONS`."""


def time_within(begin: Floats, end: Floats, part: Floats) -> Floats:
    """Interpolate times (m,) in frames at `part` (m,) in [0, 1] of intervals, exact at both ends."""
    return np.where(part == 1, end, begin + part * (end - begin))


class ContactLeast:
    """Least separations so far, of pairs of subjects and of each of their contacts.

    Candidates of one subdivision (m,) are pairs in whole intervals. What lasts over several intervals has one
    run, from the contacts of the first round: several contacts, if later rounds find gaps.
    """

    def __init__(self, pair_of: Ints, begin: Floats, end: Floats, open_least: Floats, start: float) -> None:
        """Start without separations.

        pair_of : (m,) int. Number of the pair of subjects of each candidate.
        begin, end : (m,) float. Intervals of the candidates.
        open_least : (m,) float. Least separation within the contact that lasts until the block, which begins
            at `start`; inf for pairs without one.
        """
        self._pair_of, self._begin, self._end = pair_of, begin, end
        self._open_least, self._start = open_least, start
        self.of_pair = np.full(len(pair_of), np.inf)
        # Contacts that last over several intervals: the least separation of each, before this block too.
        self._run_of: Ints | None = None
        self._open_least_of_run = np.full(len(pair_of), np.inf)
        # Contacts end where later rounds find a gap. In each round, they may end where rows are open.
        self._gaps, self._doubts = CutLines(), CutLines()
        # Runs, times and least separations of settled pieces of contacts.
        self._pieces: list[Any] = [np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)]

    def find_gaps(
        self,
        pair: Ints,
        begin: Floats,
        end: Floats,
        contacts: IntervalContacts,
        is_settled: Bools,
        has_parts: bool,
    ) -> None:
        """Note where contacts of a round's pairs begin and end, and where they may be interrupted.

        Not of pairs of several parts: while one pair of parts is apart, another may touch.

        pair, begin, end : (m,) of the rows of the round
        is_settled : (m,) rows whose times are known
        """
        has_contact = np.zeros(len(self.of_pair), dtype=bool)
        has_contact[pair[~np.isnan(contacts.enter)]] = True
        has_contact[self._pair_of[self._pieces[0]]] = True
        self._doubts = CutLines()
        if has_parts or not has_contact.any():
            return
        is_wanted, middle = has_contact[pair], (begin + end) / 2
        enter, leave = (time_within(begin, end, part) for part in (contacts.enter, contacts.leave))
        is_known = is_wanted & is_settled
        apart, begins = is_known & np.isnan(contacts.enter), is_known & (contacts.enter > 0)
        ends, is_open = is_known & (contacts.leave < 1), is_wanted & ~is_settled
        self._gaps.cut_before(np.append(pair[apart], pair[begins]), np.append(middle[apart], enter[begins]))
        self._gaps.cut_after(pair[ends], leave[ends])
        self._doubts.cut_before(pair[is_open], middle[is_open])

    def of_contacts(self, run: Ints, time: Floats, least: Floats) -> Floats:
        """Least separations (t,) of the contacts that pieces (t,) of runs are part of, with what is kept."""
        is_current = np.isin(self._pieces[0], run)
        runs, times, values = (
            np.append(kept[is_current], new)
            for kept, new in zip(self._pieces, (run, time, least), strict=True)
        )
        _, contact = np.unique(self.contact_numbers(runs, times), return_inverse=True)
        of_contact = np.full(len(values), np.inf)
        np.minimum.at(of_contact, contact, np.minimum(values, self.open_least(runs, times)))
        return np.asarray(of_contact[contact[len(contact) - len(run) :]])

    def contact_numbers(self, run: Ints, time: Floats) -> Ints:
        """Numbers (t,) of the contacts that pieces of runs (t,) at times (t,) are part of."""
        piece = self._pieces_between(run, time)
        return np.asarray(run * (int(piece.max(initial=0)) + 1) + piece)

    def _pieces_between(self, run: Ints, time: Floats) -> Ints:
        """Numbers (t,) that are equal for times of one run between which no gap is known or possible."""
        pair = self._pair_of[run]
        return self._gaps.pieces(pair, time) + self._doubts.pieces(pair, time)

    def open_least(self, run: Ints, time: Floats) -> Floats:
        """Least separations (t,) before the block, of contacts that last since then; inf for others."""
        least = self._open_least_of_run[run]
        rows = np.flatnonzero(least < np.inf)
        if len(rows):
            start = np.full(len(rows), self._start)
            is_same = self._pieces_between(run[rows], time[rows]) == self._pieces_between(run[rows], start)
            least[rows[~is_same]] = np.inf
        return np.asarray(least)

    def runs(self, contacts: IntervalContacts) -> Ints:
        """Numbers (m,) of the contacts that candidates have in their intervals.

        What lasts over several intervals has one number, from the contacts of the first round: several
        contacts, if later rounds find gaps.
        """
        if self._run_of is not None:
            return self._run_of
        self._run_of = np.arange(len(self._pair_of))
        touching = np.flatnonzero(~np.isnan(contacts.enter))
        enter, leave = (
            time_within(self._begin, self._end, part)[touching] for part in (contacts.enter, contacts.leave)
        )
        order, begins, _ = span_runs(self._pair_of[touching], enter, leave)
        first = touching[order[begins]]
        self._run_of[touching[order]] = first[np.cumsum(begins) - 1]
        continued = first[enter[order[begins]] == self._start]
        self._open_least_of_run[continued] = self._open_least[continued]
        return self._run_of

    def keep(self, pieces: tuple[Ints, Floats, Floats], is_kept: Bools) -> None:
        """Keep settled pieces of contacts: of those (t,) of a mask, runs, times and least separations."""
        self._pieces = [np.append(old, new[is_kept]) for old, new in zip(self._pieces, pieces, strict=True)]
