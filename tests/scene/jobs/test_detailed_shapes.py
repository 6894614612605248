"""Convex hulls, sphere trees, capsules and cylinders in documents enclose every vertex."""

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
from tests.scene.sampling import add_points
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

BOTH = BoundsSettings(shapes=("hull", "spheres"))


def write_document(settings=BOTH, preset="blender", decimals=6):
    result = compute_bounds(bpy.context.scene, settings)
    document = parse_document(dumps(result.document(preset, decimals)))
    return {entry["name"]: entry for entry in document["objects"]}, document


def hull_of(shapes):
    return np.array(shapes["hull"]["vertices"]), shapes["hull"]["faces"]


def vertices_of(item):
    """Return the vertices (n, 3) in world space, as Blender computes them."""
    return np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])


def add_monkey(name, matrix):
    bpy.ops.mesh.primitive_monkey_add()
    item = bpy.context.object
    item.name, item.matrix_world = name, matrix
    bpy.context.view_layer.update()
    return item


ROTATED = Matrix.Rotation(0.7, 4, (1, 2, 3))
POSES = {
    "Rotated": Matrix.Translation((3, -2, 1)) @ ROTATED,
    "Scaled": Matrix.Translation((30, 20, 10)) @ ROTATED @ Matrix.Diagonal((1, 2, 0.3, 1)),
    "Mirrored": ROTATED @ Matrix.Diagonal((-1, 1, 2, 1)),
    "Sheared": Matrix(((1, 0.5, 0, 1), (0, 1, 0.2, 2), (0, 0, 1, 3), (0, 0, 0, 1))),
}


@pytest.mark.parametrize(
    "decimals", [6, *(pytest.param(number, marks=pytest.mark.long) for number in (3, 9))]
)
def test_hulls_and_sphere_trees_enclose_every_vertex_in_any_pose(decimals):
    items = {name: add_monkey(name, POSES[name]) for name in (*POSES,)[-times(4, 1) :]}
    entries, _ = write_document(decimals=decimals)
    for name, item in items.items():
        points = vertices_of(item)
        # Blender transforms vertices in single precision.
        slack = 4e-7 * np.abs(points).max()
        transform = entries[name]["transform"]
        x, y, z, w = transform["rotation"]
        rotation = np.array(Matrix(rotation_matrix(x, y, z, w)))
        local = (points - transform["translation"]) @ rotation
        for shapes, vertices in ((entries[name]["world"], points), (entries[name]["local"], local)):
            corners, faces = hull_of(shapes)
            assert_closed(corners, faces)
            assert volume(corners, faces) > 0
            # The vertices are moved inward by the rounding error.
            assert_encloses(corners, faces, vertices + (vertices.mean(axis=0) - vertices) * 2 * slack)
            nodes = shapes["spheres"]
            centers = np.array([node["center"] for node in nodes])
            radii = np.array([node["radius"] for node in nodes])
            leaves = [index for index, node in enumerate(nodes) if not node["children"]]
            distances = np.linalg.norm(vertices[:, None] - centers, axis=2)
            assert (distances[:, 0] <= radii[0] + slack).all()
            assert (distances[:, leaves] <= radii[leaves] + slack).any(axis=1).all()
            assert len(leaves) > 4


def rotation_matrix(x, y, z, w):
    """Rotation matrix of a unit quaternion."""
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


@pytest.mark.parametrize(("padding", "side"), [(0.0, 2.0), (0.25, 2.5)])
def test_hull_of_cube_is_cube_with_padding(add_mesh, padding, side):
    add_mesh("Cube", CUBE)
    settings = BoundsSettings(shapes=("hull",), fit=FitSettings(padding=padding))
    entries, _ = write_document(settings)
    vertices, faces = hull_of(entries["Cube"]["world"])
    assert (len(vertices), len(faces)) == (8, 12)
    assert volume(vertices, faces) == pytest.approx(side**3, rel=1e-4)
    assert volume(vertices, faces) > side**3


def test_flat_mesh_gets_hull_of_minimum_thickness(add_mesh):
    add_mesh("Sheet", np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]))
    entries, _ = write_document(BoundsSettings(shapes=("hull",)))
    vertices, faces = hull_of(entries["Sheet"]["world"])
    assert 0 < np.ptp(vertices[:, 2]) < 0.01
    assert_encloses(vertices, faces, np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0.0)]))


def test_mesh_without_faces_has_sphere_tree_of_one_leaf(add_mesh):
    add_mesh("Dots", CUBE)
    entries, _ = write_document(BoundsSettings(shapes=("spheres",)))
    (node,) = entries["Dots"]["world"]["spheres"]
    assert node["radius"] == pytest.approx(3**0.5, abs=1e-5)
    assert node["children"] == []


@pytest.mark.parametrize("preset", ["blender", "gltf", "unreal"])
def test_hull_of_a_single_vertex_is_thicker_than_its_box_and_correct(preset):
    monkey = add_monkey("Monkey", Matrix.Translation((1.123456, 2.3, 3)) @ ROTATED)
    dot = add_points("Dot", [(0.1, 0.2, 0.3)])
    dot.matrix_world = monkey.matrix_world
    # Reading checks that no shape contradicts another.
    entries, _ = write_document(BoundsSettings(shapes=("aabb", "hull")), preset)
    vertices, _ = hull_of(entries["Dot"]["local"])
    assert np.ptp(vertices, axis=0) == pytest.approx(0.001 * (100 if preset == "unreal" else 1), rel=0.05)


def test_impossible_hull_is_skipped_by_name(add_mesh):
    add_mesh("Cube", CUBE)
    entries, document = write_document(BoundsSettings(shapes=("hull",), fit=FitSettings(padding=-0.1)))
    assert entries == {}
    (skipped,) = document["skipped"]
    assert skipped["name"] == "Cube"
    assert "hull cannot shrink" in skipped["reason"]


@pytest.mark.parametrize(
    "preset",
    ["unity", *(pytest.param(name, marks=pytest.mark.long) for name in ("blender", "gltf", "unreal"))],
)
def test_faces_of_hull_are_counter_clockwise_in_all_spaces(preset):
    add_monkey("Monkey", POSES["Rotated"])
    entries, _ = write_document(preset=preset)
    vertices, faces = hull_of(entries["Monkey"]["world"])
    assert volume(vertices, faces) > 0


AXIAL = BoundsSettings(shapes=("capsule", "cylinder"))


def excess_over_axial(shape, kind, points):
    """Greatest distance of points outside of a capsule or cylinder of a document, in plain NumPy."""
    axis = np.array(shape["axis"])
    offset = points - shape["center"]
    along = offset @ axis
    if kind == "capsule":
        away = offset - np.clip(along, -shape["halfLength"], shape["halfLength"])[:, None] * axis
        return (np.linalg.norm(away, axis=1) - shape["radius"]).max()
    across = np.linalg.norm(offset - along[:, None] * axis, axis=1) - shape["radius"]
    return max(across.max(), (np.abs(along) - shape["halfLength"]).max())


@pytest.mark.parametrize("name", POSES)
def test_capsules_and_cylinders_enclose_every_vertex_in_any_pose(name):
    item = add_monkey(name, POSES[name])
    entries, _ = write_document(AXIAL)
    points = vertices_of(item)
    slack = 4e-7 * np.abs(points).max()
    transform = entries[name]["transform"]
    local = (points - transform["translation"]) @ np.array(rotation_matrix(*transform["rotation"]))
    for kind in ("capsule", "cylinder"):
        for group, vertices in (("world", points), ("local", local)):
            excess = excess_over_axial(entries[name][group][kind], kind, vertices)
            assert -0.01 < excess <= slack
        one, other = (entries[name][group][kind] for group in ("world", "local"))
        assert one["radius"] == pytest.approx(other["radius"], abs=1e-5)
        assert one["halfLength"] == pytest.approx(other["halfLength"], abs=1e-5)


@pytest.mark.parametrize("padding", [0.0, 0.25])
def test_capsule_and_cylinder_of_a_rod_are_those_of_the_formulas(add_mesh, padding):
    turn = 2 * np.pi / 64 * np.arange(64)
    ring = np.stack([0.5 * np.cos(turn), 0.5 * np.sin(turn), np.zeros(64)], axis=1)
    add_mesh("Rod", np.concatenate([ring - np.array([0, 0, 4]), ring + np.array([0, 0, 4])]))
    entries, _ = write_document(BoundsSettings(shapes=AXIAL.shapes, fit=FitSettings(padding=padding)))
    cylinder, capsule = (entries["Rod"]["world"][kind] for kind in ("cylinder", "capsule"))
    assert cylinder["radius"] == pytest.approx(0.5 + padding, abs=1e-3)
    assert cylinder["halfLength"] == pytest.approx(4 + padding, abs=1e-3)
    assert np.abs(cylinder["axis"]) == pytest.approx([0, 0, 1], abs=1e-3)
    # With radius r, the ends of the segment are sqrt(r^2 - 0.25) within the ends of the rod.
    radius = capsule["radius"] - padding
    assert capsule["halfLength"] == pytest.approx(4 - (radius**2 - 0.25) ** 0.5, abs=5e-3)
    radii = np.linspace(0.5, 0.8, 3001)
    volumes = np.pi * radii**2 * (2 * (4 - np.sqrt(radii**2 - 0.25)) + 4 / 3 * radii)
    assert np.pi * radius**2 * (2 * capsule["halfLength"] + 4 / 3 * radius) <= volumes.min() * 1.01


def test_capsule_that_padding_leaves_nothing_of_is_skipped_by_name(add_mesh):
    add_mesh("Cube", CUBE)
    settings = BoundsSettings(shapes=("capsule",), fit=FitSettings(padding=-9.0))
    entries, document = write_document(settings)
    assert entries == {}
    (skipped,) = document["skipped"]
    assert skipped == {"name": "Cube", "reason": "a padding of -9 is larger than the shape"}
