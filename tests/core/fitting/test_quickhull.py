"""Quickhull against exact orientation tests, Euler's formula, and solids of known volume."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core.fitting.quickhull import extreme_points, quickhull
from tests.core.exact import dot, subtract, vector, whole
from tests.tiers import times

GOLDEN = (1 + math.sqrt(5)) / 2
SOLIDS = {
    # name: corners, volume
    "cube": (np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T, 8),
    "tetrahedron": (np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]), 8 / 3),
    "octahedron": (np.concatenate([np.eye(3), -np.eye(3)]), 4 / 3),
    "icosahedron": (
        np.array([np.roll([0, a, b * GOLDEN], shift) for a in (-1, 1) for b in (-1, 1) for shift in range(3)])
        / GOLDEN,
        # Edge a = 2 / golden ratio; the volume is 5 (3 + sqrt 5) / 12 a^3.
        5 * (3 + math.sqrt(5)) / 12 * (2 / GOLDEN) ** 3,
    ),
    "grid with points inside, on faces and on edges": (
        np.array(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3)).reshape(3, -1).T,
        8,
    ),
}


def volume(points: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float((np.cross(a, b) * c).sum() / 6)


def assert_closed(faces: np.ndarray) -> None:
    """Assert that every edge has a face in each direction, and that there is one piece (Euler)."""
    directed = {(int(f[k]), int(f[(k + 1) % 3])) for f in faces for k in range(3)}
    assert len(directed) == 3 * len(faces)
    assert all((b, a) in directed for a, b in directed)
    assert len(np.unique(faces)) - len(directed) // 2 + len(faces) == 2


@pytest.mark.parametrize("name", SOLIDS)
def test_hull_of_solid_has_known_volume(name):
    points, expected = SOLIDS[name]
    faces = quickhull(points.astype(float))
    assert_closed(faces)
    assert volume(points, faces) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(times(8, 8, full=1000)))
def test_no_point_is_outside_in_exact_arithmetic(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) if seed % 2 else rng.integers(-3, 4, (60, 3)).astype(float)
    points /= np.abs(points).max()
    faces = quickhull(points)
    assert_closed(faces)
    exact, unit = whole(*map(vector, points))
    for face in faces.tolist():
        a, b, c = (exact[k] for k in face)
        u, v = subtract(b, a), subtract(c, a)
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        height = max(dot(subtract(p, a), normal) for p in exact)
        assert height <= 0 or height**2 * 10**18 <= dot(normal, normal) * unit**2


@pytest.mark.smoke
@pytest.mark.parametrize(
    "points",
    [
        np.zeros((5, 3)),
        np.outer(np.linspace(-1, 1, 9), [1, 0.5, -0.2]),
        np.random.default_rng(1).normal(size=(40, 3)) * [1, 1, 0],
        np.random.default_rng(2).normal(size=(3, 3)),
    ],
    ids=["one place", "a line", "a plane", "three points"],
)
def test_points_without_volume_have_no_hull(points):
    assert quickhull(points) is None


def test_extreme_points_reach_nearly_as_far_as_all_points():
    rng = np.random.default_rng(5)
    for stretch in ([1, 1, 1], [100, 1, 1], [100, 100, 1]):
        points = rng.uniform(-1, 1, size=(40_000, 3)) * stretch
        extremes = extreme_points(points)
        assert len(extremes) <= 400
        directions = rng.normal(size=(300, 3)) / stretch
        reach = (extremes @ directions.T).max(axis=0) / (points @ directions.T).max(axis=0)
        assert reach.min() > 0.9
