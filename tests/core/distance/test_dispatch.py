"""Properties of every pair of types: errors, order, batches, motion, scale, padding, extreme values."""

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
    UnsupportedPairError,
    minimum_translation,
    overlaps,
    separation,
    witness_points,
)
from tests.core.scenes import random_rotations, random_shapes, scaled, size_of, translated
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
QUERIES = {
    separation: "separation",
    overlaps: "overlap",
    witness_points: "witness points",
    minimum_translation: "minimum translation",
}
ROUNDING = 3e-14
"""Allowed rounding error, in units of the largest coordinate or length of a pair."""

pytestmark = pytest.mark.filterwarnings("error")


def named(pair) -> str:
    return " and ".join(kind.__name__ for kind in pair)


every_pair = pytest.mark.parametrize("pair", PAIRS, ids=named)
either_order = pytest.mark.parametrize("pair", BOTH_ORDERS, ids=named)


def batches(pair, count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return tuple(random_shapes(kind, rng, count) for kind in pair)


def consistent_separation(a, b) -> np.ndarray:
    """Return the separation, after checking that all four queries agree."""
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
def test_unsupported_pair_raises_with_type_names(query, pair):
    with pytest.raises(UnsupportedPairError, match=rf"^no {QUERIES[query]} of {named(pair)}$"):
        query(*batches(pair, 1))


@pytest.mark.parametrize("query", QUERIES)
def test_argument_that_is_no_shape_raises_with_type_names(query):
    with pytest.raises(UnsupportedPairError, match="Sphere and ndarray"):
        query(Sphere([0, 0, 0], 1), np.zeros(3))


@pytest.mark.parametrize("query", QUERIES)
@either_order
def test_batches_that_do_not_broadcast_raise_with_sizes(query, pair):
    a, b = batches(pair, 3)
    with pytest.raises(InvalidShapeError, match=r"^shapes: .*\(3,\) and \(2,\)"):
        query(a, b[:2])


@every_pair
def test_swapped_arguments_change_only_signs(pair):
    a, b = batches(pair, 400)
    found, back = consistent_separation(a, b), consistent_separation(b, a)
    slack = ROUNDING * size_of(a, b)
    assert (np.abs(found - back) <= slack).all()
    clear = np.abs(found) > slack
    np.testing.assert_array_equal(overlaps(a, b)[clear], overlaps(b, a)[clear])
    ab, ba = witness_points(a, b), witness_points(b, a)
    # Random shapes have no two equally short translations, where the choice depends on the order.
    assert (np.abs(ab.normal + ba.normal).max(axis=-1)[clear] <= 1e-12 / np.abs(found[clear])).all()
    np.testing.assert_allclose(minimum_translation(a, b), -minimum_translation(b, a), atol=1e-13)


@every_pair
def test_shapes_touch_after_the_minimum_translation(pair):
    a, b = batches(pair, 400, seed=1)
    found, move = separation(a, b), minimum_translation(a, b)
    inside = found <= 0
    assert inside.any()
    assert not inside.all()
    after = separation(translated(a, move), b)
    slack = ROUNDING * size_of(a, b)
    assert (np.abs(after[inside]) <= slack[inside]).all()
    np.testing.assert_array_equal(after[~inside], found[~inside])


def test_translations_have_no_negative_zeros():
    a, b = Sphere([0, 0, 0], 2), Sphere([3, 0, 0], 2)
    assert minimum_translation(a, b).tolist() == [-1, 0, 0]
    for one, other in ((a, b), (b, a), (a, Aabb([1, -5, -5], [9, 5, 5]))):
        move = minimum_translation(one, other)
        assert not np.signbit(move[1:]).any()


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
def test_broadcast_batches_agree_with_single_pairs(pair, first, second, together, as_points):
    rng = np.random.default_rng(3)
    a, b = (
        random_shapes(kind, rng, int(np.prod(batch))).reshaped(batch)
        for kind, batch in zip(pair, (first, second), strict=True)
    )
    if as_points:
        # Radii of zero take a different code path.
        a, b = (Sphere(s.center, s.radius * 0) if isinstance(s, Sphere) else s for s in (a, b))
    assert separation(a, b).shape == overlaps(a, b).shape == together
    assert separation(a, b).dtype == np.float64
    assert overlaps(a, b).dtype == bool
    assert minimum_translation(a, b).shape == (*together, 3)
    assert {array.shape for array in witness_points(a, b)} == {(*together, 3)}
    whole_a, whole_b = a.broadcast_to(together), b.broadcast_to(together)
    for index in list(np.ndindex(together))[: times(12, 6, full=20)]:
        one, two = whole_a[index], whole_b[index]
        assert separation(a, b)[index] == pytest.approx(float(separation(one, two)), abs=1e-15)
        assert overlaps(a, b)[index] == overlaps(one, two)
        for array, alone in zip(witness_points(a, b), witness_points(one, two), strict=True):
            np.testing.assert_allclose(array[index], alone, atol=4e-15)


@either_order
def test_results_are_writable_and_do_not_alias_the_shapes(pair):
    a, b = batches(pair, 3)
    before = [getattr(shape, name).copy() for shape in (a, b) for name in shape.field_shapes]
    separation(a, b)[0] = 1
    overlaps(a, b)[0] = True
    minimum_translation(a, b)[0] = 1
    for array in witness_points(a, b):
        array.copy()[0] = 1
    after = [getattr(shape, name) for shape in (a, b) for name in shape.field_shapes]
    for one, two in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, two)


# --- motion, scale, padding ------------------------------------------------------------------------------


@every_pair
@examples(25)
@given(seed=st.integers(0, 1000), exponent=st.integers(-6, 6), distance=st.sampled_from([0.0, 1.0, 1e3, 1e6]))
def test_separation_is_invariant_under_rigid_motion_and_scales(pair, seed, exponent, distance):
    # Within 1e-12 of the scale; far from the origin within the rounding of coordinates and the padding for
    # it.
    rng = np.random.default_rng(seed)
    a, b = (random_shapes(kind, rng, 8) for kind in pair)
    factor = 10.0**exponent
    matrix = np.eye(4)
    # Axis-aligned boxes keep their shape only under translations.
    matrix[:3, :3] = factor * (np.eye(3) if Aabb in pair else random_rotations(rng, 1)[0])
    matrix[:3, 3] = rng.normal(size=3) * distance * factor
    expected = factor * separation(a, b)
    one, two = a.transformed(matrix), b.transformed(matrix)
    tolerance = factor * 1e-12 + 1e-14 * np.abs(matrix[:3, 3]).max()
    np.testing.assert_allclose(consistent_separation(one, two), expected, rtol=0, atol=tolerance)


@pytest.mark.smoke
@pytest.mark.parametrize("flip", [1, -1])
def test_front_of_one_sided_triangles_follows_transformations_and_mirrors(flip):
    rng = np.random.default_rng(6)
    a, b = random_shapes(Sphere, rng, 200), random_shapes(Triangle, rng, 200, one_sided=True)
    expected = separation(a, b)
    assert np.isinf(expected).any()
    assert np.isfinite(expected).any()
    matrix = np.eye(4)
    matrix[:3, :3] = random_rotations(rng, 1)[0] * 3
    matrix[:3, 3] = [4, 5, 6]
    matrix[:3, 0] *= flip
    found = separation(a.transformed(matrix), b.transformed(matrix))
    np.testing.assert_allclose(found, 3 * expected, atol=1e-13)


@either_order
@examples(20)
@given(seed=st.integers(0, 1000), more=st.floats(0, 2))
def test_padding_reduces_the_separation_by_at_least_its_amount(pair, seed, more):
    rng = np.random.default_rng(seed)
    a, b = (random_shapes(kind, rng, 16) for kind in pair)
    if not hasattr(a, "padded"):
        return
    before, after = separation(a, b), separation(a.padded(more), b)
    # A sphere comes closer by the amount; a box by at least that, and at its corners by sqrt(3) times that.
    assert (after <= before - more + 1e-14 * 8).all()
    assert (after >= before - more * (1 if isinstance(a, Sphere) else 1.7320508075688774) - 1e-13).all()
    assert (overlaps(a.padded(more), b) | ~overlaps(a, b)).all()


# --- extremes --------------------------------------------------------------------------------------------


@either_order
@pytest.mark.parametrize("factor", [1e-150, 1e-100, 1e100, 1e150])
def test_scenes_of_extreme_scale_agree_with_unit_scale(pair, factor):
    a, b = batches(pair, 200, seed=2)
    large, small = scaled(a, factor), scaled(b, factor)
    found = consistent_separation(large, small)
    np.testing.assert_allclose(found / factor, separation(a, b), rtol=0, atol=1e-14)
    at_scale, plain = witness_points(large, small), witness_points(a, b)
    blur = 1e-14 / np.maximum(np.abs(separation(a, b)), 1e-14)
    assert (np.abs(at_scale.normal - plain.normal).max(axis=-1) <= 10 * blur).all()


@either_order
@pytest.mark.parametrize("factors", [(1e150, 1e-150), (1e-150, 1e150), (1e-150, 1), (1, 1e150)])
def test_shapes_of_very_different_scale_are_consistent(pair, factors):
    a, b = (scaled(shape, factor) for shape, factor in zip(batches(pair, 100), factors, strict=True))
    consistent_separation(a, b)


@either_order
@pytest.mark.parametrize("size", [1e-150, 1e-6, 1.0])
def test_shapes_far_from_the_origin_keep_their_separation(pair, size):
    offset = np.array([1e6, -2e6, 3e6])
    a, b = (translated(scaled(shape, size), offset) for shape in batches(pair, 100))
    found = consistent_separation(a, b)
    near = separation(*(scaled(shape, size) for shape in batches(pair, 100)))
    # Coordinates of 3e6 are rounded to 2.3e-10 each.
    np.testing.assert_allclose(found, near, rtol=0, atol=4e-9)


@either_order
def test_coincident_shapes_without_extent_touch(pair):
    def nothing(kind):
        zero = np.zeros((2, 3))
        if kind is Sphere:
            return Sphere(zero, 0)
        if kind is Obb:
            return Obb(zero, zero, np.eye(3))
        return kind(*(zero for _ in kind.field_shapes))

    a, b = nothing(pair[0]), nothing(pair[1])
    np.testing.assert_array_equal(consistent_separation(a, b), [0, 0])
    assert overlaps(a, b).all()
    np.testing.assert_array_equal(np.abs(witness_points(a, b).normal), [[1, 0, 0]] * 2)
    apart = separation(translated(a, np.array([2.0, 3.0, 6.0])), b)
    np.testing.assert_array_equal(apart, [7, 7])


@either_order
def test_concentric_shapes_overlap(pair):
    rng = np.random.default_rng(5)
    a, b = (random_shapes(kind, rng, 50) for kind in pair)

    def middle(shape):
        if isinstance(shape, Segment):
            return (shape.start + shape.end) / 2
        if isinstance(shape, Triangle):
            return (shape.a + shape.b + shape.c) / 3
        return shape.center

    a = translated(a, middle(b) - middle(a))
    assert overlaps(a, b).all()
    assert (consistent_separation(a, b) <= ROUNDING).all()


@given(st.data())
@examples(50, full=150)
def test_finite_shapes_never_give_nan(data):
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
            turn = random_rotations(np.random.default_rng(data.draw(st.integers(0, 9))), 1)[0]
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
