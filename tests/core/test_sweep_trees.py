from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.errors import InvalidShapeError
from addon.core.interpolation import at
from addon.core.separation_trees import separation_tree_shape, separation_tree_tree
from addon.core.shapes import Aabb, Obb, Sphere
from addon.core.sphere_tree import SphereTree
from addon.core.sphere_tree_fitting import sphere_tree_from_triangles
from addon.core.sweep import first_impact, time_of_impact
from addon.core.sweep_trees import TreeImpact, first_impact_tree_shape, first_impact_tree_tree
from tests.core import meshes
from tests.tiers import times

COUNT = 150
TORUS = {depth: sphere_tree_from_triangles(meshes.torus(), depth) for depth in (0, 3, 6, 8)}
"""Of 1, 8, 64 and 256 leaves: many pairs of them are gone down to, not tried."""


def moving_trees(depth: int, count: int = COUNT, seed: int = 0) -> tuple[SphereTree, SphereTree]:
    """Poses that pass, turn a little and grow on the way."""
    start = meshes.poses(count, 5.0, seed)
    end = start.copy()
    end[:, :3, :3] = end[:, :3, :3] @ meshes.poses(count, 0, seed + 1)[:, :3, :3] * 0.3 + end[:, :3, :3]
    end[:, :3, 3] = -start[:, :3, 3] * np.random.default_rng(seed).uniform(0, 1, (count, 1))
    return TORUS[depth].transformed(start), TORUS[depth].transformed(end)


def moving_shapes(kind: str) -> tuple:
    rng = np.random.default_rng(7)
    start, end = rng.normal(size=(2, COUNT, 3)) * 4
    half, grown = rng.uniform(0, 1, (2, COUNT, 3))
    turns = [meshes.poses(COUNT, 0, seed)[:, :3, :3] for seed in (8, 9)]
    return {
        "sphere": lambda: (Sphere(start, half[:, 0]), Sphere(end, grown[:, 0])),
        "box": lambda: (Aabb(start - half, start + half), Aabb(end - grown, end + grown)),
        "oriented box": lambda: (Obb(start, half, turns[0]), Obb(end, grown, turns[0])),
        "turning box": lambda: (Obb(start, half, turns[0]), Obb(end, half, turns[1])),
    }[kind]()


def earliest(times: np.ndarray) -> np.ndarray:
    """The least over all axes but the first; NaN where all are."""
    flat = times.reshape(len(times), -1)
    least = np.where(np.isnan(flat), np.inf, flat).min(axis=1)
    return np.where(np.isinf(least), np.nan, least)


def assert_leaves_agree(impact: TreeImpact, tree: SphereTree, times: np.ndarray) -> None:
    """The leaves named are leaves, and touch at that time; `times` (COUNT, leaves)."""
    hit = np.flatnonzero(~np.isnan(impact.time))
    assert (impact.leaf[np.isnan(impact.time)] == -1).all()
    place = np.searchsorted(tree.leaves, impact.leaf[hit])
    np.testing.assert_array_equal(tree.leaves[place], impact.leaf[hit])
    np.testing.assert_array_equal(times[hit, place], impact.time[hit])


# --- a tree and a shape ----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 3, 8])
@pytest.mark.parametrize("kind", ["sphere", "box", "oriented box", "turning box"])
def test_the_first_impact_is_that_of_the_first_of_all_leaves(kind, depth):
    a, b = moving_trees(depth), moving_shapes(kind)
    times = time_of_impact(a[0].leaf_spheres, a[1].leaf_spheres, b[0][:, None], b[1][:, None])
    found = first_impact_tree_shape(*a, *b)
    np.testing.assert_array_equal(found.time, earliest(times))
    assert_leaves_agree(found, TORUS[depth], times)
    assert (found.time > 0).any()
    assert (found.time == 0).any()
    assert np.isnan(found.time).any()


def test_ball_thrown_through_the_hole_of_a_ring_does_not_touch_it():
    # The hole has radius 3 - 0.2, without what leaves stick out; the root's sphere is met at once.
    ring = sphere_tree_from_triangles(meshes.torus(96, 6, 3, 0.2), 8)
    start, end = Sphere([0, 0, 9], 1), Sphere([0.5, 0, -9], 1)
    assert time_of_impact(ring.spheres[0], ring.spheres[0], start, end) < 0.3
    assert np.isnan(first_impact_tree_shape(ring, ring, start, end).time)
    assert first_impact_tree_shape(ring, ring, start, end).leaf == -1
    # Off the middle by 3 it meets the tube, at 9 - 18 t = 1.2, or earlier as leaves stick out.
    beside = first_impact_tree_shape(ring, ring, Sphere([3, 0, 9], 1), Sphere([3, 0, -9], 1))
    assert 0.42 < beside.time <= (9 - 1.2) / 18 + 1e-3


def test_a_leaf_that_passes_by_first_does_not_hide_the_one_that_touches():
    # Two balls on x at rest. A point flies past the first, 1.5 away, into the second: 2 + 1 at x = 3.
    tree = SphereTree([[0, 0, 0], [-2, 0, 0], [2, 1.5, 0]], [4, 1, 1], [[1, 2], [-1, -1], [-1, -1]])
    found = first_impact_tree_shape(tree, tree, Sphere([-9, 1.5, 0], 0), Sphere([11, 1.5, 0], 0))
    assert found.time == pytest.approx((9 + 1) / 20)
    assert found.leaf == 2
    assert found.other_leaf == 0


def test_growing_leaves_meet_a_shape_that_rests():
    # The second leaf grows from 1 to 3 at distance 3: at half of the interval it has radius 2 and touches.
    children = [[1, 2], [-1, -1], [-1, -1]]
    centers = [[0, 0, 0], [-2, 0, 0], [2, 0, 0]]
    start, end = SphereTree(centers, [3, 1, 1], children), SphereTree(centers, [5, 1, 3], children)
    found = first_impact_tree_shape(start, end, Aabb([4, -1, -1], [5, 1, 1]), Aabb([4, -1, -1], [5, 1, 1]))
    assert found.time == pytest.approx(0.5, abs=1e-15)
    assert found.leaf == 2


# --- two trees -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depths", [(0, 0), (3, 3), (3, 8), (6, 6)])
def test_two_trees_meet_when_their_first_leaves_do(depths):
    count = 20
    a, b = moving_trees(depths[0], count), moving_trees(depths[1], count, seed=4)
    leaves = [tree.leaf_spheres[:, :, None] for tree in a] + [tree.leaf_spheres[:, None] for tree in b]
    times = time_of_impact(*leaves)
    found = first_impact_tree_tree(*a, *b)
    np.testing.assert_array_equal(found.time, earliest(times))
    assert_leaves_agree(found, TORUS[depths[0]], np.array([earliest(row) for row in times]))
    assert (found.time > 0).any()
    swapped = first_impact_tree_tree(*b, *a)
    np.testing.assert_allclose(swapped.time, found.time, atol=1e-12)


def test_at_the_time_of_impact_the_trees_touch_and_before_they_are_apart():
    a, b = moving_trees(8, 30), moving_trees(8, 30, seed=4)
    found = first_impact_tree_tree(*a, *b)
    hit = np.flatnonzero(found.time > 0)
    a0, a1, b0, b1 = (tree[hit] for tree in (*a, *b))
    time = found.time[hit]
    touching = separation_tree_tree(at(a0, a1, time), at(b0, b1, time))
    np.testing.assert_allclose(touching, 0, atol=1e-12)
    for part in (0.3, 0.9, 0.999):
        assert (separation_tree_tree(at(a0, a1, part * time), at(b0, b1, part * time)) > 0).all()


# --- all ways through the search agree -------------------------------------------------------------------


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=times(20))
def test_whole_numbers_with_equal_times_and_resting_trees(seed, moves):
    rng = np.random.default_rng(seed)
    start = sphere_tree_from_triangles(rng.integers(-3, 4, (150, 3, 3)), depth=9)
    shift = np.tile(np.eye(4), (120, 1, 1))
    shift[:, :3, 3] = rng.integers(-4, 5, (120, 3)) * moves
    a0, a1 = start[None], start.transformed(shift)
    b0, b1 = (Sphere(rng.integers(-9, 10, (120, 3)), 0.25) for _ in range(2))
    times = time_of_impact(a0.leaf_spheres, a1.leaf_spheres, b0[:, None], b1[:, None])
    found = first_impact_tree_shape(a0, a1, b0, b1)
    np.testing.assert_array_equal(found.time, earliest(times))
    at_start = separation_tree_shape(start, b0)
    assert (found.time[at_start < -1e-12] == 0).all()
    assert (at_start[found.time == 0] < 1e-12).all()


@pytest.mark.smoke
def test_poses_broadcast_and_single_ones_have_no_axes():
    a, b = moving_trees(8, 3), moving_shapes("box")
    table = first_impact_tree_shape(a[0][:, None], a[1][:, None], *b)
    assert table.time.shape == table.leaf.shape == table.status.shape == (3, COUNT)
    single = first_impact_tree_shape(a[0][2], a[1][2], b[0][9], b[1][9])
    assert single.time.shape == ()
    np.testing.assert_array_equal(single.time, table.time[2, 9])
    nothing = first_impact_tree_shape(a[0][:0], a[1][:0], b[0][0], b[1][0])
    assert nothing.time.shape == (0,)


def test_poses_of_different_trees_have_no_motion():
    with pytest.raises(InvalidShapeError, match="poses of one tree"):
        first_impact_tree_tree(TORUS[3], TORUS[8], TORUS[3], TORUS[3])
    with pytest.raises(InvalidShapeError, match="poses of one tree"):
        first_impact_tree_shape(TORUS[3], TORUS[8], Sphere([0, 0, 0], 1), Sphere([0, 0, 0], 1))


@pytest.mark.smoke
def test_impacts_of_trees_have_a_point_and_a_normal():
    a, b = moving_trees(3), moving_shapes("sphere")
    impact = first_impact(*a, *b)
    time = first_impact_tree_shape(*a, *b).time
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
