"""Undo, redo, changed options and Esc, with real keys in the window."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.window.harness import FREE_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def recording(run_drive_script: Callable[..., Recording]) -> Recording:
    """Record undo, redo, changed options and Esc."""
    return run_drive_script("viewport/drive_undo.py")


def status_bar(recording: Recording, name: str) -> list[list[list[float]]]:
    """Return the left part of the status bar, with an operator's hints; its report appears to the right."""
    picture = recording.screenshot(name)
    return picture[-20:, : picture.shape[1] // 6].tolist()


def test_undo_removes_the_bounds(recording: Recording) -> None:
    assert recording.notes["computed"]["has_results"]
    assert count_pixels(recording.viewport("computed"), FREE_COLOR) > 2000
    assert not recording.notes["undone"]["has_results"]
    assert count_pixels(recording.viewport("undone"), FREE_COLOR) == 0
    assert recording.notes["undone"]["settings"] == recording.notes["before"]["settings"], "one step, not two"


def test_redo_restores_the_bounds(recording: Recording) -> None:
    assert recording.notes["redone"]["has_results"]
    # Compare pixel by pixel. Edges of lines can be smoothed differently when the scene is evaluated again.
    difference = np.abs(recording.viewport("redone") - recording.viewport("computed")).max(axis=-1)
    is_equal = (difference > 0.1).sum() <= 5 and difference.mean() < 1e-3
    assert is_equal, f"{(difference > 0).sum()} pixels differ"
    assert recording.document("redone") == recording.document("computed")


def test_changed_padding_recomputes_the_bounds(recording: Recording) -> None:
    assert recording.notes["padded"]["settings"]["padding"] == 0.25
    for before, after in zip(
        recording.document("computed")["objects"], recording.document("padded")["objects"], strict=True
    ):
        grown = after["world"]["sphere"]["radius"] - before["world"]["sphere"]["radius"]
        assert grown == pytest.approx(0.25, abs=1e-5), before["name"]
        low, high = before["world"]["aabb"]["min"], after["world"]["aabb"]["min"]
        assert [a - b for a, b in zip(low, high, strict=True)] == pytest.approx([0.25] * 3, abs=1e-5)


def test_changed_axes_recompute_the_bounds(recording: Recording) -> None:
    assert recording.notes["padded"]["settings"]["box_axes"] == "checked"
    assert recording.notes["other axes"]["settings"]["box_axes"] == "object"
    assert recording.notes["other axes"]["settings"]["padding"] == 0.25
    for name, has_box in (("padded", False), ("other axes", True)):
        assert all(("obb" in entry["world"]) == has_box for entry in recording.document(name)["objects"])


def test_scan_shows_hints_in_the_status_bar(recording: Recording) -> None:
    assert status_bar(recording, "scanning") != status_bar(recording, "before scan")


def test_esc_keeps_contacts_and_restores_frame_selection_and_status_bar(recording: Recording) -> None:
    before, after = recording.notes["before scan"], recording.notes["stopped"]
    assert (after["frame"], after["subframe"]) == (7, 0.25) == (before["frame"], before["subframe"])
    assert after["selected"] == before["selected"] == ["Cart", "Crate"]
    partial = [(row["a"], row["b"]) for row in after["rows"] if not row["is_near_miss"]]
    complete = [
        (row["a"], row["b"]) for row in recording.notes["complete"]["rows"] if not row["is_near_miss"]
    ]
    assert complete and set(complete) <= set(partial), "all contacts are early"
    document = recording.document("stopped")
    assert document["extras"]["partial"]["plannedEnd"] == 1_000_000
    assert 24 < document["time"]["frameEnd"] < 1_000_000
    assert after["settings"] == before["settings"]
    # Before the scan, the hint for a click was another: the scene had no contacts to click on.
    assert status_bar(recording, "stopped") == status_bar(recording, "complete")
    assert status_bar(recording, "stopped") != status_bar(recording, "scanning")


def test_scan_can_be_started_after_esc(recording: Recording) -> None:
    note = recording.notes["complete"]
    assert sum(not row["is_near_miss"] for row in note["rows"]) > 0
    assert (note["frame"], note["subframe"]) == (7, 0.25)


def test_repeat_last_runs_a_modal_scan_and_is_one_undo_step(recording: Recording) -> None:
    assert recording.notes["repeating"] == {"running": True}
    after = recording.notes["repeated"]
    assert after["is_new"] and after["rows"]
    assert after["operators"][-2:] == ["COLLISION_BOUNDS_OT_find_contacts"] * 2
    assert not recording.notes["repeat undone"]["is_new"]
