"""Numbers as text: units of the scene, and no more decimals than are certain."""

from __future__ import annotations

from fractions import Fraction

import bpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.ui.texts import frame_text, length_text, playhead_text


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


@pytest.mark.parametrize(
    ("system", "scale", "wanted"),
    [
        ("METRIC", 1.0, "1.5 m"),
        ("METRIC", 0.01, "1.5 cm"),
        ("IMPERIAL", 0.3048, "1.5'"),
        ("NONE", 1.0, "1.5"),
    ],
)
def test_length_is_in_units_of_the_scene(system, scale, wanted):
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    assert length_text(1.5, units) == wanted
