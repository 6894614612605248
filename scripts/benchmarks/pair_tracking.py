"""Broad phase with temporal coherence: a fixed list of pairs, filtered by quantized boxes, as in a game loop.

For benchmarks only. Scans search the candidates again in each block of frames, which is faster there.

The faces of each box are rounded down to one of 512 cells per axis. Two boxes overlap only if on all axes
the low face of each is in or before the cell of the other's high face. These six comparisons are one
addition of integers with six fields of ten bits: one holds `high` and the other 512 - `low`. Their sum sets
the highest bit of the field, 512, exactly where `high` is not before `low`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from addon.core import Aabb, InvalidShapeError, Obb, Sphere, overlaps, time_of_impact
from addon.core.numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, length
from addon.core.shapes import Shape

_BITS = 10
_CELLS = 1 << (_BITS - 1)
_ALL = sum(_CELLS << (_BITS * field) for field in range(6))
_SAMPLE = 128
"""Centers in the sample that determines the size of the cells."""
_OUTER = 8
"""One in this many centers is skipped at either end, and the cells cover twice the range of the rest,
because a few boxes far away must not make the cells large for all."""


def box_codes(boxes: Aabb) -> tuple[Ints, Ints]:
    """Codes (n,) of boxes (n,), n >= 1, as the first of a pair and as the second."""
    sides = np.stack([boxes.min.T, boxes.max.T])
    low, high = _cells(sides)
    np.subtract(_CELLS, low, out=low)
    before, after = (each[0] + (each[1] << _BITS) + (each[2] << 2 * _BITS) for each in (low, high))
    return after + (before << 3 * _BITS), before + (after << 3 * _BITS)


def _cells(sides: Floats) -> Ints:
    """Cell numbers of faces (2, 3, n); never decreasing with the coordinate, also when rounded."""
    sample = sides[..., :: 1 + sides.shape[-1] // _SAMPLE]
    centers = np.sort(sample[0] * 0.5 + sample[1] * 0.5, axis=-1)
    cut = centers.shape[-1] // _OUTER
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        extent = centers[:, -1 - cut] - centers[:, cut]
        begin, per_unit = centers[:, cut] - 0.5 * extent, _CELLS / (2 * extent)
        # Skip an axis on which all centers coincide, or differ by more than the largest float.
        is_usable = (per_unit > 0) & (per_unit < np.inf)
        cells = sides - np.where(is_usable, begin, 0.0)[:, None]
        cells *= np.where(is_usable, per_unit, 0.0)[:, None]
    np.maximum(cells, 0, out=cells)
    np.minimum(cells, _CELLS - 1, out=cells)
    result: Ints = cells.astype(np.int64)
    return result


def may_overlap(first: Ints, second: Ints) -> Bools:
    """Decide which boxes with codes (n,) can overlap; False is certain."""
    codes = first + second
    codes &= _ALL
    return np.asarray(codes == _ALL)


_UP = 1 + 8 * np.finfo(np.float64).eps


def swept_aabb(start: Shape, end: Shape) -> Aabb:
    """Boxes (...) around shapes that move from one sample to the next. Conservative.

    A rotating box is replaced by the sphere around it.
    """
    if isinstance(start, Obb) and isinstance(end, Obb) and not np.array_equal(start.rotation, end.rotation):
        start, end = (Sphere.unchecked(box.center, length(box.half_extents) * _UP) for box in (start, end))
    box = start.aabb().merged(end.aabb())
    # The faces of boxes around spheres and oriented boxes are rounded.
    slack = 4 * np.finfo(np.float64).eps * np.maximum(np.abs(box.min), np.abs(box.max))
    return Aabb.unchecked(box.min - slack, box.max + slack)


_FEW, _MANY = 0.01, 0.04
"""Fractions of all pairs between which testing the candidates costs about as much as making new enlarged
boxes.
"""
_LONGEST = 64
"""Maximum number of intervals for which enlarged boxes are made."""


class SweptPairs:
    """Find the touching pairs of a fixed list, from sample to sample.

    Parameters
    ----------
    pairs : (m, 2) int
        Indices of shapes, as from `overlapping_pairs`. Access is fastest if sorted by the first index.
    start : Shape, batch (n,)
        The first sample. All samples have one type.
    skipping : bool
        False tests every pair in every interval.

    Raises
    ------
    InvalidShapeError
        For indices out of range.
    """

    def __init__(self, pairs: ArrayLike, start: Shape, skipping: bool = True) -> None:
        listed = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        if len(start.shape) != 1:
            raise InvalidShapeError(f"start: the batch must be (n,), not {start.shape}")
        if listed.size and not (listed.min() >= 0 and listed.max() < start.shape[0]):
            raise InvalidShapeError(f"pairs: an index is out of range for {start.shape[0]} shapes")
        self._first, self._second = np.ascontiguousarray(listed.T)
        self._last = start
        self._skipping = skipping
        self._swept: Aabb | None = None
        # The enlarged boxes, and the pairs that can touch while the shapes stay within them.
        self._enlarged: Aabb | None = None
        self._close = np.empty(0, dtype=np.int64)
        # Intervals for which the next enlarged boxes should be valid, at the current speed.
        self._intervals = 8.0

    def advance(self, end: Shape) -> tuple[Ints, Floats]:
        """Advance to the next sample and find the pairs that touch in between.

        Parameters
        ----------
        end : Shape
            The next sample, a batch (n,).

        Returns
        -------
        rows : (k,) int64
            Rows of the pairs that touch, ascending.
        times : (k,) float64
            Their times of impact in [0, 1]; 0 where a pair is in contact already. See `time_of_impact`.
        """
        start, self._last = self._last, end
        boxes = swept_aabb(start, end)
        near = self._near(boxes)
        first, second = self._first[near], self._second[near]
        candidates = np.flatnonzero(overlaps(boxes[first], boxes[second]))
        if not len(candidates):
            return candidates, np.empty(0)
        first, second = first[candidates], second[candidates]
        times = time_of_impact(start[first], end[first], start[second], end[second])
        hit = ~np.isnan(times)
        return near[candidates[hit]], times[hit]

    def _near(self, boxes: Aabb) -> Ints:
        """Rows of the pairs whose swept `boxes` (n,) can overlap, ascending; includes a few others."""
        before, self._swept = self._swept, boxes
        if before is None or not self._skipping:
            return self._overlapping(boxes)
        enlarged = self._enlarged
        if enlarged is None or not ((boxes.min >= enlarged.min).all() and (boxes.max <= enlarged.max).all()):
            moved = np.maximum(np.abs(boxes.min - before.min), np.abs(boxes.max - before.max)).max(axis=-1)
            # Static shapes may start to move: use at least the median motion, so that one of them does not
            # make all boxes invalid at once.
            margin = self._intervals * np.maximum(moved, np.median(moved))[:, None]
            self._enlarged = Aabb.unchecked(boxes.min - margin, boxes.max + margin)
            self._close = self._overlapping(self._enlarged)
            part = len(self._close) / max(1, len(self._first))
            grows = part < _FEW and self._intervals < _LONGEST
            self._intervals *= 0.5 if part > _MANY else 2 if grows else 1
        return self._close

    def _overlapping(self, boxes: Aabb) -> Ints:
        """Rows of the pairs whose boxes overlap, ascending; includes a few others."""
        if not len(self._first):
            return np.empty(0, dtype=np.int64)
        first_codes, second_codes = box_codes(boxes)
        rows = []
        for begin in range(0, len(self._first), CHUNK_ROWS):
            chunk = slice(begin, begin + CHUNK_ROWS)
            codes = first_codes[self._first[chunk]], second_codes[self._second[chunk]]
            rows.append(begin + np.flatnonzero(may_overlap(*codes)))
        return np.concatenate(rows)
