"""Searches by heights find the triangles that brute force over all pairs of triangles finds."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.distance.mesh_mesh import closest_triangles
from addon.core.distance.triangle_triangle import separation_triangle_triangle
from addon.core.mesh import mesh_bvh, support_search
from addon.core.mesh.meshes import Meshes, interpolated_meshes, moving_nodes
from addon.core.mesh.triangle_mesh import TriangleMesh
from addon.core.shapes.primitives import triangles_from_corners
from addon.core.sweep.mesh_mesh import first_impacts_of_meshes
from addon.core.sweep.triangle_triangle import MovingTriangles, first_impacts_of_triangles
from tests.core import meshes
from tests.core.mesh.solids import FAMILIES
from tests.tiers import times

NAMES = ("ball", "egg", "box", "torus", "pieces")


@pytest.fixture(params=["heights", "large"], autouse=True)
def always(monkeypatch, request):
    monkeypatch.setattr(support_search, "_LEAST_TRIANGLES", 0)
    if request.param == "large":
        monkeypatch.setattr(support_search, "_MOST_TRIANGLES", 0)
        monkeypatch.setattr(mesh_bvh, "_FEW_TRIANGLES", 0)


def all_pairs(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of triangles (t, ...) and (u, ...), in two arrays."""
    return np.repeat(a, len(b), axis=0), np.tile(b, (len(a), *[1] * (b.ndim - 1)))


def corners_of(batch: Meshes, row: int) -> np.ndarray:
    matrix = batch.matrix[row]
    return batch.nodes[row].corners @ matrix[:3, :3].T + matrix[:3, 3]


def posed(first: str, second: str, count: int, spread: float, seed: int) -> tuple[Meshes, Meshes]:
    poses = [meshes.random_poses(count, spread, seed + k) for k in range(2)]
    return Meshes(FAMILIES[first].mesh, poses[0]), Meshes(FAMILIES[second].mesh, poses[1])


@pytest.mark.parametrize("second", NAMES)
@pytest.mark.parametrize("first", ["ball", "torus", "pieces"])
def test_distance_is_that_of_the_closest_of_all_triangles(first, second):
    count = times(3, 2, full=10)
    a, b = posed(first, second, count, 3.0, 1)
    found, nodes = closest_triangles(*moving_nodes((a, a), (b, b)), np.full(count, np.inf))
    for row in range(count):
        truth = separation_triangle_triangle(*all_pairs(corners_of(a, row), corners_of(b, row))).min()
        assert found[row] == pytest.approx(truth, rel=1e-12, abs=1e-12)
    assert (nodes >= 0).all()


@pytest.mark.parametrize("second", NAMES)
def test_impact_is_that_of_the_first_of_all_triangles(second):
    count, clearance = times(3, 2, full=10), 0.05
    a, b = posed("ball", second, count, 2.0, 3)
    a_end, b_end = posed("ball", second, count, 2.0, 13)
    found, _ = first_impacts_of_meshes(*moving_nodes((a, a_end), (b, b_end)), np.full(count, clearance))
    for row in range(count):
        pairs = all_pairs(
            np.stack([corners_of(a, row), corners_of(a_end, row)], axis=1),
            np.stack([corners_of(b, row), corners_of(b_end, row)], axis=1),
        )
        moving = [MovingTriangles(each[:, 0], each[:, 1]) for each in pairs]
        first = np.nanmin(np.append(first_impacts_of_triangles(*moving, clearance)[0], np.inf))
        assert (np.inf if np.isnan(found[row]) else found[row]) == pytest.approx(first, abs=1e-9)


def test_search_with_a_limit_finds_nothing_beyond_it():
    a, b = posed("ball", "egg", 8, 3.0, 5)
    nodes = moving_nodes((a, a), (b, b))
    distance, _ = closest_triangles(*nodes, np.full(8, np.inf))
    for part, is_found in ((0.999, False), (1.001, True)):
        found, triangles = closest_triangles(*nodes, distance * part)
        apart = distance > 0
        assert ((triangles[0] >= 0) == is_found)[apart].all()
        np.testing.assert_allclose(found[apart], (distance * min(part, 1.0))[apart], rtol=1e-12)


def test_wrong_guesses_change_nothing():
    a, b = posed("ball", "torus", 8, 3.0, 7)
    middle = interpolated_meshes(a, b, np.full(8, 0.5))
    nodes = moving_nodes((a, a), (middle, middle))
    truth, _ = closest_triangles(*nodes, np.full(8, np.inf))
    leaves = a.nodes[0].leaves
    guess = np.tile(leaves[:8], (2, 1))
    guess[:, ::2] = -1
    found, _ = closest_triangles(*nodes, np.full(8, np.inf), guess=guess)
    np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("gap", [1e-6, 1e-3, 0.02])
def test_distance_of_surfaces_that_lie_along_each_other_is_the_gap(gap, monkeypatch):
    # By the trees, whose nodes are apart along their normals alone.
    monkeypatch.setattr(support_search, "_MOST_TRIANGLES", 0)
    corners = meshes.grid_surface(8, 8, lambda u, v: (u, v, 0.1 * u**2))
    sheet = Meshes(TriangleMesh(triangles_from_corners(corners)), np.eye(4)[None])
    moved = np.eye(4)[None].copy()
    moved[0, :3, 3] = [0.003, 0.001, gap]
    other = Meshes.unchecked(sheet.nodes, moved, sheet.margin)
    nodes = moving_nodes((sheet, sheet), (other, other))
    truth = separation_triangle_triangle(*all_pairs(corners_of(sheet, 0), corners_of(other, 0))).min()
    found = closest_triangles(*nodes, np.array([truth * 2]))[0][0]
    assert found == pytest.approx(truth, rel=1e-9)
    assert closest_triangles(*nodes, np.array([truth * 0.999]))[1][0, 0] == -1
