"""Bounds of relative motion hold for planes and points of meshes whose corners move in straight lines."""

from __future__ import annotations

import numpy as np

from addon.core import TriangleMesh
from addon.core.interval.common_paths import paths_where_both_are
from addon.core.interval.pair_motion import PairMotion
from addon.core.mesh.meshes import Meshes
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import scenes
from tests.core.mesh.solids import box, icosphere
from tests.core.motions import rotation_about
from tests.tiers import times


def motion_of(mesh: TriangleMesh, rng: np.random.Generator, count: int, spread: float, angle: float):
    """Matrices (2, count, 4, 4) of a mesh that turns by up to an angle and moves."""
    poses = np.tile(np.eye(4), (2, count, 1, 1))
    poses[:, :, :3, :3] = scenes.random_rotations(rng, count)
    poses[:, :, :3, 3] = rng.normal(size=(count, 3)) * spread
    axis = scenes.random_directions(rng, count)
    poses[1, :, :3, :3] = rotation_about(axis, rng.uniform(0, angle, count)) @ poses[0, :, :3, :3]
    poses[1, :, :3, 3] += rng.normal(size=(count, 3)) * 0.02
    return poses


def test_vertices_move_no_farther_from_planes_of_the_other_mesh():
    rng, count = np.random.default_rng(4), times(2000, 500, full=20000)
    meshes = [TriangleMesh(triangles_from_corners(corners)) for corners in (icosphere(2), box(0.5, 0.4, 0.6))]
    poses = [motion_of(mesh, rng, count, 0.5, 0.1) for mesh in meshes]
    a, b = (Meshes(mesh, pose) for mesh, pose in zip(meshes, poses, strict=True))
    found = paths_where_both_are(PairMotion(a[0], a[1], b[0], b[1]), np.zeros(count), np.ones(count))
    assert np.isfinite(found).all()
    # A point of the first mesh, and a plane through a point of the second one near it at the start.
    point = scenes.random_directions(rng, count) * rng.uniform(0, 1, (count, 1))
    world = (poses[0][0] @ np.append(point, np.ones((count, 1)), axis=1)[..., None])[:, :3, 0]
    normal = scenes.random_directions(rng, count)
    foot = world + normal * rng.uniform(0, 0.2, (count, 1))
    local = (np.linalg.inv(poses[1][0]) @ np.append(foot, np.ones((count, 1)), axis=1)[..., None])[:, :3, 0]
    turned = np.swapaxes(poses[1][0, :, :3, :3], 1, 2) @ normal[..., None]
    # In both spheres; that of the box has the radius of its corners.
    is_shared = (np.linalg.norm(local, axis=1) < 0.8) & (
        np.linalg.norm(local - turned[..., 0] * 0.2, axis=1) < 0.8
    )
    height = []
    for end in (0, 1):
        now = (poses[0][end] @ np.append(point, np.ones((count, 1)), axis=1)[..., None])[:, :3, 0]
        inverse = np.linalg.inv(poses[1][end])
        there = (inverse @ np.append(now, np.ones((count, 1)), axis=1)[..., None])[:, :3, 0]
        height.append(((there - local) * turned[..., 0]).sum(axis=1))
    change = np.abs(height[1] - height[0])
    assert (change[is_shared] <= found[is_shared]).all()
    assert np.count_nonzero(is_shared) > count // 8
    assert (change[is_shared] > found[is_shared] / 4).any()


def test_wheels_that_turn_against_each_other_hardly_move_where_they_meet():
    mesh = TriangleMesh(triangles_from_corners(icosphere(2) * [1, 1, 0.1]))
    ends = []
    for place, angle in ((0.0, 0.1), (1.9, -0.1)):
        pose = np.eye(4)
        pose[0, 3] = place
        end = pose.copy()
        end[:3, :3] = rotation_about(np.array([0.0, 0.0, 1.0]), np.array(angle))
        ends += [Meshes(mesh, pose[None]), Meshes(mesh, end[None])]
    found = paths_where_both_are(PairMotion(*ends), np.zeros(1), np.ones(1))
    # The spheres overlap up to sqrt(1 - 0.95 ** 2) = 0.312 from the line between the centers: there both move
    # by 0.1 * 0.312 in opposite directions, and along it by up to 0.1 * 0.1.
    assert 2 * 0.0312 < found[0] < 1.5 * 2 * 0.0312


def test_large_rotations_and_meshes_that_deform_have_no_bound():
    mesh = TriangleMesh(triangles_from_corners(icosphere(1)))
    pose, end = np.eye(4)[None], np.eye(4)[None].copy()
    end[0, :3, :3] = rotation_about(np.array([0.0, 0.0, 1.0]), np.array(1.0))
    still, turned = Meshes(mesh, pose), Meshes(mesh, end)
    assert paths_where_both_are(PairMotion(still, turned, still, still), np.zeros(1), np.ones(1))[0] == np.inf
    moved = np.array([mesh.nodes.moved(mesh.nodes.vertices + 0.01)], dtype=object)
    other = Meshes.unchecked(moved, pose, np.zeros(1))
    assert paths_where_both_are(PairMotion(still, other, still, still), np.zeros(1), np.ones(1))[0] == np.inf


def test_meshes_that_turn_inside_out_may_move_any_distance():
    # In the middle of half a turn in straight lines, or of a mirroring, the matrix has no inverse.
    mesh = TriangleMesh(triangles_from_corners(icosphere(1)))
    ends = np.tile(np.eye(4), (3, 1, 1))
    ends[0, [0, 1], [0, 1]] = ends[1, 0, 0] = -1.0
    ends[2, [0, 1, 2], [0, 1, 2]] = -1.0
    start = Meshes(mesh, np.tile(np.eye(4), (3, 1, 1)))
    pairs = PairMotion(start, Meshes.unchecked(start.nodes, ends, start.margin), start, start)
    assert np.isinf(paths_where_both_are(pairs, np.zeros(3), np.ones(3))).all()
