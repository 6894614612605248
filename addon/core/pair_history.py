"""What a contact scan remembers about each pair it came across: one row a pair, filled interval by interval.

All updates are array operations over the rows of one interval. Memory grows with the number of pairs that
came near each other and with their contacts, never with the number of frames.
"""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats, Ints

_ROW = np.dtype(
    [
        ("key", np.int64),
        ("least", np.float64),  # least separation so far, and when
        ("least_time", np.float64),
        ("open_since", np.float64),  # start of the contact that is going on; NaN when there is none
        ("first", np.float64),  # first contact; NaN before it
        ("uncertainty", np.float64),
        ("point", np.float64, 3),
        ("normal", np.float64, 3),
    ]
)


class PairHistory:
    """Rows for pairs (i, j) of `count` subjects, found again by the key i * count + j."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows = np.empty(0, dtype=_ROW)
        self._closed: list[tuple[Ints, Floats, Floats]] = []

    def find(self, pairs: Ints) -> Ints:
        """Row numbers of (m, 2) pairs, which must be unique; new pairs get new rows."""
        keys = pairs[:, 0] * self.count + pairs[:, 1]
        new = np.setdiff1d(keys, self.rows["key"], assume_unique=True)
        if len(new):
            fresh = np.zeros(len(new), dtype=_ROW)
            fresh["key"], fresh["least"] = new, np.inf
            fresh["open_since"] = fresh["first"] = np.nan
            merged = np.concatenate([self.rows, fresh])
            self.rows = merged[np.argsort(merged["key"], kind="stable")]
        return np.searchsorted(self.rows["key"], keys).astype(np.int64)

    def note_separation(self, rows: Ints, separation: Floats, time: Floats) -> None:
        """Keep the least separation of each row and the first time it was reached."""
        less = separation < self.rows["least"][rows]
        self.rows["least"][rows[less]] = separation[less]
        self.rows["least_time"][rows[less]] = time[less]

    def note_contacts(self, rows: Ints, enter: Floats, leave: Floats, start: float, end: float) -> Bools:
        """Join the contacts of one interval from `start` to `end` to those before.

        rows : (m,) the rows in contact during the interval; `enter` and `leave` are times, equal to `start`
        and `end` where the contact reaches over them. Contacts that were going on and are not in `rows`
        ended at `start`. Returns which of `rows` have their very first contact now.
        """
        going_on = ~np.isnan(self.rows["open_since"])
        continued = going_on[rows] & (enter == start)
        ended = going_on.copy()
        ended[rows[continued]] = False
        self._close(np.flatnonzero(ended).astype(np.int64), np.full(int(ended.sum()), start))
        self.rows["open_since"][rows[~continued]] = enter[~continued]
        is_first = np.isnan(self.rows["first"][rows])
        self.rows["first"][rows[is_first]] = enter[is_first]
        over = leave < end
        self._close(rows[over], leave[over])
        return np.asarray(is_first)

    def describe_first(self, rows: Ints, uncertainty: Floats, point: Floats, normal: Floats) -> None:
        """Store how sure the first contact of `rows` is, where it is, and its normal."""
        self.rows["uncertainty"][rows] = uncertainty
        self.rows["point"][rows] = point
        self.rows["normal"][rows] = normal

    def finish(self, time: float) -> dict[int, list[tuple[float, float]]]:
        """End the contacts that are still going on at `time`; the contact intervals of each pair's key."""
        going_on = np.flatnonzero(~np.isnan(self.rows["open_since"])).astype(np.int64)
        self._close(going_on, np.full(len(going_on), time))
        intervals: dict[int, list[tuple[float, float]]] = {}
        for keys, starts, ends in self._closed:
            for key, start, end in zip(keys.tolist(), starts.tolist(), ends.tolist(), strict=True):
                intervals.setdefault(key, []).append((start, end))
        return intervals

    def _close(self, rows: Ints, times: Floats) -> None:
        if len(rows):
            since = self.rows["open_since"]
            self._closed.append((self.rows["key"][rows], since[rows], np.maximum(since[rows], times)))
            since[rows] = np.nan
