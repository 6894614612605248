"""Boxes along the world's axes, fitted again from stacked vertices whenever a subject rotates or scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, CollisionBoundsError, EmptyGeometryError, NonFiniteGeometryError
from ...core.interval.box_kinks import (
    BLOCK_POINTS,
    kinks_of_outermost,
    outermost_of_one,
    outermost_points,
)
from ...core.numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, distinct_rows, length

_MANY_VERTICES = 1024
"""Vertices from which on those of one subject are computed alone, and the few that may be extreme are found
first, in single precision."""
_SINGLE = 4 * float(np.finfo(np.float32).eps)
"""Relative error of three products and their sum in single precision, with reserve."""
_SMALLEST = 1e-37
"""Error of numbers that are too small for single precision."""
_OFF_DIAGONAL = ~np.eye(3, dtype=bool)


@dataclass
class AabbArrays:
    """Boxes along the world's axes: min (N, 3), max (N, 3)."""

    min: Floats
    max: Floats

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge boxes that are smaller than a half size (N,), and return which these were."""
        sides = room[:, None]
        is_smaller = ((self.max - self.min) / 2 < sides).any(axis=1)
        self.min[is_smaller], self.max[is_smaller] = -2 * sides[is_smaller], 2 * sides[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Aabb:
        """Boxes (N,) moved by offsets (N, 3)."""
        return Aabb.unchecked(self.min + offset, self.max + offset)


class WorldBoxes:
    """Boxes of subjects 0 to n - 1 around their origins, at most one each.

    Attributes
    ----------
    owners : (N,) int
        Subjects that have a box.
    has_parts : bool
        False: no subject has more than one box.
    """

    has_parts = False

    def __init__(self, count: int, without: Ints, vertices: Mapping[int, NDArray[np.float32]]) -> None:
        """Make room for `count` boxes.

        Parameters
        ----------
        count : int
            Number of subjects.
        without : (k,) int
            Subjects that get no box, which `take` is never called for.
        vertices : mapping
            Vertices that each subject was fitted to last.
        """
        self.owners: Ints = np.delete(np.arange(count), without)
        self._boxes = AabbArrays(np.zeros((count, 3)), np.zeros((count, 3)))
        self._vertices = vertices
        self._stacks: VertexStacks | None = None
        self._radii = np.zeros(count)

    def fit(
        self,
        subjects: Ints,
        points: Sequence[NDArray[np.float32]],
        linear: Floats,
        radii: Floats,
        errors: dict[int, CollisionBoundsError],
    ) -> None:
        """Fit boxes to the vertices of subjects (m,); see `FitCache.fit`. Adds to `errors`."""
        self._radii[subjects] = radii
        has_points = np.array([len(vertices) > 0 for vertices in points], dtype=bool)
        entries = np.flatnonzero(has_points)
        candidates = {entry: _extreme_candidates(points[entry], linear[entry]) for entry in entries.tolist()}
        stacks = VertexStacks(candidates)
        low, high = stacks.boxes(entries, linear[entries], radii[entries], is_reproducible=True)
        # A vertex with a coordinate that is not finite makes a side of the box so.
        is_finite = (np.isfinite(low) & np.isfinite(high)).all(axis=1)
        fitted = subjects[entries[is_finite]]
        self._boxes.min[fitted], self._boxes.max[fitted] = low[is_finite], high[is_finite]
        for subject in subjects[~has_points].tolist():
            errors[subject] = EmptyGeometryError("no points")
        for subject in subjects[entries[~is_finite]].tolist():
            errors[subject] = NonFiniteGeometryError("points: not all are finite")
        for subject, vertices in zip(subjects.tolist(), points, strict=True):
            if self._stacks and (subject in errors or not self._stacks.replace(subject, vertices)):
                self._stacks = None

    def keep_frames(self) -> None:
        """Do nothing: the axes are those of the world."""

    def restart(self) -> None:
        """Do nothing: the axes are those of the world."""

    def take(self, subjects: Ints) -> AabbArrays:
        """Copy the boxes of subjects (m,)."""
        return AabbArrays(self._boxes.min[subjects], self._boxes.max[subjects])

    def follow(
        self,
        boxes: AabbArrays,
        subjects: Ints,
        linear: Floats,
        changed: Ints,
        errors: dict[int, CollisionBoundsError],
    ) -> None:
        """Bring boxes of subjects (m,) to linear maps (m, 3, 3); those at `changed` (k,) are new."""
        self._stacks = self._stacks or VertexStacks(self._vertices)
        rows = subjects[changed]
        boxes.min[changed], boxes.max[changed] = self._stacks.boxes(rows, linear[changed], self._radii[rows])

    def kinks(self, subjects: Ints, reach: Floats, begin: Floats, end: Floats) -> Floats:
        """See `FitCache.kinks`."""
        self._stacks = self._stacks or VertexStacks(self._vertices)
        return self._stacks.kinks(subjects, reach, begin, end)


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
        for rows, stacked in self._in_chunks(subjects):
            low[rows], high[rows] = _extremes(stacked.astype(np.float64), linear[rows], is_reproducible)
        for rows, points in self._one_by_one(subjects):
            low[rows], high[rows] = _extremes_of_one(points.astype(np.float64), linear[rows], is_reproducible)
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
        outermost = self._outermost(owners[first], ends[first])[place]
        of_ends = outermost[: len(changed)], outermost[len(changed) :]
        result[changed] = kinks_of_outermost(of_ends, begin, end, reach[changed])
        return result

    def _outermost(self, subjects: Ints, linear: Floats) -> Floats:
        """Find the outermost vertices (m, 3, 6) of subjects (m,) as `outermost_points`."""
        result = np.empty((len(subjects), 3, 6))
        for rows, stacked in self._in_chunks(subjects):
            result[rows] = outermost_points(stacked.astype(np.float32, copy=False), linear[rows])
        for rows, points in self._one_by_one(subjects):
            result[rows] = outermost_of_one(points.astype(np.float32, copy=False), linear[rows])
        return result

    def _in_chunks(self, subjects: Ints) -> Iterator[tuple[Ints, NDArray[np.float32]]]:
        """Yield rows (k,) of those of subjects (m,) that have equally many vertices, with these (k, 3, v).

        Subjects with many vertices are not among them.
        """
        for count, (members, stack) in self._stacks.items():
            if count < _MANY_VERTICES:
                rows = np.flatnonzero(np.isin(subjects, members))
                size = CHUNK_ROWS // count
                for begin in range(0, len(rows), size):
                    chunk = rows[begin : begin + size]
                    yield chunk, stack[np.searchsorted(members, subjects[chunk])]

    def _one_by_one(self, subjects: Ints) -> Iterator[tuple[Ints, NDArray[np.float32]]]:
        """Yield rows (k,) of each of subjects (m,) with many vertices, with these (3, v)."""
        for count, (members, stack) in self._stacks.items():
            if count >= _MANY_VERTICES:
                for member in np.intersect1d(members, subjects).tolist():
                    rows = np.flatnonzero(subjects == member)
                    yield rows, stack[np.searchsorted(members, member)]


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


def _extreme_candidates(points: NDArray[np.float32], linear: Floats) -> NDArray[np.float32]:
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
