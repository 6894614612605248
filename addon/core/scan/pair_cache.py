"""Records of pairs in intervals, and the cache of what is known of each pair so far.

The cache has one row for each pair of subjects that came near each other, updated block by block with array
operations. Memory grows with these pairs and their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np

from ..interval.pair_motion import IntervalContacts
from ..numeric.arrays import Bools, Floats, Ints
from ..progress import ContactMotion

MOTIONS: tuple[ContactMotion, ...] = get_args(ContactMotion)
LINEAR, SAMPLED, PROVEN = range(3)
"""Indices of `MOTIONS`."""


class IntervalRecords(NamedTuple):
    """Contacts and separations of pairs, one row for each pair and interval; times in frames.

    Spans of one pair that share an end are one contact. The fields from `uncertainty` on describe a contact,
    and count only if it is the pair's first.

    Attributes
    ----------
    keys : (m,) int
        Keys of the pairs.
    enter, leave : (m,) float
        Begin and end of the contact; NaN for none.
    least, least_time : (m,) float
        Least separation and its time.
    uncertainty : (m,) float
        Frames by which `enter` may be off.
    point, normal : (m, 3) float
        Contact point, and unit normal from the first to the second shape; NaN where not described.
    motion : (m,) int
        Motion from which the contact follows, an index of `MOTIONS`.
    """

    keys: Ints
    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    motion: Ints

    @classmethod
    def from_contacts(
        cls,
        keys: Ints,
        contacts: IntervalContacts,
        begin: Floats,
        end: Floats,
        uncertainty: Floats,
        motion: Ints,
    ) -> IntervalRecords:
        """Convert contacts (m,) in intervals from `begin` to `end` (m,) to frames; not yet described."""
        return cls(
            keys,
            _time_within(begin, end, contacts.enter),
            _time_within(begin, end, contacts.leave),
            contacts.least,
            _time_within(begin, end, contacts.least_time),
            uncertainty,
            np.full((len(keys), 3), np.nan),
            np.full((len(keys), 3), np.nan),
            motion,
        )

    @classmethod
    def from_continued_contacts(cls, keys: Ints, enter: Floats, leave: Floats | float) -> IntervalRecords:
        """Contacts (m,) that are not the first of their pairs."""
        leave, least = np.broadcast_to(leave, enter.shape), np.full(enter.shape, np.inf)
        return cls._without_description(keys, enter, leave, least, enter)

    @classmethod
    def from_separations(cls, keys: Ints, least: Floats, least_time: Floats) -> IntervalRecords:
        """Separations (m,) without contacts."""
        never = np.full(least.shape, np.nan)
        return cls._without_description(keys, never, never, least, least_time)

    @classmethod
    def empty(cls) -> IntervalRecords:
        """No rows."""
        return cls.from_separations(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @classmethod
    def concatenate(cls, parts: Sequence[IntervalRecords]) -> IntervalRecords:
        """All rows of all parts, at least one, in order."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    @classmethod
    def _without_description(
        cls, keys: Ints, enter: Floats, leave: Floats, least: Floats, least_time: Floats
    ) -> IntervalRecords:
        unknown, nowhere = np.full(keys.shape, np.nan), np.broadcast_to(np.nan, (len(keys), 3))
        linear = np.full(keys.shape, LINEAR)
        return cls(keys, enter, leave, least, least_time, unknown, nowhere, nowhere, linear)

    def take(self, rows: object) -> IntervalRecords:
        """Return some of the rows."""
        return IntervalRecords(*(values[rows] for values in self))  # type: ignore[call-overload]


def _time_within(begin: Floats, end: Floats, part: Floats) -> Floats:
    """Interpolate times (m,) in frames at `part` (m,) in [0, 1] of intervals, exact at both ends."""
    return np.where(part == 1, end, begin + part * (end - begin))


class ContactSpans(NamedTuple):
    """Spans of time in contact: keys of pairs (m,), begin and end (m,) in frames."""

    keys: Ints
    enter: Floats
    leave: Floats

    def take(self, rows: object) -> ContactSpans:
        """Return some of the rows."""
        return ContactSpans(*(values[rows] for values in self))  # type: ignore[call-overload]


class PairCache:
    """Contacts and least separation of each pair so far, in rows ordered by key.

    Attributes
    ----------
    keys : (m,) int
        Keys of the pairs recorded so far, increasing.
    least, least_time : (m,) float
        Least separation so far, and its time.
    touched : (m,) bool
        Whether the pair had a contact.
    """

    def __init__(self) -> None:
        self.keys = np.empty(0, dtype=np.int64)
        self.least, self.least_time = np.empty(0), np.empty(0)
        self.touched = np.empty(0, dtype=bool)
        self._doubtful_since = np.empty(0)
        self._firsts: list[IntervalRecords] = []
        self._closed: list[ContactSpans] = []
        self._open = ContactSpans(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @property
    def open_contacts(self) -> tuple[Ints, Floats]:
        """Keys (k,) of contacts that last until the time recorded last, and when they began (k,)."""
        return self._open.keys, self._open.enter

    def record(self, records: IntervalRecords, until: float) -> None:
        """Take in the records of all pairs up to the time `until`."""
        rows = self._rows_of(records.keys)
        less = np.flatnonzero(records.least < self.least[rows])
        less = less[np.lexsort((records.least_time[less], records.least[less], rows[less]))]
        less = less[_is_run_start(rows[less])]
        self.least[rows[less]], self.least_time[rows[less]] = records.least[less], records.least_time[less]

        hit = np.flatnonzero(~np.isnan(records.enter))
        self._join(ContactSpans(records.keys[hit], records.enter[hit], records.leave[hit]), until)
        new = hit[~self.touched[rows[hit]]]
        new = new[np.lexsort((records.enter[new], rows[new]))]
        new = new[_is_run_start(rows[new])]
        self.touched[rows[new]] = True
        if len(new):
            self._firsts.append(records.take(new))

    def known(self, keys: Ints) -> tuple[Floats, Bools]:
        """Least separation (m,) of pairs so far, inf for new ones; whether they have touched (m,)."""
        if not len(self.keys):
            return np.full(len(keys), np.inf), np.zeros(len(keys), dtype=bool)
        row = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        is_known = self.keys[row] == keys
        return np.where(is_known, self.least[row], np.inf), is_known & self.touched[row]

    def doubt(self, keys: Ints, since: Floats) -> None:
        """Take in times (m,) from which pairs may touch without a record; inf for none."""
        doubtful = np.flatnonzero(since < np.inf)
        rows = self._rows_of(keys[doubtful])
        np.minimum.at(self._doubtful_since, rows, since[doubtful])

    def finish(self) -> tuple[IntervalRecords, ContactSpans]:
        """End the open contacts: first contacts ordered by key, and all spans ordered by key, then time."""
        firsts = IntervalRecords.concatenate([IntervalRecords.empty(), *self._firsts])
        since = self._doubtful_since[np.searchsorted(self.keys, firsts.keys)]
        firsts = firsts._replace(uncertainty=np.fmax(firsts.uncertainty, firsts.enter - since))
        spans = ContactSpans(*map(np.concatenate, zip(*self._closed, self._open, strict=True)))
        order = np.lexsort((spans.enter, spans.keys))
        return firsts.take(firsts.keys.argsort()), spans.take(order)

    def _rows_of(self, keys: Ints) -> Ints:
        """Rows (m,) of keys; new keys get new rows."""
        unique = np.sort(keys)
        unique = unique[_is_run_start(unique)]
        row = np.searchsorted(self.keys, unique)
        new = np.ones(len(unique), dtype=bool)
        within = row < len(self.keys)
        new[within] = self.keys[row[within]] != unique[within]
        if new.any():
            row = row[new]
            self.keys = np.insert(self.keys, row, unique[new])
            self.least = np.insert(self.least, row, np.inf)
            self.least_time = np.insert(self.least_time, row, 0.0)
            self.touched = np.insert(self.touched, row, False)
            self._doubtful_since = np.insert(self._doubtful_since, row, np.inf)
        return np.searchsorted(self.keys, keys).astype(np.int64)

    def _join(self, spans: ContactSpans, until: float) -> None:
        """Join spans with each other and with the open contacts; close those that end before `until`."""
        keys, enter, leave = (np.concatenate(columns) for columns in zip(self._open, spans, strict=True))
        order = np.lexsort((enter, keys))
        keys, enter, leave = keys[order], enter[order], leave[order]
        # Running maximum of the ends, as ranks by pair, then end: so none carries over to the next pair.
        by_end = np.lexsort((leave, keys))
        ranks = np.empty(len(keys), dtype=np.int64)
        ranks[by_end] = np.arange(len(keys))
        latest = leave[by_end[np.maximum.accumulate(ranks)]] if len(keys) else leave
        begins = np.ones(len(keys), dtype=bool)
        begins[1:] = (keys[1:] != keys[:-1]) | (enter[1:] > latest[:-1])
        starts = np.flatnonzero(begins)
        last = np.append(starts[1:], len(keys)) - 1
        joined = ContactSpans(keys[starts], enter[starts], latest[last] if len(keys) else latest)
        is_over = joined.leave < until
        if is_over.any():
            self._closed.append(joined.take(is_over))
        self._open = joined.take(~is_over)


def _is_run_start(values: Ints) -> Bools:
    """Mask (m,) of sorted values that differ from the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts
