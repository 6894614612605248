"""Rounding: numbers in decimal steps, and shapes rounded outward, checked in exact arithmetic."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Aabb, Obb, Sphere
from addon.core.numeric.arrays import rotation_matrix
from addon.formats.document.objects import rounded_fields
from addon.formats.spaces import (
    rounded_around_center,
    rounded_down,
    rounded_obb,
    rounded_up,
    to_lists,
)
from tests.tiers import examples

NUMBER = st.floats(-1e6, 1e6) | st.floats(-1e300, 1e300) | st.integers(-(10**9), 10**9).map(lambda n: n / 1e6)
DECIMALS = st.integers(3, 9)
# Squares of shifts below 1e-150 are zero; no scene is that small.
COORDINATE = st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-100 else 0.0)


def digits_after_the_point(value: float) -> int:
    """Return the number of decimals of the shortest text that parses as this float, which JSON has."""
    return max(0, -Decimal(repr(value)).as_tuple().exponent)


@examples(166, full=500)
@given(NUMBER, DECIMALS)
def test_rounded_up_number_is_greater_or_equal_by_less_than_one_step(x, decimals):
    up = float(rounded_up(x, decimals))
    assert Fraction(up) >= Fraction(x)
    # One step, or the spacing of floats where that is larger.
    step = max(Fraction(1, 10**decimals), Fraction(math.ulp(x)))
    assert Fraction(up) - Fraction(x) < step + Fraction(math.ulp(up)) / 2


@given(st.floats(-1e6, 1e6), DECIMALS)
def test_rounded_numbers_have_few_digits(x, decimals):
    for operation in (np.around, rounded_up, rounded_down):
        value = float(operation(x, decimals))
        # At 1e6 floats are 1e-10 apart, so nine decimals are always exact.
        assert digits_after_the_point(value) <= decimals


@examples(166, full=500)
@given(NUMBER, DECIMALS)
def test_rounding_twice_changes_nothing(x, decimals):
    for operation in (rounded_up, rounded_down):
        once = operation(x, decimals)
        assert operation(once, decimals) == once


@given(st.integers(-(10**12), 10**12), DECIMALS)
def test_exact_decimals_stay(n, decimals):
    # The float that a reader parses from this decimal.
    x = float(Decimal(n).scaleb(-decimals))
    assert rounded_up(x, decimals) == x
    assert rounded_down(x, decimals) == x


@given(NUMBER, DECIMALS)
def test_rounding_down_mirrors_rounding_up(x, decimals):
    assert rounded_down(x, decimals) == -rounded_up(-x, decimals)
    assert rounded_down(x, decimals) <= x


@pytest.mark.parametrize(
    ("x", "up", "down"),
    [(0.1, 0.1, 0.1), (0.1234, 0.124, 0.123), (-0.1234, -0.123, -0.124), (1e-12, 0.001, 0), (5.0, 5.0, 5.0)],
)
def test_known_roundings_to_three_decimals(x, up, down):
    assert (rounded_up(x, 3), rounded_down(x, 3)) == (up, down)


@pytest.mark.smoke
def test_float_above_decimal_is_rounded_up_and_decimal_stays():
    assert rounded_up(np.nextafter(0.3, 1), 3) == 0.301
    assert rounded_up(0.3, 3) == 0.3
    assert rounded_down(np.nextafter(0.3, 0), 3) == 0.299


@examples(100, full=300)
@given(st.tuples(COORDINATE, COORDINATE, COORDINATE), st.floats(0, 1e6), DECIMALS)
def test_rounded_sphere_encloses_original_in_exact_arithmetic(center, radius, decimals):
    result = rounded_around_center(Sphere(center, radius), None, decimals)
    slack = Fraction(float(result.radius)) - Fraction(radius)
    shift = [Fraction(float(a)) - Fraction(b) for a, b in zip(result.center, center, strict=True)]
    assert slack >= 0
    assert sum(d * d for d in shift) <= slack * slack
    # The growth is limited to half a step per axis of the center, a step of the radius, and float spacing.
    assert slack <= Fraction(float(np.nextafter(2.0 / 10**decimals, 1))) + Fraction(radius) / 10**14
    # Rounding again does not change it.
    again = rounded_around_center(result, None, decimals)
    assert again.radius == result.radius
    assert np.array_equal(again.center, result.center)


@given(st.lists(st.tuples(COORDINATE, COORDINATE, COORDINATE), min_size=2, max_size=2), DECIMALS)
def test_rounded_box_encloses_original(corners, decimals):
    low, high = np.minimum(*corners), np.maximum(*corners)
    fields = rounded_fields(Aabb(low, high), decimals)
    least, most = fields["min"][0], fields["max"][0]
    assert (least <= low).all()
    assert (most >= high).all()
    assert (low - least <= 10.0**-decimals * 1.001).all()


@given(
    st.tuples(COORDINATE, COORDINATE, COORDINATE),
    st.tuples(*[st.floats(0, 1e3)] * 3),
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(c * c for c in q) > 1e-3),
    DECIMALS,
)
def test_rounded_oriented_box_encloses_original(center, half, quaternion, decimals):
    box = Obb(center, half, rotation_matrix(quaternion))
    turned = rotation_matrix(np.around(quaternion, 9))
    result = rounded_obb(box, turned, decimals)
    # The constructor of a box orthonormalizes its axes, which changes rounded axes slightly.
    np.testing.assert_allclose(result.rotation, turned, rtol=0, atol=1e-15)
    # `lost` is the rounding error of this check itself.
    lost = 1e-14 * (np.abs(box.corners()).max() + 1)
    seen = np.abs((box.corners() - result.center) @ turned)
    assert (seen <= result.half_extents + lost).all()
    # One step for the center and one for the half extent; nine decimals of the quaternion shift 1000 by 1e-5.
    assert (result.half_extents - box.half_extents <= 2 * 10.0**-decimals + 2e-5 + lost).all()


def test_axis_aligned_oriented_box_keeps_decimal_numbers():
    box = rounded_obb(Obb([0.1, 2, -3], [0.3, 1, 2], np.eye(3)), np.eye(3), 3)
    assert box.half_extents.tolist() == [0.3, 1, 2]


@pytest.mark.smoke
def test_lists_have_no_negative_zero():
    assert [math.copysign(1, value) for value in to_lists([-0.0, 0.0])] == [1, 1]
    assert to_lists(np.float32([[1, -2]])) == [[1.0, -2.0]]
    assert isinstance(to_lists(2), float)
