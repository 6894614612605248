"""Two windows with a scene each show the bounds of their own, in the colours of their own frame."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import CONTACT, FREE, Told, count

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def told(told_by: Callable[..., Told]) -> Told:
    """One visit for all tests here."""
    return told_by("viewport/drive_scenes.py")


def colors(told: Told, name: str) -> list[str]:
    """What each window shows."""
    found = []
    for number in range(2):
        picture = told.viewport(f"{name} {number}")
        free, contact = count(picture, FREE) > 200, count(picture, CONTACT) > 200
        found.append({(True, False): "free", (False, True): "contact", (False, False): "none"}[free, contact])
    return found


def test_each_window_shows_its_own_scene_at_its_own_frame(told: Told) -> None:
    assert [told.notes[f"begin {number}"]["scene"] for number in range(2)] == ["First", "Second"]
    assert colors(told, "begin") == ["free", "free"]
    assert colors(told, "first") == ["contact", "free"]
    assert colors(told, "second") == ["free", "contact"]


def test_cleared_in_one_they_stay_in_the_other(told: Told) -> None:
    assert colors(told, "cleared") == ["free", "none"]
