"""Bounding volume hierarchy of boxes that stay and are queried many times.

Exact: the same pairs as brute force, touching included. Boxes are sorted along a Morton curve (Morton 1966),
after their size class. Each 16 consecutive boxes get a parent box, and so on: an implicit 16-ary tree
without pointers.
"""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShapeError
from ..numeric.arrays import Floats, Ints
from ..shapes import Aabb

_Keys: TypeAlias = NDArray[np.uint64]

_BRANCHES = 16
"""Children of a node. Testing this many at once costs hardly more than testing one."""

_TOP = 64
"""Maximum number of nodes at the top level, all of which are tested."""

_ROWS_AT_ONCE = 1 << 18
"""Node tests at a time, about."""

_CELL_BITS = 16
_SIZE_LEVELS = 8


class Bvh:
    """BVH of boxes (n,), n >= 0.

    count : The number of boxes.
    """

    def __init__(self, boxes: Aabb) -> None:
        self.count = len(boxes.min)
        self._order = np.argsort(_sort_keys(boxes), kind="stable")
        level = np.concatenate([boxes.min, -boxes.max], axis=1)[self._order]
        self._levels: list[Floats] = []
        """Nodes of each level from the top, (m, 6): low corners and negated high corners; padded with
        infinity.
        """
        while True:
            rows = -(-max(len(level), 1) // _BRANCHES) * _BRANCHES
            level = np.concatenate([level, np.full((rows - len(level), 6), np.inf)])
            self._levels.insert(0, level)
            if rows <= _TOP:
                break
            level = level.reshape(-1, _BRANCHES, 6).min(axis=1)

    def find_overlapping(self, boxes: Aabb) -> Ints:
        """Find all overlapping pairs of `boxes` and boxes of this hierarchy; touching counts. Exact.

        The result of `overlapping_pairs_between`, with indices into `boxes` first.

        Raises InvalidShapeError: for a batch with other axes.
        """
        if len(boxes.shape) != 1:
            raise InvalidShapeError(f"boxes: the batch must be (n,), not {boxes.shape}")
        query = np.concatenate([boxes.max, -boxes.min], axis=1)
        pairs_found = [np.empty((0, 2), dtype=np.int64)]
        top = len(self._levels[0])
        stack = [(0, np.arange(len(query)).repeat(top), np.tile(np.arange(top), len(query)))]
        while stack:
            depth, i, node = stack.pop()
            for start in range(_ROWS_AT_ONCE, len(i), _ROWS_AT_ONCE):
                rows = slice(start, start + _ROWS_AT_ONCE)
                stack.append((depth, i[rows], node[rows]))
            i, node = i[:_ROWS_AT_ONCE], node[:_ROWS_AT_ONCE]
            is_within = (self._levels[depth][node] <= query[i]).T
            # Combine columns one by one, because `all` over so short an axis is several times slower.
            hit = np.flatnonzero(reduce(np.logical_and, is_within))
            i, node = i[hit], node[hit]
            if depth + 1 == len(self._levels):
                pairs_found.append(np.stack([i, self._order[node]], axis=1))
            elif len(hit):
                children = (node[:, None] * _BRANCHES + np.arange(_BRANCHES)).ravel()
                stack.append((depth + 1, i.repeat(_BRANCHES), children))
        pairs = np.concatenate(pairs_found)
        # Sort by one integer for each pair, because that is much faster than by two.
        return pairs[np.argsort(pairs[:, 0] * max(self.count, 1) + pairs[:, 1])]


def _sort_keys(boxes: Aabb) -> _Keys:
    """Sort keys (n,) of boxes (n,): the size class, then the Morton code of the center."""
    if not len(boxes.min):
        return np.empty(0, dtype=np.uint64)
    center, size = boxes.min / 2 + boxes.max / 2, (boxes.max / 2 - boxes.min / 2).max(axis=1)
    low = center.min(axis=0)
    extent = float((center / 2 - low / 2).max())
    cells = (center / 2 - low / 2) / extent if extent > 0 else np.zeros_like(center)
    steps = (cells * ((1 << _CELL_BITS) - 1)).astype(np.uint64)
    # A size class spans a factor of eight, so that large boxes do not enlarge the parents of small ones.
    level = (np.frexp(size.max())[1] - np.frexp(size)[1]) // 3
    keys: _Keys = np.clip(level, 0, _SIZE_LEVELS - 1).astype(np.uint64) << np.uint64(3 * _CELL_BITS)
    for axis in range(3):
        bits = steps[:, axis]
        # Spread 16 bits so that two zero bits follow each.
        for shift, mask in (
            (16, 0x0000FF0000FF),
            (8, 0x00F00F00F00F),
            (4, 0x0C30C30C30C3),
            (2, 0x249249249249),
        ):
            bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
        keys |= bits << np.uint64(axis)
    return keys
