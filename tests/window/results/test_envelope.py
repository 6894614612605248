"""Compute Envelope in the window: stopped with Esc, completed, shown, hidden, undone and redone."""

from __future__ import annotations

import pytest

from tests.window.harness import Recording, count_pixels

pytestmark = pytest.mark.long

ENVELOPE_COLOR = (0.55, 0.9, 0.35)


def test_esc_stops_compute_envelope_without_result(recording: Recording) -> None:
    assert recording.notes["stopped"] == {
        "running": True,
        "running_after": False,
        "frame": 1,
        "envelopes": 0,
    }


def test_all_objects_get_envelopes_and_the_frame_is_restored(recording: Recording) -> None:
    assert recording.notes["done"]["envelopes"] > 15
    assert recording.notes["done"]["frame"] == 1


def test_overlay_shows_envelopes_until_they_are_hidden(recording: Recording) -> None:
    shown, hidden = (count_pixels(recording.viewport(name), ENVELOPE_COLOR) for name in ("shown", "hidden"))
    assert shown > 600
    assert hidden < shown / 10


def test_undo_removes_envelopes_and_redo_restores_them(recording: Recording) -> None:
    assert recording.notes["undone"]["envelopes"] == 0
    assert recording.notes["redone"]["envelopes"] == recording.notes["done"]["envelopes"]


def test_adjust_last_operation_has_no_options_that_would_block_the_window(recording: Recording) -> None:
    note, before = recording.notes["adjusted"], recording.notes["hidden"]
    assert note["operators"][-1] == "COLLISION_BOUNDS_OT_compute_envelope" and note["height"] > 40
    assert note["is_same"] and note["envelopes"] == recording.notes["done"]["envelopes"]
    assert note["settings"] == before["settings"]
