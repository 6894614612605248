"""Bounds of each bone of a character in Blender."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tables import Call, Competitor, Row, Table, Target
from .built_scene import built_scene

_AROUND = 50


@dataclass(frozen=True)
class Tube:
    """A tube around a chain of bones of length 1; each vertex has weights of about three of them."""

    vertices: int
    bones: int

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return built_scene(repr(self), self._build)

    def _build(self, scene: Any) -> None:
        import bpy

        rig: Any = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
        scene.collection.objects.link(rig)
        view_layer: Any = bpy.context.view_layer
        view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        for number in range(self.bones):
            bone = rig.data.edit_bones.new(f"Bone {number}")
            bone.head, bone.tail = (0, 0, number), (0, 0, number + 1)
        bpy.ops.object.mode_set(mode="OBJECT")
        height = np.repeat(np.linspace(0, self.bones, self.vertices // _AROUND), _AROUND)
        angle = np.tile(2 * np.pi / _AROUND * np.arange(_AROUND), self.vertices // _AROUND)
        points = np.stack([0.3 * np.cos(angle), 0.3 * np.sin(angle), height], axis=1)
        mesh = bpy.data.meshes.new("Tube")
        mesh.from_pydata(points.tolist(), [], [])
        body: Any = bpy.data.objects.new("Tube", mesh)
        scene.collection.objects.link(body)
        for number in range(self.bones):
            group = body.vertex_groups.new(name=f"Bone {number}")
            weights = np.clip(1 - np.abs(height - number - 0.5) / 1.5, 0, 1)
            for row in np.flatnonzero(weights).tolist():
                group.add([row], float(weights[row]), "REPLACE")
        body.modifiers.new("Armature", "ARMATURE").object = rig
        view_layer.update()


def _bounds(case: Tube) -> Call:
    scene = case.scene()
    from addon.scene.blender.parts import known_rows
    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.settings import BoundsSettings, Selection

    known_rows.attach()
    return lambda: compute_bounds(scene, BoundsSettings(Selection(split_by_bones=True)))


def _bounds_after_edit(case: Tube) -> Call:
    compute = _bounds(case)
    from addon.scene.blender.parts import known_rows

    def forget_and_compute() -> Any:
        known_rows.forget_rows()
        return compute()

    return forget_and_compute


BONES = Table(
    "bones",
    "bounds of bones, spheres and boxes",
    (Competitor("Collision Bounds", _bounds), Competitor("after an edit of the weights", _bounds_after_edit)),
    [
        Row("50,000 vertices, 40 bones", lambda: Tube(50_000, 40), 1, 1, [Target(0.03)]),
        Row("10,000 vertices, 40 bones", lambda: Tube(10_000, 40), 1, 1),
    ],
    seconds_each=5.0,
)
