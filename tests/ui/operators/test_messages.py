"""Reports of operators: short, with a reason for each skipped object."""

from __future__ import annotations

import bpy
import pytest

from addon.formats import Skipped
from addon.scene.errors import SceneError
from addon.scene.settings import Selection
from addon.scene.subjects.find import HIDDEN
from addon.ui.panels.bounds import COLLISION_BOUNDS_PT_bounds
from addon.ui.result_texts import check_not_empty, skipped_texts
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page

FENCE = Skipped("Fence", "no vertices")


def test_skipped_objects_are_grouped_by_reason_with_first_name():
    skipped = [FENCE, *(Skipped(f"Post.{i}", "is an instance") for i in range(8)), Skipped("Wall", HIDDEN)]
    assert skipped_texts(skipped) == ["9 skipped (Fence: no vertices; Post.0 and 7 more: is an instance)"]
    assert skipped_texts([FENCE]) == ["1 skipped (Fence: no vertices)"]
    assert skipped_texts([Skipped("Wall", HIDDEN)]) == []


def test_empty_result_has_reason_and_remedy():
    selected = Selection(selected_only=True)
    check_not_empty(1, [FENCE], selected)
    cases = (
        ([FENCE], selected, "^Fence: no vertices$"),
        ([], selected, "select a mesh"),
        ([], Selection(), "no visible"),
    )
    for skipped, selection, text in cases:
        with pytest.raises(SceneError, match=text):
            check_not_empty(0, skipped, selection)


@pytest.mark.smoke
def test_single_items_are_reported_in_singular(settings, add_mesh, capfd):
    items = [add_mesh("A"), add_mesh("B", location=(1, 0, 0))]
    scene = bpy.context.scene
    scene.frame_start = scene.frame_end = 1
    operators = bpy.ops.collision_bounds
    scanned_scene.scan()
    operators.contact_markers(action="ADD")
    assert _reported(capfd) == ["1 contact, 1 at the first frame among 2 objects", "1 marker added"]
    items[1].hide_set(True)
    operators.compute_bounds(scope="VISIBLE")
    operators.compute_envelope(scope="VISIBLE")
    operators.create_colliders(scope="VISIBLE")
    operators.remove_colliders()
    assert _reported(capfd) == [
        "Bounds of 1 object, 1 contact cleared (undo), 1 hidden object skipped",
        "1 swept bound, frames 1 to 1, 1 hidden object skipped",
        "1 collider for 1 object",
        "1 collider removed",
    ]


def test_parts_of_an_object_are_no_objects_and_are_no_pair(settings, add_mesh, capfd):
    items = [add_mesh("A"), add_mesh("B", location=(9, 0, 0))]
    bpy.context.view_layer.objects.active = items[0]
    operators = bpy.ops.collision_bounds
    for _ in range(2):
        operators.add_custom_shape(shape="box")
    _reported(capfd)
    operators.compute_bounds(scope="VISIBLE")
    scanned_scene.scan()
    assert _reported(capfd) == ["3 bounds of 2 objects", "No contacts among 2 objects"]
    items[1].hide_set(True)
    operators.compute_bounds(scope="VISIBLE")
    scanned_scene.scan()
    assert _reported(capfd) == [
        "2 bounds of 1 object, 1 hidden object skipped",
        "Only one object was checked: nothing can touch it, 1 hidden object skipped",
    ]


def test_loose_parts_of_one_object_are_pairs(settings, add_mesh, capfd):
    item = add_mesh(
        "A", [(x, y, z) for x in (0, 5) for y, z in ((0, 0), (1, 0), (0, 1))], [(0, 1, 2), (3, 4, 5)]
    )
    item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
    bpy.context.scene.collision_bounds.ignore_parents = False
    scanned_scene.scan()
    assert _reported(capfd) == ["No contacts among 1 object"]


def test_cleared_contacts_are_announced_and_reported(settings, add_mesh, capfd):
    add_mesh("A")
    add_mesh("B")
    bpy.context.scene.frame_end = 1
    operators = bpy.ops.collision_bounds
    operators.compute_bounds(scope="VISIBLE")
    assert "Computing clears 1 contact" not in Page(COLLISION_BOUNDS_PT_bounds).labels
    scanned_scene.scan()
    assert "Computing clears 1 contact" in Page(COLLISION_BOUNDS_PT_bounds).labels
    _reported(capfd)
    operators.compute_bounds(scope="VISIBLE")
    assert _reported(capfd) == ["Bounds of 2 objects, 1 contact cleared (undo)"]
    assert "Computing clears 1 contact" not in Page(COLLISION_BOUNDS_PT_bounds).labels
    operators.compute_bounds(scope="VISIBLE")
    assert _reported(capfd) == ["Bounds of 2 objects"]


def _reported(capfd):
    """Return the reports since the last call. Without a window, Blender prints them."""
    return [line.removeprefix("Info: ") for line in capfd.readouterr().out.splitlines() if line]
