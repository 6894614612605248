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
    """Joint of the skin of a mesh.

    Attributes
    ----------
    world : (4, 4) float64
        World matrix of its node.
    vertices : (n, 3) float64
        World positions of the skinned vertices of the mesh that have their largest weight there, and no other
        weight that is about as large.
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
        export_all_influences=True,
    )


def joints_of_glb(path: Path) -> dict[str, Joint]:
    """Joints of the skins of all meshes, by the names of entries in documents: "Mesh/bone.Joint"."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<I", content, 12)
    file, binary = json.loads(content[20 : 20 + length]), content[28 + length :]
    worlds = _world_matrices(file)
    vertices: dict[str, list[np.ndarray]] = {}
    matrices = {}
    for node in (each for each in file["nodes"] if "skin" in each):
        skin = file["skins"][node["skin"]]
        # Matrices of glTF are stored by columns.
        inverse = _accessor(file, binary, skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
        skinning = np.array([worlds[joint] for joint in skin["joints"]]) @ inverse
        for primitive in file["meshes"][node["mesh"]]["primitives"]:
            posed, owner = _skinned(file, binary, primitive["attributes"], skinning)
            for number, joint in enumerate(skin["joints"]):
                name = f"{node['name']}/bone.{file['nodes'][joint]['name']}"
                matrices[name] = worlds[joint]
                vertices.setdefault(name, []).append(posed[owner == number])
    joined = {name: np.concatenate(each) for name, each in vertices.items()}
    return {name: Joint(matrices[name], points) for name, points in joined.items() if len(points)}


def _skinned(
    file: dict[str, Any], binary: bytes, attributes: dict[str, int], skinning: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """World positions (n, 3) of vertices, and number of the joint of each; -1 if two weights are equal."""
    sets = range(sum(name.startswith("JOINTS_") for name in attributes))
    joints, weights = (
        np.concatenate([_accessor(file, binary, attributes[f"{name}_{k}"]) for k in sets], axis=1)
        for name in ("JOINTS", "WEIGHTS")
    )
    points = _accessor(file, binary, attributes["POSITION"])
    blended = np.einsum("nk,nkij->nij", weights.astype(np.float64), skinning[joints])
    posed = np.einsum("nij,nj->ni", blended, np.c_[points, np.ones(len(points))])[:, :3]
    owner = joints[np.arange(len(joints)), weights.argmax(axis=1)].astype(np.int64)
    second, largest = np.sort(weights, axis=1)[:, -2:].T
    return posed, np.where(largest - second > 1e-3, owner, -1)


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
