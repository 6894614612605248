"""Pairs that a scan tests, against all pairs one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from addon.core.scan.candidates import PairFilter
from tests.tiers import times

Array = np.ndarray


def pairs_one_by_one(groups: list[Array | None], ignored: list, rows: Array) -> set:
    """Pairs (i, j) with i < j that the settings describe."""
    count = rows.shape[1]
    a, b = (np.ones(count, dtype=bool) if mask is None else mask for mask in groups)
    skipped = {frozenset(pair) for pair in ignored}
    return {
        (i, j)
        for i, j in combinations(range(count), 2)
        if ((a[i] and b[j]) or (a[j] and b[i]))
        and frozenset((i, j)) not in skipped
        and not any(labels[i] == labels[j] >= 0 for labels in rows)
    }


@pytest.mark.parametrize("row_count", [1, 2, 3])
@pytest.mark.parametrize("seed", range(times(40, 10, full=400)))
def test_pairs_of_several_rows_of_labels_are_those_found_one_by_one(seed, row_count):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 14))
    rows = rng.integers(-1, 3, (row_count, count))
    groups = [None if rng.random() < 0.4 else rng.random(count) < 0.6 for _ in "ab"]
    ignored = [rng.choice(count, 2, replace=False).tolist() for _ in range(int(rng.integers(0, 6)))]
    pair_filter = PairFilter(count, *groups, ignored, rows)
    expected = pairs_one_by_one(groups, ignored, rows)
    first, second = np.array(list(combinations(range(count), 2))).T
    for i, j in ((first, second), (second, first)):
        found = pair_filter.includes(i, j)
        assert {(int(k), int(m)) for k, m in zip(first[found], second[found], strict=True)} == expected
    assert pair_filter.count_pairs() == len(expected)
    mask = rng.random(count) < 0.6
    assert pair_filter.count_pairs(mask) == sum(mask[i] and mask[j] for i, j in expected)
    subjects = np.arange(count)
    assert not pair_filter.includes(subjects, subjects).any()


def test_one_row_of_labels_is_the_same_as_several_equal_ones():
    rng = np.random.default_rng(1)
    labels, first, second = rng.integers(-1, 3, 30), rng.integers(0, 30, 400), rng.integers(0, 30, 400)
    one, two = (PairFilter(30, None, None, (), rows) for rows in (labels, np.stack([labels, labels])))
    np.testing.assert_array_equal(one.includes(first, second), two.includes(first, second))
    assert one.count_pairs() == two.count_pairs()


def test_rows_without_labels_skip_no_pair():
    pair_filter = PairFilter(5, None, None, (), np.full((2, 5), -1))
    assert pair_filter.count_pairs() == 10
