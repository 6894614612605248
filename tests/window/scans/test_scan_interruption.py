"""A scan that is interrupted ends without crashing Blender, and restores the frame."""

from __future__ import annotations

import pytest

from tests.tiers import is_full
from tests.window.harness import Recording

pytestmark = pytest.mark.long

COUNT = 50 if is_full() else 10
OPTIONS = {"more": (COUNT,), "seconds": 1200}
"""Scans that are interrupted at random moments."""


@pytest.mark.parametrize(("name", "frame"), [("file opened", 1), ("window closed", 3)])
def test_interrupted_scan_ends_and_restores_the_frame(recording: Recording, name: str, frame: int) -> None:
    assert recording.notes[name] == {"running": True, "running_after": False, "frame": frame}


def test_scans_interrupted_at_random_moments_leave_no_trace(recording: Recording) -> None:
    entries = recording.notes["random"]
    assert len(entries) == COUNT
    assert [entry for entry in entries if entry["changed"]] == []
    assert [entry for entry in entries if entry["kind"] in ("error", "file") and entry["kept"]] == []
    # A scan that is kept is one step of undo, and any other scan is none.
    for entry in entries:
        if entry["kind"] != "file":
            assert entry["undone"] == [False] * entry["kept"] + [True], entry
    assert any(entry["kept"] for entry in entries), "no moment was late enough for results"


def test_scan_of_keyframes_keeps_the_playhead(recording: Recording) -> None:
    assert set(recording.notes["keyed, scanning"]["frames"]) == {7}


def test_private_scene_is_not_in_a_file_that_a_click_stores_for_undo(recording: Recording) -> None:
    entry, without = recording.notes["clicked"], ["Factory"]
    assert len(entry["scanning"]) > len(without), "nothing was kept that a click could store"
    assert entry["running"]
    for step in ("clicked", "stopped", "undone", "undone twice"):
        assert entry[step] == without, step


def test_scan_stops_animation_playback(recording: Recording) -> None:
    assert recording.notes["playing"] == {"before": True, "after": False}


def test_second_scan_is_refused_with_a_reason(recording: Recording) -> None:
    assert (
        "Blender is finding contacts: stop it, or wait until it is done"
        in recording.notes["second scan"]["error"]
    )


def test_extension_can_be_disabled_during_a_scan(recording: Recording) -> None:
    assert recording.notes["disabled"] == {"properties": False}
