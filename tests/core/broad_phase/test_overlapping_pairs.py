"""Overlapping pairs of boxes, compared with brute force."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import (
    Aabb,
    InvalidShapeError,
    Sphere,
    overlapping_pairs,
    overlapping_pairs_between,
)
from addon.core.broad_phase import grid as grid_module
from addon.core.broad_phase import overlapping_pairs as search
from addon.core.broad_phase.grid import Grid
from tests.core.broad_phase.box_arrangements import (
    Corners,
    around,
    arrangements,
    crowds,
    expected_pairs,
    pairs_by_matrix,
    pairs_of_crowd,
)
from tests.tiers import examples


@pytest.fixture
def columns_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search even few boxes in columns instead of by brute force."""
    search_always(monkeypatch)


def search_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_FEW_TESTS", 0)
    monkeypatch.setattr(search, "_FEW_ROWS", 2)
    monkeypatch.setattr(search, "_FEW_BOXES", 0)
    monkeypatch.setattr(grid_module, "_CANDIDATES_PER_ENTRY", 0)


def check_all(low: np.ndarray, high: np.ndarray, expected: np.ndarray) -> None:
    """Check both functions; pairs between two groups are the pairs of all boxes that join the groups."""
    boxes = Aabb(low, high)
    pairs = overlapping_pairs(boxes)
    assert pairs.dtype == np.int64
    assert np.array_equal(pairs, expected)

    in_a = np.arange(len(low)) % 3 == 0
    first, second = expected[:, 0], expected[:, 1]
    joining = expected[in_a[first] != in_a[second]]
    # Renumber within the groups, with the index into a first.
    joining = np.where(in_a[joining[:, :1]], joining, joining[:, ::-1])
    positions = np.where(in_a, np.cumsum(in_a), np.cumsum(~in_a)) - 1
    joining = positions[joining]
    joining = joining[np.lexsort((joining[:, 1], joining[:, 0]))]
    between = overlapping_pairs_between(boxes[in_a], boxes[~in_a])
    assert between.dtype == np.int64
    assert np.array_equal(between, joining)
    swapped = overlapping_pairs_between(boxes[~in_a], boxes[in_a])[:, ::-1]
    assert np.array_equal(swapped[np.lexsort((swapped[:, 1], swapped[:, 0]))], joining)


@pytest.mark.parametrize("name", list(arrangements()))
def test_pairs_agree_with_brute_force(name):
    low, high = arrangements()[name]
    check_all(low, high, np.array(expected_pairs(low, high), dtype=int).reshape(-1, 2))


@pytest.mark.usefixtures("columns_always")
@pytest.mark.parametrize("name", list(arrangements()))
def test_pairs_found_in_columns_agree_with_brute_force(name):
    low, high = arrangements()[name]
    check_all(low, high, np.array(expected_pairs(low, high), dtype=int).reshape(-1, 2))


@pytest.mark.parametrize("name", list(crowds()))
def test_pairs_of_many_boxes_agree_with_brute_force(name):
    check_all(*crowds()[name], pairs_of_crowd(name))


def test_arrangements_have_the_expected_numbers_of_pairs():
    counts = {name: len(expected_pairs(*boxes)) for name, boxes in arrangements().items()}
    assert counts["none"] == counts["one"] == counts["two apart"] == counts["just apart"] == 0
    # Each of the 27 inner boxes of a 5 x 5 x 5 grid touches 26; in all (13^3 - 125) / 2 pairs.
    assert counts["touching at faces, edges and corners"] == (13**3 - 125) // 2
    assert counts["identical"] == 60 * 59 // 2
    assert all(counts[name] > 20 for name in ("random", "clusters", "flat", "giants among small ones"))

    counts = {name: len(pairs_of_crowd(name)) for name in crowds()}
    assert counts.pop("just apart") == 0
    # Along each axis 31 of the 121 ordered pairs of positions touch or are equal.
    assert counts["touching"] == (31**3 - 11**3) // 2
    assert all(100 < count < 600_000 for count in counts.values()), counts


@pytest.mark.parametrize(
    "name", ["all sizes, wider", "more giants than are compared one by one", "sizes in steps of four"]
)
def test_boxes_too_wide_for_the_grid_are_searched_in_a_second_one(name, monkeypatch):
    calls = []
    find = search.find_pairs

    def counted_find(a, b):
        calls.append(b is None)
        return find(a, b)

    monkeypatch.setattr(search, "find_pairs", counted_find)
    # Allow few columns per box, because wide boxes rarely need a second search otherwise.
    monkeypatch.setattr(grid_module, "MANY_COLUMNS", 2)
    search_always(monkeypatch)
    check_all(*crowds()[name], pairs_of_crowd(name))
    # Wide boxes are searched with each other and with the rest.
    assert True in calls
    assert False in calls


coordinates = st.integers(-4, 4)
integer_boxes = st.lists(
    st.tuples(*[st.tuples(coordinates, coordinates).map(sorted) for _ in range(3)]), min_size=2, max_size=40
)


def corners_of(boxes: list, negative_zero: bool = False) -> Corners:
    corners = np.array(boxes, dtype=float).reshape(-1, 3, 2)
    if negative_zero:
        corners[corners == 0] = np.where(np.arange((corners == 0).sum()) % 2, -0.0, 0.0)
    return corners[..., 0], corners[..., 1]


@given(integer_boxes, st.booleans())
def test_integer_boxes_that_touch_agree_with_brute_force(boxes, negative_zero):
    low, high = corners_of(boxes, negative_zero)
    with pytest.MonkeyPatch.context() as patch:
        search_always(patch)
        check_all(low, high, np.array(expected_pairs(low, high), dtype=int).reshape(-1, 2))


scales = st.one_of(st.just(0.0), st.floats(1e-3, 1e3), st.sampled_from([1e-300, 1 / 3, 1e300]))


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    sweep = draw(st.integers(0, 2))
    scale = draw(st.tuples(scales, scales))
    # Few bits, so that cell numbers wrap around often.
    bits = [draw(st.integers(0, 4)) if factor else 0 for factor in scale]
    origin = draw(st.tuples(*[st.floats(-5, 5) | st.sampled_from([-1e200, 1e200])] * 2))
    return Grid(sweep, ((sweep + 1) % 3, (sweep + 2) % 3), origin, scale, (bits[0], bits[1]))


@given(integer_boxes, grids(), st.sampled_from([1.0, 0.1, 1e150, 1e-150]), st.integers(1, 16))
@examples(100, full=300)
def test_result_does_not_depend_on_the_grid(boxes, grid, unit, many):
    low, high = (corner * unit for corner in corners_of(boxes))
    with pytest.MonkeyPatch.context() as patch:
        search_always(patch)
        patch.setattr(search, "choose_grid", lambda sides: grid)
        patch.setattr(grid_module, "MANY_COLUMNS", many)
        check_all(low, high, np.array(expected_pairs(low, high), dtype=int).reshape(-1, 2))


@pytest.mark.parametrize("length", [1.5, 2.5, 3.5, 4.5, 7.5])
@pytest.mark.parametrize("start", [1.0, 2.0, 3.0])
def test_pair_that_shares_a_column_and_another_column_number_is_found_once(start, length, monkeypatch):
    # Cells of size 1 whose numbers wrap around after 4. Boxes of 3.5 from 0 and from 3 share cell 3, but
    # cells 0 and 4 have the same number too.
    starts = np.concatenate([[0.0, start], np.arange(40.0) * 10 + 20])
    low = starts[:, None] * [1.0, 0, 0]
    high = low + 0.5
    high[:2, 0] = low[:2, 0] + length
    search_always(monkeypatch)
    grid = Grid(2, (0, 1), (0.0, 0.0), (1.0, 0.0), (2, 0))
    monkeypatch.setattr(search, "choose_grid", lambda sides: grid)
    check_all(low, high, pairs_by_matrix(low, high))


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2), scales, st.floats(-1e300, 1e300)
)
def test_cells_never_decrease_with_the_coordinate(values, scale, origin):
    # The search relies on this: rounding may put a coordinate into another cell, but never past another one.
    grid = Grid(2, (0, 1), (origin, 0.0), (scale, 0.0), (8, 0))
    cells = grid.cells(np.sort(values), 0)
    assert (np.diff(cells) >= 0).all()


@pytest.mark.parametrize("exponent", [-400, -20, 0, 20, 400])
@pytest.mark.parametrize("offset", [0, 2**10, -(2**30)])
def test_result_is_invariant_under_powers_of_two_and_exact_offsets(exponent, offset):
    # Multiples of 1/64 below 2^31 are scaled and moved without rounding.
    rng = np.random.default_rng(8)
    center = rng.integers(0, 640, (1200, 3)) / 64
    size = rng.integers(1, 40, (1200, 3)) / 64
    expected = overlapping_pairs(Aabb(*around(center, size)))
    moved = [np.ldexp(corner + offset, exponent) for corner in around(center, size)]
    assert len(expected) > 1000
    assert np.array_equal(overlapping_pairs(Aabb(*moved)), expected)


@pytest.mark.smoke
def test_pairs_of_several_chunks_are_complete():
    # 700 identical boxes give 244 650 pairs in chunks of at most 32 768. Then one row has 40 thousand
    # candidates.
    count = 700
    identical = overlapping_pairs(Aabb(np.zeros((count, 3)), np.ones((count, 3))))
    assert np.array_equal(identical, np.argwhere(np.triu(np.ones((count, count)), k=1)))

    small = np.arange(40_000.0)[:, None] * 2 + np.zeros(3)
    low = np.concatenate([small, [[-10.0] * 3]])
    high = np.concatenate([small + 1, [[1e6] * 3]])
    pairs = overlapping_pairs(Aabb(low, high))
    expected = np.stack([np.arange(40_000), np.full(40_000, 40_000)], axis=1)
    assert np.array_equal(pairs, expected)
    group = Aabb(low[-1:], high[-1:])
    pairs = overlapping_pairs_between(group, Aabb(small, small + 1))
    assert np.array_equal(pairs, np.stack([np.zeros(40_000), np.arange(40_000)], axis=1))


@pytest.mark.smoke
def test_groups_of_very_different_size_agree_with_brute_force():
    rng = np.random.default_rng(5)
    many = around(rng.random((30_000, 3)) * 30, 0.4)
    few = around(rng.random((90, 3)) * 30, 2.0)
    expected = np.argwhere(
        np.logical_and.reduce(
            [(few[0][:, None, k] <= many[1][:, k]) & (many[0][:, k] <= few[1][:, None, k]) for k in range(3)]
        )
    )
    assert len(expected) > 5000
    assert np.array_equal(overlapping_pairs_between(Aabb(*few), Aabb(*many)), expected)


def test_overlaps_within_a_group_cost_no_memory():
    # Two clusters of 3000 boxes with 4.5 million pairs each, none between them: no pair within is compared.
    cluster = np.random.default_rng(6).random((3000, 3))
    a, b = Aabb(*around(cluster, 2.0)), Aabb(*around(cluster + np.array([6.0, 0, 0]), 2.0))
    tracemalloc.start()
    assert overlapping_pairs_between(a, b).shape == (0, 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e6


def test_empty_group_has_no_pairs():
    none = Aabb(np.empty((0, 3)), np.empty((0, 3)))
    boxes = Aabb(np.zeros((5000, 3)), np.ones((5000, 3)))
    for a, b in ((none, boxes), (boxes, none), (none, none)):
        pairs = overlapping_pairs_between(a, b)
        assert pairs.shape == (0, 2)
        assert pairs.dtype == np.int64


def test_candidates_are_not_kept_in_memory():
    # 4000 plates that overlap on two axes have 8 million candidates on each of them, and few pairs.
    rng = np.random.default_rng(9)
    center = rng.random((4000, 3)) * [1, 1, 4000]
    tracemalloc.start()
    pairs = overlapping_pairs(Aabb(*around(center, np.array([2.0, 2.0, 0.1]))))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 < len(pairs) < 2000
    assert peak < 8e6


def test_order_of_the_boxes_does_not_change_the_pairs():
    low, high = crowds()["all sizes on each axis"]
    expected = {tuple(pair) for pair in pairs_of_crowd("all sizes on each axis").tolist()}
    shuffle = np.random.default_rng(3).permutation(len(low))
    pairs = overlapping_pairs(Aabb(low[shuffle], high[shuffle]))
    assert {tuple(sorted(pair)) for pair in shuffle[pairs].tolist()} == expected


def unusable() -> Iterator[Aabb]:
    yield Aabb([0, 0, 0], [1, 1, 1])
    yield Sphere(np.zeros((2, 2, 3)), 1).aabb()


@pytest.mark.parametrize("boxes", list(unusable()))
def test_batches_with_other_axes_raise(boxes):
    with pytest.raises(InvalidShapeError, match=r"boxes.*\(n,\)"):
        overlapping_pairs(boxes)
    flat = Aabb(np.zeros((1, 3)), np.ones((1, 3)))
    with pytest.raises(InvalidShapeError, match=r"^a: .*\(n,\)"):
        overlapping_pairs_between(boxes, flat)
    with pytest.raises(InvalidShapeError, match=r"^b: .*\(n,\)"):
        overlapping_pairs_between(flat, boxes)
