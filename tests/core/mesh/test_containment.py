"""Containment of points in closed meshes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import TriangleMesh, meshes_overlap
from addon.core.mesh.containment import ClosedSurface, RayColumns
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import meshes
from tests.tiers import times

CUBE = meshes.cube()


def is_inside(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    surface = ClosedSurface.of(corners, meshes.components_of(corners))
    found = surface.contains(points)
    if len(surface.corners):
        # Of many triangles, those in the columns of the rays decide.
        np.testing.assert_array_equal(surface.contains(points, RayColumns.of(surface)), found)
    return found


def closed_torus(nu: int = 20, nv: int = 10) -> np.ndarray:
    """Make a torus whose seams match exactly: the sine of a full turn is not 0 in floating point."""
    return np.round(meshes.torus(nu, nv), 9) + 0.0


def solid_angle_winding(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Winding numbers of triangles around points, from solid angles (Van Oosterom and Strackee)."""
    a, b, c = np.moveaxis(corners[None] - points[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=-1) for x in (a, b, c))
    triple = (a * np.cross(b, c)).sum(axis=-1)
    below = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    return (2 * np.arctan2(triple, below)).sum(axis=1) / (4 * np.pi)


def test_grid_points_below_edges_and_corners_of_cube_are_inside_only_within_it():
    # The rays pass through corners, edges, face diagonals and along the side faces.
    axis = np.array([-2, -1, -0.5, 0, 0.5, 1, 2])
    points = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    largest = np.abs(points).max(axis=1)
    points, largest = points[largest != 1], largest[largest != 1]
    np.testing.assert_array_equal(is_inside(points, CUBE), largest < 1)
    np.testing.assert_array_equal(is_inside(points, CUBE[:, ::-1]), largest < 1)


@pytest.mark.parametrize("is_rotated", [False, True])
def test_inside_of_torus_agrees_with_winding_number(is_rotated):
    corners = closed_torus()
    rotation = meshes.random_poses(1, 0.0, seed=3)[0, :3, :3] if is_rotated else np.eye(3)
    corners = corners @ rotation.T
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.uniform(-4.5, 4.5, (600, 3)) * [1, 1, 0.3], corners.reshape(-1, 3) * 0.999])
    winding = solid_angle_winding(points, corners)
    np.testing.assert_array_equal(is_inside(points, corners), np.abs(winding) > 0.5)
    assert 100 < (np.abs(winding) > 0.5).sum() < len(points) - 100


def test_rays_through_shared_corners_are_counted_once():
    # Each point has the x and y of a corner of the mesh.
    corners = closed_torus()
    points = corners.reshape(-1, 3) * [1, 1, 0] + [0, 0, 0.123]
    winding = solid_angle_winding(points, corners)
    np.testing.assert_array_equal(is_inside(points, corners), np.abs(winding) > 0.5)


def test_rays_through_slanted_edges_hit_exactly_one_triangle():
    corners = closed_torus() @ meshes.random_poses(1, 0.0, seed=3)[0, :3, :3].T
    rng = np.random.default_rng(5)
    part = rng.uniform(size=(times(6, 2, full=12), len(corners), 3, 1))
    points = (corners + part * (corners[:, [1, 2, 0]] - corners)).reshape(-1, 3)
    points[:, 2] += rng.choice([-1.3, -0.3, 0.3, 1.3], len(points))
    winding = solid_angle_winding(points, corners)
    np.testing.assert_array_equal(is_inside(points, corners), np.abs(winding) > 0.5)


def test_component_of_mixed_orientation_is_solid_by_crossing_parity():
    mixed = CUBE.copy()
    mixed[::3] = mixed[::3, ::-1]
    points = np.random.default_rng(1).uniform(-2, 2, (300, 3))
    np.testing.assert_array_equal(is_inside(points, mixed), (np.abs(points) < 1).all(axis=1))
    two = np.concatenate([mixed, mixed + np.array([3, 0, 0])])
    expected = is_inside(points, mixed) | is_inside(points - [3, 0, 0], mixed)
    np.testing.assert_array_equal(is_inside(points, two), expected)


def test_open_components_contain_nothing_and_do_not_affect_closed_ones():
    points = np.array([[0.0, 0, 0], [0.5, 0.25, -0.5]])
    assert not is_inside(points, CUBE[1:]).any()
    assert is_inside(points, np.concatenate([CUBE, meshes.plate(2, 0.5) + np.array([0, 0, 0.9])])).all()
    assert not is_inside(points, meshes.plate(2)).any()


def mesh_of(corners: np.ndarray) -> TriangleMesh:
    return TriangleMesh(triangles_from_corners(corners))


def test_each_component_is_tested_for_containment():
    outside, inside = CUBE * 0.1 + [5, 0, 0], CUBE * 0.1
    # Their surfaces do not touch.
    cube, opened = mesh_of(CUBE), mesh_of(CUBE[2:])
    assert meshes_overlap(mesh_of(np.concatenate([outside, inside])), cube)
    assert not meshes_overlap(mesh_of(outside), cube)
    assert not meshes_overlap(mesh_of(inside), opened)


@pytest.mark.parametrize("axis", range(3))
def test_points_in_a_tower_of_rings_are_inside_by_rays_along_any_axis(axis):
    # Walls along one axis are many along rays there: these go along another one.
    angle = 2 * np.pi * np.arange(24) / 24
    outline = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    heights = np.linspace(0.0, 2.0, 40)
    rings = np.concatenate([np.tile(outline, (40, 1)), heights.repeat(24)[:, None]], axis=1).reshape(
        40, 24, 3
    )
    low, high = rings[:-1], rings[1:]
    next_low, next_high = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    walls = np.stack([low, next_low, next_high, low, next_high, high], axis=2).reshape(-1, 3, 3)
    bottom, top = np.array([0, 0, 0.0]), np.array([0, 0, 2.0])
    lids = [
        np.stack([np.broadcast_to(middle, ring.shape), one, other], axis=1)
        for middle, ring, one, other in (
            (bottom, rings[0], np.roll(rings[0], -1, axis=0), rings[0]),
            (top, rings[-1], rings[-1], np.roll(rings[-1], -1, axis=0)),
        )
    ]
    corners = np.roll(np.concatenate([walls, *lids]), axis, axis=-1)
    surface = ClosedSurface.of(corners, meshes.components_of(corners))
    assert surface.axes[2] != (2 + axis) % 3
    points = np.random.default_rng(axis).uniform([-1.2, -1.2, -0.2], [1.2, 1.2, 2.2], (500, 3))
    radius = np.linalg.norm(points[:, :2], axis=1)
    clear = (radius < np.cos(np.pi / 24) - 1e-6) | (radius > 1)
    inside = (radius < 1) & (points[:, 2] > 0) & (points[:, 2] < 2)
    found = surface.contains(np.roll(points, axis, axis=-1))
    np.testing.assert_array_equal(found[clear], inside[clear])
    assert 50 < inside[clear].sum() < clear.sum() - 50
