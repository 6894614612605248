"""Two windows with different scenes: each shows the bounds of its scene, colored for its current frame."""

from __future__ import annotations

import pytest

from tests.window.harness import CONTACT_COLOR, FREE_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long


def overlay_colors(recording: Recording, name: str) -> list[str]:
    """Return the name of the overlay color in each window."""
    names = {(True, False): "free", (False, True): "contact", (False, False): "none"}
    colors = []
    for number in range(2):
        picture = recording.viewport(f"{name} {number}")
        free, contact = (count_pixels(picture, color) > 200 for color in (FREE_COLOR, CONTACT_COLOR))
        colors.append(names[free, contact])
    return colors


def test_each_window_shows_its_scene_at_its_frame(recording: Recording) -> None:
    assert [recording.notes[f"start {number}"]["scene"] for number in range(2)] == ["First", "Second"]
    assert overlay_colors(recording, "start") == ["free", "free"]
    assert overlay_colors(recording, "contact in first") == ["contact", "free"]
    assert overlay_colors(recording, "contact in second") == ["free", "contact"]


def test_clearing_results_in_one_window_keeps_those_of_the_other(recording: Recording) -> None:
    assert overlay_colors(recording, "second cleared") == ["free", "none"]
