"""Hulls for meshes: no point above a face by exact fractions, closed, and as small as they can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from addon.core import InvalidShapeError, hull_from_points
from tests.core.closed import assert_closed, assert_holds, volume
from tests.core.exact import cross, dot, minus, vector
from tests.tiers import times

CUBE = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T.astype(float)
GRID = np.array(np.meshgrid(*[np.linspace(-1, 1, 6)] * 3)).reshape(3, -1).T


def turned(points: np.ndarray, seed: int = 0) -> np.ndarray:
    """Turned some way, and rounded as Blender stores vertices: flat sides become rough."""
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return (points @ axes.T).astype(np.float32).astype(float)


SETS = {
    "a cube": CUBE,
    "a grid": GRID,
    "a turned grid": turned(GRID),
    "a turned plate": turned(GRID * [10, 5, 0.001]),
    "a turned needle": turned(GRID * [1000, 1, 1], 1),
    "far from the origin": (turned(GRID) + np.array([1000, 2000, -500])).astype(np.float32).astype(float),
    "tiny": GRID * 1e-6,
    "huge": turned(GRID) * 1e6,
    "a tetrahedron": np.random.default_rng(3).normal(size=(4, 3)),
    "double vertices": np.concatenate([CUBE, CUBE, CUBE[:3]]),
    "a cloud": np.random.default_rng(4).normal(size=(300, 3)),
    "a ball": turned(
        np.random.default_rng(5).normal(size=(400, 3))
        / np.linalg.norm(np.random.default_rng(5).normal(size=(400, 3)), axis=1)[:, None]
    ),
}


@pytest.mark.parametrize("most", [255, 20, 4])
@pytest.mark.parametrize("name", SETS)
def test_no_point_is_above_any_face_by_exact_fractions(name, most):
    hull = hull_from_points(SETS[name], most)
    assert len(hull.vertices) <= most
    assert np.array_equal(hull.vertices, hull.vertices.astype(np.float32)), "as meshes store them"
    assert_closed(hull.vertices, hull.faces.tolist())
    assert_holds(hull.vertices, hull.faces.tolist(), SETS[name])


@pytest.mark.parametrize("name", ["a cube", "a grid", "a turned grid", "a turned plate", "a turned needle"])
def test_flat_sides_have_no_corners_of_their_own(name):
    hull = hull_from_points(SETS[name])
    assert len(hull.vertices) == 8 and len(hull.faces) == 12


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a cube", 8.0), ("a grid", 8.0), ("a turned grid", 8.0), ("a turned plate", 8 * 0.05), ("tiny", 8e-18)],
)
def test_growth_is_a_hair(name, expected):
    hull = hull_from_points(SETS[name])
    # Far less than a wrong corner makes. On a plate, two roundings a side are a few thousandths.
    assert expected <= volume(hull.vertices, hull.faces.tolist()) <= expected * 1.005


def test_fewer_corners_cost_volume_and_more_save_it():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(2000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    ball = 4 / 3 * np.pi
    sizes = []
    for most in (12, 50, 255):
        hull = hull_from_points(points, most)
        sizes.append(volume(hull.vertices, hull.faces.tolist()))
    assert all(more > less for more, less in pairwise(sizes))
    # With the corners of an icosahedron around a ball it is 5.05 / 4.19 at least; greed may cost twice that.
    assert ball * 0.98 < sizes[-1] < ball * 1.06 and sizes[0] < ball * 2.5


def test_a_hundred_thousand_points_on_a_ball():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(times(100_000, 10_000), 3)).astype(np.float32).astype(float)
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = hull_from_points(points)
    assert len(hull.vertices) <= 255
    a, b, c = (hull.vertices[hull.faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    for normal, corner in zip(normals, a, strict=True):
        assert (points @ normal).max() <= corner @ normal
    assert np.linalg.norm(hull.vertices, axis=1).max() < 1.05


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((5, 3)),
        np.outer(np.linspace(-1, 1, 9), [1, 0.5, -0.2]),
        np.random.default_rng(1).normal(size=(40, 3)) * [1, 1, 0],
        turned(np.random.default_rng(1).normal(size=(40, 3)) * [1, 1, 0]),
        # A tenth of a millimetre at 10 km: single precision has no such numbers.
        GRID * [1, 1, 1e-4] + 1e4,
    ],
    ids=["one place", "a line", "a plane", "a turned plane", "thinner than single precision"],
)
def test_what_is_flat_is_refused_in_a_sentence(points):
    with pytest.raises(InvalidShapeError, match="in one plane"):
        hull_from_points(points)


@pytest.mark.smoke
def test_numbers_beyond_single_precision_are_refused():
    with pytest.raises(InvalidShapeError, match="single precision"):
        hull_from_points(CUBE * 1e38)
    with pytest.raises(InvalidShapeError, match="at least 4"):
        hull_from_points(CUBE, 3)


@pytest.mark.parametrize("seed", range(times(40)))
def test_thin_things_of_all_sizes_far_and_near(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(1, 30), 3)) * 10.0 ** rng.integers(-4, 2, 3)
    points = turned(points + rng.normal(size=3) * 10.0 ** rng.integers(-3, 4), seed)
    thickness = max(1e-3, 16 * float(np.spacing(np.float32(np.abs(points).max()))))
    points = (points[:, None] + thickness / 2 * CUBE).reshape(-1, 3)
    hull = hull_from_points(points, most=255 if seed % 2 else 16)
    assert_closed(hull.vertices, hull.faces.tolist())
    assert_holds(hull.vertices, hull.faces.tolist(), points)


@pytest.mark.parametrize("seed", range(times(60)))
def test_corners_as_rough_as_what_is_negligible_make_no_hull_larger(seed):
    """Eight points at each corner of a turned box, a millionth apart: a hull may fold between them."""
    random = np.random.default_rng(seed)
    axes, size = np.linalg.qr(random.normal(size=(3, 3)))[0], random.uniform(0.1, 1, 3)
    apart = 10 ** random.uniform(-7.5, -5)
    points = (((CUBE * size) @ axes.T)[:, None] + apart * CUBE).reshape(-1, 3)
    hull = hull_from_points(points)
    # No less than the box, and no more than one larger by ten of what corners are apart or is negligible.
    ratio = volume(hull.vertices, hull.faces) / (8 * size.prod())
    assert 1 <= ratio < np.prod(1 + 10 * (apart + 2e-6) / size)


@pytest.mark.parametrize("most", [6, 7, 8, 16])
@pytest.mark.parametrize("seed", [31, 66, 137, 303])
def test_few_corners_make_no_hull_much_larger_where_points_are_rough(seed, most):
    """Four corners and a knot of points: what folds there may have as many corners as it may, and be huge."""
    random = np.random.default_rng(seed)
    corners, knot = random.normal(size=(4, 3)), random.normal(size=(100, 3)) * 1e-6
    hull = hull_from_points(np.concatenate([corners, knot]), most)
    plain = hull_from_points(np.concatenate([corners, np.zeros((1, 3))]))
    assert volume(hull.vertices, hull.faces) < 1.001 * volume(plain.vertices, plain.faces)


@pytest.mark.smoke
@pytest.mark.parametrize("thickness", [1e-5, 3e-6, 1e-6])
def test_what_is_thin_does_not_grow_beyond_the_box_around_it(thickness):
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    lens = np.concatenate([rim, [[0, 0, thickness], [0, 0, -thickness]]])
    hull = hull_from_points(lens, margin=1e-5)
    assert_holds(hull.vertices, hull.faces.tolist(), lens)
    assert np.ptp(hull.vertices, axis=0)[:2].max() < 2.5


@pytest.mark.parametrize("margin", [1e-9, 1e-4, 0.5])
@pytest.mark.parametrize("name", ["a turned grid", "a turned plate", "a tetrahedron", "a cloud", "tiny"])
def test_a_margin_is_kept_below_every_face(name, margin):
    points = SETS[name]
    reach = float(np.abs(points).max())
    hull = hull_from_points(points, margin=margin * reach)
    assert np.array_equal(hull.vertices, hull.vertices.astype(np.float32))
    for face in hull.faces:
        a, b, c = (vector(hull.vertices[index]) for index in face)
        normal = cross(minus(b, a), minus(c, a))
        heights = points @ np.array([float(x) for x in normal])
        depth = dot(minus(a, vector(points[heights.argmax()])), normal)
        assert depth > 0 and depth**2 >= Fraction(margin * reach) ** 2 * dot(normal, normal)
