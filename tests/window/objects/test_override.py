"""An override box that is created, resized and moved in the window: its handles, values and overlay."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import FREE_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long

HALF = 0.3125  # half extent of the crate
DRAG_DISTANCE = 0.5  # of the dragged side


def count_handle_pixels(recording: Recording, name: str) -> int:
    """Count the yellow pixels of handles around the corner that the box was dragged to."""
    picture = recording.square_around(name, tuple(recording.notes[name]["new_corner"]), 12)
    red, green, blue = np.moveaxis(picture, -1, 0)
    return int(((red > 0.6) & (green > 0.6) & (blue < 0.5)).sum())


def test_start_from_fit_creates_the_box_of_the_vertices(recording: Recording) -> None:
    note = recording.notes["from fit"]
    assert recording.notes["panels open"]["override"] == "none" and note["override"] == "box"
    assert note["operators"][-1] == "COLLISION_BOUNDS_OT_override_from_fit"
    assert note["half_extents"] == pytest.approx([HALF] * 3) and note["center"] == pytest.approx([0] * 3)


def test_dragging_a_side_does_not_move_the_opposite_side(recording: Recording) -> None:
    note = recording.notes["resized"]
    assert note["center"][0] - note["half_extents"][0] == pytest.approx(-HALF, abs=1e-4)
    assert note["center"][0] + note["half_extents"][0] == pytest.approx(HALF + DRAG_DISTANCE, abs=0.1)
    assert note["half_extents"][1:] == pytest.approx([HALF] * 2)
    assert count_handle_pixels(recording, "resized") > 10


def test_bounds_are_measured_again_at_the_end_of_a_drag(recording: Recording) -> None:
    # The crate is turned, so its box along the world's axes is longer than its 0.62 m and the 0.5 m more.
    assert recording.notes["resized"]["measured"] > 1.1


def test_drag_is_one_undo_step(recording: Recording) -> None:
    undone, redone = recording.notes["undone"], recording.notes["redone"]
    assert undone["override"] == "box" and undone["half_extents"] == pytest.approx([HALF] * 3)
    assert count_handle_pixels(recording, "undone") == 0
    for name in ("center", "half_extents"):
        assert redone[name] == recording.notes["resized"][name]
    assert count_handle_pixels(recording, "redone") > 10


def test_ring_handle_moves_the_box_without_resizing(recording: Recording) -> None:
    before, after = recording.notes["redone"], recording.notes["moved"]
    assert after["half_extents"] == before["half_extents"]
    assert np.linalg.norm(np.subtract(after["center"], before["center"])) > 0.1
    assert count_handle_pixels(recording, "moved") == 0


def test_overlay_follows_the_override_and_handles_hide_with_gizmos(recording: Recording) -> None:
    corner = tuple(recording.notes["without handles"]["bound_corner"])
    assert count_pixels(recording.square_around("without handles", corner, 8), FREE_COLOR) > 10
    assert count_pixels(recording.square_around("from fit", corner, 8), FREE_COLOR) == 0
    red, green, blue = np.moveaxis(recording.viewport("without handles"), -1, 0)
    assert ((red > 0.85) & (green > 0.85) & (blue < 0.4)).sum() == 0


def test_start_from_fit_keeps_the_shape_type(recording: Recording) -> None:
    for shape in ("sphere", "box"):
        assert recording.notes[f"{shape} from fit again"]["override"] == shape


def test_response_is_chosen_in_its_panel_and_undone(recording: Recording) -> None:
    assert recording.notes["response"]["response"] == "trigger"
    assert recording.notes["response undone"]["response"] == "solid"
