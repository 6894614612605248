"""The search for overlapping pairs of boxes behind `broad_phase`: exact for any layout and any sizes.

Boxes are searched in columns (`box_columns`), whose size a sample decides (`column_choice`). Boxes too wide
for it are set apart and searched again, with each other and with the rest, in columns that suit them: sizes
of many scales come down to a few searches. Nothing is kept but the pairs found and one chunk of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .arrays import CHUNK_ROWS, Bools, Floats, Ints
from .box_columns import BEGINS_ON_BOTH_AXES, Boxes, Columns, Footprint, Grid, counted
from .column_choice import FEW_BOXES, chosen_grid

_FEW_TESTS = 250_000
"""So many pairs are compared faster than sorted."""

_STRETCH = 8192
"""So many boxes at a time stay in the cache while others are compared with them."""

_FEW_ROWS = 400
"""So few are gathered faster than compared in place."""


class PairList:
    """Pairs as they are found, in pieces; one integer a pair, which is the cheapest to sort."""

    def __init__(self, count: int, either_way: bool) -> None:
        """Every second index is below `count`. Either way: the smaller index is written first."""
        self._bits = count.bit_length()
        self._either_way = either_way
        self._pieces = [np.empty(0, dtype=np.int64)]

    def add(self, first: Ints, second: Ints) -> None:
        """Add pairs, (k,) first and (k,) second indices."""
        if self._either_way:
            first, second = np.minimum(first, second), np.maximum(first, second)
        self._pieces.append((first << self._bits) | second)

    def in_order(self) -> Ints:
        """(m, 2) all pairs by first index, then second."""
        keys = np.concatenate(self._pieces)
        keys.sort()
        pairs = np.empty((len(keys), 2), dtype=np.int64)
        np.right_shift(keys, self._bits, out=pairs[:, 0])
        np.bitwise_and(keys, (1 << self._bits) - 1, out=pairs[:, 1])
        return pairs


def find_pairs(a: Boxes, b: Boxes | None, found: PairList) -> None:
    """Add all overlapping pairs between a and b, or within a when there is no b, each once."""
    sides = [a] if b is None else [a, b]
    fewest, most = sorted([len(sides[0].names), len(sides[-1].names)])
    if fewest <= FEW_BOXES or fewest * most <= _FEW_TESTS:
        compare_each(a, b, found)
        return
    grid = chosen_grid(sides)
    sides = [side.sorted_along(grid.sweep) for side in sides]
    footprints = [Footprint.of(side, grid) for side in sides]
    too_wide = [footprint.too_wide(grid) for footprint in footprints]
    if any(np.count_nonzero(mask) * 2 > len(mask) for mask in too_wide):
        # The sample was misleading. Without columns nothing is too wide, and the search comes to an end.
        grid = Grid.without_columns(grid.sweep)
        footprints = [Footprint.of(side, grid) for side in sides]
    elif any(mask.any() for mask in too_wide):
        kept = [np.flatnonzero(~mask) for mask in too_wide]
        wide = [side.picked(np.flatnonzero(mask)) for side, mask in zip(sides, too_wide, strict=True)]
        rest = [side.picked(which) for side, which in zip(sides, kept, strict=True)]
        if b is None:
            find_pairs(wide[0], None, found)
            find_pairs(wide[0], rest[0], found)
        else:
            find_pairs(wide[0], sides[1], found)
            find_pairs(rest[0], wide[1], found)
        sides = rest
        footprints = [part.picked(which) for part, which in zip(footprints, kept, strict=True)]
    columns = [Columns.of(side, part, grid) for side, part in zip(sides, footprints, strict=True)]
    entries = [_Entries.of(side, part, grid) for side, part in zip(sides, columns, strict=True)]
    if b is None:
        _compare_within(columns[0], entries[0], found)
        return
    # Of two that overlap, one begins within the other; of two that begin together, take the second.
    start, stop = columns[0].candidates(columns[1], also_equal=True)
    for i, j in _overlapping(entries[0], entries[1], start, stop):
        found.add(i, j)
    start, stop = columns[1].candidates(columns[0], also_equal=False)
    for j, i in _overlapping(entries[1], entries[0], start, stop):
        found.add(i, j)


def compare_each(a: Boxes, b: Boxes | None, found: PairList) -> None:
    """The same by comparing each box with each, a few rows with a stretch of columns at a time."""
    other = a if b is None else b
    for left in range(0, len(other.names), _STRETCH):
        columns = slice(left, min(left + _STRETCH, len(other.names)))
        height = 2 * CHUNK_ROWS // (columns.stop - left)
        for top in range(0, len(a.names) if b is not None else columns.stop, height):
            rows = slice(top, min(top + height, len(a.names)))
            meet = np.ones((rows.stop - top, columns.stop - left), dtype=np.bool_)
            for axis in range(3):
                meet &= a.low[axis, rows, None] <= other.high[axis, columns]
                meet &= other.low[axis, columns] <= a.high[axis, rows, None]
            i, j = np.divmod(np.flatnonzero(meet), meet.shape[1])
            i += top
            j += left
            if b is None:
                later = i < j
                i, j = i[later], j[later]
            found.add(a.names[i], other.names[j])


class _Entries(NamedTuple):
    """What is compared of the entries of columns, in their order."""

    names: Ints
    begins: NDArray[np.uint8]
    low_u: Floats
    high_u: Floats
    low_v: Floats
    high_v: Floats

    @classmethod
    def of(cls, boxes: Boxes, columns: Columns, grid: Grid) -> _Entries:
        u, v = grid.axes
        faces = (boxes.low[u], boxes.high[u], boxes.low[v], boxes.high[v])
        return cls(boxes.names[columns.rank], columns.begins, *(face[columns.rank] for face in faces))

    def meet(self, i: slice | Ints, other: _Entries, j: slice | Ints) -> Bools:
        """Whether entries i overlap entries j of `other` on both axes, in the column that counts."""
        meet: Bools = self.low_u[i] <= other.high_u[j]
        meet &= other.low_u[j] <= self.high_u[i]
        meet &= self.low_v[i] <= other.high_v[j]
        meet &= other.low_v[j] <= self.high_v[i]
        meet &= (self.begins[i] | other.begins[j]) == BEGINS_ON_BOTH_AXES
        return meet


def _compare_within(columns: Columns, entries: _Entries, found: PairList) -> None:
    """Compare each entry with its candidates, which follow it.

    As long as one entry in eight has a candidate at some distance, all pairs of entries at that distance are
    compared: two slices, several times faster than gathering the candidates.
    """
    keys, ends = columns.keys, columns.candidates_end(columns)
    for low in range(0, len(keys), CHUNK_ROWS):
        high = min(low + CHUNK_ROWS, len(keys))
        for step in count(1):
            here = slice(low, max(low, min(high, len(keys) - step)))
            there = slice(low + step, here.stop + step)
            meet = keys[there] < ends[here]
            if np.count_nonzero(meet) <= max(_FEW_ROWS, (high - low) // 8):
                break
            meet &= entries.meet(here, entries, there)
            i = np.flatnonzero(meet)
            i += low
            found.add(entries.names[i], entries.names[i + step])
        i = np.flatnonzero(meet)
        i += low
        for first, second in _overlapping(entries, entries, i + step, np.searchsorted(keys, ends[i]), i):
            found.add(first, second)


def _overlapping(
    a: _Entries, b: _Entries, start: Ints, stop: Ints, rows: Ints | None = None
) -> Iterator[tuple[Ints, Ints]]:
    """Compare entries of a (those of `rows`) with start to stop of b; gives the pairs a chunk at a time."""
    some = np.flatnonzero(stop > start)
    rows = some if rows is None else rows[some]
    start, ends = start[some], np.cumsum((stop - start)[some])
    begins = np.concatenate([[0], ends[:-1]])
    total = int(ends[-1]) if len(ends) else 0
    for done in range(0, total, CHUNK_ROWS):
        # From the middle of one row to the middle of another: no row is too long for a chunk.
        upto = min(done + CHUNK_ROWS, total)
        part = slice(int(np.searchsorted(ends, done, side="right")), int(np.searchsorted(ends, upto)) + 1)
        skipped = np.maximum(done - begins[part], 0)
        number = np.minimum(ends[part], upto) - begins[part] - skipped
        i, j = np.repeat(rows[part], number), counted(start[part] + skipped, number)[0]
        meet = np.flatnonzero(a.meet(i, b, j))
        yield a.names[i[meet]], b.names[j[meet]]
