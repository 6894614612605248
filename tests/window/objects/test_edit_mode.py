"""Colliders around faces that are selected by clicks in Edit Mode, in the window."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_custom_shape_around_a_clicked_face_is_one_undo_step(recording: Recording) -> None:
    note, undone = recording.notes["custom shape"], recording.notes["shape undone"]
    corners = np.array(note["corners"])
    assert note["override"] == "box" and note["mode"] == "EDIT_MESH" and len(note["faces"]) == 1
    assert note["center"] == pytest.approx(corners.mean(axis=0), abs=1e-6)
    assert note["half"] == pytest.approx(np.ptp(corners, axis=0) / 2, abs=1e-6)
    assert undone["override"] == "none" and undone["mode"] == "EDIT_MESH" and undone["faces"] == note["faces"]
    redone = recording.notes["shape redone"]
    assert {key: redone[key] for key in ("override", "center", "half")} == {
        key: note[key] for key in ("override", "center", "half")
    }


def test_further_shape_is_added_and_removed_by_clicks_with_one_undo_step_each(recording: Recording) -> None:
    names = ("sphere added", "box removed", "removal undone", "sphere undone")
    notes = [recording.notes[name] for name in names]
    shapes = [[note["override"], *note["more"]] for note in notes]
    assert shapes == [["box", "sphere"], ["sphere"], ["box", "sphere"], ["box"]]
    assert {note["mode"] for note in notes} == {"EDIT_MESH"}


def test_custom_shape_from_fit_is_undone_in_edit_mode_too(recording: Recording) -> None:
    note, undone = recording.notes["from fit"], recording.notes["from fit undone"]
    assert note["override"] == "box" and note["mode"] == undone["mode"] == "EDIT_MESH"
    assert undone["override"] == "none" and undone["faces"] == note["faces"] != []


def test_button_makes_nothing_without_a_selection(recording: Recording) -> None:
    assert recording.notes["edit mode"]["mode"] == "EDIT_MESH" and not recording.notes["edit mode"]["faces"]
    for note in ("edit mode", "nothing selected"):
        assert recording.notes[note]["boxes"] == {}


def test_click_on_a_face_and_on_the_button_makes_a_box_around_the_face(recording: Recording) -> None:
    note = recording.notes["box"]
    assert len(recording.notes["face"]["faces"]) == 1 and note["mode"] == "EDIT_MESH"
    assert note["faces"] == recording.notes["face"]["faces"]
    ((low, high, count),) = note["boxes"].values()
    assert list(note["boxes"]) == ["UBX_Crate_00"] and count == 8
    corners = np.array(recording.notes["face"]["corners"])
    assert low == pytest.approx(corners.min(axis=0), abs=1e-3)
    assert high == pytest.approx(corners.max(axis=0), abs=1e-3)


def test_collider_is_one_undo_step_in_edit_mode(recording: Recording) -> None:
    undone, redone = recording.notes["undone"], recording.notes["redone"]
    assert undone["boxes"] == {} and undone["mode"] == "EDIT_MESH"
    assert undone["faces"] == recording.notes["face"]["faces"]
    assert redone["boxes"] == recording.notes["box"]["boxes"] and redone["mode"] == "EDIT_MESH"


def test_changing_the_kind_in_adjust_last_operation_replaces_the_collider(recording: Recording) -> None:
    note = recording.notes["sphere"]
    ((low, high, count),) = note["boxes"].values()
    assert list(note["boxes"]) == ["USP_Crate_00"] and count == 162 and note["mode"] == "EDIT_MESH"
    corners = np.array(recording.notes["face"]["corners"])
    # The ball around a square, with corners at half its diagonal from its center.
    radius = np.linalg.norm(corners - corners.mean(axis=0), axis=1).max()
    assert low[2] == pytest.approx(corners[0, 2] - radius, abs=0.02)
    assert high[2] == pytest.approx(corners[0, 2] + radius, abs=0.02)
    undone = recording.notes["ball undone"]
    assert undone["boxes"] == {} and undone["faces"] == recording.notes["face"]["faces"]
