"""Scenes evaluated in Blender, and their exported files, for tests in environments without bpy."""

from __future__ import annotations

import functools
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import environments
from tests.engines.scene_that_hurts import SCENE

# Meets at a fraction of a frame: a bullet between two frames, a cube that eases and turns, a rod that turns.
MOVING = """
def keyed(item, path, *keys, ease="BEZIER"):
    bpy.context.preferences.edit.keyframe_new_interpolation_type = ease
    for frame, value in keys:
        setattr(item, path, value)
        item.keyframe_insert(path, frame=frame)

for item in list(bpy.data.objects):
    bpy.data.objects.remove(item)
scene.frame_start, scene.frame_end = 1, 12
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

_ASK = """
sys.path.insert(0, TOP)
import io, json
import numpy as np
from addon.cli.main import main
bpy.ops.wm.save_as_mainfile(filepath=folder + "/scene.blend")

def written(name, *options):
    printed = io.StringIO()
    code = main([*options, "-q", "-o", folder + "/" + name], opens_file=False, out=printed)
    assert code == 0, (options, printed.getvalue())
"""

# A curve comes as a mesh that is an instance of itself. Products are in double precision.
_PLACED = (
    _ASK
    + """
found = {}
for item in bpy.context.evaluated_depsgraph_get().object_instances:
    if item.object.type != "MESH":
        continue
    of = item.parent.name if item.is_instance and item.parent.name != item.object.name else ""
    made = item.object.to_mesh()
    local = np.empty(len(made.vertices) * 3, np.float32)
    made.vertices.foreach_get("co", local)
    item.object.to_mesh_clear()
    matrix = np.array(item.matrix_world, np.float64)
    placed = local.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    found.setdefault(f"{of}/{item.object.name}" if of else item.object.name, []).append(placed.tolist())
with open(folder + "/vertices.json", "w") as stream:
    json.dump(found, stream)
"""
)

_TOP = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Exported:
    """Files of a scene, and vertices (n, 3) in Blender's world, in double precision, of all of a name."""

    folder: Path
    vertices: dict[str, list[np.ndarray]]

    def document(self, name: str) -> dict[str, Any]:
        return json.loads((self.folder / name).read_text("utf-8"))

    def vertices_of(self, entry: dict[str, Any]) -> np.ndarray:
        """By the name of an object of `blender.json`, or for an instance by those of parent and child.

        Of several of one name, as linked ones may be, those that are where the object is.
        """
        name = entry["name"]
        named = self.vertices[name if name in self.vertices else name.rpartition(".")[0]]
        low = self.lows[entry["id"]]
        return min(named, key=lambda points: float(np.abs(points.min(axis=0) - low).max()))

    @functools.cached_property
    def lows(self) -> dict[str, list[float]]:
        """The corner of each object's box, which tells those of one name apart."""
        return {
            entry["id"]: entry["world"]["aabb"]["min"] for entry in self.document("blender.json")["objects"]
        }


def in_blender(script: str, folder: Path) -> None:
    """Run a script after SCENE with its `folder`. Skips the test where no Blender can be had."""
    try:
        python = environments.newest_blender().ready()
    except environments.UnavailableError as missing:
        pytest.skip(str(missing))
    begin = "import bpy\nbpy.ops.wm.read_homefile(app_template='', use_empty=True)\n"
    recorded = f"folder, TOP = {str(folder)!r}, {str(_TOP)!r}\n"
    path = folder / "script.py"
    path.write_text(begin + SCENE + recorded + script + "\nleave()\n", "utf-8")
    done = subprocess.run([python, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def exported(script: str, folder: Path) -> Exported:
    """Export the difficult scene, with its vertices, after a script that can call `written`."""
    in_blender(_PLACED + script, folder)
    recorded = json.loads((folder / "vertices.json").read_text("utf-8"))
    return Exported(folder, {name: [np.array(points) for points in each] for name, each in recorded.items()})


@dataclass(frozen=True)
class Moved:
    """A document for each shape; times (t,), positions (t, 3) and rotations (t, 4), w first, of objects."""

    documents: dict[str, dict[str, Any]]
    times: np.ndarray
    positions: dict[str, np.ndarray]
    turns: dict[str, np.ndarray]


_TIMES_AROUND_A_CONTACT = 0.002

_PLAYED = (
    _ASK
    + """
documents = {}
for shape in ("obb", "sphere"):
    written(shape + ".json", "contacts", "--shape", shape, "--decimals", "9")
    with open(folder + f"/{shape}.json") as stream:
        documents[shape] = json.load(stream)
firsts = [each["first"]["frame"] for told in documents.values() for each in told["contacts"]]
near = [first + step * AROUND / 8 for first in firsts for step in range(-8, 9)]
times = sorted({*np.arange(1, 12, 1 / 16).tolist(), *(time for time in near if 1 <= time <= 12)})
poses = {}
for time in times:
    scene.frame_set(int(time), subframe=time - int(time))
    for item in scene.objects:
        place, turn, _ = item.matrix_world.decompose()
        poses.setdefault(item.name, []).append([*place, *turn])
with open(folder + "/poses.json", "w") as stream:
    json.dump([documents, times, poses], stream)
"""
)


def moved(folder: Path) -> Moved:
    """Export the animated scene, sampled at sixteenths of frames and more densely around contacts."""
    in_blender(MOVING + f"AROUND = {_TIMES_AROUND_A_CONTACT}\n" + _PLAYED, folder)
    documents, times, poses = json.loads((folder / "poses.json").read_text("utf-8"))
    arrays = {name: np.array(each) for name, each in poses.items()}
    positions, turns = (
        {name: each[:, part] for name, each in arrays.items()} for part in (slice(3), slice(3, 7))
    )
    return Moved(documents, np.array(times), positions, turns)


TRACKED = range(1, 13)
"""Frames of the documents with tracks. At 5 to 8 "Passing" is hidden."""


@dataclass(frozen=True)
class Tracked:
    """A document with tracks for each space, in `folder`; by name, vertices (f, n, 3) in Blender's world."""

    folder: Path
    vertices: dict[str, np.ndarray]

    def document(self, space: str) -> dict[str, Any]:
        return json.loads((self.folder / f"{space}.json").read_text("utf-8"))

    def shown(self) -> dict[str, tuple[int, np.ndarray]]:
        """Frame and vertices of each entry of each track, by the object and its place: "Rod|0"."""
        found = {}
        for name, vertices in self.vertices.items():
            frames = [frame for frame in TRACKED if name != "Passing" or frame not in range(5, 9)]
            for place, frame in enumerate(frames):
                found[f"{name}|{place}"] = frame, vertices[frame - TRACKED[0]]
        return found


_FRAME_BY_FRAME = (
    "keyed(passing, 'hide_viewport', (1, False), (5, True), (9, False))\n"
    + _ASK
    + """
for space in ("blender", "unity", "unreal"):
    options = ("--preset", space, "--tracks", "--frames", f"{TRACKED[0]}:{TRACKED[-1]}", "--decimals", "9")
    written(space + ".json", "bounds", *options)
found = {}
for frame in TRACKED:
    scene.frame_set(frame)
    for item in scene.objects:
        local = np.array([corner.co for corner in item.data.vertices], np.float64)
        matrix = np.array(item.matrix_world, np.float64)
        found.setdefault(item.name, []).append((local @ matrix[:3, :3].T + matrix[:3, 3]).tolist())
with open(folder + "/tracked.json", "w") as stream:
    json.dump(found, stream)
"""
)


def tracked(folder: Path) -> Tracked:
    """Export the animated scene with tracks, at each frame of TRACKED."""
    in_blender(MOVING + f"TRACKED = {TRACKED!r}\n" + _FRAME_BY_FRAME, folder)
    recorded = json.loads((folder / "tracked.json").read_text("utf-8"))
    return Tracked(folder, {name: np.array(points) for name, points in recorded.items()})
