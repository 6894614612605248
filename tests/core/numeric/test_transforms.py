"""Affine maps of many vectors give the sums of single ones."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.numeric.arrays import transform_vectors


@pytest.mark.parametrize("count", [1, 1024, 1025, 5000])
def test_vectors_of_a_long_batch_are_transformed_to_the_last_bit_like_single_ones(count):
    rng = np.random.default_rng(count)
    linear, vectors = rng.normal(size=(3, 3)), rng.normal(size=(count, 3)) * 1e3
    rows = rng.integers(0, count, 50)
    # Python's own floats, summed from left to right.
    expected = [[x * a + y * b + z * c for a, b, c in linear.tolist()] for x, y, z in vectors[rows].tolist()]
    np.testing.assert_array_equal(transform_vectors(linear, vectors)[rows], expected)


def test_zero_times_infinity_is_not_a_number_in_a_long_batch():
    vectors = np.zeros((5000, 3))
    vectors[7, 0] = np.inf
    result = transform_vectors(np.diag([0.0, 1.0, 1.0]), vectors)
    assert np.isnan(result[7, 0])
    assert not result[8:].any()
