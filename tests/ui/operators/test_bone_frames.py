"""Compute Bounds and Create Colliders with bones at all frames: progress, F9, and poses without keys."""

from __future__ import annotations

import bpy
import pytest

from addon.ui import job_state
from addon.ui.operators.colliders import COLLISION_BOUNDS_OT_create_colliders
from addon.ui.operators.jobs import COLLISION_BOUNDS_OT_compute_bounds
from addon.ui.panels.bounds import COLLISION_BOUNDS_PT_bounds
from addon.ui.panels.colliders import COLLISION_BOUNDS_PT_colliders
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.ui.drawn_panel import Page

PLACES = [
    (COLLISION_BOUNDS_OT_compute_bounds, COLLISION_BOUNDS_PT_bounds),
    (COLLISION_BOUNDS_OT_create_colliders, COLLISION_BOUNDS_PT_colliders),
]


@pytest.fixture
def character(settings) -> bpy.types.Object:
    """Return the armature of a character whose pose was changed without a key."""
    rig = add_rig()
    tube = add_tube(rig)
    options = tube.collision_bounds
    options.use_object_settings, options.bounds_for, options.bone_frames = True, "bones", "all"
    for frame, angle in ((1, 0.0), (9, 1.2)):
        rotate_bones(rig, {1: angle}, frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    scene.frame_set(3)
    rotate_bones(rig, {1: -0.4})
    return rig


@pytest.mark.parametrize("operator", [operator for operator, _ in PLACES])
def test_pose_without_keys_stays(character, operator):
    group, name = operator.bl_idname.split(".")
    assert getattr(getattr(bpy.ops, group), name)() == {"FINISHED"}
    assert character.pose.bones["Bone 1"].rotation_euler.x == pytest.approx(-0.4)
    assert bpy.context.scene.frame_current == 3


@pytest.mark.parametrize("operator", [operator for operator, _ in PLACES])
def test_f9_has_no_options_that_would_read_all_frames_again(character, operator):
    page = Page(operator)
    assert page.labels and not page.options


def test_f9_has_options_of_bounds_of_one_frame(character, monkeypatch):
    bpy.data.objects["Tube"].collision_bounds.bone_frames = "current"
    properties = bpy.ops.collision_bounds.compute_bounds.get_rna_type()
    values = {"bl_rna": properties, "added_shapes": {"compound"}, "vertex_group": "", "parts": 8}
    for name, value in values.items():
        monkeypatch.setattr(Page, name, value, raising=False)
    page = Page(COLLISION_BOUNDS_OT_compute_bounds)
    assert {"scope", "added_shapes", "box_axes", "padding"} <= set(page.options)


@pytest.mark.parametrize(("operator", "panel"), PLACES)
def test_progress_is_in_the_place_of_the_button(character, operator, panel):
    assert operator.bl_idname in Page(panel).buttons
    job_state.begin().operator = operator.bl_idname
    try:
        buttons = Page(panel).buttons
    finally:
        job_state.end()
    assert operator.bl_idname not in buttons and "collision_bounds.stop_scan" in buttons
