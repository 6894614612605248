"""What operators say at the end: short, and with a reason for all that is missing."""

from __future__ import annotations

import bpy
import pytest

from addon.formats import Skipped
from addon.scene.subjects.find import HIDDEN
from addon.ui.operators.messages import empty_result_error, skipped_text

FENCE = Skipped("Fence", "no vertices")


def test_each_reason_is_told_once_with_the_first_it_is_about():
    skipped = [FENCE, *(Skipped(f"Post.{i}", "is an instance") for i in range(8)), Skipped("Wall", HIDDEN)]
    told = skipped_text(skipped)
    assert told == ", 9 skipped (Fence: no vertices; Post.0 and 7 more: is an instance)"
    assert skipped_text([FENCE]) == ", 1 skipped (Fence: no vertices)"
    assert skipped_text([Skipped("Wall", HIDDEN)]) == ""


def test_nothing_at_all_says_why_and_what_to_do():
    assert empty_result_error(1, [FENCE], "SELECTED") is None
    assert empty_result_error(0, [FENCE], "SELECTED") == "Fence: no vertices"
    assert "select a mesh" in empty_result_error(0, [], "SELECTED")
    assert "no visible objects" in empty_result_error(0, [], "VISIBLE")


@pytest.mark.smoke
def test_one_of_anything_is_no_plural(settings, add_mesh, capfd):
    items = [add_mesh("A"), add_mesh("B", location=(1, 0, 0))]
    scene = bpy.context.scene
    scene.frame_start = scene.frame_end = 1
    ours = bpy.ops.collision_bounds
    ours.find_contacts(scope="VISIBLE")
    ours.contact_markers(action="ADD")
    assert _said(capfd) == ["1 contact, 1 at the first frame among 2 objects", "1 marker added"]
    items[1].hide_set(True)
    ours.compute_bounds(scope="VISIBLE")
    ours.compute_envelope(scope="VISIBLE")
    ours.create_colliders(scope="VISIBLE")
    ours.remove_colliders()
    assert _said(capfd) == [
        "Bounds of 1 object",
        "1 swept bound, frames 1 to 1",
        "1 collider for 1 object",
        "1 collider removed",
    ]


def _said(capfd):
    """What operators have reported since this was asked before: without a window, Blender prints it."""
    return [line.removeprefix("Info: ") for line in capfd.readouterr().out.splitlines() if line]
