"""Very many instances of one mesh in Blender: their bounds with the document, and a scan while they move."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..tables import Call, Competitor, Row, Table, Target
from .built_scene import built_scene
from .scans import FRAMES, playback, scan

_SPACING = 3.0


@dataclass(frozen=True)
class Instances:
    """Instances of an object with 42 vertices on a square grid.

    kind : "nodes", by geometry nodes; "turned", by these with random rotations; "vertices", by vertices of
        their parent; "moving", by nodes that lift each along a sine of the time
    """

    count: int
    kind: str

    @staticmethod
    def settings() -> dict[str, Any]:
        """Return the settings of the scan."""
        return {"shape": "sphere", "motion": "linear"}

    def scene(self) -> Any:
        """Return the active scene of Blender, built first if it is another one."""
        return built_scene(repr(self), self._build)

    def _build(self, scene: Any) -> None:
        import bpy

        scene.frame_start, scene.frame_end = 1, FRAMES
        body = _add_mesh("Body", np.random.default_rng(0).uniform(-0.5, 0.5, (42, 3)))
        side = int(np.ceil(np.sqrt(self.count)))
        places = np.zeros((self.count, 3))
        places[:, 0], places[:, 1] = np.divmod(np.arange(self.count), side)
        grid = _add_mesh("Grid", _SPACING * places)
        grid.location.x = _SPACING  # the object itself is at the origin, and shown too
        if self.kind == "vertices":
            grid.instance_type = "VERTS"
            body.parent = grid
        else:
            grid.modifiers.new("Instances", "NODES").node_group = self._nodes(body)
        bpy.context.evaluated_depsgraph_get()

    def _nodes(self, body: Any) -> Any:
        """Make the nodes that show the instances."""
        import bpy

        groups: Any = bpy.data.node_groups
        tree = groups.new("Instances", "GeometryNodeTree")
        for direction in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
        add: Any = tree.nodes.new
        start, end = add("NodeGroupInput"), add("NodeGroupOutput")
        instances, info = add("GeometryNodeInstanceOnPoints"), add("GeometryNodeObjectInfo")
        info.inputs["Object"].default_value = body
        info.inputs["As Instance"].default_value = True
        links = [
            (start.outputs[0], instances.inputs["Points"]),
            (info.outputs["Geometry"], instances.inputs["Instance"]),
        ]
        last = instances
        if self.kind == "turned":
            turns = add("FunctionNodeRandomValue")
            turns.data_type = "FLOAT_VECTOR"
            turns.inputs[1].default_value = (6, 6, 6)
            links.append((turns.outputs[0], instances.inputs["Rotation"]))
        if self.kind == "moving":
            last, time, index = (
                add(name)
                for name in (
                    "GeometryNodeTranslateInstances",
                    "GeometryNodeInputSceneTime",
                    "GeometryNodeInputIndex",
                )
            )
            phase, sine, offset = add("ShaderNodeMath"), add("ShaderNodeMath"), add("ShaderNodeCombineXYZ")
            phase.operation, sine.operation = "MULTIPLY_ADD", "SINE"
            phase.inputs[1].default_value = 0.1
            links += [
                (time.outputs["Frame"], phase.inputs[0]),
                (index.outputs[0], phase.inputs[2]),
                (phase.outputs[0], sine.inputs[0]),
                (sine.outputs[0], offset.inputs["Z"]),
                (offset.outputs[0], last.inputs["Translation"]),
                (instances.outputs[0], last.inputs[0]),
            ]
        links.append((last.outputs[0], end.inputs[0]))
        for output, target in links:
            tree.links.new(output, target)
        return tree


def _add_mesh(name: str, points: Any) -> Any:
    import bpy

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], [])
    item = bpy.data.objects.new(name, mesh)
    scene: Any = bpy.context.scene
    scene.collection.objects.link(item)
    return item


def _bounds(case: Instances) -> Call:
    scene = case.scene()
    from addon.formats import json_parts
    from addon.scene.jobs.bounds import compute_bounds
    from addon.scene.settings import BoundsSettings

    return lambda: sum(map(len, json_parts(compute_bounds(scene, BoundsSettings()).document())))


def _matrices(case: Instances) -> Call:
    case.scene()
    import bpy

    # Counted once, because that takes as long as to read the matrices.
    count = len(bpy.context.evaluated_depsgraph_get().object_instances)

    def read() -> None:
        instances = bpy.context.evaluated_depsgraph_get().object_instances
        instances.foreach_get("matrix_world", np.empty(16 * count, dtype=np.float32))

    return read


def _check_scan(_: Instances, results: Any) -> str:
    """Report any contact: the grid is wider than a sphere around a cube of size 1, so there is none."""
    found = len(results["scan"].report.contacts) if "scan" in results else 0
    return f"{found} contacts of spheres that are apart" if found else ""


def _playback(case: Instances) -> Call:
    return playback(case, _matrices(case))


def _bounds_row(label: str, kind: str, count: int, *targets: Target) -> Row:
    return Row(label, lambda: Instances(count, kind), count, count, targets)


INSTANCE_BOUNDS = Table(
    "instance-bounds",
    "instances",
    (Competitor("bounds and document", _bounds), Competitor("matrices", _matrices)),
    [
        _bounds_row("100,000, by nodes", "nodes", 100_000, Target(25e-6)),
        _bounds_row("100,000, by vertices", "vertices", 100_000, Target(25e-6)),
        _bounds_row("100,000, by nodes, each turned", "turned", 100_000),
        _bounds_row("10,000, by nodes", "nodes", 10_000),
    ],
    seconds_each=10.0,
)

INSTANCE_SCANS = Table(
    "instance-scans",
    f"scene, {FRAMES} frames",
    (Competitor("scan", scan), Competitor("frame_set and matrices", _playback)),
    [
        Row(
            "10,000 moving instances, spheres, linear",
            lambda: Instances(10_000, "moving"),
            10_000 * FRAMES,
            1,
            [Target(2, "frame_set and matrices")],
        )
    ],
    check=_check_scan,
    clock=perf_counter,
    seconds_each=30.0,
)
