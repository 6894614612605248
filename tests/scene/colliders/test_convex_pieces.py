"""Convex colliders of a mesh with notches: hulls that hold its triangles and leave notches open."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.scene.colliders.check import check_colliders
from addon.scene.settings import ColliderCheckSettings, FitSettings
from tests.core.compound.exact_cover import HalfSpaces, uncovered
from tests.core.compound.meshes_with_notches import L_OUTLINE, L_TRIANGLES, prism, ring, volume
from tests.scene.building import add_object
from tests.scene.colliders.creating import colliders, create_colliders, skip_reasons, world_matrix


def add_triangles(add_mesh, name: str, triangles: np.ndarray) -> bpy.types.Object:
    """Add an object whose triangles share vertices."""
    points, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    return add_mesh(name, points, index.reshape(-1, 3))


def planes_of(item: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """World normals (f, 3) and offsets (f,) of the faces of a collider."""
    matrix = world_matrix(item)
    points = np.array([matrix[:3, :3] @ v.co + matrix[:3, 3] for v in item.data.vertices])
    item.data.calc_loop_triangles()
    a, b, c = (points[[triangle.vertices[k] for triangle in item.data.loop_triangles]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, (normals * a).sum(axis=1)


def is_held(points: np.ndarray, slack: float) -> np.ndarray:
    """Return which points (n, 3) are in any collider of the scene."""
    held = np.zeros(len(points), dtype=bool)
    for item in colliders():
        normals, offsets = planes_of(item)
        held |= (points @ normals.T - offsets).max(axis=1) <= slack
    return held


def test_l_becomes_two_hulls_with_open_notch(add_mesh):
    item = add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES))
    item.location, item.rotation_euler, item.scale = (10, 20, 30), (0.3, 0.4, 0.5), (2, 2, 2)
    result = create_colliders(kind="hull", fit=FitSettings(parts=8))
    assert sorted(collider.name for collider in colliders()) == ["UCX_Step_00", "UCX_Step_01"]
    assert (result.colliders, result.sources) == (2, 1)
    matrix, rng = world_matrix(item), np.random.default_rng(0)
    weights = rng.dirichlet((1, 1, 1), (20, 50))
    on_triangles = np.einsum("tcw,twi->tci", weights, prism(L_OUTLINE, L_TRIANGLES)).reshape(-1, 3)
    assert is_held(on_triangles @ matrix[:3, :3].T + matrix[:3, 3], 1e-5).all()
    # The notch is not filled: one hull around all would hold this point.
    notch = np.array([[1.2, 1.2, 0.5]])
    assert not is_held(notch @ matrix[:3, :3].T + matrix[:3, 3], 1e-5).any()
    create_colliders(kind="hull", fit=FitSettings(parts=1))
    assert [collider.name for collider in colliders()] == ["UCX_Step_00"]
    assert is_held(notch @ matrix[:3, :3].T + matrix[:3, 3], 1e-5).all()


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "prefix"), [("box", "UBX"), ("sphere", "USP"), ("capsule", "UCP"), ("hull", "UCX")]
)
def test_each_part_gets_a_collider_of_any_kind(add_mesh, kind, prefix):
    """An L turned in its object, so that cuts are not along the axes of the boxes."""
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    triangles = (prism(L_OUTLINE, L_TRIANGLES) @ turn.T).astype(np.float32).astype(np.float64)
    add_triangles(add_mesh, "Step", triangles)
    result = create_colliders(kind=kind, fit=FitSettings(parts=2))
    assert not result.skipped, skip_reasons(result)
    assert sorted(item.name for item in colliders()) == [f"{prefix}_Step_00", f"{prefix}_Step_01"]
    shapes = []
    for item in colliders():
        item.data.calc_loop_triangles()
        points = np.array([vertex.co for vertex in item.data.vertices], dtype=np.float64)
        assert item.matrix_world == Matrix()
        shapes.append(HalfSpaces(points, [tuple(each.vertices) for each in item.data.loop_triangles]))
    for triangle in triangles:
        assert not uncovered(triangle, shapes)
    check = check_colliders(bpy.context.scene, ColliderCheckSettings())
    assert not check.problems, [problem.text for problem in check.problems]


def test_boxes_of_an_l_fill_nothing_of_its_notch(add_mesh):
    add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES))
    create_colliders(kind="box", fit=FitSettings(parts=8))
    assert len(colliders()) == 2
    assert not is_held(np.array([[1.2, 1.2, 0.5], [1.001, 1.001, 0.999]]), 0.0).any()


def test_parts_with_notches_within_the_tolerance_are_one_collider(add_mesh):
    """The notch of the L is 0.7 deep, half its diagonal: 7 units at ten times the size."""
    item = add_triangles(add_mesh, "Step", prism(L_OUTLINE, L_TRIANGLES))
    item.scale = (10, 10, 10)
    create_colliders(kind="hull", fit=FitSettings(parts=8, parts_tolerance=3.0))
    assert len(colliders()) == 2
    create_colliders(kind="hull", fit=FitSettings(parts=8, parts_tolerance=30.0))
    assert len(colliders()) == 1


def test_convex_mesh_and_mesh_without_faces_get_one_hull(add_mesh):
    add_triangles(add_mesh, "Ball", ring(0.0, 1.0, 8, 8)[:0:-1])
    add_mesh("Dots", np.random.default_rng(1).normal(size=(20, 3)), [])
    result = create_colliders(kind="hull", fit=FitSettings(parts=4))
    assert not result.skipped, skip_reasons(result)
    assert "UCX_Dots_00" in {item.name for item in colliders()}
    assert "UCX_Dots_01" not in {item.name for item in colliders()}


@pytest.mark.long
def test_hole_of_ring_stays_open_and_check_accepts_its_colliders(add_mesh):
    triangles = ring()
    add_triangles(add_mesh, "Ring", triangles)
    create_colliders(kind="hull", fit=FitSettings(parts=8))
    assert len(colliders()) == 8
    total = 0.0
    for item in colliders():
        item.data.calc_loop_triangles()
        points = np.array([v.co for v in item.data.vertices])
        total += volume(points[[list(each.vertices) for each in item.data.loop_triangles]])
    assert volume(triangles) * 0.999 <= total <= 1.1 * volume(triangles)
    angles = np.linspace(0, 2 * np.pi, 50)
    hole = np.column_stack([0.4 * np.cos(angles), 0.4 * np.sin(angles), 0 * angles])
    assert not is_held(hole, 0.0).any()
    check = check_colliders(bpy.context.scene, ColliderCheckSettings())
    assert len(check.colliders) == 8
    assert not check.problems, [problem.text for problem in check.problems]


def test_objects_with_one_mesh_get_the_same_parts(add_mesh):
    first = add_triangles(add_mesh, "One", prism(L_OUTLINE, L_TRIANGLES))
    second = add_object("Two", first.data)
    second.location = (5, 5, 5)
    create_colliders(kind="hull", fit=FitSettings(parts=2))
    items = {item.name: item for item in colliders()}
    assert set(items) == {"UCX_One_00", "UCX_One_01", "UCX_Two_00", "UCX_Two_01"}
    for number in ("00", "01"):
        one, two = (
            np.array([v.co for v in items[f"UCX_{name}_{number}"].data.vertices]) for name in ("One", "Two")
        )
        assert np.array_equal(one, two)
