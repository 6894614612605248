"""A click on a red bound selects its contact, a click on a bar in the timeline jumps to it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}
WALL = "Wall of a Long Name"


def test_click_on_free_bound_selects_its_object_as_without_the_extension(recording: Recording) -> None:
    assert recording.notes["found"]["row"] is None and recording.notes["found"]["playhead"] == 20
    assert recording.notes["blue"]["row"] is None
    assert recording.notes["blue"]["chosen"] == ["Blue"]


def test_click_on_red_bound_selects_its_row_and_leaves_the_playhead(recording: Recording) -> None:
    assert recording.notes["red"]["row"] == ["Red", WALL]
    assert recording.notes["red"]["chosen"] == ["Red", WALL]
    assert recording.notes["red"]["playhead"] == 20


def test_click_after_the_last_contact_selects_one_object_as_blender_does(recording: Recording) -> None:
    assert len(recording.notes["red again"]["chosen"]) == 1
    assert recording.notes["undone"]["chosen"] == ["Red", WALL]


def test_click_on_bar_jumps_to_the_start_of_the_contact(recording: Recording) -> None:
    assert recording.notes["clicked row"]["row"] == ["Second", WALL]
    note = recording.notes["bar"]
    assert note["found"] is not None, "the mouse was over a bar"
    # From x = -4 to 4 within frames 10 to 30, with Bezier easing 3 s^2 - 2 s^3: at x = -1 of both unit cubes.
    part = np.roots([-2, 3, 0, -3 / 8])
    (part,) = part[(part > 0) & (part < 1)]
    assert note["playhead"] == pytest.approx(10 + 20 * part, abs=0.01)
    assert note["row"] == ["Red", WALL]
    assert recording.notes["past bars"]["row"] == ["Red", WALL]


def test_move_apart_moves_one_object_and_is_undone(recording: Recording) -> None:
    (moved,) = recording.notes["moved"]["moved"]
    assert moved in ("Red", WALL)
    assert recording.notes["move undone"]["same"]
