"""Segments and triangles, and the closest points on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Segment, Triangle
from addon.core.shapes.primitives import closest_on_segment, closest_on_triangle
from tests.core import exact
from tests.core.scenes import POINT, affine
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")


def distance_to_triangle(point, corners) -> float:
    return exact.square_root(exact.point_triangle_squared(exact.vector(point), *map(exact.vector, corners)))


# --- segment ---------------------------------------------------------------------------------------------


@given(POINT, POINT, POINT)
def test_closest_point_on_segment_is_on_it_and_none_is_closer(point, start, end):
    p, s, e = (exact.vector(corner) for corner in (point, start, end))
    found = closest_on_segment(np.array(point), Segment(start, end))
    assert exact.square_root(exact.point_segment_squared(exact.vector(found), s, e)) <= 1e-14
    truth = exact.square_root(exact.point_segment_squared(p, s, e))
    assert np.linalg.norm(found - point) == pytest.approx(truth, abs=1e-14)


def test_points_beyond_ends_are_closest_to_exact_ends():
    start, end = np.array([0.1, 0.2, 0.3]), np.array([0.7, -0.4, 1.1])
    segment = Segment(start, end)
    along = end - start
    assert closest_on_segment(start - along, segment).tolist() == start.tolist()
    assert closest_on_segment(end + along, segment).tolist() == end.tolist()
    assert closest_on_segment(end, segment).tolist() == end.tolist()


@pytest.mark.parametrize("size", [1e-150, 1e-9, 1.0, 1e9, 1e150])
def test_closest_point_on_segment_of_any_size(size):
    # The closest point to (3, 4) on the segment to (10, 0) is (3, 0).
    found = closest_on_segment(np.array([3, 4, 0]) * size, Segment([0, 0, 0], [10 * size, 0, 0]))
    np.testing.assert_allclose(found / size, [3, 0, 0], rtol=1e-15)


def test_closest_point_near_far_end_of_long_segment():
    # Measured from the start, a closest point near the far end would be wrong by 1e-10.
    found = closest_on_segment(np.array([0.25, 1, 0]), Segment([1e6, 0, 0], [0, 0, 0]))
    np.testing.assert_allclose(found, [0.25, 0, 0], atol=1e-10)
    assert closest_on_segment(np.array([-1.0, 1, 0]), Segment([1e6, 0, 0], [0, 0, 0])).tolist() == [0, 0, 0]


# --- triangle --------------------------------------------------------------------------------------------


@given(POINT, POINT, POINT, POINT)
def test_closest_point_on_triangle_is_on_it_and_none_is_closer(point, a, b, c):
    found = closest_on_triangle(np.array(point), Triangle(a, b, c))
    assert distance_to_triangle(found, (a, b, c)) <= 1e-14
    truth = distance_to_triangle(point, (a, b, c))
    assert np.linalg.norm(found - point) == pytest.approx(truth, abs=2e-14)


@pytest.mark.parametrize(
    ("point", "closest"),
    [
        ([1, 1, 5], [1, 1, 0]),  # over the face
        ([1, 1, 0], [1, 1, 0]),  # on it
        ([1, 1, -5], [1, 1, 0]),  # below
        ([-2, 2, 3], [0, 2, 0]),  # beyond each of the sides
        ([2, -1, 3], [2, 0, 0]),
        ([3, 3, 7], [2, 2, 0]),
        ([-1, -2, 1], [0, 0, 0]),  # beyond each of the corners
        ([6, -1, 1], [4, 0, 0]),
        ([-1, 6, 1], [0, 4, 0]),
        ([2, 2, 1], [2, 2, 0]),  # over a side
        ([4, 0, 1], [4, 0, 0]),  # over a corner
    ],
)
def test_closest_point_in_every_region_around_triangle(point, closest):
    a, b, c = [0, 0, 0], [4, 0, 0], [0, 4, 0]
    for corners in ((a, b, c), (b, c, a), (c, a, b), (a, c, b), (c, b, a), (b, a, c)):
        found = closest_on_triangle(np.array(point, dtype=float), Triangle(*corners))
        np.testing.assert_allclose(found, closest, atol=4e-16)


def slivers(kind: str, rng: np.random.Generator, count: int):
    """Triangles (3, count, 3), from thin ones to ones of no more than rounding errors."""
    a, along = rng.normal(size=(2, count, 3))
    width = 10.0 ** rng.uniform(-18, -2, (count, 1))
    part = rng.random((count, 1))
    if kind == "tenths":
        # (0.1, 0.2, 0.3) and three times that: collinear, to rounding.
        along = rng.integers(-9, 10, (count, 3)) / 10
        return np.array([np.zeros((count, 3)), along * rng.integers(1, 4, (count, 1)), along * 7])
    if kind == "rounded":
        return np.array([a, a + along * part, a + along])
    if kind == "flat":
        return np.array([a, a + along * part + rng.normal(size=(count, 3)) * width, a + along])
    return np.array([a, a + along + rng.normal(size=(count, 3)) * width, a + along])


@pytest.mark.parametrize("kind", ["tenths", "rounded", "flat", "needle"])
def test_closest_points_on_slivers_are_on_them(kind):
    rng = np.random.default_rng(0)
    count = 600
    corners = slivers(kind, rng, count)
    weights = rng.dirichlet([1, 1, 1], count)
    base = np.einsum("nk,knj->nj", weights, corners)
    points = base + rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-12, 1, (count, 1))
    # Points straight above the face, and at tenths of the sides.
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    points[::3] = (base + normal / np.where(length > 0, length, 1))[::3]
    points[::5] = np.round(points[::5], 1)
    found = closest_on_triangle(points, Triangle(*corners))
    scale = np.maximum(np.abs(points), np.abs(corners).max(axis=0)).max(axis=1)
    for i in range(times(count, 100)):
        assert distance_to_triangle(found[i], corners[:, i]) <= 1e-15 * scale[i]
        truth = distance_to_triangle(points[i], corners[:, i])
        assert np.linalg.norm(found[i] - points[i]) == pytest.approx(truth, abs=2e-15 * scale[i])


@given(POINT, POINT, POINT, POINT, st.sampled_from([1e-150, 1e150]))
def test_closest_points_scale_with_coordinates(point, a, b, c, factor):
    small = closest_on_triangle(np.array(point), Triangle(a, b, c))
    corners = (np.multiply(corner, factor) for corner in (a, b, c))
    found = closest_on_triangle(np.multiply(point, factor), Triangle(*corners))
    np.testing.assert_allclose(found / factor, small, rtol=0, atol=1e-7)
    # The closest point is unique in the plane; of two equally distant sides, either is correct.
    away, expected = np.linalg.norm(found / factor - point), np.linalg.norm(small - np.array(point))
    assert away == pytest.approx(expected, abs=2e-14)


@pytest.mark.smoke
def test_points_and_triangles_broadcast():
    rng = np.random.default_rng(1)
    points, corners = rng.normal(size=(5, 1, 3)), rng.normal(size=(3, 1, 4, 3))
    table = closest_on_triangle(points, Triangle(*corners))
    assert table.shape == (5, 4, 3)
    for i in range(5):
        for j in range(4):
            alone = closest_on_triangle(points[i, 0], Triangle(*corners[:, 0, j]))
            np.testing.assert_allclose(table[i, j], alone, atol=1e-15)
    assert closest_on_triangle(np.zeros((0, 3)), Triangle(*corners[:, 0, 0])).shape == (0, 3)
    assert closest_on_segment(np.zeros((0, 3)), Segment([0, 0, 0], [1, 0, 0])).shape == (0, 3)


# --- boxes, transforms and normals -----------------------------------------------------------------------


def test_boxes_around_segments_and_triangles_are_exact():
    segment = Segment([[0, 5, -1]], [[2, 3, -4]])
    assert segment.aabb().min.tolist() == [[0, 3, -4]]
    assert segment.aabb().max.tolist() == [[2, 5, -1]]
    triangle = Triangle([0, 5, -1], [2, 3, -4], [1, 9, -2])
    assert triangle.aabb().min.tolist() == [0, 3, -4]
    assert triangle.aabb().max.tolist() == [2, 9, -1]


def test_transformed_segment_connects_transformed_ends():
    matrix = affine(np.diag([2.0, 3, -1]), [1, 1, 1])
    segment = Segment([1, 2, 3], [4, 5, 6]).transformed(matrix)
    assert segment.start.tolist() == [3, 7, -2]
    assert segment.end.tolist() == [9, 16, -5]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-160, 1e-150, 1.0, 1e150])
def test_normal_is_on_side_where_corners_are_counter_clockwise(size):
    a, b, c = np.array([[0, 0, 0], [4, 0, 0], [0, 3, 0]]) * size
    for corners in ((a, b, c), (b, c, a), (c, a, b)):
        assert Triangle(*corners).normal.tolist() == [0, 0, 1]
    for corners in ((a, c, b), (c, b, a), (b, a, c)):
        assert Triangle(*corners).normal.tolist() == [0, 0, -1]


@pytest.mark.parametrize("corners", [[[1, 2, 3]] * 3, [[0, 0, 0], [1, 1, 1], [3, 3, 3]], [[0, 0, 0]] * 3])
def test_triangle_without_area_has_zero_normal(corners):
    assert Triangle(*corners).normal.tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize("one_sided", [False, True])
def test_mirroring_keeps_front_of_one_sided_triangles(size, mirror, one_sided):
    # A point in front of a triangle is in front of its image. Two-sided triangles keep the order of corners
    # instead.
    matrix = affine(np.diag([mirror, 2.0, 3]) * size)
    triangle = Triangle([0, 0, 0], [1, 0, 0], [0, 1, 0], one_sided).transformed(matrix)
    assert triangle.one_sided == one_sided
    front = 1 if mirror > 0 or one_sided else -1
    assert triangle.normal.tolist() == [0, 0, front]
