"""Pairs of overlapping boxes, the broad phase: sweep and prune in the columns of a grid.

Exact for any layout and any sizes: the same pairs as brute force, boxes that only touch included. The cost
grows with the number of boxes and pairs, not with its square.

The grid is chosen from a sample. Boxes too wide for it are searched separately, with each other and with the
rest, each time in a grid that suits them, so that sizes of many scales need few searches. Memory holds the
pairs found and one chunk of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, concatenated_ranges
from ..shapes import Aabb
from .grid import BEGINS_ON_BOTH_AXES, Boxes, Columns, Footprint, Grid, choose_grid

_FEW_BOXES = 64
"""Up to this many boxes are compared with all others faster than those are sorted into columns."""

_FEW_TESTS = 250_000
"""Up to this many pairs, brute force is faster than sorting."""

_CACHED_BOXES = 8192
"""Boxes that stay in the cache while others are compared with them."""

_FEW_ROWS = 400
"""Up to this many candidates are gathered faster than compared in place."""


def overlapping_pairs(boxes: Aabb) -> Ints:
    """Find all pairs of overlapping boxes; touching counts.

    Exact: the same pairs as brute force. Memory is bounded by the boxes and the result.

    Parameters
    ----------
    boxes : Aabb, batch (n,)
        In one space and unit.

    Returns
    -------
    pairs : (m, 2) int64
        Indices i < j, sorted by i, then j.

    Raises
    ------
    InvalidShapeError
        For a batch with other axes.
    """
    return _sorted_pairs(boxes=boxes)


def overlapping_pairs_between(a: Aabb, b: Aabb) -> Ints:
    """Find all overlapping pairs of one box of `a` and one of `b`; touching counts.

    Exact and bounded in memory like `overlapping_pairs`. Overlaps within a group cost nothing.

    Parameters
    ----------
    a, b : Aabb, batches (n,) and (k,)
        In one space and unit.

    Returns
    -------
    pairs : (m, 2) int64
        Indices into a and into b, sorted by the first, then the second.

    Raises
    ------
    InvalidShapeError
        For a batch with other axes, naming it.
    """
    return _sorted_pairs(a=a, b=b)


_Found: TypeAlias = Iterator[tuple[Ints, Ints]]
"""Some pairs after others: first and second indices, (k,) each."""


def _sorted_pairs(**groups: Aabb) -> Ints:
    """All pairs (m, 2) within one group or between two, sorted by the first index, then the second.

    Errors name the groups.
    """
    sides = []
    for name, boxes in groups.items():
        require_type(boxes, Aabb, name)
        if len(boxes.shape) != 1:
            raise InvalidShapeError(f"{name}: the batch must be (n,), not {boxes.shape}")
        low, high = (np.ascontiguousarray(corner.T) for corner in (boxes.min, boxes.max))
        sides.append(Boxes(np.arange(boxes.shape[0], dtype=np.int64), low, high))
    found = find_pairs(sides[0], sides[1] if len(sides) > 1 else None)
    if len(sides) == 1:
        found = ((np.minimum(i, j), np.maximum(i, j)) for i, j in found)
    bits = len(sides[-1].ids).bit_length()
    # One integer for each pair while they are collected, because integers are the cheapest to sort.
    keys = np.concatenate([np.empty(0, dtype=np.int64), *((i << bits) | j for i, j in found)])
    keys.sort()
    pairs = np.empty((len(keys), 2), dtype=np.int64)
    np.right_shift(keys, bits, out=pairs[:, 0])
    np.bitwise_and(keys, (1 << bits) - 1, out=pairs[:, 1])
    return pairs


def find_pairs(a: Boxes, b: Boxes | None) -> _Found:
    """Find all overlapping pairs between two groups, or within the first one, each once. Exact.

    Yields the indices (k,) of both boxes of some pairs, in any order.
    """
    sides = [a] if b is None else [a, b]
    smaller, larger = sorted([len(sides[0].ids), len(sides[-1].ids)])
    if smaller <= _FEW_BOXES or smaller * larger <= _FEW_TESTS:
        yield from _compare_all(a, b)
        return
    grid = choose_grid(sides)
    sides = [side.take(np.argsort(side.low[grid.sweep_axis])) for side in sides]
    footprints = [Footprint.of(side, grid) for side in sides]
    too_wide = [footprint.too_wide(grid) for footprint in footprints]
    if any(np.count_nonzero(mask) * 2 > len(mask) for mask in too_wide):
        # The sample was misleading. Search without columns, because then no box is too wide and the
        # recursion ends.
        grid = Grid.without_columns(grid.sweep_axis)
        footprints = [Footprint.of(side, grid) for side in sides]
    elif any(mask.any() for mask in too_wide):
        kept = [np.flatnonzero(~mask) for mask in too_wide]
        wide = [side.take(np.flatnonzero(mask)) for side, mask in zip(sides, too_wide, strict=True)]
        rest = [side.take(which) for side, which in zip(sides, kept, strict=True)]
        if b is None:
            yield from find_pairs(wide[0], None)
            yield from find_pairs(wide[0], rest[0])
        else:
            yield from find_pairs(wide[0], sides[1])
            yield from find_pairs(rest[0], wide[1])
        sides = rest
        footprints = [part.take(which) for part, which in zip(footprints, kept, strict=True)]
    columns = [Columns.of(side, part, grid) for side, part in zip(sides, footprints, strict=True)]
    entries = [_Entries.of(side, part, grid) for side, part in zip(sides, columns, strict=True)]
    if b is None:
        yield from _compare_within(columns[0], entries[0])
        return
    # Of two boxes that overlap, one begins within the other. If both begin together, count the second one.
    start, stop = columns[0].candidates(columns[1], also_equal=True)
    yield from _overlapping(entries[0], entries[1], start, stop)
    start, stop = columns[1].candidates(columns[0], also_equal=False)
    yield from ((i, j) for j, i in _overlapping(entries[1], entries[0], start, stop))


def _compare_all(a: Boxes, b: Boxes | None) -> _Found:
    """Find these pairs by brute force, in blocks of rows and columns that fit the cache. Exact."""
    other = a if b is None else b
    for left in range(0, len(other.ids), _CACHED_BOXES):
        columns = slice(left, min(left + _CACHED_BOXES, len(other.ids)))
        height = 2 * CHUNK_ROWS // (columns.stop - left)
        for top in range(0, len(a.ids) if b is not None else columns.stop, height):
            rows = slice(top, min(top + height, len(a.ids)))
            is_hit = np.ones((rows.stop - top, columns.stop - left), dtype=np.bool_)
            for axis in range(3):
                is_hit &= a.low[axis, rows, None] <= other.high[axis, columns]
                is_hit &= other.low[axis, columns] <= a.high[axis, rows, None]
            i, j = np.divmod(np.flatnonzero(is_hit), is_hit.shape[1])
            i += top
            j += left
            if b is None:
                later = i < j
                i, j = i[later], j[later]
            yield a.ids[i], other.ids[j]


class _Entries(NamedTuple):
    """The data of the m entries of columns that are compared, in their order.

    ids : (m,) int64
    begins : (m,) uint8. See Columns.
    low_u, high_u, low_v, high_v : (m,) float64. Faces on both axes of the grid.
    """

    ids: Ints
    begins: NDArray[np.uint8]
    low_u: Floats
    high_u: Floats
    low_v: Floats
    high_v: Floats

    @classmethod
    def of(cls, boxes: Boxes, columns: Columns, grid: Grid) -> _Entries:
        """Gather the data of entries from their boxes, which are sorted along the sweep axis."""
        u, v = grid.axes
        faces = (boxes.low[u], boxes.high[u], boxes.low[v], boxes.high[v])
        return cls(boxes.ids[columns.rank], columns.begins, *(face[columns.rank] for face in faces))

    def overlap(self, i: slice | Ints, other: _Entries, j: slice | Ints) -> Bools:
        """Decide which entries i overlap entries j of `other` on both axes, in the column that counts."""
        is_hit: Bools = self.low_u[i] <= other.high_u[j]
        is_hit &= other.low_u[j] <= self.high_u[i]
        is_hit &= self.low_v[i] <= other.high_v[j]
        is_hit &= other.low_v[j] <= self.high_v[i]
        is_hit &= (self.begins[i] | other.begins[j]) == BEGINS_ON_BOTH_AXES
        return is_hit


def _compare_within(columns: Columns, entries: _Entries) -> _Found:
    """Compare each entry with its candidates, which follow it.

    While at least one entry in eight has a candidate k entries later, all pairs of entries at that distance
    are compared as two slices. That is several times faster than gathering the candidates.
    """
    keys, ends = columns.keys, columns.candidates_end(columns)
    for low in range(0, len(keys), CHUNK_ROWS):
        high = min(low + CHUNK_ROWS, len(keys))
        for step in count(1):
            here = slice(low, max(low, min(high, len(keys) - step)))
            there = slice(low + step, here.stop + step)
            is_hit = keys[there] < ends[here]
            if np.count_nonzero(is_hit) <= max(_FEW_ROWS, (high - low) // 8):
                break
            is_hit &= entries.overlap(here, entries, there)
            i = np.flatnonzero(is_hit)
            i += low
            yield entries.ids[i], entries.ids[i + step]
        i = np.flatnonzero(is_hit)
        i += low
        yield from _overlapping(entries, entries, i + step, np.searchsorted(keys, ends[i]), i)


def _overlapping(a: _Entries, b: _Entries, start: Ints, stop: Ints, rows: Ints | None = None) -> _Found:
    """Compare entries of a, or those of `rows`, with entries start to stop of b, in chunks."""
    nonempty = np.flatnonzero(stop > start)
    rows = nonempty if rows is None else rows[nonempty]
    start, ends = start[nonempty], np.cumsum((stop - start)[nonempty])
    begins = np.concatenate([[0], ends[:-1]])
    total = int(ends[-1]) if len(ends) else 0
    for done in range(0, total, CHUNK_ROWS):
        # A chunk begins and ends anywhere within a row, so that long rows are split.
        end = min(done + CHUNK_ROWS, total)
        part = slice(int(np.searchsorted(ends, done, side="right")), int(np.searchsorted(ends, end)) + 1)
        skipped = np.maximum(done - begins[part], 0)
        size = np.minimum(ends[part], end) - begins[part] - skipped
        i, j = np.repeat(rows[part], size), concatenated_ranges(start[part] + skipped, size)
        hits = np.flatnonzero(a.overlap(i, b, j))
        yield a.ids[i[hits]], b.ids[j[hits]]
