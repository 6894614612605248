"""Pair filter: which pairs a contact scan tests, by settings, and by boxes that overlap.

Boxes are those over a whole block first, then those of each interval. Pairs of which neither subject moves
are skipped, see `changing_subjects` and `candidate_pairs`, but for the first block of a section and the last
frame of the scan, where `pair_scanner` tests them too. `sections` drops contacts of pairs that never moved
from the report, unless static pairs were requested, or nothing moves at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..broad_phase.overlapping_pairs import overlapping_pairs
from ..distance.dispatch import overlaps
from ..errors import InvalidShapeError
from ..interval.pair_motion import MOTIONS_OF_SHAPES, rotation_sagitta
from ..numeric.arguments import as_indices, as_mask
from ..numeric.arrays import Bools, Floats, Ints, Table, dot, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Aabb, Sphere, differences
from .interval_block import Frames, IntervalBlock
from .records import is_run_start


class PairFilter:
    """Groups, ignored pairs and labels of `count` subjects.

    group_a, group_b : (count,) masks or None for all
    ignored : pairs of subjects to skip, in either order
    separate : (count,) labels or None; pairs with equal labels >= 0 are skipped

    Raises InvalidShapeError for settings that do not fit the number of subjects.
    """

    def __init__(
        self,
        count: int,
        group_a: Bools | None,
        group_b: Bools | None,
        ignored: Sequence[tuple[int, int]],
        separate: Ints | None,
    ) -> None:
        all_subjects = np.ones(count, dtype=bool)
        self.count = count
        self.group_a, self.group_b = (
            all_subjects if mask is None else as_mask(mask, f"settings: {name}", (count,))
            for name, mask in (("group_a", group_a), ("group_b", group_b))
        )
        self._separate = None if separate is None else as_indices(separate, "settings: separate")
        if self._separate is not None and self._separate.shape != (count,):
            raise InvalidShapeError(f"settings: separate does not fit {count} subjects")
        pairs = as_indices(ignored, "settings: ignored")
        if pairs.size and (pairs.shape[1:] != (2,) or pairs.min() < 0 or pairs.max() >= count):
            raise InvalidShapeError(f"settings: ignored does not fit {count} subjects")
        ignored_pairs = np.sort(pairs.reshape(-1, 2), axis=1)
        self._ignored = self.keys(ignored_pairs[:, 0], ignored_pairs[:, 1])
        self._groups = group_a is not None or group_b is not None

    def keys(self, first: Ints, second: Ints) -> Ints:
        """Return one number (m,) for each pair, the same for either order."""
        return np.asarray(np.minimum(first, second) * self.count + np.maximum(first, second))

    def includes(self, first: Ints, second: Ints) -> Bools:
        """Return a mask (m,) of pairs to test."""
        result = np.asarray(first != second)
        if self._groups:
            a, b = self.group_a, self.group_b
            result &= (a[first] & b[second]) | (a[second] & b[first])
        if self._separate is not None:
            labels = self._separate[first]
            result &= (labels < 0) | (labels != self._separate[second])
        if len(self._ignored):
            result &= ~np.isin(self.keys(first, second), self._ignored)
        return result

    def count_pairs(self, mask: Bools | None = None) -> int:
        """Count the pairs to test, by formulas; only those of which a mask (count,) has both subjects."""
        within = np.ones(self.count, dtype=bool) if mask is None else mask
        a, b = self.group_a & within, self.group_b & within
        total = _count_between(a, b, np.zeros(self.count, dtype=np.int64))
        if self._separate is not None:
            is_labeled = self._separate >= 0
            total -= _count_between(a & is_labeled, b & is_labeled, self._separate)
        first, second = np.divmod(np.unique(self._ignored), max(1, self.count))
        # A filter that ignores no pairs includes those that are counted in the total.
        unfiltered = PairFilter(self.count, a, b, (), self._separate)
        return total - int(unfiltered.includes(first, second).sum())

    def in_order(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Return pairs i < j (m,) as reported: a subject of group A first, otherwise the lower index."""
        as_given = self.group_a[i] & self.group_b[j]
        return np.where(as_given, i, j), np.where(as_given, j, i)


def _count_between(a: Bools, b: Bools, labels: Ints) -> int:
    """Count the pairs of different subjects with equal labels (n,), one in each of two masks (n,)."""
    size = int(labels.max(initial=-1)) + 1
    in_a, in_b, in_both = (np.bincount(labels[mask], minlength=size) for mask in (a, b, a & b))
    # Ordered pairs of different subjects; those with both in both masks were counted twice.
    return int((in_a * in_b - in_both - in_both * (in_both - 1) // 2).sum())


class Candidates(Table):
    """Pairs of shapes that may touch, and what the pair cache holds of each.

    pairs : (m, 2) int. Indices of both shapes.
    keys : (m,) int. Keys of the pairs of subjects in the pair cache.
    size : (m,) float. Size of the smaller subject.
    least : (m,) float. Least separation so far, inf for new pairs.
    has_contact_before : (m,) bool. Whether the pair had a contact before this block.
    open_least : (m,) float. Least separation within the contact that lasts until this block; inf for pairs
        without one.
    """

    pairs: Ints
    keys: Ints
    size: Floats
    least: Floats
    has_contact_before: Bools
    open_least: Floats

    def separation_cutoff(self, clearance: float = 0.0) -> Floats:
        """Separations (m,) at or above which a pair's least separation need not be computed.

        Such a value cannot change the report: either a smaller separation is known already, or it exceeds
        both the clearance and the size below which a pair counts as a near miss.
        """
        return np.minimum(self.least, np.maximum(self.size, clearance) * (1 + CHAIN_ROUNDING))


DEPTH_TOLERANCE = 0.01
"""Part of a pair's size by which its greatest depth or its gap may be off, for want of samples."""
_UNSURE = 1e-9
"""Part of the distance of two shapes by which bounds of their separation may be off through rounding."""
_SMALL = 1e-280
"""Square of a length above which no precision is lost to underflow."""


def may_be_deeper(deviation: Floats | float, low: Floats, least: Floats, tolerance: Floats) -> Bools:
    """Decide whether pairs may come nearer than known, by more than a tolerance.

    deviation, low : (m,) from linear motion, and the least separation of that motion
    least : (m,) least separation that is known of the pair
    tolerance : (m,) a deviation below this does not matter
    """
    return np.asarray((deviation > tolerance) & (low - deviation < least - tolerance))


class SubjectSizes:
    """Sizes of shapes and subjects, measured when first present.

    of_shape : (n,) float. Half the diagonal of the box around a shape, or the radius of a sphere; NaN until
        measured.
    of_subject : (s,) float. Size of the subject's shape, or half the diagonal of the box around its parts;
        NaN until measured.
    """

    def __init__(self, subject_of: Ints, subject_count: int, is_whole: bool) -> None:
        """Start without sizes; `is_whole` means that each subject is one shape."""
        self._subject_of = subject_of
        self._is_whole = is_whole
        self._is_complete = False
        self.of_shape = np.full(len(subject_of), np.nan)
        self.of_subject = np.full(subject_count, np.nan)

    def measure(self, frames: Frames) -> None:
        """Measure the shapes that are present for the first time."""
        if self._is_complete:
            return
        new = np.flatnonzero(frames.present.any(axis=0) & np.isnan(self.of_shape))
        if not len(new):
            return
        shapes = frames.shapes[frames.present[:, new].argmax(axis=0), new]
        if isinstance(shapes, Sphere):
            self.of_shape[new] = shapes.radius
        else:
            self.of_shape[new] = length(shapes.aabb().half_extents)
        self._is_complete = not np.isnan(self.of_shape).any()
        if self._is_whole:
            self.of_subject[new] = self.of_shape[new]
            return
        boxes = shapes.aabb()
        starts = np.flatnonzero(np.diff(self._subject_of[new], prepend=-1))
        low = np.minimum.reduceat(boxes.min, starts)
        high = np.maximum.reduceat(boxes.max, starts)
        self.of_subject[self._subject_of[new[starts]]] = length((high - low) / 2)


def changing_subjects(block: IntervalBlock, subject_of: Ints, count: int, moved_last: Bools) -> Bools:
    """Mask (s,) of subjects that appear, disappear or move within a block, or with its begin.

    moved_last : (n,) shapes that move in the interval before
    """
    after, before = block.present[1:], block.present[:-1]
    moves = block.moved[1:] | differences(block.shapes[1:], block.shapes[:-1])
    is_changing = ((moves & after) | (after != before)).any(axis=0) | block.moves_unseen
    changes = np.zeros(count, dtype=bool)
    changes[subject_of[is_changing | moved_last]] = True
    return changes


def candidate_pairs(
    block: IntervalBlock, boxes: Aabb, subject_of: Ints, is_moving: Bools, pair_filter: PairFilter
) -> Ints:
    """Pairs (m, 2) of shapes to test: boxes over the whole block overlap, and at least one subject moves.

    boxes : (k, n) `block.swept_boxes`
    is_moving : (s,) subjects
    """
    shapes = np.flatnonzero(block.present[:-1].any(axis=0))
    around = Aabb.unchecked(boxes.min[:, shapes].min(axis=0), boxes.max[:, shapes].max(axis=0))
    if block.mesh:
        # The last shape is the obstacle.
        last = block.present.shape[1] - 1
        is_there = len(shapes) > 0 and shapes[-1] == last
        first = shapes[:-1][overlaps(around[:-1], around[-1])] if is_there else shapes[:0]
        pairs = np.column_stack([first, np.full(len(first), last)])
    else:
        pairs = shapes[overlapping_pairs(around)]
    pairs = pairs[is_moving[subject_of[pairs]].any(axis=1)].astype(np.int64)
    return np.asarray(pairs[pair_filter.includes(*subject_of[pairs].T)])


def overlaps_by_interval(boxes: Aabb, pairs: Ints, step: int) -> Iterator[Ints]:
    """Yield the cells (r,) of pairs and intervals in which boxes (k, n) overlap, increasing.

    The cell of a pair in an interval is k times the number of the pair, plus the number of the interval.

    step : Number of pairs at once.
    """
    count = len(boxes.min)
    below, above = (np.ascontiguousarray(side.transpose(2, 1, 0)) for side in (boxes.min, boxes.max))
    for start in range(0, len(pairs), step):
        first, second = pairs[start : start + step].T
        overlap = (below[0][first] <= above[0][second]) & (below[0][second] <= above[0][first])
        cells = start * count + np.flatnonzero(overlap)
        first, second = places_of(cells, pairs, count)
        for low, high in zip(below[1:].reshape(2, -1), above[1:].reshape(2, -1), strict=True):
            overlap = (low.take(first) <= high.take(second)) & (low.take(second) <= high.take(first))
            cells, first, second = cells[overlap], first[overlap], second[overlap]
        yield cells


def places_of(cells: Ints, pairs: Ints, count: int) -> Ints:
    """Places (2, r) of both shapes of pairs (m, 2) in cells (r,): shape times `count`, plus interval."""
    row = cells // count
    return np.asarray((pairs.take(row, axis=0).T - row) * count + cells)


class SeparationBounds(NamedTuple):
    """Bounds of the separations of pairs (m,) over intervals, from the distances of their centers.

    low : (m,) float. Of linear motion, in which the spheres around both shapes are that far apart.
    least, greatest : (m,) float. Of both ends, at most: from the spheres within both shapes. In linear
        motion, the separation in between is not above the greater one.
    deviation : (m,) float. Of both shapes together from linear motion.
    continues : (m,) bool. Whether both shapes go on from the interval before to the end, without a jump.
    """

    low: Floats
    least: Floats
    greatest: Floats
    deviation: Floats
    continues: Bools


class CenterPaths(NamedTuple):
    """Paths of the centers of shapes (n,) over the intervals (k,) of a block, and spheres about them.

    begin, end : (n * k, 3) float. Centers at both ends of each interval.
    outer : (n * k,) float. Radius of the sphere that holds the shape while it moves linearly and turns.
    inner, inner_end : (n * k,) float. Radii of the spheres within the shape, at both ends.
    deviation : (n * k,) float. Of the shape from linear motion.
    continues : (n * k,) bool. Whether the shape goes on from the interval before to the end, without a jump.
    """

    begin: Floats
    end: Floats
    outer: Floats
    inner: Floats
    inner_end: Floats
    deviation: Floats
    continues: Bools

    @classmethod
    def of_block(cls, block: IntervalBlock) -> CenterPaths:
        """Find the paths of all shapes of a block."""
        sides: list[Any] = [block.shapes[:-1], block.ending]
        (outer, inner), (outer_end, inner_end) = map(MOTIONS_OF_SHAPES[type(block.ending)].radii, sides)
        outer = np.maximum(outer, outer_end) + rotation_sagitta(*sides)
        if block.mesh:
            # There is no sphere within the mesh that is known.
            inner, inner_end = inner.copy(), inner_end.copy()
            inner[:, -1] = inner_end[:, -1] = -np.inf
        is_whole = block.present[:-1] & block.present[1:] & ~block.has_limit
        continues = is_whole & np.concatenate([np.ones_like(is_whole[:1]), is_whole[:-1]])
        begin, end = (np.swapaxes(side.center, 0, 1).reshape(-1, 3) for side in sides)
        columns = (outer, inner, inner_end, block.deviation, continues)
        return cls(begin, end, *(np.broadcast_to(values, continues.shape).T.ravel() for values in columns))

    def bounds(self, first: Ints, second: Ints) -> SeparationBounds:
        """Bound the separations of pairs (m,), each in one interval, by the rows of both shapes there."""
        start, stop = (side.take(second, axis=0) - side.take(first, axis=0) for side in self[:2])
        outer, inner, inner_end, deviation = (side.take(first) + side.take(second) for side in self[2:6])
        change = stop - start
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            square = dot(change, change)
            time = np.clip(-dot(start, change) / square, 0, 1)
        nearest = length(start + np.nan_to_num(time)[:, None] * change)
        # Of pairs at rest, and where squares overflow or underflow.
        rows = np.flatnonzero(~((square > _SMALL) & (square < np.inf) & ~np.isnan(time)))
        nearest[rows] = length(start[rows]) - length(change[rows])
        low = nearest - outer
        ends = length(start) - inner, length(stop) - inner_end
        rounding = _UNSURE * (np.abs(low) + outer)
        continues = self.continues.take(first) & self.continues.take(second)
        return SeparationBounds(
            low - rounding, np.minimum(*ends), np.maximum(*ends) + rounding, deviation, continues
        )


def undecided_cells(
    cells: Ints,
    candidates: Candidates,
    bounds: SeparationBounds,
    cutoff: Floats,
    clearance: float,
    count: int,
) -> tuple[Bools, Bools]:
    """Find the cells (r,) in which a pair stays apart, or in contact, and is nearer or deeper in another one.

    Pairs that stay in contact may be deeper in another cell of the same contact. A contact that may be new is
    left to be solved.

    cells : (r,) int, increasing. See `overlaps_by_interval`.
    bounds : (r,)
    cutoff : Separations at or above which those of candidates do not matter.
    count : Number of intervals.
    """
    row = cells // count
    low, known, deviation = bounds.low, bounds.least, bounds.deviation
    tolerance = DEPTH_TOLERANCE * candidates.size.take(row)
    is_first = np.diff(row, prepend=-1) != 0
    first = np.flatnonzero(is_first)
    least = np.minimum(np.minimum.reduceat(known, first), cutoff[row[first]])[np.cumsum(is_first) - 1]
    is_least = (low < least) | (known == least) | may_be_deeper(deviation, low, least, tolerance)
    is_apart = (low - deviation > clearance) & ~is_least
    begins, before = cells == row * count, candidates.open_least.take(row)
    is_within = (bounds.greatest + deviation < clearance) & bounds.continues
    is_within &= ~begins | (before < np.inf)
    # Runs of successive intervals in contact; each of the other cells is a run by itself.
    starts = is_run_start(cells - np.arange(len(cells))) | begins | ~is_within
    starts[1:] |= ~is_within[:-1]
    deepest = np.minimum.reduceat(np.where(begins, np.minimum(known, before), known), np.flatnonzero(starts))
    least = deepest[np.cumsum(starts) - 1]
    is_least = (low < least) | (known == least) | may_be_deeper(deviation, low, least, tolerance)
    return is_apart, is_within & ~is_least
