"""What holds for every pair of kinds: names, order, batches, motion, scale, padding, the extremes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import (
    Aabb,
    InvalidShapeError,
    Obb,
    Segment,
    Sphere,
    Triangle,
    minimum_translation,
    overlaps,
    separation,
    witness_points,
)
from tests.core.scenes import moved, random_shapes, rotations, scaled, size_of
from tests.tiers import examples, times

PAIRS = [
    (Sphere, Sphere),
    (Sphere, Segment),
    (Sphere, Triangle),
    (Sphere, Aabb),
    (Sphere, Obb),
    (Aabb, Aabb),
    (Aabb, Obb),
    (Obb, Obb),
]
BOTH_ORDERS = PAIRS + [(b, a) for a, b in PAIRS if a is not b]
QUERIES = [separation, overlaps, witness_points, minimum_translation]
ROUNDING = 3e-14
"""Of the largest coordinate or length of a pair."""

pytestmark = pytest.mark.filterwarnings("error")


def named(pair) -> str:
    return " and ".join(kind.__name__ for kind in pair)


every_pair = pytest.mark.parametrize("pair", PAIRS, ids=named)
either_order = pytest.mark.parametrize("pair", BOTH_ORDERS, ids=named)


def batches(pair, count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return tuple(random_shapes(kind, rng, count) for kind in pair)


def consistent(a, b) -> np.ndarray:
    """The separation, after all four answers have been found to tell the same."""
    found, witness = separation(a, b), witness_points(a, b)
    slack = ROUNDING * size_of(a, b)
    assert np.isfinite(found).all()
    for array in witness:
        assert np.isfinite(array).all()
    np.testing.assert_allclose(np.linalg.norm(witness.normal, axis=-1), 1, rtol=0, atol=1e-15)
    offset = witness.on_b - witness.on_a - witness.normal * found[..., None]
    assert (np.abs(offset).max(axis=-1) <= slack).all()
    clear = np.abs(found) > slack
    assert (overlaps(a, b) == (found <= 0))[clear].all()
    expected = witness.normal * np.minimum(found, 0)[..., None]
    assert (np.abs(minimum_translation(a, b) - expected).max(axis=-1) <= slack).all()
    return found


# --- kinds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(
    "pair",
    [p for p in product((Sphere, Aabb, Obb, Segment, Triangle), repeat=2) if p not in BOTH_ORDERS],
    ids=named,
)
def test_a_pair_of_kinds_without_a_method_is_refused_by_name(query, pair):
    with pytest.raises(InvalidShapeError, match=rf"no .* of {named(pair)}"):
        query(*batches(pair, 1))


@pytest.mark.parametrize("query", QUERIES)
def test_what_is_no_shape_is_refused_by_name(query):
    with pytest.raises(InvalidShapeError, match="Sphere and ndarray"):
        query(Sphere([0, 0, 0], 1), np.zeros(3))


@pytest.mark.parametrize("query", QUERIES)
@either_order
def test_batches_that_do_not_fit_each_other_are_refused_by_size(query, pair):
    a, b = batches(pair, 3)
    with pytest.raises(InvalidShapeError, match=r"\(3,\) and \(2,\)"):
        query(a, b[:2])


@every_pair
def test_the_order_of_the_two_changes_the_signs_alone(pair):
    a, b = batches(pair, 400)
    found, back = consistent(a, b), consistent(b, a)
    slack = ROUNDING * size_of(a, b)
    assert (np.abs(found - back) <= slack).all()
    clear = np.abs(found) > slack
    np.testing.assert_array_equal(overlaps(a, b)[clear], overlaps(b, a)[clear])
    ab, ba = witness_points(a, b), witness_points(b, a)
    # Not where two ways out are equally short, which random shapes do not have.
    assert (np.abs(ab.normal + ba.normal).max(axis=-1)[clear] <= 1e-12 / np.abs(found[clear])).all()
    np.testing.assert_allclose(minimum_translation(a, b), -minimum_translation(b, a), atol=1e-13)


@every_pair
def test_moving_by_the_minimum_translation_leaves_the_two_touching(pair):
    a, b = batches(pair, 400, seed=1)
    found, move = separation(a, b), minimum_translation(a, b)
    inside = found <= 0
    assert inside.any()
    assert not inside.all()
    after = separation(moved(a, move), b)
    slack = ROUNDING * size_of(a, b)
    assert (np.abs(after[inside]) <= slack[inside]).all()
    np.testing.assert_array_equal(after[~inside], found[~inside])


# --- batches ---------------------------------------------------------------------------------------------


@either_order
@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        ((5, 1), (1, 4), (5, 4)),
        ((), (4,), (4,)),
        ((4,), (), (4,)),
        ((), (), ()),
        ((3,), (2, 3), (2, 3)),
        ((0,), (), (0,)),
        ((), (0,), (0,)),
        ((0,), (1,), (0,)),
        ((3, 0), (0,), (3, 0)),
        ((0, 1), (1, 4), (0, 4)),
    ],
)
@pytest.mark.parametrize("as_points", [False, True])
def test_mixed_batches_give_what_each_pair_gives_alone(pair, first, second, together, as_points):
    rng = np.random.default_rng(3)
    a, b = (
        random_shapes(kind, rng, int(np.prod(batch))).reshaped(batch)
        for kind, batch in zip(pair, (first, second), strict=True)
    )
    if as_points:
        # A radius of zero takes another way through the code.
        a, b = (Sphere(s.center, s.radius * 0) if isinstance(s, Sphere) else s for s in (a, b))
    assert separation(a, b).shape == overlaps(a, b).shape == together
    assert separation(a, b).dtype == np.float64
    assert overlaps(a, b).dtype == bool
    assert minimum_translation(a, b).shape == (*together, 3)
    assert {array.shape for array in witness_points(a, b)} == {(*together, 3)}
    whole_a, whole_b = a.broadcast_to(together), b.broadcast_to(together)
    for index in list(np.ndindex(together))[: times(20, 6)]:
        one, two = whole_a[index], whole_b[index]
        assert separation(a, b)[index] == pytest.approx(float(separation(one, two)), abs=1e-15)
        assert overlaps(a, b)[index] == overlaps(one, two)
        for array, alone in zip(witness_points(a, b), witness_points(one, two), strict=True):
            np.testing.assert_allclose(array[index], alone, atol=4e-15)


@either_order
def test_answers_may_be_written_to_and_the_shapes_stay_as_they_are(pair):
    a, b = batches(pair, 3)
    before = [getattr(shape, name).copy() for shape in (a, b) for name in shape.tails]
    separation(a, b)[0] = 1
    overlaps(a, b)[0] = True
    minimum_translation(a, b)[0] = 1
    for array in witness_points(a, b):
        array.copy()[0] = 1
    after = [getattr(shape, name) for shape in (a, b) for name in shape.tails]
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, two)


# --- motion, scale, padding ------------------------------------------------------------------------------


@every_pair
@examples(25)
@given(seed=st.integers(0, 1000), exponent=st.integers(-6, 6), distance=st.sampled_from([0.0, 1.0, 1e3, 1e6]))
def test_rigid_motion_and_scale_keep_the_separation_in_its_unit(pair, seed, exponent, distance):
    # Within 1e-12 of the scale; far out, of what coordinates are rounded to and boxes are padded by for that.
    rng = np.random.default_rng(seed)
    a, b = (random_shapes(kind, rng, 8) for kind in pair)
    factor = 10.0**exponent
    matrix = np.eye(4)
    # Axis-aligned boxes stay what they are only under moves.
    matrix[:3, :3] = factor * (np.eye(3) if Aabb in pair else rotations(rng, 1)[0])
    matrix[:3, 3] = rng.normal(size=3) * distance * factor
    expected = factor * separation(a, b)
    one, two = a.transformed(matrix), b.transformed(matrix)
    tolerance = factor * 1e-12 + 1e-14 * np.abs(matrix[:3, 3]).max()
    np.testing.assert_allclose(consistent(one, two), expected, rtol=0, atol=tolerance)


@pytest.mark.smoke
@pytest.mark.parametrize("flip", [1, -1])
def test_one_sided_triangles_keep_their_front_in_motion_and_in_a_mirror(flip):
    rng = np.random.default_rng(6)
    a, b = random_shapes(Sphere, rng, 200), random_shapes(Triangle, rng, 200, one_sided=True)
    expected = separation(a, b)
    assert np.isinf(expected).any()
    assert np.isfinite(expected).any()
    matrix = np.eye(4)
    matrix[:3, :3] = rotations(rng, 1)[0] * 3
    matrix[:3, 3] = [4, 5, 6]
    matrix[:3, 0] *= flip
    found = separation(a.transformed(matrix), b.transformed(matrix))
    np.testing.assert_allclose(found, 3 * expected, atol=1e-13)


@either_order
@examples(20)
@given(seed=st.integers(0, 1000), more=st.floats(0, 2))
def test_padding_brings_shapes_nearer_and_never_parts_them(pair, seed, more):
    rng = np.random.default_rng(seed)
    a, b = (random_shapes(kind, rng, 16) for kind in pair)
    if not hasattr(a, "padded"):
        return
    before, after = separation(a, b), separation(a.padded(more), b)
    # A sphere comes nearer by all of it; a box by at least as much, and at its corners by sqrt(3) times that.
    assert (after <= before - more + 1e-14 * 8).all()
    assert (after >= before - more * (1 if isinstance(a, Sphere) else 1.7320508075688774) - 1e-13).all()
    assert (overlaps(a.padded(more), b) | ~overlaps(a, b)).all()


# --- extremes --------------------------------------------------------------------------------------------


@either_order
@pytest.mark.parametrize("factor", [1e-150, 1e-100, 1e100, 1e150])
def test_the_largest_and_smallest_of_worlds(pair, factor):
    a, b = batches(pair, 200, seed=2)
    large, small = scaled(a, factor), scaled(b, factor)
    found = consistent(large, small)
    np.testing.assert_allclose(found / factor, separation(a, b), rtol=0, atol=1e-14)
    ours, plain = witness_points(large, small), witness_points(a, b)
    blur = 1e-14 / np.maximum(np.abs(separation(a, b)), 1e-14)
    assert (np.abs(ours.normal - plain.normal).max(axis=-1) <= 10 * blur).all()


@either_order
@pytest.mark.parametrize("factors", [(1e150, 1e-150), (1e-150, 1e150), (1e-150, 1), (1, 1e150)])
def test_the_largest_beside_the_smallest(pair, factors):
    a, b = (scaled(shape, factor) for shape, factor in zip(batches(pair, 100), factors, strict=True))
    consistent(a, b)


@either_order
@pytest.mark.parametrize("size", [1e-150, 1e-6, 1.0])
def test_far_from_the_origin(pair, size):
    offset = np.array([1e6, -2e6, 3e6])
    a, b = (moved(scaled(shape, size), offset) for shape in batches(pair, 100))
    found = consistent(a, b)
    near = separation(*(scaled(shape, size) for shape in batches(pair, 100)))
    # Coordinates of 3e6 are rounded to 2.3e-10 each.
    np.testing.assert_allclose(found, near, rtol=0, atol=4e-9)


@either_order
def test_shapes_without_any_extent_in_one_place(pair):
    def nothing(kind):
        zero = np.zeros((2, 3))
        if kind is Sphere:
            return Sphere(zero, 0)
        if kind is Obb:
            return Obb(zero, zero, np.eye(3))
        return kind(*(zero for _ in kind.tails))

    a, b = nothing(pair[0]), nothing(pair[1])
    np.testing.assert_array_equal(consistent(a, b), [0, 0])
    assert overlaps(a, b).all()
    np.testing.assert_array_equal(np.abs(witness_points(a, b).normal), [[1, 0, 0]] * 2)
    apart = separation(moved(a, np.array([2.0, 3.0, 6.0])), b)
    np.testing.assert_array_equal(apart, [7, 7])


@either_order
def test_shapes_with_one_centre(pair):
    rng = np.random.default_rng(5)
    a, b = (random_shapes(kind, rng, 50) for kind in pair)

    def middle(shape):
        if isinstance(shape, Segment):
            return (shape.start + shape.end) / 2
        if isinstance(shape, Triangle):
            return (shape.a + shape.b + shape.c) / 3
        return shape.center

    a = moved(a, middle(b) - middle(a))
    assert overlaps(a, b).all()
    assert (consistent(a, b) <= ROUNDING).all()


@given(st.data())
@examples(150)
def test_no_shape_of_ordinary_numbers_gives_nan(data):
    number = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-9, 1e-150, -1e150, 1e6, 1 / 3, 5e-324])
    point = st.tuples(number, number, number)
    length = number.map(abs)

    def draw(kind):
        if kind is Sphere:
            return Sphere(data.draw(point), data.draw(length))
        if kind is Segment:
            return Segment(data.draw(point), data.draw(point))
        if kind is Triangle:
            return Triangle(data.draw(point), data.draw(point), data.draw(point), data.draw(st.booleans()))
        half = data.draw(st.tuples(length, length, length))
        if kind is Obb:
            turn = rotations(np.random.default_rng(data.draw(st.integers(0, 9))), 1)[0]
            return Obb(data.draw(point), half, data.draw(st.sampled_from([np.eye(3), turn])))
        low = np.array(data.draw(point))
        return Aabb(low, low + half)

    a, b = (draw(kind) for kind in data.draw(st.sampled_from(BOTH_ORDERS)))
    assert not np.isnan(separation(a, b))
    witness = witness_points(a, b)
    assert all(np.isfinite(array).all() for array in witness)
    assert np.linalg.norm(witness.normal) == pytest.approx(1, abs=1e-14)
    assert np.isfinite(minimum_translation(a, b)).all()
    assert overlaps(a, b).dtype == bool
