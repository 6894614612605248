"""Pair filter: which pairs of subjects a scan tests, by its settings."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..errors import InvalidShapeError
from ..numeric.arguments import as_indices, as_mask
from ..numeric.arrays import Bools, Ints


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

    def includes(self, first: Ints, second: Ints) -> Bools:
        """Return a mask (m,) of pairs to test."""
        result = np.asarray(first != second)
        if self._groups:
            a, b = self.group_a, self.group_b
            result &= (a[first] & b[second]) | (a[second] & b[first])
        for labels in self._separate:
            result &= (labels[first] < 0) | (labels[first] != labels[second])
        if len(self._ignored):
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
        first, second = np.divmod(np.unique(self._ignored), max(1, self.count))
        # A filter that ignores no pairs includes those that are counted in the total.
        unfiltered = PairFilter(self.count, a, b, (), self._separate)
        return total - int(unfiltered.includes(first, second).sum())
