"""Directed rounding to float32, compared with neighbors by bit patterns: integers in the order of floats.

And the lowest bits of numbers, compared with exact fractions.
"""

from __future__ import annotations

import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.numeric.floating_point import (
    float32_at_least,
    float32_at_most,
    lowest_bits,
    nearest_float32,
)

LARGEST = (2 - 2.0**-23) * 2.0**127


def neighbors(x):
    """Adjacent float32 values on both sides of x, or x itself."""
    near = struct.unpack("<f", struct.pack("<f", abs(x)))[0]
    bits = struct.unpack("<I", struct.pack("<f", near))[0]
    around = [struct.unpack("<f", struct.pack("<I", each))[0] for each in (max(bits, 1) - 1, bits, bits + 1)]
    signed = sorted({each if x >= 0 else -each for each in around} | {0.0 if bits == 0 else near})
    return max(each for each in signed if each <= x), min(each for each in signed if each >= x)


@given(st.floats(-3e38, 3e38).filter(lambda x: abs(x) > 1e-40) | st.floats(-1e3, 1e3, width=32))
def test_directed_rounding_gives_adjacent_float32_and_nearest_is_one_of_them(x):
    if x == 0:
        assert nearest_float32(x) == float32_at_least(x) == float32_at_most(x) == 0
        return
    below, above = neighbors(x)
    assert (float32_at_most(x), float32_at_least(x)) == (below, above)
    exact = Fraction(x)
    least = min(exact - Fraction(below), Fraction(above) - exact)
    assert abs(Fraction(float(nearest_float32(x))) - exact) == least


@pytest.mark.smoke
@pytest.mark.parametrize("x", [LARGEST, -LARGEST, 0.0, 2.0**-149])
def test_float32_values_are_unchanged(x):
    assert nearest_float32(x) == float32_at_least(x) == float32_at_most(x) == x


@pytest.mark.smoke
def test_rounding_beyond_largest_float32_gives_infinity_outward_and_largest_inward():
    assert float32_at_least(1e39) == float("inf")
    assert float32_at_most(-1e39) == -float("inf")
    assert float32_at_most(LARGEST * (1 + 1e-9)) == LARGEST


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_an_odd_multiple_of_its_lowest_bit(value):
    bit = float(lowest_bits(np.array([value]))[0])
    if value == 0:
        assert bit == np.inf
    else:
        multiple = Fraction(value) / Fraction(bit)
        assert multiple.denominator == 1 and multiple.numerator % 2 == 1
