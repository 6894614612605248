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
    assert note["motion"] == "linear" and note["confirm"] and note["static_pairs"]
    assert not note["ignore_parents"]
    contacts = recording.notes["found"]["contacts"]
    assert ["Plate", "Projectile", True, True] in contacts
    # The crate is simulated, so its mesh cannot be evaluated between frames.
    assert all(touches for a, _, _, touches in contacts if a != "Crate")
    assert all(linear for _, _, linear, _ in contacts)
