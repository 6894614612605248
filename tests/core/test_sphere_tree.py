from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core.errors import EmptyGeometryError, InvalidShapeError, NonFiniteGeometryError
from addon.core.fitting import sphere_from_points
from addon.core.interpolation import at
from addon.core.shapes import Sphere, Triangle, stacked
from addon.core.sphere_tree import SphereTree
from addon.core.sphere_tree_fitting import sphere_tree_from_triangles
from tests.core import exact, meshes
from tests.tiers import examples

MESHES = {
    "torus": meshes.torus(),
    "thin plate": meshes.plate(),
    "dense ball with limbs": meshes.uneven(),
    "soup": meshes.soup(300),
    "cube": meshes.box(),
    "slivers": meshes.soup(200) * [1, 1e-7, 1],
    "far from the origin": meshes.torus() + 1e6,
    "tiny": meshes.torus() * 1e-150,
    "huge": meshes.torus() * 1e150,
}
# Quarters coincide often: duplicates, shared corners, triangles without area.
QUARTER = st.integers(-8, 8).map(lambda n: n / 4)
CORNER = st.tuples(QUARTER, QUARTER, QUARTER)
TRIANGLES = st.lists(st.tuples(CORNER, CORNER, CORNER), min_size=1, max_size=40).map(np.array)


def levels(tree: SphereTree) -> list[list[int]]:
    """The nodes that stand for all triangles at each level: those of the level, and the leaves above it."""
    found, level = [], [0]
    while True:
        found.append(level)
        if all(tree.children[node, 0] < 0 for node in level):
            return found
        level = [
            child
            for node in level
            for child in (tree.children[node] if tree.children[node, 0] >= 0 else [node])
        ]


def triangles_of(tree: SphereTree, node: int) -> np.ndarray:
    first, last = tree.parts[node]
    return tree.order[first:last]


def descendants(tree: SphereTree, node: int) -> list[int]:
    """The leaves below a node, or itself."""
    if tree.children[node, 0] < 0:
        return [node]
    return [leaf for child in tree.children[node] for leaf in descendants(tree, child)]


def check_enclosure(tree: SphereTree, triangles: np.ndarray) -> None:
    """At every level every triangle belongs to one part, whose sphere holds it."""
    weights = np.random.default_rng(0).dirichlet([1, 1, 1], size=20)
    for level in levels(tree):
        listed = np.concatenate([triangles_of(tree, node) for node in level])
        assert sorted(listed) == list(range(len(triangles)))
        for node in level:
            corners = triangles[triangles_of(tree, node)]
            assert tree.spheres[node].contains(corners).all()
            inside = np.einsum("kc,tcx->tkx", weights, corners)
            # A mix of corners is rounded, which may take it outside by that much.
            slack = 1e-15 * np.abs(corners).max()
            assert Sphere(tree.center[node], tree.radius[node] + slack).contains(inside).all()


def check_nested_radii(tree: SphereTree) -> None:
    """In exact arithmetic: `reach` holds every leaf below, and some leaf below holds `core`."""
    for node in range(len(tree.children)):
        center = exact.vector(tree.center[node])
        held = False
        for leaf in descendants(tree, node):
            offset = exact.minus(exact.vector(tree.center[leaf]), center)
            squared, radius = exact.dot(offset, offset), Fraction(float(tree.radius[leaf]))
            slack = Fraction(float(tree.reach[node])) - radius
            assert slack >= 0
            assert squared <= slack * slack
            distance = exact.root(squared)
            held |= distance + float(tree.core[node]) <= float(radius) * (1 + 1e-14) + 1e-14 * distance
        assert held


# --- enclosure -------------------------------------------------------------------------------------------


def meshes_and_depths() -> Iterator[object]:
    """Yield each mesh with all depths; deep trees of large meshes, and of tori elsewhere, are long."""
    for name, depth in product(MESHES, [0, 1, 5, 30]):
        is_long = depth == 30 and name in ("far from the origin", "tiny", "huge", "dense ball with limbs")
        yield pytest.param(name, depth, marks=pytest.mark.long if is_long else [])


@pytest.mark.parametrize(("name", "depth"), list(meshes_and_depths()))
def test_every_triangle_is_inside_its_sphere_at_every_level(name, depth):
    tree = sphere_tree_from_triangles(MESHES[name], depth)
    assert tree.depth <= depth
    check_enclosure(tree, MESHES[name])


@given(TRIANGLES, st.integers(0, 8), st.integers(1, 4))
@examples(50)
def test_triangles_that_coincide_or_have_no_area_are_enclosed_too(triangles, depth, leaf_triangles):
    tree = sphere_tree_from_triangles(triangles, depth, leaf_triangles=leaf_triangles)
    check_enclosure(tree, triangles)
    check_nested_radii(tree)


@pytest.mark.parametrize("name", MESHES)
def test_spheres_are_the_smallest_around_their_triangles(name):
    tree = sphere_tree_from_triangles(MESHES[name], 5)
    for node in range(len(tree.children)):
        smallest = sphere_from_points(MESHES[name][triangles_of(tree, node)].reshape(-1, 3))
        rounding = 1e-15 * np.abs(MESHES[name]).max()
        assert tree.radius[node] <= smallest.radius * (1 + 1e-11) + rounding


@pytest.mark.parametrize("name", ["torus", "dense ball with limbs", "far from the origin"])
def test_reach_holds_all_leaves_below_and_one_of_them_holds_the_core(name):
    check_nested_radii(sphere_tree_from_triangles(MESHES[name], 5))


def test_a_parents_sphere_need_not_hold_its_childrens_but_its_reach_does():
    # The sphere of half a square part is as wide as its diagonal, and sticks out over the long sides.
    tree = sphere_tree_from_triangles(meshes.plate(), 6)
    inner = np.flatnonzero(tree.children[:, 0] >= 0)
    assert (tree.reach[inner] > tree.radius[inner] * 1.001).any()
    assert (tree.reach >= tree.radius).all()


# --- building --------------------------------------------------------------------------------------------


def test_nodes_come_breadth_first_with_the_root_in_front():
    tree = sphere_tree_from_triangles(MESHES["torus"], 4)
    inner = np.flatnonzero(tree.children[:, 0] >= 0)
    assert tree.children[inner].ravel().tolist() == list(range(1, len(tree.children)))
    assert tree.depth == 4
    assert len(tree.leaves) == 16


def test_depth_zero_is_the_smallest_sphere_alone():
    tree = sphere_tree_from_triangles(MESHES["torus"], depth=0)
    assert tree.children.tolist() == [[-1, -1]]
    # Its outermost circle, of radius 3 + 1.
    assert tree.radius[0] == pytest.approx(4, rel=1e-12)
    assert tree.reach[0] == tree.core[0] == tree.radius[0]


def test_parts_that_are_small_against_the_root_are_not_split():
    tree = sphere_tree_from_triangles(MESHES["torus"], depth=30, tightness=0.25)
    inner = tree.children[:, 0] >= 0
    assert (tree.radius[inner] > 0.25 * tree.radius[0]).all()
    assert (tree.radius[tree.leaves] <= 0.25 * tree.radius[0]).all()
    assert sphere_tree_from_triangles(MESHES["torus"], tightness=1.0).depth == 0


def test_parts_of_few_triangles_are_not_split():
    tree = sphere_tree_from_triangles(MESHES["soup"], depth=30, leaf_triangles=7)
    sizes = np.diff(tree.parts)[:, 0]
    assert (sizes[tree.leaves] <= 7).all()
    assert (sizes[tree.children[:, 0] >= 0] > 7).all()


def test_without_limits_every_leaf_is_one_triangle():
    tree = sphere_tree_from_triangles(MESHES["soup"], depth=300)
    assert (np.diff(tree.parts)[tree.leaves, 0] == 1).all()
    assert len(tree.leaves) == 300


def test_two_clusters_are_told_apart_first_however_unequal():
    # 5 triangles around x = 100, 200 around the origin: halves of equal numbers would mix them.
    triangles = np.concatenate([meshes.soup(200), meshes.soup(5) + np.array([100, 0, 0])])
    tree = sphere_tree_from_triangles(triangles, depth=1)
    assert sorted(triangles_of(tree, 2)) == list(range(200, 205))


def test_duplicates_make_one_leaf():
    tree = sphere_tree_from_triangles(np.repeat(meshes.soup(1), 50, axis=0), depth=10)
    assert tree.children.tolist() == [[-1, -1]]
    assert sorted(tree.order) == list(range(50))


def test_one_triangle_is_one_sphere():
    # A right angle at the origin: the middle of the longest side, half its length 5.
    tree = sphere_tree_from_triangles([[[0, 0, 0], [3, 0, 0], [0, 4, 0]]])
    assert tree.children.tolist() == [[-1, -1]]
    np.testing.assert_allclose(tree.center[0], [1.5, 2, 0], atol=1e-14)
    assert tree.radius[0] == pytest.approx(2.5, rel=1e-14)


@pytest.mark.smoke
def test_a_batch_of_triangle_shapes_gives_the_same_tree():
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
        ((meshes.box(), -1), InvalidShapeError, "depth -1"),
        ((meshes.box(), 3, np.nan), InvalidShapeError, "tightness nan"),
        ((meshes.box(), 3, 0.0, 0), InvalidShapeError, "leaf_triangles"),
    ],
)
def test_bad_triangles_and_limits_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        sphere_tree_from_triangles(*arguments)


# --- the shape -------------------------------------------------------------------------------------------

CHILDREN = [[1, 2], [-1, -1], [-1, -1]]
CENTERS, RADII = [[0, 0, 0], [-2, 0, 0], [2, 0, 0]], [3, 1, 1.5]


def test_a_tree_can_be_made_from_its_spheres_alone():
    tree = SphereTree(CENTERS, RADII, CHILDREN)
    assert tree.leaves.tolist() == [1, 2]
    assert tree.depth == 1
    # The farther leaf reaches to 2 + 1.5; the nearer one leaves the centre 2 - 1.5 outside.
    assert tree.reach[0] == pytest.approx(3.5, rel=1e-14)
    assert tree.core[0] == pytest.approx(-0.5, rel=1e-14)


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
def test_spheres_that_make_no_tree_are_refused(center, radius, children, error, words):
    with pytest.raises(error, match=words):
        SphereTree(center, radius, children)


def test_a_tree_is_the_union_of_its_leaves():
    tree = SphereTree(CENTERS, RADII, CHILDREN)
    # The origin is inside the root and outside of both leaves.
    points = [[0, 0, 0], [-1, 0, 0], [0.5, 0, 0], [3.5, 0, 0], [3.6, 0, 0]]
    assert tree.contains(points).tolist() == [False, True, True, True, False]
    box = tree.aabb()
    np.testing.assert_allclose(box.min, [-3, -1.5, -1.5], rtol=1e-15)
    np.testing.assert_allclose(box.max, [3.5, 1.5, 1.5], rtol=1e-15)
    assert (box.min <= [-3, -1.5, -1.5]).all()
    assert (box.max >= [3.5, 1.5, 1.5]).all()


@pytest.mark.parametrize("depth", [3, 9])
def test_contained_points_are_those_in_some_leaf(depth):
    tree = sphere_tree_from_triangles(MESHES["torus"], depth).transformed(meshes.poses(3, 1.0)[:, None])
    points = np.random.default_rng(1).normal(size=(500, 3)) * 2
    found = tree.contains(points)
    assert found.shape == (3, 500)
    np.testing.assert_array_equal(found, tree.leaf_spheres.contains(points[:, None]).any(axis=-1))
    assert found.any()
    assert not found.all()


def test_poses_are_a_batch_of_one_tree():
    tree = sphere_tree_from_triangles(MESHES["torus"], 3)
    assert tree.shape == ()
    matrices = meshes.poses(6, 2.0).reshape(2, 3, 4, 4)
    posed = tree.transformed(matrices)
    assert posed.shape == (2, 3)
    assert posed.children is tree.children
    assert posed.spheres.shape == (2, 3, 15)
    np.testing.assert_array_equal(posed[1, 2].center, tree.transformed(matrices[1, 2]).center)
    np.testing.assert_array_equal(posed[..., 0].reach, posed.reach[:, 0])
    assert posed[:, None].shape == (2, 1, 3)
    assert posed.reshaped((6,)).shape == (6,)
    assert stacked([tree, tree]).shape == (2,)
    with pytest.raises(IndexError):
        posed[0, 0, 0]


@pytest.mark.parametrize("kind", ["rigid", "sheared", "mirrored", "flattened", "far away"])
def test_posed_trees_still_enclose_the_moved_triangles_and_their_leaves(kind):
    matrix = meshes.poses(1, 3.0)[0]
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
        held = Sphere(tree.center[node], tree.radius[node] + slack).contains(moved[triangles_of(tree, node)])
        assert held.all()
    check_nested_radii(tree)


def test_between_two_poses_reach_still_holds_the_leaves():
    tree = sphere_tree_from_triangles(MESHES["torus"], 4)
    start, end = (tree.transformed(matrix) for matrix in meshes.poses(2, 3.0))
    for time in (0.25, 0.5, 0.9):
        between = at(start, end, time)
        distance = np.linalg.norm(between.center[between.leaves] - between.center[0], axis=1)
        assert (distance + between.radius[between.leaves] <= between.reach[0]).all()
        assert (between.radius[between.leaves] - distance).max() >= between.core[0] - 1e-12


def test_padding_grows_every_sphere():
    tree = SphereTree(CENTERS, RADII, CHILDREN).padded([0.0, 0.5])
    assert tree.shape == (2,)
    assert tree.radius.tolist() == [RADII, [3.5, 1.5, 2]]
    check_nested_radii(tree[1])
    with pytest.raises(InvalidShapeError, match=r"element \(0, 1\) is negative"):
        tree.padded(-1.25)


@pytest.mark.smoke
def test_arrays_of_a_tree_are_read_only():
    tree = sphere_tree_from_triangles(meshes.box())
    for array in (tree.center, tree.radius, tree.reach, tree.children, tree.parts, tree.order):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
