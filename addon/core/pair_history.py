"""What a contact scan remembers about each pair it came across: one row a pair, filled interval by interval.

All updates are array operations over what was found in some intervals. Memory grows with the number of pairs
that came near each other and with their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints

_ROW = np.dtype(
    [
        ("key", np.int64),
        ("least", np.float64),  # least separation so far, and when
        ("least_time", np.float64),
        ("first", np.float64),  # first contact; NaN before it
        ("uncertainty", np.float64),
        ("point", np.float64, 3),
        ("normal", np.float64, 3),
        ("adaptive", np.bool_),
    ]
)


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
    def plain(cls, keys: Ints, enter: Floats, leave: Floats, least: Floats, least_time: Floats) -> Findings:
        """Rows none of which is the first contact of its pair."""
        count = len(keys)
        nowhere, no = np.full((count, 3), np.nan), np.zeros(count, dtype=bool)
        return cls(keys, enter, leave, least, least_time, np.full(count, np.inf), nowhere, nowhere, no)

    @classmethod
    def joined(cls, parts: Sequence[Findings]) -> Findings:
        """All rows of all."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class PairHistory:
    """Rows for pairs, found again by a key of the caller's, a whole number."""

    def __init__(self) -> None:
        self.rows = np.empty(0, dtype=_ROW)
        self._closed: list[tuple[Ints, Floats, Floats]] = []
        self._open = (np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))

    @property
    def going_on(self) -> tuple[Ints, Floats]:
        """Keys (k,) of contacts that reached up to what was noted last, and when they began."""
        return self._open[0], self._open[1]

    def note(self, found: Findings, until: float) -> None:
        """Take in what pairs did up to the time `until`."""
        rows = self._find(found.keys)
        order = np.lexsort((found.least_time, found.least, rows))
        first_of_row = order[_starts(rows[order])]
        best = rows[first_of_row]
        less = found.least[first_of_row] < self.rows["least"][best]
        self.rows["least"][best[less]] = found.least[first_of_row[less]]
        self.rows["least_time"][best[less]] = found.least_time[first_of_row[less]]

        hit = np.flatnonzero(~np.isnan(found.enter))
        self._join(found.keys[hit], found.enter[hit], found.leave[hit], until)
        order = hit[np.lexsort((found.enter[hit], rows[hit]))]
        earliest = order[_starts(rows[order])]
        new = np.isnan(self.rows["first"][rows[earliest]])
        earliest = earliest[new]
        first = rows[earliest]
        self.rows["first"][first] = found.enter[earliest]
        for name in ("uncertainty", "point", "normal", "adaptive"):
            self.rows[name][first] = getattr(found, name)[earliest]

    def known(self, keys: Ints) -> tuple[Floats, Bools]:
        """Of pairs (m,) the least separation so far, inf for those not come across; whether they touched."""
        if not len(self.rows):
            return np.full(len(keys), np.inf), np.zeros(len(keys), dtype=bool)
        names = np.ascontiguousarray(self.rows["key"])
        place = np.minimum(np.searchsorted(names, keys), len(names) - 1)
        come_across = names[place] == keys
        least = np.where(come_across, self.rows["least"][place], np.inf)
        return least, come_across & ~np.isnan(self.rows["first"][place])

    def finish(self) -> dict[int, list[tuple[float, float]]]:
        """End the contacts that are still going on; the contact intervals of each pair's key."""
        self._closed.append(self._open)
        intervals: dict[int, list[tuple[float, float]]] = {}
        for keys, starts, ends in self._closed:
            for key, start, end in zip(keys.tolist(), starts.tolist(), ends.tolist(), strict=True):
                intervals.setdefault(key, []).append((start, end))
        return intervals

    def _find(self, keys: Ints) -> Ints:
        """Row numbers of keys; new keys get new rows."""
        wanted = np.unique(keys)
        new = wanted[~np.isin(wanted, self.rows["key"], assume_unique=True)]
        if len(new):
            fresh = np.zeros(len(new), dtype=_ROW)
            fresh["key"], fresh["least"], fresh["first"] = new, np.inf, np.nan
            merged = np.concatenate([self.rows, fresh])
            self.rows = merged[np.argsort(merged["key"], kind="stable")]
        return np.searchsorted(self.rows["key"], keys).astype(np.int64)

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
        spans = keys[starts], enter[starts], latest[last] if len(keys) else latest
        over = spans[2] < until
        if over.any():
            self._closed.append(tuple(part[over] for part in spans))  # type: ignore[arg-type]
        self._open = tuple(part[~over] for part in spans)  # type: ignore[assignment]


def _starts(values: Ints) -> Bools:
    """Which of sorted values are not the same as the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts
