"""Undo, redo, changed options and Repeat Last, with real keys in the window."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import FREE_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long


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


def test_changed_axes_recompute_the_bounds(recording: Recording) -> None:
    assert recording.notes["padded"]["settings"]["box_axes"] == "checked"
    assert recording.notes["other axes"]["settings"]["box_axes"] == "object"
    assert recording.notes["other axes"]["settings"]["padding"] == 0.25
    for name, has_box in (("padded", False), ("other axes", True)):
        assert all(("obb" in entry["world"]) == has_box for entry in recording.document(name)["objects"])


def test_repeat_last_runs_a_modal_scan_and_is_one_undo_step(recording: Recording) -> None:
    assert recording.notes["repeating"] == {"running": True}
    after = recording.notes["repeated"]
    assert after["is_new"] and after["rows"]
    assert after["operators"][-2:] == ["COLLISION_BOUNDS_OT_find_contacts"] * 2
    assert not recording.notes["repeat undone"]["is_new"]
