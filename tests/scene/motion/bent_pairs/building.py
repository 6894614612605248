"""Random pairs of a mesh that keyed bones bend and a box, in cells of a grid."""

from __future__ import annotations

import math
from random import Random

import bpy
from mathutils import Vector

from tests.scene.building import add_armature, curves
from tests.scene.motion.keyed_pairs.building import FIRST, LAST, Pair, PairBuilder, cells
from tests.scene.sampling import add_points, box_points

_BONES = 3


def add_pairs(seed: int, count: int) -> list[Pair]:
    """Add random pairs to the scene."""
    generator = Random(f"bent {seed}")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    return [_BentPairBuilder(generator, *cell, True, True).pair() for cell in cells(count)]


class _BentPairBuilder(PairBuilder):
    """Builds a mesh that three bones bend, and a box that rests or moves."""

    def pair(self) -> Pair:
        """Build both objects."""
        halves = self._half_extents(False), self._half_extents(False)
        a, b = (
            add_points(f"{self._name} {letter}", box_points(half))
            for letter, half in zip("ab", halves, strict=True)
        )
        self._bend(a)
        if self._random.random() < 0.5:
            b.location = self._place(2.5)
            self._rotate(b, (FIRST,))
        else:
            self._smooth(b)
        return Pair((a.name, b.name), halves)

    def _bend(self, item: bpy.types.Object) -> None:
        """Bend a mesh by bones with keys of all kinds, on an object that rests or moves."""
        bones = {f"Bone {k}": ((0, 0, k), (0.1 * k, 0, k + 1)) for k in range(_BONES)}
        connected = [name for name in bones if self._random.random() < 0.5]
        rig = add_armature(f"{item.name} rig", bones, connected)
        item.data.transform(item.matrix_world.Translation(Vector((0, 0, self._random.uniform(0, 3)))))
        self._weigh(item)
        item.modifiers.new("Armature", "ARMATURE").object = rig
        item.parent = rig
        for bone in rig.pose.bones:
            self._random.choice((self._wave, self._wave, self._bump_bone, self._spin))(bone)
        for curve in curves(rig.animation_data.action):
            if len(curve.keyframe_points) != 3:
                self._vary(curve)
        if self._random.random() < 0.5:
            self._smooth(rig)
        else:
            rig.location = self._place(1.5)

    def _weigh(self, item: bpy.types.Object) -> None:
        """Weigh vertices for one bone, several, or none."""
        for number in range(_BONES):
            group = item.vertex_groups.new(name=f"Bone {number}")
            for vertex in range(8):
                group.add([vertex], self._random.choice((0, 1, self._random.random())), "REPLACE")

    def _wave(self, bone: bpy.types.PoseBone) -> None:
        """Turn, move and scale by curves of any kind."""
        self._rotate(bone, self._times(self._random.randint(2, 5)))
        for path, size, middle in (("location", 1.0, 0.0), ("scale", 0.6, 1.0)):
            for time in self._times(self._random.choice((0, 0, 2, 4))):
                setattr(bone, path, [middle + self._random.uniform(-size, size) for _ in range(3)])
                bone.keyframe_insert(path, frame=time)

    def _bump_bone(self, bone: bpy.types.PoseBone) -> None:
        """Rest, but for a bump of 1/64 frame or longer."""
        width = 2.0 ** -self._random.uniform(0, 6)
        begin = self._random.uniform(FIRST, LAST - 2 * width)
        bone.rotation_mode = "XYZ"
        for time, angle in (
            (begin, 0.0),
            (begin + width / 2, self._random.uniform(-2, 2)),
            (begin + width, 0.0),
        ):
            bone.rotation_euler = angle, angle / 2, 0
            bone.keyframe_insert("rotation_euler", frame=time)

    def _spin(self, bone: bpy.types.PoseBone) -> None:
        """Turn by up to a turn a frame at a constant rate."""
        bone.rotation_mode = "XYZ"
        for time, angle in ((FIRST, 0.0), (LAST, self._random.uniform(-1, 1) * math.tau * (LAST - FIRST))):
            bone.rotation_euler = angle, 0, 0
            bone.keyframe_insert("rotation_euler", frame=time)
