"""Convex parts in the window: progress, Esc, undo in one step, and their picture."""

from __future__ import annotations

import json

import pytest

from tests.tiers import is_full
from tests.window.harness import Recording

pytestmark = pytest.mark.long

RINGS = 6 if is_full() else 4
OPTIONS = {"more": (RINGS,)}


def test_progress_is_shown_while_meshes_are_split(recording: Recording) -> None:
    note = recording.notes["splitting"]
    assert 0.1 < note["done"] < 1 and "%" in note["text"]


def test_esc_leaves_nothing_behind(recording: Recording) -> None:
    note = recording.notes["stopped"]
    assert note["colliders"] == 0 and note["before"] == note["after"]


def test_each_ring_gets_several_colliders_and_undo_removes_them_at_once(recording: Recording) -> None:
    assert 4 * RINGS <= recording.notes["created"]["colliders"] <= 8 * RINGS
    assert recording.notes["undone"]["colliders"] == 0
    assert recording.notes["undone"]["after"] == recording.notes["stopped"]["before"]
    assert recording.notes["redone"]["colliders"] == recording.notes["created"]["colliders"]


def test_kind_is_changed_below_adjust_last_operation(recording: Recording) -> None:
    note = recording.notes["changed kind"]
    assert note["colliders"] == recording.notes["created"]["colliders"]
    assert {name.split("_")[0] for name in note["names"]} == {"USP"}


def test_click_on_also_fit_chooses_convex_parts(recording: Recording) -> None:
    assert recording.notes["parts chosen"]["added"] == ["compound"]


def test_boxes_of_parts_are_drawn(recording: Recording) -> None:
    assert recording.notes["parts"]["switch"]
    changed = (recording.viewport("parts") != recording.viewport("boxes alone")).any(axis=-1)
    assert changed.sum() > 5000


def test_exported_bounds_have_hulls_of_parts(recording: Recording) -> None:
    file = json.loads((recording.folder / "parts.gltf").read_text("utf-8"))
    assert len(file["scenes"][0]["nodes"]) == RINGS
    shapes = file["extensions"]["OMI_physics_shape"]["shapes"]
    assert {shape["type"] for shape in shapes} == {"convex"} and len(shapes) > 3 * RINGS


def test_undo_of_bounds_is_one_step_and_redo_restores_the_parts(recording: Recording) -> None:
    undone, redone = recording.notes["bounds undone"], recording.notes["bounds redone"]
    assert undone["result"] == undone["before"] != redone["result"]
    assert redone["result"] == redone["before"]
    files = [recording.folder / f"{name}.gltf" for name in ("parts", "redone")]
    assert files[0].read_bytes() == files[1].read_bytes()
