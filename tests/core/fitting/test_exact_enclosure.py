"""Random meshes are inside each fitted shape, in exact fractions: a thousand meshes in the full tier."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from addon.core import (
    SPHERE_METHODS,
    Capsule,
    Cylinder,
    Obb,
    Sphere,
    aabb_from_points,
    capsule_from_points,
    cylinder_from_points,
    hull_from_points,
    obb_from_points,
    sphere_from_points,
)
from tests.core.closed import assert_closed, assert_encloses
from tests.core.exact import dot, square_root, squared_length, subtract, vector
from tests.core.fitting.point_sets import random_mesh
from tests.core.scenes import random_rotations
from tests.tiers import times

MESHES = times(8, full=1000)
ROUNDING = 8 * np.finfo(float).eps
"""Rounding of the fit, as part of the largest coordinate: few operations on numbers of this size."""


def placed_mesh(seed: int, is_near: bool = False) -> np.ndarray:
    """Vertices of a random mesh of any size, anywhere or near the origin, half of the time in float32."""
    rng = np.random.default_rng(seed + 10_000)
    size = 10.0 ** rng.integers(-4, 5)
    distance = size * 10.0 ** rng.integers(-2, 3) if is_near else 10.0 ** rng.integers(-4, 5)
    points = random_mesh(seed) * size + rng.normal(size=3) * distance
    return points.astype(np.float32).astype(float) if seed % 2 else points


def excess_over_sphere(shape: Sphere, point: np.ndarray) -> float:
    offset = subtract(vector(point), vector(shape.center))
    return square_root(squared_length(offset)) - float(shape.radius)


def excess_over_box(shape: Obb, point: np.ndarray) -> float:
    offset = subtract(vector(point), vector(shape.center))
    along = [abs(dot(offset, vector(axis))) for axis in shape.rotation.T]
    return float(max(a - Fraction(float(half)) for a, half in zip(along, shape.half_extents, strict=True)))


def excess_over_axial(shape: Capsule | Cylinder, point: np.ndarray) -> float:
    """Greatest distance outside of a capsule, or outside of a cylinder along its axis and across it."""
    axis, half = vector(shape.axis), Fraction(float(shape.half_length))
    offset = subtract(vector(point), vector(shape.center))
    along = dot(offset, axis) / squared_length(axis)
    foot = max(-half, min(half, along)) if isinstance(shape, Capsule) else along
    across = subtract(offset, tuple(foot * x for x in axis))
    excess = square_root(squared_length(across)) - float(shape.radius)
    return excess if isinstance(shape, Capsule) else max(excess, float(abs(along) - half))


FITS: dict[str, tuple[Callable, Callable]] = {
    **{
        f"sphere {method}": (
            lambda points, method=method: sphere_from_points(points, method),
            excess_over_sphere,
        )
        for method in SPHERE_METHODS
    },
    "box along given axes": (
        lambda points: obb_from_points(points, random_rotations(np.random.default_rng(len(points)), 1)[0]),
        excess_over_box,
    ),
    "smallest box": (obb_from_points, excess_over_box),
    "capsule": (capsule_from_points, excess_over_axial),
    "cylinder": (cylinder_from_points, excess_over_axial),
}


@pytest.mark.parametrize("name", FITS)
def test_vertices_of_random_meshes_are_inside_up_to_the_rounding_of_the_fit(name):
    fit, excess = FITS[name]
    for seed in range(MESHES):
        points = placed_mesh(seed)
        shape = fit(points)
        assert shape.contains(points).all(), seed
        limit = ROUNDING * float(np.abs(points).max())
        assert max(excess(shape, point) for point in points) <= limit, seed


def test_vertices_of_random_meshes_are_inside_their_axis_aligned_box_exactly():
    for seed in range(MESHES):
        points = placed_mesh(seed)
        box = aabb_from_points(points)
        assert (box.min == points.min(axis=0)).all() and (box.max == points.max(axis=0)).all(), seed


@pytest.mark.parametrize("seed", range(MESHES))
def test_no_vertex_of_a_random_mesh_is_above_any_face_of_its_hull(seed):
    # Far from the origin, a small mesh has no thickness in single precision, and no hull.
    points = placed_mesh(seed, is_near=True)
    hull = hull_from_points(points, (255, 32, 8)[seed % 3])
    assert_closed(hull.vertices, hull.faces.tolist())
    assert_encloses(hull.vertices, hull.faces.tolist(), points)
