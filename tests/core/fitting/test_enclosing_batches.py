"""Enclosing spheres and axis-aligned boxes of batches and groups of point sets."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from addon.core import (
    SPHERE_METHODS,
    NonFiniteGeometryError,
    aabb_from_points,
    aabbs_from_groups,
    sphere_from_points,
    spheres_from_groups,
)
from tests.core.fitting.point_sets import CUBE, outside


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5, 1), (2, 3, 4), (4, 40), (1, 600), (2, 3_000)])
def test_sphere_of_each_set_in_batch_equals_single_fit(shape, dtype, method):
    points = np.random.default_rng(sum(shape)).normal(size=(*shape, 3)).astype(dtype)
    spheres = sphere_from_points(points, method)
    assert spheres.shape == shape[:-1]
    for index in np.ndindex(shape[:-1]):
        alone = sphere_from_points(points[index], method)
        assert spheres[index].contains(points[index]).all()
        # Ritter's center can differ where distances are float32.
        rel = 2e-2 if method == "ritter" else 1e-12
        assert float(spheres.radius[index]) == pytest.approx(float(alone.radius), rel=rel)


@pytest.mark.parametrize("order", ["farthest first", "as they come", "farthest last"])
@pytest.mark.parametrize("counts", [(1, 2, 3), (300, 64, 5, 1, 800), (6000, 100, 4097, 900), (30,) * 50])
def test_spheres_of_sorted_groups_are_the_smallest_in_any_order(counts, order):
    rng = np.random.default_rng(sum(counts))
    sets = [
        rng.normal(size=(count, 3)) * rng.uniform(0.1, 3, 3) + rng.normal(size=3) * 50 for count in counts
    ]
    if order != "as they come":
        sign = -1 if order == "farthest first" else 1
        sets = [each[np.argsort(sign * np.linalg.norm(each - each.mean(axis=0), axis=1))] for each in sets]
    spheres = spheres_from_groups(np.concatenate(sets), np.cumsum([0, *counts]), is_sorted=True)
    for k, points in enumerate(sets):
        assert spheres[k].contains(points).all()
        alone = sphere_from_points(points)
        assert float(spheres.radius[k]) == pytest.approx(float(alone.radius), rel=1e-12)


def test_no_group_has_no_sphere_and_no_box():
    assert spheres_from_groups(np.zeros((3, 3)), [0], is_sorted=True).shape == (0,)
    assert aabbs_from_groups(np.zeros((3, 3)), [0]).shape == (0,)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(5, 1), (2, 3, 4), (4, 40), (2, 2_047), (3, 2_048), (2, 2, 20_001)])
def test_box_of_each_set_in_batch_is_min_and_max(shape, dtype):
    points = np.random.default_rng(sum(shape)).normal(size=(*shape, 3)).astype(dtype)
    boxes = aabb_from_points(points)
    assert boxes.shape == shape[:-1]
    assert boxes.min.tolist() == points.min(axis=-2).tolist()
    assert boxes.max.tolist() == points.max(axis=-2).tolist()


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("counts", [(1,), (3, 1, 700, 42), (2_500, 3_000), (9_000, 1, 5)])
def test_shapes_of_each_group_equal_single_fits(counts, dtype, method):
    rng = np.random.default_rng(sum(counts))
    points = (np.array([3, -50, 700]) + rng.normal(size=(sum(counts) + 5, 3))).astype(dtype)
    # Two points before the first group and three after the last belong to none.
    offsets = 2 + np.cumsum([0, *counts])
    spheres, boxes = spheres_from_groups(points, offsets, method), aabbs_from_groups(points, offsets)
    assert spheres.shape == boxes.shape == (len(counts),)
    for k in range(len(counts)):
        group = points[offsets[k] : offsets[k + 1]]
        assert outside(spheres[k], group).max() <= 0
        rel = 2e-2 if method == "ritter" else 1e-12
        alone = sphere_from_points(group, method)
        assert float(spheres.radius[k]) == pytest.approx(float(alone.radius), rel=rel, abs=1e-13)
        assert boxes.min[k].tolist() == group.min(axis=0).tolist()
        assert boxes.max[k].tolist() == group.max(axis=0).tolist()


def test_zero_groups_give_empty_batch():
    assert aabbs_from_groups(CUBE, [3]).shape == (0,)


@pytest.mark.parametrize("method", SPHERE_METHODS)
def test_batch_of_zero_sets_gives_empty_batch(method):
    assert sphere_from_points(np.empty((0, 5, 3)), method).shape == (0,)
    assert aabb_from_points(np.empty((2, 0, 5, 3))).shape == (2, 0)


@pytest.mark.parametrize("method", SPHERE_METHODS)
@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_extreme_sizes_in_batch_neither_overflow_nor_underflow(method, size):
    points = np.random.default_rng(2).normal(size=(3, 40, 3))
    plain = sphere_from_points(points, method)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spheres = sphere_from_points(points * size, method)
    np.testing.assert_allclose(spheres.radius / size, plain.radius, rtol=1e-10)
    assert spheres[:, None].contains(points * size).all()


@pytest.mark.parametrize("fit", [aabb_from_points, sphere_from_points])
@pytest.mark.parametrize("count", [4, 3_000])
def test_non_finite_coordinate_in_batch_raises_error_with_its_index(fit, count):
    points = np.ones((2, 3, count, 3))
    points[1, 2, 3, 0] = math.inf
    with pytest.raises(NonFiniteGeometryError, match=r"points: element \(1, 2, 3, 0\) is inf"):
        fit(points)


@pytest.mark.parametrize("method", SPHERE_METHODS)
def test_points_too_far_apart_for_finite_radius_are_rejected(method):
    points = np.array([[1.7e308] * 3, [-1.7e308] * 3])
    for given_points in (points, points[None]):
        with pytest.raises(NonFiniteGeometryError, match="sphere radius"):
            sphere_from_points(given_points, method)
