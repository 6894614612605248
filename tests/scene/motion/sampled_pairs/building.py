"""Random pairs moved by drivers, constraints, bones and shape keys, in cells of a grid.

Each motion is smooth on a quarter of a frame: a wave turns by at most one radian in that time, and so does an
object. Keys are at least one and a half frames apart.
"""

from __future__ import annotations

import math
from random import Random

import bpy
from mathutils import Euler, Vector

from tests.scene.building import add_armature
from tests.scene.motion.keyed_pairs.building import Pair, cells
from tests.scene.sampling import add_object, add_points, box_points

FIRST, LAST = 1, 6
FASTEST = 4.0
"""Radians per frame."""


def add_pairs(seed: int, count: int, shape: str) -> list[Pair]:
    """Add random pairs to the scene; for spheres and oriented boxes, of objects that keep their form."""
    generator = Random(f"sampled {shape} {seed}")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    return [_Builder(generator, *cell, can_deform=shape == "aabb").pair() for cell in cells(count, 40.0)]


class _Builder:
    """Builds one pair around a center."""

    def __init__(self, generator: Random, name: str, center: Vector, can_deform: bool) -> None:
        self._random, self._name, self._center, self._can_deform = generator, name, center, can_deform

    def pair(self) -> Pair:
        """Build both objects; the second one rests, or moves in the same manner."""
        halves = tuple(
            tuple(math.exp(self._random.uniform(math.log(0.15), math.log(1.0))) for _ in range(3))
            for _ in "ab"
        )
        a, b = (
            add_points(f"{self._name} {letter}", box_points(half))
            for letter, half in zip("ab", halves, strict=True)
        )
        moves = [self._drive, self._constrain, self._parent_to_bone]
        if self._can_deform:
            moves += [self._deform_by_bones, self._deform_by_keys]
        move = self._random.choice(moves)
        move(a)
        if self._random.random() < 0.5:
            b.location = self._place(2.5)
            b.rotation_euler = self._angles()
        else:
            move(b)
        return Pair((a.name, b.name), halves)

    def _place(self, size: float) -> Vector:
        return self._center + Vector([self._random.uniform(-size, size) for _ in range(3)])

    def _angles(self) -> Euler:
        return Euler([self._random.uniform(-3, 3) for _ in range(3)])

    def _rate(self) -> float:
        return self._random.choice((1.0, self._random.random())) * self._random.uniform(0.2, FASTEST)

    def _waves(self, middle: float, size: float) -> str:
        """Return an expression of the frame: waves around a value."""
        terms = [
            f"{self._random.uniform(-size, size):.4f} * sin({self._rate():.4f} * frame"
            f" + {self._random.uniform(0, 6):.4f})"
            for _ in range(self._random.randint(1, 2))
        ]
        return f"{middle:.4f} + " + " + ".join(terms)

    def _add_driver(self, owner: bpy.types.bpy_struct, path: str, index: int, expression: str) -> None:
        curve = owner.driver_add(path, index) if index >= 0 else owner.driver_add(path)
        curve.driver.expression = expression
        assert curve.driver.is_simple_expression

    def _drive(self, item: bpy.types.Object, size: float = 2.5) -> None:
        """Drive location and rotation, and maybe the scale."""
        place = self._place(1.5)
        for axis in range(3):
            self._add_driver(item, "location", axis, self._waves(place[axis], size))
        self._turn(item)
        if self._random.random() < 0.3:
            expression = self._waves(1.0, 0.3)
            for axis in range(3):
                text = self._waves(1.0, 0.3) if self._can_deform else expression
                self._add_driver(item, "scale", axis, text)

    def _turn(self, item: bpy.types.Object | bpy.types.PoseBone) -> None:
        """Drive the rotation: to and fro, or on and on."""
        item.rotation_mode = self._random.choice(("XYZ", "ZYX", "YXZ"))
        item.rotation_euler = self._angles()
        axis = self._random.randrange(3)
        rate = self._random.uniform(-FASTEST, FASTEST)
        expression = self._random.choice((f"{rate:.4f} * frame", self._waves(0.0, 1.0)))
        self._add_driver(item, "rotation_euler", axis, expression)

    def _add_guide(self, item: bpy.types.Object) -> bpy.types.Object:
        """Add an empty that is driven, or has keys."""
        guide = add_object(f"{item.name} guide {len(bpy.data.objects)}")
        if self._random.random() < 0.5:
            self._drive(guide)
        else:
            time = FIRST - 1.5 * self._random.random()
            while time < LAST + 1:
                guide.location, guide.rotation_euler = self._place(3), self._angles()
                guide.keyframe_insert("location", frame=time)
                guide.keyframe_insert("rotation_euler", frame=time)
                time += self._random.uniform(1.5, 4)
        return guide

    def _constrain(self, item: bpy.types.Object) -> None:
        """Follow another object by a constraint, or by drivers that read it."""
        guide = self._add_guide(item)
        kind = self._random.choice(("COPY_LOCATION", "CHILD_OF", "COPY_TRANSFORMS", "DRIVER", "TRACK"))
        if kind == "DRIVER":
            self._turn(item)
            for axis in range(3):
                driver = item.driver_add("location", axis).driver
                variable = driver.variables.new()
                variable.type = "TRANSFORMS"
                variable.targets[0].id = guide
                variable.targets[0].transform_type = f"LOC_{'XYZ'[axis]}"
                place = self._random.uniform(-0.5, 0.5)
                driver.expression = f"{variable.name} + {place:.4f} * sin({self._rate():.4f} * frame)"
            return
        if kind == "TRACK":
            self._drive(item)
            constraint = item.constraints.new("DAMPED_TRACK")
            # The target stays far, so that the direction to it changes smoothly.
            target = add_object(f"{item.name} target")
            target.location = self._center + Vector((0, 0, 12))
            constraint.target = target
            return
        constraint = item.constraints.new(kind)
        constraint.target = guide
        if kind == "CHILD_OF":
            item.location = [self._random.uniform(-1, 1) for _ in range(3)]
        else:
            self._turn(item)
            item.location = self._place(1)
            influence = self._random.choice((1.0, 0.6))
            # A part of a rotation jumps where the rotation passes half a turn.
            constraint.influence = 1.0 if kind == "COPY_TRANSFORMS" else influence

    def _add_armature(self, item: bpy.types.Object) -> bpy.types.Object:
        """Add a chain of three bones that turn, on an object that moves."""
        bones = {f"Bone {number}": ((0, 0, number), (0, 0, number + 1)) for number in range(3)}
        armature = add_armature(f"{item.name} rig", bones)
        for bone in armature.pose.bones:
            self._turn(bone)
        if self._random.random() < 0.5:
            # Not the armature itself: Blender may then lose values of the bones' drivers.
            armature.parent = add_object(f"{item.name} rig parent")
            self._drive_place(armature.parent)
        else:
            armature.location = self._place(1)
        return armature

    def _drive_place(self, item: bpy.types.Object) -> None:
        place = self._place(1)
        for axis in range(3):
            self._add_driver(item, "location", axis, self._waves(place[axis], 1.0))

    def _parent_to_bone(self, item: bpy.types.Object) -> None:
        """Make the last bone the parent."""
        armature = self._add_armature(item)
        item.parent, item.parent_type, item.parent_bone = armature, "BONE", "Bone 2"
        item.rotation_euler = self._angles()

    def _deform_by_bones(self, item: bpy.types.Object) -> None:
        """Deform the mesh by two bones, with weights that differ."""
        armature = self._add_armature(item)
        item.data.transform(item.matrix_world.Translation(Vector((0, 0, self._random.uniform(1, 3)))))
        for number in range(3):
            group = item.vertex_groups.new(name=f"Bone {number}")
            for vertex in range(8):
                group.add([vertex], self._random.random(), "REPLACE")
        item.modifiers.new("Armature", "ARMATURE").object = armature
        item.parent = armature

    def _deform_by_keys(self, item: bpy.types.Object) -> None:
        """Deform the mesh by two shape keys, driven or with keys; the object rests or moves."""
        item.shape_key_add(name="Basis")
        for number in range(2):
            block = item.shape_key_add(name=f"Key {number}")
            block.slider_min, block.slider_max = -10, 10
            shift = Vector([self._random.uniform(-2, 2) for _ in range(3)])
            for point in block.data:
                point.co += shift + Vector([self._random.uniform(-1, 1) for _ in range(3)])
            if self._random.random() < 0.6:
                self._add_driver(block, "value", -1, self._waves(0.0, 1.0))
                continue
            time = FIRST - 1.5 * self._random.random()
            while time < LAST + 1:
                block.value = self._random.uniform(-1.5, 1.5)
                block.keyframe_insert("value", frame=time)
                time += self._random.uniform(1.5, 4)
        if self._random.random() < 0.5:
            self._drive_place(item)
        else:
            item.location = self._place(2)
