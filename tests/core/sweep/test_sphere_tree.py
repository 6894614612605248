"""Sweeps of sphere trees, compared with all pairs of leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.distance.dispatch import separation
from addon.core.errors import InvalidShapeError
from addon.core.shapes import Aabb, Obb, Sphere
from addon.core.sweep.dispatch import first_impact, time_of_impact
from addon.core.sweep.interpolation import at
from addon.core.trees.builder import sphere_tree_from_triangles
from addon.core.trees.sphere_tree import SphereTree
from tests.core import meshes
from tests.tiers import times

COUNT = 150
TORUS = {depth: sphere_tree_from_triangles(meshes.torus(), depth) for depth in (0, 3, 6, 8)}
"""Trees of 1, 8, 64 and 256 leaves."""


def moving_trees(depth: int, count: int = COUNT, seed: int = 0) -> tuple[SphereTree, SphereTree]:
    """Poses at both ends of trees that pass each other, rotate slightly and grow."""
    start = meshes.random_poses(count, 5.0, seed)
    end = start.copy()
    end[:, :3, :3] = (
        end[:, :3, :3] @ meshes.random_poses(count, 0, seed + 1)[:, :3, :3] * 0.3 + end[:, :3, :3]
    )
    end[:, :3, 3] = -start[:, :3, 3] * np.random.default_rng(seed).uniform(0, 1, (count, 1))
    return TORUS[depth].transformed(start), TORUS[depth].transformed(end)


def moving_shapes(kind: str) -> tuple:
    rng = np.random.default_rng(7)
    start, end = rng.normal(size=(2, COUNT, 3)) * 4
    half, grown = rng.uniform(0, 1, (2, COUNT, 3))
    turns = [meshes.random_poses(COUNT, 0, seed)[:, :3, :3] for seed in (8, 9)]
    return {
        "sphere": lambda: (Sphere(start, half[:, 0]), Sphere(end, grown[:, 0])),
        "box": lambda: (Aabb(start - half, start + half), Aabb(end - grown, end + grown)),
        "oriented box": lambda: (Obb(start, half, turns[0]), Obb(end, grown, turns[0])),
        "turning box": lambda: (Obb(start, half, turns[0]), Obb(end, half, turns[1])),
    }[kind]()


def earliest(times: np.ndarray) -> np.ndarray:
    """Minimum over all axes but the first; NaN if all are NaN."""
    flat = times.reshape(len(times), -1)
    least = np.where(np.isnan(flat), np.inf, flat).min(axis=1)
    return np.where(np.isinf(least), np.nan, least)


# --- a tree and a shape ----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 3, 8])
@pytest.mark.parametrize("kind", ["sphere", "box", "oriented box", "turning box"])
def test_first_impact_is_that_of_earliest_leaf(kind, depth):
    a, b = moving_trees(depth), moving_shapes(kind)
    times = time_of_impact(a[0].leaf_spheres, a[1].leaf_spheres, b[0][:, None], b[1][:, None])
    found = time_of_impact(*a, *b)
    np.testing.assert_array_equal(found, earliest(times))
    assert (found > 0).any()
    assert (found == 0).any()
    assert np.isnan(found).any()


def test_ball_through_hole_of_ring_does_not_touch():
    # The hole has a radius of 3 - 0.2, less the protrusion of the leaves; the root sphere is hit much
    # earlier.
    ring = sphere_tree_from_triangles(meshes.torus(96, 6, 3, 0.2), 8)
    start, end = Sphere([0, 0, 9], 1), Sphere([0.5, 0, -9], 1)
    assert time_of_impact(ring.spheres[0], ring.spheres[0], start, end) < 0.3
    assert np.isnan(time_of_impact(ring, ring, start, end))
    # With an offset of 3 it hits the tube at 9 - 18 t = 1.2, or earlier because leaves protrude.
    through_tube = time_of_impact(ring, ring, Sphere([3, 0, 9], 1), Sphere([3, 0, -9], 1))
    assert 0.42 < through_tube <= (9 - 1.2) / 18 + 1e-3


def test_leaf_that_misses_does_not_hide_leaf_that_touches():
    # Two balls on x at rest. A point passes the first at a distance of 1.5 and hits the second: 2 + 1 at x =
    # 3.
    tree = SphereTree([[0, 0, 0], [-2, 0, 0], [2, 1.5, 0]], [4, 1, 1], [[1, 2], [-1, -1], [-1, -1]])
    found = time_of_impact(tree, tree, Sphere([-9, 1.5, 0], 0), Sphere([11, 1.5, 0], 0))
    assert found == pytest.approx((9 + 1) / 20)
    point = first_impact(tree, tree, Sphere([-9, 1.5, 0], 0), Sphere([11, 1.5, 0], 0)).point
    np.testing.assert_allclose(point, [1, 1.5, 0], atol=1e-14)


def test_growing_leaf_touches_shape_at_rest():
    # The second leaf grows from 1 to 3 at distance 3: at half of the interval it has radius 2 and touches.
    children = [[1, 2], [-1, -1], [-1, -1]]
    centers = [[0, 0, 0], [-2, 0, 0], [2, 0, 0]]
    start, end = SphereTree(centers, [3, 1, 1], children), SphereTree(centers, [5, 1, 3], children)
    found = time_of_impact(start, end, Aabb([4, -1, -1], [5, 1, 1]), Aabb([4, -1, -1], [5, 1, 1]))
    assert found == pytest.approx(0.5, abs=1e-15)


# --- two trees -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depths", [(0, 0), (3, 3), (3, 8), (6, 6)])
def test_two_trees_touch_with_earliest_leaves(depths):
    count = 20
    a, b = moving_trees(depths[0], count), moving_trees(depths[1], count, seed=4)
    leaves = [tree.leaf_spheres[:, :, None] for tree in a] + [tree.leaf_spheres[:, None] for tree in b]
    times = time_of_impact(*leaves)
    found = time_of_impact(*a, *b)
    np.testing.assert_array_equal(found, earliest(times))
    assert (found > 0).any()
    swapped = time_of_impact(*b, *a)
    np.testing.assert_allclose(swapped, found, atol=1e-12)


@pytest.mark.long
def test_trees_touch_at_time_of_impact_and_are_disjoint_before():
    a, b = moving_trees(8, 30), moving_trees(8, 30, seed=4)
    found = time_of_impact(*a, *b)
    hit = np.flatnonzero(found > 0)
    a0, a1, b0, b1 = (tree[hit] for tree in (*a, *b))
    time = found[hit]
    touching = separation(at(a0, a1, time), at(b0, b1, time))
    np.testing.assert_allclose(touching, 0, atol=1e-12)
    for part in (0.3, 0.9, 0.999):
        assert (separation(at(a0, a1, part * time), at(b0, b1, part * time)) > 0).all()


# --- ties, broadcasting, invalid input -------------------------------------------------------------------


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=times(20))
def test_integer_trees_with_tied_times_and_trees_at_rest(seed, moves):
    rng = np.random.default_rng(seed)
    start = sphere_tree_from_triangles(rng.integers(-3, 4, (150, 3, 3)), depth=9)
    shift = np.tile(np.eye(4), (120, 1, 1))
    shift[:, :3, 3] = rng.integers(-4, 5, (120, 3)) * moves
    a0, a1 = start[None], start.transformed(shift)
    b0, b1 = (Sphere(rng.integers(-9, 10, (120, 3)), 0.25) for _ in range(2))
    times = time_of_impact(a0.leaf_spheres, a1.leaf_spheres, b0[:, None], b1[:, None])
    found = time_of_impact(a0, a1, b0, b1)
    np.testing.assert_array_equal(found, earliest(times))
    at_start = separation(start, b0)
    assert (found[at_start < -1e-12] == 0).all()
    assert (at_start[found == 0] < 1e-12).all()


@pytest.mark.smoke
def test_poses_broadcast_and_single_poses_give_scalars():
    a, b = moving_trees(8, 3), moving_shapes("box")
    table = time_of_impact(a[0][:, None], a[1][:, None], *b)
    assert table.shape == (3, COUNT)
    single = time_of_impact(a[0][2], a[1][2], b[0][9], b[1][9])
    assert single.shape == ()
    np.testing.assert_array_equal(single, table[2, 9])
    nothing = time_of_impact(a[0][:0], a[1][:0], b[0][0], b[1][0])
    assert nothing.shape == (0,)


def test_poses_of_different_trees_are_rejected():
    with pytest.raises(InvalidShapeError, match="poses of one tree"):
        time_of_impact(TORUS[3], TORUS[8], TORUS[3], TORUS[3])
    with pytest.raises(InvalidShapeError, match="poses of one tree"):
        time_of_impact(TORUS[3], TORUS[8], Sphere([0, 0, 0], 1), Sphere([0, 0, 0], 1))


@pytest.mark.smoke
def test_tree_impacts_have_point_and_normal():
    a, b = moving_trees(3), moving_shapes("sphere")
    impact = first_impact(*a, *b)
    time = time_of_impact(*a, *b)
    np.testing.assert_array_equal(impact.time, time)
    np.testing.assert_array_equal(first_impact(*b, *a).time, time)
    hit = np.flatnonzero(time > 0)
    ball = at(b[0][hit], b[1][hit], time[hit])
    np.testing.assert_allclose(
        np.linalg.norm(impact.point[hit] - ball.center, axis=1), ball.radius, atol=1e-9
    )
    np.testing.assert_allclose(
        impact.point[hit] + impact.normal[hit] * ball.radius[:, None], ball.center, atol=1e-9
    )
    assert np.isnan(impact.point[np.isnan(time)]).all()


@pytest.mark.parametrize("depth", [3, 8])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_leaf_that_is_touched_within_rounding_at_the_end_is_found(depth, size):
    # Each shape comes from outside, and ends where it just touches a leaf that is farthest out.
    tree = TORUS[depth].transformed(np.diag([size, size, size, 1]))
    leaves, directions = tree.leaf_spheres, np.random.default_rng(5).normal(size=(times(200, 40), 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    out = (directions @ leaves.center.T + leaves.radius).argmax(axis=1)
    reach = leaves.radius[out] + size
    end = Sphere(leaves.center[out] + directions * (reach * (1 - 1e-15))[:, None], np.full(len(out), size))
    start = Sphere(end.center + directions * size, end.radius)
    expected = earliest(time_of_impact(leaves, leaves, start[:, None], end[:, None]))
    found = time_of_impact(tree[None], tree[None], start, end)
    np.testing.assert_array_equal(found, expected)
    assert (~np.isnan(expected)).sum() > len(out) / 2
