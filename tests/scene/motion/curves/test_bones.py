"""Matrices of bones from their F-curves, against those of Blender."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from addon.scene.blender.frames import go_to
from addon.scene.motion.transform_curves import TransformCurves
from tests.scene.building import add_object, curves

pytestmark = pytest.mark.usefixtures("empty_file")

TIMES = [-3.0, 1.0, 2.25, 8.0, 9.7, 20.0, 21.5, 33.0, 40.0]
MODES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "QUATERNION", "AXIS_ANGLE")
ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def add_random_armature(seed, bones=12):
    """Add an armature with bones at random, some connected, each keyed in some channels."""
    generator = random.Random(seed)
    item = add_object("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")
    edited = []
    for number in range(bones):
        bone = item.data.edit_bones.new(f'Bone "{number}"]. \\')
        bone.head = [generator.uniform(-1, 1) for _ in range(3)]
        bone.tail = [generator.uniform(-1, 1) for _ in range(3)]
        bone.roll = generator.uniform(-3, 3)
        if edited and number % 4:
            bone.parent = generator.choice(edited)
            bone.use_connect = number % 3 == 0
        edited.append(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    item.location, item.rotation_euler, item.scale = (1, 2, 3), (0.4, 1, -2), (1.5, 1, 0.5)
    for bone in item.pose.bones:
        key_at_random(bone, generator)
    for curve in curves(item.animation_data.action) if bones else ():
        for key in curve.keyframe_points:
            key.interpolation = generator.choice(("BEZIER", "LINEAR", "CONSTANT", "ELASTIC"))
        curve.update()
    return item


def key_at_random(bone, generator):
    """Key some channels of a bone, and give the others values."""
    bone.rotation_mode = generator.choice(MODES)
    rotation = ROTATIONS.get(bone.rotation_mode, "rotation_euler")
    for path, size in {"location": 2, rotation: 2, "scale": 1.5}.items():
        count = len(getattr(bone, path))
        for frame in (1, 8, 20.5, 33):
            setattr(bone, path, [generator.uniform(-size, size) for _ in range(count)])
            if generator.random() < 0.7:
                bone.keyframe_insert(path, frame=frame)


def known_curves(item):
    """Read the curves of an armature's object and its bones."""
    known = TransformCurves()
    span = TIMES[0], TIMES[-1]
    known.read(bpy.context.scene, [item], span, with_bones=True)
    return known


def known_bones(item):
    """Return the names of the bones whose motion is known."""
    return {key[1] for key in known_curves(item).index_of if isinstance(key, tuple)}


@pytest.mark.smoke
@pytest.mark.parametrize("seed", range(8))
def test_matrices_are_those_of_blender(seed):
    item = add_random_armature(seed)
    known = known_curves(item)
    names = [bone.name for bone in item.pose.bones]
    rows = [known.index_of[item.session_uid, name] for name in names]
    found = known.transforms().world_matrices(np.array(TIMES))
    for time, matrices in zip(TIMES, found[:, rows], strict=True):
        go_to(bpy.context.scene, time)
        evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(evaluated.matrix_world)
        expected = np.array([world @ np.array(evaluated.pose.bones[name].matrix) for name in names])
        sizes = np.abs(expected).max(axis=(1, 2), keepdims=True)
        assert (np.abs(matrices - expected) <= 1e-5 * sizes).all()


def test_muted_constraints_and_custom_properties_leave_bones_known():
    item = add_random_armature(0, bones=3)
    names = [bone.name for bone in item.pose.bones]
    bone = item.pose.bones[0]
    bone.constraints.new("COPY_ROTATION").mute = True
    bone["strength"] = 1.0
    bone.keyframe_insert('["strength"]', frame=3)
    bone.keyframe_insert("bbone_rollin", frame=3)
    assert known_bones(item) == {*names}


CHANGES = {
    "rest position": lambda item: setattr(item.data, "pose_position", "REST"),
    "animated armature": lambda item: item.data.bones[0].keyframe_insert("use_deform", frame=1),
}
ONE_BONE = {
    "constraint": lambda item: item.pose.bones[1].constraints.new("LIMIT_ROTATION"),
    "hinge": lambda item: setattr(item.data.bones[1], "use_inherit_rotation", False),
    "scale of its own": lambda item: setattr(item.data.bones[1], "inherit_scale", "ALIGNED"),
    "location in the armature": lambda item: setattr(item.data.bones[1], "use_local_location", False),
    "segments": lambda item: setattr(item.data.bones[1], "bbone_segments", 4),
    "animated rotation mode": lambda item: item.pose.bones[1].keyframe_insert("rotation_mode", frame=1),
    "driver with a variable": lambda item: drive(item.pose.bones[1]),
}


def drive(bone):
    """Drive a channel of a bone by another property."""
    bone.keyframe_delete("location", frame=1)
    driver = bone.driver_add("location", 1).driver
    target = driver.variables.new().targets[0]
    target.id, target.data_path = bone.id_data, "location.x"
    driver.expression = "var"


@pytest.mark.parametrize("name", CHANGES)
def test_no_bone_is_known_where_more_than_curves_may_move_them(name):
    item = add_random_armature(1, bones=3)
    CHANGES[name](item)
    assert not known_bones(item)


@pytest.mark.parametrize("name", ONE_BONE)
def test_bone_that_more_than_curves_may_move_is_not_known_and_neither_are_its_children(name):
    item = add_random_armature(2, bones=8)
    bone = item.data.bones[1]
    ONE_BONE[name](item)
    expected = {each.name for each in item.data.bones} - {
        bone.name,
        *(one.name for one in bone.children_recursive),
    }
    assert known_bones(item) == expected


@pytest.mark.parametrize("solver", ["LEGACY", "ITASC"])
@pytest.mark.smoke
@pytest.mark.parametrize("use_tail", [True, False])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_bones_of_a_chain_that_reaches_for_a_target_are_not_known(count, use_tail, solver):
    item = add_chain()
    item.pose.ik_solver = solver
    constraint = item.pose.bones["Bone 3"].constraints.new("IK")
    constraint.target, constraint.chain_count = bpy.data.objects.new("Target", None), count
    constraint.use_tail, constraint.target.location = use_tail, (2, 1, 0.5)
    bpy.context.scene.collection.objects.link(constraint.target)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    moved = {
        bone.name
        for bone in evaluated.pose.bones
        if not np.allclose(bone.matrix, bone.bone.matrix_local, atol=1e-4)
    }
    assert moved
    # The other solver is not followed at all, and neither is the bone with the constraint.
    is_legacy = solver == "LEGACY"
    assert not known_bones(item) & moved
    assert known_bones(item) == ({"Bone 0", "Bone 1", "Bone 2"} - moved if is_legacy else set())


def add_chain():
    """Add an armature of four bones in a row."""
    item = add_random_armature(0, bones=0)
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number in range(4):
        bone = item.data.edit_bones.new(f"Bone {number}")
        bone.head, bone.tail, bone.parent = (0, 0, number), (0, 0, number + 1), above
        above = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return item


@pytest.mark.smoke
@pytest.mark.parametrize("seed", range(4))
def test_children_of_bones_move_with_their_tails(seed):
    item = add_random_armature(seed)
    generator = random.Random(seed)
    children = []
    for bone in item.data.bones:
        child = add_object(f"Child of {bone.name}")
        child.parent, child.parent_type, child.parent_bone = item, "BONE", bone.name
        child.location = [generator.uniform(-2, 2) for _ in range(3)]
        child.matrix_parent_inverse = item.matrix_world.inverted()
        children.append(child)
    children[0].keyframe_insert("location", frame=3)
    known = TransformCurves()
    known.read(bpy.context.scene, children, (TIMES[0], TIMES[-1]))
    rows = [known.index_of[child.session_uid] for child in children]
    found = known.transforms().world_matrices(np.array(TIMES))[:, rows]
    for time, matrices in zip(TIMES, found, strict=True):
        go_to(bpy.context.scene, time)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        expected = np.array([child.evaluated_get(depsgraph).matrix_world for child in children])
        sizes = np.abs(expected).max(axis=(1, 2), keepdims=True)
        assert (np.abs(matrices - expected) <= 1e-5 * sizes).all()


@pytest.mark.parametrize("case", ["relative to the bone", "no such bone", "constraint of the bone"])
def test_child_of_a_bone_that_is_not_known_is_not_known(case):
    item = add_random_armature(0, bones=3)
    bone = item.data.bones[0]
    child = add_object("Child")
    child.parent, child.parent_type, child.parent_bone = item, "BONE", bone.name
    if case == "relative to the bone":
        bone.use_relative_parent = True
    elif case == "no such bone":
        child.parent_bone = "Gone"
    else:
        item.pose.bones[0].constraints.new("COPY_ROTATION")
    known = TransformCurves()
    known.read(bpy.context.scene, [child], (TIMES[0], TIMES[-1]))
    assert child.session_uid not in known.index_of
