"""Meshes that bones bend, whose vertices are computed when they are needed."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from addon.core import Meshes, separation
from addon.core.mesh import bent_bvh
from addon.core.mesh.bent_bvh import BentPoses, RecentVertices
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.meshes import moving_vertices
from addon.core.mesh.quad_cuts import CutChanges, QuadCuts
from addon.core.skins.blended_points import BlendedPoints

BONES = 4


def tube(rings=30, around=12):
    """Points (n, 3) of a tube along z, and triangles (t, 3)."""
    angle = 2 * np.pi * np.arange(around) / around
    points = np.array([(np.cos(a), np.sin(a), z) for z in np.linspace(0, BONES, rings) for a in angle])
    here = np.arange(around) + around * np.arange(rings - 1)[:, None]
    after = (np.arange(around) + 1) % around + around * np.arange(rings - 1)[:, None]
    a, b, c, d = (each.ravel() for each in (here, after, after + around, here + around))
    return points, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def weights_of(points):
    """Shares (n, BONES) of bones along z."""
    shares = np.clip(1.2 - np.abs(points[:, 2:] - np.arange(BONES) - 0.5), 0, 1)
    return shares / shares.sum(axis=1, keepdims=True)


def bent_tube(recent=None):
    """Return the poses of a tube, its points and triangles."""
    points, triangles = tube()
    bones = np.tile(np.arange(BONES), (len(points), 1))
    places = np.repeat(points[:, None], BONES, axis=1)
    blended = BlendedPoints(bones, weights_of(points), places, points)
    first = MeshBvh(points, triangles, True)
    return BentPoses(first, blended, recent or RecentVertices()), points, triangles


def random_poses(seed, count):
    """Affine maps (count, BONES, 4, 4)."""
    matrices = np.tile(np.eye(4), (count, BONES, 1, 1))
    matrices[..., :3, :] += 0.3 * np.random.default_rng(seed).normal(size=(count, BONES, 3, 4))
    return matrices


def expected_vertices(points, matrices):
    """Weighted means (n, 3) of the places that bones give each point."""
    homogeneous = np.column_stack([points, np.ones(len(points))])
    return np.einsum("nb,bij,nj->ni", weights_of(points), matrices[:, :3], homogeneous)


@pytest.mark.parametrize("seed", range(3))
def test_vertices_are_weighted_means_and_within_box_and_sphere(seed):
    poses, points, triangles = bent_tube()
    matrices = random_poses(seed, 5)
    for mesh, pose in zip(poses.posed(matrices, np.arange(len(matrices))), matrices, strict=True):
        expected = expected_vertices(points, pose)
        assert mesh.vertices == pytest.approx(expected, abs=1e-12)
        assert mesh.vertex_count == len(points)
        assert mesh.given.tolist() == triangles.tolist()
        (low, high), (center, radius) = mesh.box, mesh.sphere
        assert (low <= mesh.vertices).all()
        assert (mesh.vertices <= high).all()
        assert np.abs(low - expected.min(axis=0)).max() <= 1e-10
        assert np.abs(high - expected.max(axis=0)).max() <= 1e-10
        assert np.linalg.norm(mesh.vertices - center, axis=1).max() <= radius
        # A triangle is as near to the center as its nearest vertex, at least.
        nearest = np.linalg.norm(expected - center, axis=1).min()
        assert nearest <= -mesh.inner_radius <= radius


def test_separations_of_bent_meshes_are_those_of_their_triangles():
    poses, points, triangles = bent_tube()
    matrices = random_poses(7, 2)
    bent = Meshes.unchecked(
        poses.posed(matrices, np.arange(len(matrices))), np.tile(np.eye(4), (2, 1, 1)), np.zeros(2)
    )
    plain = np.empty(2, dtype=object)
    for row, pose in enumerate(matrices):
        plain[row] = MeshBvh(expected_vertices(points, pose), triangles, True)
    given = Meshes.unchecked(plain, bent.matrix, bent.margin)
    box = MeshBvh(np.array([[5.0, 0, 1], [6, 0, 1], [5, 1, 2]]), np.array([[0, 1, 2]]))
    other = Meshes.unchecked(np.array([box, box], dtype=object), bent.matrix, bent.margin)
    assert separation(bent, other) == pytest.approx(separation(given, other), abs=1e-12)
    assert moving_vertices(bent).tolist() == [len(points)] * 2


def test_equal_poses_are_one_mesh_as_long_as_it_is_used():
    poses, _, _ = bent_tube()
    pose = random_poses(1, 1)
    first = poses.posed(np.concatenate([pose, random_poses(2, 1), pose]), np.arange(3))
    assert first[0] is first[2]
    assert first[0] is not first[1]
    assert poses.posed(pose, np.zeros(1))[0] is first[0]
    del first
    gc.collect()
    assert len(poses._known) == 0


def test_vertices_of_many_poses_are_not_all_kept(monkeypatch):
    recent = RecentVertices()
    poses, points, _ = bent_tube(recent)
    monkeypatch.setattr(bent_bvh, "_KEPT", 3 * len(points))
    matrices = random_poses(3, 8)
    meshes = poses.posed(matrices, np.arange(len(matrices)))
    assert not any("vertices" in mesh.__dict__ for mesh in meshes)
    for mesh in meshes:
        assert len(mesh.vertices) == len(points)
        assert mesh.surface is not None
    kept = ["vertices" in mesh.__dict__ for mesh in meshes]
    assert kept == [False] * 5 + [True] * 3
    assert ["surface" in mesh.__dict__ for mesh in meshes] == kept
    for mesh, pose in zip(meshes, matrices, strict=True):
        assert mesh.vertices == pytest.approx(expected_vertices(points, pose), abs=1e-12)


def test_quads_that_are_cut_in_another_way_are_so_from_their_time_on():
    points, triangles = tube()
    blended = BlendedPoints(
        np.tile(np.arange(BONES), (len(points), 1)),
        weights_of(points),
        np.repeat(points[:, None], BONES, axis=1),
        points,
    )
    half = len(triangles) // 2
    order = np.arange(2 * half).reshape(2, half).T.ravel()
    triangles = triangles[order]
    # The first two quads: triangles a b c and a c d follow each other.
    corners = np.array([[*triangles[2 * k], triangles[2 * k + 1, 2]] for k in range(2)]).T
    cuts = QuadCuts(corners, np.zeros(2, dtype=bool), np.array([0, 2]))
    changes = CutChanges(np.array([2.0, 3.0, 5.0]), np.array([0, 1, 0]), 0.1)
    first = MeshBvh(points, triangles, True)
    poses = BentPoses(first, blended, RecentVertices(), (cuts, changes))
    pose = np.repeat(random_poses(1, 1), 4, axis=0)
    times = np.array([1.0, 2.0, 4.0, 5.0])
    meshes, before = poses.posed(pose, times), poses.posed(pose, times, is_before=True)
    expected = [[], [0], [0, 1], [1]]
    for mesh, quads in zip(meshes, expected, strict=True):
        assert mesh.given.tolist() == cuts.recut(triangles, np.array(quads, dtype=int)).tolist()
        # The tree has the same triangles at the same places.
        assert mesh.triangles.tolist() == mesh.given[first.tree.order].tolist()
    assert before[1] is meshes[0]
    assert before[3] is meshes[2]
    assert meshes[0].first is first
