"""Bounds of each bone at all frames, Also Fit and Box Axes, by clicks; with progress, Esc and undo."""

from __future__ import annotations

import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long

POSE = 0.37


def test_clicked_shape_and_axes_are_used(recording: Recording) -> None:
    note = recording.notes["chosen"]
    assert note["box_axes"] == "smallest" and len(note["added"]) == 1
    (kind,) = note["added"]
    shapes = recording.notes["whole"]["bounds"]["Arm"]["shapes"]
    assert "Sphere" in shapes and "Obb" in shapes and kind.title() in shapes


@pytest.mark.parametrize(("option", "wanted"), [("bounds_for", "bones"), ("bone_frames", "all")])
def test_each_option_of_bones_is_chosen_undone_and_redone(
    recording: Recording, option: str, wanted: str
) -> None:
    before = recording.notes[f"{option} chosen"]["before"]
    values = [recording.notes[f"{option} {step}"]["value"] for step in ("chosen", "undone", "redone")]
    assert before != wanted and values == [wanted, before, wanted]


def test_bounds_are_those_of_the_bones_at_all_frames(recording: Recording) -> None:
    note = recording.notes["bones"]
    assert {entry["bone"] for entry in note["bounds"].values()} == {"Base", "Upper", "Fore"}
    assert all(entry["all_frames"] and entry["weight"] is None for entry in note["bounds"].values())


def test_pose_without_a_key_stays(recording: Recording) -> None:
    assert recording.notes["bones"]["pose"] == pytest.approx(POSE)
    assert recording.notes["bones"]["moved"] == 0


def test_progress_is_shown_and_esc_changes_nothing(recording: Recording) -> None:
    running, stopped = recording.notes["running"], recording.notes["stopped"]
    assert 0 < running["done"] < 1 and "frame" in running["text"]
    assert stopped["is_same"] and stopped["moved"] == 0 and stopped["scenes"] == 1
    assert stopped["pose"] == pytest.approx(POSE)
    assert (recording.viewport("running") != recording.viewport("stopped")).any()
