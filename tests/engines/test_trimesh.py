"""Volumes of documents, compared with the vertices of Blender's glTF export as trimesh reads it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.engines.checks import volume_of

trimesh = pytest.importorskip("trimesh")

# glTF nodes cannot have shear, so the vertices of these objects differ between the file and Blender.
SHEARED = {"Sheared", "Grandchild", "Instance0/InCollection.0", "Instance1/InCollection.0"}
# These depend on unapplied modifiers, shape key weights or bones, or have no faces, so the file differs.
NOT_COMPARABLE = {"Arrayed", "Keyed", "Skinned", "Dot"}


@pytest.fixture(scope="module")
def meshes(difficult):
    """World-space vertices (n, 3) of each node with a mesh, in glTF's space."""
    scene = trimesh.load(difficult.folder / "scene.glb", force="scene", process=False)
    vertices_by_node = {}
    for node in scene.graph.nodes_geometry:
        matrix, geometry = scene.graph[node]
        vertices_by_node[node] = trimesh.transform_points(scene.geometry[geometry].vertices, matrix)
    return vertices_by_node


def entries(difficult, meshes):
    """Objects of the document that the file has unchanged, with their vertices."""
    every = difficult.document("gltf.json")["objects"]
    names = Counter(entry["name"] for entry in every)
    unique = [
        each for each in every if names[each["name"]] == 1 and each["name"] not in SHEARED | NOT_COMPARABLE
    ]
    assert len(unique) >= 12
    for entry in unique:
        yield entry, meshes[entry["name"]]


def test_boxes_match_exported_vertices(difficult, meshes):
    for entry, points in entries(difficult, meshes):
        box = entry["world"]["aabb"]
        near = 2e-6 * np.abs(points).max() + 1e-7
        expected = trimesh.PointCloud(points).bounds
        np.testing.assert_allclose(
            [box["min"], box["max"]], expected, rtol=0, atol=near, err_msg=entry["name"]
        )


@pytest.mark.parametrize("shape", ["sphere", "obb", "capsule", "cylinder"])
def test_volumes_enclose_exported_vertices_tightly(difficult, meshes, shape):
    for entry, points in entries(difficult, meshes):
        volume = volume_of(entry["world"], shape)
        x, y, z, w = volume.rotation
        matrix = trimesh.transformations.quaternion_matrix([w, x, y, z])
        matrix[:3, 3] = volume.position
        local = trimesh.transform_points(points, np.linalg.inv(matrix))
        near = 2e-6 * np.abs(points).max() + 1e-7
        across, along = np.linalg.norm(local[:, :2], axis=1), np.abs(local[:, 2])
        if shape == "sphere":
            outside = np.linalg.norm(local, axis=1) - volume.sizes[0]
        elif shape == "capsule":
            radius, half = volume.sizes
            outside = np.hypot(across, np.maximum(along - half, 0)) - radius
        elif shape == "cylinder":
            radius, half = volume.sizes
            outside = np.maximum(across - radius, along - half)
        else:
            outside = (np.abs(local) - volume.sizes).max(axis=1)
        assert outside.max() == pytest.approx(0, abs=near), entry["name"]
