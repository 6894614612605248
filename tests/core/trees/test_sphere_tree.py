"""Sphere trees: construction, enclosure, poses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import EmptyGeometryError, InvalidShapeError, NonFiniteGeometryError
from addon.core.fitting.enclosing import sphere_from_points
from addon.core.shapes import Sphere, Triangle, stacked
from addon.core.trees.builder import TrianglePartition, partition_triangles, sphere_tree_from_triangles
from addon.core.trees.sphere_tree import SphereTree
from tests.core import meshes
from tests.core.compound.meshes_with_notches import random_solid
from tests.tiers import examples, times

MESHES = {
    "torus": meshes.torus(),
    "thin plate": meshes.plate(),
    "dense ball with limbs": meshes.ball_with_limbs(),
    "soup": meshes.triangle_soup(300),
    "cube": meshes.cube(),
    "slivers": meshes.triangle_soup(200) * [1, 1e-7, 1],
    "far from the origin": meshes.torus() + 1e6,
    "tiny": meshes.torus() * 1e-150,
    "huge": meshes.torus() * 1e150,
}
# Multiples of a quarter often coincide: duplicates, shared corners, triangles without area.
QUARTER = st.integers(-8, 8).map(lambda n: n / 4)
CORNER = st.tuples(QUARTER, QUARTER, QUARTER)
TRIANGLES = st.lists(st.tuples(CORNER, CORNER, CORNER), min_size=1, max_size=40).map(np.array)


def levels(tree: SphereTree) -> list[list[int]]:
    """List the nodes that cover all triangles at each level: those of the level and the leaves above it."""
    result, level = [], [0]
    while True:
        result.append(level)
        if all(tree.children[node, 0] < 0 for node in level):
            return result
        level = [
            child
            for node in level
            for child in (tree.children[node] if tree.children[node, 0] >= 0 else [node])
        ]


def triangles_of(tree: SphereTree, node: int) -> np.ndarray:
    first, last = tree.parts[node]
    return tree.order[first:last]


def check_enclosure(tree: SphereTree, triangles: np.ndarray) -> None:
    """Check that every triangle belongs to one node of each level, whose sphere encloses it."""
    weights = np.random.default_rng(0).dirichlet([1, 1, 1], size=20)
    for level in levels(tree):
        listed = np.concatenate([triangles_of(tree, node) for node in level])
        assert sorted(listed) == list(range(len(triangles)))
        for node in level:
            corners = triangles[triangles_of(tree, node)]
            assert tree.spheres[node].contains(corners).all()
            inside = np.einsum("kc,tcx->tkx", weights, corners)
            # Interpolated points are rounded, which can move them outside by this much.
            slack = 1e-15 * np.abs(corners).max()
            assert Sphere(tree.center[node], tree.radius[node] + slack).contains(inside).all()


# --- enclosure -------------------------------------------------------------------------------------------


def meshes_and_depths() -> Iterator[object]:
    """Yield each mesh with all depths; deep trees of large meshes, and of moved or scaled tori, are long."""
    for name, depth in product(MESHES, [0, 1, 5, 30]):
        is_long = depth == 30 and name in ("far from the origin", "tiny", "huge", "dense ball with limbs")
        yield pytest.param(name, depth, marks=pytest.mark.long if is_long else [])


@pytest.mark.parametrize(("name", "depth"), list(meshes_and_depths()))
def test_every_triangle_is_inside_its_sphere_at_every_level(name, depth):
    tree = sphere_tree_from_triangles(MESHES[name], depth)
    assert tree.depth <= depth
    check_enclosure(tree, MESHES[name])


@given(TRIANGLES, st.integers(0, 8), st.integers(1, 4))
@examples(50, full=1000)
def test_coincident_and_degenerate_triangles_are_enclosed(triangles, depth, leaf_triangles):
    tree = sphere_tree_from_triangles(triangles, depth, leaf_triangles=leaf_triangles)
    check_enclosure(tree, triangles)


@pytest.mark.parametrize("seed", range(times(15, full=1000)))
def test_triangles_of_random_meshes_are_inside_their_spheres(seed):
    triangles = random_solid(np.random.default_rng(seed))
    tree = sphere_tree_from_triangles(triangles, 1 + seed % 6)
    check_enclosure(tree, triangles)


@pytest.mark.parametrize("name", MESHES)
def test_spheres_are_the_smallest_around_their_triangles(name):
    tree = sphere_tree_from_triangles(MESHES[name], 5)
    for node in range(len(tree.children)):
        smallest = sphere_from_points(MESHES[name][triangles_of(tree, node)].reshape(-1, 3))
        rounding = 1e-15 * np.abs(MESHES[name]).max()
        assert tree.radius[node] <= smallest.radius * (1 + 1e-11) + rounding


# --- building --------------------------------------------------------------------------------------------


def test_nodes_are_in_breadth_first_order():
    tree = sphere_tree_from_triangles(MESHES["torus"], 4)
    inner = np.flatnonzero(tree.children[:, 0] >= 0)
    assert tree.children[inner].ravel().tolist() == list(range(1, len(tree.children)))
    assert tree.depth == 4
    assert len(tree.leaves) == 16


def test_depth_zero_gives_the_smallest_enclosing_sphere():
    tree = sphere_tree_from_triangles(MESHES["torus"], depth=0)
    assert tree.children.tolist() == [[-1, -1]]
    # The outermost circle of the torus has radius 3 + 1.
    assert tree.radius[0] == pytest.approx(4, rel=1e-12)


def test_parts_within_tightness_of_the_root_are_not_split():
    tree = sphere_tree_from_triangles(MESHES["torus"], depth=30, tightness=0.25)
    inner = tree.children[:, 0] >= 0
    assert (tree.radius[inner] > 0.25 * tree.radius[0]).all()
    assert (tree.radius[tree.leaves] <= 0.25 * tree.radius[0]).all()
    assert sphere_tree_from_triangles(MESHES["torus"], tightness=1.0).depth == 0


def test_parts_of_at_most_leaf_triangles_are_not_split():
    tree = sphere_tree_from_triangles(MESHES["soup"], depth=30, leaf_triangles=7)
    sizes = np.diff(tree.parts)[:, 0]
    assert (sizes[tree.leaves] <= 7).all()
    assert (sizes[tree.children[:, 0] >= 0] > 7).all()


def test_without_limits_every_leaf_has_one_triangle():
    tree = sphere_tree_from_triangles(MESHES["soup"], depth=300)
    assert (np.diff(tree.parts)[tree.leaves, 0] == 1).all()
    assert len(tree.leaves) == 300


def test_first_split_separates_clusters_of_unequal_size():
    # 5 triangles around x = 100 and 200 around the origin: a median split would mix them.
    triangles = np.concatenate([meshes.triangle_soup(200), meshes.triangle_soup(5) + np.array([100, 0, 0])])
    tree = sphere_tree_from_triangles(triangles, depth=1)
    assert sorted(triangles_of(tree, 2)) == list(range(200, 205))


@given(TRIANGLES, st.integers(1, 4))
@examples(50, full=1000)
def test_partition_has_the_nodes_of_a_tree_without_limits(triangles, leaf_triangles):
    tree = sphere_tree_from_triangles(triangles, depth=len(triangles), leaf_triangles=leaf_triangles)
    assert_same_nodes(partition_triangles(triangles, leaf_triangles), tree)


@pytest.mark.parametrize("name", MESHES)
def test_partition_of_a_mesh_has_the_nodes_of_its_tree(name):
    triangles = MESHES[name]
    tree = sphere_tree_from_triangles(triangles, depth=len(triangles), leaf_triangles=8)
    assert_same_nodes(partition_triangles(triangles, 8), tree)


def assert_same_nodes(partition: TrianglePartition, tree: SphereTree) -> None:
    for name in ("children", "parts", "order"):
        np.testing.assert_array_equal(getattr(partition, name), getattr(tree, name))


def test_duplicate_triangles_make_one_leaf():
    tree = sphere_tree_from_triangles(np.repeat(meshes.triangle_soup(1), 50, axis=0), depth=10)
    assert tree.children.tolist() == [[-1, -1]]
    assert sorted(tree.order) == list(range(50))


def test_one_triangle_gives_one_sphere():
    # With a right angle at the origin, the center is the middle of the longest side, which has length 5.
    tree = sphere_tree_from_triangles([[[0, 0, 0], [3, 0, 0], [0, 4, 0]]])
    assert tree.children.tolist() == [[-1, -1]]
    np.testing.assert_allclose(tree.center[0], [1.5, 2, 0], atol=1e-14)
    assert tree.radius[0] == pytest.approx(2.5, rel=1e-14)


@pytest.mark.smoke
def test_triangle_batch_and_corner_array_give_the_same_tree():
    corners = MESHES["torus"]
    one = sphere_tree_from_triangles(corners)
    other = sphere_tree_from_triangles(Triangle(corners[:, 0], corners[:, 1], corners[:, 2]))
    np.testing.assert_array_equal(one.center, other.center)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((np.zeros((0, 3, 3)),), EmptyGeometryError, "no triangles"),
        (([],), EmptyGeometryError, "no triangles"),
        ((np.zeros((4, 3)),), InvalidShapeError, r"\(t, 3, 3\), not \(4, 3\)"),
        (
            (np.where(np.eye(3) > 0, np.nan, 0.0)[None],),
            NonFiniteGeometryError,
            r"element \(0, 0, 0\) is nan",
        ),
        ((np.full((2, 3, 3), np.inf),), NonFiniteGeometryError, "is inf"),
        ((meshes.cube(), -1), InvalidShapeError, "depth: -1"),
        ((meshes.cube(), 3, np.nan), InvalidShapeError, "tightness: nan"),
        ((meshes.cube(), 3, 0.0, 0), InvalidShapeError, "leaf_triangles"),
    ],
)
def test_invalid_triangles_or_limits_raise(arguments, error, words):
    with pytest.raises(error, match=words):
        sphere_tree_from_triangles(*arguments)


# --- the shape -------------------------------------------------------------------------------------------

CHILDREN = [[1, 2], [-1, -1], [-1, -1]]
CENTERS, RADII = [[0, 0, 0], [-2, 0, 0], [2, 0, 0]], [3, 1, 1.5]


def test_tree_from_spheres_and_children_has_leaves_and_depth():
    tree = SphereTree(CENTERS, RADII, CHILDREN)
    assert tree.leaves.tolist() == [1, 2]
    assert tree.depth == 1


@pytest.mark.parametrize(
    ("center", "radius", "children", "error", "words"),
    [
        (CENTERS, RADII, CHILDREN[:2], InvalidShapeError, "not of m >= 1 nodes"),
        (CENTERS, [3, -1, 1], CHILDREN, InvalidShapeError, r"radius: element \(1,\) is negative"),
        (CENTERS, [3, np.nan, 1], CHILDREN, NonFiniteGeometryError, r"element \(1,\) is nan"),
        (CENTERS, RADII, [[2, 1], [-1, -1], [-1, -1]], InvalidShapeError, "breadth-first"),
        (CENTERS, RADII, [[1, -1], [2, -1], [-1, -1]], InvalidShapeError, "breadth-first"),
        (CENTERS, RADII, [[1, 2], [-1, 2], [-1, -1]], InvalidShapeError, "element 1 has one child"),
        (CENTERS, RADII, [[-1, -1], [1, 2], [-1, -1]], InvalidShapeError, "breadth-first"),
        (CENTERS, RADII, [[1.0, 2.0], [-1, -1], [-1, -1]], InvalidShapeError, "whole numbers"),
        (np.zeros((0, 3)), [], np.zeros((0, 2), int), InvalidShapeError, "not of m >= 1"),
    ],
)
def test_spheres_and_children_that_are_no_tree_raise(center, radius, children, error, words):
    with pytest.raises(error, match=words):
        SphereTree(center, radius, children)


def test_contains_and_aabb_are_those_of_the_union_of_leaves():
    tree = SphereTree(CENTERS, RADII, CHILDREN)
    # The origin is inside the root and outside both leaves.
    points = [[0, 0, 0], [-1, 0, 0], [0.5, 0, 0], [3.5, 0, 0], [3.6, 0, 0]]
    assert tree.contains(points).tolist() == [False, True, True, True, False]
    box = tree.aabb()
    np.testing.assert_allclose(box.min, [-3, -1.5, -1.5], rtol=1e-15)
    np.testing.assert_allclose(box.max, [3.5, 1.5, 1.5], rtol=1e-15)
    assert (box.min <= [-3, -1.5, -1.5]).all()
    assert (box.max >= [3.5, 1.5, 1.5]).all()


@pytest.mark.parametrize("depth", [3, 9])
def test_contained_points_are_those_in_any_leaf(depth):
    tree = sphere_tree_from_triangles(MESHES["torus"], depth).transformed(
        meshes.random_poses(3, 1.0)[:, None]
    )
    points = np.random.default_rng(1).normal(size=(500, 3)) * 2
    found = tree.contains(points)
    assert found.shape == (3, 500)
    np.testing.assert_array_equal(found, tree.leaf_spheres.contains(points[:, None]).any(axis=-1))
    assert found.any()
    assert not found.all()


def test_poses_of_a_tree_are_a_batch():
    tree = sphere_tree_from_triangles(MESHES["torus"], 3)
    assert tree.shape == ()
    matrices = meshes.random_poses(6, 2.0).reshape(2, 3, 4, 4)
    posed = tree.transformed(matrices)
    assert posed.shape == (2, 3)
    assert posed.children is tree.children
    assert posed.spheres.shape == (2, 3, 15)
    np.testing.assert_array_equal(posed[1, 2].center, tree.transformed(matrices[1, 2]).center)
    np.testing.assert_array_equal(posed[..., 0].radius, posed.radius[:, 0])
    assert posed[:, None].shape == (2, 1, 3)
    assert posed.reshaped((6,)).shape == (6,)
    assert stacked([tree, tree]).shape == (2,)
    with pytest.raises(IndexError):
        posed[0, 0, 0]


@pytest.mark.parametrize("kind", ["rigid", "sheared", "mirrored", "flattened", "far away"])
def test_transformed_trees_enclose_the_transformed_triangles(kind):
    matrix = meshes.random_poses(1, 3.0)[0]
    change = {
        "rigid": np.eye(3),
        "sheared": np.array([[3, 1, 0], [0, 1, 2], [0, 0, 0.2]]),
        "mirrored": np.diag([1.0, -2, 1]),
        "flattened": np.diag([1.0, 0, 1]),
        "far away": np.eye(3),
    }[kind]
    matrix[:3, :3] = matrix[:3, :3] @ change
    if kind == "far away":
        matrix[:3, 3] = 1e8
    tree = sphere_tree_from_triangles(MESHES["torus"], 5).transformed(matrix)
    moved = MESHES["torus"] @ matrix[:3, :3].T + matrix[:3, 3]
    slack = 1e-14 * np.abs(moved).max()
    for node in range(len(tree.children)):
        is_inside = Sphere(tree.center[node], tree.radius[node] + slack).contains(
            moved[triangles_of(tree, node)]
        )
        assert is_inside.all()


def test_padding_grows_all_radii():
    tree = SphereTree(CENTERS, RADII, CHILDREN).padded([0.0, 0.5])
    assert tree.shape == (2,)
    assert tree.radius.tolist() == [RADII, [3.5, 1.5, 2]]
    with pytest.raises(InvalidShapeError, match=r"element \(0, 1\) is negative"):
        tree.padded(-1.25)


@pytest.mark.smoke
def test_arrays_of_a_tree_are_read_only():
    tree = sphere_tree_from_triangles(meshes.cube())
    for array in (tree.center, tree.radius, tree.children, tree.parts, tree.order):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
