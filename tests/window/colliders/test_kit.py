"""Colliders of a kit of props of mixed kinds, in a window of 1280 x 720: five clicks from the opened tab."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long

OPTIONS = {"size": (1280, 720)}

NAMES = {
    *("UBX_SM_Crate_00", "UCP_SM_Barrel_00", "UCX_SM_Rock_00", "USP_SM_Ball_00", "UCX_SM_Vase_00"),
    "UBX_SM_Chest_00",
}


def height(recording: Recording, note: str, name: str) -> float:
    return recording.notes[note]["colliders"][name][2]


def test_creating_again_with_nothing_selected_keeps_the_kinds(recording: Recording) -> None:
    assert set(recording.notes["tab"]["colliders"]) == set(recording.notes["again"]["colliders"]) == NAMES
    # Only the chest has other vertices than before.
    assert height(recording, "again", "UBX_SM_Chest_00") > 1.2 * height(recording, "tab", "UBX_SM_Chest_00")


def test_edited_collider_is_kept(recording: Recording) -> None:
    for note in ("again", "rebuilt"):
        assert height(recording, note, "UBX_SM_Crate_00") == height(recording, "tab", "UBX_SM_Crate_00")
    assert "1 edited manually: kept" in recording.log


def test_panel_opens_without_scrolling(
    recording: Recording,
) -> None:
    x, y, width, tall = recording.notes["panel"]["regions"]["UI"]
    top = recording.notes["panel"]["height"] - (y + tall)
    before, after = (recording.screenshot(note)[top : top + tall, x : x + width] for note in ("tab", "panel"))
    assert (np.abs(after - before).max(axis=-1) > 0.1).any(axis=1).sum() > 100


def test_problem_is_mended_by_a_click_and_undone(recording: Recording) -> None:
    name = "UCX_SM_Vase_00"
    assert "6 colliders, 1 problem" in recording.log
    assert "Colliders of 1 object created, 6 colliders, no problems" in recording.log
    assert height(recording, "rebuilt", name) > 1.15 * height(recording, "again", name)
    assert height(recording, "undone", name) == height(recording, "again", name)
