"""Rows that are equal to the bit, compared with a dictionary of bytes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.numeric import arrays
from addon.core.numeric.arrays import distinct_rows


def rows_with_repeats():
    rng = np.random.default_rng(3)
    rows = rng.choice([0.0, -0.0, 1.0, np.nan, np.inf, 5e-324, 1 / 3], size=(40, 3))
    return rows[rng.integers(0, 40, 500)]


def kinds_by_bytes(rows):
    kinds = {}
    return [kinds.setdefault(row.tobytes(), len(kinds)) for row in rows], len(kinds)


def check_kinds(rows):
    first, kind_of = distinct_rows(rows)
    expected, count = kinds_by_bytes(rows)
    assert len(first) == count
    assert kinds_by_bytes(kind_of[:, None])[0] == expected
    assert [int(np.flatnonzero(kind_of == kind)[0]) for kind in range(count)] == first.tolist()


@pytest.mark.smoke
def test_rows_are_the_same_kind_if_all_their_bytes_are():
    check_kinds(rows_with_repeats())
    check_kinds(np.random.default_rng(4).normal(size=(300, 9)))
    check_kinds(np.ones((5, 2)))


@pytest.mark.smoke
def test_kinds_with_the_same_code_are_separated(monkeypatch):
    monkeypatch.setattr(arrays, "_MULTIPLIER", np.uint64(0))
    check_kinds(rows_with_repeats())


def test_no_rows_have_no_kinds():
    first, kind_of = distinct_rows(np.empty((0, 9)))
    assert first.shape == kind_of.shape == (0,)
