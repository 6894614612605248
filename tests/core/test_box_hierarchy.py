from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.box_hierarchy import BoxHierarchy
from addon.core.broad_phase import overlapping_pairs_between_brute_force
from addon.core.errors import InvalidShapeError
from addon.core.shapes import Aabb
from tests.tiers import examples

pytestmark = pytest.mark.filterwarnings("error")


def boxes(rng: np.random.Generator, count: int, size: float = 0.3) -> Aabb:
    middle, half = rng.normal(size=(count, 3)), rng.uniform(0, size, (count, 3))
    return Aabb(middle - half, middle + half)


def assert_as_each_with_each(asked: Aabb, kept: Aabb) -> int:
    found = BoxHierarchy(kept).overlapping(asked)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, overlapping_pairs_between_brute_force(asked, kept))
    return len(found)


# At most sixteen in a box above, and at most 64 at the top.
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 63, 64, 65, 1024, 1025, 3000])
def test_the_pairs_are_those_of_each_with_each(count):
    rng = np.random.default_rng(count)
    found = assert_as_each_with_each(boxes(rng, 40), boxes(rng, count))
    assert found > 0 or count < 63


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_boxes_of_any_size_anywhere(scale, offset):
    rng = np.random.default_rng(5)
    asked, kept = (
        Aabb((b.min + offset) * scale, (b.max + offset) * scale) for b in (boxes(rng, 50), boxes(rng, 500))
    )
    assert assert_as_each_with_each(asked, kept) > 90


@pytest.mark.smoke
def test_giants_among_dwarfs_and_sizes_of_all_orders():
    rng = np.random.default_rng(6)
    middle, half = rng.normal(size=(2000, 3)), 10.0 ** rng.uniform(-9, 1, (2000, 1)) * rng.random((2000, 3))
    half[::7] = 0
    kept = Aabb(middle - half, middle + half)
    assert assert_as_each_with_each(boxes(rng, 60), kept) > 1000
    assert_as_each_with_each(kept[:300], kept)


def test_boxes_that_are_all_one_point_or_lie_in_a_plane():
    rng = np.random.default_rng(7)
    one = np.tile([1.0, 2, 3], (200, 1))
    assert assert_as_each_with_each(Aabb([[1, 2, 3]], [[4, 4, 4]]), Aabb(one, one)) == 200
    assert assert_as_each_with_each(Aabb([[0, 0, 0]], [[0.5, 4, 4]]), Aabb(one, one)) == 0
    flat = boxes(rng, 500)
    flat = Aabb(flat.min * [1, 1, 0], flat.max * [1, 1, 0])
    assert assert_as_each_with_each(boxes(rng, 50), flat) > 100


@examples(50)
@given(st.integers(0, 10**6))
def test_touching_boxes_of_whole_numbers_are_pairs(seed):
    rng = np.random.default_rng(seed)
    low, size = rng.integers(-6, 7, (400, 3)), rng.integers(0, 4, (400, 3))
    kept, asked = Aabb(low[:300], (low + size)[:300]), Aabb(low[300:], (low + size)[300:])
    assert assert_as_each_with_each(asked, kept) > 0


def test_more_candidates_than_are_looked_at_together():
    # 700 times all 1024 of them: more than 2 to the 18 at the top, and below.
    rng = np.random.default_rng(8)
    middle = rng.uniform(-1, 1, (1024, 3))
    everything = Aabb(np.full((700, 3), -9.0), np.full((700, 3), 9.0))
    assert assert_as_each_with_each(everything, Aabb(middle, middle)) == 700 * 1024


def test_no_question_has_no_answer():
    kept = BoxHierarchy(boxes(np.random.default_rng(9), 100))
    assert kept.overlapping(boxes(np.random.default_rng(9), 0)).shape == (0, 2)
    assert kept.count == 100


def test_batches_with_other_axes_are_refused_with_their_size():
    kept = boxes(np.random.default_rng(9), 6)
    for batch in ((), (2, 3)):
        other = kept[0] if batch == () else kept.reshaped(batch)
        with pytest.raises(InvalidShapeError, match=r"boxes: the batch must be \(n,\)"):
            BoxHierarchy(other)
        with pytest.raises(InvalidShapeError, match=r"boxes: the batch must be \(n,\)"):
            BoxHierarchy(kept).overlapping(other)
