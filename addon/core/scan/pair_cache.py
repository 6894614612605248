"""Cache of what is known of each pair so far.

It has one row for each pair of subjects that came near each other, updated block by block with array
operations. Memory grows with these pairs and their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
from ..numeric.spans import span_runs
from .records import ContactSpans, IntervalRecords, PairRecords, is_run_start
from .solved_pieces import SolvedPieces, SpanStarts

_DESCRIBED_PER_CHUNK = 1 << 8
"""Contacts whose begin is described at once, which takes about 30 ms."""


class PairCache:
    """Contacts and least separation of each pair so far.

    pairs : All but `is_near`, which depends on sizes.
    """

    def __init__(self) -> None:
        nothing = np.empty(0, dtype=np.int64)
        self.pairs = PairRecords.new(nothing)
        self._closed: list[ContactSpans] = []
        none_open = IntervalRecords.from_continued_contacts(nothing, np.empty(0), 0.0)
        self._open = ContactSpans.from_records(none_open)

    @property
    def open_contacts(self) -> tuple[Ints, Floats]:
        """Keys (k,) of contacts that last until the time recorded last, and when they began (k,)."""
        return self._open.keys, self._open.enter

    def record(
        self, records: IntervalRecords, until: float, pieces: SolvedPieces
    ) -> Generator[float, None, None]:
        """Take in the records of all pairs up to the time `until`; yields the part of the work that is done.

        Nothing changes before the last part, so a generator that is closed leaves the cache as it was.
        """
        if not len(records.keys):
            # Open contacts end where no pair is near.
            self._close(self._open, until)
            return
        order = np.argsort(records.keys, kind="stable")
        begins = np.flatnonzero(is_run_start(records.keys[order]))
        keys = records.keys[order[begins]]
        of_row = records.least[order]
        least = np.fmin.reduceat(of_row, begins)
        is_least = of_row == np.repeat(least, np.diff(begins, append=len(order)))
        least_time = np.minimum.reduceat(np.where(is_least, records.least_time[order], np.inf), begins)
        yield 0.1
        touched = np.maximum.reduceat(~np.isnan(records.enter[order]), begins)
        joined = yield from self._joined(records.take(~np.isnan(records.enter)), pieces)
        yield 0.9
        rows = self._rows_of(keys)
        less = least < self.pairs.least[rows]
        self.pairs.least[rows[less]], self.pairs.least_time[rows[less]] = least[less], least_time[less]
        self.pairs.touched[rows[touched]] = True
        self._close(joined, until)

    def history_of(self, keys: Ints) -> tuple[Floats, Bools]:
        """Least separation (m,) of pairs so far, inf for new ones; whether they have touched (m,)."""
        row, is_known = _found(self.pairs.keys, keys)
        least = np.full(len(keys), np.inf)
        least[is_known] = self.pairs.least[row]
        touched = np.zeros(len(keys), dtype=bool)
        touched[is_known] = self.pairs.touched[row]
        return least, touched

    def open_least(self, keys: Ints) -> Floats:
        """Least separation (m,) within the open contacts of pairs so far; inf for pairs without one."""
        row, is_open = _found(self._open.keys, keys)
        least = np.full(len(keys), np.inf)
        least[is_open] = self._open.least[row]
        return least

    def doubt(self, keys: Ints, since: Floats) -> None:
        """Take in times (m,) from which pairs may touch without a record; inf for none."""
        doubtful = np.flatnonzero(since < np.inf)
        rows = self._rows_of(keys[doubtful])
        np.minimum.at(self.pairs.doubtful_since, rows, since[doubtful])

    def spans(self) -> ContactSpans:
        """Return all spans, the open ones too, ordered by key, then time."""
        spans = ContactSpans.concatenate([*self._closed, self._open])
        return spans.take(np.lexsort((spans.enter, spans.keys)))

    def _rows_of(self, keys: Ints) -> Ints:
        """Rows (m,) of keys; new keys get new rows."""
        new = np.unique(keys)
        new = new[~_found(self.pairs.keys, new)[1]]
        if len(new):
            pairs = PairRecords.concatenate([self.pairs, PairRecords.new(new)])
            self.pairs = pairs.take(np.argsort(pairs.keys, kind="stable"))
        return np.searchsorted(self.pairs.keys, keys).astype(np.int64)

    def _joined(self, records: IntervalRecords, pieces: SolvedPieces) -> Generator[float, None, ContactSpans]:
        """Join contacts with each other and with the open ones; yields as `record`."""
        count = len(self._open.keys)
        spans = ContactSpans.concatenate([self._open, ContactSpans.from_records(records)])
        order, begins, latest = span_runs(spans.keys, spans.enter, spans.leave)
        yield 0.3
        run = np.empty(len(order), dtype=np.int64)
        run[order] = np.cumsum(begins) - 1
        # Of each run: its first span, its end, and the span with its least separation.
        first, ends, deepest = order[begins], np.append(begins[1:], True), spans.deepest_of(run)
        joined = spans.take(first).replaced(
            leave=latest[ends[: len(latest)]],
            least=spans.least[deepest],
            least_time=spans.least_time[deepest],
            direction=spans.direction[deepest],
        )
        new = np.flatnonzero(first >= count)
        for begin in range(0, len(new), _DESCRIBED_PER_CHUNK):
            yield 0.4 + 0.3 * begin / len(new)
            chunk = new[begin : begin + _DESCRIBED_PER_CHUNK]
            starts = pieces.starts(records.take(first[chunk] - count))
            for name, values in zip(SpanStarts.names(), starts, strict=True):
                getattr(joined, name)[chunk] = values
        yield 0.7
        rows = np.flatnonzero((deepest >= count) & (joined.least < np.inf))
        if len(rows):
            joined.direction[rows] = pieces.deepest_normals(records.take(deepest[rows] - count))
        return joined

    def _close(self, joined: ContactSpans, until: float) -> None:
        """Close the contacts that end before `until`; the others stay open."""
        is_over = joined.leave < until
        if is_over.any():
            self._closed.append(joined.take(is_over))
        self._open = joined.take(~is_over)


def _found(known: Ints, keys: Ints) -> tuple[Ints, Bools]:
    """Rows (k,) of keys (m,) that are among `known`, which increase, and a mask (m,) of those keys."""
    row = np.searchsorted(known, keys)
    is_known = np.append(known, -1)[row] == keys
    return row[is_known], is_known
