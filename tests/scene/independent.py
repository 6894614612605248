# SPDX-License-Identifier: GPL-3.0-or-later
"""A second opinion on the product's numbers: loads files itself, does its own geometry, shares no code.

The product is only called through its command line and read through its JSON document. Everything here
computes in float64 from Blender's float32 vertices and matrices. It needs bpy, so it runs inside pip's bpy.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.cli.command_line import run
from tests.paths import TOP

bpy = pytest.importorskip("bpy")

SAMPLES = TOP.parent / "shared" / "samples"
SUFFIXES = {".blend", ".glb", ".gltf", ".fbx"}
MESH_LIKE = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
# Blender's axes seen from each space, one row per axis there.
AXES = {
    "blender": np.eye(3),
    "gltf": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "unity": np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "unreal": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]),
}
METERS = {"gltf": 1.0, "unity": 1.0, "unreal": 0.01}
# Two correct float64 evaluations of R v + t and of a distance may differ by this many roundings.
ROUNDINGS = 16.0 * np.finfo(np.float64).eps


# --- the product, from outside ---------------------------------------------------------------------------


def run_product(command: str, source: Path, output: Path, *options: str) -> dict:
    """Run one command of the product and return the document that it wrote.

    It runs in this process, because a start takes longer than most commands. The file that it opened stays
    open: `load` a file before looking at it.
    """
    done = run(command, source, *options, "-o", output)
    assert done.returncode == 0, f"{command} {source.name}: {done.returncode}\n{done.stderr[-3000:]}"
    return json.loads(output.read_text(encoding="utf-8"))


def schema_errors(document: dict) -> list[str]:
    """Errors of the shipped JSON Schema in a document; skips the test where jsonschema is absent."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(
        (TOP / "addon" / "formats" / "validation" / "schema.json").read_text(encoding="utf-8")
    )
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def sample_files() -> list[Path]:
    """Sample files of other authors; none where that folder is absent."""
    if not SAMPLES.is_dir():
        return []
    return sorted(path for path in SAMPLES.iterdir() if path.suffix in SUFFIXES)


# --- the scene, by Blender itself ------------------------------------------------------------------------


def load(path: Path) -> None:
    """Open a .blend, or import another format into an empty factory scene."""
    if path.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if path.suffix == ".fbx":
        # 4.5 brought an importer in C++; its vertices differ from the old one's by 2e-5.
        native = "fbx_import" in dir(bpy.ops.wm)
        importer = bpy.ops.wm.fbx_import if native else bpy.ops.import_scene.fbx
    else:
        importer = bpy.ops.import_scene.gltf
    importer(filepath=str(path))


@dataclass(frozen=True)
class EvaluatedObject:
    """One visible object or instance as Blender evaluated it: vertices (n, 3) in Blender's world space."""

    name: str
    instancer: str | None
    matrix: np.ndarray
    points: np.ndarray
    slack: float

    @property
    def group(self) -> str:
        """`Parent/Child` for instances, the name for plain objects."""
        return self.name if self.instancer is None else f"{self.instancer}/{self.name}"


def _vertices(owner: bpy.types.Object) -> np.ndarray:
    mesh = owner.to_mesh()
    if mesh is None:
        return np.empty((0, 3))
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    owner.to_mesh_clear()
    return flat.reshape(-1, 3).astype(np.float64)


def _evaluated_object(row: bpy.types.DepsgraphObjectInstance) -> EvaluatedObject:
    matrix = np.array(row.matrix_world, dtype=np.float64)
    local = _vertices(row.object)
    points = local @ matrix[:3, :3].T + matrix[:3, 3]
    reach = np.abs(local) @ np.abs(matrix[:3, :3]).T + np.abs(matrix[:3, 3])
    slack = ROUNDINGS * float(reach.max(initial=0.0))
    instancer = row.parent.name if row.is_instance else None
    return EvaluatedObject(row.object.name, instancer, matrix, points, slack)


def evaluated_objects_at(frame: int) -> list[EvaluatedObject]:
    """Read all visible mesh-like objects at a frame, also those without vertices.

    A curve, text, surface or metaball comes from Blender twice: as itself and as the mesh made of it, which
    looks like an instance of the object by the object. The second is no thing of its own.
    """
    bpy.context.scene.frame_set(frame)
    things = []
    for row in bpy.context.evaluated_depsgraph_get().object_instances:
        drawn_mesh = row.object.type == "MESH" and row.object.original.type in MESH_LIKE - {"MESH"}
        if row.show_self and row.object.type in MESH_LIKE and not drawn_mesh:
            things.append(_evaluated_object(row))
    return things


def scale_written(space: dict) -> float:
    """Document units per Blender unit: the scale of the written matrix."""
    return float(np.abs(space["fromBlender"]).max())


# --- geometry --------------------------------------------------------------------------------------------


def _ball_through(points: np.ndarray) -> np.ndarray:
    """Center of the smallest sphere through up to four points."""
    edges = points[1:] - points[0]
    if not len(edges):
        return points[0]
    return points[0] + np.linalg.lstsq(edges, 0.5 * (edges**2).sum(axis=1), rcond=None)[0]


def _ball_of_few(points: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Exact minimal sphere of at most five points by trying every subset: center, radius, its support."""
    best: tuple[np.ndarray, float, np.ndarray] | None = None
    for size in range(1, min(4, len(points)) + 1):
        for subset in itertools.combinations(range(len(points)), size):
            support = points[list(subset)]
            centre = _ball_through(support)
            radius = float(np.sqrt(((points - centre) ** 2).sum(axis=1).max()))
            if best is None or radius < best[1]:
                best = centre, radius, support
    assert best is not None
    return best


def minimal_sphere(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Minimal enclosing sphere: center, and the distance from it to the farthest point.

    Grows an active set: the exact sphere of at most four support points and the farthest point outside.
    That sphere's radius is a lower limit, the returned one an upper limit; they must meet within 1e-8.
    """
    origin = points.mean(axis=0)
    moved = points - origin
    centre, lower, support = moved[0], 0.0, moved[:1]
    best_centre, best = centre, np.inf
    for _ in range(100):
        distances = np.sqrt(((moved - centre) ** 2).sum(axis=1))
        farthest = int(distances.argmax())
        if distances[farthest] < best:
            best_centre, best = centre, float(distances[farthest])
        if best <= lower * (1.0 + 1e-12):
            break
        centre, lower, support = _ball_of_few(np.vstack([support, moved[farthest]]))
    assert best <= lower * (1.0 + 1e-8), "the checker's own sphere did not converge"
    return best_centre + origin, best


def rotation_matrix(quaternion: Iterable[float]) -> np.ndarray:
    """Rotation matrix of a quaternion (x, y, z, w), which is normalized."""
    x, y, z, w = np.asarray(quaternion, dtype=np.float64) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def sphere_excess(shape: dict, points: np.ndarray) -> float:
    """How far the farthest point lies outside a written sphere; negative inside."""
    offsets = points - np.array(shape["center"], dtype=np.float64)
    return float(np.sqrt((offsets**2).sum(axis=1)).max()) - shape["radius"]


def aabb_excess(shape: dict, points: np.ndarray) -> float:
    """How far the farthest point lies outside a written box along one axis; negative inside."""
    low, high = np.array(shape["min"]), np.array(shape["max"])
    return float(max((low - points.min(axis=0)).max(), (points.max(axis=0) - high).max()))


def obb_points(shape: dict, points: np.ndarray) -> np.ndarray:
    """Points in the coordinates of a written oriented box, from its center."""
    return (points - np.array(shape["center"])) @ rotation_matrix(shape["rotation"])


def obb_excess(shape: dict, points: np.ndarray) -> float:
    """How far the farthest point lies outside a written oriented box along one of its axes."""
    return float((np.abs(obb_points(shape, points)) - np.array(shape["halfExtents"])).max())


def obb_looseness(shape: dict, points: np.ndarray) -> float:
    """The largest distance between a face of a written oriented box and the outermost point on its side."""
    seen, half = obb_points(shape, points), np.array(shape["halfExtents"])
    return float(max((half - seen.max(axis=0)).max(), (seen.min(axis=0) + half).max()))


def aabb_looseness(shape: dict, points: np.ndarray) -> float:
    """The largest distance between a face of a written box and the points' own box."""
    low, high = np.array(shape["min"]), np.array(shape["max"])
    return float(max(np.abs(low - points.min(axis=0)).max(), np.abs(points.max(axis=0) - high).max()))


@dataclass(frozen=True)
class Motion:
    """Shapes of n objects at whole frames: centers, mins, maxs (frames, n, 3) and radii (frames, n)."""

    names: tuple[str, ...]
    frames: np.ndarray
    centres: np.ndarray
    radii: np.ndarray
    mins: np.ndarray
    maxs: np.ndarray

    def separation(self, shape: str, first: int, second: int, times: np.ndarray) -> np.ndarray:
        """Signed separation of two objects at frame times, with linear interpolation between frames."""
        if shape == "sphere":
            return sphere_separation(
                self._at(self.centres, first, times),
                self._at(self.radii, first, times),
                self._at(self.centres, second, times),
                self._at(self.radii, second, times),
            )
        return aabb_separation(
            self._at(self.mins, first, times),
            self._at(self.maxs, first, times),
            self._at(self.mins, second, times),
            self._at(self.maxs, second, times),
        )

    def _at(self, track: np.ndarray, thing: int, times: np.ndarray) -> np.ndarray:
        values = track[:, thing].reshape(len(self.frames), -1)
        columns = [np.interp(times, self.frames, column) for column in values.T]
        return np.stack(columns, axis=-1) if track.ndim == 3 else columns[0]


def sphere_separation(a: np.ndarray, a_radius: np.ndarray, b: np.ndarray, b_radius: np.ndarray) -> np.ndarray:
    """Distance of the centers minus both radii."""
    return np.sqrt(((a - b) ** 2).sum(axis=-1)) - a_radius - b_radius


def aabb_separation(a_min: np.ndarray, a_max: np.ndarray, b_min: np.ndarray, b_max: np.ndarray) -> np.ndarray:
    """Euclidean gap where they are apart, else minus the overlap along the axis with the least overlap."""
    gaps = np.maximum(a_min - b_max, b_min - a_max)
    apart = np.sqrt((np.maximum(gaps, 0.0) ** 2).sum(axis=-1))
    deepest = gaps.max(axis=-1)
    return np.where(deepest > 0.0, apart, deepest)


def motion_of(start: int, end: int) -> Motion:
    """Fit the objects of the open scene at each whole frame; their names and number must not change."""
    names: tuple[str, ...] = ()
    samples: list[tuple[np.ndarray, ...]] = []
    for frame in range(start, end + 1):
        things = sorted((t for t in evaluated_objects_at(frame) if len(t.points)), key=lambda t: t.group)
        assert not names or names == tuple(t.group for t in things)
        names = tuple(t.group for t in things)
        spheres = [minimal_sphere(t.points) for t in things]
        samples.append(
            (
                np.array([centre for centre, _ in spheres]),
                np.array([radius for _, radius in spheres]),
                np.array([t.points.min(axis=0) for t in things]),
                np.array([t.points.max(axis=0) for t in things]),
            )
        )
    centres, radii, mins, maxs = (np.stack(track) for track in zip(*samples, strict=True))
    return Motion(names, np.arange(start, end + 1, dtype=np.float64), centres, radii, mins, maxs)


# --- scenes with cases that the samples lack -------------------------------------------------------------


def _add(operator: str, name: str, **options: object) -> bpy.types.Object:
    group, call = operator.split(".")
    getattr(getattr(bpy.ops, group), call)(**options)
    added = bpy.context.object
    added.name = name
    return added


def make_odd_scene(path: Path) -> None:
    """Save a scene of curves, text, surfaces, metaballs, instances, shear, mirrors, far and tiny objects."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.unit_settings.scale_length = 0.01
    tube = _add("curve.primitive_bezier_circle_add", "Tube", location=(5, 0, 0), rotation=(0.3, 0.2, 0.1))
    tube.data.bevel_depth = 0.1
    _add("curve.primitive_bezier_circle_add", "Wire", location=(5, 5, 0))
    _add("object.text_add", "Label", location=(0, 5, 0), rotation=(1.0, 0.0, 0.7))
    _add("surface.primitive_nurbs_surface_sphere_add", "Nurbs", location=(-5, 0, 0), scale=(1, 2, 0.5))
    for index, x in enumerate((-5.0, -4.0)):
        ball = _add("object.metaball_add", f"Blob.{index:03}", type="BALL", location=(x, 5, 0))
        ball.scale = (1.0, 0.7, 1.3)
    _make_meshes()
    _make_instances()
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def _make_meshes() -> None:
    bent = _add("mesh.primitive_cube_add", "Bent", scale=(3, 1, 1), rotation=(0.0, 0.0, 0.4))
    sheared = _add("mesh.primitive_monkey_add", "Sheared")
    sheared.parent, sheared.rotation_euler = bent, (0.0, 0.5, 0.785)
    sheared.modifiers.new("Smooth", "SUBSURF").levels = 2
    mirrored = _add("mesh.primitive_cone_add", "Mirrored", location=(0, -5, 1), rotation=(0.5, 1.0, -2.0))
    mirrored.scale = (-1.0, 2.0, 0.3)
    _add("mesh.primitive_torus_add", "Far", location=(12345.678, -9876.543, 4321.987), rotation=(1, 2, 3))
    _add("mesh.primitive_uv_sphere_add", "Tiny", radius=0.00137, location=(0.1, 0.2, 0.3), rotation=(1, 2, 3))
    _add("mesh.primitive_plane_add", "Flat", location=(0, 0, -3), rotation=(0.1, 0.2, 0.3))
    _add("mesh.primitive_cube_add", "Hidden", location=(0, 0, 50)).hide_viewport = True
    point = (0.1, 0.2, 0.3)
    for name, vertices in (("Empty", []), ("Point", [point]), ("Pair", [(0, 0, 0), point])):
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(vertices, [], [])
        bpy.context.collection.objects.link(bpy.data.objects.new(name, mesh))


def _make_instances() -> None:
    library = bpy.data.collections.new("Library")
    inner = bpy.data.collections.new("Inner")
    for name, into in (("Part", library), ("Deep", inner)):
        part = _add(
            "mesh.primitive_ico_sphere_add", name, location=(0.5, 0.25, 0.1), rotation=(0.1, 0.2, 0.3)
        )
        part.users_collection[0].objects.unlink(part)
        into.objects.link(part)
    nested = bpy.data.objects.new("Nested", None)
    nested.instance_type, nested.instance_collection, nested.location = "COLLECTION", inner, (0, 0, 2)
    library.objects.link(nested)
    for name, angle in (("Holder", 0.7), ("Holder.001", -1.9)):
        holder = bpy.data.objects.new(name, None)
        holder.instance_type, holder.instance_collection = "COLLECTION", library
        holder.location, holder.rotation_euler, holder.scale = (0, 10, angle), (angle, 1.0, 2.0), (1, 2, 3)
        bpy.context.collection.objects.link(holder)
    frame = _add("mesh.primitive_cube_add", "Frame", location=(10, 0, 0))
    frame.instance_type, frame.show_instancer_for_viewport = "VERTS", False
    _add("mesh.primitive_cone_add", "Knob", radius1=0.2, depth=0.3).parent = frame
    _add("object.text_add", "Tag", radius=0.1).parent = frame


def make_moving_scene(path: Path) -> None:
    """Save frames 1-8: passes between frames, contact at the start, two contacts, spin, growth, near miss.

    Between whole frames a linear scan does not ask Blender, so the keys' easing cannot matter.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 8
    scene.render.fps, scene.render.fps_base = 30, 1.001
    _add("mesh.primitive_cube_add", "Wall", scale=(0.05, 4, 4))
    tracks = {
        "Bullet": ("location", {1: (-9, 0, 0), 4: (-3, 0.1, 0), 5: (3, 0.2, 0.1), 8: (9, 0, 0)}),
        "Guest": ("location", {1: (0.1, 2.5, 2.5), 4: (6, 2.5, 2.5), 8: (0.2, 2.5, 2.5)}),
        "Grazing": ("location", {1: (2.3, -9, 3), 8: (2.3, 9, 3.3)}),
        "Missing": ("location", {1: (30, -9, 0), 8: (30, 9, 0)}),
        "Dart": (
            "location",
            {1: (31.4, -12, 0.2), 4: (31.4, -3, 0.2), 5: (31.5, 3.4, 0.3), 8: (31.5, 12, 0.2)},
        ),
        "Post": ("location", {1: (31.4, 0.3, 0.2), 8: (31.5, 0.3, 0.2)}),
        "Spinner": ("rotation_euler", {1: (0, 0, 0), 8: (3, 1, 9)}),
        "Grower": ("scale", {1: (0.1, 0.1, 0.1), 5: (2, 3, 1), 8: (0.1, 0.2, 0.1)}),
    }
    for name, (path_name, keys) in tracks.items():
        thing = _add("mesh.primitive_ico_sphere_add", name, radius=0.5, subdivisions=1)
        for frame, value in keys.items():
            setattr(thing, path_name, value)
            thing.keyframe_insert(path_name, frame=frame)
    bpy.data.objects["Spinner"].scale = (4.0, 0.3, 0.6)
    bpy.data.objects["Spinner"].location = (12, 0, 0)
    bpy.data.objects["Grower"].location = (12, 2.2, 0.4)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def make_touching_scene(path: Path) -> None:
    """Save frames 1-9 of cubes whose faces share coordinates that are exact in float32.

    Beside rests against Still all the time. Visitor comes to Still's other face at frame 5 and leaves again.
    """
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    _add("mesh.primitive_cube_add", "Still")
    _add("mesh.primitive_cube_add", "Beside", location=(2, 0.5, 0))
    visitor = _add("mesh.primitive_cube_add", "Visitor")
    for frame, x in ((1, -4.0), (5, -2.0), (9, -4.0)):
        visitor.location.x = x
        visitor.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
