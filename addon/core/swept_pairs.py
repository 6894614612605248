"""Given pairs of many moving shapes, interval after interval: which of them touch, without asking them all.

Around the box that each shape sweeps in an interval lies a wider one. As long as all shapes stay within
those, only the pairs whose wider boxes overlap can touch, and only these are asked. The answers are the same
as asking every pair in every interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import CHUNK_ROWS, Floats, Ints
from .box_codes import box_codes, may_overlap
from .errors import InvalidShapeError
from .separation import overlaps
from .shapes import Aabb, Shape
from .sweep import time_of_impact
from .travel import swept_aabb

_FEW, _MANY = 0.01, 0.04
"""Between these parts of all pairs, asking those whose wider boxes overlap costs about what it costs to make
wider boxes."""
_LONGEST = 64


class SweptPairs:
    """Pairs (m, 2) of shapes (n,) that are followed from sample to sample.

    Parameters
    ----------
    pairs : (m, 2) int
        Indices of shapes, as `overlapping_pairs` gives them. Sorted by the first they are read fastest.
    start : shapes (n,)
        The first sample. All samples are of one kind.
    skipping : bool
        False looks at every pair every time.

    Raises InvalidShapeError for indices that are not of the shapes.
    """

    def __init__(self, pairs: ArrayLike, start: Shape, skipping: bool = True) -> None:
        listed = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if len(start.shape) != 1:
            raise InvalidShapeError(f"start: the batch must be (n,), not {start.shape}")
        if listed.size and not (listed.min() >= 0 and listed.max() < start.shape[0]):
            raise InvalidShapeError(f"pairs: an index is not of the {start.shape[0]} shapes")
        self._first, self._second = np.ascontiguousarray(listed.T)
        self._last = start
        self._skipping = skipping
        self._swept: Aabb | None = None
        # The boxes that the shapes are to stay within, and the pairs that can touch while they do.
        self._wider: Aabb | None = None
        self._close = np.empty(0, dtype=np.int64)
        # Intervals that the next wider boxes are to last for, at the speed of the last one.
        self._lasts = 8.0

    def advance(self, end: Shape) -> tuple[Ints, Floats]:
        """Go on to the next sample.

        Returns
        -------
        rows : (k,) int64
            The pairs that touch on the way, growing.
        times : (k,)
            Their times of impact in [0, 1]; 0 where a pair is in contact already. See `time_of_impact`.
        """
        start, self._last = self._last, end
        boxes = swept_aabb(start, end)
        near = self._near(boxes)
        first, second = self._first[near], self._second[near]
        meet = np.flatnonzero(overlaps(boxes[first], boxes[second]))
        if not len(meet):
            return meet, np.empty(0)
        first, second = first[meet], second[meet]
        times = time_of_impact(start[first], end[first], start[second], end[second])
        hit = ~np.isnan(times)
        return near[meet[hit]], times[hit]

    def _near(self, boxes: Aabb) -> Ints:
        """The pairs that may touch within the swept `boxes` (n,), growing; few of the others."""
        before, self._swept = self._swept, boxes
        if before is None or not self._skipping:
            return self._overlapping(boxes)
        wider = self._wider
        if wider is None or not ((boxes.min >= wider.min).all() and (boxes.max <= wider.max).all()):
            moved = np.maximum(np.abs(boxes.min - before.min), np.abs(boxes.max - before.max)).max(axis=-1)
            # What rests now may move later. It should not be alone in cutting the others' time short.
            margin = self._lasts * np.maximum(moved, np.median(moved))[:, None]
            self._wider = Aabb.trusted(boxes.min - margin, boxes.max + margin)
            self._close = self._overlapping(self._wider)
            part = len(self._close) / max(1, len(self._first))
            self._lasts *= 0.5 if part > _MANY else 2 if part < _FEW and self._lasts < _LONGEST else 1
        return self._close

    def _overlapping(self, boxes: Aabb) -> Ints:
        """The pairs whose boxes overlap, and few others."""
        if not len(self._first):
            return np.empty(0, dtype=np.int64)
        first_codes, second_codes = box_codes(boxes)
        rows = []
        for begin in range(0, len(self._first), CHUNK_ROWS):
            chunk = slice(begin, begin + CHUNK_ROWS)
            codes = first_codes[self._first[chunk]], second_codes[self._second[chunk]]
            rows.append(begin + np.flatnonzero(may_overlap(*codes)))
        return np.concatenate(rows)
