from __future__ import annotations

import numpy as np
import pytest

from addon.core.errors import InvalidShapeError, NonFiniteGeometryError
from addon.core.mesh_distance import MeshSeparation, mesh_separation, meshes_overlap, posed_within
from addon.core.mesh_inside import is_inside
from addon.core.mesh_nodes import MeshNodes, PosedMesh
from addon.core.separation_triangles import separation_triangle_triangle, triangles_of
from addon.core.shapes import Sphere
from addon.core.triangle_mesh import TriangleMesh, separation_sphere_mesh
from tests.core import meshes
from tests.tiers import times

CUBE = meshes.box()


def mesh_of(corners: np.ndarray) -> TriangleMesh:
    return TriangleMesh(triangles_of(np.asarray(corners, float)))


def ball(rings: int, radius: float = 1.0) -> np.ndarray:
    def point(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return tuple(
            radius * x for x in (np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down))
        )

    return meshes.surface(2 * rings, rings, point)


def moved(corners: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return corners @ matrix[:3, :3].T + matrix[:3, 3]


def brute_force(a: np.ndarray, b: np.ndarray) -> float:
    return float(separation_triangle_triangle(triangles_of(a[:, None]), triangles_of(b)).min())


def assert_like_brute_force(found: MeshSeparation, a: np.ndarray, b: np.ndarray) -> None:
    """Distance, witness points and triangles, for corners in the world."""
    size = max(np.abs(a).max(), np.abs(b).max())
    assert abs(found.distance - brute_force(a, b)) <= 1e-14 * size
    i, j = found.triangles
    assert abs(brute_force(a[i : i + 1], b[j : j + 1]) - found.distance) <= 1e-14 * size
    on_a, on_b, normal = found.witness
    assert on_a.shape == normal.shape == (3,)
    np.testing.assert_allclose(on_b - on_a, normal * found.distance, rtol=0, atol=1e-14 * size)
    for point, corners, k in ((on_a, a, i), (on_b, b, j)):
        assert separation_triangle_triangle(
            triangles_of(corners[k]), triangles_of(np.stack([point] * 3))
        ) <= (1e-14 * size)


# --- against all pairs of triangles ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "spread"),
    [
        (meshes.torus(14, 7), meshes.torus(10, 6), 3.0),
        (meshes.torus(14, 7), CUBE * 0.5, 2.0),
        (meshes.uneven()[::3], meshes.plate(2), 5.0),
        (CUBE, CUBE, 2.0),
        (meshes.soup(150, size=0.3), meshes.soup(90, seed=1), 2.0),
        (ball(8, 0.01), CUBE * [3, 3, 0.001], 1.0),
        (np.repeat(CUBE, 12, axis=0), meshes.soup(1), 1.0),
    ],
)
def test_the_answer_is_that_of_the_closest_of_all_pairs(a, b, spread):
    first, second = mesh_of(a), mesh_of(b)
    touching, count = 0, times(8, 3)
    for pose_a, pose_b in zip(meshes.poses(count, spread, 1), meshes.poses(count, spread, 2), strict=True):
        found = mesh_separation(first, second, pose_a, pose_b)
        assert_like_brute_force(found, moved(a, pose_a), moved(b, pose_b))
        swapped = mesh_separation(second, first, pose_b, pose_a)
        assert abs(swapped.distance - found.distance) <= 1e-13
        touching += found.distance == 0
    assert touching < count


def test_without_matrices_meshes_stay_and_any_affine_matrix_moves_them():
    a, b = meshes.torus(14, 7), meshes.soup(60, size=0.4) + np.array([9, 0, 0])
    assert_like_brute_force(mesh_separation(mesh_of(a), mesh_of(b)), a, b)
    skewed = meshes.poses(1, 2.0)[0] @ np.array([[3, 1, 0, 0], [0, 0.2, 0, 1], [0, 0, -1, 0], [0, 0, 0, 1]])
    found = mesh_separation(mesh_of(a), mesh_of(b), matrix_a=skewed)
    assert_like_brute_force(found, moved(a, skewed), b)
    flat = np.diag([1.0, 1, 0, 1])
    assert_like_brute_force(mesh_separation(mesh_of(a), mesh_of(b), matrix_b=flat), a, moved(b, flat))


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_scenes_of_any_size(scale):
    a, b = meshes.torus(14, 7) * scale, (CUBE + np.array([5, 1, 2])) * scale
    found = mesh_separation(mesh_of(a), mesh_of(b))
    assert abs(found.distance - brute_force(a, b)) <= 1e-14 * scale
    assert found.distance > 0


@pytest.mark.smoke
def test_far_from_the_origin():
    away = np.eye(4)
    away[:3, 3] = [1e7, -1e7, 1e6]
    for gap in (0.0, 1e-3):
        beside = away.copy()
        beside[0, 3] += 2 + gap
        found = mesh_separation(mesh_of(CUBE), mesh_of(CUBE), away, beside)
        assert abs(found.distance - gap) <= 4e-9


def test_a_mesh_that_deforms_keeps_its_parts():
    rest = meshes.torus(14, 7)
    bent = rest + 0.8 * np.sin(rest[..., [1, 2, 0]] * 3)
    nodes = MeshNodes.around(mesh_of(rest).parts.tree, bent)
    # Whatever a node holds is within its sphere, and one of its triangles as near as it says.
    t = len(rest)
    parts = mesh_of(rest).parts.tree.parts
    for k, (first, last) in enumerate(parts):
        corners = nodes.corners[first:last]
        assert np.linalg.norm(corners - nodes.center[k], axis=-1).max() <= nodes.radius[k]
        nearest = separation_triangle_triangle(
            triangles_of(corners), triangles_of(np.stack([nodes.center[k]] * 3))
        )
        assert nearest.min() <= nodes.near[k] + 1e-15
    assert (nodes.below[-t:] == 0).all()
    other = CUBE + np.array([6, 2, 1])
    order = mesh_of(rest).parts.tree.order
    posed, still = PosedMesh(nodes, order), PosedMesh.of(mesh_of(other))
    truth = brute_force(bent, other)
    assert truth > 0
    assert posed_within(posed, still, truth * 1.0000001)
    assert not posed_within(posed, still, truth * 0.9999999)


# --- touching and crossing -------------------------------------------------------------------------------


def in_poses(a: np.ndarray, b: np.ndarray, matrix: np.ndarray) -> list[bool]:
    """Whether `a` and `b`, which is moved by `matrix`, overlap: in poses of the two, in either order."""
    first, second = mesh_of(a), mesh_of(b)
    found = []
    for pose in meshes.poses(times(20), 10.0, 4):
        found += [meshes_overlap(first, second, pose, pose @ matrix)]
        found += [meshes_overlap(second, first, pose @ matrix, pose)]
    return found


def placed(x: float = 0.0, y: float = 0.0, z: float = 0.0, scale: float = 1.0) -> np.ndarray:
    matrix = np.diag([scale, scale, scale, 1.0])
    matrix[:3, 3] = x, y, z
    return matrix


@pytest.mark.parametrize("offset", [(2, 0, 0), (2, 2, 0), (2, 2, 2), (2, 0.5, 0.25), (1.5, 0.3, 0.2)])
def test_cubes_that_share_a_face_an_edge_a_corner_or_more_touch_however_they_are_turned(offset):
    assert all(in_poses(CUBE, CUBE, placed(*offset)))


@pytest.mark.parametrize("offset", [(2 + 1e-9, 0, 0), (2, 2, 2 + 1e-9), (0, 2.5, 0)])
def test_cubes_apart_do_not(offset):
    assert not any(in_poses(CUBE, CUBE, placed(*offset)))
    gap = mesh_separation(mesh_of(CUBE), mesh_of(CUBE), matrix_b=placed(*offset)).distance
    assert gap == pytest.approx(max(offset) - 2, rel=1e-6)


def test_bars_that_cross_have_no_corner_inside_one_another():
    bar, across = CUBE * [5, 0.1, 0.1], CUBE * [0.1, 5, 0.1]
    assert not is_inside(across.reshape(-1, 3), bar).any()
    assert not is_inside(bar.reshape(-1, 3), across).any()
    assert all(in_poses(bar, across, placed()))


def test_sheets_in_one_plane():
    sheet = meshes.plate(3, 1.0)
    assert all(in_poses(sheet, sheet, placed(0.3, 0.4)))
    assert all(in_poses(sheet, sheet, placed(1.0, 0.5)))
    assert all(in_poses(sheet, sheet * 0.1, placed(0.4, 0.5)))
    assert not any(in_poses(sheet, sheet, placed(1.001, 0.5)))


@pytest.mark.smoke
def test_coinciding_meshes_are_at_distance_zero():
    torus = mesh_of(meshes.torus())
    assert mesh_separation(torus, torus).distance == 0
    assert meshes_overlap(torus, torus)


# --- one inside the other --------------------------------------------------------------------------------

SMALL = placed(0.1, -0.2, 0.05, scale=0.25)
SHELL = np.concatenate([CUBE, (CUBE * 0.5)[:, ::-1]])


def test_a_cube_in_a_cube_overlaps_it_whichever_way_its_faces_look():
    assert mesh_separation(mesh_of(CUBE), mesh_of(CUBE), matrix_b=SMALL).distance > 0
    assert all(in_poses(CUBE, CUBE, SMALL))
    assert all(in_poses(CUBE[:, ::-1], CUBE, SMALL))


def test_an_open_cube_contains_nothing():
    assert not any(in_poses(CUBE[1:], CUBE, SMALL))
    assert all(in_poses(CUBE, CUBE[1:], SMALL))


def test_a_cube_in_the_hollow_of_a_shell_is_not_in_its_wall():
    assert not any(in_poses(SHELL, CUBE, SMALL))
    assert all(in_poses(SHELL, CUBE, placed(0.75, 0.1, 0.1, scale=0.1)))
    # The shell is not in the cube either, and both are in a larger one.
    assert all(in_poses(CUBE * 3, SHELL, placed()))


def test_pieces_that_lie_in_each_other_and_both_face_outwards_are_both_solid():
    assert all(in_poses(np.concatenate([CUBE, CUBE * 0.5]), CUBE, SMALL))
    overlapping = np.concatenate([CUBE, CUBE + np.array([1, 0, 0])])
    assert all(in_poses(overlapping, CUBE, placed(0.5, scale=0.1)))


def test_one_piece_inside_is_enough():
    pieces = np.concatenate([CUBE * 0.1 + [7, 0, 0], CUBE * 0.1, CUBE * 0.1 - [7, 0, 0]])
    assert all(in_poses(CUBE, pieces, placed()))
    assert not any(in_poses(CUBE, pieces, placed(y=3)))


# --- spheres ---------------------------------------------------------------------------------------------


def test_a_fine_ball_is_as_far_away_as_the_sphere_around_it():
    torus, rings, radius = mesh_of(meshes.torus()), 24, 0.7
    fine = mesh_of(ball(rings, radius))
    # A triangle of it dips below the sphere by no more than half a cell on both axes.
    dip = radius * (1 - np.cos(np.pi / rings / 2) ** 2)
    for center in np.random.default_rng(0).normal(size=(times(10), 3)) * 3:
        sphere = float(separation_sphere_mesh(Sphere(center, radius), torus))
        matrix = placed(*center)
        found = mesh_separation(torus, fine, matrix_b=matrix).distance
        if sphere > 0:
            assert sphere - 1e-12 <= found <= sphere + dip
        elif sphere < -dip:
            assert meshes_overlap(torus, fine, matrix_b=matrix)


# --- errors ----------------------------------------------------------------------------------------------


def test_what_is_no_matrix_is_refused():
    cube = mesh_of(CUBE)
    with pytest.raises(InvalidShapeError, match=r"matrix: the shape must"):
        mesh_separation(cube, cube, np.eye(3))
    with pytest.raises(InvalidShapeError, match=r"matrix"):
        mesh_separation(cube, cube, np.stack([np.eye(4)] * 2))
    with pytest.raises(NonFiniteGeometryError, match="matrix"):
        meshes_overlap(cube, cube, matrix_b=np.full((4, 4), np.nan))
