"""Records of pairs in intervals, and the cache of what is known of each pair so far.

The cache has one row for each pair of subjects that came near each other, updated block by block with array
operations. Memory grows with these pairs and their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, Protocol, get_args

import numpy as np

from ..interval.pair_motion import IntervalContacts
from ..numeric.arrays import Bools, Floats, Ints
from ..numeric.spans import span_runs
from ..numeric.table import Table
from ..progress import ContactMotion

MOTIONS: tuple[ContactMotion, ...] = get_args(ContactMotion)
LINEAR, SAMPLED, PROVEN = range(3)
"""Indices of `MOTIONS`."""

_DESCRIBED_PER_CHUNK = 1 << 8
"""Contacts whose begin is described at once, which takes about 30 ms."""


class IntervalRecords(Table):
    """Contacts and separations of pairs, one row for each pair and interval; times in frames.

    Spans of one pair that share an end are one contact.

    Attributes
    ----------
    keys : (m,) int
        Keys of the pairs.
    enter, leave : (m,) float
        Begin and end of the contact; NaN for none.
    least, least_time : (m,) float
        Least separation and its time. If there is a contact, within it.
    uncertainty : (m,) float
        Frames by which `enter` may be off.
    motion : (m,) int
        Motion from which the contact follows, an index of `MOTIONS`.
    piece : (m,) int
        Row among the solved pieces of the block, from which the contact is described; -1 for none.
    """

    keys: Ints
    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    uncertainty: Floats
    motion: Ints
    piece: Ints

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
        """Convert contacts (m,) in intervals from `begin` to `end` (m,) to frames; without pieces."""
        return cls(
            keys,
            time_within(begin, end, contacts.enter),
            time_within(begin, end, contacts.leave),
            contacts.least,
            time_within(begin, end, contacts.least_time),
            uncertainty,
            motion,
            np.full(keys.shape, -1),
        )

    @classmethod
    def from_continued_contacts(cls, keys: Ints, enter: Floats, leave: Floats | float) -> IntervalRecords:
        """Contacts (m,) that are not the first of their pairs, without separations."""
        leave, least = np.broadcast_to(leave, enter.shape), np.full(enter.shape, np.inf)
        return cls._without_piece(keys, enter, leave, least, enter)

    @classmethod
    def from_separations(cls, keys: Ints, least: Floats, least_time: Floats) -> IntervalRecords:
        """Separations (m,) without contacts."""
        never = np.full(least.shape, np.nan)
        return cls._without_piece(keys, never, never, least, least_time)

    @classmethod
    def empty(cls) -> IntervalRecords:
        """No rows."""
        return cls.from_separations(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @classmethod
    def _without_piece(
        cls, keys: Ints, enter: Floats, leave: Floats, least: Floats, least_time: Floats
    ) -> IntervalRecords:
        unknown, linear = np.full(keys.shape, np.nan), np.full(keys.shape, LINEAR)
        return cls(keys, enter, leave, least, least_time, unknown, linear, np.full(keys.shape, -1))


def time_within(begin: Floats, end: Floats, part: Floats) -> Floats:
    """Interpolate times (m,) in frames at `part` (m,) in [0, 1] of intervals, exact at both ends."""
    return np.where(part == 1, end, begin + part * (end - begin))


class SpanStarts(NamedTuple):
    """Descriptions of contacts (m,) at their begin, in world space.

    Attributes
    ----------
    uncertainty : (m,) float
        Frames by which the begin may be off.
    point, normal : (m, 3) float
        Contact point, and unit normal from the first to the second shape.
    velocity : (m, 3) float
        Velocity of the second surface relative to the first, in lengths per frame; NaN where not known.
    """

    uncertainty: Floats
    point: Floats
    normal: Floats
    velocity: Floats


class PieceDescriber(Protocol):
    """Describes the contacts of the solved pieces of a block."""

    def starts(self, records: IntervalRecords) -> SpanStarts:
        """Describe the begin of contacts (m,) of records with pieces."""
        ...

    def deepest_normals(self, records: IntervalRecords) -> Floats:
        """Return the unit normals (m, 3) at the least separation of records with pieces."""
        ...


class ContactSpans(Table):
    """Spans of time in contact, of pairs (m,); begin and end in frames.

    Attributes
    ----------
    keys : (m,) int
    enter, leave : (m,) float
    motion : (m,) int
        Motion from which the begin follows.
    least, least_time : (m,) float
        Least separation within the span, and its time.
    uncertainty, point, normal, velocity
        As of `SpanStarts`.
    direction : (m, 3) float
        Unit normal from the first to the second shape at the least separation.
    """

    keys: Ints
    enter: Floats
    leave: Floats
    motion: Ints
    least: Floats
    least_time: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    velocity: Floats
    direction: Floats

    @classmethod
    def from_records(cls, records: IntervalRecords) -> ContactSpans:
        """Spans (m,) of records with contacts, not yet described."""
        unknown = np.full((len(records.keys), 3), np.nan)
        columns = (records.motion, records.least, records.least_time, records.uncertainty)
        return cls(records.keys, records.enter, records.leave, *columns, *(unknown.copy() for _ in range(4)))


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
    doubtful_since : (m,) float
        Time from which the pair may touch without a record; inf for none.
    """

    def __init__(self) -> None:
        self.keys = np.empty(0, dtype=np.int64)
        self.least, self.least_time = np.empty(0), np.empty(0)
        self.touched = np.empty(0, dtype=bool)
        self.doubtful_since = np.empty(0)
        self._closed: list[ContactSpans] = []
        self._open = ContactSpans.from_records(IntervalRecords.empty())

    @property
    def open_contacts(self) -> tuple[Ints, Floats]:
        """Keys (k,) of contacts that last until the time recorded last, and when they began (k,)."""
        return self._open.keys, self._open.enter

    def record(
        self, records: IntervalRecords, until: float, describer: PieceDescriber
    ) -> Generator[float, None, None]:
        """Take in the records of all pairs up to the time `until`; yields the part of the work that is done.

        Nothing changes before the last part, so a generator that is closed leaves the cache as it was.
        """
        if not len(records.keys):
            # Open contacts end where no pair is near.
            self._close(self._open, until)
            return
        order = np.argsort(records.keys, kind="stable")
        begins = np.flatnonzero(_is_run_start(records.keys[order]))
        keys = records.keys[order[begins]]
        of_row = records.least[order]
        least = np.fmin.reduceat(of_row, begins)
        is_least = of_row == np.repeat(least, np.diff(begins, append=len(order)))
        least_time = np.minimum.reduceat(np.where(is_least, records.least_time[order], np.inf), begins)
        yield 0.1
        touched = np.maximum.reduceat(~np.isnan(records.enter[order]), begins)
        joined = yield from self._joined(records.take(~np.isnan(records.enter)), describer)
        yield 0.9
        rows = self._rows_of(keys)
        less = least < self.least[rows]
        self.least[rows[less]], self.least_time[rows[less]] = least[less], least_time[less]
        self.touched[rows[touched]] = True
        self._close(joined, until)

    def history_of(self, keys: Ints) -> tuple[Floats, Bools]:
        """Least separation (m,) of pairs so far, inf for new ones; whether they have touched (m,)."""
        if not len(self.keys):
            return np.full(len(keys), np.inf), np.zeros(len(keys), dtype=bool)
        row = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        has_record = self.keys[row] == keys
        return np.where(has_record, self.least[row], np.inf), has_record & self.touched[row]

    def open_least(self, keys: Ints) -> Floats:
        """Least separation (m,) within the open contacts of pairs so far; inf for pairs without one."""
        if not len(self._open.keys):
            return np.full(len(keys), np.inf)
        row = np.minimum(np.searchsorted(self._open.keys, keys), len(self._open.keys) - 1)
        return np.where(self._open.keys[row] == keys, self._open.least[row], np.inf)

    def doubt(self, keys: Ints, since: Floats) -> None:
        """Take in times (m,) from which pairs may touch without a record; inf for none."""
        doubtful = np.flatnonzero(since < np.inf)
        rows = self._rows_of(keys[doubtful])
        np.minimum.at(self.doubtful_since, rows, since[doubtful])

    def spans(self) -> ContactSpans:
        """Return all spans, the open ones too, ordered by key, then time."""
        spans = ContactSpans.concatenate([*self._closed, self._open])
        return spans.take(np.lexsort((spans.enter, spans.keys)))

    def _rows_of(self, keys: Ints) -> Ints:
        """Rows (m,) of keys; new keys get new rows."""
        unique = np.unique(keys)
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
            self.doubtful_since = np.insert(self.doubtful_since, row, np.inf)
        return np.searchsorted(self.keys, keys).astype(np.int64)

    def _joined(
        self, records: IntervalRecords, describer: PieceDescriber
    ) -> Generator[float, None, ContactSpans]:
        """Join contacts with each other and with the open ones; yields as `record`."""
        known, count = self._open, len(self._open.keys)
        keys, enter, leave, least, least_time = (
            np.concatenate([getattr(known, name), getattr(records, name)])
            for name in ("keys", "enter", "leave", "least", "least_time")
        )
        # What begins with a jump is an instant at first, of which the time is not exact.
        order, begins, latest = span_runs(keys, enter, leave)
        yield 0.3
        starts = np.flatnonzero(begins)
        last = np.append(starts[1:], len(order)) - 1 if len(order) else starts
        # The first piece of each run, and the one with its least separation.
        first = order[starts]
        run = np.empty(len(order), dtype=np.int64)
        run[order] = np.cumsum(begins) - 1
        deepest = np.lexsort((least_time, least, run))
        deepest = deepest[_is_run_start(run[deepest])]
        is_new = first >= count
        begun = ContactSpans.from_records(records.take(first[is_new] - count))
        joined = ContactSpans.concatenate([known, begun])
        joined = joined.take(np.where(is_new, count + np.cumsum(is_new) - 1, first))
        joined = joined.replaced(
            leave=latest[last] if len(order) else latest, least=least[deepest], least_time=least_time[deepest]
        )
        rows = np.flatnonzero(is_new)
        for begin in range(0, len(rows), _DESCRIBED_PER_CHUNK):
            yield 0.4 + 0.3 * begin / len(rows)
            chunk = rows[begin : begin + _DESCRIBED_PER_CHUNK]
            described = describer.starts(records.take(first[chunk] - count))
            for name, values in described._asdict().items():
                getattr(joined, name)[chunk] = values
        yield 0.7
        is_deeper = (deepest >= count) & (joined.least < np.inf)
        rows = np.flatnonzero(is_deeper)
        if len(rows):
            joined.direction[rows] = describer.deepest_normals(records.take(deepest[rows] - count))
        rows = np.flatnonzero(deepest < count)
        joined.direction[rows] = known.direction[deepest[rows]]
        return joined

    def _close(self, joined: ContactSpans, until: float) -> None:
        """Close the contacts that end before `until`; the others stay open."""
        is_over = joined.leave < until
        if is_over.any():
            self._closed.append(joined.take(is_over))
        self._open = joined.take(~is_over)


def _is_run_start(values: Ints) -> Bools:
    """Mask (m,) of sorted values that differ from the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts
