"""Objects that are split by the bones of their armature: which vertices, in which frame, and in scans."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.formats import document_problems, dumps, parse_document, read_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ContactSettings, Selection
from tests.finished import finished
from tests.scene.blender.parts.rigs import (
    add_rig,
    add_tube,
    assert_each_bone_holds_its_vertices,
    evaluated_vertices,
    heaviest,
    rotate_bones,
)
from tests.scene.building import CUBE, add_instance, hidden_collection

pytestmark = pytest.mark.usefixtures("object_settings")

BONES = Selection(split_by_bones=True)
SHAPES = ("sphere", "aabb", "obb", "spheres", "hull", "capsule", "cylinder")


def entries(selection: Selection = BONES, shapes=("sphere", "obb", "capsule"), decimals: int = 6) -> dict:
    result = compute_bounds(bpy.context.scene, BoundsSettings(selection, shapes=shapes))
    document = parse_document(dumps(result.document("blender", decimals)))
    assert list(document_problems(document)) == []
    return {entry["name"]: entry for entry in document["objects"]}


@pytest.mark.smoke
def test_each_bone_gets_the_vertices_with_their_largest_weight_there():
    rig = add_rig()
    tube = add_tube(rig)
    found = entries()
    assert_each_bone_holds_its_vertices(found, tube, rig)
    # In the frame of the bone, Y is along it: the middle one holds a tube of length 1.
    box = found["Tube/bone.Bone 1"]["local"]["obb"]
    assert box["halfExtents"] == pytest.approx([0.2, 0.5, 0.3], abs=0.06)
    assert box["center"] == pytest.approx([0, 0.5, 0], abs=0.06)


def test_bounds_follow_a_bent_and_moved_armature():
    rig = add_rig()
    tube = add_tube(rig)
    rig.location, rig.rotation_euler, rig.scale = (3, -4, 5), (0.4, 0.2, -0.3), (1, 1, 1.5)
    tube.location = (3.5, -4, 5)
    rotate_bones(rig, {1: 0.9, 2: -0.5})
    assert_each_bone_holds_its_vertices(entries(), tube, rig, 5e-6)


def test_local_shapes_of_rigid_parts_do_not_change_when_bones_turn():
    rig = add_rig()
    add_tube(rig, is_smooth=False)
    before = entries()
    rotate_bones(rig, {0: 0.3, 1: 0.9, 2: -0.5})
    after = entries()
    sizes = (("obb", "halfExtents"), ("obb", "center"), ("capsule", "radius"), ("sphere", "radius"))
    for name, entry in before.items():
        for kind, key in sizes:
            assert after[name]["local"][kind][key] == pytest.approx(entry["local"][kind][key], abs=1e-5)
        assert after[name]["world"]["obb"] != entry["world"]["obb"] or name.endswith("0")


def test_modifiers_and_shape_keys_count():
    rig = add_rig()
    tube = add_tube(rig)
    tube.shape_key_add(name="Basis")
    key = tube.shape_key_add(name="Thick")
    for point in key.data:
        point.co.x *= 3
    key.value = 1.0
    tube.modifiers.new("Subdivision", "SUBSURF").levels = 1
    rotate_bones(rig, {1: 0.7})
    found = entries()
    assert_each_bone_holds_its_vertices(found, tube, rig)
    assert found["Tube/bone.Bone 1"]["local"]["obb"]["halfExtents"][0] == pytest.approx(0.6, abs=0.05)


def test_vertices_without_weights_are_a_part_of_their_own():
    rig = add_rig()
    tube = add_tube(rig)
    for group in tube.vertex_groups:
        group.remove(list(range(24)))
    bpy.context.view_layer.update()
    found = entries()
    assert_each_bone_holds_its_vertices(found, tube, rig)
    assert found["Tube/no bone"]["bone"] == ""


def test_bones_that_do_not_deform_get_nothing():
    rig = add_rig()
    tube = add_tube(rig)
    rig.data.bones["Bone 1"].use_deform = False
    bpy.context.view_layer.update()
    found = entries()
    # Half way along the middle bone, vertices have weights of that alone.
    assert set(found) == {"Tube/bone.Bone 0", "Tube/bone.Bone 2", "Tube/no bone"}
    assert tube.vertex_groups["Bone 1"]


def test_objects_without_armature_stay_whole(add_mesh):
    add_mesh("Cube", CUBE)
    rig = add_rig()
    add_tube(rig).modifiers.clear()
    assert set(entries()) == {"Cube", "Tube"}


def test_setting_of_the_object_splits_it_without_the_option():
    rig = add_rig()
    tube = add_tube(rig)
    settings = tube.collision_bounds
    settings.use_object_settings, settings.bounds_for = True, "bones"
    assert set(entries(Selection())) == {f"Tube/bone.Bone {number}" for number in range(3)}
    settings.bounds_for = "object"
    # An object with settings of its own keeps these.
    assert set(entries()) == {"Tube"}


def test_instance_of_a_character_has_bones_where_its_mesh_is():
    rig = add_rig()
    tube = add_tube(rig)
    rotate_bones(rig, {1: 0.7})
    collection = hidden_collection("Character", rig, tube)
    instance = add_instance("Instance", collection)
    instance.location, instance.rotation_euler = (10, 0, 0), (0, 0, 1.0)
    bpy.context.view_layer.update()
    found = entries()
    assert len(found) == 3
    place = instance.matrix_world @ rig.matrix_world @ rig.pose.bones["Bone 2"].matrix
    (entry,) = (each for each in found.values() if each["bone"] == "Bone 2")
    assert entry["transform"]["translation"] == pytest.approx(list(place.to_translation()), abs=1e-5)


def test_every_kind_of_shape_can_be_fitted_to_bones():
    rig = add_rig()
    add_tube(rig)
    rotate_bones(rig, {1: 0.7})
    found = entries(shapes=SHAPES)
    assert all(entry["local"].keys() == entry["world"].keys() == set(SHAPES) for entry in found.values())


def test_document_of_bones_is_read_again():
    add_tube(add_rig())
    result = compute_bounds(bpy.context.scene, BoundsSettings(BONES))
    document = parse_document(dumps(result.document("unity", 6)))
    assert [entry.bone for entry in read_document(document).objects] == ["Bone 0", "Bone 1", "Bone 2"]


def test_scan_names_the_bone_that_touches_and_is_not_late(add_mesh):
    rig = add_rig()
    tube = add_tube(rig, is_smooth=False)
    for frame, angle in ((1, 0.0), (21, 1.4)):
        rotate_bones(rig, {1: angle, 2: 0.0}, frame)
    wall = add_mesh("Wall", CUBE * [1, 0.1, 1])
    wall.location = (0, -2.0, 1.6)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 21
    result = finished(find_contacts(scene, ContactSettings(selection=BONES, shape="aabb")))
    names = [subject.name for subject in result.subjects]
    found = {frozenset((names[c.a], names[c.b])): c.first.frame for c in result.report.contacts}
    # Bones of one object are not checked with each other.
    assert all("Wall" in pair for pair in found)
    (first,) = found.values()
    assert frozenset(("Tube/bone.Bone 2", "Wall")) in found
    bones = [bone.name for bone in rig.data.bones]
    for frame in np.linspace(1, 21, 801).tolist():
        scene.frame_set(int(frame), subframe=frame % 1)
        points, weights = evaluated_vertices(tube)
        held = points[[heaviest(each, bones) == "Bone 2" for each in weights]]
        low, high = held.min(axis=0), held.max(axis=0)
        if (low <= [1, -1.9, 2.6]).all() and (high >= [-1, -2.1, 0.6]).all():
            assert first <= frame
            assert first == pytest.approx(frame, abs=0.05)
            break
    else:
        pytest.fail("dense sampling found no contact")
