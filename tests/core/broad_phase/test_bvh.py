"""Bvh: the same pairs as brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.broad_phase.bvh import Bvh
from addon.core.errors import InvalidShapeError
from addon.core.shapes import Aabb
from tests.tiers import examples

pytestmark = pytest.mark.filterwarnings("error")


def boxes(rng: np.random.Generator, count: int, size: float = 0.3) -> Aabb:
    middle, half = rng.normal(size=(count, 3)), rng.uniform(0, size, (count, 3))
    return Aabb(middle - half, middle + half)


def assert_agrees_with_brute_force(queries: Aabb, stored: Aabb) -> int:
    found = Bvh(stored).find_overlapping(queries)
    assert found.dtype == np.int64
    overlap = (queries.min[:, None] <= stored.max) & (stored.min <= queries.max[:, None])
    np.testing.assert_array_equal(found, np.argwhere(overlap.all(axis=2)))
    return len(found)


# Around the limits of 16 children in a node and 64 nodes at the top level.
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 63, 64, 65, 1024, 1025, 3000])
def test_pairs_agree_with_brute_force(count):
    rng = np.random.default_rng(count)
    found = assert_agrees_with_brute_force(boxes(rng, 40), boxes(rng, count))
    assert found > 0 or count < 63


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_scaled_and_offset_boxes_agree_with_brute_force(scale, offset):
    rng = np.random.default_rng(5)
    queries, stored = (
        Aabb((b.min + offset) * scale, (b.max + offset) * scale) for b in (boxes(rng, 50), boxes(rng, 500))
    )
    assert assert_agrees_with_brute_force(queries, stored) > 90


@pytest.mark.smoke
def test_boxes_of_very_different_sizes_agree_with_brute_force():
    rng = np.random.default_rng(6)
    middle, half = rng.normal(size=(2000, 3)), 10.0 ** rng.uniform(-9, 1, (2000, 1)) * rng.random((2000, 3))
    half[::7] = 0
    stored = Aabb(middle - half, middle + half)
    assert assert_agrees_with_brute_force(boxes(rng, 60), stored) > 1000
    assert_agrees_with_brute_force(stored[:300], stored)


def test_coincident_points_and_coplanar_boxes_agree_with_brute_force():
    rng = np.random.default_rng(7)
    one = np.tile([1.0, 2, 3], (200, 1))
    assert assert_agrees_with_brute_force(Aabb([[1, 2, 3]], [[4, 4, 4]]), Aabb(one, one)) == 200
    assert assert_agrees_with_brute_force(Aabb([[0, 0, 0]], [[0.5, 4, 4]]), Aabb(one, one)) == 0
    flat = boxes(rng, 500)
    flat = Aabb(flat.min * [1, 1, 0], flat.max * [1, 1, 0])
    assert assert_agrees_with_brute_force(boxes(rng, 50), flat) > 100


@examples(25, full=50)
@given(st.integers(0, 10**6))
def test_integer_boxes_that_touch_are_pairs(seed):
    rng = np.random.default_rng(seed)
    low, size = rng.integers(-6, 7, (400, 3)), rng.integers(0, 4, (400, 3))
    stored, queries = Aabb(low[:300], (low + size)[:300]), Aabb(low[300:], (low + size)[300:])
    assert assert_agrees_with_brute_force(queries, stored) > 0


def test_more_node_tests_than_one_chunk_give_all_pairs():
    # 700 boxes overlap all 1024, which takes more than 2 to the 18 tests at the last level.
    rng = np.random.default_rng(8)
    middle = rng.uniform(-1, 1, (1024, 3))
    everything = Aabb(np.full((700, 3), -9.0), np.full((700, 3), 9.0))
    assert assert_agrees_with_brute_force(everything, Aabb(middle, middle)) == 700 * 1024


def test_query_without_boxes_finds_no_pairs():
    stored = Bvh(boxes(np.random.default_rng(9), 100))
    assert stored.find_overlapping(boxes(np.random.default_rng(9), 0)).shape == (0, 2)
    assert stored.count == 100


def test_batches_with_other_axes_raise():
    stored = boxes(np.random.default_rng(9), 6)
    for batch in ((), (2, 3)):
        other = stored[0] if batch == () else stored.reshaped(batch)
        with pytest.raises(InvalidShapeError, match=r"boxes: the batch must be \(n,\)"):
            Bvh(stored).find_overlapping(other)
