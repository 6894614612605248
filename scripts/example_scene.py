# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the example scene, a small factory floor, from nothing.

    python scripts/example_scene.py OUT.blend                      with pip's bpy
    blender -b --python scripts/example_scene.py -- OUT.blend      with Blender

Seven stations stand on the floor, each with a contact, or a near miss, of another kind. Orange parts move,
blue parts stand still. Where the motion has a closed form, a function of this module gives the answer.

Lengths are metres, angles degrees, times frames (24 a second). Z is up. An AABB here is the box of an
object's evaluated vertices in world space.

Most numbers are small sums of powers of two. Those are exact in the float32 of Blender's meshes, keys and
matrices, so that the closed forms hold without a rounding error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import acos, atan2, cos, degrees, hypot, pi, radians, sin, sqrt
from pathlib import Path
from typing import NamedTuple

import bpy
from mathutils import Euler, Vector

FRAME_START = 1
FRAME_END = 60
FPS = 24

# Parts stand this far above the floor, so that the floor is in no contact table.
HOVER = 0.01

# 1. A ball that flies through a plate between two whole frames.
PROJECTILE_RADIUS = 1 / 16
PROJECTILE_START = (-4.5, -1.375, 0.75)
PROJECTILE_FIRST_FRAME = 20
PROJECTILE_LAST_FRAME = 28
PROJECTILE_SPEED = 0.375  # metres a frame
PLATE_THICKNESS = 1 / 64
PLATE_X = -2.8125

# 2. Two paddles that swing towards the plane between their pivots.
PADDLE_CENTRE = (0.25, -1.0625)
PADDLE_PIVOT_DISTANCE = 0.75  # from a pivot to the plane between the two
PADDLE_LENGTH = 0.8125  # from the pivot to the tip
PADDLE_HALF_WIDTH = 0.09375
PADDLE_OPEN_ANGLE = 75.0
PADDLE_CLOSED_ANGLE = 20.0
PADDLE_OPEN_FRAME = 6
PADDLE_CLOSED_FRAME = 38

# 3. An arm, one mesh on three bones, that presses a button.
ARM_LOCATION = (-5.0, 1.25)
ARM_SHOULDER_HEIGHT = 0.25
ARM_BONE_LENGTH = 0.75
ARM_FRAMES = (4, 34, 56)  # rest, pressed, rest
ARM_REST_ANGLES = (-18.0, 120.0)  # of the upper arm, and of the fore arm against it
ARM_PRESSED_ANGLES = (25.0, 74.0)
BUTTON_DISTANCE = 1.25  # from the arm's axis to the middle of the button's housing

# 4. A crate that falls on a pallet.
CRATE_LOCATION = (-1.75, 1.25, 2.05)
CRATE_TILT = (12.0, 7.0, 12.0)
CRATE_SIZE = 0.625

# 5. A row of posts, and a cart that runs into one of them.
POST_COUNT = 6
POST_SPACING = 0.5
POST_HEIGHT = 0.75
POST_RADIUS = 1 / 16
FENCE_LOCATION = (2.75, -0.625)
CART_FRAMES = (10, 48)
CART_TRAVEL = 1.25

# 6. Two struts under a parent that stretches them.
FRAME_LOCATION = (1.0, 1.25, 0.8125)
FRAME_SCALE = (3.0, 1.0, 1.0)
STRUT_HALF_SIZE = (0.0625, 0.09375, 0.3125)
STRUT_START_DISTANCE = 0.875  # between the middles of the two struts
STRUT_END_DISTANCE = 0.46875
STRUT_FIRST_FRAME = 12
STRUT_LAST_FRAME = 44

# 7. A drone that flies close by a mast.
MAST_LOCATION = (4.25, 1.75)
MAST_RADIUS = 1 / 16
MAST_HEIGHT = 2.0
DRONE_HALF_WIDTH = 5 / 16
DRONE_HEIGHT = 1.5
DRONE_GAP = 1 / 32
DRONE_SWERVE = 0.5
DRONE_TRAVEL = 2.5
DRONE_FRAMES = (9, 33, 57)  # start, closest, end

COLOURS = {
    "Floor": (0.16, 0.17, 0.19),
    "Pad": (0.30, 0.32, 0.35),
    "Mover": (0.92, 0.36, 0.06),
    "Mover Light": (0.98, 0.62, 0.16),
    "Target": (0.10, 0.36, 0.66),
    "Target Light": (0.42, 0.64, 0.86),
    "Steel": (0.50, 0.53, 0.57),
    "Dark": (0.05, 0.05, 0.06),
    "White": (0.90, 0.90, 0.88),
    "Red": (0.80, 0.06, 0.05),
}


# ---- Closed forms ----------------------------------------------------------------------------------------


def projectile_contact_frame() -> float:
    """Frame at which the projectile's AABB first touches the plate's: 24.3125, exactly."""
    near_face = PLATE_X - PLATE_THICKNESS / 2
    distance = near_face - PROJECTILE_RADIUS - PROJECTILE_START[0]
    return PROJECTILE_FIRST_FRAME + distance / PROJECTILE_SPEED


def projectile_release_frame() -> float:
    """Frame at which the projectile's AABB leaves the plate's: 24.6875, exactly."""
    overlapping_distance = 2 * PROJECTILE_RADIUS + PLATE_THICKNESS
    return projectile_contact_frame() + overlapping_distance / PROJECTILE_SPEED


def paddles_contact_frame() -> float:
    """Frame at which the two paddles, and so their AABBs, first touch: about 32.13.

    At the opening angle a, the foremost corner of a paddle is L cos a + w sin a from its pivot along X, with
    the length L and half the width w. That is R cos(a - b) with R = hypot(L, w) and b = atan2(w, L). The
    paddles mirror each other, so they touch where it reaches the plane between the pivots. The angle, not
    the position, is affine in time.
    """
    reach = hypot(PADDLE_LENGTH, PADDLE_HALF_WIDTH)
    corner = atan2(PADDLE_HALF_WIDTH, PADDLE_LENGTH)
    angle = degrees(corner + acos(PADDLE_PIVOT_DISTANCE / reach))
    progress = (PADDLE_OPEN_ANGLE - angle) / (PADDLE_OPEN_ANGLE - PADDLE_CLOSED_ANGLE)
    return PADDLE_OPEN_FRAME + progress * (PADDLE_CLOSED_FRAME - PADDLE_OPEN_FRAME)


def struts_contact_frame() -> float:
    """Frame at which the two struts, and so their AABBs, first touch: about 39.15.

    A box turned by 45 degrees reaches (hx + hz) / sqrt(2) to either side. The parent's scale stretches the
    struts upwards only, and their corners that meet are at the same height.
    """
    touching_distance = sqrt(2) * (STRUT_HALF_SIZE[0] + STRUT_HALF_SIZE[2])
    progress = (STRUT_START_DISTANCE - touching_distance) / (STRUT_START_DISTANCE - STRUT_END_DISTANCE)
    return STRUT_FIRST_FRAME + progress * (STRUT_LAST_FRAME - STRUT_FIRST_FRAME)


class NearMiss(NamedTuple):
    """The smallest separation of two AABBs in metres, and the frame that has it."""

    gap: float
    frame: float


def drone_near_miss() -> NearMiss:
    """The smallest separation of the drone's AABB and the mast's: 0.03125 m at frame 33, exactly.

    The drone swerves towards the mast along Y and is closest at its middle key. Before and after, the gap
    along Y is wider by DRONE_SWERVE / 24 each frame.
    """
    centre_distance = MAST_LOCATION[1] - drone_path()[1][1]
    return NearMiss(centre_distance - MAST_RADIUS - DRONE_HALF_WIDTH, DRONE_FRAMES[1])


def drone_path() -> list[tuple[float, float, float]]:
    """Locations of the drone's origin at DRONE_FRAMES."""
    x, y = MAST_LOCATION
    closest = y - MAST_RADIUS - DRONE_GAP - DRONE_HALF_WIDTH
    return [
        (x - DRONE_TRAVEL / 2, closest - DRONE_SWERVE, DRONE_HEIGHT),
        (x, closest, DRONE_HEIGHT),
        (x + DRONE_TRAVEL / 2, closest - DRONE_SWERVE, DRONE_HEIGHT),
    ]


# ---- Meshes ----------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A closed piece of a mesh: vertices, faces and the colour of all its faces."""

    vertices: list[tuple[float, float, float]]
    faces: list[tuple[int, ...]]
    colour: str


def box(centre: Sequence[float], half_size: Sequence[float], colour: str) -> Part:
    """A box along the axes."""
    (cx, cy, cz), (hx, hy, hz) = centre, half_size
    vertices = [
        (cx + sx * hx, cy + sy * hy, cz + sz * hz) for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)
    ]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Part(vertices, faces, colour)


def prism(
    rings: Sequence[tuple[float, float]], colour: str, centre: Sequence[float] = (0, 0), sides: int = 16
) -> Part:
    """Rings of (height, radius) around a vertical axis through centre, joined and capped.

    With sides a multiple of four, the outermost vertices lie exactly at the radius along X and Y.
    """
    circle = [unit_vector(step, sides) for step in range(sides)]
    vertices = [(centre[0] + r * c, centre[1] + r * s, z) for z, r in rings for c, s in circle]
    faces: list[tuple[int, ...]] = [tuple(reversed(range(sides)))]
    for start in range(0, sides * (len(rings) - 1), sides):
        for step in range(sides):
            following = (step + 1) % sides
            faces.append((start + step, start + following, start + sides + following, start + sides + step))
    faces.append(tuple(range(sides * (len(rings) - 1), sides * len(rings))))
    return Part(vertices, faces, colour)


def unit_vector(step: int, steps: int) -> tuple[float, float]:
    """(cos, sin) of step / steps of a turn, exact at the quarters, where math.cos and math.sin are not."""
    if 4 * step % steps == 0:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[4 * step // steps % 4]
    angle = 2 * pi * step / steps
    return cos(angle), sin(angle)


def ball(radius: float, colour: str, sides: int = 16) -> Part:
    """A UV sphere with its poles on the X axis: its only vertices at -radius and +radius along X."""
    vertices = [(-radius, 0.0, 0.0)]
    for ring in range(1, sides // 2):
        x, width = unit_vector(ring, sides)
        circle = (unit_vector(step, sides) for step in range(sides))
        vertices += [(-radius * x, radius * width * c, radius * width * s) for c, s in circle]
    vertices.append((radius, 0.0, 0.0))
    last = len(vertices) - 1
    faces: list[tuple[int, ...]] = []
    for step in range(sides):
        following = (step + 1) % sides
        faces.append((0, 1 + following, 1 + step))
        for start in range(1, last - sides, sides):
            faces.append((start + step, start + following, start + sides + following, start + sides + step))
        faces.append((last - sides + step, last - sides + following, last))
    return Part(vertices, faces, colour)


def along_x(part: Part) -> Part:
    """The part with its Z axis laid on the X axis."""
    return part._replace(vertices=[(z, x, y) for x, y, z in part.vertices])


def material(colour: str) -> bpy.types.Material:
    """The material of that colour, in the solid view as well as in renders; made at its first use."""
    name = f"Factory {colour}"
    found = bpy.data.materials.get(name)
    if found:
        return found
    made = bpy.data.materials.new(name)
    made.diffuse_color = (*COLOURS[colour], 1.0)
    made.roughness = 0.6
    if made.node_tree is None:  # from Blender 5.0 on, a material always has its nodes
        made.use_nodes = True
    for node in made.node_tree.nodes:
        if node.type == "BSDF_PRINCIPLED":
            node.inputs["Base Color"].default_value = made.diffuse_color
            node.inputs["Roughness"].default_value = made.roughness
    return made


def mesh_from(name: str, parts: Iterable[Part]) -> bpy.types.Mesh:
    """One mesh of all the parts, with a material slot for each colour."""
    vertices: list[tuple[float, float, float]] = []
    faces: list[tuple[int, ...]] = []
    colours: list[str] = []
    for part in parts:
        faces += [tuple(len(vertices) + index for index in face) for face in part.faces]
        vertices += part.vertices
        colours += [part.colour] * len(part.faces)
    slots = list(dict.fromkeys(colours))
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    for colour in slots:
        mesh.materials.append(material(colour))
    mesh.polygons.foreach_set("material_index", [slots.index(colour) for colour in colours])
    mesh.update()
    return mesh


def mesh_object(name: str, parts: Iterable[Part], location: Sequence[float] = (0, 0, 0)) -> bpy.types.Object:
    """An object of the parts, linked to the scene's own collection."""
    made = bpy.data.objects.new(name, mesh_from(name, parts))
    made.location = location
    bpy.context.scene.collection.objects.link(made)
    return made


# ---- Keys ------------------------------------------------------------------------------------------------


def insert_keys(owner: bpy.types.bpy_struct, path: str, keys: Iterable[tuple[int, Sequence[float]]]) -> None:
    """Key a vector property: at each frame its value."""
    for frame, value in keys:
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def set_interpolation(animated: bpy.types.Object, interpolation: str) -> None:
    """LINEAR or BEZIER for all keys of an object; else the user's preferences would decide."""
    for curve in curves_of(animated.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = interpolation
        curve.update()


def curves_of(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """The curves of an action. Blender 4.4 put them into layers, 5.0 removed the direct way."""
    if hasattr(action, "fcurves"):
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for channelbag in strip.channelbags:
                yield from channelbag.fcurves


# ---- Stations --------------------------------------------------------------------------------------------


def build_projectile() -> None:
    """Station 1: `Projectile` flies through `Plate` and no whole frame shows it.

    The ball rests until frame 20, flies along +X at 0.375 metres a frame until frame 28, and rests again.
    The plate is 1/64 m thick across X. At frame 24 the ball is 0.117 m before it, at frame 25 as far behind.
    The AABBs overlap from projectile_contact_frame() to projectile_release_frame().
    """
    x, y, z = PROJECTILE_START
    barrel = along_x(prism([(-0.75, 0.15), (-0.2, 0.15), (-0.2, 0.11), (0.0, 0.11)], "Steel", (0, 0)))
    stand = box((-0.475, 0, (HOVER - z - 0.1) / 2), (0.15, 0.1, (z - 0.1 - HOVER) / 2), "Dark")
    mesh_object("Launcher", [barrel, stand], (x - 0.125, y, z))

    projectile = mesh_object("Projectile", [ball(PROJECTILE_RADIUS, "Mover")], PROJECTILE_START)
    projectile.data.polygons.foreach_set("use_smooth", [True] * len(projectile.data.polygons))
    flight = PROJECTILE_SPEED * (PROJECTILE_LAST_FRAME - PROJECTILE_FIRST_FRAME)
    keys = [(PROJECTILE_FIRST_FRAME, (x, y, z)), (PROJECTILE_LAST_FRAME, (x + flight, y, z))]
    insert_keys(projectile, "location", keys)
    set_interpolation(projectile, "LINEAR")

    half_height = 0.5
    panel = box((0, 0, 0), (PLATE_THICKNESS / 2, 0.5, half_height), "Target")
    mesh_object("Plate", [panel], (PLATE_X, y, HOVER + half_height))


def build_paddles() -> None:
    """Station 2: `Paddle Left` and `Paddle Right` swing together, like flippers, and open again.

    Each turns around its own pivot, which is also its origin: from an opening angle of 75 degrees at frame 6
    to 20 degrees at frame 38, at the same rate all the time, and back at frame 60. They mirror each other in
    the plane X = 0.25. They first touch at paddles_contact_frame().
    """
    x, y = PADDLE_CENTRE
    half_height = 0.125
    inner, outer = PADDLE_LENGTH - 0.25, PADDLE_LENGTH
    angles = (PADDLE_OPEN_ANGLE, PADDLE_CLOSED_ANGLE, PADDLE_OPEN_ANGLE)
    frames = (PADDLE_OPEN_FRAME, PADDLE_CLOSED_FRAME, FRAME_END)
    for name, side in (("Paddle Left", 1), ("Paddle Right", -1)):
        arm = box((side * inner / 2, 0, 0), (inner / 2, PADDLE_HALF_WIDTH, half_height), "Mover")
        tip = box((side * (inner + outer) / 2, 0, 0), (0.125, PADDLE_HALF_WIDTH, half_height), "Mover Light")
        hub = prism([(-half_height, 0.14), (half_height, 0.14)], "Steel")
        location = (x - side * PADDLE_PIVOT_DISTANCE, y, HOVER + half_height)
        paddle = mesh_object(name, [arm, tip, hub], location)
        keys = [(frame, (0, 0, -side * radians(angle))) for frame, angle in zip(frames, angles, strict=True)]
        insert_keys(paddle, "rotation_euler", keys)
        set_interpolation(paddle, "LINEAR")


def build_arm() -> None:
    """Station 3: `Arm`, one mesh on the three bones of `Arm Armature`, presses `Button` and draws back.

    The object never moves, only its vertices do. The keys are eased: it is still at frames 4, 34 and
    56. Near frame 27.5 the fingertip reaches the red cap, and leaves it again near frame 39.
    """
    x, y = ARM_LOCATION
    armature = arm_armature((x, y, HOVER))
    arm = mesh_object("Arm", arm_parts(), (x, y, HOVER))
    weigh_arm(arm)
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
    """Three bones one above the other. Turning a bone around its own X leans it towards the world's +X."""
    armature = bpy.data.objects.new("Arm Armature", bpy.data.armatures.new("Arm Armature"))
    armature.location = location
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")  # bones can be made in edit mode only
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
    """A foot, and a column with enough rings to bend smoothly at its joints."""
    elbow = ARM_SHOULDER_HEIGHT + ARM_BONE_LENGTH
    top = elbow + ARM_BONE_LENGTH
    foot = prism([(0, 0.28), (0.1, 0.28), (0.14, 0.2), (0.2, 0.2)], "Steel", sides=24)
    steps = 24
    heights = [0.2 + (top - 0.1 - 0.2) * step / steps for step in range(steps + 1)]
    rings = [(z, 0.13 - 0.06 * (z - 0.2) / (top - 0.2)) for z in heights]
    finger = [(top - 0.1, 0.07), (top - 0.04, 0.07), (top, 0.03)]
    return [foot, prism(rings, "Mover"), prism(finger, "Dark")]


def weigh_arm(arm: bpy.types.Object) -> None:
    """Weights by height: one bone a vertex, and a blend of two within 0.12 m of a joint."""
    shoulder, elbow = ARM_SHOULDER_HEIGHT, ARM_SHOULDER_HEIGHT + ARM_BONE_LENGTH
    groups = [arm.vertex_groups.new(name=name) for name in ("Base", "Upper", "Fore")]
    for vertex in arm.data.vertices:
        above_shoulder, above_elbow = (blend(vertex.co.z - joint, 0.12) for joint in (shoulder, elbow))
        weights = (1 - above_shoulder, above_shoulder - above_elbow, above_elbow)
        for group, weight in zip(groups, weights, strict=True):
            if weight > 0:
                group.add([vertex.index], weight, "REPLACE")


def blend(distance: float, width: float) -> float:
    """0 below -width, 1 above width, a straight ramp between."""
    return min(max((distance + width) / (2 * width), 0.0), 1.0)


def build_crate() -> None:
    """Station 4: `Crate` falls by rigid-body physics on `Pallet`, lands at frame 15 and comes to rest.

    The motion is baked into the .blend, so any frame can be asked for in any order.
    """
    crate = mesh_object("Crate", crate_parts(CRATE_SIZE / 2), CRATE_LOCATION)
    crate.rotation_euler = Euler([radians(angle) for angle in CRATE_TILT])
    pallet = mesh_object("Pallet", pallet_parts(), (*CRATE_LOCATION[:2], HOVER + 0.07))

    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.collection = bpy.data.collections.new("Physics")
    for body in (crate, pallet):
        scene.rigidbody_world.collection.objects.link(body)  # this makes it a rigid body
        body.rigid_body.collision_shape = "BOX"
        body.rigid_body.friction = 0.8
        body.rigid_body.restitution = 0.0
    pallet.rigid_body.type = "PASSIVE"
    cache = scene.rigidbody_world.point_cache
    cache.frame_start, cache.frame_end = FRAME_START, FRAME_END


def crate_parts(half: float) -> list[Part]:
    """A cube of twelve beams around a slightly smaller cube."""
    beam = 0.045
    inset = half - 0.02
    parts = [box((0, 0, 0), (inset, inset, inset), "Mover Light")]
    near = half - beam
    for first in (-near, near):
        for second in (-near, near):
            parts.append(box((0, first, second), (half, beam, beam), "Mover"))
            parts.append(box((first, 0, second), (beam, half, beam), "Mover"))
            parts.append(box((first, second, 0), (beam, beam, half), "Mover"))
    return parts


def pallet_parts() -> list[Part]:
    """Five boards on three runners, 0.15 m high.

    Physics centres its box on the origin. The boards stand 5 mm out of it, so that the crate at rest plainly
    overlaps the pallet; else the sign of the separation would be left to rounding.
    """
    runners = [box((0, y, -0.02), (0.6, 0.06, 0.05), "Target") for y in (-0.5, 0, 0.5)]
    boards = [box((x, 0, 0.055), (0.1, 0.56, 0.025), "Target Light") for x in (-0.5, -0.25, 0, 0.25, 0.5)]
    return runners + boards


def build_fence() -> None:
    """Station 5: `Cart` runs into the fourth of six posts that geometry nodes place along `Fence`.

    The fence has no mesh of its own: its posts exist only as instances of `Post`, a mesh in the collection
    `Post Parts`, which the view layer excludes. Two empties, `Gate Post Near` and `Gate Post Far`, instance
    the same collection. The cart moves along +Y by 1.25 m from frame 10 to frame 48; its keys are eased.
    """
    post = mesh_object("Post", post_parts())
    parts = bpy.data.collections.new("Post Parts")
    scene = bpy.context.scene
    scene.collection.children.link(parts)
    scene.collection.objects.unlink(post)
    parts.objects.link(post)
    bpy.context.view_layer.layer_collection.children[parts.name].exclude = True

    x, y = FENCE_LOCATION
    fence = bpy.data.objects.new("Fence", bpy.data.meshes.new("Fence"))
    fence.location = (x, y, HOVER)
    scene.collection.objects.link(fence)
    fence.modifiers.new("Posts", "NODES").node_group = fence_nodes(post)

    for name, offset in (("Gate Post Near", -1.0), ("Gate Post Far", -0.5)):
        gate = bpy.data.objects.new(name, None)
        gate.instance_type = "COLLECTION"
        gate.instance_collection = parts
        gate.empty_display_size = 0.1
        gate.location = (x, y + offset, HOVER)
        scene.collection.objects.link(gate)

    body = box((0, 0, 0.25), (0.1875, 0.3125, 0.125), "Mover")
    load = box((0, -0.06, 0.45), (0.14, 0.2, 0.075), "Mover Light")
    wheels = [
        along_x(prism([(sx * 0.2 - 0.03, 0.09), (sx * 0.2 + 0.03, 0.09)], "Dark", (sy * 0.2, 0.09)))
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    cart_x, cart_y = x + 3 * POST_SPACING + 0.03125, y - 1.5
    cart = mesh_object("Cart", [body, load, *wheels], (cart_x, cart_y, HOVER))
    ends = ((cart_x, cart_y, HOVER), (cart_x, cart_y + CART_TRAVEL, HOVER))
    insert_keys(cart, "location", zip(CART_FRAMES, ends, strict=True))
    set_interpolation(cart, "BEZIER")


def post_parts() -> list[Part]:
    """A striped post with a foot of twice its radius."""
    foot = prism([(0, 2 * POST_RADIUS), (0.03, 2 * POST_RADIUS)], "Dark")
    heights = [0.03, 0.25, 0.35, 0.55, 0.65, POST_HEIGHT]
    stripes = [
        prism([(low, POST_RADIUS), (high, POST_RADIUS)], "White" if index % 2 else "Target")
        for index, (low, high) in enumerate(pairwise(heights))
    ]
    return [foot, *stripes]


def fence_nodes(post: bpy.types.Object) -> bpy.types.NodeTree:
    """Geometry nodes: instances of the post on a line of points along +X."""
    tree = bpy.data.node_groups.new("Fence Posts", "GeometryNodeTree")
    tree.is_modifier = True
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    line = tree.nodes.new("GeometryNodeMeshLine")
    line.inputs["Count"].default_value = POST_COUNT
    line.inputs["Offset"].default_value = (POST_SPACING, 0, 0)
    source = tree.nodes.new("GeometryNodeObjectInfo")
    source.inputs["Object"].default_value = post
    source.inputs["As Instance"].default_value = True
    instances = tree.nodes.new("GeometryNodeInstanceOnPoints")
    output = tree.nodes.new("NodeGroupOutput")
    for step, node in enumerate((source, line, instances, output)):
        node.location = (200 * step, 0)
    tree.links.new(line.outputs["Mesh"], instances.inputs["Points"])
    tree.links.new(source.outputs["Geometry"], instances.inputs["Instance"])
    tree.links.new(instances.outputs["Instances"], output.inputs["Geometry"])
    return tree


def build_struts() -> None:
    """Station 6: `Strut B` slides against `Strut A`, both turned by 45 degrees under `Skewed Frame`.

    The frame, an empty, is scaled by (3, 1, 1) and stands upright: its X axis points up. A turned box under
    such a parent has a world matrix with shear. B moves at a constant speed from frame 12 to frame 44. They
    first touch at struts_contact_frame().
    """
    scene = bpy.context.scene
    frame = bpy.data.objects.new("Skewed Frame", None)
    frame.location = FRAME_LOCATION
    frame.rotation_euler = (0, radians(-90), 0)  # X up, Z towards the world's -X
    frame.scale = FRAME_SCALE
    frame.empty_display_size = 0.25
    scene.collection.objects.link(frame)
    half = STRUT_START_DISTANCE / 2
    for name, colour, z, turn in (("Strut A", "Target", half, 45), ("Strut B", "Mover", -half, -45)):
        strut = mesh_object(name, [box((0, 0, 0), STRUT_HALF_SIZE, colour)], (0, 0, z))
        strut.rotation_euler = (0, radians(turn), 0)
        strut.parent = frame
    ends = ((0, 0, half - STRUT_START_DISTANCE), (0, 0, half - STRUT_END_DISTANCE))
    strut_b = bpy.data.objects["Strut B"]
    insert_keys(strut_b, "location", zip((STRUT_FIRST_FRAME, STRUT_LAST_FRAME), ends, strict=True))
    set_interpolation(strut_b, "LINEAR")


def build_drone() -> None:
    """Station 7: `Drone` flies close by `Mast` and does not touch it.

    It flies 2.5 m along +X from frame 9 to frame 57 and swerves 0.5 m towards the mast and back. The smallest
    separation of the two AABBs, and its frame, come from drone_near_miss().
    """
    heights = [HOVER + (MAST_HEIGHT - HOVER) * step / 5 for step in range(6)]
    stripes = [
        prism([(low, MAST_RADIUS), (high, MAST_RADIUS)], "Target" if index % 2 == 0 else "White")
        for index, (low, high) in enumerate(pairwise(heights))
    ]
    mesh_object("Mast", stripes, (*MAST_LOCATION, 0))

    rotor = 0.125
    out = DRONE_HALF_WIDTH - rotor
    body = box((0, 0, 0), (0.11, 0.11, 0.05), "Mover")
    beams = [box((0, side * out, 0.02), (out, 0.02, 0.015), "Dark") for side in (-1, 1)]
    cross = box((0, 0, 0.02), (0.02, out, 0.015), "Dark")
    rotors = [
        prism([(0.035, rotor), (0.06, rotor)], "Mover Light", (sx * out, sy * out))
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    drone = mesh_object("Drone", [body, cross, *beams, *rotors])
    insert_keys(drone, "location", zip(DRONE_FRAMES, drone_path(), strict=True))
    set_interpolation(drone, "LINEAR")


def build_surroundings() -> None:
    """`Floor` with a pad below each station, a sun, a sky and the camera."""
    slab = box((0, -0.125, -0.101), (6.125, 2.625, 0.099), "Floor")
    pads = [
        box((x, y, -0.001), (half_x, half_y, 0.001), "Pad")
        for y, half_y, pads_along_x in (
            (-1.375, 1.125, ((-3.4375, 2.4375), (0.25, 1.0625), (3.6875, 2.1875))),
            (1.25, 1.0, ((-4.375, 1.5), (-1.75, 0.9375), (1.0, 1.625), (4.3125, 1.5625))),
        )
        for x, half_x in pads_along_x
    ]
    mesh_object("Floor", [slab, *pads])

    scene = bpy.context.scene
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy = 3.0
    sun.location = (-4, -5, 8)
    sun.rotation_euler = (radians(40), radians(15), 0)
    scene.collection.objects.link(sun)

    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.35, 0.38, 0.42)

    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens = 46
    camera.location = (-5.0, -14.5, 9.5)
    camera.rotation_euler = (Vector((-0.1, -0.2, 0.1)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera


# ---- The whole -------------------------------------------------------------------------------------------


def build_scene() -> None:
    """Build all stations into the current file, which must hold no objects, and bake the physics."""
    if bpy.data.objects:
        raise RuntimeError("the file has objects already: start from an empty one")
    scene = bpy.context.scene
    scene.name = "Factory"
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = FRAME_START, FRAME_END
    build_surroundings()
    build_projectile()
    build_paddles()
    build_arm()
    build_crate()
    build_fence()
    build_struts()
    build_drone()
    bake_physics()
    look_through_camera()
    for view_layer_object in bpy.context.view_layer.objects:
        view_layer_object.select_set(False)
    bpy.context.view_layer.objects.active = None
    scene.frame_set(FRAME_START)


def bake_physics() -> None:
    """Play all frames, which fills the physics cache, and keep that as a bake in the .blend.

    The plain bake operator would do the same, but prints a line for each frame.
    """
    scene = bpy.context.scene
    for frame in range(FRAME_START, FRAME_END + 1):
        scene.frame_set(frame)
    with bpy.context.temp_override(point_cache=scene.rigidbody_world.point_cache):
        bpy.ops.ptcache.bake_from_cache()


def look_through_camera() -> None:
    """Let the 3D views open on the camera's view."""
    for screen in bpy.data.screens:
        for area in screen.areas:
            if area.type == "VIEW_3D":
                area.spaces.active.region_3d.view_perspective = "CAMERA"


def main(arguments: Sequence[str]) -> None:
    """Build the scene in a new file and save it."""
    parser = argparse.ArgumentParser(prog="example_scene.py", description="Make the example scene.")
    parser.add_argument("out", metavar="OUT.blend", help="where to save the scene")
    out = Path(parser.parse_args(arguments).out).resolve()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    build_scene()
    bpy.ops.wm.save_as_mainfile(filepath=str(out))
    print(f"Saved the example scene to {out}")


if __name__ == "__main__":
    main(sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:])
    if not bpy.app.binary_path:
        # As a module, Blender may wait forever for a thread of its own when a process ends (seen in 4.5).
        sys.stdout.flush()
        os._exit(0)
