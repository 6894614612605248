"""Outermost points of boxes at the latest times at which they were computed."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, Ints

_MOST = 1 << 13
"""Times that are kept, at least, unless there are fewer: together about 1 MB."""


class RecentPoints:
    """Points (6,) that were outermost at times. The earliest added are forgotten."""

    def __init__(self) -> None:
        """Start with none."""
        self._latest = self._earlier = (np.empty(0), np.empty((0, 6), dtype=np.int64))

    def add(self, times: Floats, points: Ints) -> None:
        """Add points (t, 6) at distinct times (t,)."""
        if len(self._latest[0]) > _MOST:
            self._earlier = self._latest
            self._latest = (np.empty(0), np.empty((0, 6), dtype=np.int64))
        times = np.concatenate([times, self._latest[0]])
        _, first = np.unique(times, return_index=True)
        self._latest = times[first], np.concatenate([points, self._latest[1]])[first]

    def at(self, times: Floats) -> Ints:
        """Return the points (t, 6) at times (t,); -1 where they are not known."""
        result = np.full((len(times), 6), -1)
        for known, points in (self._earlier, self._latest):
            if len(known):
                place = np.minimum(np.searchsorted(known, times), len(known) - 1)
                is_known = known[place] == times
                result[is_known] = points[place[is_known]]
        return result
