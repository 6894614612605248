"""Numbers of single precision, counted by their bits: integers in the order of positive floats."""

from __future__ import annotations

import struct
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.single_precision import single, single_down, single_up

LARGEST = (2 - 2.0**-23) * 2.0**127


def neighbours(x):
    """The next numbers of single precision on both sides of x, or x itself."""
    near = struct.unpack("<f", struct.pack("<f", abs(x)))[0]
    bits = struct.unpack("<I", struct.pack("<f", near))[0]
    around = [struct.unpack("<f", struct.pack("<I", each))[0] for each in (max(bits, 1) - 1, bits, bits + 1)]
    signed = sorted({each if x >= 0 else -each for each in around} | {0.0 if bits == 0 else near})
    return max(each for each in signed if each <= x), min(each for each in signed if each >= x)


@given(st.floats(-3e38, 3e38).filter(lambda x: abs(x) > 1e-40) | st.floats(-1e3, 1e3, width=32))
def test_up_and_down_are_the_next_and_nearest_is_one_of_them(x):
    if x == 0:
        assert single(x) == single_up(x) == single_down(x) == 0
        return
    below, above = neighbours(x)
    assert (single_down(x), single_up(x)) == (below, above)
    exact = Fraction(x)
    least = min(exact - Fraction(below), Fraction(above) - exact)
    assert abs(Fraction(float(single(x))) - exact) == least


@pytest.mark.smoke
@pytest.mark.parametrize("x", [LARGEST, -LARGEST, 0.0, 2.0**-149])
def test_what_is_one_already_stays(x):
    assert single(x) == single_up(x) == single_down(x) == x


@pytest.mark.smoke
def test_beyond_the_largest_is_infinity_outward_and_the_largest_inward():
    assert single_up(1e39) == float("inf")
    assert single_down(-1e39) == -float("inf")
    assert single_down(LARGEST * (1 + 1e-9)) == LARGEST
