"""Depths of meshes agree with winding numbers and distances over all vertices and triangles."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from addon.core import TriangleMesh
from addon.core.distance.mesh_depth import deepest_vertices, separations_by_depth
from addon.core.mesh.meshes import Meshes
from addon.core.shapes.primitives import closest_on_triangle, triangles_from_corners
from tests.core import meshes
from tests.core.mesh.solids import FAMILIES, Body, box, icosphere, winding_numbers
from tests.tiers import times

RESOLUTION = 2e-3
BODIES = {name: FAMILIES[name] for name in ("ball", "egg", "box", "pieces", "large box")}
# Corners on its seam are exactly equal then, so that it is closed.
BODIES["torus"] = Body(FAMILIES["torus"].corners.round(12))


def posed(body: Body, poses: np.ndarray) -> Meshes:
    return Meshes(body.mesh, poses)


def depth(a: np.ndarray, b: np.ndarray, offset: object, known: float = 0.0) -> float:
    poses = np.tile(np.eye(4), (2, 1, 1, 1))
    poses[1, 0, :3, 3] = offset
    first, second = (TriangleMesh(triangles_from_corners(corners)) for corners in (a, b))
    return float(
        deepest_vertices(Meshes(first, poses[0]), Meshes(second, poses[1]), np.array([known])).depth[0]
    )


def brute_force(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance of a corner inside the other surface from that: of corners (t, 3, 3) and (u, 3, 3)."""
    deepest = 0.0
    for inner, outer in ((a, b), (b, a)):
        points = np.unique(inner.reshape(-1, 3), axis=0)
        points = points[winding_numbers(points[None], outer[None])[0] != 0]
        triangles = triangles_from_corners(outer)
        for point in points:
            nearest = np.linalg.norm(closest_on_triangle(point, triangles) - point, axis=-1).min()
            deepest = max(deepest, float(nearest))
    return deepest


@pytest.mark.parametrize(("a", "b"), [pair for pair in product(BODIES, BODIES) if pair != ("large box",) * 2])
def test_depth_is_that_of_the_deepest_vertex(a, b):
    first, second = BODIES[a], BODIES[b]
    count = times(6, 3, full=30)
    poses = [meshes.random_poses(count, spread, seed) for spread, seed in ((0.4, 1), (0.4, 2))]
    found = deepest_vertices(posed(first, poses[0]), posed(second, poses[1]), np.zeros(count)).depth
    corners = first.posed(poses[0]), second.posed(poses[1])
    truth = np.array([brute_force(one, other) for one, other in zip(*corners, strict=True)])
    assert (found <= truth * (1 + 1e-9)).all()
    assert (found >= truth - RESOLUTION * min(first.reach, second.reach)).all()
    assert truth.max() > 0.02, "no pose was deep"


def check_scaled_and_sheared_depths() -> None:
    """Compare depths under random matrices with brute force."""
    rng, first, second = np.random.default_rng(3), BODIES["ball"], BODIES["torus"]
    poses = np.tile(np.eye(4), (2, 8, 1, 1))
    poses[..., :3, :3] = rng.normal(size=(2, 8, 3, 3))
    poses[..., :3, 3] = rng.normal(size=(2, 8, 3)) * 0.2
    found = deepest_vertices(posed(first, poses[0]), posed(second, poses[1]), np.zeros(8)).depth
    corners = first.posed(poses[0]), second.posed(poses[1])
    truth = np.array([brute_force(one, other) for one, other in zip(*corners, strict=True)])
    np.testing.assert_allclose(found, truth, rtol=0, atol=RESOLUTION * 4)
    assert (truth > 0).sum() > 4


def test_depths_under_scales_and_shear_are_in_the_world():
    check_scaled_and_sheared_depths()


def test_corner_of_a_cube_is_as_deep_as_it_is_below_the_nearest_face():
    # The corner at (0.6, 0.5, 0.4), as the second one is placed, is 0.4, 0.5 and 0.6 from faces of the first.
    assert depth(box(1, 1, 1), box(1, 1, 1), (1.6, 1.5, 1.4)) == pytest.approx(0.4, abs=1e-3)


def test_small_ball_inside_a_large_one_is_as_deep_as_its_farthest_vertex():
    small, large = icosphere(1) * 0.1, icosphere(3) * 2
    # Vertices of the small one are up to 0.1 nearer to the center.
    assert depth(large, small, (1.5, 0, 0)) == pytest.approx(0.6, abs=0.02)


def test_edges_that_cross_have_no_depth():
    assert depth(box(2, 0.1, 0.1), box(0.1, 2, 0.1), (0, 0, 0.19)) == 0


def test_open_meshes_have_no_depth():
    assert (
        depth(meshes.plate(2, 1.6), meshes.plate(2, 1.6) @ np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0.0]]), 0.1)
        == 0
    )


def test_flat_image_of_a_mesh_has_no_inside():
    first, second = FAMILIES["ball"], FAMILIES["box"]
    flat = np.diag([1.0, 1.0, 0.0, 1.0])[None]
    assert deepest_vertices(posed(second, np.eye(4)[None]), posed(first, flat), np.zeros(1)).depth > 0
    assert deepest_vertices(posed(first, flat), posed(first, flat), np.zeros(1)).depth == 0


def test_known_depth_is_the_least():
    assert depth(box(1, 1, 1), box(1, 1, 1), (1.6, 1.5, 1.4), known=0.7) == 0.7
    assert depth(box(1, 1, 1), box(1, 1, 1), (9, 0, 0), known=0.7) == 0.7


def test_no_meshes_have_no_depths():
    none = Meshes(FAMILIES["ball"].mesh, np.empty((0, 4, 4)))
    assert deepest_vertices(none, none, np.zeros(0)).depth.shape == (0,)


def test_separation_is_the_distance_or_minus_the_depth():
    cube, sheet = FAMILIES["box"], FAMILIES["sheet"]
    poses = np.tile(np.eye(4), (4, 1, 1))
    # Half extents of the box are 0.7, 0.5 and 0.4: apart, a corner inside, and farther than the cutoff.
    poses[:3, :3, 3] = [(1.5, 0, 0), (1.1, 0.7, 0.5), (3, 0, 0)]
    cutoff = np.array([np.inf, np.inf, 0.5])
    found = separations_by_depth(posed(cube, np.tile(np.eye(4), (3, 1, 1))), posed(cube, poses[:3]), cutoff)
    np.testing.assert_allclose(found, [0.1, -0.3, 0.5], rtol=0, atol=1e-3)
    # The vertex in the middle of the sheet is in that of the box.
    assert separations_by_depth(posed(cube, poses[3:]), posed(sheet, poses[3:]), cutoff[:1])[0] == -0.4
