"""Enclosing spheres and axis-aligned boxes of point sets."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from addon.core import (
    SPHERE_METHODS,
    Aabb,
    EmptyGeometryError,
    InvalidShapeError,
    NonFiniteGeometryError,
    aabb_from_points,
    sphere_from_aabb,
    sphere_from_points,
)
from tests.core import exact
from tests.core.fitting.point_sets import CUBE, outside
from tests.tiers import examples, times

OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])


def on_unit_sphere(count: int, seed: int = 1) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def lattice_sphere() -> np.ndarray:
    """Return the 96 lattice points with x^2 + y^2 + z^2 = 41, exactly on one sphere."""
    axis = np.arange(-6, 7)
    grid = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    points = grid[(grid**2).sum(axis=1) == 41]
    # 41 = 36 + 4 + 1 = 25 + 16 = 16 + 16 + 9: 48 + 24 + 24 signed arrangements.
    assert len(points) == 96
    return points.astype(float)


def families() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    line = rng.normal(size=(50, 1)) * [1.0, 2.0, -3.0]
    plane = rng.normal(size=(60, 3)) * [1, 1, 0]
    circle = np.array([(math.cos(t), math.sin(t), 0) for t in np.linspace(0, 2 * math.pi, 37)])
    return {
        "one point": np.array([[1.5, -2.0, 3.0]]),
        "two points": np.array([[0.0, 0, 0], [0, 3, 4]]),
        "the same point a hundred times": np.full((100, 3), 0.1),
        "two points repeated": np.array([[1.0, 2, 3], [4, 5, 6]] * 20),
        "collinear": line,
        "collinear with equal steps": np.arange(20)[:, None] * np.array([1.0, 0, 0]),
        "coplanar": plane,
        "circle": circle,
        "cube": CUBE,
        "octahedron": OCTAHEDRON,
        "lattice sphere": lattice_sphere(),
        "cloud": rng.normal(size=(500, 3)),
        "ball": rng.normal(size=(300, 3)) * [1, 5, 0.01],
        "sphere": on_unit_sphere(3000),
        "nearly one point": np.array([[1.0, 1, 1], [1, 1, 1 + 2**-52], [1, 1 + 2**-52, 1]]),
    }


# --- enclosure -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", list(families()))
def test_no_point_is_outside_at_any_scale_and_offset(name, dtype, method):
    base = families()[name]
    for scale in (1.0, 1e-6, 1e6):
        for offset in (0.0, 1e6, -3.7):
            points = (base * scale + offset).astype(dtype)
            sphere = sphere_from_points(points, method)
            assert (outside(sphere, points) <= 0).all()
            assert sphere.contains(points).all()
            # Some point is exactly on the sphere, because the radius is a distance.
            assert outside(sphere, points).max() == pytest.approx(0, abs=1e-15 * sphere.radius)


@examples(60, full=1000)
@given(
    arrays(np.float64, st.tuples(st.integers(1, 30), st.just(3)), elements=st.floats(-1e12, 1e12)),
    st.sampled_from(SPHERE_METHODS),
)
def test_no_point_of_any_set_is_outside(points, method):
    sphere = sphere_from_points(points, method)
    assert (outside(sphere, points) <= 0).all()


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_extreme_sizes_neither_overflow_nor_underflow(method, size):
    points = np.random.default_rng(2).normal(size=(40, 3))
    plain = sphere_from_points(points, method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sphere = sphere_from_points(points * size, method)
    assert (outside(sphere, points * size) <= 0).all()
    assert sphere.radius / size == pytest.approx(float(plain.radius), rel=1e-10)


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("points", [[[5e-324, 0, 0]], [[0, 0, 0], [5e-324, 0, 5e-324]]])
def test_smallest_subnormal_stays_inside_although_its_half_is_zero(method, points):
    # Compare by coordinate, because squares of such numbers are 0.
    sphere = sphere_from_points(points, method)
    assert (np.abs(np.array(points) - sphere.center).max(axis=1) <= sphere.radius).all()


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("count", [16_383, 16_385, 16_384 * 2 + 7])
def test_farthest_point_is_found_in_any_chunk(method, count):
    points = np.random.default_rng(count).random((count, 3)).astype(np.float32)
    for row in (0, 16_383, count - 1):
        moved = points.copy()
        moved[row % count] = [9, -9, 9]
        sphere = sphere_from_points(moved, method)
        assert (outside(sphere, moved) <= 0).all()


# --- the minimal sphere ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(times(25, 12, full=1000)))
def test_minimal_sphere_of_small_set_is_smallest_over_all_supports(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(2, 8), 3))
    kind = seed % 6
    if kind == 1:
        points[:, 2] = 0
    elif kind == 2:
        points = points[:, :1] * [1.0, 2.0, -3.0]
    elif kind == 3:
        points = rng.integers(-2, 3, size=points.shape).astype(float)
    elif kind == 4:
        points = points + 1e3
    points = points * 10.0 ** rng.choice([-6, 0, 6])
    expected = exact.square_root(exact.smallest_ball_squared_radius(points))
    radius = float(sphere_from_points(points).radius)
    # Rounding the center to float64 adds its rounding error to the radius.
    rounding = 2e-16 * float(np.abs(points).max())
    assert expected * (1 - 1e-15) <= radius <= expected * (1 + 1e-12) + rounding


@pytest.mark.parametrize(
    ("points", "radius"),
    [
        (CUBE, math.sqrt(3)),
        (OCTAHEDRON, 1.0),
        (lattice_sphere(), math.sqrt(41)),
        # The corners of a regular tetrahedron, at distance sqrt(3) from the center.
        (np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]), math.sqrt(3)),
        # An equilateral triangle of side 1 has circumradius 1 / sqrt(3).
        (np.array([[0.0, 0, 0], [1, 0, 0], [0.5, math.sqrt(3) / 2, 0]]), 1 / math.sqrt(3)),
        # The sphere of an obtuse triangle is that of its longest side: the circumradius would be 13.
        (np.array([[0.0, 0, 0], [10, 0, 0], [5, 1, 0]]), 5.0),
        (np.array([[0.0, 0, 0], [0, 3, 4]]), 2.5),
    ],
)
def test_minimal_sphere_has_known_radius(points, radius):
    for offset in (0.0, 100.0):
        sphere = sphere_from_points(points + offset)
        assert float(sphere.radius) == pytest.approx(radius, rel=1e-12)


@pytest.mark.parametrize("method", SPHERE_METHODS)
def test_single_point_and_duplicates_give_radius_zero(method):
    for count in (1, 2, 1000):
        sphere = sphere_from_points(np.full((count, 3), [0.5, -2.0, 8.0]), method)
        assert sphere.center.tolist() == [0.5, -2.0, 8.0]
        assert sphere.radius == 0


def test_minimal_sphere_of_many_points_is_that_of_four_support_points():
    # 40 thousand points strictly inside the sphere around a regular tetrahedron of circumradius 2.
    inner = on_unit_sphere(40_000) * np.random.default_rng(4).random((40_000, 1)) * 1.9
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) * 2 / math.sqrt(3)
    points = np.concatenate([inner[:17_000], corners[:2], inner[17_000:], corners[2:]]) + np.array(
        [5.0, 6, 7]
    )
    sphere = sphere_from_points(points)
    assert float(sphere.radius) == pytest.approx(2, rel=1e-12)
    np.testing.assert_allclose(sphere.center, [5, 6, 7], atol=1e-12)


def test_minimal_is_never_larger_than_the_other_methods():
    for points in families().values():
        radii = {method: float(sphere_from_points(points, method).radius) for method in SPHERE_METHODS}
        assert radii["minimal"] <= min(radii.values()) * (1 + 1e-12)


def test_order_of_points_changes_radius_by_rounding_only():
    points = on_unit_sphere(200) * [1, 1, 0.5]
    radius = float(sphere_from_points(points).radius)
    for seed in range(5):
        shuffled = np.random.default_rng(seed).permutation(points)
        assert float(sphere_from_points(shuffled).radius) == pytest.approx(radius, rel=1e-12)


def test_box_and_centroid_methods_have_documented_centers():
    points = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [4, 8, -8]]
    assert sphere_from_points(points, "box").center.tolist() == [2, 4, -4]
    assert sphere_from_points(points, "centroid").center.tolist() == [1, 2, -2]
    # (4, 8, 8) has length 12: half of it, and three quarters.
    assert sphere_from_points(points, "box").radius == 6
    assert sphere_from_points(points, "centroid").radius == 9


def test_ritter_is_at_most_a_quarter_larger_than_minimal():
    # Ritter (1990) reports about 5 %, others up to 20 %.
    for points in families().values():
        minimal = float(sphere_from_points(points).radius)
        assert float(sphere_from_points(points, "ritter").radius) <= minimal * 1.25 + 1e-15


# --- boxes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 19_999, 20_000, 20_001, 20_480, 20_991, 51_200 + 511])
def test_box_includes_extremes_at_start_end_and_fold_boundary(count, dtype):
    rng = np.random.default_rng(count)
    base = rng.random((count, 3)).astype(dtype)
    seam = count - count % 512
    for row in {0, count - 1, count // 2, max(seam - 1, 0), min(seam, count - 1)}:
        for value in (-7.0, 7.0):
            points = base.copy()
            points[row, rng.integers(3)] = value
            box = aabb_from_points(points)
            # Plain Python, a coordinate at a time.
            columns = points.T.tolist()
            assert box.min.tolist() == [min(column) for column in columns]
            assert box.max.tolist() == [max(column) for column in columns]


def test_box_of_strided_view():
    points = np.arange(60_000 * 3, dtype=float).reshape(-1, 3)
    for view in (points[::2], points[::-1], np.asfortranarray(points), points[:, ::-1]):
        box = aabb_from_points(view)
        assert box.min.tolist() == [min(column) for column in view.T.tolist()]
        assert box.max.tolist() == [max(column) for column in view.T.tolist()]


@pytest.mark.smoke
def test_integer_points_are_accepted():
    box = aabb_from_points([[1, 2, 3], [3, 2, 1]])
    assert (box.min.tolist(), box.max.tolist()) == ([1, 2, 1], [3, 2, 3])


@given(
    st.lists(st.tuples(*[st.floats(-1e6, 1e6, allow_subnormal=False)] * 3), min_size=2, max_size=2),
)
def test_sphere_around_box_encloses_corners_in_exact_arithmetic(corners):
    low, high = np.minimum(*corners), np.maximum(*corners)
    low, high = np.where(np.abs(low) < 1e-100, 0, low), np.where(np.abs(high) < 1e-100, 0, high)
    sphere = sphere_from_aabb(Aabb(low, high))
    squared = Fraction(float(sphere.radius)) ** 2
    for corner in Aabb(low, high).corners():
        offset = exact.subtract(exact.vector(corner), exact.vector(sphere.center))
        assert exact.dot(offset, offset) <= squared
    # Half the diagonal, plus the error of rounding the center.
    diagonal = exact.subtract(exact.vector(high), exact.vector(low))
    half = exact.square_root(exact.dot(diagonal, diagonal)) / 2
    assert sphere.radius <= half * (1 + 1e-14) + 1e-15 * np.abs([low, high]).max()


# --- invalid input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fit", [aabb_from_points, sphere_from_points])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(("count", "row"), [(1, 0), (10, 7), (30_000, 29_999)])
def test_non_finite_coordinate_raises_error_with_its_index(fit, dtype, bad, count, row):
    points = np.ones((count, 3), dtype=dtype)
    points[row, 1] = bad
    with pytest.raises(NonFiniteGeometryError, match=rf"element \({row}, 1\) is {bad}"):
        fit(points)


@pytest.mark.smoke
def test_infinities_that_cancel_in_sum_are_rejected():
    with pytest.raises(NonFiniteGeometryError, match=r"\(0, 0\)"):
        aabb_from_points([[math.inf, 0, 0], [-math.inf, 0, 0]])


@pytest.mark.smoke
def test_finite_points_with_overflowing_sum_are_accepted():
    assert aabb_from_points([[1.7e308, 0, 0], [1.7e308, 1, 0]]).max.tolist() == [1.7e308, 1, 0]


@pytest.mark.parametrize("fit", [aabb_from_points, sphere_from_points])
def test_empty_input_and_wrong_shapes_raise_specific_errors(fit):
    for empty in ([], np.empty((0, 3)), np.empty((0, 3), dtype=np.float32), np.empty((4, 0, 3))):
        with pytest.raises(EmptyGeometryError, match="no points"):
            fit(empty)
    for wrong in ([1, 2, 3], np.zeros((4, 2)), np.zeros((2, 3, 2))):
        with pytest.raises(InvalidShapeError, match=r"\(\.\.\., n, 3\)"):
            fit(wrong)
    with pytest.raises(InvalidShapeError, match="numbers"):
        fit([["a", "b", "c"]])


def test_unknown_method_error_lists_methods():
    with pytest.raises(InvalidShapeError, match=r"'smallest'.*minimal, ritter, centroid, box"):
        sphere_from_points(CUBE, "smallest")
