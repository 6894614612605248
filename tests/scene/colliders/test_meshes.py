"""Meshes of colliders enclose all vertices of their sources, as they are stored, for any matrix."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.scene.settings import ColliderSettings, FitSettings
from tests.core.closed import assert_closed, assert_encloses, fan_triangles
from tests.core.exact import Vector, affine_image, cross, dot, subtract, vector, whole
from tests.scene.building import add_vertices
from tests.scene.colliders.creating import make_colliders
from tests.tiers import times

KINDS = ("box", "sphere", "capsule", "hull")
RANDOM = np.random.default_rng(3)
MESHES = {
    "cloud": RANDOM.normal(size=(40, 3)) * [2, 1, 0.5] + [3, 0, 1],
    "plane": np.array([(x, y, 0) for x in (-1, 1) for y in (-2, 2)]),
    "slanted plane": np.array([(x, y, x + y) for x in (-1, 1) for y in (-2, 2)]) / 3,
    "line": np.outer(np.linspace(-1, 1, 5), (1, 2, 3)),
    "vertex": np.array([(0.1, 0.2, 0.3)]),
    "far from its origin": RANDOM.normal(size=(20, 3)) + 5000,
}
POSES = {
    "identity": {},
    "rotated and moved": {"location": (1e3, -20, 7), "rotation_euler": (0.4, 1.1, -2)},
    "scaled uniformly": {"scale": (0.01, 0.01, 0.01), "rotation_euler": (0.4, 0, 0)},
    "scaled non-uniformly": {"scale": (3, 0.5, 1), "rotation_euler": (0.4, 1.1, -2), "location": (5, 5, 5)},
    "mirrored": {"scale": (-1, 2, 1), "rotation_euler": (0, 0, 0.3)},
}


def world_vertices(item: bpy.types.Object, evaluated: bool = False) -> np.ndarray:
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data if evaluated else item.data
    points = np.array([v.co for v in mesh.vertices], dtype=np.float64)
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def create_collider(item: bpy.types.Object, kind: str, **settings: object) -> bpy.types.Object:
    """Create colliders for all objects, and return the one of `item`."""
    bpy.context.view_layer.update()
    result = make_colliders(bpy.context.scene, ColliderSettings(kind=kind, **settings))
    assert not result.skipped, result.skipped
    bpy.context.view_layer.update()
    return next(child for child in item.children if "collision_bounds_collider" in child)


def faces_of(collider: bpy.types.Object) -> list[list[int]]:
    """Return faces that are counter-clockwise from outside in world space, where a mirror inverts them."""
    faces = [list(polygon.vertices) for polygon in collider.data.polygons]
    is_mirrored = np.linalg.det(np.array(collider.matrix_world)[:3, :3]) < 0
    return [face[::-1] for face in faces] if is_mirrored else faces


def assert_collider_encloses(item: bpy.types.Object, collider: bpy.types.Object) -> None:
    """Assert that a collider is closed and encloses all evaluated vertices of an object."""
    vertices = np.array([v.co for v in collider.data.vertices], dtype=np.float64)
    assert_closed(vertices, faces_of(collider))
    if np.array_equal(np.array(collider.matrix_basis), np.eye(4)):
        # Both are in the same space, so the stored numbers can be compared.
        mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        points = np.array([v.co for v in mesh.vertices], dtype=np.float64)
        assert_encloses(vertices, [list(polygon.vertices) for polygon in collider.data.polygons], points)
    else:
        assert_encloses(world_vertices(collider), faces_of(collider), world_vertices(item, evaluated=True))


# Round shapes have many faces, so the test with exact fractions is slow.
@pytest.mark.parametrize(
    ("kind", "pose"),
    [
        pytest.param(kind, pose, marks=pytest.mark.long if is_round and not is_non_uniform else ())
        for kind, is_round in zip(KINDS, (False, True, True, False), strict=True)
        for pose, is_non_uniform in zip(POSES, (False, False, False, True, True), strict=True)
    ],
)
def test_no_vertex_is_outside(add_mesh, kind, pose):
    for name, points in MESHES.items():
        item = add_mesh(name, points, **POSES[pose])
        assert_collider_encloses(item, create_collider(item, kind))
        bpy.data.objects.remove(item)


@pytest.mark.parametrize("kind", KINDS)
def test_no_vertex_is_outside_under_shear(add_mesh, kind):
    parent = add_mesh("Parent", scale=(3, 1, 1))
    child = add_mesh("Child", MESHES["cloud"], rotation_euler=(0.2, 0.3, math.pi / 4), parent=parent)
    collider = create_collider(child, kind)
    assert_collider_encloses(child, collider)
    # Engines have no sheared shapes.
    assert_is_rigid(collider)


def assert_is_rigid(item: bpy.types.Object) -> None:
    linear = np.array(item.matrix_world)[:3, :3]
    assert linear.T @ linear == pytest.approx(np.eye(3), abs=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_objects_with_one_mesh_that_are_sheared_differently_have_colliders_of_their_own(add_mesh, kind):
    """The axes of both are equally long."""
    parent = add_mesh("Parent", scale=(3, 1, 1))
    one, two = (
        add_mesh(f"Strut {turn}", MESHES["cloud"], rotation_euler=(0, turn, 0), parent=parent)
        for turn in (math.pi / 4, -math.pi / 4)
    )
    two.data = one.data
    create_collider(one, kind)
    for item in (one, two):
        (collider,) = item.children
        assert_collider_encloses(item, collider)
        assert_is_rigid(collider)


def exact_world_vertices(item: bpy.types.Object) -> list[Vector]:
    """Compute world positions in exact fractions from the stored mesh and matrix."""
    return [affine_image(item.matrix_world, vector(v.co)) for v in item.data.vertices]


@pytest.mark.parametrize("seed", range(times(3, 1, full=5)))
@pytest.mark.parametrize("kind", KINDS)
def test_no_vertex_is_outside_when_shear_amplifies_rounding_of_rotation(add_mesh, kind, seed):
    """A plate is scaled by 1,000 or more, nearly along its normal.

    The collider is rotated by about 90 degrees. Rounding its quaternion changes the entries of its matrix
    that are nearly 0 by as much as those that are nearly 1, and the scale amplifies that.
    """
    random = np.random.default_rng(seed)
    points = random.normal(size=(12, 3)) * [1, 1, 0]
    for stretch in (1e3, 1e5)[: times(2, 1)]:
        parent = add_mesh("Parent", scale=(1, 1, stretch))
        child = add_mesh(
            "Child", points, rotation_euler=random.uniform(-3, 3, 3) / stretch, parent=parent, scale=(1, 1, 1)
        )
        collider = create_collider(child, kind)
        corners = exact_world_vertices(collider)
        both, _ = whole(*corners, *exact_world_vertices(child))
        corners, vertices = both[: len(corners)], both[len(corners) :]
        for a, b, c in (
            (corners[i], corners[j], corners[k]) for i, j, k in fan_triangles(faces_of(collider))
        ):
            normal = cross(subtract(b, a), subtract(c, a))
            assert max(dot(subtract(vertex, a), normal) for vertex in vertices) <= 0
        for item in (parent, child, collider):
            bpy.data.objects.remove(item)


@pytest.mark.parametrize("kind", KINDS)
def test_evaluated_vertices_are_inside(add_mesh, kind):
    item = add_mesh("Row", MESHES["cloud"])
    item.modifiers.new("Array", "ARRAY").count = 3
    collider = create_collider(item, kind)
    assert_collider_encloses(item, collider)
    assert len(world_vertices(item, evaluated=True)) == 120


@pytest.mark.parametrize("pose", POSES)
def test_sphere_is_round_in_world_with_six_vertices_along_axes(add_mesh, pose):
    item = add_mesh("Cloud", MESHES["cloud"], **POSES[pose])
    collider = create_collider(item, "sphere")
    world = world_vertices(collider)
    low, high = world.min(axis=0), world.max(axis=0)
    distances = np.linalg.norm(world - (low + high) / 2, axis=1)
    assert distances.max() / distances.min() < 1.05, "the tolerance of Unreal"
    local = np.array([v.co for v in collider.data.vertices], dtype=np.float64)
    distances = np.linalg.norm(local - (local.min(axis=0) + local.max(axis=0)) / 2, axis=1)
    assert distances.max() / distances.min() < 1 + 1e-4


def test_box_is_as_tight_as_single_precision(add_mesh):
    item = add_mesh("Cloud", MESHES["cloud"], **POSES["scaled non-uniformly"])
    corners = np.array([v.co for v in create_collider(item, "box").data.vertices])
    points = np.array([v.co for v in item.data.vertices])
    assert np.array_equal(corners.min(axis=0), points.min(axis=0))
    assert np.array_equal(corners.max(axis=0), points.max(axis=0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["plane", "slanted plane", "line", "vertex"])
def test_flat_mesh_gets_minimum_thickness(add_mesh, kind, name):
    item = add_mesh(name, MESHES[name], scale=(0.1, 0.1, 0.1))
    world = world_vertices(create_collider(item, kind))
    offsets = world - world.mean(axis=0)
    thickness = np.ptp(offsets @ np.linalg.eigh(offsets.T @ offsets)[1], axis=0).min()
    largest = max(np.ptp(world_vertices(item), axis=0).max(), 1e-3)
    assert thickness > 0.9 * min(1e-3, largest / 1000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pose", ["identity", "scaled non-uniformly", "mirrored"])
def test_padding_is_in_world_units(add_mesh, kind, pose):
    item = add_mesh("Cloud", MESHES["cloud"], **POSES[pose])
    collider = create_collider(item, kind, fit=FitSettings(parts=1, padding=0.25))
    assert_collider_encloses(item, collider)
    world, points = world_vertices(collider), world_vertices(item)
    distances = []
    for face in faces_of(collider):
        normal = np.cross(world[face[1]] - world[face[0]], world[face[2]] - world[face[0]])
        normal /= np.linalg.norm(normal)
        distances.append(normal @ world[face[0]] - (points @ normal).max())
    assert min(distances) >= 0.25 - 1e-5
    if kind == "box":
        assert max(distances) == pytest.approx(0.25, abs=1e-5)


def test_hull_has_at_most_max_vertices(add_mesh):
    points = RANDOM.normal(size=(400, 3))
    item = add_mesh("Ball", points / np.linalg.norm(points, axis=1)[:, None])
    for max_vertices in (4, 12, 64):
        collider = create_collider(item, "hull", max_vertices=max_vertices)
        assert len(collider.data.vertices) <= max_vertices
        assert_collider_encloses(item, collider)


def test_hulls_of_many_objects_are_built_together_and_each_encloses_its_mesh(empty_file, monkeypatch):
    rng = np.random.default_rng(6)
    items = []
    for number in range(times(80, 30)):
        points = rng.normal(size=(int(rng.integers(1, 60)), 3)) * rng.uniform(0.1, 3, 3)
        items.append(add_vertices(f"Prop {number}", points, location=(number, 0, 0)))
    broken = add_vertices("Broken", [(0, 0, 0), (1, math.inf, 0), (0, 1, 0), (0, 0, 1)])
    # A hull at a time takes several times as long.
    monkeypatch.delattr("addon.core.fitting.convex_hull.run_hull_steps")
    bpy.context.view_layer.update()
    result = make_colliders(bpy.context.scene, ColliderSettings(kind="hull"))
    bpy.context.view_layer.update()
    assert [entry.name for entry in result.skipped] == [broken.name]
    assert result.colliders == len(items)
    for item in items:
        (collider,) = item.children
        assert_collider_encloses(item, collider)
