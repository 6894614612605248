"""Given pairs of many moving shapes, interval after interval: which of them touch, without asking them all.

A pair that is d apart cannot meet until the two have together travelled d. Until then it is skipped; the
answers are the same as asking every pair in every interval.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import CHUNK_ROWS, Floats, Ints
from .errors import InvalidShapeError
from .separation import separation
from .shapes import Aabb, Shape
from .sweep import time_of_impact
from .travel import swept_aabb, travelled

_DOWN = 1 - 1e-12
"""What rounding may add to a gap, taken off again."""


class SweptPairs:
    """Pairs (m, 2) of shapes (n,) that are followed from sample to sample.

    Parameters
    ----------
    pairs : (m, 2) int
        Indices of shapes, as `overlapping_pairs` gives them. Sorted by the first they are read fastest.
    start : shapes (n,)
        The first sample. All samples are of one kind.
    skipping : bool
        False asks every pair every time.

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
        # Lengths travelled so far, by each shape and by the one that hurries most in each interval; and the
        # readings of both sums at which a pair has to be asked again.
        self._travelled = np.zeros(start.shape)
        self._hurried = 0.0
        self._due = np.zeros(len(listed))
        self._due_hurried = np.zeros(len(listed))

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
        rows = self._asked(start, end)
        if not len(rows):
            return rows, np.empty(0)
        near = self._meet(swept_aabb(start, end), rows)
        first, second = self._first[near], self._second[near]
        times = np.empty(0)
        if len(near):
            times = time_of_impact(start[first], end[first], start[second], end[second])
        if self._skipping:
            self._note_gaps(rows, end)
        hit = ~np.isnan(times)
        return near[hit], times[hit]

    def _asked(self, start: Shape, end: Shape) -> Ints:
        """The pairs that may have used up the gap they had when last asked."""
        if not self._skipping:
            return np.arange(len(self._first))
        far = travelled(start, end)
        self._travelled = self._travelled + far
        self._hurried += 2 * float(far.max(initial=0.0))
        rows = np.flatnonzero(self._due_hurried <= self._hurried)
        together = self._travelled[self._first[rows]] + self._travelled[self._second[rows]]
        left = self._due[rows] - together
        # What is left of a gap lasts at least until the most hurried have travelled it.
        self._due_hurried[rows] = self._hurried + np.maximum(left, 0) * _DOWN
        asked: Ints = rows[left <= 0]
        return asked

    def _note_gaps(self, rows: Ints, end: Shape) -> None:
        first, second = self._first[rows], self._second[rows]
        gap = np.maximum(separation(end[first], end[second]), 0) * _DOWN
        # Readings that have grown large swallow small gaps: what is lost is taken off the gap.
        together = self._travelled[first] + self._travelled[second]
        self._due[rows] = together + np.maximum(gap - 1e-12 * together, 0)
        self._due_hurried[rows] = self._hurried + np.maximum(gap - 1e-12 * self._hurried, 0)

    def _meet(self, boxes: Aabb, rows: Ints) -> Ints:
        """The pairs whose boxes overlap, by one axis after another, that of the widest spread first."""
        size = (boxes.max - boxes.min).mean(axis=0)
        spread = boxes.max.max(axis=0) - boxes.min.min(axis=0)
        everything = len(rows) == len(self._first)
        for axis in np.argsort(-spread / np.maximum(size, np.finfo(np.float64).tiny)):
            low, high = np.ascontiguousarray(boxes.min[:, axis]), np.ascontiguousarray(boxes.max[:, axis])
            meets = [np.empty(0, dtype=np.int64)]
            for begin in range(0, len(rows), CHUNK_ROWS):
                chunk = slice(begin, begin + CHUNK_ROWS)
                picked = chunk if everything else rows[chunk]
                first, second = self._first[picked], self._second[picked]
                overlap = (low[first] <= high[second]) & (low[second] <= high[first])
                meets.append(begin + np.flatnonzero(overlap))
            rows, everything = rows[np.concatenate(meets)], False
        return rows
