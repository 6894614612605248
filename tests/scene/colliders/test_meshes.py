"""Colliders hold the vertices they stand for, as they are stored, under whatever matrices there are."""

from __future__ import annotations

import math
from fractions import Fraction

import bpy
import numpy as np
import pytest

from addon.scene.colliders.make import make_colliders
from addon.scene.settings import ColliderSettings, FitSettings
from tests.core.closed import assert_closed, assert_encloses, fan_triangles
from tests.core.exact import Vector, cross, dot, subtract, vector
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
PLACES = {
    "as it is": {},
    "turned and moved": {"location": (1e3, -20, 7), "rotation_euler": (0.4, 1.1, -2)},
    "scaled evenly": {"scale": (0.01, 0.01, 0.01), "rotation_euler": (0.4, 0, 0)},
    "scaled unevenly": {"scale": (3, 0.5, 1), "rotation_euler": (0.4, 1.1, -2), "location": (5, 5, 5)},
    "mirrored": {"scale": (-1, 2, 1), "rotation_euler": (0, 0, 0.3)},
}


def placed_vertices(item: bpy.types.Object, shown: bool = False) -> np.ndarray:
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data if shown else item.data
    points = np.array([v.co for v in mesh.vertices], dtype=np.float64)
    matrix = np.array(item.matrix_world, dtype=np.float64)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def collider_of(item: bpy.types.Object, kind: str, **settings: object) -> bpy.types.Object:
    bpy.context.view_layer.update()
    done = make_colliders(bpy.context.scene, ColliderSettings(kind=kind, **settings))
    assert not done.skipped, done.skipped
    bpy.context.view_layer.update()
    return next(each for each in item.children if "collision_bounds_collider" in each)


def faces_of(collider: bpy.types.Object) -> list[list[int]]:
    """Counter-clockwise from outside in the world: a mirror turns them round."""
    faces = [list(polygon.vertices) for polygon in collider.data.polygons]
    mirrored = np.linalg.det(np.array(collider.matrix_world)[:3, :3]) < 0
    return [face[::-1] for face in faces] if mirrored else faces


def assert_around(item: bpy.types.Object, collider: bpy.types.Object) -> None:
    own = np.array([v.co for v in collider.data.vertices], dtype=np.float64)
    assert_closed(own, faces_of(collider))
    if np.array_equal(np.array(collider.matrix_basis), np.eye(4)):
        # Both are in the same space, so stored numbers are compared with stored numbers.
        mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        points = np.array([v.co for v in mesh.vertices], dtype=np.float64)
        assert_encloses(own, [list(polygon.vertices) for polygon in collider.data.polygons], points)
    else:
        assert_encloses(placed_vertices(collider), faces_of(collider), placed_vertices(item, shown=True))


# Round shapes have many faces, so exact fractions take long.
@pytest.mark.parametrize(
    ("kind", "place"),
    [
        pytest.param(kind, place, marks=pytest.mark.long if is_round and not is_uneven else ())
        for kind, is_round in zip(KINDS, (False, True, True, False), strict=True)
        for place, is_uneven in zip(PLACES, (False, False, False, True, True), strict=True)
    ],
)
def test_no_vertex_is_outside(add_mesh, kind, place):
    for name, points in MESHES.items():
        item = add_mesh(name, points, **PLACES[place])
        assert_around(item, collider_of(item, kind))
        bpy.data.objects.remove(item)


@pytest.mark.parametrize("kind", KINDS)
def test_no_vertex_is_outside_under_shear(add_mesh, kind):
    above = add_mesh("Above", scale=(3, 1, 1))
    below = add_mesh("Below", MESHES["cloud"], rotation_euler=(0.2, 0.3, math.pi / 4), parent=above)
    collider = collider_of(below, kind)
    assert_around(below, collider)
    if kind == "box":
        world = placed_vertices(collider)
        sides = [world[edge] - world[0] for edge in (1, 2, 4)]
        for a in range(3):
            one, two = sides[a], sides[a - 1]
            assert abs(one @ two) < 1e-5 * np.linalg.norm(one) * np.linalg.norm(two), "at right angles"


def exactly_placed(item: bpy.types.Object) -> list[Vector]:
    """Vertices in the world, as the very numbers of mesh and matrix have them."""
    rows = [vector(row) for row in item.matrix_world]
    corners = [(*vector(v.co), Fraction(1)) for v in item.data.vertices]
    return [tuple(dot(row, corner) for row in rows[:3]) for corner in corners]


@pytest.mark.parametrize("seed", range(times(5, 1)))
@pytest.mark.parametrize("kind", KINDS)
def test_no_vertex_is_outside_where_shear_amplifies_rounding_of_rotation(add_mesh, kind, seed):
    """A plate that is stretched a thousandfold and more nearly across itself.

    The collider's turn is near a quarter one: rounding its quaternion moves entries of its matrix that are
    about nothing by as much as those that are about one, and the stretch does the rest.
    """
    random = np.random.default_rng(seed)
    points = random.normal(size=(12, 3)) * [1, 1, 0]
    for stretch in (1e3, 1e5)[: times(2, 1)]:
        above = add_mesh("Above", scale=(1, 1, stretch))
        below = add_mesh(
            "Below", points, rotation_euler=random.uniform(-3, 3, 3) / stretch, parent=above, scale=(1, 1, 1)
        )
        collider = collider_of(below, kind)
        corners, vertices = exactly_placed(collider), exactly_placed(below)
        for a, b, c in (
            (corners[i], corners[j], corners[k]) for i, j, k in fan_triangles(faces_of(collider))
        ):
            normal = cross(subtract(b, a), subtract(c, a))
            assert max(dot(subtract(vertex, a), normal) for vertex in vertices) <= 0
        for item in (above, below, collider):
            bpy.data.objects.remove(item)


@pytest.mark.parametrize("kind", KINDS)
def test_evaluated_vertices_are_inside(add_mesh, kind):
    item = add_mesh("Row", MESHES["cloud"])
    item.modifiers.new("Array", "ARRAY").count = 3
    collider = collider_of(item, kind)
    assert_around(item, collider)
    assert len(placed_vertices(item, shown=True)) == 120


@pytest.mark.parametrize("place", PLACES)
def test_sphere_is_round_in_world_with_six_vertices_along_axes(add_mesh, place):
    item = add_mesh("Cloud", MESHES["cloud"], **PLACES[place])
    collider = collider_of(item, "sphere")
    world = placed_vertices(collider)
    low, high = world.min(axis=0), world.max(axis=0)
    distances = np.linalg.norm(world - (low + high) / 2, axis=1)
    assert distances.max() / distances.min() < 1.05, "what Unreal asks for"
    own = np.array([v.co for v in collider.data.vertices], dtype=np.float64)
    distances = np.linalg.norm(own - (own.min(axis=0) + own.max(axis=0)) / 2, axis=1)
    assert distances.max() / distances.min() < 1 + 1e-4


def test_box_is_as_tight_as_single_precision(add_mesh):
    item = add_mesh("Cloud", MESHES["cloud"], **PLACES["scaled unevenly"])
    own = np.array([v.co for v in collider_of(item, "box").data.vertices])
    points = np.array([v.co for v in item.data.vertices])
    assert np.array_equal(own.min(axis=0), points.min(axis=0))
    assert np.array_equal(own.max(axis=0), points.max(axis=0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["plane", "slanted plane", "line", "vertex"])
def test_flat_mesh_gets_minimum_thickness(add_mesh, kind, name):
    item = add_mesh(name, MESHES[name], scale=(0.1, 0.1, 0.1))
    world = placed_vertices(collider_of(item, kind))
    beside = world - world.mean(axis=0)
    thickness = np.ptp(beside @ np.linalg.eigh(beside.T @ beside)[1], axis=0).min()
    largest = max(np.ptp(placed_vertices(item), axis=0).max(), 1e-3)
    assert thickness > 0.9 * min(1e-3, largest / 1000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["as it is", "scaled unevenly", "mirrored"])
def test_padding_is_in_world_units(add_mesh, kind, place):
    item = add_mesh("Cloud", MESHES["cloud"], **PLACES[place])
    collider = collider_of(item, kind, fit=FitSettings(padding=0.25))
    assert_around(item, collider)
    world, points = placed_vertices(collider), placed_vertices(item)
    nearest = []
    for face in faces_of(collider):
        normal = np.cross(world[face[1]] - world[face[0]], world[face[2]] - world[face[0]])
        normal /= np.linalg.norm(normal)
        nearest.append(normal @ world[face[0]] - (points @ normal).max())
    assert min(nearest) >= 0.25 - 1e-5
    if kind == "box":
        assert max(nearest) == pytest.approx(0.25, abs=1e-5)


def test_hull_has_at_most_max_vertices(add_mesh):
    points = RANDOM.normal(size=(400, 3))
    item = add_mesh("Ball", points / np.linalg.norm(points, axis=1)[:, None])
    for max_vertices in (4, 12, 64):
        collider = collider_of(item, "hull", max_vertices=max_vertices)
        assert len(collider.data.vertices) <= max_vertices
        assert_around(item, collider)
