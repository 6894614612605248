"""Boxes along the world's axes, fitted again from stacked vertices whenever a subject rotates or scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb
from ...core.numeric.arrays import CHUNK_ROWS, Floats, Ints, distinct_rows
from ...core.skins.blended_points import BLOCK_POINTS, kinks_of_outermost, outermost_of_one, outermost_points
from .fit import MANY_VERTICES


class VertexStacks:
    """Vertices of subjects, those with equally many vertices in one array."""

    def __init__(self, points: Mapping[int, NDArray[np.float32]]) -> None:
        """Stack the vertices (k, 3) of subjects, by the subjects' indices."""
        self._stacks: dict[int, tuple[Ints, NDArray[np.float32]]] = {}
        subjects = np.array(sorted(points), dtype=np.int64)
        counts = np.array([len(points[k]) for k in subjects.tolist()], dtype=np.int64)
        for count in np.unique(counts[counts > 0]).tolist():
            members = subjects[counts == count]
            # Coordinate by coordinate in memory, too: `np.stack` keeps the order of its parts.
            stack = np.ascontiguousarray(np.stack([points[k].T for k in members.tolist()]))
            self._stacks[count] = members, stack

    def replace(self, subject: int, points: NDArray[np.float32]) -> bool:
        """Replace the vertices (k, 3) of a subject; return whether there is room for so many."""
        members, stack = self._stacks.get(len(points), (np.zeros(0, dtype=np.int64), points))
        row = int(np.searchsorted(members, subject))
        if row == len(members) or members[row] != subject or not np.can_cast(points.dtype, stack.dtype):
            return False
        stack[row] = points.T
        return True

    def boxes(self, subjects: Ints, linear: Floats) -> Aabb:
        """Boxes (m,) around the vertices of subjects (m,) under linear maps (m, 3, 3).

        The last bits of their sides depend on the system.
        """
        low, high = np.empty((len(subjects), 3)), np.empty((len(subjects), 3))
        for rows, points in self._chunks(subjects):
            if points.ndim == 3:
                world = linear[rows] @ points.astype(np.float64)
                low[rows], high[rows] = world.min(axis=-1), world.max(axis=-1)
            else:
                low[rows], high[rows] = _extremes_of_one(points.astype(np.float64), linear[rows])
        return Aabb.unchecked(low, high)

    def kinks(self, subjects: Ints, reach: Floats, begin: Floats, end: Floats) -> Floats:
        """Bound how far the sides of boxes of subjects (m,) along the world's axes are from linear motion.

        All vertices move linearly between linear maps (m, 3, 3), and another one becomes the outermost. They
        have no radius: subjects with custom shapes are not known.

        reach : (m,) as `FitCache.reach_and_counts` returns it
        """
        result, changed = np.zeros(len(subjects)), np.flatnonzero((begin != end).any(axis=(1, 2)))
        owners, begin, end = np.tile(subjects[changed], 2), begin[changed], end[changed]
        ends = np.concatenate([begin, end])
        # Intervals that follow each other have one end in common.
        first, place = distinct_rows(np.column_stack([owners, ends.reshape(-1, 9)]))
        owners, ends = owners[first], ends[first]
        outermost = np.empty((len(owners), 3, 6))
        for rows, points in self._chunks(owners):
            find = outermost_points if points.ndim == 3 else outermost_of_one
            outermost[rows] = find(points.astype(np.float32, copy=False), ends[rows])
        of_ends = outermost[place[: len(changed)]], outermost[place[len(changed) :]]
        result[changed] = kinks_of_outermost(of_ends, begin, end, reach[changed])
        return result

    def _chunks(self, subjects: Ints) -> Iterator[tuple[Ints, NDArray[np.float32]]]:
        """Yield rows (k,) of those of subjects (m,) that have equally many vertices, with these (k, 3, v).

        Subjects with many vertices are yielded one by one, with these (3, v).
        """
        for count, (members, stack) in self._stacks.items():
            if count >= MANY_VERTICES:
                for member in np.intersect1d(members, subjects).tolist():
                    yield np.flatnonzero(subjects == member), stack[np.searchsorted(members, member)]
                continue
            rows = np.flatnonzero(np.isin(subjects, members))
            size = CHUNK_ROWS // count
            for begin in range(0, len(rows), size):
                chunk = rows[begin : begin + size]
                yield chunk, stack[np.searchsorted(members, subjects[chunk])]


def _extremes_of_one(points: Floats, linear: Floats) -> tuple[Floats, Floats]:
    """Minima and maxima (m, 3) of the many points (3, v) of one subject under linear maps (m, 3, 3)."""
    low, high = np.full((len(linear), 3), np.inf), np.full((len(linear), 3), -np.inf)
    for start in range(0, points.shape[1], BLOCK_POINTS):
        block = np.ascontiguousarray(points[:, start : start + BLOCK_POINTS])
        # One array for all maps: memory that is new takes longer than the product.
        world = np.empty_like(block)
        for row, each in enumerate(linear):
            np.matmul(each, block, out=world)
            # Not with `out`, which is far slower.
            low[row] = np.minimum(low[row], world.min(axis=1))
            high[row] = np.maximum(high[row], world.max(axis=1))
    return low, high
