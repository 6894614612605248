"""Operators of colliders from a selection and from a vertex group: modes, options, reports."""

from __future__ import annotations

import bpy
import pytest

from addon.ui.panels import colliders as colliders_panel
from tests.scene.building import CUBE, add_vertices, select_objects
from tests.ui.drawn_panel import Page

FROM_SELECTION, FROM_GROUP = (
    "collision_bounds.colliders_from_selection",
    "collision_bounds.colliders_from_group",
)


@pytest.fixture
def crate(settings):
    """Return the active and selected vertices of a cube, with a vertex group."""
    item = add_vertices("Crate", CUBE)
    item.vertex_groups.new(name="Bottom").add([0, 1, 2], 1.0, "REPLACE")
    select_objects(item)
    return item


def names() -> set[str]:
    return {item.name for item in bpy.context.scene.objects}


def test_both_are_buttons_of_the_panel_and_each_is_enabled_in_its_mode(crate):
    shown = Page(colliders_panel.COLLISION_BOUNDS_PT_colliders).buttons
    assert {FROM_SELECTION, FROM_GROUP} <= set(shown)
    selection, group = (
        bpy.ops.collision_bounds.colliders_from_selection,
        bpy.ops.collision_bounds.colliders_from_group,
    )
    assert group.poll() and not selection.poll()
    with pytest.raises(RuntimeError, match="Go to Edit Mode of a mesh, and select vertices, edges or faces"):
        selection()
    bpy.ops.object.mode_set(mode="EDIT")
    assert selection.poll() and not group.poll()


@pytest.mark.smoke
def test_options_are_shared_with_the_scene(crate, settings):
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    assert bpy.ops.collision_bounds.colliders_from_selection(kind="sphere", naming="unity") == {"FINISHED"}
    assert settings.colliders.kind == "sphere" and settings.colliders.naming == "unity"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.collision_bounds.colliders_from_group(group="Bottom") == {"FINISHED"}
    assert names() == {"Crate", "Crate_SphereCollider_00", "Crate_SphereCollider_01"}


def test_nothing_selected_and_a_missing_group_are_errors(crate):
    with pytest.raises(RuntimeError, match="Crate: has no vertex group 'Top'"):
        bpy.ops.collision_bounds.colliders_from_group(group="Top")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="nothing is selected: select vertices, edges or faces"):
        bpy.ops.collision_bounds.colliders_from_selection()
    assert names() == {"Crate"}
