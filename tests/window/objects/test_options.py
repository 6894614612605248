"""Presets, the overlay color of the preferences, and the scan options of folded panels."""

from __future__ import annotations

import pytest

from tests.window.harness import FREE_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long

GREEN = (0.0, 1.0, 0.0)


def test_choosing_a_preset_applies_its_settings(recording: Recording) -> None:
    assert recording.notes["default settings"]["settings"]["padding"] == 0
    settings = recording.notes["preset chosen"]["settings"]
    assert (settings["padding"], settings["box_axes"]) == (0.125, "smallest")
    assert settings["scope"] == "SELECTED", "a preset does not contain the scope"
    before, after = recording.viewport("default settings"), recording.viewport("preset chosen")
    assert (before != after).any(), "larger bounds"


def test_bounds_have_the_color_of_the_preferences(recording: Recording) -> None:
    default, green = recording.viewport("default settings"), recording.viewport("green")
    assert count_pixels(default, FREE_COLOR) > 2000 and count_pixels(default, GREEN) == 0
    assert count_pixels(green, GREEN) > 2000 and count_pixels(green, FREE_COLOR) == 0


def test_scan_uses_the_clicked_options(recording: Recording) -> None:
    note = recording.notes["options"]
    assert note["motion"] == "linear" and note["shape"] == "mesh" and note["static_pairs"]
    assert not note["ignore_parents"]
    contacts = recording.notes["found"]["contacts"]
    assert all(linear for _, _, linear, _ in contacts)
    frames = {(a, b): frame for a, b, _, frame in contacts}
    # From the positions and the speed of the projectile.
    assert frames["Plate", "Projectile"] == pytest.approx(24.3125, abs=1e-4)
    # The box around the cart touches the post at frame 38.7, the cart itself after it has turned.
    assert 40 < frames["Cart", "Fence/Post.3"] < 41
    assert recording.notes["found"]["shape"] == "mesh"
