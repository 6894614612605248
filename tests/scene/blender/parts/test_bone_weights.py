"""Bone weight: each bone also holds the vertices whose weight for it is at least a given one."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.formats import document_problems, dumps, parse_document, read_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings, Selection
from tests.finished import finished
from tests.scene.blender.parts.all_frames import greatest_excess, vertices_of_bones
from tests.scene.blender.parts.rigs import add_rig, add_tube, evaluated_vertices, heaviest, rotate_bones
from tests.scene.building import CUBE

pytestmark = pytest.mark.usefixtures("object_settings")

WEIGHTS = [0.0, 0.1, 0.3, 0.5, 0.9, 1.0]


def document_of(selection: Selection, shapes=("aabb", "sphere"), fit: FitSettings | None = None) -> dict:
    settings = BoundsSettings(selection, shapes, fit or FitSettings())
    document = parse_document(dumps(compute_bounds(bpy.context.scene, settings).document("blender", 6)))
    assert list(document_problems(document)) == []
    return {entry["name"]: entry for entry in document["objects"]}


def boxes(weight: float) -> dict:
    return document_of(Selection(split_by_bones=True, bone_weight=weight))


def expected_rows(item: bpy.types.Object, rig: bpy.types.Object, weight: float) -> dict[str, list[int]]:
    """Vertices of each bone by a loop over all, with weights as Blender stores them, in single precision."""
    _, weights = evaluated_vertices(item)
    names = [bone.name for bone in rig.data.bones]
    found: dict[str, list[int]] = {}
    for row, each in enumerate(weights):
        for bone in names:
            is_heavy = weight < 1 and each.get(bone, 0) > 0 and np.float32(each[bone]) >= np.float32(weight)
            if heaviest(each, names) == bone or is_heavy:
                found.setdefault(bone, []).append(row)
        if not heaviest(each, names):
            found.setdefault("", []).append(row)
    return found


@pytest.mark.smoke
@pytest.mark.parametrize("weight", WEIGHTS)
def test_bounds_of_a_bone_are_those_of_all_vertices_with_at_least_the_weight(weight):
    rig = add_rig()
    tube = add_tube(rig)
    for group in tube.vertex_groups:
        group.remove(list(range(24)))  # two rings belong to no bone
    rotate_bones(rig, {1: 0.9, 2: -0.5})
    found = boxes(weight)
    points, _ = evaluated_vertices(tube)
    rows = expected_rows(tube, rig, weight)
    assert len(rows[""]) == 24
    assert len(found) == len(rows)
    for bone, held in rows.items():
        entry = found[f"Tube/bone.{bone}" if bone else "Tube/no bone"]
        assert entry["world"]["aabb"]["min"] == pytest.approx(points[held].min(axis=0), abs=2e-6)
        assert entry["world"]["aabb"]["max"] == pytest.approx(points[held].max(axis=0), abs=2e-6)
        assert entry.get("boneWeight") == (weight if weight < 1 and bone else None)


def test_lower_weights_give_larger_bounds_that_overlap_at_the_joints():
    rig = add_rig()
    add_tube(rig)
    heights = {}
    for weight in WEIGHTS:
        box = boxes(weight)["Tube/bone.Bone 1"]["local"]["aabb"]
        heights[weight] = box["max"][1] - box["min"][1]
    # A vertex at a distance d from the middle of the bone has the weight 1 - d: all within 1 are held at 0.
    assert heights[1.0] < 1.01 and heights[0.9] == heights[1.0]
    assert heights[0.3] == pytest.approx(1.4, abs=0.11)
    assert heights[0.0] == pytest.approx(2.0, abs=0.21)
    assert sorted(heights.values(), reverse=True) == list(heights.values())


def test_vertices_below_the_weight_stay_with_their_largest_one():
    rig = add_rig()
    tube = add_tube(rig)
    for group in tube.vertex_groups:
        for vertex in tube.data.vertices:
            if any(each.group == group.index for each in vertex.groups):
                group.add([vertex.index], 0.2, "REPLACE")
    bpy.context.view_layer.update()
    assert boxes(0.5)["Tube/bone.Bone 0"]["local"] == boxes(1.0)["Tube/bone.Bone 0"]["local"]
    rows = expected_rows(tube, rig, 0.5)
    assert sum(map(len, rows.values())) == len(tube.data.vertices)


def test_bone_gets_bounds_from_vertices_that_are_heavier_for_others():
    rig = add_rig()
    tube = add_tube(rig)
    every = list(range(len(tube.data.vertices)))
    tube.vertex_groups["Bone 0"].add(every, 1.0, "REPLACE")
    tube.vertex_groups["Bone 2"].add(every, 0.4, "REPLACE")
    bpy.context.view_layer.update()
    assert "Tube/bone.Bone 2" not in boxes(1.0)
    box = boxes(0.4)["Tube/bone.Bone 2"]["world"]["aabb"]
    assert box["max"][2] - box["min"][2] == pytest.approx(3.0, abs=1e-5)


def test_setting_of_the_object_applies_and_documents_keep_it():
    rig = add_rig()
    tube = add_tube(rig)
    settings = tube.collision_bounds
    settings.use_object_settings, settings.bounds_for, settings.bone_weight = True, "bones", 0.3
    by_setting = document_of(Selection())
    assert by_setting == boxes(0.3)
    # An object with settings of its own keeps its weight.
    assert boxes(0.7) == by_setting
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    document = parse_document(dumps(result.document("unreal", 6)))
    assert document["objects"] == list(result.document("unreal", 6)["objects"])
    assert [entry.bone_weight for entry in read_document(document).objects] == [0.3] * 3
    settings.bone_weight = 1.0
    assert not any("boneWeight" in entry for entry in document_of(Selection()).values())


@pytest.mark.parametrize("value", [-0.1, 1.5, "0.3", None])
def test_weight_in_a_document_must_be_a_weight(value):
    rig = add_rig()
    add_tube(rig)
    settings = BoundsSettings(Selection(split_by_bones=True, bone_weight=0.3))
    document = parse_document(dumps(compute_bounds(bpy.context.scene, settings).document("blender", 6)))
    document["objects"][0]["boneWeight"] = value
    (problem, *_) = document_problems(document)
    assert problem.startswith("objects[0].boneWeight: must be")


@pytest.mark.long
@pytest.mark.parametrize("shapes", [("spheres",), ("hull",), ("compound",), ("capsule", "cylinder", "obb")])
def test_every_shape_holds_the_vertices_with_at_least_the_weight(shapes):
    rig = add_rig()
    tube = add_tube(rig)
    rotate_bones(rig, {1: 0.6})
    found = document_of(Selection(split_by_bones=True, bone_weight=0.25), shapes)
    points, _ = evaluated_vertices(tube)
    for bone, held in expected_rows(tube, rig, 0.25).items():
        world = found[f"Tube/bone.{bone}"]["world"]
        if "spheres" in world:
            leaves = [each for each in world["spheres"] if not each["children"]]
            assert leaves
            centers = np.array([each["center"] for each in leaves])
            radii = np.array([each["radius"] for each in leaves])
            distances = np.linalg.norm(points[held][:, None] - centers, axis=2)
            assert ((distances - radii).min(axis=1) <= 2e-6).all()
        elif "compound" not in world:
            assert greatest_excess(world, points[held]) <= 2e-6


@pytest.mark.long
def test_vertices_with_at_least_the_weight_are_held_at_all_frames():
    rig = add_rig()
    tube = add_tube(rig)
    for frame, angle in ((1, 0.0), (4, 1.3), (9, -0.4)):
        rotate_bones(rig, {1: angle, 2: -angle}, frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    scene.frame_set(1)
    selection = Selection(split_by_bones=True, bone_weight=0.3)
    found = document_of(selection, fit=FitSettings(bone_frames="all"))
    largest = document_of(Selection(split_by_bones=True), fit=FitSettings(bone_frames="all"))
    times = np.linspace(1, 9, 17).tolist()
    for bone, frames in vertices_of_bones(tube, rig, times, threshold=0.3).items():
        points = np.concatenate(frames)
        assert greatest_excess(found[f"Tube/bone.{bone}"]["local"], points) <= 4e-6
        assert greatest_excess(largest[f"Tube/bone.{bone}"]["local"], points) > 0.01


def test_scan_tests_the_vertices_with_at_least_the_weight(add_mesh):
    rig = add_rig()
    tube = add_tube(rig)
    # At the side of the tube, where the middle bone has the weight 0.35, and is not the heaviest.
    block = add_mesh("Block", [(x * 0.05, y * 0.05, z * 0.01) for x, y, z in CUBE])
    block.location = (0.3, 0, 0.85)
    for frame, x in ((1, 1.0), (5, 0.2)):
        block.location.x = x
        block.keyframe_insert("location", frame=frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 5
    for weight, parts in ((0.2, {"Bone 0", "Bone 1"}), (1.0, {"Bone 0"})):
        settings = ContactSettings(shape="aabb", selection=Selection(split_by_bones=True, bone_weight=weight))
        result = finished(find_contacts(scene, settings))
        assert {
            result.subjects[index].bone
            for contact in result.report.contacts
            for index in (contact.a, contact.b)
            if result.subjects[index].bone
        } == parts
    assert tube
