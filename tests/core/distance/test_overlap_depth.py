"""Depths of meshes, with their places and directions, are those of formulas and of all vertices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from addon.core import (
    InvalidShapeError,
    Meshes,
    Sphere,
    WitnessPoints,
    overlap_depth,
    overlaps,
    separation,
    witness_points,
)
from tests.core import meshes
from tests.core.distance.test_mesh_depth import BODIES, RESOLUTION, brute_force
from tests.core.mesh.solids import FAMILIES, Body, box
from tests.tiers import times

WALL, SHEET = Body(box(2, 2, 2)), FAMILIES["sheet"]
UPRIGHT = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def moved(body: Body, *offsets: object) -> Meshes:
    poses = np.tile(np.eye(4), (len(offsets), 1, 1))
    poses[:, :3, 3] = np.array(offsets)
    return Meshes(body.mesh, poses)


def assert_fits(depth: np.ndarray, witness: WitnessPoints) -> None:
    """Assert that the points are apart by the depth, along the normal."""
    np.testing.assert_allclose(np.linalg.norm(witness.normal, axis=-1), 1, rtol=1e-14)
    np.testing.assert_allclose(
        witness.on_b - witness.on_a, -depth[..., None] * witness.normal, rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("half", [0.1, 0.5])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_cube_in_a_wall_is_as_deep_as_its_foremost_side(half, side):
    # The wall ends at x = 2, and the cube comes from there.
    deep = np.array([0.0, 0.01, 0.4 * half, half, 2 * half, 1.2])
    offsets = np.stack([side * (2 - deep + half), 0 * deep + 0.1, 0 * deep], axis=1)
    depth, witness = overlap_depth(moved(WALL, [0, 0, 0]), moved(Body(box(half, half, half)), *offsets))
    np.testing.assert_allclose(depth, deep, rtol=0, atol=1e-14)
    assert_fits(depth, witness)
    np.testing.assert_allclose(witness.normal[1:] - [side, 0, 0], 0, atol=1e-12)
    np.testing.assert_allclose(witness.on_a[:, 0], side * 2, rtol=1e-14)
    np.testing.assert_allclose(witness.on_b[:, 0], side * (2 - deep), rtol=1e-14)


@pytest.mark.parametrize("swap", [False, True])
def test_sphere_in_a_wall_is_deeper_than_its_center_by_its_radius(swap):
    # Centers are 0.5 inside, on the surface, 0.2 and 0.7 outside.
    x, radius = np.array([1.5, 2.0, 2.2, 2.7]), 0.3
    balls = Meshes.balls(Sphere(np.stack([x, 0.2 + 0 * x, 0 * x], axis=1), radius))
    pair = (balls, moved(WALL, [0, 0, 0]))[:: -1 if swap else 1]
    depth, witness = overlap_depth(*pair)
    np.testing.assert_allclose(depth, 2 - x + radius, rtol=0, atol=1e-14)
    assert_fits(depth, witness)
    on_ball = witness.on_b if swap else witness.on_a
    np.testing.assert_allclose(on_ball[[0, 2, 3], 0], (x - radius)[[0, 2, 3]], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(depth >= 0, overlaps(*pair))


@pytest.mark.parametrize(("a", "b"), [pair for pair in product(BODIES, BODIES) if "ball" in pair])
def test_depth_and_place_are_those_of_the_deepest_vertex(a, b):
    first, second = BODIES[a], BODIES[b]
    count = times(6, 3, full=30)
    poses = [meshes.random_poses(count, spread, seed) for spread, seed in ((0.4, 3), (0.4, 4))]
    pair = Meshes(first.mesh, poses[0]), Meshes(second.mesh, poses[1])
    depth, witness = overlap_depth(*pair)
    assert_fits(depth, witness)
    corners = first.posed(poses[0]), second.posed(poses[1])
    truth = np.array([brute_force(one, other) for one, other in zip(*corners, strict=True)])
    overlap = np.maximum(depth, 0)
    assert (overlap <= truth * (1 + 1e-9)).all()
    assert (overlap >= truth - RESOLUTION * min(first.reach, second.reach)).all()
    for row in np.flatnonzero(depth > 0):
        # One of the points is a vertex, inside the other mesh by the depth.
        apart = [
            np.linalg.norm(each[row].reshape(-1, 3) - point[row], axis=1).min()
            for each, point in zip(corners, witness, strict=False)
        ]
        assert min(apart) < 1e-12
    assert (truth > 0).any()


def test_depth_is_negative_for_meshes_that_are_apart():
    rng = np.random.default_rng(5)
    pair = (
        moved(FAMILIES["egg"], *rng.normal(size=(20, 3))),
        moved(FAMILIES["box"], *rng.normal(size=(20, 3))),
    )
    depth, witness = overlap_depth(*pair)
    apart = ~overlaps(*pair)
    assert 0 < apart.sum() < 20
    np.testing.assert_array_equal(depth >= 0, ~apart)
    np.testing.assert_allclose(-depth[apart], separation(*pair)[apart], rtol=0, atol=1e-14)
    closest = witness_points(*pair)
    np.testing.assert_array_equal(witness.on_a[apart], closest.on_a[apart])
    np.testing.assert_array_equal(witness.normal[apart], closest.normal[apart])


def test_edges_that_cross_have_depth_0_and_open_surfaces_none():
    bars = moved(Body(box(2, 0.1, 0.1)), [0, 0, 0]), moved(Body(box(0.1, 2, 0.1)), [0, 0, 0.19])
    depth, witness = overlap_depth(*bars)
    assert depth.tolist() == [0]
    # Shared points are in both bars.
    assert (np.abs(witness.on_a) <= np.array([0.1, 0.1, 0.1]) + 1e-12).all()
    sheet, other = Meshes(SHEET.mesh, np.eye(4)), Meshes(SHEET.mesh, UPRIGHT)
    assert np.isnan(overlap_depth(sheet, other)[0])
    depth, witness = overlap_depth(sheet, moved(SHEET, [0, 0, 0.25]))
    assert depth.tolist() == [-0.25]
    assert_fits(depth, witness)
    # A solid without an inside has none, and a surface in a solid has one.
    surfaces = [Meshes(WALL.mesh, np.eye(4), is_solid=False), Meshes(WALL.mesh, np.eye(4))]
    cube = moved(Body(box(0.5, 0.5, 0.5)), [2, 0, 0])
    assert overlap_depth(surfaces[0], cube)[0] == 0
    assert overlap_depth(surfaces[1], sheet)[0] == pytest.approx(2, abs=2e-3)
    assert np.isnan(overlap_depth(surfaces[0], Meshes(SHEET.mesh, UPRIGHT * [[3], [3], [3], [1]]))[0])


def test_margins_add_to_depths():
    cube, wall = moved(Body(box(0.5, 0.5, 0.5)), [2.2, 0, 0], [2.75, 0, 0]), moved(WALL, [0, 0, 0])
    depth, witness = overlap_depth(wall.padded(0.125), cube.padded([0.0625, 0.25]))
    np.testing.assert_allclose(depth, [0.3 + 0.1875, 0.375 - 0.25], rtol=0, atol=1e-14)
    assert_fits(depth, witness)


def test_batches_broadcast_and_other_shapes_are_refused():
    first, second = moved(WALL, *np.eye(3)), moved(FAMILIES["ball"], *2 * np.eye(3), [1, 1, 1])
    depth, witness = overlap_depth(first[:, None], second)
    assert depth.shape == (3, 4) and witness.normal.shape == (3, 4, 3)
    for row, column in np.ndindex(3, 4):
        alone, at = overlap_depth(first[row], second[column])
        assert alone.shape == () and at.on_a.shape == (3,)
        assert alone == depth[row, column]
    assert overlap_depth(first[:0], second[:1])[0].shape == (0,)
    with pytest.raises(InvalidShapeError, match="do not broadcast"):
        overlap_depth(first, second)
    with pytest.raises(InvalidShapeError, match="b: Meshes is needed, not Sphere"):
        overlap_depth(first, Sphere([0, 0, 0], 1))  # type: ignore[arg-type]
