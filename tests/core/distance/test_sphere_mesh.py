"""Spheres and sphere trees at rest near a mesh, compared with all pairs of a sphere and a triangle."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Sphere,
    SphereTree,
    Triangle,
    TriangleMesh,
    minimum_translation,
    overlaps,
    separation,
    sphere_tree_from_triangles,
    witness_points,
)
from addon.core.distance.sphere_mesh import SphereSearch
from tests.core import meshes

pytestmark = pytest.mark.filterwarnings("error")


def mesh_of(corners: np.ndarray, one_sided: bool = False) -> TriangleMesh:
    corners = np.asarray(corners, float)
    return TriangleMesh(Triangle(corners[:, 0], corners[:, 1], corners[:, 2], one_sided))


def spheres_about(count: int, spread: float, largest: float) -> Sphere:
    rng = np.random.default_rng(3)
    return Sphere(rng.normal(size=(count, 3)) * spread, rng.uniform(0, largest, count))


def agrees_with_all_triangles(sphere: Sphere, mesh: TriangleMesh) -> np.ndarray:
    """Check all queries of spheres (n,), and return their separations."""
    triangles = mesh.triangles
    table = separation(sphere[:, None], triangles)
    least, nearest = table.min(axis=1), table.argmin(axis=1)
    np.testing.assert_array_equal(separation(sphere, mesh), least)
    np.testing.assert_array_equal(separation(mesh, sphere), least)
    np.testing.assert_array_equal(overlaps(sphere, mesh), overlaps(sphere[:, None], triangles).any(axis=1))
    expected = witness_points(sphere, triangles[nearest])
    for found, points in zip(witness_points(sphere, mesh), expected, strict=True):
        np.testing.assert_array_equal(found, points)
    move = expected.normal * np.minimum(least, 0)[:, None]
    np.testing.assert_array_equal(minimum_translation(sphere, mesh), move)
    np.testing.assert_array_equal(minimum_translation(mesh, sphere), -move)
    return least


@pytest.mark.parametrize("one_sided", [False, True])
def test_spheres_agree_with_all_triangles(one_sided):
    mesh, sphere = mesh_of(meshes.torus(10, 6), one_sided), spheres_about(60, 2.5, 1.5)
    least = agrees_with_all_triangles(sphere, mesh)
    assert (least < 0).any()
    assert ((least > 0) & (least < 1)).any()
    assert (np.isfinite(least) & (least > 1)).any() or one_sided


def test_minimum_translation_searches_a_mesh_once(monkeypatch):
    mesh, sphere, searched = mesh_of(meshes.torus(10, 6)), spheres_about(60, 2.5, 1.5), []
    run = SphereSearch.run
    monkeypatch.setattr(SphereSearch, "run", lambda search, rows: searched.append(rows) or run(search, rows))
    assert minimum_translation(sphere, mesh).any() and len(searched) == 1


def test_one_triangle_is_a_mesh():
    # The sphere above is 3 - 1 away, the others overlap by 1 - 0.25 and touch.
    mesh = mesh_of([[[0, 0, 0], [8, 0, 0], [0, 8, 0]]])
    sphere = Sphere([[2, 2, 3], [2, 2, 0.25], [2, 2, -1]], 1)
    assert agrees_with_all_triangles(sphere, mesh).tolist() == [2, -0.75, 0]
    move = minimum_translation(sphere, mesh)
    assert move.tolist() == [[0, 0, 0], [0, 0, 0.75], [0, 0, 0]]
    assert not np.signbit(move).any()


def test_last_triangle_of_two_is_nearest_and_the_first_behind_both():
    # Two parallel triangles that face up, at z = 0 and z = 10.
    low = np.array([[0, 0, 0], [8, 0, 0], [0, 8, 0]])
    mesh = mesh_of(np.stack([low, np.add(low, [0, 0, 10])]), one_sided=True)
    sphere = Sphere([[2, 2, 13], [2, 2, 3], [2, 2, -3]], 1)
    assert separation(sphere, mesh).tolist() == [2, 2, np.inf]
    assert witness_points(sphere, mesh).on_b[:, 2].tolist() == [10, 0, 0]


def test_zero_translations_have_no_negative_zeros():
    mesh, sphere = mesh_of(meshes.cube()), Sphere([[5, 5, 5], [-5, -5, -5]], 1)
    for move in (minimum_translation(sphere, mesh), minimum_translation(mesh, sphere)):
        assert not move.any()
        assert not np.signbit(move).any()


def test_batches_keep_their_shape():
    mesh, flat = mesh_of(meshes.torus(10, 6)), spheres_about(6, 2.0, 1.5)
    sphere = flat.reshaped((2, 3))
    for query in (separation, overlaps, minimum_translation):
        found, expected = query(sphere, mesh), query(flat, mesh)
        np.testing.assert_array_equal(found, expected.reshape(2, 3, *expected.shape[1:]))
    for found, points in zip(witness_points(sphere, mesh), witness_points(flat, mesh), strict=True):
        np.testing.assert_array_equal(found, points.reshape(2, 3, 3))


def test_many_spheres_behind_a_mesh_have_the_witness_points_of_its_first_triangle():
    # So many pairs that the mesh is traversed.
    mesh = mesh_of(meshes.plate(), one_sided=True)
    rng = np.random.default_rng(2)
    sphere = Sphere(rng.uniform([0, 0, -5], [10, 10, -2], (100, 3)), 1)
    assert np.isinf(separation(sphere, mesh)).all()
    expected = witness_points(sphere, mesh.triangles[0])
    for found, points in zip(witness_points(sphere, mesh), expected, strict=True):
        np.testing.assert_array_equal(found, points)


def poses(spread: float) -> SphereTree:
    tree = sphere_tree_from_triangles(meshes.ball_with_limbs() * 0.3, 3)
    return tree.transformed(meshes.random_poses(6, spread)).reshaped((2, 3))


@pytest.mark.parametrize("one_sided", [False, True])
def test_trees_agree_with_all_leaves(one_sided):
    mesh, tree = mesh_of(meshes.torus(10, 6), one_sided), poses(2.0)
    leaves = tree.leaf_spheres
    count = leaves.shape[-1]
    flat = leaves.reshaped((-1,))
    table = separation(flat, mesh).reshape(6, count)
    assert (table.min(axis=1) < 0).any()
    np.testing.assert_array_equal(separation(tree, mesh), table.min(axis=1).reshape(2, 3))
    np.testing.assert_array_equal(
        overlaps(tree, mesh), overlaps(flat, mesh).reshape(2, 3, count).any(axis=-1)
    )
    nearest = flat[np.arange(6) * count + table.argmin(axis=1)]
    for found, points in zip(witness_points(tree, mesh), witness_points(nearest, mesh), strict=True):
        np.testing.assert_array_equal(found, points.reshape(2, 3, 3))
    move = minimum_translation(nearest, mesh)
    np.testing.assert_array_equal(minimum_translation(tree, mesh), move.reshape(2, 3, 3))
    np.testing.assert_array_equal(minimum_translation(mesh, tree), -move.reshape(2, 3, 3))
    in_a_row = tree.reshaped((6,))
    np.testing.assert_array_equal(minimum_translation(in_a_row, mesh), move)
    np.testing.assert_array_equal(
        witness_points(in_a_row, mesh).on_a, witness_points(tree, mesh).on_a.reshape(6, 3)
    )
