"""Tables of columns: rows that are selected, along the first axis or the last."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.numeric.arrays import Floats, Table


class Places(Table):
    point: Floats
    radius: Floats


class Columns(Table, last=True):
    point: Floats
    radius: Floats


@pytest.mark.parametrize("kind", [Places, Columns])
def test_mask_selects_the_same_rows_as_their_indices(kind):
    point, radius = np.arange(12.0).reshape(4, 3), np.arange(4.0)
    table = kind(point if kind is Places else point.T, radius)
    mask = np.array([False, True, False, True])
    by_mask, by_index = table.take(mask), table.take(np.array([1, 3]))
    expected = point[[1, 3]]
    for found in (by_mask, by_index):
        np.testing.assert_array_equal(found.point if kind is Places else found.point.T, expected)
        np.testing.assert_array_equal(found.radius, [1.0, 3.0])
