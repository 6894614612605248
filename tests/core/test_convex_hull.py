"""Hulls against exact orientation tests, Euler's formula, and solids of known volume."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from addon.core.convex_hull import Hull, convex_hull, representatives
from tests.core.exact import dot, minus, vector

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


def volume(points: np.ndarray, hull: Hull) -> float:
    a, b, c = (points[hull.faces[:, k]] for k in range(3))
    return float((np.cross(a, b) * c).sum() / 6)


def assert_closed(hull: Hull) -> None:
    """Every edge lies between two faces that run along it in opposite directions; one piece (Euler)."""
    directed = {(int(f[k]), int(f[(k + 1) % 3])) for f in hull.faces for k in range(3)}
    assert len(directed) == 3 * len(hull.faces)
    assert all((b, a) in directed for a, b in directed)
    assert len(hull.vertices) - len(hull.edges) + len(hull.faces) == 2


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_have_their_volume(name):
    points, expected = SOLIDS[name]
    hull = convex_hull(points.astype(float))
    assert_closed(hull)
    assert volume(points, hull) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_point_is_outside_by_exact_orientation(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(60, 3)) if seed % 2 else rng.integers(-3, 4, (60, 3)).astype(float)
    points /= np.abs(points).max()
    hull = convex_hull(points)
    assert_closed(hull)
    rational = [vector(p) for p in points]
    for face in hull.faces.tolist():
        a, b, c = (rational[k] for k in face)
        u, v = minus(b, a), minus(c, a)
        normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        size = Fraction(math.sqrt(float(dot(normal, normal))))
        assert max(dot(minus(p, a), normal) for p in rational) <= size * Fraction(1, 10**9)


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
def test_what_has_no_volume_has_no_hull(points):
    assert convex_hull(points) is None


def test_representatives_reach_nearly_as_far_as_all_points():
    rng = np.random.default_rng(5)
    for stretch in ([1, 1, 1], [100, 1, 1], [100, 100, 1]):
        points = rng.uniform(-1, 1, size=(40_000, 3)) * stretch
        few = representatives(points)
        assert len(few) <= 400
        directions = rng.normal(size=(300, 3)) / stretch
        reach = (few @ directions.T).max(axis=0) / (points @ directions.T).max(axis=0)
        assert reach.min() > 0.9
