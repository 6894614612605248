"""Colliders in files of Blender's exporters: exact names, children of their mesh, around its vertices."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.scene.settings import COLLIDER_NAME_PATTERNS, ColliderSettings
from tests.engines.gltf_reader import matrix
from tests.scene.colliders.creating import make_colliders

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


def create_three_colliders(**settings: object) -> None:
    result = make_colliders(bpy.context.scene, ColliderSettings(**settings))
    assert not result.skipped and result.colliders == 3


def relative_height_above_faces(vertices: np.ndarray, faces: list, points: np.ndarray) -> float:
    """Return the greatest height of a point above a face, divided by the largest extent of the vertices."""
    middle, greatest = vertices.mean(axis=0), -np.inf
    for face in faces:
        a, b, c = vertices[list(face[:3])]
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal)
        normal *= np.sign(normal @ (a - middle))  # outward, because a mirror inverts the winding
        greatest = max(greatest, float((points @ normal).max() - normal @ a))
    return greatest / float(np.ptp(vertices, axis=0).max())


@pytest.mark.parametrize("preset", ["godot", "godot_concave"])
@pytest.mark.parametrize("kind", SMOKE_KINDS)
def test_gltf_has_colliders_as_children_of_their_mesh_with_exact_names(level, tmp_path, kind, preset):
    create_three_colliders(kind=kind, pattern=COLLIDER_NAME_PATTERNS[preset])
    path = tmp_path / "level.gltf"
    bpy.ops.export_scene.gltf(filepath=str(path), export_format="GLTF_SEPARATE")
    file = json.loads(path.read_text("utf-8"))
    nodes = file["nodes"]
    worlds: dict[int, np.ndarray] = {}

    def compute_world(index: int, parent_world: np.ndarray) -> None:
        worlds[index] = parent_world @ matrix(nodes[index], True)
        for child in nodes[index].get("children", ()):
            compute_world(child, worlds[index])

    for root in file["scenes"][0]["nodes"]:
        compute_world(root, np.eye(4))
    suffix = "-convcolonly" if preset == "godot" else "-colonly"
    for name in level:
        mesh = next(index for index, node in enumerate(nodes) if node["name"] == name)
        children = {nodes[child]["name"]: child for child in nodes[mesh]["children"]}
        collider = children[f"{name}_00{suffix}"]
        collider_vertices, faces = read_primitive(file, path, nodes[collider]["mesh"])
        points, _ = read_primitive(file, path, nodes[mesh]["mesh"])
        collider_vertices, points = (
            p @ worlds[i][:3, :3].T + worlds[i][:3, 3]
            for i, p in ((collider, collider_vertices), (mesh, points))
        )
        # The exporter stores poses in single precision, decomposed into translation, rotation and scale.
        assert relative_height_above_faces(collider_vertices, faces, points) < 1e-6


def read_primitive(file: dict, path: Path, mesh: int) -> tuple[np.ndarray, list]:
    """Return the positions and triangles of a mesh that has one primitive."""
    (entry,) = file["meshes"][mesh]["primitives"]
    data = (path.parent / file["buffers"][0]["uri"]).read_bytes()

    def read_accessor(index: int, width: int) -> np.ndarray:
        accessor = file["accessors"][index]
        view = file["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        kind = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[accessor["componentType"]]
        return np.frombuffer(data, kind, accessor["count"] * width, start).reshape(-1, width)

    return read_accessor(entry["attributes"]["POSITION"], 3).astype(float), read_accessor(
        entry["indices"], 1
    ).reshape(-1, 3).tolist()


@pytest.mark.parametrize("kind", SMOKE_KINDS)
def test_fbx_has_colliders_as_children_of_their_mesh_with_exact_names(level, tmp_path, kind):
    create_three_colliders(kind=kind)
    path = str(tmp_path / "level.fbx")
    bpy.ops.export_scene.fbx(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Since Blender 4.5 there is an importer that shares no code with the exporter.
    import_fbx = bpy.ops.wm.fbx_import if bpy.app.version >= (4, 5) else bpy.ops.import_scene.fbx
    import_fbx(filepath=path)
    bpy.context.view_layer.update()
    assert {item.name for item in bpy.data.objects} == {
        *level,
        *(f"{KINDS[kind]}_{name}_00" for name in level),
    }
    for name in level:
        mesh, collider = bpy.data.objects[name], bpy.data.objects[f"{KINDS[kind]}_{name}_00"]
        assert collider.parent == mesh
        collider_vertices, points = (
            np.array([item.matrix_world @ v.co for v in item.data.vertices]) for item in (collider, mesh)
        )
        assert (
            relative_height_above_faces(
                collider_vertices, [side.vertices for side in collider.data.polygons], points
            )
            < 1e-5
        )
