"""Candidates: pairs of shapes that come near each other, found by bounds over long intervals first.

Boxes around shapes over a whole block are compared first, and those over parts of it only where they meet. So
shapes that stay far from all others are queried once in a block. Spheres around and within the shapes
decide most of what is left.

Pairs of which neither subject moves in a block are skipped, but at the first frame of a section and the last
one of the scan. `report` drops contacts of pairs that never moved from the report, unless static pairs were
requested, or nothing moves at all. Which pairs are tested, settings say: `PairFilter`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from ..broad_phase.grid import Boxes
from ..broad_phase.overlapping_pairs import find_pairs
from ..errors import InvalidShapeError
from ..interval.pair_motion import MOTIONS_OF_SHAPES, rotation_sagitta
from ..motion.motion import Motion
from ..motion.samples import SampledMotion
from ..motion.steps import Steps, bounded_steps, placed_steps
from ..numeric.arguments import as_indices, as_mask
from ..numeric.arrays import Bools, Floats, Ints, Table, dot, is_run_start, length
from ..progress import scaled
from ..shapes import Aabb, differences


class PairFilter:
    """Groups, ignored pairs and labels of `count` subjects.

    group_a, group_b : (count,) masks or None for all
    ignored : pairs of subjects to skip, in either order
    separate : (count,) or (k, count) labels or None; pairs with equal labels >= 0 in any row are skipped

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
        labels = np.empty((0, count), dtype=np.int64)
        if separate is not None:
            labels = np.atleast_2d(as_indices(separate, "settings: separate"))
        if labels.shape[1:] != (count,):
            raise InvalidShapeError(f"settings: separate does not fit {count} subjects")
        self._separate = labels
        pairs = as_indices(ignored, "settings: ignored")
        if pairs.size and (pairs.shape[1:] != (2,) or pairs.min() < 0 or pairs.max() >= count):
            raise InvalidShapeError(f"settings: ignored does not fit {count} subjects")
        ignored_pairs = np.sort(pairs.reshape(-1, 2), axis=1)
        self._ignored = self.keys(ignored_pairs[:, 0], ignored_pairs[:, 1])
        self._groups = group_a is not None or group_b is not None

    def keys(self, first: Ints, second: Ints) -> Ints:
        """Return one number (m,) for each pair, the same for either order."""
        return np.asarray(np.minimum(first, second) * self.count + np.maximum(first, second))

    def includes(self, first: Ints, second: Ints, with_ignored: bool = False) -> Bools:
        """Return a mask (m,) of pairs to test, or also of those that are ignored."""
        result = np.asarray(first != second)
        if self._groups:
            a, b = self.group_a, self.group_b
            result &= (a[first] & b[second]) | (a[second] & b[first])
        for labels in self._separate:
            result &= (labels[first] < 0) | (labels[first] != labels[second])
        if len(self._ignored) and not with_ignored:
            result &= ~np.isin(self.keys(first, second), self._ignored)
        return result

    def count_pairs(self, mask: Bools | None = None) -> int:
        """Count the pairs to test, by formulas; only those of which a mask (count,) has both subjects."""
        within = np.ones(self.count, dtype=bool) if mask is None else mask
        a, b = self.group_a & within, self.group_b & within
        total, labels = 0, np.zeros(self.count, dtype=np.int64)
        # Of all sets of rows, the empty one first: pairs that have equal labels in several are counted once.
        rows = range(len(self._separate) + 1)
        for chosen in (each for size in rows for each in combinations(self._separate, size)):
            sides = [a, b, a & b]
            if chosen:
                is_labeled = np.logical_and.reduce([labels >= 0 for labels in chosen])
                labels = np.unique(np.stack(chosen), axis=1, return_inverse=True)[1].ravel()
                sides = [side & is_labeled for side in sides]
            size = int(labels.max(initial=-1)) + 1
            in_a, in_b, in_both = (np.bincount(labels[side], minlength=size) for side in sides)
            # Ordered pairs of different subjects; those with both in both groups were counted twice.
            equal = int((in_a * in_b - in_both - in_both * (in_both - 1) // 2).sum())
            total += -equal if len(chosen) % 2 else equal
        if len(self._ignored):
            first, second = np.divmod(np.unique(self._ignored), self.count)
            is_counted = self.includes(first, second, with_ignored=True) & within[first] & within[second]
            total -= int(is_counted.sum())
        return total


class Candidates(Table):
    """Pairs of shapes that may touch, and what the pair cache holds of each.

    pairs : (m, 2) int. Indices of both shapes.
    keys : (m,) int. Keys of the pairs of subjects in the pair cache.
    size : (m,) float. Size of the smaller subject.
    contact_motion : (m,) int. Motion from which contacts of the pair follow, an index of `MOTIONS`.
    cutoff : (m,) float. Separations at or above this need not be computed: a smaller one is known, or they
        exceed both the clearance and the size up to which a pair is a near miss.
    has_contact_before : (m,) bool. Whether the pair had a contact before this block.
    open_least : (m,) float. Least separation within the contact that lasts until this block; inf for pairs
        without one.
    """

    pairs: Ints
    keys: Ints
    size: Floats
    contact_motion: Ints
    cutoff: Floats
    has_contact_before: Bools
    open_least: Floats


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


_FACTOR = 8
"""Ratio of the lengths of intervals over which boxes are compared."""
_FEW_BOUNDS = 1 << 12
"""Shapes times intervals, by their costs, that are bounded in about 25 ms."""
_CELLS_AT_ONCE = 1 << 12
"""Cells of pairs and groups whose parts are compared at once: larger arrays do not fit the cache."""
_FEW_PAIRS = 16
"""Pairs for each shape, about, up to which boxes over long intervals are compared."""


class NearSearch:
    """Search for the pairs of shapes (n,) that are near in a block of intervals (k,).

    The cell of a pair in an interval is k times the row of the pair, plus the number of the interval. Boxes
    are those of shapes over groups (g,) of successive intervals, of which a group has `size`.

    pairs : (p, 2) int. Shapes, in order: what `find` finds, as all that follows.
    cells : (c,) int. Increasing. Intervals in which the pairs are near.
    steps : Of the shapes of all cells.
    row_of : (n, k) int. Rows of the steps; -1 for none.
    moving : (n,) bool. Shapes that appear, disappear or move within the block, or with its begin.
    """

    pairs: Ints
    cells: Ints
    steps: Steps
    row_of: Ints
    moving: Bools

    def __init__(self, motion: Motion, times: Floats, margin: Floats) -> None:
        """Prepare to search between times (k + 1,), or at one time twice.

        margin : (n,) float. Padding of the boxes.
        """
        self._motion, self._times, self._margin = motion, times, margin
        self._count = self._size = len(times) - 1
        self._low = self._high = np.empty((3, 0, 0))
        # Boxes of sampled shapes over single intervals, from which those over groups follow.
        self._sampled: tuple[Ints, Aabb] | None = None
        if self._count > 1 and isinstance(motion, SampledMotion) and not motion.is_certain.all():
            self._sampled = motion.swept_boxes(margin)
        # How far certain shapes may be from linear motion between two samples of a group.
        self._loose = np.empty((0, 0))
        # Of the steps, each over a group.
        self._groups: Ints
        self._left = 1.0

    def find(
        self, subject_of: Ints, pair_filter: PairFilter, appears: Bools, with_static: bool
    ) -> Generator[float, None, None]:
        """Find the pairs whose boxes overlap; yields after each chunk of work the part that is done.

        subject_of : (n,) int
        appears : (n,) shapes that were absent until the begin
        with_static : whether pairs are tested that do not move
        """
        every = len(self._margin)
        # Few shapes are bounded over short intervals as fast as over long ones.
        is_small = self._motion.costs.sum() * self._count <= _FACTOR * _FEW_BOUNDS
        size = min(self._count, _FACTOR) if is_small else self._count
        yield from self._begin_level(np.ones((every, -(-self._count // size)), dtype=bool), size)
        self.moving = moving = self._moving() | appears
        # Shorter lengths: powers of the factor, of which the longest is at most a half.
        sizes = [1]
        while sizes[-1] * _FACTOR <= size / 2:
            sizes.append(sizes[-1] * _FACTOR)
        while self._size > _FACTOR and self._expected_pairs() > _FEW_PAIRS * every:
            size = sizes.pop()
            yield from self._begin_level(np.ones((every, -(-self._count // size)), dtype=bool), size)
        is_tested = np.full(pair_filter.count, with_static)
        is_tested[subject_of[moving]] = True
        pairs, cells = self._overlapping()
        subjects = subject_of[pairs]
        wanted = is_tested[subjects].any(axis=0) & pair_filter.includes(*subjects)
        cells = cells[wanted[cells // self._low.shape[2]]]
        is_near = np.zeros(self._low.shape[1:], dtype=bool)
        is_near.reshape(-1)[_places(pairs, cells, is_near.shape[1])] = True
        while self._size > 1:
            cells, is_near = yield from self._refined(pairs, cells, is_near, sizes.pop())
        # Bound the steps of shapes in intervals in which they are near, and drop the others.
        is_used = is_near[:, : self._count]
        rows = np.flatnonzero(is_used[self.steps.shape, self._groups])
        interval, self.row_of = self._groups[rows], np.full(is_used.shape, -1, dtype=np.int64)
        self.steps = steps = self.steps.take(rows)
        self.row_of[steps.shape, interval] = np.arange(len(rows))
        if self._count > 1:
            bounding = bounded_steps(self._motion, steps, self._times[interval], self._times[interval + 1])
            self.steps = yield from scaled(bounding, 1 - self._left, 1.0)
        # Without pairs that are near over long intervals only.
        row, self.cells = _renumbered(cells, is_near.shape[1], self._count)
        self.pairs = pairs.take(row, axis=1).T

    def rows(self, cells: Ints) -> Ints:
        """Rows (2, c) of the steps of both shapes in cells (c,)."""
        # From flat arrays, which takes half as long as by two indices.
        return np.asarray(self.row_of.ravel().take(_places(self.pairs.T, cells, self._count)))

    def _begin_level(self, wanted: Bools, size: int) -> Generator[float, None, None]:
        """Find the boxes that are wanted (n, g) over groups of `size` intervals; yields as `find`.

        Others may be empty, from inf to -inf, as those of shapes that are not present.
        """
        motion, longer = self._motion, self._size
        starts = np.arange(0, self._count, size)
        low, high = np.full((2, 3, *wanted.shape), np.inf)
        high *= -1
        if self._sampled is not None:
            columns, boxes = self._sampled
            least, most = boxes.min, boxes.max
            if size > 1:
                least, most = np.minimum.reduceat(least, starts), np.maximum.reduceat(most, starts)
                wanted = wanted & motion.is_certain[:, None]
            low[:, columns, : len(starts)], high[:, columns, : len(starts)] = least.T, most.T
        shape, group = np.nonzero(wanted)
        span = self._times[starts[group]], self._times[np.minimum(starts[group] + size, self._count)]
        # Each level is half of what is left of the work, for the progress.
        done, self._left = 1 - self._left, self._left / 2
        steps = yield from scaled(placed_steps(motion, shape, *span), done, done + self._left / 2)
        self._low, self._high, self._size, self.steps, self._groups = low, high, size, steps, group
        if size == 1 < longer:
            # Only the steps of pairs that meet are bounded, at the end. In linear motion over several
            # intervals, a shape is at each sample within the deviation of the sample. So it is within twice
            # that of linear motion between two of these samples.
            if self._sampled is not None:
                certain = np.flatnonzero(motion.is_certain[shape])
                shape, group, steps = shape[certain], group[certain], steps.take(certain)
            padding = self._margin[shape] + np.nan_to_num(self._loose[shape, group // longer])
        else:
            bounding = bounded_steps(motion, steps, *span)
            self.steps = steps = yield from scaled(bounding, done + self._left / 2, done + self._left)
            self._loose = np.zeros(wanted.shape)
            self._loose[shape, group] = 2 * steps.deviation + rotation_sagitta(steps.start, steps.ending)
            padding = self._margin[shape]
        boxes = steps.swept_boxes(padding)
        # Over several intervals a shape may be present at none of both ends.
        shown = steps.is_present if size == 1 else np.ones(len(shape), dtype=bool)
        place = slice(None), shape[shown], group[shown]
        low[place], high[place] = boxes.min[shown].T, boxes.max[shown].T

    def _refined(
        self, pairs: Ints, cells: Ints, is_near: Bools, size: int
    ) -> Generator[float, None, tuple[Ints, Bools]]:
        """Replace cells (c,) by those of their parts, of `size`, in which boxes overlap; yields as `find`.

        Also returns which shapes are near another one in a group (n, g).

        pairs : (2, p)
        cells : Numbers of pairs, times the number of groups, plus that of the group. Increasing.
        is_near : (n, g)
        """
        count, groups = -(-self._size // size), is_near.shape[1]
        wanted = np.repeat(is_near, count, axis=1)
        # There are no parts after the end.
        wanted[:, -(-self._count // size) :] = False
        yield from self._begin_level(wanted, size)
        low, high = (side.reshape(3, -1, count) for side in (self._low, self._high))
        part, found, is_near = np.arange(count), [cells[:0]], np.zeros(wanted.shape, dtype=bool)
        done, self._left = 1 - self._left, self._left / 2
        for start in range(0, len(cells), _CELLS_AT_ONCE):
            chunk = cells[start : start + _CELLS_AT_ONCE]
            first, second = _places(pairs, chunk, groups)
            meets = np.ones((len(chunk), count), dtype=bool)
            for below, above in zip(low, high, strict=True):
                meets &= below.take(first, axis=0) <= above.take(second, axis=0)
                meets &= below.take(second, axis=0) <= above.take(first, axis=0)
            for each in (first, second):
                is_near.reshape(-1)[(each[:, None] * count + part)[meets]] = True
            found.append((chunk[:, None] * count + part)[meets])
            yield done + self._left * min(1.0, (start + len(chunk)) / len(cells))
        return np.concatenate(found), is_near

    def _overlapping(self) -> tuple[Ints, Ints]:
        """Find the pairs (2, p) of shapes whose boxes overlap in any group, and their cells (c,) in these."""
        every, groups = self._low.shape[1:]
        found = [np.empty(0, dtype=np.int64)]
        for group in range(groups):
            low, high = self._low[..., group], self._high[..., group]
            present = np.flatnonzero(low[0] < np.inf)
            for i, j in find_pairs(Boxes(present, low[:, present], high[:, present]), None):
                found.append((np.minimum(i, j) * every + np.maximum(i, j)) * groups + group)
        # In order of pairs, then groups, as their parts are then too.
        keys, cells = _renumbered(np.sort(np.concatenate(found)), groups, groups)
        return np.stack(np.divmod(keys, max(every, 1))), cells

    def _moving(self) -> Bools:
        """Mask (n,) of shapes that appear, disappear or move between the times, or with the first."""
        motion, times, steps = self._motion, self._times, self.steps
        moving = np.zeros(len(self._margin), dtype=bool)
        if isinstance(motion, SampledMotion):
            moving = motion.moving()
        certain = np.flatnonzero(motion.is_certain[steps.shape])
        if not len(certain):
            return moving
        steps = steps.take(certain)
        shapes = steps.shape
        before, after = np.nextafter(times[0], -np.inf), np.nextafter(times[-1], np.inf)
        jumps = motion.breaks(shapes, np.full(len(shapes), before), np.full(len(shapes), after))
        moves = (steps.deviation > 0) | differences(steps.start, steps.ending)
        moves |= (jumps < np.inf) | steps.has_limit
        moving[shapes[moves]] = True
        shapes = np.unique(shapes)
        present = motion.are_present(np.tile(shapes, len(times)), np.repeat(times, len(shapes)))
        present = present.reshape(len(times), -1)
        moving[shapes] &= present.any(axis=0)
        moving[shapes] |= (present[1:] != present[:-1]).any(axis=0)
        return moving

    def _expected_pairs(self) -> float:
        """Estimate the number of pairs whose boxes overlap in any group: as if axes were independent."""
        total = 0.0
        for group in range(self._low.shape[2]):
            shown = self._low[0, :, group] < np.inf
            low, high = self._low[:, shown, group], self._high[:, shown, group]
            count = low.shape[1]
            part = every = count * (count - 1) / 2
            for axis in range(3):
                on_axis = np.searchsorted(np.sort(low[axis]), high[axis], side="right").sum()
                part *= (on_axis - count * (count + 1) / 2) / max(every, 1)
            total += part
        return total


def _places(pairs: Ints, cells: Ints, count: int) -> Ints:
    """Places (2, c) of both shapes of pairs (2, p) in cells (c,): shape times `count`, plus what follows."""
    row = cells // count
    return np.asarray((pairs.take(row, axis=1) - row) * count + cells)


def _renumbered(cells: Ints, before: int, after: int) -> tuple[Ints, Ints]:
    """Remove rows without a cell from the numbers of cells (c,), which increase.

    before, after : Numbers of cells in a row: in the numbers that are given, and in the result.
    Returns rows : (p,) int. The numbers of the rows before.
    Returns cells : (c,) int
    """
    row = cells // before
    begins = np.flatnonzero(is_run_start(row))
    rows = row[begins]
    shifts = np.arange(len(rows)) * after - rows * before
    return rows, cells + shifts.repeat(np.diff(begins, append=len(cells)))


_Bounds: TypeAlias = tuple[Floats, Floats, Floats, Floats, Bools]


def separation_bounds(near: NearSearch) -> Callable[[Ints], _Bounds]:
    """Make the function that bounds the separations of pairs in cells (m,), by spheres about their centers.

    It returns five arrays (m,): the separation of linear motion, at least; that of the nearer end and of the
    farther one, at most, above which it is nowhere in between; the deviation of both shapes together from
    linear motion; and whether both go on from the interval before to the end, without a jump.
    """
    steps = near.steps
    sides: list[Any] = [steps.start, steps.ending]
    begin, end = (side.center for side in sides)
    # Of the sphere that holds a shape while it moves linearly and turns, and of those within it at both ends.
    (outer, inner), (outer_end, inner_end) = map(MOTIONS_OF_SHAPES[type(steps.ending)].radii, sides)
    outer = np.maximum(outer, outer_end) + rotation_sagitta(*sides)
    is_whole = steps.is_present & steps.stays & ~steps.has_limit
    # Each step is continued from the row before, but for those of the first interval.
    before = np.full(near.row_of.shape, -1, dtype=np.int64)
    before[:, 1:] = near.row_of[:, :-1]
    is_row = near.row_of >= 0
    is_first, before = np.nonzero(is_row)[1] == 0, before[is_row]
    is_continued = is_whole & (is_first | ((before >= 0) & is_whole[before]))

    def bounds(cells: Ints) -> _Bounds:
        first, second = near.rows(cells)
        start, stop = (side.take(second, axis=0) - side.take(first, axis=0) for side in (begin, end))
        reach, within, within_end, deviation = (
            side.take(first) + side.take(second) for side in (outer, inner, inner_end, steps.deviation)
        )
        change = stop - start
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            square = dot(change, change)
            time = np.clip(-dot(start, change) / square, 0, 1)
        nearest = length(start + np.nan_to_num(time)[:, None] * change)
        # Of pairs at rest, and where squares overflow or underflow.
        rows = np.flatnonzero(~((square > _SMALL) & (square < np.inf) & ~np.isnan(time)))
        if len(rows):
            nearest[rows] = length(start[rows]) - length(change[rows])
        low = nearest - reach
        ends = length(start) - within, length(stop) - within_end
        rounding = _UNSURE * (np.abs(low) + reach)
        continues = is_continued.take(first) & is_continued.take(second)
        return low - rounding, np.minimum(*ends), np.maximum(*ends) + rounding, deviation, continues

    return bounds


def undecided_cells(
    cells: Ints,
    candidates: Candidates,
    bounds: _Bounds,
    clearance: float,
    count: int,
) -> tuple[Bools, Bools]:
    """Find the cells (r,) in which a pair stays apart, or in contact, and is nearer or deeper in another one.

    Pairs that stay in contact may be deeper in another cell of the same contact. A contact that may be new is
    left to be solved.

    cells : (r,) int, increasing. As those of `NearSearch`.
    bounds : (r,) each, as `separation_bounds` has them.
    count : Number of intervals.
    """
    row = cells // count
    low, known, greatest, deviation, continues = bounds
    tolerance = DEPTH_TOLERANCE * candidates.size.take(row)
    first = np.flatnonzero(is_run_start(row))
    least = np.minimum(np.minimum.reduceat(known, first), candidates.cutoff[row[first]])
    least = least.repeat(np.diff(first, append=len(cells)))
    is_least = (low < least) | (known == least) | may_be_deeper(deviation, low, least, tolerance)
    is_apart = (low - deviation > clearance) & ~is_least
    begins, before = cells == row * count, candidates.open_least.take(row)
    is_within = (greatest + deviation < clearance) & continues
    is_within &= ~begins | (before < np.inf)
    # Runs of successive intervals in contact; each of the other cells is a run by itself.
    starts = is_run_start(cells - np.arange(len(cells))) | begins | ~is_within
    starts[1:] |= ~is_within[:-1]
    first = np.flatnonzero(starts)
    deepest = np.minimum.reduceat(np.where(begins, np.minimum(known, before), known), first)
    least = deepest.repeat(np.diff(first, append=len(cells)))
    is_least = (low < least) | (known == least) | may_be_deeper(deviation, low, least, tolerance)
    return is_apart, is_within & ~is_least
