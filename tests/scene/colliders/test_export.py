"""Colliders in files that Blender's exporters write: exact names, below their mesh, around its vertices."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.scene.colliders.make import make_colliders
from addon.scene.settings import COLLIDER_NAME_PATTERNS, ColliderSettings
from tests.engines.gltf_reader import matrix

KINDS = {"box": "UBX", "sphere": "USP", "capsule": "UCP", "hull": "UCX"}
# One kind is enough to show differences between the exporters of Blender's versions.
SMOKE_KINDS = [pytest.param("box", marks=pytest.mark.smoke), *(kind for kind in KINDS if kind != "box")]
CLOUD = np.random.default_rng(1).normal(size=(30, 3))


@pytest.fixture
def level(add_mesh):
    """Add objects with all kinds of transforms, with faces, because exporters need them."""
    crate = add_mesh("SM_Crate.001", CLOUD, location=(3, 2, 1), scale=(2, 1, 0.5), rotation_euler=(0.3, 1, 2))
    lid = add_mesh("SM_Lid", CLOUD, location=(0, 0, 2), parent=crate)
    mirrored = add_mesh("SM_Mirrored", CLOUD, scale=(-1, 2, 1))
    for item in (crate, lid, mirrored):
        item.data.clear_geometry()
        item.data.from_pydata(CLOUD.tolist(), [], [(k, k + 1, k + 2) for k in range(28)])
    bpy.context.view_layer.update()
    return "SM_Crate.001", "SM_Lid", "SM_Mirrored"


def make(**settings: object) -> None:
    done = make_colliders(bpy.context.scene, ColliderSettings(**settings))
    assert not done.skipped and done.colliders == 3


def heights(vertices: np.ndarray, faces: list, points: np.ndarray) -> float:
    """How far the farthest of some points is above a face, in parts of the size of all."""
    middle, most = vertices.mean(axis=0), -np.inf
    for face in faces:
        a, b, c = vertices[list(face[:3])]
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal)
        normal *= np.sign(normal @ (a - middle))  # whichever winding a mirror gives it
        most = max(most, float((points @ normal).max() - normal @ a))
    return most / float(np.ptp(vertices, axis=0).max())


@pytest.mark.parametrize("preset", ["godot", "godot_concave"])
@pytest.mark.parametrize("kind", SMOKE_KINDS)
def test_gltf_has_colliders_below_their_mesh_with_their_names(level, tmp_path, kind, preset):
    make(kind=kind, pattern=COLLIDER_NAME_PATTERNS[preset])
    path = tmp_path / "level.gltf"
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLTF_SEPARATE")
    file = json.loads(path.read_text("utf-8"))
    nodes = file["nodes"]
    worlds: dict[int, np.ndarray] = {}

    def place(index: int, above: np.ndarray) -> None:
        worlds[index] = above @ matrix(nodes[index], True)
        for child in nodes[index].get("children", ()):
            place(child, worlds[index])

    for root in file["scenes"][0]["nodes"]:
        place(root, np.eye(4))
    suffix = "-convcolonly" if preset == "godot" else "-colonly"
    for name in level:
        mesh = next(index for index, node in enumerate(nodes) if node["name"] == name)
        below = {nodes[child]["name"]: child for child in nodes[mesh]["children"]}
        collider = below[f"{name}_00{suffix}"]
        own, faces = primitive(file, path, nodes[collider]["mesh"])
        points, _ = primitive(file, path, nodes[mesh]["mesh"])
        own, points = (
            p @ worlds[i][:3, :3].T + worlds[i][:3, 3] for i, p in ((collider, own), (mesh, points))
        )
        # Places went through single precision, and through a decomposition of Blender's.
        assert heights(own, faces, points) < 1e-6


def primitive(file: dict, path: Path, mesh: int) -> tuple[np.ndarray, list]:
    """Positions and triangles of a mesh that has one primitive."""
    (told,) = file["meshes"][mesh]["primitives"]
    data = (path.parent / file["buffers"][0]["uri"]).read_bytes()

    def numbers(index: int, width: int) -> np.ndarray:
        accessor = file["accessors"][index]
        view = file["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        kind = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[accessor["componentType"]]
        return np.frombuffer(data, kind, accessor["count"] * width, start).reshape(-1, width)

    return numbers(told["attributes"]["POSITION"], 3).astype(float), numbers(told["indices"], 1).reshape(
        -1, 3
    ).tolist()


@pytest.mark.parametrize("kind", SMOKE_KINDS)
def test_fbx_has_colliders_below_their_mesh_with_their_names(level, tmp_path, kind):
    make(kind=kind)
    path = str(tmp_path / "level.fbx")
    bpy.ops.export_scene.fbx(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # From 4.5 on there is a reader that shares nothing with the writer.
    reads = bpy.ops.wm.fbx_import if bpy.app.version >= (4, 5) else bpy.ops.import_scene.fbx
    reads(filepath=path)
    bpy.context.view_layer.update()
    assert {item.name for item in bpy.data.objects} == {
        *level,
        *(f"{KINDS[kind]}_{name}_00" for name in level),
    }
    for name in level:
        mesh, collider = bpy.data.objects[name], bpy.data.objects[f"{KINDS[kind]}_{name}_00"]
        assert collider.parent == mesh
        own, points = (
            np.array([item.matrix_world @ v.co for v in item.data.vertices]) for item in (collider, mesh)
        )
        assert heights(own, [side.vertices for side in collider.data.polygons], points) < 1e-5
