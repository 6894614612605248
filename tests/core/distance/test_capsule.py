"""Capsules at rest, against exact fractions, a search along the segment, and sampled translations."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Capsule,
    Obb,
    Sphere,
    UnsupportedPairError,
    minimum_translation,
    overlaps,
    separation,
    witness_points,
)
from tests.core import exact
from tests.core.scenes import random_rotations
from tests.tiers import times


def random_capsule(rng: np.random.Generator, spread: float = 2.0) -> Capsule:
    start = rng.normal(size=3) * spread
    return Capsule.between(start, start + rng.normal(size=3), rng.uniform(0.05, 0.6))


def random_other(kind, rng: np.random.Generator):
    if kind is Capsule:
        return random_capsule(rng)
    if kind is Sphere:
        return Sphere(rng.normal(size=3), rng.uniform(0.1, 1))
    half = rng.uniform(0.1, 1, 3)
    center = rng.normal(size=3)
    if kind is Aabb:
        return Aabb(center - half, center + half)
    return Obb(center, half, random_rotations(rng, 1)[0])


def distance_to_core(point: np.ndarray, shape) -> float:
    """Distance of a point from what the radius is around: a box, a segment or a point, in plain NumPy."""
    if isinstance(shape, Sphere):
        return float(np.linalg.norm(point - shape.center))
    if isinstance(shape, Capsule):
        along = np.clip((point - shape.center) @ shape.axis, -shape.half_length, shape.half_length)
        return float(np.linalg.norm(point - shape.center - along * shape.axis))
    box = shape.oriented()
    local = (point - box.center) @ box.rotation
    return float(np.linalg.norm(local - np.clip(local, -box.half_extents, box.half_extents)))


def searched_separation(capsule: Capsule, other) -> float:
    """Find the least distance along the segment, which is convex, by a ternary search."""
    low, high = -float(capsule.half_length), float(capsule.half_length)
    for _ in range(200):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        if distance_to_core(capsule.center + one * capsule.axis, other) < distance_to_core(
            capsule.center + two * capsule.axis, other
        ):
            high = two
        else:
            low = one
    radius = float(other.radius) if isinstance(other, Sphere | Capsule) else 0.0
    return (
        distance_to_core(capsule.center + (low + high) / 2 * capsule.axis, other)
        - radius
        - float(capsule.radius)
    )


@pytest.mark.parametrize("kind", [Capsule, Sphere, Aabb, Obb])
@pytest.mark.parametrize("seed", range(times(30, full=60)))
def test_separation_of_shapes_that_do_not_cross_is_that_of_a_search(kind, seed):
    rng = np.random.default_rng(seed)
    capsule, other = random_capsule(rng), random_other(kind, rng)
    expected = searched_separation(capsule, other)
    inner = (
        expected
        + float(capsule.radius)
        + (float(other.radius) if isinstance(other, Sphere | Capsule) else 0.0)
    )
    if inner < 1e-9:
        pytest.skip("the segment crosses the box: tested by translations")
    for value in (separation(capsule, other), separation(other, capsule)):
        assert value == pytest.approx(expected, abs=1e-9)
    assert bool(overlaps(capsule, other)) == (expected <= 0)


@pytest.mark.smoke
@pytest.mark.parametrize("seed", range(40))
def test_separation_of_capsules_is_that_of_exact_segments(seed):
    rng = np.random.default_rng(seed)
    a, b = random_capsule(rng), random_capsule(rng)
    ends = [exact.vector(point) for point in (a.start, a.end, b.start, b.end)]
    distance = exact.square_root(exact.segment_segment_squared(*ends))
    assert separation(a, b) == pytest.approx(distance - float(a.radius + b.radius), abs=1e-14)


@pytest.mark.parametrize("kind", [Capsule, Aabb, Obb])
@pytest.mark.parametrize("seed", range(times(15, full=30)))
def test_depth_of_overlap_is_the_least_translation_of_many_directions(kind, seed):
    """Along a direction, two convex shapes come apart after the overlap of their projections."""
    rng = np.random.default_rng(seed)
    other = random_other(kind, rng)
    center = other.center if not isinstance(other, Aabb) else (other.min + other.max) / 2
    axis = rng.normal(size=3)
    capsule = Capsule(center + rng.normal(size=3) * 0.1, axis / np.linalg.norm(axis), 0.7, 0.3)
    depth = -float(separation(capsule, other))
    assert depth > 0
    directions = rng.normal(size=(200_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)

    def support(shape) -> np.ndarray:
        if isinstance(shape, Capsule):
            return (
                directions @ shape.center + np.abs(directions @ shape.axis) * shape.half_length + shape.radius
            )
        box = shape.oriented()
        return directions @ box.center + np.abs(directions @ box.rotation) @ box.half_extents

    def lowest(shape) -> np.ndarray:
        center = shape.center if not isinstance(shape, Aabb) else shape.oriented().center
        return 2 * directions @ center - support(shape)

    sampled = (support(capsule) - lowest(other)).min()
    assert depth <= sampled + 1e-12
    assert sampled <= depth * 1.02 + 0.01
    moved = Capsule(
        capsule.center + minimum_translation(capsule, other),
        capsule.axis,
        capsule.half_length,
        capsule.radius,
    )
    assert separation(moved, other) == pytest.approx(0, abs=1e-12)


def test_crossing_capsules_come_apart_perpendicular_to_both():
    a, b = Capsule([0, 0, 0], [1, 0, 0], 2, 0.5), Capsule([0, 0, 0], [0, 1, 0], 2, 0.25)
    assert separation(a, b) == -0.75
    assert np.abs(minimum_translation(a, b)) == pytest.approx([0, 0, 0.75])
    np.testing.assert_allclose(np.abs(witness_points(a, b).normal), [0, 0, 1])


def test_capsules_in_one_line_overlap_by_their_radii_where_segments_do():
    a, b = Capsule([0, 0, 0], [1, 0, 0], 2, 0.5), Capsule([3, 0, 0], [-1, 0, 0], 2, 0.25)
    assert separation(a, b) == -0.75
    assert np.linalg.norm(minimum_translation(a, b)) == pytest.approx(0.75)
    # Beyond the ends, they are apart along the line.
    b = Capsule([6, 0, 0], [-1, 0, 0], 2, 0.25)
    assert separation(a, b) == pytest.approx(2 - 0.75)


def test_capsule_without_length_is_a_sphere():
    rng = np.random.default_rng(0)
    for _ in range(20):
        center, radius = rng.normal(size=3), rng.uniform(0.1, 1)
        box = random_other(Obb, rng)
        capsule = Capsule(center, [0, 0, 1], 0, radius)
        outside = float(separation(Sphere(center, radius), box))
        assert separation(capsule, box) == pytest.approx(outside, abs=1e-12)


@pytest.mark.parametrize("kind", [Capsule, Sphere, Aabb, Obb])
def test_witness_points_are_on_both_surfaces_a_separation_apart(kind):
    rng = np.random.default_rng(1)
    for _ in range(30):
        a, b = random_capsule(rng, 3.0), random_other(kind, rng)
        found = witness_points(a, b)
        gap = float(separation(a, b))
        np.testing.assert_allclose(found.on_b - found.on_a, found.normal * gap, atol=1e-12)
        assert distance_to_core(found.on_a, a) == pytest.approx(float(a.radius), abs=1e-9)


def test_batches_broadcast():
    capsules = Capsule(np.zeros((4, 1, 3)), [0, 0, 1], 1, 0.5)
    spheres = Sphere(np.linspace([1, 0, 0], [4, 0, 0], 5), 0.25)
    assert separation(capsules, spheres).shape == (4, 5)


def test_cylinders_have_no_separation():
    from addon.core import Cylinder

    with pytest.raises(UnsupportedPairError, match="no separation of Cylinder and Sphere"):
        separation(Cylinder([0, 0, 0], [0, 0, 1], 1, 1), Sphere([0, 0, 0], 1))
