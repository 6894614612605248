"""Hulls and sphere trees of real meshes in documents: they enclose every vertex."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings
from tests.core.closed import assert_closed, assert_encloses, volume
from tests.scene.building import CUBE
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

BOTH = BoundsSettings(shapes=("hull", "spheres"))


def written(settings=BOTH, preset="blender", decimals=6):
    result = compute_bounds(bpy.context.scene, settings)
    document = parse_document(dumps(result.document(preset, decimals)))
    return {entry["name"]: entry for entry in document["objects"]}, document


def hull_of(shapes):
    return np.array(shapes["hull"]["vertices"]), shapes["hull"]["faces"]


def vertices_of(item):
    """In the world, by Blender's own product."""
    return np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])


def monkey(name, matrix):
    bpy.ops.mesh.primitive_monkey_add()
    item = bpy.context.object
    item.name, item.matrix_world = name, matrix
    bpy.context.view_layer.update()
    return item


TURNED = Matrix.Rotation(0.7, 4, (1, 2, 3))
PLACES = {
    "Turned": Matrix.Translation((3, -2, 1)) @ TURNED,
    "Stretched": Matrix.Translation((30, 20, 10)) @ TURNED @ Matrix.Diagonal((1, 2, 0.3, 1)),
    "Mirrored": TURNED @ Matrix.Diagonal((-1, 1, 2, 1)),
    "Sheared": Matrix(((1, 0.5, 0, 1), (0, 1, 0.2, 2), (0, 0, 1, 3), (0, 0, 0, 1))),
}


@pytest.mark.parametrize(
    "decimals", [6, *(pytest.param(number, marks=pytest.mark.long) for number in (3, 9))]
)
def test_hulls_and_leaves_enclose_every_vertex_at_any_pose(decimals):
    items = {name: monkey(name, PLACES[name]) for name in (*PLACES,)[-times(4, 1) :]}
    entries, _ = written(decimals=decimals)
    for name, item in items.items():
        points = vertices_of(item)
        # Blender's product is in single precision.
        slack = 4e-7 * np.abs(points).max()
        placed = entries[name]["transform"]
        x, y, z, w = placed["rotation"]
        turn = np.array(Matrix(_turn(x, y, z, w)))
        local = (points - placed["translation"]) @ turn
        for shapes, own in ((entries[name]["world"], points), (entries[name]["local"], local)):
            vertices, faces = hull_of(shapes)
            assert_closed(vertices, faces)
            assert volume(vertices, faces) > 0
            # A hair inside, so that only what is really out counts.
            assert_encloses(vertices, faces, own + (own.mean(axis=0) - own) * 2 * slack)
            nodes = shapes["spheres"]
            centers = np.array([node["center"] for node in nodes])
            radii = np.array([node["radius"] for node in nodes])
            leaves = [index for index, node in enumerate(nodes) if not node["children"]]
            away = np.linalg.norm(own[:, None] - centers, axis=2)
            assert (away[:, 0] <= radii[0] + slack).all()
            assert (away[:, leaves] <= radii[leaves] + slack).any(axis=1).all()
            assert len(leaves) > 4


def _turn(x, y, z, w):
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


@pytest.mark.parametrize(("padding", "side"), [(0.0, 2.0), (0.25, 2.5)])
def test_hull_of_cube_is_cube_with_padding(add_mesh, padding, side):
    add_mesh("Cube", CUBE)
    settings = BoundsSettings(shapes=("hull",), fit=FitSettings(padding=padding))
    entries, _ = written(settings)
    vertices, faces = hull_of(entries["Cube"]["world"])
    assert (len(vertices), len(faces)) == (8, 12)
    assert volume(vertices, faces) == pytest.approx(side**3, rel=1e-4)
    assert volume(vertices, faces) > side**3


def test_flat_mesh_gets_hull_of_minimum_thickness(add_mesh):
    add_mesh("Sheet", np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]))
    entries, _ = written(BoundsSettings(shapes=("hull",)))
    vertices, faces = hull_of(entries["Sheet"]["world"])
    assert 0 < np.ptp(vertices[:, 2]) < 0.01
    assert_encloses(vertices, faces, np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.0)]))


def test_mesh_without_faces_has_sphere_tree_of_one_leaf(add_mesh):
    add_mesh("Dots", CUBE)
    entries, _ = written(BoundsSettings(shapes=("spheres",)))
    (node,) = entries["Dots"]["world"]["spheres"]
    assert node["radius"] == pytest.approx(3**0.5, abs=1e-5)
    assert node["children"] == []


def test_impossible_hull_is_skipped_by_name(add_mesh):
    add_mesh("Cube", CUBE)
    entries, document = written(BoundsSettings(shapes=("hull",), fit=FitSettings(padding=-0.1)))
    assert entries == {}
    (left,) = document["skipped"]
    assert left["name"] == "Cube"
    assert "hull can't be made smaller" in left["reason"]


@pytest.mark.parametrize(
    "preset",
    ["unity", *(pytest.param(name, marks=pytest.mark.long) for name in ("blender", "gltf", "unreal"))],
)
def test_faces_are_counter_clockwise_in_mirrored_spaces(preset):
    monkey("Monkey", PLACES["Turned"])
    entries, _ = written(preset=preset)
    vertices, faces = hull_of(entries["Monkey"]["world"])
    assert volume(vertices, faces) > 0
