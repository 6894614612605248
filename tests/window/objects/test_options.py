"""What is set once and seldom: presets, colours, and the options that are folded away."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import FREE, Told, count

pytestmark = pytest.mark.long

GREEN = (0.0, 1.0, 0.0)


@pytest.fixture(scope="module")
def told(told_by: Callable[..., Told]) -> Told:
    """One visit for all tests here."""
    return told_by("objects/drive_options.py")


def test_a_click_on_a_preset_brings_its_settings(told: Told) -> None:
    assert told.notes["plain"]["settings"]["padding"] == 0
    settings = told.notes["by preset"]["settings"]
    assert (settings["padding"], settings["method"]) == (0.125, "ritter")
    assert settings["scope"] == "SELECTED", "of this scene, whatever was chosen when the preset was kept"
    assert (told.viewport("plain") != told.viewport("by preset")).any(), "larger bounds"


def test_bounds_have_the_colour_of_the_preferences(told: Told) -> None:
    assert count(told.viewport("plain"), FREE) > 3000 and count(told.viewport("plain"), GREEN) == 0
    assert count(told.viewport("green"), GREEN) > 3000 and count(told.viewport("green"), FREE) == 0


def test_options_of_the_scan_are_clicked_and_count(told: Told) -> None:
    note = told.notes["options"]
    assert note["motion"] == "linear" and note["confirm"] and note["static_pairs"]
    assert not note["ignore_parents"]
    rows = told.notes["found"]["told"]
    assert ["Plate", "Projectile", True, "TOUCH"] in rows
    # The crate is simulated, which cannot be asked between frames.
    assert {meshes for a, _, _, meshes in rows if a != "Crate"} == {"TOUCH"}
    assert all(linear for _, _, linear, _ in rows)
