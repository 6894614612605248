"""Distance queries of sphere trees, compared with all pairs of leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.distance.dispatch import minimum_translation, overlaps, separation, witness_points
from addon.core.distance.sphere import nearest_leaf_pairs, nearest_leaves
from addon.core.shapes import Aabb, Obb, Segment, Sphere, Triangle
from addon.core.trees.builder import sphere_tree_from_triangles
from addon.core.trees.sphere_tree import SphereTree
from tests.core import meshes
from tests.tiers import times

COUNT = 120
TORUS = {depth: sphere_tree_from_triangles(meshes.torus(), depth) for depth in (0, 3, 8)}
"""Trees of 1, 8 and 256 leaves."""


def shapes(kind: str, scale: float = 1.0):
    """Make a batch (COUNT,) of shapes around the torus: apart, touching and deep inside."""
    rng = np.random.default_rng(3)
    center = rng.normal(size=(COUNT, 3)) * 3 * scale
    half = rng.uniform(0, 1.5, (COUNT, 3)) * scale
    other, third = center + half, center + half[:, ::-1] * [1, -1, 1]
    return {
        "sphere": lambda: Sphere(center, half[:, 0]),
        "box": lambda: Aabb(center - half, center + half),
        "oriented box": lambda: Obb(center, half, meshes.random_poses(COUNT, 0, seed=4)[:, :3, :3]),
        "segment": lambda: Segment(center, other),
        "triangle": lambda: Triangle(center, other, third),
        "one-sided triangle": lambda: Triangle(center, other, third, one_sided=True),
        "point": lambda: Sphere(center, 0.0),
        "flat triangle": lambda: Triangle(center, other, other, one_sided=True),
    }[kind]()


KINDS = [
    "sphere",
    "box",
    "oriented box",
    "segment",
    "triangle",
    "one-sided triangle",
    "point",
    "flat triangle",
]


def assert_same(found, expected, scale: float = 1.0) -> None:
    """Check equality up to rounding, which decides between equally close leaves."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * scale)


# --- a tree and a shape ----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", TORUS)
@pytest.mark.parametrize("kind", KINDS)
def test_results_agree_with_the_minimum_over_all_leaves(kind, depth):
    tree, shape = TORUS[depth].transformed(meshes.random_poses(COUNT, 1.0)), shapes(kind)
    leaves = tree.leaf_spheres
    table = separation(leaves, shape[:, None])
    found = separation(tree, shape)
    assert_same(found, table.min(axis=1))
    np.testing.assert_array_equal(overlaps(tree, shape), overlaps(leaves, shape[:, None]).any(axis=1))
    witness = witness_points(tree, shape)
    is_finite = np.isfinite(found)
    along = ((witness.on_b - witness.on_a) * witness.normal).sum(axis=1)
    np.testing.assert_allclose(along[is_finite], found[is_finite], atol=1e-12)
    best = nearest_leaves(tree, shape, separation)
    np.testing.assert_array_equal(witness.on_a, witness_points(best, shape).on_a)
    assert (found < 0).any()
    assert (found > 0).any()


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1e6, 1e140])
@pytest.mark.parametrize("kind", ["sphere", "box", "segment", "one-sided triangle"])
def test_results_scale_with_the_scene(kind, scale):
    matrix = np.diag([scale, scale, scale, 1])
    tree, shape = TORUS[8].transformed(matrix), shapes(kind, scale)
    leaves = tree.leaf_spheres.broadcast_to((COUNT, 256))
    table = separation(leaves, shape[:, None])
    assert_same(separation(tree, shape), table.min(axis=1), scale)
    np.testing.assert_array_equal(overlaps(tree, shape), overlaps(leaves, shape[:, None]).any(axis=1))


def test_closest_leaf_is_found_far_from_the_origin():
    offset = 1e9 * np.array([1.0, -1, 0.5])
    matrix = np.eye(4)
    matrix[:3, 3] = offset
    tree, points = TORUS[8].transformed(matrix), shapes("sphere").center + offset
    for shape in (
        Sphere(points, 0.1),
        Triangle(points, points + 1, points + np.array([1, 0, 2]), one_sided=True),
    ):
        table = separation(tree.leaf_spheres, shape[:, None])
        assert_same(separation(tree, shape), table.min(axis=1), scale=1e8)


@pytest.mark.smoke
def test_poses_and_shapes_broadcast_against_each_other():
    tree, shape = TORUS[8].transformed(meshes.random_poses(3, 2.0)), shapes("box")
    table = separation(tree[:, None], shape)
    assert table.shape == (3, COUNT)
    for pose in range(3):
        np.testing.assert_array_equal(table[pose], separation(tree[pose], shape))
    single = separation(tree[1], shape[7])
    assert single.shape == ()
    assert single == table[1, 7]
    assert witness_points(tree[1], shape[7]).normal.shape == (3,)
    assert overlaps(tree[1], shape[7]).shape == ()
    assert separation(tree[:0], shape[0]).shape == (0,)


def test_ball_in_the_hole_of_a_ring_does_not_overlap():
    # The sphere of the root contains the ball. The hole has radius 3 - 1, which leaves 1.5, less the bulging
    # leaves.
    ball = Sphere([0, 0, 0], 0.5)
    assert overlaps(TORUS[8].spheres[0], ball)
    assert not overlaps(TORUS[8], ball)
    assert 0.9 < separation(TORUS[8], ball) <= 1.5


def test_tree_behind_one_sided_triangle_is_infinitely_far():
    floor = Triangle([-100, -100, 5], [100, -100, 5], [0, 100, 5], one_sided=True)
    assert separation(TORUS[8], floor) == np.inf
    assert not overlaps(TORUS[8], floor)
    assert np.isfinite(witness_points(TORUS[8], floor).normal).all()
    # A triangle through the middle of the ring: only the leaves above it count, and one of them is deepest.
    middle = Triangle([-100, -100, 0], [100, -100, 0], [0, 100, 0], one_sided=True)
    leaves = TORUS[8].leaf_spheres
    above = leaves.center[:, 2] >= 0
    expected = (leaves.center[above, 2] - leaves.radius[above]).min()
    assert separation(TORUS[8], middle) == pytest.approx(expected, abs=1e-12)


def test_minimum_translation_separates_the_deepest_leaf():
    # Two balls on the x axis and a wall from x = 2.2: the second overlaps it by 2 + 1.5 - 2.2, the first
    # does not.
    tree = SphereTree([[0, 0, 0], [-2, 0, 0], [2, 0, 0]], [3, 1, 1.5], [[1, 2], [-1, -1], [-1, -1]])
    wall = Aabb([2.2, -9, -9], [9, 9, 9])
    witness = witness_points(tree, wall)
    move = witness.normal * separation(tree, wall)
    np.testing.assert_allclose(move, [-1.3, 0, 0], atol=1e-14)
    moved = SphereTree(tree.center + move, tree.radius, tree.children)
    assert separation(moved, wall) == pytest.approx(0, abs=1e-14)


# --- two trees -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depths", [(0, 0), (3, 3), (0, 8), (8, 3), (8, 8)])
def test_separation_of_two_trees_is_that_of_their_closest_leaves(depths):
    count = 40
    a = TORUS[depths[0]].transformed(meshes.random_poses(count, 2.0, seed=1))
    b = TORUS[depths[1]].transformed(meshes.random_poses(count, 2.0, seed=2))
    table = separation(a.leaf_spheres[:, :, None], b.leaf_spheres[:, None])
    found = separation(a, b)
    assert_same(found, table.min(axis=(1, 2)))
    np.testing.assert_array_equal(overlaps(a, b), (table <= 0).any(axis=(1, 2)))
    witness = witness_points(a, b)
    along = ((witness.on_b - witness.on_a) * witness.normal).sum(axis=1)
    np.testing.assert_allclose(along, found, atol=1e-12)
    np.testing.assert_allclose(separation(b, a), found, atol=1e-14)
    on_a, on_b = nearest_leaf_pairs(a, b)
    for found_leaf, tree in ((on_a, a), (on_b, b)):
        assert (found_leaf.center[:, None] == tree.leaf_spheres.center).all(axis=-1).any(axis=1).all()
    assert_same(separation(on_a, on_b), found)
    assert (found < 0).any()


def test_linked_rings_do_not_overlap_though_their_root_spheres_do():
    # Thin rings, the second through the hole of the first: their center lines have radius 3 and distance 3.
    ring = sphere_tree_from_triangles(meshes.torus(96, 6, 3, 0.2), 9)
    matrix = np.array([[1.0, 0, 0, 3], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    linked = ring.transformed(matrix)
    assert overlaps(ring.spheres[0], linked.spheres[0])
    assert not overlaps(ring, linked)
    # The surfaces are 3 - 0.4 apart, and leaves bulge out of them.
    assert 2.2 < separation(ring, linked) < 2.6


def test_poses_of_two_trees_broadcast():
    a, b = (
        TORUS[8].transformed(meshes.random_poses(3, 3.0)),
        TORUS[3].transformed(meshes.random_poses(4, 3.0, seed=5)),
    )
    table = separation(a[:, None], b)
    assert table.shape == (3, 4)
    for i in range(3):
        for j in range(4):
            assert separation(a[i], b[j]) == table[i, j]
            assert overlaps(a[i], b[j]) == (table[i, j] <= 0)


@given(st.integers(0, 10**6), st.integers(0, 6))
@settings(max_examples=times(20, 8))
def test_coincident_triangles_and_ties_agree_with_the_minimum_over_all_leaves(seed, radius):
    # Integer coordinates often coincide.
    rng = np.random.default_rng(seed)
    tree = sphere_tree_from_triangles(rng.integers(-3, 4, (160, 3, 3)), depth=9)
    balls = Sphere(rng.integers(-5, 6, (200, 3)), radius / 2)
    table = separation(tree.leaf_spheres, balls[:, None])
    assert_same(separation(tree, balls), table.min(axis=1))


# --- through the dispatch --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_queries_accept_tree_first_or_second(kind):
    tree, shape = TORUS[3].transformed(meshes.random_poses(COUNT, 1.0)), shapes(kind)
    np.testing.assert_array_equal(separation(shape, tree), separation(tree, shape))
    assert_same(separation(tree, shape), separation(tree.leaf_spheres, shape[:, None]).min(axis=1))
    np.testing.assert_array_equal(overlaps(shape, tree), overlaps(tree, shape))
    np.testing.assert_array_equal(witness_points(shape, tree).on_b, witness_points(tree, shape).on_a)
    np.testing.assert_array_equal(minimum_translation(shape, tree), -minimum_translation(tree, shape))
