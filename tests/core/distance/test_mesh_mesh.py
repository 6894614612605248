"""Distance and overlap of two meshes, compared with all pairs of triangles."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.distance.dispatch import separation
from addon.core.distance.mesh_mesh import (
    MeshSeparation,
    closest_triangles,
    mesh_separation,
    meshes_overlap,
)
from addon.core.errors import InvalidShapeError, NonFiniteGeometryError
from addon.core.mesh.containment import ClosedSurface
from addon.core.mesh.meshes import Meshes, moving_nodes
from addon.core.mesh.triangle_mesh import TriangleMesh
from addon.core.shapes import Sphere
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import meshes
from tests.core.mesh.triangle_pairs import separation_triangle_triangle
from tests.tiers import times

CUBE = meshes.cube()


def mesh_of(corners: np.ndarray) -> TriangleMesh:
    return TriangleMesh(triangles_from_corners(np.asarray(corners, float)))


def ball(rings: int, radius: float = 1.0) -> np.ndarray:
    def point(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return tuple(
            radius * x for x in (np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down))
        )

    return meshes.grid_surface(2 * rings, rings, point)


def moved(corners: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return corners @ matrix[:3, :3].T + matrix[:3, 3]


def brute_force(a: np.ndarray, b: np.ndarray) -> float:
    return float(
        separation_triangle_triangle(triangles_from_corners(a[:, None]), triangles_from_corners(b)).min()
    )


def assert_like_brute_force(found: MeshSeparation, a: np.ndarray, b: np.ndarray) -> None:
    """Check distance, witness points and triangles against brute force, for corners (t, 3, 3) in world
    space.
    """
    size = max(np.abs(a).max(), np.abs(b).max())
    assert abs(found.distance - brute_force(a, b)) <= 1e-14 * size
    i, j = found.triangles
    assert abs(brute_force(a[i : i + 1], b[j : j + 1]) - found.distance) <= 1e-14 * size
    on_a, on_b, normal = found.witness
    assert on_a.shape == normal.shape == (3,)
    np.testing.assert_allclose(on_b - on_a, normal * found.distance, rtol=0, atol=1e-14 * size)
    for point, corners, k in ((on_a, a, i), (on_b, b, j)):
        assert separation_triangle_triangle(
            triangles_from_corners(corners[k]), triangles_from_corners(np.stack([point] * 3))
        ) <= (1e-14 * size)


# --- against all pairs of triangles ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "spread"),
    [
        (meshes.torus(14, 7), meshes.torus(10, 6), 3.0),
        (meshes.torus(14, 7), CUBE * 0.5, 2.0),
        (meshes.ball_with_limbs()[::3], meshes.plate(2), 5.0),
        (CUBE, CUBE, 2.0),
        (meshes.triangle_soup(150, size=0.3), meshes.triangle_soup(90, seed=1), 2.0),
        (ball(8, 0.01), CUBE * [3, 3, 0.001], 1.0),
        (np.repeat(CUBE, 12, axis=0), meshes.triangle_soup(1), 1.0),
    ],
)
def test_separation_agrees_with_brute_force_over_all_triangle_pairs(a, b, spread):
    first, second = mesh_of(a), mesh_of(b)
    touching, count = 0, times(5, 3, full=8)
    for pose_a, pose_b in zip(
        meshes.random_poses(count, spread, 1), meshes.random_poses(count, spread, 2), strict=True
    ):
        found = mesh_separation(first, second, pose_a, pose_b)
        assert_like_brute_force(found, moved(a, pose_a), moved(b, pose_b))
        swapped = mesh_separation(second, first, pose_b, pose_a)
        assert abs(swapped.distance - found.distance) <= 1e-13
        touching += found.distance == 0
    assert touching < count


def test_matrices_are_optional_and_may_be_any_affine_ones():
    a, b = meshes.torus(14, 7), meshes.triangle_soup(60, size=0.4) + np.array([9, 0, 0])
    assert_like_brute_force(mesh_separation(mesh_of(a), mesh_of(b)), a, b)
    skewed = meshes.random_poses(1, 2.0)[0] @ np.array(
        [[3, 1, 0, 0], [0, 0.2, 0, 1], [0, 0, -1, 0], [0, 0, 0, 1]]
    )
    found = mesh_separation(mesh_of(a), mesh_of(b), matrix_a=skewed)
    assert_like_brute_force(found, moved(a, skewed), b)
    flat = np.diag([1.0, 1, 0, 1])
    assert_like_brute_force(mesh_separation(mesh_of(a), mesh_of(b), matrix_b=flat), a, moved(b, flat))


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_scenes_of_extreme_scale_agree_with_brute_force(scale):
    a, b = meshes.torus(14, 7) * scale, (CUBE + np.array([5, 1, 2])) * scale
    found = mesh_separation(mesh_of(a), mesh_of(b))
    assert abs(found.distance - brute_force(a, b)) <= 1e-14 * scale
    assert found.distance > 0


@pytest.mark.smoke
def test_gap_far_from_the_origin_is_exact_to_rounding():
    away = np.eye(4)
    away[:3, 3] = [1e7, -1e7, 1e6]
    for gap in (0.0, 1e-3):
        neighbor = away.copy()
        neighbor[0, 3] += 2 + gap
        found = mesh_separation(mesh_of(CUBE), mesh_of(CUBE), away, neighbor)
        assert abs(found.distance - gap) <= 4e-9


def test_deformed_mesh_is_as_far_as_its_nearest_triangles():
    rest = meshes.torus(14, 7)
    bent = rest + 0.8 * np.sin(rest[..., [1, 2, 0]] * 3)
    other = CUBE + np.array([6, 2, 1])
    nodes = np.empty(1, dtype=object)
    nodes[0] = mesh_of(rest).nodes.moved(bent.reshape(-1, 3))
    posed = Meshes.unchecked(nodes, np.eye(4)[None], np.zeros(1))
    still = Meshes(mesh_of(other), np.eye(4)[None])
    truth = brute_force(bent, other)
    assert truth > 0
    for limit, found in ((truth * 1.0000001, truth), (truth * 0.9999999, truth * 0.9999999)):
        distance, _ = closest_triangles(*moving_nodes((posed, posed), (still, still)), np.array([limit]))
        assert distance[0] == pytest.approx(found, rel=1e-12)


# --- touching and crossing -------------------------------------------------------------------------------


def overlaps_in_poses(a: np.ndarray, b: np.ndarray, matrix: np.ndarray) -> list[bool]:
    """Evaluate the overlap of `a` and of `b` moved by `matrix`, in common poses and in either order."""
    first, second = mesh_of(a), mesh_of(b)
    found = []
    for pose in meshes.random_poses(times(10, full=20), 10.0, 4):
        found += [meshes_overlap(first, second, pose, pose @ matrix)]
        found += [meshes_overlap(second, first, pose @ matrix, pose)]
    return found


def placed(x: float = 0.0, y: float = 0.0, z: float = 0.0, scale: float = 1.0) -> np.ndarray:
    matrix = np.diag([scale, scale, scale, 1.0])
    matrix[:3, 3] = x, y, z
    return matrix


@pytest.mark.parametrize("offset", [(2, 0, 0), (2, 2, 0), (2, 2, 2), (2, 0.5, 0.25), (1.5, 0.3, 0.2)])
def test_cubes_that_share_a_face_edge_corner_or_volume_overlap_in_any_pose(offset):
    assert all(overlaps_in_poses(CUBE, CUBE, placed(*offset)))


@pytest.mark.parametrize("offset", [(2 + 1e-9, 0, 0), (2, 2, 2 + 1e-9), (0, 2.5, 0)])
def test_cubes_apart_do_not_overlap_in_any_pose(offset):
    assert not any(overlaps_in_poses(CUBE, CUBE, placed(*offset)))
    gap = mesh_separation(mesh_of(CUBE), mesh_of(CUBE), matrix_b=placed(*offset)).distance
    assert gap == pytest.approx(max(offset) - 2, rel=1e-6)


def test_crossing_bars_overlap_without_a_corner_inside():
    bar, across = CUBE * [5, 0.1, 0.1], CUBE * [0.1, 5, 0.1]
    assert not ClosedSurface.of(bar, meshes.components_of(bar)).contains(across.reshape(-1, 3)).any()
    assert not ClosedSurface.of(across, meshes.components_of(across)).contains(bar.reshape(-1, 3)).any()
    assert all(overlaps_in_poses(bar, across, placed()))


def test_coplanar_sheets_overlap_where_they_share_area_or_an_edge():
    sheet = meshes.plate(3, 1.0)
    assert all(overlaps_in_poses(sheet, sheet, placed(0.3, 0.4)))
    assert all(overlaps_in_poses(sheet, sheet, placed(1.0, 0.5)))
    assert all(overlaps_in_poses(sheet, sheet * 0.1, placed(0.4, 0.5)))
    assert not any(overlaps_in_poses(sheet, sheet, placed(1.001, 0.5)))


@pytest.mark.smoke
def test_coinciding_meshes_are_at_distance_zero():
    torus = mesh_of(meshes.torus())
    assert mesh_separation(torus, torus).distance == 0
    assert meshes_overlap(torus, torus)


def test_single_triangles_touch_where_they_cross():
    # The second stands upright through the middle of the first, or 1 beyond its corner.
    flat = mesh_of([[[0, 0, 0], [4, 0, 0], [0, 4, 0]]])
    upright = [[[1, 1, -1], [1, 1, 1], [2, 1, 0]]]
    assert meshes_overlap(flat, mesh_of(upright))
    assert not meshes_overlap(flat, mesh_of(np.add(upright, [4, 0, 0])))


def test_small_mesh_at_the_center_of_a_ball_is_as_far_as_its_surface():
    # The center of the ball's bounding sphere is far from all triangles, unlike that of the small mesh.
    hollow, small = ball(8), CUBE * 1e-3
    expected = brute_force(hollow, small)
    assert expected > 0.9
    assert mesh_separation(mesh_of(hollow), mesh_of(small)).distance == pytest.approx(expected, rel=1e-14)
    assert mesh_separation(mesh_of(small), mesh_of(hollow)).distance == pytest.approx(expected, rel=1e-14)


# --- one inside the other --------------------------------------------------------------------------------

SMALL = placed(0.1, -0.2, 0.05, scale=0.25)
SHELL = np.concatenate([CUBE, (CUBE * 0.5)[:, ::-1]])


def test_cube_inside_cube_overlaps_for_either_orientation():
    assert mesh_separation(mesh_of(CUBE), mesh_of(CUBE), matrix_b=SMALL).distance > 0
    assert all(overlaps_in_poses(CUBE, CUBE, SMALL))
    assert all(overlaps_in_poses(CUBE[:, ::-1], CUBE, SMALL))


def test_open_cube_contains_nothing():
    assert not any(overlaps_in_poses(CUBE[1:], CUBE, SMALL))
    assert all(overlaps_in_poses(CUBE, CUBE[1:], SMALL))


def test_cube_in_the_cavity_of_a_shell_does_not_overlap():
    assert not any(overlaps_in_poses(SHELL, CUBE, SMALL))
    assert all(overlaps_in_poses(SHELL, CUBE, placed(0.75, 0.1, 0.1, scale=0.1)))
    # A larger cube around the shell overlaps it.
    assert all(overlaps_in_poses(CUBE * 3, SHELL, placed()))


def test_nested_components_of_the_same_orientation_are_both_solid():
    assert all(overlaps_in_poses(np.concatenate([CUBE, CUBE * 0.5]), CUBE, SMALL))
    overlapping = np.concatenate([CUBE, CUBE + np.array([1, 0, 0])])
    assert all(overlaps_in_poses(overlapping, CUBE, placed(0.5, scale=0.1)))


def test_one_component_inside_is_an_overlap():
    pieces = np.concatenate([CUBE * 0.1 + [7, 0, 0], CUBE * 0.1, CUBE * 0.1 - [7, 0, 0]])
    assert all(overlaps_in_poses(CUBE, pieces, placed()))
    assert not any(overlaps_in_poses(CUBE, pieces, placed(y=3)))


# --- spheres ---------------------------------------------------------------------------------------------


def test_finely_tessellated_ball_is_as_far_as_its_sphere():
    torus, rings, radius = mesh_of(meshes.torus()), 24, 0.7
    fine = mesh_of(ball(rings, radius))
    # The largest depth of a triangle below the sphere, from half a cell on both axes.
    dip = radius * (1 - np.cos(np.pi / rings / 2) ** 2)
    for center in np.random.default_rng(0).normal(size=(times(10), 3)) * 3:
        sphere = float(separation(Sphere(center, radius), torus))
        matrix = placed(*center)
        found = mesh_separation(torus, fine, matrix_b=matrix).distance
        if sphere > 0:
            assert sphere - 1e-12 <= found <= sphere + dip
        elif sphere < -dip:
            assert meshes_overlap(torus, fine, matrix_b=matrix)


# --- errors ----------------------------------------------------------------------------------------------


def test_invalid_matrix_raises():
    cube = mesh_of(CUBE)
    with pytest.raises(InvalidShapeError, match=r"matrix_a: the shape must"):
        mesh_separation(cube, cube, np.eye(3))
    with pytest.raises(InvalidShapeError, match=r"matrix_b"):
        mesh_separation(cube, cube, None, np.stack([np.eye(4)] * 2))
    with pytest.raises(NonFiniteGeometryError, match="matrix_b"):
        meshes_overlap(cube, cube, matrix_b=np.full((4, 4), np.nan))
