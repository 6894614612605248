"""Hulls for storage: no point above a face in exact fractions, closed, and as small as possible."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from addon.core import InvalidShapeError, hull_from_points
from addon.core.numeric.arrays import rotation_matrix
from tests.core.closed import assert_closed, assert_encloses, volume
from tests.core.exact import cross, dot, subtract, vector
from tests.tiers import times

CUBE = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T.astype(float)
GRID = np.array(np.meshgrid(*[np.linspace(-1, 1, 6)] * 3)).reshape(3, -1).T


def rotated(points: np.ndarray, seed: int = 0) -> np.ndarray:
    """Rotate points and round them to float32, as Blender stores vertices: flat sides become rough."""
    axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return (points @ axes.T).astype(np.float32).astype(float)


SETS = {
    "a cube": CUBE,
    "a grid": GRID,
    "a turned grid": rotated(GRID),
    "a turned plate": rotated(GRID * [10, 5, 0.001]),
    "a turned needle": rotated(GRID * [1000, 1, 1], 1),
    "far from the origin": (rotated(GRID) + np.array([1000, 2000, -500])).astype(np.float32).astype(float),
    "tiny": GRID * 1e-6,
    "huge": rotated(GRID) * 1e6,
    "a tetrahedron": np.random.default_rng(3).normal(size=(4, 3)),
    "double vertices": np.concatenate([CUBE, CUBE, CUBE[:3]]),
    "a cloud": np.random.default_rng(4).normal(size=(300, 3)),
    "a ball": rotated(
        np.random.default_rng(5).normal(size=(400, 3))
        / np.linalg.norm(np.random.default_rng(5).normal(size=(400, 3)), axis=1)[:, None]
    ),
}


@pytest.mark.parametrize("max_vertices", [255, 20, 4])
@pytest.mark.parametrize("name", SETS)
def test_no_point_is_above_any_face_in_exact_fractions(name, max_vertices):
    hull = hull_from_points(SETS[name], max_vertices)
    assert len(hull.vertices) <= max_vertices
    assert np.array_equal(hull.vertices, hull.vertices.astype(np.float32)), "as meshes store them"
    assert_closed(hull.vertices, hull.faces.tolist())
    assert_encloses(hull.vertices, hull.faces.tolist(), SETS[name])


@pytest.mark.parametrize("name", ["a cube", "a grid", "a turned grid", "a turned plate", "a turned needle"])
def test_rough_flat_sides_get_no_extra_vertices(name):
    hull = hull_from_points(SETS[name])
    assert len(hull.vertices) == 8 and len(hull.faces) == 12


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a cube", 8.0), ("a grid", 8.0), ("a turned grid", 8.0), ("a turned plate", 8 * 0.05), ("tiny", 8e-18)],
)
def test_hull_grows_by_rounding_only(name, expected):
    hull = hull_from_points(SETS[name])
    # A wrong vertex adds far more. On a plate, two roundings on each side are a few thousandths.
    assert expected <= volume(hull.vertices, hull.faces.tolist()) <= expected * 1.005


def test_volume_decreases_with_more_vertices():
    rng = np.random.default_rng(6)
    points = rng.normal(size=(2000, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    ball = 4 / 3 * np.pi
    sizes = []
    for max_vertices in (12, 50, 255):
        hull = hull_from_points(points, max_vertices)
        sizes.append(volume(hull.vertices, hull.faces.tolist()))
    assert all(more > less for more, less in pairwise(sizes))
    # An icosahedron around a ball has 5.05 / 4.19 of its volume; a greedy choice of vertices may add twice
    # that.
    assert ball * 0.98 < sizes[-1] < ball * 1.06 and sizes[0] < ball * 2.5


def test_hull_of_hundred_thousand_points_on_ball():
    rng = np.random.default_rng(7)
    points = rng.normal(size=(times(40_000, 10_000, full=100_000), 3)).astype(np.float32).astype(float)
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
        rotated(np.random.default_rng(1).normal(size=(40, 3)) * [1, 1, 0]),
        # A tenth of a millimeter at 10 km: below the resolution of float32.
        GRID * [1, 1, 1e-4] + 1e4,
    ],
    ids=["one place", "a line", "a plane", "a turned plane", "thinner than single precision"],
)
def test_flat_points_are_rejected_as_in_one_plane(points):
    with pytest.raises(InvalidShapeError, match="in one plane"):
        hull_from_points(points)


@pytest.mark.smoke
def test_numbers_beyond_float32_and_too_few_vertices_are_rejected():
    with pytest.raises(InvalidShapeError, match="single precision"):
        hull_from_points(CUBE * 1e38)
    with pytest.raises(InvalidShapeError, match="at least 4"):
        hull_from_points(CUBE, 3)


@pytest.mark.parametrize("seed", range(times(20, full=1000)))
def test_hulls_of_thin_objects_of_any_size_and_offset(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(1, 30), 3)) * 10.0 ** rng.integers(-4, 2, 3)
    points = rotated(points + rng.normal(size=3) * 10.0 ** rng.integers(-3, 4), seed)
    thickness = max(1e-3, 16 * float(np.spacing(np.float32(np.abs(points).max()))))
    points = (points[:, None] + thickness / 2 * CUBE).reshape(-1, 3)
    hull = hull_from_points(points, max_vertices=255 if seed % 2 else 16)
    assert_closed(hull.vertices, hull.faces.tolist())
    assert_encloses(hull.vertices, hull.faces.tolist(), points)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(times(30, full=1000)))
def test_thin_hull_near_largest_numbers_of_float32_encloses(seed):
    """Attempts to grow such a hull can leave the range of float32."""
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(27, 30)
    points = random.normal(size=(40, 3))
    points *= size / np.linalg.norm(points, axis=1)[:, None]
    points[:, 0] = 0
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    points = (points[:, None] + 8 * np.spacing(np.float32(size)) * corners).reshape(-1, 3)
    hull = hull_from_points(points)
    assert_closed(hull.vertices, hull.faces)
    assert_encloses(hull.vertices, hull.faces, points)


@pytest.mark.parametrize("seed", range(times(30, full=1000)))
def test_corners_as_rough_as_tolerance_do_not_enlarge_hull(seed):
    """Eight points at each corner of a rotated box, a millionth apart: faces can fold between them."""
    random = np.random.default_rng(seed)
    axes, size = np.linalg.qr(random.normal(size=(3, 3)))[0], random.uniform(0.1, 1, 3)
    apart = 10 ** random.uniform(-7.5, -5)
    points = (((CUBE * size) @ axes.T)[:, None] + apart * CUBE).reshape(-1, 3)
    hull = hull_from_points(points)
    # At least the box, and at most a box larger by ten times the roughness and the tolerance.
    ratio = volume(hull.vertices, hull.faces) / (8 * size.prod())
    assert 1 <= ratio < np.prod(1 + 10 * (apart + 2e-6) / size)


@pytest.mark.parametrize("max_vertices", [6, 7, 8, 16])
@pytest.mark.parametrize("seed", [31, 66, 137, 303])
def test_limited_hull_of_rough_points_is_not_much_larger(seed, max_vertices):
    """Four corners and a dense cluster: a hull that folds there uses up its vertices and can be huge."""
    random = np.random.default_rng(seed)
    corners, knot = random.normal(size=(4, 3)), random.normal(size=(100, 3)) * 1e-6
    hull = hull_from_points(np.concatenate([corners, knot]), max_vertices)
    plain = hull_from_points(np.concatenate([corners, np.zeros((1, 3))]))
    assert volume(hull.vertices, hull.faces) < 1.001 * volume(plain.vertices, plain.faces)


def swept_triangle(seed: int) -> tuple[np.ndarray, float]:
    """Points of a triangle at a hundred times of a rotation about two axes in turn, and a small margin."""
    rng = np.random.default_rng(seed)
    corners, keys = rng.normal(size=(3, 3)), rng.normal(size=(3, 4))
    times_of_poses = np.linspace(0, 2, 100)
    quaternions = np.stack([np.interp(times_of_poses, range(3), column) for column in keys.T], axis=1)
    axes = rotation_matrix(quaternions / np.linalg.norm(quaternions, axis=1)[:, None])
    points = np.einsum("tij,nj->tni", axes, corners).reshape(-1, 3)
    return points, 10 ** rng.uniform(-6.5, -5)


@pytest.mark.long
@pytest.mark.parametrize("max_vertices", [255, 100])
@pytest.mark.parametrize("seed", [16, 37, 39])
def test_hull_of_many_small_clusters_is_not_the_box_around_them(seed, max_vertices):
    """Bones at all frames have such points: positions of vertices, each with a margin."""
    points, margin = swept_triangle(seed)
    plain = hull_from_points(points)
    rough = (points[:, None] + margin * CUBE).reshape(-1, 3)
    hull = hull_from_points(rough, max_vertices)
    assert len(hull.vertices) <= max_vertices
    assert_closed(hull.vertices, hull.faces.tolist())
    assert_encloses(hull.vertices, hull.faces.tolist(), rough)
    # The box has at least twice the volume.
    assert volume(*hull) < 1.1 * volume(*plain)


@pytest.mark.smoke
@pytest.mark.parametrize("thickness", [1e-5, 3e-6, 1e-6])
def test_thin_hull_does_not_grow_beyond_box(thickness):
    angles = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    rim = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=-1)
    lens = np.concatenate([rim, [[0, 0, thickness], [0, 0, -thickness]]])
    hull = hull_from_points(lens, margin=1e-5)
    assert_encloses(hull.vertices, hull.faces.tolist(), lens)
    assert np.ptp(hull.vertices, axis=0)[:2].max() < 2.5


@pytest.mark.parametrize("margin", [1e-9, 1e-4, 0.5])
@pytest.mark.parametrize("name", ["a turned grid", "a turned plate", "a tetrahedron", "a cloud", "tiny"])
def test_points_stay_margin_below_every_face(name, margin):
    points = SETS[name]
    reach = float(np.abs(points).max())
    hull = hull_from_points(points, margin=margin * reach)
    assert np.array_equal(hull.vertices, hull.vertices.astype(np.float32))
    for face in hull.faces:
        a, b, c = (vector(hull.vertices[index]) for index in face)
        normal = cross(subtract(b, a), subtract(c, a))
        heights = points @ np.array([float(x) for x in normal])
        depth = dot(subtract(a, vector(points[heights.argmax()])), normal)
        assert depth > 0 and depth**2 >= Fraction(margin * reach) ** 2 * dot(normal, normal)


def test_vertices_rounded_to_twelve_decimals_have_a_hull_soon():
    """Quads of a ring are bent by about the tolerance of the hull, whose faces folded without end."""
    u, v = np.arange(12)[:, None] * (np.pi / 24), np.arange(24) * (np.pi / 12)
    out = 1 + 0.35 * np.cos(v)
    points = np.stack([out * np.cos(u), out * np.sin(u), 0.35 * np.sin(v) + 0 * u], axis=-1).reshape(-1, 3)
    rough, fine = hull_from_points(points), hull_from_points(points, decimals=12)
    volumes = [
        np.einsum("fi,fi->f", a, np.cross(b, c)).sum() / 6
        for a, b, c in (np.moveaxis(hull.vertices[hull.faces], 1, 0) for hull in (rough, fine))
    ]
    assert volumes[1] == pytest.approx(volumes[0], rel=1e-4)
