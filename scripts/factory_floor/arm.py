"""Station 3: an arm, one mesh on three bones, presses a button."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

import bpy
from mathutils import Vector

from .common import HOVER
from .keyframes import insert_keys, set_interpolation
from .meshes import Part, along_x, box, mesh_object, prism

ARM_LOCATION = (-5.0, 1.25)
ARM_SHOULDER_HEIGHT = 0.25
ARM_BONE_LENGTH = 0.75
ARM_FRAMES = (4, 34, 56)  # rest, pressed, rest
ARM_REST_ANGLES = (-18.0, 120.0)  # of the upper arm, and of the fore arm relative to the upper arm
ARM_PRESSED_ANGLES = (25.0, 74.0)
BUTTON_DISTANCE = 1.25  # from the axis of the arm to the middle of the button housing


def build_arm() -> None:
    """Build `Arm`, one mesh on the three bones of `Arm Armature`, which presses `Button` and retracts.

    The object does not move, only its vertices do. The keys are eased: the arm is still at frames 4, 34 and
    56. The fingertip reaches the red cap near frame 27.5, and leaves it near frame 39.
    """
    x, y = ARM_LOCATION
    armature = arm_armature((x, y, HOVER))
    arm = mesh_object("Arm", arm_parts(), (x, y, HOVER))
    assign_arm_weights(arm)
    arm.parent = armature
    arm.matrix_parent_inverse = armature.matrix_world.inverted()
    arm.modifiers.new("Armature", "ARMATURE").object = armature

    poses = (ARM_REST_ANGLES, ARM_PRESSED_ANGLES, ARM_REST_ANGLES)
    for index, bone in enumerate(("Upper", "Fore")):
        pose_bone = armature.pose.bones[bone]
        pose_bone.rotation_mode = "XYZ"
        keys = [(frame, (radians(pose[index]), 0, 0)) for frame, pose in zip(ARM_FRAMES, poses, strict=True)]
        insert_keys(pose_bone, "rotation_euler", keys)
    set_interpolation(armature, "BEZIER")

    housing = box((0, 0, 0.5), (0.1875, 0.25, 0.5), "Target")
    cap = along_x(prism([(-0.25, 0.125), (-0.1875, 0.125)], "Red"))
    cap = cap._replace(vertices=[(vx, vy, vz + 0.8125) for vx, vy, vz in cap.vertices])
    mesh_object("Button", [housing, cap], (x + BUTTON_DISTANCE, y, HOVER))


def arm_armature(location: Sequence[float]) -> bpy.types.Object:
    """Create an armature of three bones in a vertical chain.

    A positive rotation of a bone around its X axis tilts it towards the world's +X.
    """
    armature = bpy.data.objects.new("Arm Armature", bpy.data.armatures.new("Arm Armature"))
    armature.location = location
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")  # bones can be created in Edit Mode only
    joints = [0.0, *(ARM_SHOULDER_HEIGHT + ARM_BONE_LENGTH * step for step in range(3))]
    parent = None
    for name, low, high in zip(("Base", "Upper", "Fore"), joints[:-1], joints[1:], strict=True):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = (0, 0, low), (0, 0, high)
        bone.align_roll(Vector((1, 0, 0)))
        bone.parent = parent
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def arm_parts() -> list[Part]:
    """Return a foot, and a column with enough rings to bend smoothly at its joints."""
    elbow = ARM_SHOULDER_HEIGHT + ARM_BONE_LENGTH
    top = elbow + ARM_BONE_LENGTH
    foot = prism([(0, 0.28), (0.1, 0.28), (0.14, 0.2), (0.2, 0.2)], "Steel", sides=24)
    steps = 24
    heights = [0.2 + (top - 0.1 - 0.2) * step / steps for step in range(steps + 1)]
    rings = [(z, 0.13 - 0.06 * (z - 0.2) / (top - 0.2)) for z in heights]
    finger = [(top - 0.1, 0.07), (top - 0.04, 0.07), (top, 0.03)]
    return [foot, prism(rings, "Mover"), prism(finger, "Dark")]


def assign_arm_weights(arm: bpy.types.Object) -> None:
    """Assign vertex weights by height: one bone per vertex, or a blend of two within 0.12 m of a joint."""
    shoulder, elbow = ARM_SHOULDER_HEIGHT, ARM_SHOULDER_HEIGHT + ARM_BONE_LENGTH
    groups = [arm.vertex_groups.new(name=name) for name in ("Base", "Upper", "Fore")]
    for vertex in arm.data.vertices:
        above_shoulder, above_elbow = (linear_ramp(vertex.co.z - joint, 0.12) for joint in (shoulder, elbow))
        weights = (1 - above_shoulder, above_shoulder - above_elbow, above_elbow)
        for group, weight in zip(groups, weights, strict=True):
            if weight > 0:
                group.add([vertex.index], weight, "REPLACE")


def linear_ramp(distance: float, width: float) -> float:
    """Return 0 below -width, 1 above width, and a linear transition in between."""
    return min(max((distance + width) / (2 * width), 0.0), 1.0)
