"""Triangle meshes as obstacles of spheres."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.distance.dispatch import minimum_translation, overlaps, separation, witness_points
from addon.core.errors import EmptyGeometryError, InvalidShapeError
from addon.core.mesh.triangle_mesh import TriangleMesh
from addon.core.shapes import Sphere, Triangle
from addon.core.trees.builder import sphere_tree_from_triangles
from tests.core import meshes
from tests.tiers import times


def triangle_batch(corners: np.ndarray, one_sided: bool = False) -> Triangle:
    return Triangle(corners[:, 0], corners[:, 1], corners[:, 2], one_sided)


def mesh_of(corners: np.ndarray, one_sided: bool = False) -> TriangleMesh:
    return TriangleMesh(triangle_batch(corners, one_sided))


def balls(count: int, spread: float, largest: float = 0.5, seed: int = 0) -> Sphere:
    rng = np.random.default_rng(seed)
    return Sphere(rng.normal(size=(count, 3)) * spread, rng.uniform(0, largest, count))


# --- a sphere on a box near its edge ---------------------------------------------------------------------

# On the cube from -1 to 1: 0.05 from its side face x = 1, overlapping the top by 0.01.
OVERLAPPING = Sphere([0.95, 0.2, 1 + 0.3 - 0.01], 0.3)


def test_sphere_near_edge_of_one_sided_box_is_pushed_straight_up():
    move = minimum_translation(OVERLAPPING, mesh_of(meshes.cube(), one_sided=True))
    np.testing.assert_allclose(move, [0, 0, 0.01], atol=1e-15)
    assert move[:2].tolist() == [0, 0]


def test_side_triangles_push_sphere_only_if_two_sided():
    # The center is 0.29 above the top and 0.05 from the edge along x: 0.2943 from the edge, less than the
    # radius.
    one_sided = minimum_translation(OVERLAPPING, triangle_batch(meshes.cube(), one_sided=True))
    two_sided = minimum_translation(OVERLAPPING, triangle_batch(meshes.cube()))
    assert np.abs(one_sided[:, :2]).max() == 0
    assert two_sided[:, 0].min() < -0.0005


def test_small_sphere_inside_near_edge_is_pushed_sideways_only_by_two_sided_triangles():
    # The center is inside the box, 0.01 below the top but 0.005 from the side.
    inside = Sphere([0.995, 0.2, 0.99], 0.1)
    two_sided = minimum_translation(inside, mesh_of(meshes.cube()))
    np.testing.assert_allclose(two_sided, [-0.095, 0, 0], atol=1e-15)
    one_sided = mesh_of(meshes.cube(), one_sided=True)
    assert minimum_translation(inside, one_sided).tolist() == [0, 0, 0]
    assert separation(inside, one_sided) == np.inf
    assert not overlaps(inside, one_sided)


# --- against every triangle ------------------------------------------------------------------------------


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize(
    ("corners", "spread"),
    [
        (meshes.torus(), 3.0),
        (meshes.plate(), 6.0),
        (meshes.cube(), 1.5),
        (meshes.triangle_soup(500, size=1.0), 4.0),
        (np.repeat(meshes.triangle_soup(3, size=2.0), 200, axis=0), 3.0),
        (meshes.triangle_soup(400) * [1, 1, 0], 4.0),
    ],
)
def test_results_agree_with_the_minimum_over_all_triangles(corners, spread, one_sided):
    mesh, spheres = mesh_of(corners, one_sided), balls(200, spread)
    table = separation(spheres[:, None], mesh.triangles)
    found = separation(spheres, mesh)
    np.testing.assert_array_equal(found, table.min(axis=1))
    touches = overlaps(spheres[:, None], mesh.triangles).any(axis=1)
    np.testing.assert_array_equal(overlaps(spheres, mesh), touches)
    assert touches.any() or one_sided
    assert (found > 0).any()
    witness = witness_points(spheres, mesh)
    finite = np.isfinite(found)
    along = ((witness.on_b - witness.on_a) * witness.normal).sum(axis=1)
    np.testing.assert_allclose(along[finite], found[finite], atol=1e-13)
    move = minimum_translation(spheres, mesh)
    np.testing.assert_allclose(
        move[finite], (witness.normal * np.minimum(found, 0)[:, None])[finite], atol=1e-15
    )
    assert (move[~finite] == 0).all()


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=times(10, full=20))
def test_integer_meshes_with_coincident_and_degenerate_triangles_agree_with_brute_force(seed, one_sided):
    rng = np.random.default_rng(seed)
    mesh = mesh_of(rng.integers(-3, 4, (150, 3, 3)), one_sided)
    spheres = Sphere(rng.integers(-6, 7, (150, 3)), rng.integers(0, 4, 150) / 4)
    table = separation(spheres[:, None], mesh.triangles)
    np.testing.assert_array_equal(separation(spheres, mesh), table.min(axis=1))


def test_spheres_inside_closed_one_sided_mesh_are_infinitely_far():
    # A ball of enough triangles that the tree is traversed.
    def point(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return np.sin(down) * np.sin(around), np.sin(down) * np.cos(around), np.cos(down)

    ball = meshes.grid_surface(40, 20, point)
    # Drop the triangles without area at the poles, because they have no back.
    area = np.linalg.norm(np.cross(ball[:, 1] - ball[:, 0], ball[:, 2] - ball[:, 0]), axis=1)
    mesh = mesh_of(ball[area > 1e-9], one_sided=True)
    inside, outside = balls(300, 0.1), Sphere(balls(300, 1.0).center + np.array([9.0, 0, 0]), 1.0)
    assert (separation(inside, mesh) == np.inf).all()
    found = separation(outside, mesh)
    # The mesh is inscribed in the unit ball and contains a ball of radius 0.98.
    distance = np.linalg.norm(outside.center, axis=1) - 1
    assert (found >= distance - 1 - 1e-12).all()
    assert (found <= distance - 0.98 + 1e-12).all()


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_scenes_of_extreme_scale_agree_with_brute_force(scale):
    mesh, spheres = mesh_of(meshes.torus() * scale), balls(100, 3.0)
    spheres = Sphere(spheres.center * scale, spheres.radius * scale)
    table = separation(spheres[:, None].broadcast_to((100, 576)), mesh.triangles)
    np.testing.assert_allclose(separation(spheres, mesh), table.min(axis=1), rtol=0, atol=1e-14 * scale)


# --- trees, batches --------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_tree_against_mesh_gives_the_result_of_its_closest_leaf():
    mesh = mesh_of(meshes.torus())
    tree = sphere_tree_from_triangles(meshes.ball_with_limbs() * 0.2, 3).transformed(
        meshes.random_poses(20, 3.0)
    )
    table = separation(tree.leaf_spheres, mesh)
    found = separation(tree, mesh)
    np.testing.assert_array_equal(found, table.min(axis=1))
    np.testing.assert_array_equal(overlaps(tree, mesh), found <= 0)
    assert 0 < (found <= 0).sum() < 20
    witness = witness_points(tree, mesh)
    np.testing.assert_allclose(
        ((witness.on_b - witness.on_a) * witness.normal).sum(axis=1), found, atol=1e-13
    )
    move = minimum_translation(tree, mesh)
    np.testing.assert_allclose(np.linalg.norm(move, axis=1), np.maximum(-found, 0), atol=1e-13)


def test_results_have_the_batch_shape_of_the_spheres():
    mesh, spheres = mesh_of(meshes.torus()), balls(12, 3.0)
    found = separation(spheres.reshaped((3, 4)), mesh)
    assert found.shape == (3, 4)
    assert separation(spheres[5], mesh) == found[1, 1]
    assert separation(spheres[5], mesh).shape == ()
    assert minimum_translation(spheres[5], mesh).shape == (3,)
    assert witness_points(spheres.reshaped((3, 4)), mesh).normal.shape == (3, 4, 3)
    assert overlaps(spheres[:0], mesh).shape == (0,)
    tree = sphere_tree_from_triangles(meshes.cube())
    assert separation(tree, mesh).shape == ()
    assert minimum_translation(tree, mesh).shape == (3,)


def test_batch_with_other_axes_or_no_triangles_raises():
    with pytest.raises(InvalidShapeError, match=r"\(t,\), not \(\)"):
        TriangleMesh(Triangle([0, 0, 0], [1, 0, 0], [0, 1, 0]))
    with pytest.raises(EmptyGeometryError, match="without triangles"):
        mesh_of(np.zeros((0, 3, 3)))


def test_queries_accept_mesh_first_or_second():
    mesh, spheres = mesh_of(meshes.torus(), one_sided=True), balls(50, 3.0)
    tree = sphere_tree_from_triangles(meshes.ball_with_limbs() * 0.2).transformed(
        meshes.random_poses(20, 3.0)
    )
    for solid in (spheres, tree):
        np.testing.assert_array_equal(separation(mesh, solid), separation(solid, mesh))
        np.testing.assert_array_equal(overlaps(mesh, solid), overlaps(solid, mesh))
        np.testing.assert_array_equal(minimum_translation(mesh, solid), -minimum_translation(solid, mesh))
        np.testing.assert_array_equal(witness_points(mesh, solid).on_a, witness_points(solid, mesh).on_b)
