"""Quickhull of many point sets: each hull is as right as alone, whatever other sets are built with it."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.fitting.quickhull import quickhull, quickhulls
from tests.core.closed import assert_closed as assert_all_used_and_closed
from tests.core.exact import dot, subtract, vector, whole
from tests.core.fitting.test_quickhull import SOLIDS
from tests.tiers import times


def volume(points: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float((np.cross(a, b) * c).sum() / 6)


def assert_closed(points: np.ndarray, faces: np.ndarray) -> None:
    """Assert that the faces are one closed surface of the points that they use."""
    used, numbers = np.unique(faces, return_inverse=True)
    assert_all_used_and_closed(points[used], numbers.reshape(-1, 3).tolist())


def random_set(rng: np.random.Generator) -> np.ndarray:
    """Return 4 to 120 random points, of which many can be in common planes, twice, or in one plane."""
    count = int(rng.integers(4, 120))
    kind = rng.integers(5)
    if kind == 0:
        points = rng.integers(-3, 4, (count, 3)).astype(float)
    elif kind == 1:
        points = rng.normal(size=(count, 3))
        points /= np.linalg.norm(points, axis=1)[:, None]
    elif kind == 2:
        points = np.repeat(rng.normal(size=(count // 2 + 2, 3)), 2, axis=0)
    elif kind == 3:
        points = rng.normal(size=(count, 3)) * [1, 1, 0]
    else:
        points = rng.normal(size=(count, 3))
    return points / np.abs(points).max()


def assert_no_point_above(points: np.ndarray, faces: np.ndarray, tolerance: float) -> None:
    """Assert in whole numbers that no point is above a face by more than a tolerance."""
    exact, unit = whole(*map(vector, points))
    scale = round(1 / tolerance)
    for face in faces.tolist():
        a, b, c = (exact[k] for k in face)
        u, v = subtract(b, a), subtract(c, a)
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        height = max(dot(subtract(p, a), normal) for p in exact)
        assert height <= 0 or height**2 * scale**2 <= dot(normal, normal) * unit**2


@pytest.mark.smoke
def test_hulls_of_solids_have_known_volumes():
    sets = [points.astype(float) for points, _ in SOLIDS.values()]
    for faces, points, (_, expected) in zip(quickhulls(sets, 1e-10), sets, SOLIDS.values(), strict=True):
        assert_closed(points, faces)
        assert volume(points, faces) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(times(6, 2, full=300)))
def test_random_sets_have_closed_hulls_with_no_point_outside_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    sets = [random_set(rng) for _ in range(20)]
    for points, faces in zip(sets, quickhulls(sets, 1e-9), strict=True):
        if np.linalg.matrix_rank(points - points[0]) < 3:
            assert faces is None
            continue
        assert_closed(points, faces)
        assert_no_point_above(points, faces, 1e-9)


def test_vertices_that_come_to_be_inside_are_no_part_of_the_hull():
    # The farthest point above a face is the farthest of those that are farthest above this face.
    rng = np.random.default_rng(133)
    points = [random_set(rng) for _ in range(2)][1]
    for faces in quickhulls([points, points[:60]], 1e-9):
        assert_closed(points, faces)
    assert np.array_equal(np.unique(quickhulls([points] * 2, 1e-9)[0]), np.unique(quickhull(points, 1e-9)))


@pytest.mark.parametrize("limit", [4, 5, 12, 40])
def test_limited_hulls_have_as_many_vertices_as_alone_and_about_their_volume(limit):
    rng = np.random.default_rng(limit)
    sets = [random_set(rng) for _ in range(40)]
    for points, faces in zip(sets, quickhulls(sets, 1e-9, limit), strict=True):
        alone = quickhull(points, 1e-9, limit)
        if alone is None:
            assert faces is None
            continue
        assert_closed(points, faces)
        assert len(np.unique(faces)) == len(np.unique(alone)) <= limit
        # Of points of equal height, another one can be taken.
        assert volume(points, faces) >= 0.5 * volume(points, alone)


def test_points_rougher_than_the_tolerance_have_a_closed_surface_or_none():
    rng = np.random.default_rng(3)
    sets = []
    for roughness in np.geomspace(1e-13, 1e-4, 30):
        grid = np.array(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3)).reshape(3, -1).T
        sets.append(grid + rng.uniform(-roughness, roughness, grid.shape))
    for tolerance in (1e-6, 1e-9, 1e-12):
        found = quickhulls(sets, tolerance)
        assert sum(faces is not None for faces in found) > 20
        for points, faces in zip(sets, found, strict=True):
            if faces is not None:
                assert_closed(points, faces)


def test_hundreds_of_sets_of_different_sizes_are_returned_in_their_order():
    rng = np.random.default_rng(5)
    sets = [rng.normal(size=(int(count), 3)) for count in rng.integers(4, 60, 300)]
    sets[7] = sets[7] * [1, 0, 1]
    sets[11] = rng.normal(size=(200_000, 3))
    sets = [points / np.abs(points).max() for points in sets]
    found = quickhulls(sets, 1e-10)
    for number in (*range(0, 300, 17), 7, 11):
        alone = quickhull(sets[number], 1e-10)
        if alone is None:
            assert found[number] is None and number == 7
        else:
            assert np.array_equal(np.unique(found[number]), np.unique(alone))
    assert quickhulls([], 1e-10) == []
