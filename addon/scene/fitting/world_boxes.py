"""Boxes along the world's axes, fitted again from stacked vertices whenever a subject rotates or scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import CHUNK_ROWS, Floats, Ints, distinct_rows, length
from ...core.skins.blended_points import (
    BLOCK_POINTS,
    kinks_of_outermost,
    outermost_of_one,
    outermost_points,
)

_MANY_VERTICES = 1024
"""Vertices from which on those of one subject are computed alone, and the few that may be extreme are found
first, in single precision."""
_SINGLE = 4 * float(np.finfo(np.float32).eps)
"""Relative error of three products and their sum in single precision, with reserve."""
_SMALLEST = 1e-37
"""Error of numbers that are too small for single precision."""
_OFF_DIAGONAL = ~np.eye(3, dtype=bool)


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

    def boxes(
        self, subjects: Ints, linear: Floats, radii: Floats, is_reproducible: bool = False
    ) -> tuple[Floats, Floats]:
        """Minima and maxima (m, 3) of balls around the vertices of subjects (m,) under linear maps (m, 3, 3).

        Radii (m,) are those of the balls before the map. Reproducible sums have the same last bits on all
        systems, as those of `transform_vectors`, and take twice as long.
        """
        low, high = np.empty((len(subjects), 3)), np.empty((len(subjects), 3))
        for rows, points in self._chunks(subjects):
            extremes = _extremes if points.ndim == 3 else _extremes_of_one
            low[rows], high[rows] = extremes(points.astype(np.float64), linear[rows], is_reproducible)
        if radii.any():
            extent = radii[:, None] * length(linear)
            return low - extent, high + extent
        return low, high

    def kinks(self, subjects: Ints, reach: Floats, begin: Floats, end: Floats) -> Floats:
        """See `FitCache.kinks`."""
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
            if count >= _MANY_VERTICES:
                for member in np.intersect1d(members, subjects).tolist():
                    yield np.flatnonzero(subjects == member), stack[np.searchsorted(members, member)]
                continue
            rows = np.flatnonzero(np.isin(subjects, members))
            size = CHUNK_ROWS // count
            for begin in range(0, len(rows), size):
                chunk = rows[begin : begin + size]
                yield chunk, stack[np.searchsorted(members, subjects[chunk])]


def _extremes(points: Floats, linear: Floats, is_reproducible: bool) -> tuple[Floats, Floats]:
    """Minima and maxima (m, 3) of points (m, 3, v) under linear maps (m, 3, 3): see `VertexStacks.boxes`."""
    if is_reproducible:
        # Zero times infinity is NaN: `WorldBoxes.fit` tests for it.
        with np.errstate(invalid="ignore"):
            world = points[:, None, 0] * linear[..., 0, None] + points[:, None, 1] * linear[..., 1, None]
            world += points[:, None, 2] * linear[..., 2, None]
    else:
        world = linear @ points
    return world.min(axis=-1), world.max(axis=-1)


def _extremes_of_one(points: Floats, linear: Floats, is_reproducible: bool) -> tuple[Floats, Floats]:
    """Minima and maxima (m, 3) of the many points (3, v) of one subject, as `_extremes`."""
    if is_reproducible:
        parts = [_extremes(points[None], each[None], is_reproducible) for each in linear]
        return np.concatenate([low for low, _ in parts]), np.concatenate([high for _, high in parts])
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


def extreme_candidates(points: NDArray[np.float32], linear: Floats) -> NDArray[np.float32]:
    """Return those of points (k, 3) that may be extreme along an axis under a linear map (3, 3).

    All of them where there are few, or where single precision does not reach.
    """
    if len(points) < _MANY_VERTICES or points.dtype != np.float32:
        return points
    coordinates = np.ascontiguousarray(points.T)
    if not linear[_OFF_DIAGONAL].any():
        # The extremes are those along the axes of the points, exactly. A NaN counts as an extreme.
        return np.asarray(points[np.concatenate([coordinates.argmin(axis=1), coordinates.argmax(axis=1)])])
    with np.errstate(over="ignore", invalid="ignore"):
        x, y, z = coordinates
        rough, product = np.empty_like(coordinates), np.empty_like(x)
        # No matmul: Blender's NumPy has no tuned BLAS.
        for row, (a, b, c) in zip(rough, linear.astype(np.float32), strict=True):
            np.multiply(x, a, out=row)
            row += np.multiply(y, b, out=product)
            row += np.multiply(z, c, out=product)
        low, high = rough.min(axis=1), rough.max(axis=1)
    if not (np.isfinite(low) & np.isfinite(high)).all():
        return points
    largest = np.maximum(coordinates.max(axis=1), -coordinates.min(axis=1)).astype(np.float64)
    margin = 2 * (_SINGLE * (np.abs(linear) @ largest) + _SMALLEST)
    is_extreme = rough <= (low + margin).astype(np.float32)[:, None]
    is_extreme |= rough >= (high - margin).astype(np.float32)[:, None]
    return points[np.flatnonzero(is_extreme.any(axis=0))]
