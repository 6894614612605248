"""Depths in meshes with cells agree with brute force, also where only large meshes have them otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import TriangleMesh
from addon.core.distance import depth_cells
from addon.core.distance.mesh_depth import deepest_vertices
from addon.core.mesh.meshes import Meshes
from addon.core.mesh.node_pool import object_array
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import meshes
from tests.core.distance.test_mesh_depth import (
    BODIES,
    RESOLUTION,
    brute_force,
    check_scaled_and_sheared_depths,
    posed,
)
from tests.core.mesh.solids import Body, icosphere, shell
from tests.tiers import times

SHELL = Body(shell(0.9, 0.5))


@pytest.fixture
def cells_everywhere(monkeypatch):
    monkeypatch.setattr(depth_cells, "_MANY_TRIANGLES", 0)
    monkeypatch.setattr(depth_cells, "_FEW_VERTICES", 0)


@pytest.mark.parametrize(
    ("a", "b"),
    [("ball", "torus"), ("torus", "egg"), ("box", "pieces"), ("pieces", "large box"), ("egg", "shell")],
)
def test_depth_by_cells_is_that_of_the_deepest_vertex(a, b, cells_everywhere):
    first, second = ((BODIES | {"shell": SHELL})[name] for name in (a, b))
    count = times(12, 6, full=60)
    poses = [meshes.random_poses(count, spread, seed) for spread, seed in ((0.4, 3), (0.4, 4))]
    known = np.where(np.arange(count) % 2, 0.05, 0.0)
    found = deepest_vertices(posed(first, poses[0]), posed(second, poses[1]), known).depth
    corners = first.posed(poses[0]), second.posed(poses[1])
    truth = np.array([brute_force(one, other) for one, other in zip(*corners, strict=True)])
    assert (found <= np.maximum(truth, known) * (1 + 1e-9)).all()
    assert (found >= truth - RESOLUTION * min(first.reach, second.reach)).all()
    assert truth.max() > 0.02, "no pose was deep"


def test_depths_by_cells_under_scales_and_shear_are_in_the_world(cells_everywhere):
    check_scaled_and_sheared_depths()


@pytest.mark.parametrize("size", [0.0, 1e-110, 1e104])
def test_depth_by_cells_in_a_mesh_of_any_size_is_in_proportion(size, cells_everywhere):
    def depth_of(size: float) -> float:
        ball = TriangleMesh(triangles_from_corners(icosphere(2) * size))
        poses = np.tile(np.eye(4), (2, 1, 1, 1))
        poses[1, 0, 0, 3] = 1.2 * size
        return float(deepest_vertices(*(Meshes(ball, pose) for pose in poses), np.zeros(1)).depth[0])

    # A ball of radius 1 reaches 0.8 into another one, but for its flat faces.
    assert 0.75 < depth_of(1.0) < 0.8
    assert depth_of(size) == pytest.approx(depth_of(1.0) * size, rel=1e-9, abs=0)


def large_balls() -> tuple[Meshes, Meshes]:
    """Two unit balls of 32,768 triangles, made each time, with centers 1.2 apart along different axes."""
    mesh = TriangleMesh(triangles_from_corners(icosphere(6)))
    poses = np.tile(np.eye(4), (2, 3, 1, 1))
    poses[1, :, :3, 3] = np.diag([1.2, -1.2, 1.2])
    nodes = object_array([mesh.nodes] * 3)
    return Meshes.unchecked(nodes, poses[0], np.zeros(3)), Meshes.unchecked(nodes, poses[1], np.zeros(3))


def test_tips_of_large_balls_are_as_deep_as_the_overlap():
    # Radii of 1 and a distance of 1.2. Triangles are up to 3e-4 below the sphere.
    found = deepest_vertices(*large_balls(), np.zeros(3))
    np.testing.assert_allclose(found.depth, 0.8, rtol=0, atol=RESOLUTION)
    np.testing.assert_allclose(np.abs(found.normal), np.eye(3), rtol=0, atol=0.1)


def test_depth_does_not_depend_on_what_was_measured_before():
    a, b = large_balls()
    first = deepest_vertices(a, b, np.zeros(3))
    row = np.array([2])
    a, b = large_balls()
    second = deepest_vertices(a[row], b[row], np.zeros(1))
    assert all(np.array_equal(*each) for each in zip(first.take(row), second, strict=True))


def test_bounds_hold_for_points_anywhere():
    body = BODIES["torus"]
    mesh, rng = body.mesh.nodes, np.random.default_rng(8)
    points = rng.uniform(-1.5, 1.5, (400, 3))
    radius = np.where(np.arange(400) % 2, 0.0, rng.uniform(0, 0.3, 400))
    cells = depth_cells.DepthCells(mesh)
    rows, most, are_inside, _ = cells.deeper_points(
        mesh, np.ascontiguousarray(points.T), np.full(400, 0.01), radius
    )
    truth = np.array([brute_force(np.tile(point, (1, 3, 1)), body.corners) for point in points])
    bounds = np.zeros(400)
    bounds[rows] = most
    assert (truth > 0.01).sum() > 10
    assert (bounds[truth > 0.01] >= truth[truth > 0.01]).all()
    assert (truth[rows[are_inside]] > 0).all()
    # Without a radius, most of what is not deep is ruled out.
    is_point = radius[rows] == 0
    assert np.mean(truth[rows[is_point]] > 0) > 0.5
