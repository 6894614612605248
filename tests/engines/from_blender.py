"""Scenes evaluated in Blender, and their exported files, for tests in environments without bpy."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import environments
from tests.engines.difficult_scene import SCENE

# A function for keys, and no objects.
EMPTY_ANIMATION = """
def keyed(item, path, *keys, ease="BEZIER"):
    bpy.context.preferences.edit.keyframe_new_interpolation_type = ease
    for frame, value in keys:
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)

for item in list(bpy.data.objects):
    bpy.data.objects.remove(item)
scene.frame_start, scene.frame_end = 1, 12
"""

# First contacts between two frames: a fast bullet, a box that eases and rotates, and a rod that rotates.
MOVING = (
    EMPTY_ANIMATION
    + """
bullet = put(mesh("Bullet", (0.05, 0.05, 0.3)), rotation=(0.4, 0.2, 0))
keyed(bullet, "location", (1, (-40, 0, 1)), (11, (55, 0.5, 1)), ease="LINEAR")
put(mesh("Wall", (0.1, 2, 2)), (4, 0, 0), (0, 0.3, 0.2))
falling = put(mesh("Falling", (1, 0.5, 0.7), (0.2, 0, 0)))
keyed(falling, "location", (1, (0, 10, 6)), (12, (0, 10.5, 0.5)))
keyed(falling, "rotation_euler", (1, (0, 0, 0)), (12, (2, 1, -3)))
put(mesh("Floor", (4, 4, 0.1)), (0, 10, -1))
rod = put(mesh("Rod", (3, 0.1, 0.1)), (0, 20, 0), (0.3, 0, 0))
keyed(rod, "rotation_euler", (2, (0.3, 0, 0)), (6, (0.3, 0, 3.1)), ease="LINEAR")
put(mesh("Post", (0.2, 0.2, 1)), (0.5, 22, 0), (0, 0, 0.5))
passing = put(mesh("Passing", (0.3, 0.3, 0.3)))
keyed(passing, "location", (1, (-6, 20, 1.4)), (12, (6, 20, 1.4)))
bpy.context.view_layer.update()
"""
)

SETUP = """
sys.path.insert(0, TOP)
import io, json
import numpy as np
from addon.cli.main import main
bpy.ops.wm.save_as_mainfile(filepath=folder + "/scene.blend")

def export_document(name, *options):
    printed = io.StringIO()
    code = main([*options, "-q", "-o", folder + "/" + name], opens_file=False, out=printed)
    assert code == 0, (options, printed.getvalue())
"""

# Blender lists the mesh of a curve as an instance of the curve. Matrix products are in double precision.
VERTICES = """
def write_vertices(path):
    vertices_by_name = {}
    for item in bpy.context.evaluated_depsgraph_get().object_instances:
        if item.object.type != "MESH":
            continue
        instancer = item.parent.name if item.is_instance and item.parent.name != item.object.name else ""
        mesh_data = item.object.to_mesh()
        local = np.empty(len(mesh_data.vertices) * 3, np.float32)
        mesh_data.vertices.foreach_get("co", local)
        item.object.to_mesh_clear()
        matrix = np.array(item.matrix_world, np.float64)
        points = local.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        name = f"{instancer}/{item.object.name}" if instancer else item.object.name
        vertices_by_name.setdefault(name, []).append(points.tolist())
    with open(path, "w") as stream:
        json.dump(vertices_by_name, stream)
"""
"""Defines a function that writes the vertices of all objects, in Blender's world space."""

_TOP = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Exported:
    """Exported files of a scene, and its vertices.

    Attributes
    ----------
    folder : Path
        Folder of the files.
    vertices : dict of str to list of (n, 3) float64
        By object name, the vertices of each object with that name in Blender's world space.
    """

    folder: Path
    vertices: dict[str, list[np.ndarray]]

    def document(self, name: str) -> dict[str, Any]:
        """Read a document."""
        return json.loads((self.folder / name).read_text("utf-8"))

    def vertices_of(self, entry: dict[str, Any]) -> np.ndarray:
        """Return the vertices (n, 3) of an object of a document.

        Objects are found by name, and instances by the names of parent and child. Linked objects can have
        equal names, so the object whose box is nearest to that in `blender.json` is used.
        """
        name = entry["name"]
        named = self.vertices[name if name in self.vertices else name.rpartition(".")[0]]
        low = self.lows[entry["id"]]
        return min(named, key=lambda points: float(np.abs(points.min(axis=0) - low).max()))

    @functools.cached_property
    def lows(self) -> dict[str, list[float]]:
        """Minimum corner of each object's box in `blender.json`, which distinguishes equal names."""
        return {
            entry["id"]: entry["world"]["aabb"]["min"] for entry in self.document("blender.json")["objects"]
        }


def in_blender(script: str, folder: Path) -> None:
    """Run a script after SCENE, with `folder` as a variable. Skips the test if no Blender is available."""
    try:
        python = environments.newest_blender().ready()
    except environments.UnavailableError as missing:
        pytest.skip(str(missing))
    begin = "import bpy\nbpy.ops.wm.read_homefile(app_template='', use_empty=True)\n"
    variables = f"folder, TOP = {str(folder)!r}, {str(_TOP)!r}\n"
    path = folder / "script.py"
    path.write_text(begin + SCENE + variables + script + "\nleave()\n", "utf-8")
    done = subprocess.run([python, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def export_difficult_scene(script: str, folder: Path) -> Exported:
    """Run a script in the difficult scene, which can call `export_document`, and read the vertices."""
    in_blender(SETUP + VERTICES + "write_vertices(folder + '/vertices.json')\n" + script, folder)
    return read_exported(folder)


def read_exported(folder: Path) -> Exported:
    """Read the vertices that `write_vertices` has written to `vertices.json`."""
    recorded = json.loads((folder / "vertices.json").read_text("utf-8"))
    return Exported(folder, {name: [np.array(points) for points in each] for name, each in recorded.items()})


@dataclass(frozen=True)
class AnimatedExport:
    """Documents and poses of the animated scene.

    Attributes
    ----------
    folder : Path
    documents : dict of str to dict
        Document of contacts by shape.
    bounds : dict of str to dict
        Entry of each object in a document with all shapes at frame 1.
    times : (t,) float64
        In frames.
    positions : dict of str to (t, 3) float64
        By object.
    rotations : dict of str to (t, 4) float64
        By object, as quaternions with w first.
    """

    folder: Path
    documents: dict[str, dict[str, Any]]
    bounds: dict[str, dict[str, Any]]
    times: np.ndarray
    positions: dict[str, np.ndarray]
    rotations: dict[str, np.ndarray]


_INTERVAL_AROUND_CONTACT = 0.002
"""In frames, to each side."""

_POSES = (
    SETUP
    + """
documents = {}
for shape in SHAPES:
    export_document(shape + ".json", "contacts", "--shape", shape, "--decimals", "9")
    with open(folder + f"/{shape}.json") as stream:
        documents[shape] = json.load(stream)
every = "sphere,aabb,obb,capsule,cylinder,spheres"
export_document("local.json", "bounds", "--frame", "1", "--shapes", every, "--decimals", "9")
with open(folder + "/local.json") as stream:
    bounds = {entry["id"]: entry for entry in json.load(stream)["objects"]}
firsts = [each["first"]["frame"] for document in documents.values() for each in document["contacts"]]
near = [first + step * AROUND / 8 for first in firsts for step in range(-8, 9)]
times = sorted({*np.arange(1, 12, 1 / 16).tolist(), *(time for time in near if 1 <= time <= 12)})
poses = {}
for time in times:
    scene.frame_set(int(time), subframe=time - int(time))
    for item in scene.objects:
        position, rotation, _ = item.matrix_world.decompose()
        poses.setdefault(item.name, []).append([*position, *rotation])
with open(folder + "/poses.json", "w") as stream:
    json.dump([documents, bounds, times, poses], stream)
"""
)


def export_animation(
    folder: Path, scene: str = MOVING, shapes: Sequence[str] = ("obb", "sphere", "capsule"), more: str = ""
) -> AnimatedExport:
    """Export an animated scene, sampled at sixteenths of frames and more densely around contacts.

    more : script to run after that, which can call `export_document`
    """
    variables = f"AROUND, SHAPES = {_INTERVAL_AROUND_CONTACT}, {tuple(shapes)}\n"
    in_blender(scene + variables + _POSES + more, folder)
    return read_animation(folder)


def read_animation(folder: Path) -> AnimatedExport:
    """Read the documents and poses that a script has written to `poses.json`."""
    documents, bounds, times, poses = json.loads((folder / "poses.json").read_text("utf-8"))
    arrays = {name: np.array(each) for name, each in poses.items()}
    positions, rotations = (
        {name: each[:, part] for name, each in arrays.items()} for part in (slice(3), slice(3, 7))
    )
    return AnimatedExport(folder, documents, bounds, np.array(times), positions, rotations)


TRACKED = range(1, 13)
"""Frames of the documents with tracks. "Passing" is hidden at frames 5 to 8."""


@dataclass(frozen=True)
class TrackedExport:
    """Documents with tracks of the animated scene, and its vertices.

    Attributes
    ----------
    folder : Path
        Folder of the documents, one for each space.
    vertices : dict of str to (f, n, 3) float64
        By object, the vertices at each frame of TRACKED in Blender's world space.
    """

    folder: Path
    vertices: dict[str, np.ndarray]

    def document(self, space: str) -> dict[str, Any]:
        """Read the document of a space."""
        return json.loads((self.folder / f"{space}.json").read_text("utf-8"))

    def entries(self) -> dict[str, tuple[int, np.ndarray]]:
        """Frame and vertices of each entry of each track, by object and index of the entry: "Rod|0"."""
        entries = {}
        for name, vertices in self.vertices.items():
            frames = [frame for frame in TRACKED if name != "Passing" or frame not in range(5, 9)]
            for index, frame in enumerate(frames):
                entries[f"{name}|{index}"] = frame, vertices[frame - TRACKED[0]]
        return entries


_TRACKS = (
    "keyed(passing, 'hide_viewport', (1, False), (5, True), (9, False))\n"
    + SETUP
    + """
for space in ("blender", "unity", "unreal"):
    options = ("--preset", space, "--tracks", "--frames", f"{TRACKED[0]}:{TRACKED[-1]}", "--decimals", "9")
    export_document(space + ".json", "bounds", *options)
vertices_by_name = {}
for frame in TRACKED:
    scene.frame_set(frame)
    for item in scene.objects:
        local = np.array([corner.co for corner in item.data.vertices], np.float64)
        matrix = np.array(item.matrix_world, np.float64)
        vertices_by_name.setdefault(item.name, []).append((local @ matrix[:3, :3].T + matrix[:3, 3]).tolist())
with open(folder + "/tracked.json", "w") as stream:
    json.dump(vertices_by_name, stream)
"""
)


def export_tracks(folder: Path) -> TrackedExport:
    """Export the animated scene with tracks, at each frame of TRACKED."""
    in_blender(MOVING + f"TRACKED = {TRACKED!r}\n" + _TRACKS, folder)
    recorded = json.loads((folder / "tracked.json").read_text("utf-8"))
    return TrackedExport(folder, {name: np.array(points) for name, points in recorded.items()})
