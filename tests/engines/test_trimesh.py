"""Volumes of documents, compared with the vertices of Blender's glTF export as trimesh reads it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.engines.in_engines import volume_of

trimesh = pytest.importorskip("trimesh")

# glTF nodes have no shear, so these objects have other vertices in the file than in Blender.
SHEARED = {"Sheared", "Grandchild", "Instance0/InCollection.0", "Instance1/InCollection.0"}
# Not in the file: unapplied modifiers, shape key weights, bones, and objects without faces.
NOT_THERE = {"Arrayed", "Keyed", "Skinned", "Dot"}


@pytest.fixture(scope="module")
def meshes(hurting):
    """Vertices (n, 3) in the world, of each node with a mesh, in glTF's space."""
    scene = trimesh.load(hurting.folder / "scene.glb", force="scene", process=False)
    found = {}
    for node in scene.graph.nodes_geometry:
        matrix, geometry = scene.graph[node]
        found[node] = trimesh.transform_points(scene.geometry[geometry].vertices, matrix)
    return found


def entries(hurting, meshes):
    every = hurting.document("gltf.json")["objects"]
    names = Counter(entry["name"] for entry in every)
    unique = [each for each in every if names[each["name"]] == 1 and each["name"] not in SHEARED | NOT_THERE]
    assert len(unique) >= 12
    for entry in unique:
        yield entry, meshes[entry["name"]]


def test_boxes_match_exported_vertices(hurting, meshes):
    for entry, points in entries(hurting, meshes):
        box = entry["world"]["aabb"]
        near = 2e-6 * np.abs(points).max() + 1e-7
        expected = trimesh.PointCloud(points).bounds
        np.testing.assert_allclose(
            [box["min"], box["max"]], expected, rtol=0, atol=near, err_msg=entry["name"]
        )


@pytest.mark.parametrize("shape", ["sphere", "obb"])
def test_volumes_enclose_exported_vertices_tightly(hurting, meshes, shape):
    for entry, points in entries(hurting, meshes):
        volume = volume_of(entry["world"], shape)
        x, y, z, w = volume.turn
        place = trimesh.transformations.quaternion_matrix([w, x, y, z])
        place[:3, 3] = volume.place
        local = trimesh.transform_points(points, np.linalg.inv(place))
        near = 2e-6 * np.abs(points).max() + 1e-7
        if shape == "sphere":
            outside = np.linalg.norm(local, axis=1) - volume.sizes[0]
        else:
            outside = (np.abs(local) - volume.sizes).max(axis=1)
        assert outside.max() == pytest.approx(0, abs=near), entry["name"]
