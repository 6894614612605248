"""Bounds of bones that hold their vertices at all frames: in documents, for every shape, and as colliders."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.formats import document_problems, dumps, parse_document, read_document
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.settings import BoundsSettings, ColliderSettings, FitSettings, Selection
from tests.finished import finished
from tests.scene.blender.parts.all_frames import SHAPES, entries, greatest_excess, vertices_of_bones
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.colliders.creating import make_colliders
from tests.scene.sampling import key

pytestmark = pytest.mark.usefixtures("object_settings")

FIRST, LAST = 1, 9
HALVES = np.linspace(FIRST, LAST, 2 * (LAST - FIRST) + 1).tolist()
DENSE = np.linspace(FIRST, LAST, 8 * (LAST - FIRST) + 1).tolist()
ROUNDING = 4e-6
"""Single precision of vertices and matrices, and six decimals."""


def add_character(is_smooth: bool = True) -> tuple[bpy.types.Object, bpy.types.Object]:
    rig = add_rig()
    tube = add_tube(rig, is_smooth=is_smooth)
    tube.parent = rig
    for frame, angle in ((1, 0.0), (4, 1.3), (6, -1.1), (9, 0.2)):
        rotate_bones(rig, {1: angle, 2: -angle}, frame)
    key(rig, "location", [(1, (0, 0, 0)), (9, (20, 3, 1))])
    key(rig, "rotation_euler", [(1, (0, 0, 0)), (9, (0.4, 0.1, 2.0))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    bpy.context.scene.frame_set(FIRST)
    return rig, tube


def assert_held(shapes: tuple[str, ...], times: list[float]) -> None:
    rig, tube = add_character()
    found, at_frame = entries(shapes), entries(("aabb",), "current")
    for bone, frames in vertices_of_bones(tube, rig, times).items():
        entry, points = found[f"Tube/bone.{bone}"], np.concatenate(frames)
        assert set(entry["local"]) == set(shapes)
        assert entry["allFrames"] is True
        assert greatest_excess(entry["local"], points) <= ROUNDING
        # Tight: the box is at most 2 % of its size from the vertices on each side.
        low, high = points.min(axis=0), points.max(axis=0)
        box = entry["local"]["aabb"]
        size = float((high - low).max())
        assert (low - box["min"]).max() < 0.02 * size and (box["max"] - high).max() < 0.02 * size
        # The bounds at one frame do not hold all: the check can fail.
        shapes_at_frame = at_frame[f"Tube/bone.{bone}"]
        assert "allFrames" not in shapes_at_frame
        if bone != "Bone 0":
            assert greatest_excess(shapes_at_frame["local"], points) > 0.02


@pytest.mark.smoke
def test_bounds_hold_the_vertices_of_their_bone_at_every_frame_and_half_frame():
    assert_held(("sphere", "aabb"), HALVES)


@pytest.mark.long
def test_each_shape_holds_the_vertices_of_its_bone_at_every_frame_and_between():
    assert_held(SHAPES, DENSE)


def test_rigid_parts_have_the_bounds_of_one_frame():
    add_character(is_smooth=False)
    found, at_frame = entries(("sphere", "aabb")), entries(("sphere", "aabb"), "current")
    for name, entry in found.items():
        for kind, shape in at_frame[name]["local"].items():
            for field, numbers in shape.items():
                assert entry["local"][kind][field] == pytest.approx(numbers, abs=1e-5)


def test_scene_stays_at_its_frame_and_world_shapes_are_at_it():
    rig, _ = add_character()
    scene = bpy.context.scene
    scene.frame_set(5, subframe=0.25)
    found = entries(("obb",))
    assert scene.frame_current + scene.frame_subframe == 5.25
    matrix = rig.matrix_world @ rig.pose.bones["Bone 1"].matrix
    entry = found["Tube/bone.Bone 1"]
    assert entry["transform"]["translation"] == pytest.approx(list(matrix.to_translation()), abs=2e-6)
    local, world = (np.array(entry[group]["obb"]["center"]) for group in ("local", "world"))
    moved = np.array(matrix.to_3x3()) @ local + np.array(matrix.to_translation())
    assert world == pytest.approx(moved, abs=1e-5)


def test_frame_range_can_be_chosen():
    rig, tube = add_character()
    found = entries(("aabb", "sphere"), frames=(1, 2, 1))
    for bone, frames in vertices_of_bones(tube, rig, [1, 1.5, 2]).items():
        assert greatest_excess(found[f"Tube/bone.{bone}"]["local"], np.concatenate(frames)) <= ROUNDING
    beyond = vertices_of_bones(tube, rig, [4.0])["Bone 1"]
    assert greatest_excess(found["Tube/bone.Bone 1"]["local"], np.concatenate(beyond)) > 0.01


def test_jump_of_a_pose_adds_little_between_the_frames():
    rig = add_rig()
    tube = add_tube(rig)
    rotate_bones(rig, {1: 0.0}, 1)
    rotate_bones(rig, {1: 1.2}, 5)
    action = rig.animation_data.action
    layered = not hasattr(action, "fcurves")
    for curve in (action.layers[0].strips[0].channelbags[0] if layered else action).fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 9
    bpy.context.scene.frame_set(1)
    found = entries(("aabb",))
    for bone, frames in vertices_of_bones(tube, rig, HALVES).items():
        points, box = np.concatenate(frames), found[f"Tube/bone.{bone}"]["local"]["aabb"]
        assert greatest_excess({"aabb": box}, points) <= ROUNDING
        assert (points.min(axis=0) - box["min"]).max() < 0.01


def test_setting_of_the_object_asks_for_all_frames():
    _, tube = add_character()
    settings = tube.collision_bounds
    settings.use_object_settings, settings.bounds_for, settings.bone_frames = True, "bones", "all"
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    document = parse_document(dumps(result.document("unreal", 6)))
    assert list(document_problems(document)) == []
    assert all(entry["allFrames"] for entry in document["objects"])
    assert all(entry.all_frames for entry in read_document(document).objects)
    assert document["objects"] == list(result.document("unreal", 6)["objects"])
    settings.bone_frames = "current"
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    assert not any(entry.all_frames for entry in result.objects)


def test_swept_bounds_of_the_same_document_are_valid():
    add_character()
    fit = FitSettings(bone_frames="all")
    wanted = BoundsSettings(Selection(split_by_bones=True), fit=fit, envelope=True, tracks=True)
    result = finished(bounds_in_parts(bpy.context.scene, wanted))
    document = parse_document(dumps(result.document("blender", 6)))
    assert list(document_problems(document)) == []
    assert all(entry["allFrames"] and entry["envelope"] for entry in document["objects"])


def test_vertices_without_bone_are_held_at_all_frames_in_the_axes_of_the_object():
    _, tube = add_character()
    for group in tube.vertex_groups:
        group.remove(list(range(24)))
    tube.shape_key_add(name="Basis")
    wide = tube.shape_key_add(name="Wide")
    for point in wide.data[:12]:
        point.co.x *= 4
    key(wide, "value", [(1, 0.0), (5, 1.0), (9, 0.0)])
    for bone_frames, width in (("all", 0.8), ("current", 0.2)):
        box = entries(("aabb",), bone_frames)["Tube/no bone"]["local"]["aabb"]
        assert box["max"][0] == pytest.approx(width, abs=0.01)


def test_bone_without_size_at_a_frame_is_held_at_the_others():
    rig, _ = add_character(is_smooth=False)
    bone = rig.pose.bones["Bone 2"]
    for frame, size in ((1, 1.0), (4, 1.0), (5, 0.0), (6, 1.0)):
        bone.scale = (size,) * 3
        bone.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(1)
    assert "Tube/bone.Bone 2" in entries(("aabb",))


@pytest.mark.long
@pytest.mark.parametrize("kind", ["box", "sphere", "capsule", "hull"])
def test_colliders_hold_the_vertices_of_their_bone_at_all_frames(kind):
    rig, tube = add_character()
    settings = tube.collision_bounds
    settings.use_object_settings, settings.bounds_for, settings.bone_frames = True, "bones", "all"
    make_colliders(bpy.context.scene, ColliderSettings(kind=kind))
    items = {item.parent_bone: item for item in bpy.data.objects if item.parent_type == "BONE"}
    assert len(items) == 3
    for time in HALVES:
        for bone, (points,) in vertices_of_bones(tube, rig, [time]).items():
            matrix = np.array(rig.matrix_world @ rig.pose.bones[bone].matrix)
            mesh, place = items[bone].data, np.array(items[bone].matrix_world)
            to_collider = np.linalg.inv(place) @ matrix
            inside = (to_collider @ np.c_[points, np.ones(len(points))].T).T[:, :3]
            for face in mesh.polygons:
                height = (inside - np.array(mesh.vertices[face.vertices[0]].co)) @ np.array(face.normal)
                assert height.max() < 1e-5
