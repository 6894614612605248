"""Pair filter: which pairs a contact scan tests, by settings, and by boxes that overlap.

Boxes are those over a whole block first, then those of each interval. Pairs of which neither subject
moves are skipped by `pair_scanner`, but for the first block of a section and the last frame of the scan.
`sections` drops contacts of pairs that never moved from the report, unless static pairs were requested.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..broad_phase.overlapping_pairs import overlapping_pairs
from ..distance.dispatch import overlaps
from ..errors import InvalidShapeError
from ..numeric.arguments import as_indices, as_mask
from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, Table, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Aabb, Sphere
from .interval_block import Frames, IntervalBlock


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
        keys: Ints = np.minimum(first, second) * self.count + np.maximum(first, second)
        return keys

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


def candidate_pairs(block: IntervalBlock, boxes: Aabb) -> Ints:
    """Pairs (m, 2) of shapes whose boxes over the whole block overlap.

    boxes : (k, n) `block.swept_boxes`
    """
    shapes = np.flatnonzero(block.present[:-1].any(axis=0))
    around = Aabb.unchecked(boxes.min[:, shapes].min(axis=0), boxes.max[:, shapes].max(axis=0))
    if block.mesh:
        # The last shape is the obstacle.
        last = block.present.shape[1] - 1
        if not len(shapes) or shapes[-1] != last:
            return np.empty((0, 2), dtype=np.int64)
        first = shapes[:-1][overlaps(around[:-1], around[-1])]
        return np.column_stack([first, np.full(len(first), last)])
    return np.asarray(shapes[overlapping_pairs(around)])


def overlaps_by_interval(boxes: Aabb, pairs: Ints) -> Ints:
    """Rows (r, 2) of interval and pair whose boxes (k, n) overlap in that interval, ordered by interval."""
    columns = [np.ascontiguousarray(np.moveaxis(side, -1, 0)) for side in (boxes.min, boxes.max)]
    first, second = pairs.T
    parts = [np.empty((0, 2), dtype=np.int64)]
    # As many intervals at once as there is room for, or as many pairs.
    step = max(1, CHUNK_ROWS // max(1, len(pairs)))
    for start in range(0, len(boxes.min), step):
        below, above = (side[:, start : start + step] for side in columns)
        for begin in range(0, len(pairs), CHUNK_ROWS):
            i, j = first[begin : begin + CHUNK_ROWS], second[begin : begin + CHUNK_ROWS]
            overlap = (below[0][:, i] <= above[0][:, j]) & (below[0][:, j] <= above[0][:, i])
            interval, row = np.nonzero(overlap)
            for axis in (1, 2):
                i, j = first[begin + row], second[begin + row]
                overlap = below[axis][interval, i] <= above[axis][interval, j]
                overlap &= below[axis][interval, j] <= above[axis][interval, i]
                interval, row = interval[overlap], row[overlap]
            parts.append(np.column_stack([start + interval, begin + row]))
    return np.concatenate(parts)
