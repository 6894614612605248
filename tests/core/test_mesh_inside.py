from __future__ import annotations

import numpy as np
import pytest

from addon.core.mesh_inside import Pieces, any_piece_inside, is_inside
from tests.core import meshes
from tests.tiers import times

CUBE = meshes.box()


def closed_torus(nu: int = 20, nv: int = 10) -> np.ndarray:
    """One whose seams meet exactly: sines of a whole turn are not 0 in floats."""
    return np.round(meshes.torus(nu, nv), 9) + 0.0


def solid_angle_winding(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How often triangles wind around points, by the solid angles they fill (Van Oosterom and Strackee)."""
    a, b, c = np.moveaxis(corners[None] - points[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    triple = (a * np.cross(b, c)).sum(axis=-1)
    below = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return (2 * np.arctan2(triple, below)).sum(axis=1) / (4 * np.pi)


def test_points_on_a_grid_that_lines_up_with_edges_and_corners_of_a_cube():
    # Straight below corners, edges, the diagonals of faces and the sides themselves.
    axis = np.array([-2, -1, -0.5, 0, 0.5, 1, 2])
    points = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    largest = np.abs(points).max(axis=1)
    points, largest = points[largest != 1], largest[largest != 1]
    np.testing.assert_array_equal(is_inside(points, CUBE), largest < 1)
    np.testing.assert_array_equal(is_inside(points, CUBE[:, ::-1]), largest < 1)


@pytest.mark.parametrize("turned", [False, True])
def test_inside_of_a_torus_is_what_it_winds_around(turned):
    corners = closed_torus()
    turn = meshes.poses(1, 0.0, seed=3)[0, :3, :3] if turned else np.eye(3)
    corners = corners @ turn.T
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.uniform(-4.5, 4.5, (600, 3)) * [1, 1, 0.3], corners.reshape(-1, 3) * 0.999])
    winding = solid_angle_winding(points, corners)
    np.testing.assert_array_equal(is_inside(points, corners), np.abs(winding) > 0.5)
    assert 100 < (np.abs(winding) > 0.5).sum() < len(points) - 100


def test_below_corners_where_many_triangles_meet():
    # Each point has the x and y of a corner of the mesh.
    corners = closed_torus()
    points = corners.reshape(-1, 3) * [1, 1, 0] + [0, 0, 0.123]
    winding = solid_angle_winding(points, corners)
    np.testing.assert_array_equal(is_inside(points, corners), np.abs(winding) > 0.5)


def test_below_slanted_edges_where_rounding_decides_between_two_triangles():
    corners = closed_torus() @ meshes.poses(1, 0.0, seed=3)[0, :3, :3].T
    rng = np.random.default_rng(5)
    part = rng.uniform(size=(times(12, 2), len(corners), 3, 1))
    points = (corners + part * (corners[:, [1, 2, 0]] - corners)).reshape(-1, 3)
    points[:, 2] += rng.choice([-1.3, -0.3, 0.3, 1.3], len(points))
    winding = solid_angle_winding(points, corners)
    np.testing.assert_array_equal(is_inside(points, corners), np.abs(winding) > 0.5)


@pytest.mark.smoke
def test_what_hangs_together_is_one_piece():
    apart = np.concatenate([CUBE, CUBE * 0.5 + np.array([5, 0, 0]), CUBE[4:6] * 0.5 - np.array([5, 0, 0])])
    pieces = Pieces.of(apart)
    first, second, third = pieces.of_triangle[[0, 12, 24]]
    assert pieces.of_triangle.tolist() == [first] * 12 + [second] * 12 + [third] * 2
    assert sorted(pieces.closed.tolist()) == [False, True, True]
    assert len(pieces.corner) == 3
    # Two cubes that share one corner hang together.
    assert len(Pieces.of(np.concatenate([CUBE, CUBE + 2.0])).corner) == 1
    # A long strip, joined end by end in a shuffled order.
    strip = meshes.surface(900, 1, lambda u, v: (u, v, 0 * u))[np.random.default_rng(0).permutation(1800)]
    assert len(Pieces.of(strip).corner) == 1
    assert not Pieces.of(strip).closed.any()


@pytest.mark.smoke
def test_closed_is_told_by_edges():
    assert Pieces.of(CUBE).closed.all()
    assert Pieces.of(CUBE).oriented.all()
    assert not Pieces.of(CUBE[1:]).closed.any()
    turned_over = CUBE.copy()
    turned_over[3] = turned_over[3, ::-1]
    assert Pieces.of(turned_over).closed.all()
    assert not Pieces.of(turned_over).oriented.any()
    # Negative zeros are zeros, and triangles that have shrunk to an edge or a point open nothing.
    flat = np.concatenate([CUBE + 1, [[[0, 0, 0], [2, 2, 2], [0, 0, 0]], [[2.0, 2, 2]] * 3]])
    flat[3] = np.where(flat[3] == 0, -0.0, flat[3])
    assert Pieces.of(flat).closed.all()


def test_the_inside_of_a_piece_that_faces_both_ways_is_told_all_the_same():
    mixed = CUBE.copy()
    mixed[::3] = mixed[::3, ::-1]
    points = np.random.default_rng(1).uniform(-2, 2, (300, 3))
    np.testing.assert_array_equal(is_inside(points, mixed), (np.abs(points) < 1).all(axis=1))
    two = np.concatenate([mixed, mixed + np.array([3, 0, 0])])
    expected = is_inside(points, mixed) | is_inside(points - [3, 0, 0], mixed)
    np.testing.assert_array_equal(is_inside(points, two), expected)


def test_an_open_mesh_contains_nothing_and_an_open_piece_takes_nothing_away():
    points = np.array([[0.0, 0, 0], [0.5, 0.25, -0.5]])
    assert not is_inside(points, CUBE[1:]).any()
    assert is_inside(points, np.concatenate([CUBE, meshes.plate(2, 0.5) + np.array([0, 0, 0.9])])).all()
    assert not is_inside(points, meshes.plate(2)).any()


def test_pieces_are_asked_one_by_one():
    outside, inside = CUBE * 0.1 + [5, 0, 0], CUBE * 0.1
    assert any_piece_inside(np.concatenate([outside, inside]), CUBE)
    assert not any_piece_inside(outside, CUBE)
    assert not any_piece_inside(inside, CUBE[2:])
