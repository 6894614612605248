"""Scans of objects that Blender evaluates: with drivers, constraints, or bent by armatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..tables import Competitor, Row, Table, Target
from .built_scene import built_scene
from .carried_shapes import wrong_scan
from .evaluated_meshes import wrong_meshes
from .scans import FRAMES, KEYS, playback, scan

BONES = 10
HEIGHT = 2.0
RING = 100


@dataclass(frozen=True)
class Walk:
    """A scene of characters, each a tube on a chain of bones, which walk along lanes between props.

    count : number of characters
    vertices : number of vertices of each
    frames : number of frames
    shape : that is tested
    """

    count: int
    vertices: int
    frames: int
    shape: str = "aabb"
    props: int = 50

    def settings(self) -> dict[str, Any]:
        """Return the settings of the scan."""
        return {"shape": self.shape}

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return built_scene(repr((self.count, self.vertices, self.frames, self.props)), self._build)

    def _build(self, scene: Any) -> None:
        import bpy

        scene.frame_start, scene.frame_end = 1, self.frames
        rng = np.random.default_rng(0)
        for index in range(self.count):
            self._add_character(index, rng)
        bpy.ops.mesh.primitive_cube_add(size=0.5)
        prop: Any = bpy.context.object
        prop.name = "Prop"
        for index in range(1, self.props):
            copy = prop.copy()
            copy.name = f"Prop {index:03}"
            scene.collection.objects.link(copy)
        props = [item for item in scene.objects if item.name.startswith("Prop")]
        for item in props:
            lane = rng.integers(self.count)
            item.location = (
                rng.uniform(-12, 12),
                3.0 * lane + rng.choice((-1, 1)) * rng.uniform(0.5, 1.2),
                0.5,
            )

    def _add_character(self, index: int, rng: np.random.Generator) -> None:
        import bpy

        context: Any = bpy.context
        mesh = bpy.data.meshes.new("Body")
        rings = self.vertices // RING
        angle, height = np.linspace(0, 2 * np.pi, RING, endpoint=False), np.linspace(0, HEIGHT, rings)
        points = np.empty((rings, RING, 3))
        points[..., 0], points[..., 1] = 0.3 * np.cos(angle), 0.3 * np.sin(angle)
        points[..., 2] = height[:, None]
        row = np.arange(rings - 1)[:, None] * RING
        here, after = np.arange(RING), (np.arange(RING) + 1) % RING
        quads = np.stack([row + here, row + after, row + RING + after, row + RING + here], axis=-1)
        mesh.from_pydata(points.reshape(-1, 3).tolist(), [], quads.reshape(-1, 4).tolist())
        body: Any = bpy.data.objects.new(f"Character {index}", mesh)
        context.collection.objects.link(body)
        rig: Any = bpy.data.objects.new(f"Rig {index}", bpy.data.armatures.new("Rig"))
        context.collection.objects.link(rig)
        context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        before: Any = None
        for bone in range(BONES):
            edit = rig.data.edit_bones.new(f"Bone {bone}")
            edit.head, edit.tail = (0, 0, HEIGHT * bone / BONES), (0, 0, HEIGHT * (bone + 1) / BONES)
            edit.parent = before
            before = edit
        bpy.ops.object.mode_set(mode="OBJECT")
        place = np.minimum(height / HEIGHT * BONES, BONES - 1e-9)
        for bone in range(BONES):
            group = body.vertex_groups.new(name=f"Bone {bone}")
            weights = np.clip(1 - np.abs(place - bone - 0.5), 0, 1)
            for ring in np.flatnonzero(weights).tolist():
                group.add(list(range(ring * RING, (ring + 1) * RING)), float(weights[ring]), "REPLACE")
        body.parent = rig
        body.modifiers.new("Armature", "ARMATURE").object = rig
        for frame in np.linspace(1, self.frames, 9).round().tolist():
            rig.location = -10 + 20 * (frame - 1) / (self.frames - 1), 3.0 * index, 0
            rig.keyframe_insert("location", frame=frame)
            for bone in rig.pose.bones:
                bone.rotation_mode = "XYZ"
                bone.rotation_euler = rng.uniform(-0.12, 0.12, 3)
                bone.keyframe_insert("rotation_euler", frame=frame)


@dataclass(frozen=True)
class Driven:
    """A scene of movers, half of them with drivers and half with constraints to keyed empties.

    count : number of movers
    heavy : number of other objects, each with modifiers that Blender evaluates in each frame
    constrained : whether half of the movers have constraints instead of drivers
    room : size of the room of the movers
    """

    count: int
    heavy: int
    constrained: bool
    room: float
    frames = FRAMES

    def settings(self) -> dict[str, Any]:
        """Return the settings of the scan."""
        from addon.scene.settings import Selection

        return {"shape": "sphere", "selection": Selection(("Mover*",))}

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return built_scene(repr(self), self._build)

    def _build(self, scene: Any) -> None:
        import bpy

        scene.frame_start, scene.frame_end = 1, self.frames
        rng = np.random.default_rng(0)
        mesh = bpy.data.meshes.new("Body")
        mesh.from_pydata(rng.uniform(-0.5, 0.5, (42, 3)).tolist(), [], [])
        for index in range(self.count):
            item: Any = bpy.data.objects.new(f"Mover {index:03}", mesh)
            scene.collection.objects.link(item)
            home = rng.uniform(0, self.room, 3)
            if self.constrained and index % 2:
                item.constraints.new("COPY_LOCATION").target = self._keyed_empty(scene, home, rng)
                continue
            for axis in range(3):
                rate, phase = rng.uniform(0.02, 0.1), rng.uniform(0, 6)
                driver = item.driver_add("location", axis).driver
                driver.expression = f"{home[axis]:.4f} + 2 * sin(frame * {rate:.4f} + {phase:.4f})"
        for index in range(self.heavy):
            bpy.ops.mesh.primitive_grid_add(
                x_subdivisions=32, y_subdivisions=32, location=(index * 3, 0, -99)
            )
            still: Any = bpy.context.object
            still.name, still.location = f"Heavy {index:03}", (3 * index, 0, -99)
            still.modifiers.new("Wave", "WAVE")
            still.modifiers.new("Bevel", "BEVEL")

    @staticmethod
    def _keyed_empty(scene: Any, home: Any, rng: np.random.Generator) -> Any:
        import bpy

        empty: Any = bpy.data.objects.new("Guide", None)
        scene.collection.objects.link(empty)
        for frame in KEYS:
            empty.location = home + rng.normal(size=3) * 2
            empty.keyframe_insert("location", frame=frame)
        return empty


def _describe(_: Walk | Driven, results: Mapping[str, Any]) -> str:
    return f"{len(results['scan'].report.contacts)} contacts" if "scan" in results else ""


def _check_walk(case: Walk | Driven, results: Mapping[str, Any]) -> str:
    return wrong_meshes(case.scene(), results["scan"], (1, case.frames)) if "scan" in results else ""


def _check_driven(case: Driven, results: Mapping[str, Any]) -> str:
    if "scan" not in results:
        return ""
    return wrong_scan(case.scene(), results["scan"], is_linear=False, frames=(1, case.frames))


def _row(label: str, target: Target, case: Walk | Driven) -> Row:
    return Row(label, lambda: case, case.frames, 1, [target])


_CROWD = (6, 20_000, 120)

CHARACTERS = Table(
    "characters",
    "characters of 20,000 vertices",
    (Competitor("scan", scan), Competitor("frame_set", playback)),
    [
        _row("one, 250 frames, boxes", Target(1.5, "frame_set"), Walk(1, 20_000, 250)),
        _row("six, 120 frames, boxes", Target(0.8), Walk(*_CROWD)),
        _row("six, 120 frames, sphere trees", Target(5.0), Walk(*_CROWD, shape="spheres")),
    ],
    _describe,
    _check_walk,
    clock=perf_counter,
    seconds_each=15.0,
)

DRIVEN = Table(
    "driven",
    "movers",
    (Competitor("scan", scan), Competitor("frame_set", playback)),
    [
        _row(
            "20 with drivers, among 40 heavy objects", Target(0.2, "frame_set"), Driven(20, 40, False, 12.0)
        ),
        _row("200 with drivers or constraints", Target(2.0, "frame_set"), Driven(200, 0, True, 40.0)),
    ],
    _describe,
    _check_driven,
    clock=perf_counter,
    seconds_each=8.0,
)
