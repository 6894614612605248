"""What a contact scan remembers about each pair it came across: one row a pair, filled interval by interval.

All updates are array operations over what was found in some intervals. Memory grows with the number of pairs
that came near each other and with their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints

_ROUNDING = 1e-12


class Candidates(NamedTuple):
    """Pairs (m, 2) of shapes that may meet, and what is known of each, (m,).

    keys : what the history calls them
    size : of the smaller of both
    least : the least separation so far, inf for those not come across
    known : whether they have touched
    """

    pairs: Ints
    keys: Ints
    size: Floats
    least: Floats
    known: Bools

    def picked(self, rows: object) -> Candidates:
        """Some of the pairs."""
        return Candidates(*(values[rows] for values in self))  # type: ignore[call-overload]

    def news(self, clearance: float = 0.0) -> Floats:
        """(m,) A separation as large as this need not be known, unless it is within a larger clearance.

        One before was less, or it is too large for a near miss.
        """
        return np.minimum(self.least, np.maximum(self.size, clearance) * (1 + _ROUNDING))


class Findings(NamedTuple):
    """What pairs did, a row for each interval of each: all (m,), times in frames; point and normal (m, 3).

    enter, leave are NaN where there was no contact. Spans of one pair that share an end are one contact. From
    `uncertainty` on, what describes a contact, should it be the pair's first.
    """

    keys: Ints
    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    adaptive: Bools

    @classmethod
    def going_on(cls, keys: Ints, enter: Floats, leave: Floats | float) -> Findings:
        """Contacts that are not the first of their pairs."""
        return cls._plain(
            keys, enter, np.broadcast_to(leave, enter.shape), np.full(enter.shape, np.inf), enter
        )

    @classmethod
    def separations(cls, keys: Ints, least: Floats, least_time: Floats) -> Findings:
        """Separations, and no contacts."""
        nothing = np.full(least.shape, np.nan)
        return cls._plain(keys, nothing, nothing, least, least_time)

    @classmethod
    def none(cls) -> Findings:
        """No rows."""
        return cls.separations(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @classmethod
    def _plain(cls, keys: Ints, enter: Floats, leave: Floats, least: Floats, least_time: Floats) -> Findings:
        nothing, nowhere = np.full(keys.shape, np.nan), np.broadcast_to(np.nan, (len(keys), 3))
        no = np.zeros(keys.shape, dtype=bool)
        return cls(keys, enter, leave, least, least_time, nothing, nowhere, nowhere, no)

    def picked(self, rows: object) -> Findings:
        """Some of the rows."""
        return Findings(*(values[rows] for values in self))  # type: ignore[call-overload]

    @classmethod
    def joined(cls, parts: Sequence[Findings]) -> Findings:
        """All rows of all."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Spans(NamedTuple):
    """Stretches of time in contact: whose, (m,), from when and until when."""

    keys: Ints
    enter: Floats
    leave: Floats

    def picked(self, rows: object) -> Spans:
        """Some of them."""
        return Spans(*(values[rows] for values in self))  # type: ignore[call-overload]


class PairHistory:
    """What is known of pairs, growing by a key of the caller's, a whole number.

    keys : (m,) pairs come across so far
    least, least_time : (m,) least separation so far, and when
    touched : (m,) whether they have had a contact
    """

    def __init__(self) -> None:
        self.keys = np.empty(0, dtype=np.int64)
        self.least, self.least_time = np.empty(0), np.empty(0)
        self.touched = np.empty(0, dtype=bool)
        self._firsts: list[Findings] = []
        self._closed: list[Spans] = []
        self._open = Spans(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @property
    def going_on(self) -> tuple[Ints, Floats]:
        """Keys (k,) of contacts that reached up to what was noted last, and when they began."""
        return self._open.keys, self._open.enter

    def note(self, found: Findings, until: float) -> None:
        """Take in what pairs did up to the time `until`."""
        rows = self._find(found.keys)
        less = np.flatnonzero(found.least < self.least[rows])
        less = less[np.lexsort((found.least_time[less], found.least[less], rows[less]))]
        less = less[_starts(rows[less])]
        self.least[rows[less]], self.least_time[rows[less]] = found.least[less], found.least_time[less]

        hit = np.flatnonzero(~np.isnan(found.enter))
        self._join(found.keys[hit], found.enter[hit], found.leave[hit], until)
        new = hit[~self.touched[rows[hit]]]
        new = new[np.lexsort((found.enter[new], rows[new]))]
        new = new[_starts(rows[new])]
        self.touched[rows[new]] = True
        if len(new):
            self._firsts.append(found.picked(new))

    def known(self, keys: Ints) -> tuple[Floats, Bools]:
        """Of pairs (m,) the least separation so far, inf for those not come across; whether they touched."""
        if not len(self.keys):
            return np.full(len(keys), np.inf), np.zeros(len(keys), dtype=bool)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        come_across = self.keys[place] == keys
        return np.where(come_across, self.least[place], np.inf), come_across & self.touched[place]

    def finish(self) -> tuple[Findings, Spans]:
        """End the contacts that are still going on; first ones by key, and all by key, then time."""
        firsts = Findings.joined([Findings.none(), *self._firsts])
        spans = Spans(*map(np.concatenate, zip(*self._closed, self._open, strict=True)))
        order = np.lexsort((spans.enter, spans.keys))
        return firsts.picked(firsts.keys.argsort()), spans.picked(order)

    def _find(self, keys: Ints) -> Ints:
        """Row numbers of keys; new keys get new rows."""
        wanted = np.sort(keys)
        wanted = wanted[_starts(wanted)]
        place = np.searchsorted(self.keys, wanted)
        new = np.ones(len(wanted), dtype=bool)
        within = place < len(self.keys)
        new[within] = self.keys[place[within]] != wanted[within]
        if new.any():
            place = place[new]
            self.keys = np.insert(self.keys, place, wanted[new])
            self.least = np.insert(self.least, place, np.inf)
            self.least_time = np.insert(self.least_time, place, 0.0)
            self.touched = np.insert(self.touched, place, False)
        return np.searchsorted(self.keys, keys).astype(np.int64)

    def _join(self, keys: Ints, enter: Floats, leave: Floats, until: float) -> None:
        """Join spans with each other and with the contacts that were going on."""
        was_open = self._open
        keys = np.concatenate([was_open[0], keys])
        enter, leave = np.concatenate([was_open[1], enter]), np.concatenate([was_open[2], leave])
        order = np.lexsort((enter, keys))
        keys, enter, leave = keys[order], enter[order], leave[order]
        # The latest end so far of each pair: as ranks by pair, then end, no pair's carries over to the next.
        by_end = np.lexsort((leave, keys))
        ranks = np.empty(len(keys), dtype=np.int64)
        ranks[by_end] = np.arange(len(keys))
        latest = leave[by_end[np.maximum.accumulate(ranks)]] if len(keys) else leave
        begins = np.ones(len(keys), dtype=bool)
        begins[1:] = (keys[1:] != keys[:-1]) | (enter[1:] > latest[:-1])
        starts = np.flatnonzero(begins)
        last = np.append(starts[1:], len(keys)) - 1
        spans = Spans(keys[starts], enter[starts], latest[last] if len(keys) else latest)
        over = spans.leave < until
        if over.any():
            self._closed.append(spans.picked(over))
        self._open = spans.picked(~over)


def _starts(values: Ints) -> Bools:
    """Which of sorted values are not the same as the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts
