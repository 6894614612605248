"""Skinned characters in files of Blender's own exporters: joints, and the vertices of each joint."""

from __future__ import annotations

import importlib
import json
import struct
from pathlib import Path
from typing import Any, NamedTuple

import addon_utils
import bpy
import numpy as np

from tests.engines.gltf_reader import matrix

_NUMBERS = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Joint(NamedTuple):
    """Joint of a skin.

    Attributes
    ----------
    world : (4, 4) float64
        World matrix of its node.
    vertices : (n, 3) float64
        World positions of the skinned vertices that have their largest weight there.
    """

    world: np.ndarray
    vertices: np.ndarray


def export_glb(path: Path) -> None:
    """Write the scene with Blender's glTF exporter, in the pose of the current frame."""
    addon_utils.enable("io_scene_gltf2")
    bpy.ops.export_scene.gltf(
        filepath=str(path),
        export_format="GLB",
        export_animations=False,
        export_current_frame=True,
        export_rest_position_armature=False,
    )


def joints_of_glb(path: Path) -> dict[str, Joint]:
    """Joints of the only skin of a file, by name."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<I", content, 12)
    file, binary = json.loads(content[20 : 20 + length]), content[28 + length :]
    worlds = _world_matrices(file)
    (node,) = (index for index, each in enumerate(file["nodes"]) if "skin" in each)
    skin = file["skins"][file["nodes"][node]["skin"]]
    (primitive,) = file["meshes"][file["nodes"][node]["mesh"]]["primitives"]
    assert "JOINTS_1" not in primitive["attributes"]
    points, joints, weights = (
        _accessor(file, binary, primitive["attributes"][name])
        for name in ("POSITION", "JOINTS_0", "WEIGHTS_0")
    )
    # Matrices of glTF are stored by columns.
    inverse = _accessor(file, binary, skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
    skinning = np.array([worlds[joint] for joint in skin["joints"]]) @ inverse
    blended = np.einsum("nk,nkij->nij", weights.astype(np.float64), skinning[joints])
    posed = np.einsum("nij,nj->ni", blended, np.c_[points, np.ones(len(points))])[:, :3]
    owner = joints[np.arange(len(joints)), weights.argmax(axis=1)]
    return {
        file["nodes"][joint]["name"]: Joint(worlds[joint], posed[owner == number])
        for number, joint in enumerate(skin["joints"])
    }


def _world_matrices(file: dict[str, Any]) -> dict[int, np.ndarray]:
    worlds = {}
    waiting = [(index, np.eye(4)) for index in file["scenes"][0]["nodes"]]
    while waiting:
        index, above = waiting.pop()
        worlds[index] = above @ matrix(file["nodes"][index], True)
        waiting += [(child, worlds[index]) for child in file["nodes"][index].get("children", ())]
    return worlds


def _accessor(file: dict[str, Any], binary: bytes, index: int) -> np.ndarray:
    accessor = file["accessors"][index]
    view = file["bufferViews"][accessor["bufferView"]]
    assert "byteStride" not in view and "sparse" not in accessor
    columns = _COMPONENTS[accessor["type"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    kind = _NUMBERS[accessor["componentType"]]
    return np.frombuffer(binary, kind, accessor["count"] * columns, start).reshape(-1, columns)


def bind_rotations_of_fbx(path: Path) -> dict[str, np.ndarray]:
    """Export the scene as FBX with the default settings, and return the world rotation of each bone at rest.

    Read by the parser of Blender's importer.
    """
    addon_utils.enable("io_scene_fbx")
    bpy.ops.export_scene.fbx(filepath=str(path))
    root, _ = importlib.import_module("io_scene_fbx.parse_fbx").parse(str(path))
    objects = _child(root, b"Objects")
    names = {
        model.props[0]: model.props[1].split(b"\0")[0].decode()
        for model in objects.elems
        if model.id == b"Model" and model.props[2] == b"LimbNode"
    }
    rotations = {}
    for pose in (each for each in objects.elems if each.id == b"Pose"):
        for node in (each for each in pose.elems if each.id == b"PoseNode"):
            (key,) = _child(node, b"Node").props
            if key in names:
                linear = np.array(_child(node, b"Matrix").props[0]).reshape(4, 4).T[:3, :3]
                rotations[names[key]] = linear / np.linalg.norm(linear, axis=0)
    return rotations


def _child(element: Any, name: bytes) -> Any:
    return next(each for each in element.elems if each.id == name)
