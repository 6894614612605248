"""Bones that are scaled to nearly 0 at some frames: these frames are reported, and make no bounds huge."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from addon.formats import document_problems, dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, ColliderSettings, FitSettings, Selection
from tests.scene.blender.parts.all_frames import greatest_excess, vertices_of_bones
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.colliders.creating import make_colliders

pytestmark = pytest.mark.usefixtures("object_settings")

BONES, ALL = Selection(split_by_bones=True), FitSettings(bone_frames="all")
TIMES = np.linspace(1, 9, 17).tolist()


def add_character(
    least: float, axes: tuple[int, ...] = (0, 1, 2)
) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add a character whose last bone shrinks to a scale from frame 4 to 5, and grows again to frame 6."""
    rig = add_rig()
    tube = add_tube(rig)
    tube.parent = rig
    rig.scale = (3, 3, 3)
    for frame, angle in ((1, 0.0), (9, 0.5)):
        rotate_bones(rig, {1: angle}, frame)
    bone = rig.pose.bones["Bone 2"]
    for frame, size in ((1, 1.0), (4, 1.0), (5, least), (6, 1.0)):
        bone.scale = [size if axis in axes else 1.0 for axis in range(3)]
        bone.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 9
    bpy.context.scene.frame_set(1)
    return rig, tube


def document() -> dict:
    settings = BoundsSettings(BONES, ("aabb", "sphere"), ALL)
    found = parse_document(dumps(compute_bounds(bpy.context.scene, settings).document("blender", 6)))
    assert list(document_problems(found)) == []
    return found


def scale_at(rig: bpy.types.Object, time: float) -> float:
    """Least scale of the last bone at a time."""
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    return min(rig.pose.bones["Bone 2"].scale)


@pytest.mark.smoke
@pytest.mark.parametrize("axes", [(0, 1, 2), (0,)])
@pytest.mark.parametrize("least", [0.0, 1e-7, 0.001])
def test_frames_with_a_scale_of_nearly_0_do_not_make_bounds_huge(least, axes):
    rig, tube = add_character(least, axes)
    found = document()
    entry = {each["name"]: each for each in found["objects"]}["Tube/bone.Bone 2"]
    size = max(np.subtract(entry["local"]["aabb"]["max"], entry["local"]["aabb"]["min"]))
    assert entry["allFrames"] and size < 100
    (warning,) = found["warnings"]
    assert (warning["kind"], warning["name"]) == ("collapsedBone", "Tube/bone.Bone 2")
    assert warning["message"].startswith("has a scale of nearly 0 between frames ")
    # At all other frames and half frames the vertices are held.
    times = [time for time in TIMES if scale_at(rig, time) > 0.01]
    assert len(times) >= 15
    for points in vertices_of_bones(tube, rig, times)["Bone 2"]:
        assert greatest_excess(entry["local"], points) <= 1e-5 * size


@pytest.mark.parametrize("least", [0.02, 1.0])
def test_small_scale_is_enclosed_without_a_warning(least):
    rig, tube = add_character(least)
    found = document()
    assert found["warnings"] == []
    entry = {each["name"]: each for each in found["objects"]}["Tube/bone.Bone 2"]
    for points in vertices_of_bones(tube, rig, TIMES)["Bone 2"]:
        assert greatest_excess(entry["local"], points) <= 1e-5 * (1 + np.abs(points).max())


def test_frames_of_the_warning_are_those_of_the_scale():
    rig, _ = add_character(0.0)
    warning = document()["warnings"][0]["message"]
    first, last = (float(word.rstrip(":")) for word in warning.split() if word[0].isdigit() and word != "0")
    assert 4.5 < first <= 5 <= last < 5.5
    assert scale_at(rig, first) < 0.01 and scale_at(rig, last) < 0.01


def test_colliders_report_the_bone_too():
    add_character(0.001)
    created = make_colliders(bpy.context.scene, ColliderSettings(BONES, replace(ALL, parts=1)))
    assert [(entry.kind, entry.name) for entry in created.warnings] == [("collapsedBone", "Tube/bone.Bone 2")]
    (item,) = (item for item in bpy.data.objects if item.parent_bone == "Bone 2")
    assert max(item.dimensions) < 100


def test_bone_that_always_has_no_scale_keeps_bounds_of_the_current_frame():
    rig, _ = add_character(1.0)
    rig.animation_data_clear()
    rig.pose.bones["Bone 2"].scale = (0, 0, 0)
    bpy.context.view_layer.update()
    found = document()
    entries = {each["name"]: each for each in found["objects"]}
    assert "allFrames" not in entries.get("Tube/bone.Bone 2", {})
    assert [each["kind"] for each in found["warnings"]] == ["collapsedBone"]
