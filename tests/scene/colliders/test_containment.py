"""Distances of vertices outside of colliders, compared with exact fractions and with formulas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from addon.core import Capsule
from addon.scene.colliders.check_rules import concave_depth
from addon.scene.colliders.containment import HullVolume, ObjectSurface, RoundVolume, vertices_outside
from tests.core.exact import cross, dot, point_triangle_squared, square_root, subtract, vector
from tests.tiers import times

SHEAR = np.array([(2.0, 0.5, 0, 3), (0, -1.0, 0.25, -4), (0.125, 0, 0.5, 1), (0, 0, 0, 1)])
"""World matrix with shear and a mirror."""


NO_FACES = np.empty((0, 3), dtype=np.int64)


def surface_of(points: np.ndarray, matrix: np.ndarray, edges: np.ndarray = NO_FACES[:, :2]) -> ObjectSurface:
    return ObjectSurface(points, NO_FACES, edges, matrix).merged()


def hull_of(points: np.ndarray, matrix: np.ndarray) -> HullVolume:
    return HullVolume(surface_of(points, matrix))


def exact_faces(points: list) -> list[tuple]:
    """Triangles of points with all points on one side, oriented so that none is above."""
    faces = []
    for a, b, c in itertools.combinations(points, 3):
        normal = cross(subtract(b, a), subtract(c, a))
        heights = [dot(normal, subtract(point, a)) for point in points]
        if max(heights) <= 0:
            faces.append((a, b, c))
        elif min(heights) >= 0:
            faces.append((a, c, b))
    return faces


def exact_distance(point, faces) -> float:
    """Distance of a point from a convex hull of exact faces; 0 inside."""
    if all(dot(cross(subtract(b, a), subtract(c, a)), subtract(point, a)) <= 0 for a, b, c in faces):
        return 0.0
    return square_root(min(point_triangle_squared(point, *face) for face in faces))


@pytest.mark.parametrize("seed", range(times(5, 2, full=8)))
@pytest.mark.parametrize("matrix", [np.eye(4), SHEAR], ids=["identity", "shear"])
def test_outside_of_hulls_equals_exact_fractions(matrix, seed):
    random = np.random.default_rng(seed)
    # Sixty-fourths, so that world coordinates have no rounding.
    clouds = [np.round(random.normal(size=(8, 3)) * 64 + 64 * shift) / 64 for shift in (0, 2)]
    points = np.round(random.normal(size=(12, 3)) * 128) / 64
    points = points @ matrix[:3, :3].T + matrix[:3, 3]
    hulls = [exact_faces([vector(p) for p in cloud @ matrix[:3, :3].T + matrix[:3, 3]]) for cloud in clouds]
    exact = np.array([min(exact_distance(vector(point), faces) for faces in hulls) for point in points])
    found = vertices_outside(points, [hull_of(cloud, matrix) for cloud in clouds], 1e-9)
    assert found.vertices == int((exact > 1e-9).sum())
    assert found.distance == pytest.approx(exact.max(), rel=1e-9, abs=1e-9)
    assert found.vertex == (int(exact.argmax()) if exact.max() > 1e-9 else -1)


@pytest.mark.parametrize("matrix", [np.eye(4), SHEAR], ids=["identity", "shear"])
def test_farthest_of_many_vertices_is_found(matrix):
    """Distances are computed in the order of their upper bounds, until no other vertex can be farther."""
    random = np.random.default_rng(4)
    clouds = [random.normal(size=(30, 3)) * [4, 1, 0.1] + shift for shift in (0, 3)]
    points = random.normal(size=(3000, 3)) * [6, 4, 3] + 1
    points = points @ matrix[:3, :3].T + matrix[:3, 3]
    hulls = [hull_of(cloud, matrix) for cloud in clouds]
    distances = np.min([hull.distances(points) for hull in hulls], axis=0)
    for hull in hulls:
        outside = hull.heights(points) > 0
        assert (hull.upper_bounds(points[outside]) >= hull.distances(points[outside]) - 1e-9).all()
    found = vertices_outside(points, hulls, 1e-9)
    assert (found.distance, found.vertex) == (distances.max(), distances.argmax())
    assert found.vertices == (distances > 1e-9).sum()


def test_vertices_of_a_hull_are_inside_of_it():
    random = np.random.default_rng(0)
    for count in (4, 30, 400):
        points = random.normal(size=(count, 3)).astype(np.float32).astype(np.float64)
        for matrix in (np.eye(4), SHEAR):
            hull = hull_of(points, matrix)
            world = points @ matrix[:3, :3].T + matrix[:3, 3]
            assert hull.slack < 1e-8
            assert vertices_outside(world, [hull], 1e-12).vertices == 0


def test_hull_of_very_many_vertices_is_never_too_small():
    random = np.random.default_rng(1)
    points = random.normal(size=(1500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = hull_of(points, np.eye(4))
    assert 0 < hull.slack < 0.03
    assert vertices_outside(points, [hull], 0.0).vertices == 0
    assert vertices_outside(points * 1.05, [hull], 0.0).vertices == 1500


def test_round_volumes_are_exact():
    points = np.array([(3.0, 4, 0), (0, 0, 5), (0, 0, -1.5), (0.1, 0.1, 2)])
    ball = RoundVolume(Capsule(np.zeros(3), np.array([0, 0, 1.0]), 0.0, 2.0))
    assert ball.distances(points) == pytest.approx([3, 3, 0, np.sqrt(4.02) - 2])
    capsule = RoundVolume(Capsule(np.array([0, 0, 1.0]), np.array([0, 0, 1.0]), 2.0, 1.0))
    # The segment is from z = -1 to z = 3.
    assert capsule.distances(points) == pytest.approx([4, 1, 0, 0])
    found = vertices_outside(points, [ball, capsule], 1e-9)
    assert (found.vertices, found.vertex) == (2, 0)
    assert found.distance == pytest.approx(3)


def test_tolerance_counts_as_inside():
    ball = RoundVolume(Capsule(np.zeros(3), np.array([0, 0, 1.0]), 0.0, 1.0))
    points = np.array([(1.0009, 0, 0), (0, 0, 1.0011)])
    found = vertices_outside(points, [ball], 1e-3)
    assert (found.vertices, found.vertex, found.tolerance) == (1, 1, 1e-3)
    assert found.distance == pytest.approx(0.0011)


def test_points_in_a_plane_have_no_hull():
    flat = np.array([(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)], dtype=float)
    for points in (flat, flat[:1], np.repeat(flat[:1], 5, axis=0)):
        with pytest.raises(ValueError, match="no volume"):
            hull_of(points, np.eye(4))
    squashed = np.diag((1.0, 1, 0, 1))
    cube = np.array(list(itertools.product((0.0, 1), repeat=3)))
    with pytest.raises(ValueError, match="no volume"):
        hull_of(cube, squashed)


def arch(corners: int, degrees: float, tilt: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of a prism whose profile is a half circle on legs, in single precision, and its matrix."""
    angles = np.linspace(0, np.pi, corners)
    profile = np.r_[np.c_[np.cos(angles), np.sin(angles)], [[-1, -1.5], [1, -1.5]]] * 2.7
    sides = [np.c_[profile[:, 0], np.full(len(profile), y), profile[:, 1]] for y in (-0.81, 0.81)]
    turned, tilted = np.radians((degrees, tilt))
    about_z = np.array([(np.cos(turned), -np.sin(turned), 0), (np.sin(turned), np.cos(turned), 0), (0, 0, 1)])
    about_x = np.array([(1, 0, 0), (0, np.cos(tilted), -np.sin(tilted)), (0, np.sin(tilted), np.cos(tilted))])
    axes = about_x @ about_z
    return (np.concatenate(sides) @ axes.T).astype(np.float32).astype(np.float64), axes


@pytest.mark.parametrize("tilt", [0, 10, 25])
def test_arches_whose_sides_are_rough_in_single_precision_have_a_hull(tilt):
    """Distances of points in front of the lower face and of the sides are formulas."""
    for corners in range(12, 12 + times(18, 6, full=48), 3):
        for degrees in range(0, 90, 7):
            points, axes = arch(corners, degrees, tilt)
            hull = hull_of(points, np.eye(4))
            assert hull.slack <= 2e-6 * 5.4, (corners, degrees)
            tests = (
                np.array([(0, 0, -4.05 - 0.3), (0, -0.81 - 0.2, 1), (0, 0.81 + 0.1, -3), (2.6, 0, -4)])
                @ axes.T
            )
            assert hull.distances(tests) == pytest.approx([0.3, 0.2, 0.1, 0], abs=2e-5), (corners, degrees)


def test_points_rougher_than_rounding_near_few_planes_have_a_hull_that_encloses_them():
    rng = np.random.default_rng(1)
    for number in range(times(300, 100, full=3000)):
        count = int(rng.integers(8, 40))
        points = rng.uniform(-0.5, 0.5, (count, 3))
        if rng.random() < 0.5:
            points = np.round(points * rng.integers(1, 4)) / 4
        axis = np.arange(count) % 3
        points[np.arange(count), axis] = 0.5 * np.where(points[np.arange(count), axis] < 0, -1, 1)
        points = points @ np.linalg.qr(rng.normal(size=(3, 3)))[0].T
        points += rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-12, -5)
        surface = surface_of(points, np.eye(4))
        if surface.is_flat:
            continue
        volume = HullVolume(surface)
        assert volume.slack <= 2e-6, number
        middle = points.mean(axis=0)
        assert volume.distances(middle + (points - middle) * 0.9999).max() <= 2e-6, number


def test_depth_of_dents_is_that_below_the_hull():
    cube = np.array(list(itertools.product((0.0, 4), repeat=3)))
    edges = np.array([(a, b) for a, b in itertools.combinations(range(8), 2) if bin(a ^ b).count("1") == 1])
    surface = surface_of(cube, np.eye(4), edges)
    assert concave_depth(surface, HullVolume(surface)) == 0
    # A vertex 1.25 below the top.
    dented = surface_of(np.vstack([cube, (2, 2, 2.75)]), np.eye(4), edges)
    assert concave_depth(dented, HullVolume(dented)) == pytest.approx(1.25)
    # An edge through the middle.
    crossed = surface_of(cube, np.eye(4), np.vstack([edges, (0, 7)]))
    assert concave_depth(crossed, HullVolume(crossed)) == pytest.approx(2)
