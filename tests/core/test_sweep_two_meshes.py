from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core.mesh_nodes import MeshNodes, PosedMesh
from addon.core.separation_triangles import triangles_of
from addon.core.sweep_two_meshes import MovingMesh, first_meeting
from addon.core.sweep_two_triangles import MovingTriangles, first_of_triangle_pairs
from addon.core.triangle_mesh import TriangleMesh
from tests.core import meshes
from tests.tiers import times


def moving(start: np.ndarray, end: np.ndarray) -> MovingMesh:
    """By corners at both ends."""
    mesh = TriangleMesh(triangles_of(start))
    tree = mesh.parts.tree
    return MovingMesh(*(PosedMesh(MeshNodes.around(tree, corners), tree.order) for corners in (start, end)))


def carried(corners: np.ndarray, start: np.ndarray, end: np.ndarray) -> MovingMesh:
    """By a matrix at each end."""
    rest = PosedMesh.of(TriangleMesh(triangles_of(corners)))
    return MovingMesh(*(PosedMesh(rest.nodes, rest.order, matrix) for matrix in (start, end)))


def brute_force(a: MovingMesh, b: MovingMesh, clearance: float = 0.0) -> float:
    """Of all pairs of triangles, without asking spheres."""
    (p0, p1), (q0, q1) = ((mesh.start.corners(), mesh.end.corners()) for mesh in (a, b))
    i, j = (index.ravel() for index in np.indices((len(p0), len(q0))))
    return first_of_triangle_pairs(MovingTriangles(p0[i], p1[i]), MovingTriangles(q0[j], q1[j]), clearance)[0]


def assert_like_brute_force(a: MovingMesh, b: MovingMesh, clearance: float = 0.0) -> float:
    found, truth = first_meeting(a, b, clearance), brute_force(a, b, clearance)
    np.testing.assert_allclose(found.time, truth, rtol=0, atol=1e-11)
    np.testing.assert_allclose(first_meeting(b, a, clearance).time, truth, rtol=0, atol=1e-11)
    if not math.isnan(truth):
        pair = (mesh.triangles(np.array([k])) for mesh, k in ((a, found.i), (b, found.j)))
        np.testing.assert_allclose(first_of_triangle_pairs(*pair, clearance)[0], truth, rtol=0, atol=1e-11)
        point, normal = found.point_and_normal(a, b)
        assert point.shape == (3,)
        np.testing.assert_allclose(np.linalg.norm(normal), 1)
    return truth


SHAPES = {
    "rings": (meshes.torus(8, 5), meshes.torus(7, 4)),
    "a ball and a thin plate": (meshes.uneven()[::12] * 0.02, meshes.box() * [3, 3, 0.001]),
    "loose triangles": (meshes.soup(60, size=0.6), meshes.soup(40, seed=1, size=0.2)),
    "needles": (meshes.soup(40, size=3.0) * [1, 1e-7, 1], meshes.soup(40, seed=1, size=3.0)),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("clearance", [0.0, 0.05])
def test_the_first_of_all_pairs_of_triangles_is_found(name, clearance):
    a, b = SHAPES[name]
    found = []
    for seed in (4, 1, 0, 2, 3)[: times(5, 2)]:
        from_a, to_a, from_b, to_b = meshes.poses(4, 4.0, seed)
        if seed % 2:  # straight through one another, without a turn
            to_a[:3, :3], to_b[:3, :3] = from_a[:3, :3], from_b[:3, :3]
            from_a[:3, 3], to_a[:3, 3] = (
                from_a[:3, 3] + 40 * from_b[:3, 0],
                from_b[:3, 3] - 40 * from_b[:3, 0],
            )
        found.append(assert_like_brute_force(carried(a, from_a, to_a), carried(b, from_b, to_b), clearance))
    assert any(time > 0 for time in found)


def test_meshes_that_deform():
    rng = np.random.default_rng(0)
    found = []
    for seed in range(times(5, 2)):
        a, b = meshes.torus(8, 5), meshes.torus(7, 4)
        bent = a + 0.5 * np.sin(a[..., [1, 2, 0]] * 2 + seed)
        way = rng.normal(size=3) * 2
        away = way * 4 / np.linalg.norm(way) * 2
        found.append(assert_like_brute_force(moving(a, bent), moving(b + away, b[:, :, [2, 0, 1]] - way)))
    assert any(0 < time < 1 for time in found)


@pytest.mark.smoke
def test_from_a_time_on_and_with_slack():
    ball, plate = (carried(corners, np.eye(4), np.eye(4)) for corners in SHAPES["a ball and a thin plate"])
    high, low = np.eye(4), np.eye(4)
    high[2, 3], low[2, 3] = 10, -10
    falling = MovingMesh(*(PosedMesh(ball.start.nodes, ball.start.order, m) for m in (high, low)))
    exact = first_meeting(falling, plate)
    assert first_meeting(falling, plate, begin=exact.time * 0.999).time == pytest.approx(
        exact.time, abs=1e-12
    )
    # A slack of 0.1 is 0.005 of the way of 20.
    loose = first_meeting(falling, plate, slack=0.1).time
    assert exact.time - 0.005 - 1e-12 <= loose <= exact.time
    upwards = MovingMesh(falling.start, PosedMesh(ball.start.nodes, ball.start.order, high * 1.0))
    never = first_meeting(upwards, plate)
    assert math.isnan(never.time)
    assert (never.i, never.j) == (-1, -1)
