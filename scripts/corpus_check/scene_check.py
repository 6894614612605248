"""Read the vertices of a scene in Blender, and check that the shapes of a document enclose them.

    python scene_check.py SCENE [DOCUMENT]

Without a document, only opens and evaluates the scene. Prints one line of JSON last. Exit code 2 means that
Blender cannot read the scene. Shares no code with the extension: its loader, its walk over the instances and
its geometry are written again here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np

from corpus_check.shape_excess import EXCESS, Floats, rotation_matrix

_ROUNDINGS = 16 * 2.0**-52
"""Relative difference of two correct evaluations of R v + t, and of a distance, in double precision."""
_QUATERNION = 4e-9
"""Error of a rotation whose quaternion is written with nine decimals, in radians."""
_NUMBERED = re.compile(r"(.+)\.\d+")
_SURFACES = {"CURVE", "SURFACE", "FONT", "META"}


class SceneObject(NamedTuple):
    """A visible object or instance.

    name : of the object, or `Instancer/Object`
    points : (n, 3) its vertices in the world
    slack : rounding error of the points
    """

    name: str
    points: Floats
    slack: float


def open_file(path: Path) -> None:
    """Open a scene file of any format. Raises RuntimeError if Blender cannot read it."""
    suffix = path.suffix.lower()
    if suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)
        return
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if suffix in {".glb", ".gltf"}:
        bpy.ops.preferences.addon_enable(module="io_scene_gltf2")
        bpy.ops.import_scene.gltf(filepath=str(path))
    elif suffix == ".fbx" and bpy.app.version >= (4, 5, 0):
        bpy.ops.wm.fbx_import(filepath=str(path))  # type: ignore[attr-defined, unused-ignore]
    elif suffix == ".fbx":
        bpy.ops.preferences.addon_enable(module="io_scene_fbx")
        bpy.ops.import_scene.fbx(filepath=str(path))
    elif suffix == ".obj":
        bpy.ops.wm.obj_import(filepath=str(path))
    else:
        bpy.ops.wm.usd_import(filepath=str(path))
    if not bpy.data.objects:
        raise RuntimeError("nothing was imported")


def scene_objects() -> list[SceneObject]:
    """Read all visible objects and instances that have vertices, as Blender evaluates them."""
    found = []
    for row in bpy.context.evaluated_depsgraph_get().object_instances:
        item = row.object
        # Blender lists a curve twice: as itself, and as an instance of its own mesh.
        is_mesh_of_curve = item.type == "MESH" and item.original.type in _SURFACES
        if not row.show_self or is_mesh_of_curve or item.type not in {"MESH", *_SURFACES}:
            continue
        local = _vertices(item)
        if len(local):
            matrix = np.array(row.matrix_world, dtype=np.float64)
            reach = np.abs(local) @ np.abs(matrix[:3, :3]).T + np.abs(matrix[:3, 3])
            name = item.original.name_full
            if row.is_instance:
                name = f"{row.parent.original.name_full}/{name}"
            points = local @ matrix[:3, :3].T + matrix[:3, 3]
            found.append(SceneObject(name, points, _ROUNDINGS * float(reach.max())))
    return found


def _vertices(item: bpy.types.Object) -> Floats:
    """Vertices (n, 3) of an evaluated object, in its own space."""
    mesh = item.to_mesh()
    if mesh is None:
        return np.empty((0, 3))
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", flat)
    item.to_mesh_clear()
    return flat.reshape(-1, 3).astype(np.float64)


def check(document: Any, objects: list[SceneObject]) -> dict[str, Any]:
    """Compare a document in Blender's space with the objects of its scene.

    The scene must not have settings of the extension: parts, merged collections and custom shapes.
    """
    skipped = {_group(item["name"]) for item in document["skipped"]} | {
        i["name"] for i in document["skipped"]
    }
    written = defaultdict(list)
    for item in document["objects"]:
        written[_group(item["name"]) if "/" in item["name"] else item["name"]].append(item)
    outside, missing, worst, vertices = [], [], -np.inf, 0
    for each in objects:
        candidates = written[each.name]
        if not candidates:
            if each.name not in skipped:
                missing.append(each.name)
            continue
        item = candidates[0]
        if len(candidates) > 1:  # instances
            item = min(candidates, key=partial(_distance, points=each.points))
        candidates.remove(item)
        vertices += len(each.points)
        for name, excess in _excesses(item, each):
            worst = max(worst, excess)
            if excess > 0:
                outside.append(f"{item['name']}: {name} by {excess:.3g}")
    return {
        "objects": len(objects),
        "vertices": vertices,
        "worst": float(worst),
        "outside": outside,
        "missing": missing,
        "warnings": document.get("warnings", []),
    }


def _group(name: str) -> str:
    """Name without the number of an instance."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else name


def _distance(item: Any, points: Floats) -> float:
    """Distance of the box of an entry from the box of points: 0 for the same box."""
    box = item["world"]["aabb"]
    low, high = np.array(box["min"]) - points.min(axis=0), np.array(box["max"]) - points.max(axis=0)
    return float(np.abs(low).max() + np.abs(high).max())


def _excesses(item: Any, each: SceneObject) -> list[tuple[str, float]]:
    """Compute by how much vertices are outside of each shape of an entry, beyond rounding."""
    transform = item["transform"]
    local = (each.points - transform["translation"]) @ rotation_matrix(transform["rotation"])
    turned = each.slack + _QUATERNION * float(np.abs(local).max())
    spaces = {"world": (each.points, each.slack), "local": (local, turned)}
    found = []
    for space, (points, slack) in spaces.items():
        for name, shape in item.get(space, {}).items():
            excess = EXCESS[name](shape, points) - (turned if name == "obb" else slack)
            found.append((f"{space} {name}", excess))
    return found


def main(arguments: list[str]) -> int:
    """Check the files named by the arguments, print the result, and return the exit code."""
    try:
        open_file(Path(arguments[0]).resolve())
    except Exception as error:  # importers raise anything
        print(str(error).strip().splitlines()[-1:], file=sys.stderr)
        return 2
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    result: dict[str, Any] = {}
    if len(arguments) > 1:
        document = json.loads(Path(arguments[1]).read_text(encoding="utf-8"))
        result = check(document, scene_objects())
    print("\n" + json.dumps(result), flush=True)
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    # Blender as a module may crash while it is being unloaded. Otherwise it would remove its folder.
    shutil.rmtree(bpy.app.tempdir, ignore_errors=True)
    os._exit(code)
