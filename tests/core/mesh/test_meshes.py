"""Batches of posed meshes: construction, selection, bounds around and within them, and their motion."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import InvalidShapeError, NonFiniteGeometryError, Sphere, at, stacked
from addon.core.mesh import mesh_bvh
from addon.core.mesh.fitted_nodes import FittedNodes
from addon.core.mesh.meshes import Meshes, moving_nodes
from addon.core.numeric.batch import assigned, concatenated, differences, where_shapes
from addon.core.shapes.primitives import closest_on_triangle, triangle_corners, triangles_from_corners
from tests.core import scenes
from tests.core.mesh.solids import (
    FAMILIES,
    Body,
    box,
    distances,
    octahedron,
    shell,
    straight,
    winding_numbers,
)
from tests.tiers import times

CUBE = Body(box(1, 1, 1))
EYES = np.tile(np.eye(4), (3, 1, 1))


def random_matrices(rng: np.random.Generator, count: int) -> np.ndarray:
    """Any affine matrices (count, 4, 4)."""
    matrices = np.tile(np.eye(4), (count, 1, 1))
    matrices[:, :3] = rng.normal(size=(count, 3, 4))
    return matrices


def corners_of(meshes: Meshes, index=()) -> np.ndarray:
    """World-space corners (t, 3, 3) of a mesh of a batch, in the order of its tree."""
    matrix = meshes.matrix[index]
    return meshes.nodes[index].corners @ matrix[:3, :3].T + matrix[:3, 3]


def assert_same(one: Meshes, other: Meshes) -> None:
    assert one.shape == other.shape
    assert not differences(one, other).any()


# --- construction ----------------------------------------------------------------------------------------


def test_one_mesh_takes_all_poses_and_keeps_one_tree():
    poses = random_matrices(np.random.default_rng(1), 6).reshape(2, 3, 4, 4)
    meshes = Meshes(CUBE.mesh, poses)
    assert meshes.shape == (2, 3)
    assert len({id(nodes) for nodes in meshes.nodes.ravel()}) == 1
    assert np.array_equal(meshes.matrix, poses)
    assert np.array_equal(meshes.margin, np.zeros((2, 3)))
    assert Meshes(CUBE.mesh, np.eye(4)).shape == ()


def test_listed_meshes_take_a_pose_each_or_one_for_all():
    meshes = [CUBE.mesh, FAMILIES["torus"].mesh, CUBE.mesh]
    for poses in (EYES, np.eye(4)):
        batch = Meshes(meshes, poses)
        assert batch.shape == (3,)
        assert batch.nodes[0] is batch.nodes[2]
        assert [len(nodes.corners) for nodes in batch.nodes] == [12, 80, 12]
    assert Meshes(tuple(meshes), np.zeros((2, 1, 4, 4)) + np.eye(4)).shape == (2, 3)


def test_fields_are_read_only_and_do_not_change_with_the_arguments():
    batch = Meshes(CUBE.mesh, EYES)
    for name in ("nodes", "matrix", "margin"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(batch, name)[0] = getattr(batch, name)[1]


@pytest.mark.parametrize(
    ("meshes", "matrix", "error", "message"),
    [
        (CUBE.mesh, np.eye(3), InvalidShapeError, r"matrix: the shape must end in \(4, 4\), not \(3, 3\)"),
        (CUBE.mesh, np.full((4, 4), np.nan), NonFiniteGeometryError, r"matrix: element \(0, 0\) is nan"),
        (CUBE.mesh, np.full((4, 4), np.inf), NonFiniteGeometryError, r"matrix: element \(0, 0\) is inf"),
        (CUBE.mesh, "poses", InvalidShapeError, "matrix: not an array of numbers"),
        ([CUBE.mesh] * 2, EYES, InvalidShapeError, r"meshes: batches \(2,\) and \(3,\) do not broadcast"),
        ([CUBE.mesh, "cube"], EYES, InvalidShapeError, "meshes: TriangleMesh is needed, not str"),
        ([Sphere([0, 0, 0], 1)], EYES, InvalidShapeError, "meshes: TriangleMesh is needed, not Sphere"),
        ([CUBE.corners], EYES, InvalidShapeError, "meshes: TriangleMesh is needed, not ndarray"),
    ],
)
def test_invalid_arguments_are_refused(meshes, matrix, error, message):
    with pytest.raises(error, match=message):
        Meshes(meshes, matrix)


@pytest.mark.parametrize("meshes", [None, 5])
def test_arguments_that_are_no_sequence_are_refused(meshes):
    with pytest.raises(InvalidShapeError, match="meshes"):
        Meshes(meshes, EYES)


# --- selection -------------------------------------------------------------------------------------------


def three() -> Meshes:
    poses = random_matrices(np.random.default_rng(2), 3)
    meshes = [CUBE.mesh, FAMILIES["torus"].mesh, FAMILIES["sheet"].mesh]
    return Meshes(meshes, poses).padded([0.0, 0.5, 1.0])


def test_indices_select_meshes_with_their_poses_and_margins():
    batch = three()
    for index in (
        1,
        slice(1, 3),
        [2, 0],
        np.array([1, 1, 0]),
        np.array([True, False, True]),
        None,
        ...,
        (..., 1),
    ):
        found = batch[index]
        assert np.array_equal(found.margin, batch.margin[index])
        assert np.array_equal(found.nodes, batch.nodes[index])
        rows = np.arange(3)[index]
        assert np.array_equal(found.matrix, batch.matrix[rows])
    with pytest.raises(IndexError):
        batch[0, 0]
    assert [each.shape for each in batch.to_list()] == [()] * 3
    assert_same(stacked(batch.to_list()), batch)
    assert batch.broadcast_to((2, 3)).shape == (2, 3)
    assert_same(batch.broadcast_to((2, 3)).reshaped((6,)), concatenated(batch, batch))


def test_batches_are_joined_merged_and_compared_mesh_by_mesh():
    batch = three()
    other = batch.padded([0.0, 1.0, 0.0])
    assert differences(batch, other).tolist() == [False, True, False]
    assert differences(batch, batch[[0, 2, 2]]).tolist() == [False, True, False]
    moved = Meshes.unchecked(batch.nodes, batch.matrix + np.array([0, 0, 1])[:, None, None], batch.margin)
    assert differences(batch, moved).tolist() == [False, False, True]
    assert_same(concatenated(batch[:1], batch[1:]), batch)
    mask = np.array([True, False, True])
    assert_same(where_shapes(mask, batch, moved), concatenated(batch[:1], moved[1:2], batch[2:]))
    replaced = assigned(batch, [0, 1], batch[[2, 2]])
    assert_same(replaced, batch[[2, 2, 2]])
    # The batch itself is not changed.
    assert_same(batch, three_with_nodes_of(batch))


def three_with_nodes_of(batch: Meshes) -> Meshes:
    """Make the same batch again, with the nodes that are given."""
    again = three()
    return Meshes.unchecked(batch.nodes, again.matrix, again.margin)


def test_paddings_add_up_and_broadcast():
    batch = Meshes(CUBE.mesh, EYES)
    assert np.array_equal(batch.padded(0.5).padded([1, 2, 3]).margin, [1.5, 2.5, 3.5])
    assert batch[0].padded([1, 2]).shape == (2,)
    assert batch.padded([[1.0], [2.0]]).shape == (2, 3)


# --- bounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_boxes_and_spheres_enclose_all_corners_and_margins(name):
    rng, count = np.random.default_rng(3), times(40, 10)
    margins = rng.uniform(0, 1, count)
    meshes = Meshes(FAMILIES[name].mesh, random_matrices(rng, count))
    corners = np.stack([corners_of(meshes, k).reshape(-1, 3) for k in range(count)])
    padded = meshes.padded(margins)
    boxes, (center, radius) = padded.aabb(), padded.around()
    assert (boxes.min <= corners.min(axis=1) - margins[:, None] + 1e-13).all()
    assert (boxes.max >= corners.max(axis=1) + margins[:, None] - 1e-13).all()
    farthest = np.linalg.norm(corners - center[:, None], axis=-1).max(axis=1)
    assert (farthest + margins <= radius + 1e-13).all()
    assert np.array_equal(padded.center, center)
    np.testing.assert_allclose(radius - meshes.around()[1], margins, rtol=0, atol=1e-13)


def test_box_around_a_mesh_that_is_not_turned_is_tight():
    meshes = Meshes(FAMILIES["egg"].mesh, scenes.affine(np.diag([2.0, 1, 3]), (5, 6, 7)))
    corners = corners_of(meshes).reshape(-1, 3)
    np.testing.assert_allclose(meshes.aabb().min, corners.min(axis=0), rtol=1e-14)
    np.testing.assert_allclose(meshes.aabb().max, corners.max(axis=0), rtol=1e-14)


@pytest.mark.parametrize("name", FAMILIES)
def test_balls_within_meshes_are_inside_and_touch_no_triangle(name):
    rng, count = np.random.default_rng(4), times(40, 10)
    body = FAMILIES[name]
    meshes = Meshes(body.mesh, random_matrices(rng, count))
    radii, center = meshes.inner_radii(), meshes.center
    corners = np.stack([corners_of(meshes, k) for k in range(count)])
    nearest = distances(corners, np.repeat(center[:, None, None], 3, axis=2))
    is_inside = winding_numbers(center[:, None], corners)[:, 0] != 0
    has_ball = radii > 0
    assert (nearest[has_ball] >= radii[has_ball] - 1e-13).all()
    assert is_inside[has_ball].all() and body.is_closed | ~has_ball.any()
    # A mesh without a ball has a triangle as near.
    assert (nearest[~has_ball] <= -radii[~has_ball] + 1e-13).all()
    if name in ("ball", "egg", "box", "plank", "large box"):
        assert has_ball.all()
    np.testing.assert_array_equal(meshes.padded(0.25).inner_radii(), radii)


def test_ball_within_a_cube_has_its_half_extent_and_in_a_cavity_there_is_none():
    stretched = Meshes(CUBE.mesh, np.diag([2.0, 3, 4, 1]))
    assert Meshes(CUBE.mesh, np.eye(4)).inner_radii() == pytest.approx(1, rel=1e-12)
    assert stretched.inner_radii() == pytest.approx(2, rel=1e-12)
    assert Meshes(Body(shell(3, 2)).mesh, np.eye(4)).inner_radii() < 0
    assert Meshes(Body(shell(3, 2)[:32]).mesh, np.eye(4)).inner_radii() > 2
    assert Meshes(Body(box(1, 1, 1)[1:]).mesh, np.eye(4)).inner_radii() < 0


def test_empty_batches_have_empty_bounds():
    none = Meshes(CUBE.mesh, np.zeros((0, 4, 4)))
    assert none.aabb().shape == none.inner_radii().shape == none.around()[1].shape == (0,)
    assert none.padded(1.0).shape == (0,)


# --- motion ----------------------------------------------------------------------------------------------


def test_corners_of_rigid_meshes_move_in_straight_lines():
    rng = np.random.default_rng(5)
    ends = random_matrices(rng, 8).reshape(2, 4, 4, 4)
    both = Meshes(FAMILIES["torus"].mesh, ends).padded([[1.0], [3.0]])
    for time in (0.0, 0.25, 0.7, 1.0):
        found = at(both[0], both[1], time)
        np.testing.assert_allclose(found.matrix, straight(ends[0], ends[1], np.full(4, time)), atol=1e-15)
        np.testing.assert_allclose(found.margin, 1 + 2 * time, rtol=1e-15)
        for k in range(4):
            expected = corners_of(both, (0, k)) * (1 - time) + corners_of(both, (1, k)) * time
            np.testing.assert_allclose(corners_of(found, k), expected, rtol=0, atol=1e-14)
    assert_same(at(both[0], both[1], 0.0), both[0])
    assert_same(at(both[0], both[1], 1.0), both[1])
    moments = np.linspace(0, 1, 5)[:, None]
    together = at(both[0], both[1], moments)
    assert together.shape == (5, 4)
    assert_same(together[2], at(both[0], both[1], 0.5))


def deforming(count: int, seed: int) -> tuple[Meshes, Meshes]:
    """Meshes of one tree each whose corners move anywhere, in poses that change too."""
    rng = np.random.default_rng(seed)
    first = FAMILIES["ball"].mesh.nodes
    shapes = []
    for _ in range(2):
        nodes = np.empty(count, dtype=object)
        nodes[:] = [
            first.moved(first.points + each) for each in rng.normal(0, 0.2, (count, *first.points.shape))
        ]
        shapes.append(Meshes.unchecked(nodes, random_matrices(rng, count), np.zeros(count)))
    return shapes[0], shapes[1]


def test_corners_of_deforming_meshes_move_in_straight_lines():
    start, end = deforming(3, 6)
    for time in (0.0, 0.3, 1.0):
        found = at(start, end, time)
        for k in range(3):
            expected = corners_of(start, k) * (1 - time) + corners_of(end, k) * time
            np.testing.assert_allclose(corners_of(found, k), expected, rtol=0, atol=1e-14)
        low, high = (
            np.stack([each(corners_of(found, k), axis=(0, 1)) for k in range(3)]) for each in (np.min, np.max)
        )
        assert (found.aabb().min <= low + 1e-14).all() and (found.aabb().max >= high - 1e-14).all()


def test_meshes_that_were_moved_go_from_one_sample_to_the_next():
    rest = FAMILIES["ball"].mesh
    corners = triangle_corners(rest.triangles)
    start, end = (Meshes(rest.moved(corners * scale), EYES) for scale in (1.0, 2.0))
    halfway = at(start, end, 0.5)
    for k in range(3):
        expected = np.sort((corners * 1.5).reshape(-1, 3), axis=0)
        np.testing.assert_allclose(np.sort(corners_of(halfway, k).reshape(-1, 3), axis=0), expected)
    with pytest.raises(InvalidShapeError, match="do not fit 32 triangles"):
        rest.moved(corners[:3])


def test_other_kinds_and_times_outside_are_refused():
    batch = Meshes(CUBE.mesh, EYES)
    with pytest.raises(InvalidShapeError, match="no motion from Meshes to Sphere"):
        at(batch, Sphere(np.zeros((3, 3)), 1), 0.5)
    with pytest.raises(InvalidShapeError, match="from 0 to 1"):
        at(batch, batch, 1.5)
    with pytest.raises(InvalidShapeError, match="do not broadcast"):
        at(batch, batch[:2], 0.5)


@pytest.mark.parametrize("kind", ["small", "large", "many", "deforming"])
@pytest.mark.parametrize("family", ["torus", "ball", "pieces"])
def test_nodes_hold_their_triangles_in_spheres_and_boxes(family, kind, monkeypatch):
    mesh = FAMILIES[family].mesh.nodes
    if kind in ("large", "many"):
        monkeypatch.setattr(mesh_bvh, "_FEW_TRIANGLES", 0)
    if kind == "many":
        monkeypatch.setattr(mesh_bvh, "_MANY_TRIANGLES", 0)
        mesh = mesh_bvh.MeshBvh(mesh.vertices, mesh.given)
    if kind == "deforming":
        mesh = mesh.moved(mesh.points * [2, 1, 0.5])
    batch = Meshes.unchecked(np.array([mesh]), np.eye(4)[None], np.zeros(1))
    moving, children = moving_nodes((batch, batch), (batch, batch))[0], mesh.nodes
    every = np.arange(len(children.first_child))
    moving.fit_roots(np.zeros(1, dtype=int))
    moving.fit(np.zeros_like(every), every)
    # A pool that is kept may have other meshes too.
    rows = moving.pool.known.row[moving.start.root[0] + every]
    assert (rows >= 0).all()
    nodes = FittedNodes._make(column[rows] for column in moving.pool.known.fitted)
    held: dict[int, np.ndarray] = {}
    for node in reversed(range(len(nodes.radius))):
        first = children.first_child[node]
        below = range(first, first + children.child_count[node])
        corners = mesh.corners[children.first_triangle[[node]]]
        held[node] = np.concatenate([held[child] for child in below] or [corners])
        assert len(held[node]) == children.triangle_count[node]
        offset = held[node].reshape(-1, 3) - nodes.center[node]
        heights = offset @ nodes.axes[node].T
        assert (nodes.lowest[node] <= heights.min(axis=0)).all()
        assert (nodes.highest[node] >= heights.max(axis=0)).all()
        assert np.linalg.norm(offset, axis=1).max() <= nodes.radius[node]
        np.testing.assert_allclose(nodes.axes[node] @ nodes.axes[node].T, np.eye(3), rtol=0, atol=1e-14)
        nearest = closest_on_triangle(nodes.center[node], triangles_from_corners(held[node]))
        assert np.linalg.norm(nearest - nodes.center[node], axis=1).min() <= nodes.near_distance[node]
    assert len(held[0]) == len(mesh.corners)
    slots = children.first_triangle[children.child_count == 0]
    assert sorted(slots) == list(range(len(mesh.corners)))


def test_component_of_each_piece_has_a_corner():
    nodes = FAMILIES["pieces"].mesh.nodes
    assert sorted(np.sign(nodes.component_corners[:, 0])) == [-1, 1]
    assert len(Body(octahedron()).mesh.nodes.component_corners) == 1


@pytest.mark.parametrize(
    ("amount", "error"),
    [
        ([1, 2, 3, 4], InvalidShapeError),
        ("x", InvalidShapeError),
        (np.nan, NonFiniteGeometryError),
        (-5, InvalidShapeError),
    ],
)
def test_invalid_paddings_are_refused(amount, error):
    with pytest.raises(error, match="amount"):
        Meshes(CUBE.mesh, EYES).padded(amount)


def test_batches_of_one_mesh_have_the_same_nodes():
    assert Meshes(CUBE.mesh, EYES).nodes[0] is Meshes([CUBE.mesh], EYES[:1]).nodes[0]
