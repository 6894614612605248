"""Changes of the velocities of meshes from one interval to the next, against the vertices themselves."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.interval.pair_motion import velocities, velocity_change
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.meshes import Meshes
from tests.core import meshes
from tests.core.mesh.solids import FAMILIES
from tests.tiers import times

REST = MeshBvh(np.random.default_rng(3).normal(size=(9, 3)), np.arange(9).reshape(3, 3), deforms=True)


def batch(*nodes: MeshBvh, matrices: np.ndarray | None = None) -> Meshes:
    objects = np.empty(len(nodes), dtype=object)
    objects[:] = nodes
    poses = np.tile(np.eye(4), (len(nodes), 1, 1)) if matrices is None else matrices
    return Meshes.unchecked(objects, poses, np.zeros(len(nodes)))


def moved(offset: float) -> MeshBvh:
    """Return the mesh with its vertex 4 elsewhere, along x."""
    points = REST.points.copy()
    points[4, 0] += offset
    return REST.moved(points)


def test_change_is_that_of_the_vertex_whose_velocity_changes_most():
    # Vertex 4 moves by 1 in two frames, then by 3 in one: from 0.5 to 3 a frame.
    before = velocities(batch(REST), batch(moved(1.0)), 2.0)
    after = velocities(batch(moved(1.0)), batch(moved(4.0)), 1.0)
    assert velocity_change(before, after).tolist() == pytest.approx([2.5])
    assert velocity_change(np.zeros(()), after).tolist() == pytest.approx([3.0])


@pytest.mark.parametrize("seed", range(times(10)))
def test_rigid_meshes_next_to_one_that_deforms_change_as_they_do_alone(seed):
    rng = np.random.default_rng(seed)
    ball = FAMILIES["ball"].mesh.nodes
    poses = meshes.random_poses(6, 2.0, seed).reshape(3, 2, 4, 4)
    together = [
        batch(REST.moved(REST.points + rng.normal(size=(9, 3))), ball, matrices=each) for each in poses
    ]
    alone = [each[1:] for each in together]
    changes = []
    for samples in (together, alone):
        before, after = velocities(samples[0], samples[1], 1.0), velocities(samples[1], samples[2], 0.5)
        changes.append(velocity_change(before, after))
    assert changes[0][1] == pytest.approx(changes[1][0], rel=1e-12)
    # No vertex of the ball changes its velocity by more.
    places = [each.matrix[0, :3, :3] @ ball.points.T + each.matrix[0, :3, 3:] for each in alone]
    change = (places[2] - places[1]) / 0.5 - (places[1] - places[0])
    assert np.linalg.norm(change, axis=0).max() <= changes[1][0] * (1 + 1e-12)


def test_other_triangles_change_by_the_length_of_their_sides_and_other_vertices_by_the_size():
    quad = np.array([[0.0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0]])
    one = MeshBvh(quad, np.array([[0, 1, 2], [0, 2, 3]]), deforms=True)
    other = MeshBvh(quad, np.array([[0, 1, 3], [1, 2, 3]]), deforms=True)
    still, cut = velocities(batch(one), batch(one), 1.0), velocities(batch(one), batch(other), 0.5)
    # The diagonal is 5 long, in half a frame.
    assert velocity_change(still, cut).tolist() == pytest.approx([10.0])
    more = MeshBvh(
        np.vstack([quad, quad + np.array([0.0, 0, 12])]), np.array([[0, 1, 2], [4, 5, 6]]), deforms=True
    )
    replaced = velocities(batch(one), batch(more), 1.0)
    assert velocity_change(still, replaced)[0] >= 12.0
