"""Numbers as text: units of the scene, and no more decimals than are certain."""

from __future__ import annotations

from fractions import Fraction

import bpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.ui.texts import frame_text, length_text, length_unit, lengths_text, number_text, playhead_text


@pytest.mark.parametrize(
    ("frame", "uncertainty", "wanted"),
    [
        (14.8525, 1.0, "15 ± 1"),
        (14.8525, 0.3, "14.9 ± 0.3"),
        (24.3125, 0.00012, "24.3125 ± 0.0002"),
        (24.3125, 0.0, "24.3125"),
        (25.92481, 0.00002, "25.9248"),
        (24.3125, 0.00009, "24.3125"),
        (24.3125, 0.095, "24.3 ± 0.1"),
        (1248.5, 20.0, "1248 ± 20"),
    ],
)
def test_frame_has_no_digits_below_its_uncertainty(frame, uncertainty, wanted):
    assert frame_text(frame, uncertainty) == wanted


@pytest.mark.parametrize(
    ("frame", "wanted"),
    [(24.0, "24"), (24.3125, "24.3125"), (-3.5, "-3.5"), (1200.0, "1200"), (14.85251, "14.8525"), (0.0, "0")],
)
def test_playhead_has_the_decimals_it_needs(frame, wanted):
    assert playhead_text(frame) == wanted


@given(st.floats(-1e5, 1e5), st.floats(1e-4, 100))
def test_shown_uncertainty_is_never_less_than_the_real_one(frame, uncertainty):
    shown = Fraction(frame_text(frame, uncertainty).split(" ± ")[1])
    assert (
        Fraction(uncertainty) * (1 - Fraction(1, 10**5))
        <= shown
        <= 2 * Fraction(uncertainty) * Fraction(1001, 1000)
    )


@pytest.fixture
def units():
    return bpy.context.scene.unit_settings


@pytest.mark.parametrize(
    ("system", "unit", "scale", "wanted"),
    [
        ("METRIC", "METERS", 1.0, "1.5 m"),
        ("METRIC", "METERS", 0.01, "0.015 m"),
        ("METRIC", "MILLIMETERS", 1.0, "1500 mm"),
        ("METRIC", "ADAPTIVE", 0.01, "1.5 cm"),
        ("IMPERIAL", "FEET", 0.3048, "1.5 ft"),
        ("IMPERIAL", "INCHES", 0.0254, "1.5 in"),
        ("IMPERIAL", "ADAPTIVE", 0.3048, "1.5'"),
        ("NONE", None, 1.0, "1.5"),
    ],
)
def test_length_is_in_the_unit_of_the_scene(units, system, unit, scale, wanted):
    units.system, units.scale_length = system, scale
    if unit:
        units.length_unit = unit
    assert length_text(1.5, units) == wanted


@pytest.mark.parametrize("unit", ["METERS", "MILLIMETERS", "ADAPTIVE"])
def test_zero_has_no_sign(units, unit):
    units.system, units.scale_length, units.length_unit = "METRIC", 1.0, unit
    assert not length_text(-0.0, units).startswith("-")
    assert not lengths_text([-0.0, -1e-30, 1.0], units, 3).startswith("-")


@pytest.mark.parametrize(
    ("largest", "symbol", "size"),
    [
        (2.3, "m", 1.0),
        (0.25, "cm", 0.01),
        (0.0043, "mm", 0.001),
        (1500.0, "km", 1000.0),
        (0.0, "m", 1.0),
        (2e-7, "\u00b5m", 1e-6),
    ],
)
def test_adaptive_unit_of_a_column_is_that_of_its_largest_length(units, largest, symbol, size):
    units.system, units.scale_length, units.length_unit = "METRIC", 1.0, "ADAPTIVE"
    assert length_unit(units, -largest) == (size, symbol)


def test_lengths_of_a_vector_have_one_unit(units):
    units.system, units.scale_length, units.length_unit = "METRIC", 1.0, "ADAPTIVE"
    assert lengths_text([-0.0, 0.4567, 1.88], units, 3) == "0  0.457  1.88 m"


@given(st.floats(1e-9, 1e9), st.integers(2, 7))
def test_number_has_no_exponent_and_is_rounded_to_its_digits(value, digits):
    text = number_text(value, digits)
    assert "e" not in text
    assert abs(Fraction(text) / Fraction(value) - 1) <= Fraction(1, 2 * 10 ** (digits - 1))
