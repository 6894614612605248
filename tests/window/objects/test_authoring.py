"""A box set by hand, sized and moved by the mouse: what handles do, and what is seen of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.window.harness import FREE, Told, count

pytestmark = pytest.mark.long

HALF = 0.3125  # of the crate
FAR = 0.5  # how far a side was dragged


@pytest.fixture(scope="session")
def authoring(told_by: Callable[..., Told]) -> Told:
    """An override from the fit to where it was moved."""
    return told_by("objects/drive_authoring.py")


def yellow(told: Told, name: str) -> int:
    """How much of the handles' colour is around the corner that the box was dragged to."""
    red, green, blue = np.moveaxis(told.around(name, tuple(told.notes[name]["new_corner"]), 12), -1, 0)
    return int(((red > 0.6) & (green > 0.6) & (blue < 0.5)).sum())


def test_start_from_fit_sets_the_box_of_the_vertices(authoring: Told) -> None:
    note = authoring.notes["started"]
    assert authoring.notes["unfolded"]["override"] == "none" and note["override"] == "box"
    assert note["operators"][-1] == "COLLISION_BOUNDS_OT_override_from_fit"
    assert note["half_extents"] == pytest.approx([HALF] * 3) and note["center"] == pytest.approx([0] * 3)


def test_dragging_a_side_leaves_the_opposite_one_in_place(authoring: Told) -> None:
    note = authoring.notes["sized"]
    assert note["center"][0] - note["half_extents"][0] == pytest.approx(-HALF, abs=1e-4)
    assert note["center"][0] + note["half_extents"][0] == pytest.approx(HALF + FAR, abs=0.1)
    assert note["half_extents"][1:] == pytest.approx([HALF] * 2)
    assert yellow(authoring, "sized") > 10


def test_a_drag_is_one_step_to_undo_and_redo(authoring: Told) -> None:
    undone, redone = authoring.notes["undone"], authoring.notes["redone"]
    assert undone["override"] == "box" and undone["half_extents"] == pytest.approx([HALF] * 3)
    assert yellow(authoring, "undone") == 0
    for name in ("center", "half_extents"):
        assert redone[name] == authoring.notes["sized"][name]
    assert yellow(authoring, "redone") > 10


def test_the_ring_moves_without_sizing(authoring: Told) -> None:
    before, after = authoring.notes["redone"], authoring.notes["moved"]
    assert after["half_extents"] == before["half_extents"]
    assert np.linalg.norm(np.subtract(after["center"], before["center"])) > 0.1
    assert yellow(authoring, "moved") == 0


def test_the_bounds_on_show_follow_and_handles_hide_with_blenders_own(authoring: Told) -> None:
    corner = tuple(authoring.notes["without handles"]["bound_corner"])
    assert count(authoring.around("without handles", corner, 8), FREE) > 10
    assert count(authoring.around("started", corner, 8), FREE) == 0
    red, green, blue = np.moveaxis(authoring.viewport("without handles"), -1, 0)
    assert ((red > 0.85) & (green > 0.85) & (blue < 0.4)).sum() == 0


def test_start_from_fit_keeps_the_shape_that_there_is(authoring: Told) -> None:
    for shape in ("sphere", "box"):
        assert authoring.notes[f"{shape} again"]["override"] == shape
