"""Distance of two triangles, compared with exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core.distance.triangle_triangle import best_axis, separating_axes
from addon.core.shapes import Triangle
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import exact, meshes
from tests.core.mesh.triangle_pairs import closest_points_triangle_triangle, separation_triangle_triangle
from tests.tiers import times

SIDES = ((0, 1), (1, 2), (2, 0))


def exact_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Exact distance of corners (3, 3) each, from all pairs of features; 0 where an edge crosses a face."""
    p, q = ([exact.vector(corner) for corner in corners] for corners in (a, b))
    edges_p, edges_q = ([(corners[i], corners[j]) for i, j in SIDES] for corners in (p, q))
    if any(crosses_face(*e, *q) for e in edges_p) or any(crosses_face(*e, *p) for e in edges_q):
        return 0.0
    return exact.square_root(
        min(
            *(exact.point_triangle_squared(corner, *q) for corner in p),
            *(exact.point_triangle_squared(corner, *p) for corner in q),
            *(exact.segment_segment_squared(*e, *f) for e in edges_p for f in edges_q),
        )
    )


def crosses_face(start: exact.Vector, end: exact.Vector, *face: exact.Vector) -> bool:
    """Decide whether a segment crosses a triangle at one point between its ends."""
    normal = exact.cross(exact.subtract(face[1], face[0]), exact.subtract(face[2], face[0]))
    above, below = (exact.dot(exact.subtract(x, face[0]), normal) for x in (start, end))
    if above * below >= 0:
        return False
    point = exact.point_along(start, exact.subtract(end, start), above / (above - below))
    return exact.point_triangle_squared(point, *face) == Fraction(0)


def assert_agrees_with_exact_arithmetic(a: np.ndarray, b: np.ndarray, atol: float = 4e-15) -> np.ndarray:
    """Check distances and closest points of corners (m, 3, 3) against exact arithmetic."""
    first, second = triangles_from_corners(a), triangles_from_corners(b)
    found = separation_triangle_triangle(first, second)
    truth = np.array([exact_distance(x, y) for x, y in zip(a, b, strict=True)])
    size = np.maximum(np.abs(a), np.abs(b)).max(axis=(1, 2))
    assert (np.abs(found - truth) <= atol * size).all(), np.abs(found - truth).max()
    np.testing.assert_allclose(
        separation_triangle_triangle(second, first), found, rtol=0, atol=2 * atol * size.max()
    )
    witness = closest_points_triangle_triangle(first, second)
    lengths = np.linalg.norm(witness.on_b - witness.on_a, axis=1)
    assert (np.abs(lengths - found) <= atol * size).all()
    np.testing.assert_allclose(np.linalg.norm(witness.normal, axis=1), 1, rtol=1e-14)
    for corners, points in ((a, witness.on_a), (b, witness.on_b)):
        for triangle, point, unit in zip(corners, points, size, strict=True):
            far = exact.point_triangle_squared(exact.vector(point), *map(exact.vector, triangle))
            assert exact.square_root(far) <= atol * unit
    return found


# --- against exact fractions -----------------------------------------------------------------------------


def test_random_triangles_agree_with_exact_arithmetic():
    rng, count = np.random.default_rng(1), times(60, 24, full=120)
    a, b = rng.normal(size=(2, 120, 3, 3))
    subset = slice(None, None, 120 // count)
    found = assert_agrees_with_exact_arithmetic(a[subset], (b + rng.normal(size=(120, 1, 3)))[subset])
    assert count / 12 < (found == 0).sum() < count / 2
    assert (found > 0.5).sum() > count / 6


@given(st.integers(0, 10**6))
@settings(max_examples=times(15, 4))
def test_integer_corners_agree_with_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    assert_agrees_with_exact_arithmetic(*rng.integers(-2, 3, (2, 10, 3, 3)).astype(float))


@given(st.integers(0, 10**6))
@settings(max_examples=times(10, 4))
def test_coplanar_triangles_agree_with_exact_arithmetic(seed):
    a, b = np.random.default_rng(seed).integers(-3, 4, (2, 10, 3, 3)).astype(float)
    a[..., 2] = b[..., 2] = 1
    found = assert_agrees_with_exact_arithmetic(a, b)
    turn = meshes.random_poses(1, 1.0, seed)[0, :3, :3]
    # Rotated corners are rounded, so that touching triangles touch only to rounding.
    turned = separation_triangle_triangle(
        triangles_from_corners(a @ turn.T), triangles_from_corners(b @ turn.T)
    )
    np.testing.assert_allclose(turned, found, rtol=0, atol=1e-14)
    assert (turned[found == 0] == 0).all()


@pytest.mark.parametrize("width", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 0.0])
def test_needle_triangles_agree_with_exact_arithmetic(width):
    rng, count = np.random.default_rng(2), times(24)
    a, b = rng.normal(size=(2, count, 3, 3))
    for corners in (a, b):
        along = rng.uniform(-0.5, 1.5, (count, 1))
        away = rng.normal(size=(count, 3)) * width
        corners[:, 2] = corners[:, 0] * (1 - along) + corners[:, 1] * along + away
    assert_agrees_with_exact_arithmetic(a, b, atol=1e-14)
    # Moved to the centers of the others, so that many cross.
    assert_agrees_with_exact_arithmetic(
        a, b - b.mean(axis=1, keepdims=True) + a.mean(axis=1, keepdims=True), atol=1e-14
    )
    assert_agrees_with_exact_arithmetic(a, rng.normal(size=(count, 3, 3)), atol=1e-14)


@pytest.mark.parametrize("angle", [1e-4, 1e-8, 1e-12, 1e-15])
def test_nearly_parallel_edges_agree_with_exact_arithmetic(angle):
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 24, 3, 3))
    middle = a[:, 0] * 0.5 + a[:, 1] * 0.5
    across = np.cross(a[:, 1] - a[:, 0], rng.normal(size=(24, 3)))
    b[:, 0] = a[:, 0] + angle * across
    b[:, 1] = a[:, 1] - angle * across
    lift = rng.normal(size=(24, 3)) * rng.choice([0, 1e-9, 1e-3], (24, 1))
    b[:, :2] += lift[:, None]
    b[:, 2] = middle + (middle - a[:, 2]) * rng.uniform(0.1, 2, (24, 1)) + lift
    assert_agrees_with_exact_arithmetic(a[: times(24, 8)], b[: times(24, 8)], atol=1e-14)


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_results_scale_with_the_scene(scale):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 20, 3, 3))
    a, b = a[: times(20)], b[: times(20)]
    assert_agrees_with_exact_arithmetic(a * scale, b * scale)
    assert_agrees_with_exact_arithmetic(a * scale, b * scale + np.array([0, 3.0, 0]) * scale)


@pytest.mark.parametrize("size", [1e-160, 1e-310, 4e307, 1.7e308])
def test_smallest_and_largest_triangles_have_their_distance(size):
    flat = np.array([[[0, 0, -0.5], [1, 0, -0.5], [0, 1, -0.5]]])
    a, b = (triangles_from_corners(flat * [1, 1, side] * size) for side in (1, -1))
    np.testing.assert_allclose(separation_triangle_triangle(a, b), size, rtol=1e-12)
    witness = closest_points_triangle_triangle(b, a)
    np.testing.assert_allclose((witness.on_b[0] - witness.on_a[0]) / size, [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(witness.normal, [[0, 0, -1]], atol=1e-12)


def test_points_beyond_the_ends_of_needles_are_not_above_their_faces():
    # The area of such a needle is a rounding error, and so is its normal.
    rng = np.random.default_rng(8)
    count = times(10_000, 4000, full=20_000)
    tip, along, aside = rng.normal(size=(3, count, 1, 3))
    end = tip + along
    needle = np.concatenate([tip, end, tip + along * rng.uniform(size=(count, 1, 1))], axis=1)
    beyond = end + along * rng.uniform(size=(count, 1, 1)) + aside * 10.0 ** rng.uniform(-6, 0, (count, 1, 1))
    point = np.repeat(beyond, 3, axis=1)
    nearest = np.clip(((beyond - tip) * along).sum(axis=-1) / (along * along).sum(axis=-1), 0, 1)
    expected = np.linalg.norm(beyond[:, 0] - tip[:, 0] - nearest * along[:, 0], axis=-1)
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        pair = triangles_from_corners(needle[:, order]), triangles_from_corners(point)
        np.testing.assert_allclose(separation_triangle_triangle(*pair), expected, rtol=0, atol=1e-14)
        np.testing.assert_allclose(separation_triangle_triangle(*pair[::-1]), expected, rtol=0, atol=1e-14)


def test_small_and_large_triangles_agree_with_exact_arithmetic():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 24, 3, 3)) * np.array([1.0, 1e-6])[:, None, None, None]
    assert_agrees_with_exact_arithmetic(a, b + rng.normal(size=(24, 1, 3)))
    assert_agrees_with_exact_arithmetic(a, b + a.mean(axis=1, keepdims=True))


# --- touching --------------------------------------------------------------------------------------------


def turned_pairs(a: list, b: list, seed: int = 6) -> tuple[Triangle, Triangle]:
    """Return two triangles in 300 common poses, moved by about ten times their size."""
    poses = meshes.random_poses(300, 10.0, seed)
    return tuple(Triangle(*np.asarray(corners, float)[:, None]).transformed(poses) for corners in (a, b))


FLAT = [[0, 0, 0], [4, 0, 0], [0, 4, 0]]
TOUCHING = {
    "corner on face": [[1, 1, 0], [1, 2, 3], [3, 1, 3]],
    "corner on edge": [[2, 0, 0], [2, -1, 3], [3, -2, 3]],
    "corner on corner": [[4, 0, 0], [6, 0, 1], [7, 1, -1]],
    "edge on edge": [[1, -1, -1], [1, 1, 1], [1, -3, 3]],
    "edge in face": [[1, 1, 0], [2, 1, 0], [1, 1, 3]],
    "edge shared": [[0, 0, 0], [4, 0, 0], [0, 0, 4]],
    "edge shared in the plane": [[0, 0, 0], [4, 0, 0], [0, -4, 0]],
    "the same": FLAT,
    "inside it": [[0.5, 0.5, 0], [1, 0.5, 0], [0.5, 1, 0]],
    "around it": [[-9, -9, 0], [30, -9, 0], [-9, 30, 0]],
    "across it in the plane": [[-1, 1, 0], [5, 1, 0], [-1, 2, 0]],
    "through its face": [[1, 1, -1], [1, 1, 1], [9, 9, 5]],
    "with its face around an edge": [[-1, 1, -3], [-1, 1, 3], [1, 1, 0]],
    "a segment through it": [[1, 1, -1], [1, 1, 1], [1, 1, 1]],
    "a point on it": [[1, 1, 0]] * 3,
}


@pytest.mark.parametrize("name", TOUCHING)
def test_touching_triangles_have_distance_zero_in_any_pose(name):
    assert exact_distance(np.array(FLAT, float), np.array(TOUCHING[name], float)) == 0
    a, b = turned_pairs(FLAT, TOUCHING[name])
    assert (separation_triangle_triangle(a, b) == 0).all()
    assert (separation_triangle_triangle(b, a) == 0).all()


@pytest.mark.parametrize("gap", [1e-9, 1e-3])
def test_triangles_lifted_apart_have_the_distance_of_the_gap(gap):
    for name in ("corner on face", "edge in face", "the same", "inside it", "a point on it"):
        lifted = np.array(TOUCHING[name], float) + np.array([0, 0, gap])
        found = separation_triangle_triangle(*turned_pairs(FLAT, lifted.tolist()))
        np.testing.assert_allclose(found, gap, rtol=0, atol=2e-14)


def test_normal_of_touching_triangles_is_the_axis_of_least_overlap():
    up = closest_points_triangle_triangle(
        Triangle(*np.array(FLAT, float)), Triangle(*np.array(TOUCHING["corner on face"], float))
    )
    np.testing.assert_allclose(up.normal, [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(up.on_a, [1, 1, 0], atol=1e-15)
    # Two edges that cross at (1, 0, 0), one along x, one along y and z: the normal is perpendicular to both.
    edges = closest_points_triangle_triangle(
        Triangle(*np.array(FLAT, float)), Triangle(*np.array(TOUCHING["edge on edge"], float))
    )
    np.testing.assert_allclose(edges.normal, np.array([0, -1, 1]) / np.sqrt(2), atol=1e-15)


def test_witness_points_of_crossing_triangles_coincide():
    # A spike through the face, far from the corners and edges of the face.
    face = Triangle([-100, -100, 0], [100, -100, 0], [0, 200, 0])
    spike = Triangle([0.25, 0.5, -1], [0.25, 0.5, 1], [30, 0.5, 20])
    witness = closest_points_triangle_triangle(face, spike)
    assert separation_triangle_triangle(face, spike) == 0
    np.testing.assert_allclose(witness.on_a, witness.on_b, atol=1e-14)
    assert abs(witness.on_a[2]) < 1e-14


# --- batches ---------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_results_have_the_broadcast_batch_shape():
    rng = np.random.default_rng(7)
    a, b = (
        triangles_from_corners(rng.normal(size=(3, 1, 3, 3))),
        triangles_from_corners(rng.normal(size=(1500, 3, 3))),
    )
    table = separation_triangle_triangle(a, b)
    assert table.shape == (3, 1500)
    single = separation_triangle_triangle(a[2, 0], b[1234])
    assert single.shape == ()
    assert single == table[2, 1234]
    assert closest_points_triangle_triangle(a, b).normal.shape == (3, 1500, 3)
    assert closest_points_triangle_triangle(a[2, 0], b[1234]).on_b.shape == (3,)
    assert separation_triangle_triangle(b[:0], b[:0]).shape == (0,)
    assert closest_points_triangle_triangle(b[:0], b[:0]).on_a.shape == (0, 3)


def test_gap_along_best_axis_is_exact_far_from_origin():
    # Parallel triangles at distance 3 along (1, 2, 2) / 3, with integer coordinates.
    away = np.random.default_rng(9).integers(-(2**44), 2**44, (20, 1, 3)).astype(float)
    a = np.array([[0, 0, 0], [2, -1, 0], [0, 1, -1]]) * 4.0 + away
    gap, axis = best_axis(*(pair := (a, a + np.array([1, 2, 2]))), separating_axes(*pair))
    np.testing.assert_allclose(gap, 3, rtol=1e-14)
    np.testing.assert_allclose(axis, [np.array([1, 2, 2]) / 3] * 20, rtol=0, atol=1e-14)


def test_separating_axes_begin_with_normals():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 50, 3, 3))
    for found, corners in zip(separating_axes(a, b)[:2], (a, b), strict=True):
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        np.testing.assert_allclose(np.cross(found, normal), np.zeros((50, 3)), rtol=0, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(found, axis=-1), 1)


@pytest.mark.parametrize("power", [-600, 600])
def test_separating_axes_do_not_depend_on_the_unit(power):
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, 20, 3, 3))
    np.testing.assert_array_equal(separating_axes(a * 2.0**power, b * 2.0**power), separating_axes(a, b))


def test_points_have_no_separating_axis():
    points = np.ones((1, 3, 3))
    axes = separating_axes(points, points)
    np.testing.assert_array_equal(axes, 0)
    gap, axis = best_axis(points, points, axes)
    assert gap == -np.inf
    np.testing.assert_array_equal(axis, [[1, 0, 0]])


def test_parallel_edges_give_no_axis_of_crossing_triangles():
    # The second triangle stands on its tip, 1/4 below the first. Both have an edge along X.
    a = np.array([[[-8.0, -8, 0], [8, -8, 0], [0, 8, 0]]])
    b = np.array([[[-2.0, 0, 2], [2, 0, 2], [0, 0, -0.25]]])
    gap, axis = best_axis(a, b, separating_axes(a, b))
    assert gap == -0.25
    np.testing.assert_array_equal(axis, [[0, 0, 1]])
