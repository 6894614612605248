"""Boxes that stay where they are, sorted once so that they can be asked many times what overlaps them.

Exact: always the pairs that comparing each with each would give, touching ones included. Boxes are put in an
order in which neighbours are near each other and about as large (Morton 1966). Each sixteen that follow one
another get a box around them, those boxes too, and so on: a query looks only into boxes that it overlaps.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .arrays import Bools, Floats, Ints
from .errors import InvalidShapeError
from .shapes import Aabb

_Keys: TypeAlias = NDArray[np.uint64]

_BRANCHES = 16
"""Boxes in the box above them: a look at so many at once costs hardly more than a look at one."""

_TOP = 64
"""And so many of the largest boxes are all looked at."""

_ROWS_AT_ONCE = 1 << 18
"""About so many boxes are looked at together."""

_CELL_BITS = 16
_SIZE_LEVELS = 8


class BoxHierarchy:
    """Boxes (n,), n >= 0, to be asked by `overlapping`. Raises InvalidShapeError for any other batch."""

    def __init__(self, boxes: Aabb) -> None:
        _require_one_axis(boxes)
        self.count = len(boxes.min)
        self._order = np.argsort(_keys(boxes), kind="stable")
        level = np.concatenate([boxes.min, -boxes.max], axis=1)[self._order]
        self._levels: list[Floats] = []
        """From the top: (m, 6) low corners and minus the high ones. Filled up with what nothing overlaps."""
        while True:
            rows = -(-max(len(level), 1) // _BRANCHES) * _BRANCHES
            level = np.concatenate([level, np.full((rows - len(level), 6), np.inf)])
            self._levels.insert(0, level)
            if rows <= _TOP:
                break
            level = level.reshape(-1, _BRANCHES, 6).min(axis=1)

    def overlapping(self, boxes: Aabb) -> Ints:
        """All pairs of one of `boxes` (k,) and one of these that overlap it; touching counts. Exact.

        Returns (m, 2) int64, sorted by the first, then the second: what `overlapping_pairs_between` finds.
        Raises InvalidShapeError when the batch is not (k,).
        """
        _require_one_axis(boxes)
        query = np.concatenate([boxes.max, -boxes.min], axis=1)
        found = [np.empty((0, 2), dtype=np.int64)]
        top = len(self._levels[0])
        waiting = [(0, np.arange(len(query)).repeat(top), np.tile(np.arange(top), len(query)))]
        while waiting:
            depth, i, node = waiting.pop()
            for start in range(_ROWS_AT_ONCE, len(i), _ROWS_AT_ONCE):
                rows = slice(start, start + _ROWS_AT_ONCE)
                waiting.append((depth, i[rows], node[rows]))
            i, node = i[:_ROWS_AT_ONCE], node[:_ROWS_AT_ONCE]
            hit = np.flatnonzero(_all_within(self._levels[depth][node], query[i]))
            i, node = i[hit], node[hit]
            if depth + 1 == len(self._levels):
                found.append(np.stack([i, self._order[node]], axis=1))
            elif len(hit):
                below = (node[:, None] * _BRANCHES + np.arange(_BRANCHES)).ravel()
                waiting.append((depth + 1, i.repeat(_BRANCHES), below))
        pairs = np.concatenate(found)
        # One number a pair sorts much faster than two.
        return pairs[np.argsort(pairs[:, 0] * max(self.count, 1) + pairs[:, 1])]


def _require_one_axis(boxes: Aabb) -> None:
    if len(boxes.shape) != 1:
        raise InvalidShapeError(f"boxes: the batch must be (n,), not {boxes.shape}")


def _all_within(low: Floats, high: Floats) -> Bools:
    """(m,) whether each of six numbers (m, 6) is at most the other."""
    # Reducing over so short an axis is several times slower.
    below = (low <= high).T
    return np.asarray(below[0] & below[1] & below[2] & below[3] & below[4] & below[5])


def _keys(boxes: Aabb) -> _Keys:
    """(n,) numbers by which boxes are sorted: how large, then the bits of their middles, axis by axis."""
    if not len(boxes.min):
        return np.empty(0, dtype=np.uint64)
    middle, size = boxes.min / 2 + boxes.max / 2, (boxes.max / 2 - boxes.min / 2).max(axis=1)
    low = middle.min(axis=0)
    extent = float((middle / 2 - low / 2).max())
    cells = (middle / 2 - low / 2) / extent if extent > 0 else np.zeros_like(middle)
    steps = (cells * ((1 << _CELL_BITS) - 1)).astype(np.uint64)
    # Each level is of sizes up to eight times those of the next: few large ones widen no group of small ones.
    level = (np.frexp(size.max())[1] - np.frexp(size)[1]) // 3
    keys: _Keys = np.clip(level, 0, _SIZE_LEVELS - 1).astype(np.uint64) << np.uint64(3 * _CELL_BITS)
    for axis in range(3):
        keys |= _spread(steps[:, axis]) << np.uint64(axis)
    return keys


def _spread(bits: _Keys) -> _Keys:
    """Sixteen bits each, with two empty ones after every one."""
    for shift, mask in (
        (16, 0x0000FF0000FF),
        (8, 0x00F00F00F00F),
        (4, 0x0C30C30C30C3),
        (2, 0x249249249249),
    ):
        bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
    return bits
