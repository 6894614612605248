"""Meshes around boxes, balls and capsules: closed, facing outward, enclosing in exact fractions."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Capsule,
    InvalidShapeError,
    ball_surface,
    box_surface,
    capsule_from_points,
    capsule_surface,
)
from tests.core.closed import assert_closed, assert_encloses, volume


def on_ball(count: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def test_box_surface_has_eight_corners_and_six_faces():
    box = box_surface([-1, 0, 2], [3, 0.5, 7])
    assert_closed(box.vertices, box.faces)
    assert len(box.vertices) == 8 and len(box.faces) == 6
    assert volume(box.vertices, box.faces) == 4 * 0.5 * 5
    assert_encloses(box.vertices, box.faces, box.vertices)


@pytest.mark.smoke
def test_box_surface_is_rounded_outward():
    low, high = np.array([0.1, -0.1, 1 / 3]), np.array([0.2, 0.7, 2 / 3])
    box = box_surface(low, high)
    assert_encloses(box.vertices, box.faces, np.stack([low, high]))
    assert np.abs(box.vertices.min(axis=0) - low).max() < 1e-7


@pytest.mark.parametrize(
    ("center", "radius"), [((0, 0, 0), 1), ((3, -2, 1), 0.01), ((1000, 0, 0), 1), ((0, 0, 0), 1e6)]
)
def test_faces_of_ball_surface_are_outside_of_ball(center, radius):
    ball = ball_surface(center, radius)
    assert_closed(ball.vertices, ball.faces)
    assert_encloses(ball.vertices, ball.faces, np.array(center) + radius * on_ball(50))
    # The centers of faces are closest to the ball.
    middles = np.array([ball.vertices[list(face)].mean(axis=0) for face in ball.faces]) - center
    assert_encloses(
        ball.vertices, ball.faces, center + radius * middles / np.linalg.norm(middles, axis=1)[:, None]
    )
    size = np.linalg.norm(ball.vertices - center, axis=1)
    assert size.max() <= radius * 1.019 + 1e-6 * np.abs(center).max(initial=0)


def test_engine_that_uses_box_around_ball_surface_gets_ball():
    """Unreal uses half of the longest side as the radius if all corners are within 5 % of one distance."""
    ball = ball_surface((0.3, 0.2, 0.1), 2.0)
    low, high = ball.vertices.min(axis=0), ball.vertices.max(axis=0)
    assert np.ptp(high - low) <= 1e-5
    distances = np.linalg.norm(ball.vertices - (low + high) / 2, axis=1)
    assert np.ptp(distances) <= 1e-5
    assert (high - low).max() / 2 >= 2.0


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("long", [0.0, 0.001, 3.0])
def test_faces_of_capsule_surface_are_outside_of_capsule(axis, long):
    start, end = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    end[axis] += long
    surface = capsule_surface(Capsule(start, end, 0.75, axis))
    assert_closed(surface.vertices, surface.faces)
    ball = 0.75 * on_ball(40)
    assert_encloses(surface.vertices, surface.faces, np.concatenate([start + ball, end + ball]))
    assert np.abs(np.ptp(surface.vertices, axis=0) - 1.5 * 1.0251 - long * np.eye(3)[axis]).max() < 2e-4


def test_engine_that_uses_farthest_corners_gets_capsule():
    """Unreal uses the two corners farthest apart as the ends, and the largest width as the radius."""
    surface = capsule_surface(Capsule(np.array([0, 0, -1.0]), np.array([0, 0, 2.0]), 0.5, 2))
    apart = np.linalg.norm(surface.vertices[:, None] - surface.vertices, axis=2)
    a, b = np.unravel_index(apart.argmax(), apart.shape)
    along = surface.vertices[b] - surface.vertices[a]
    assert np.abs(along / apart.max()) == pytest.approx([0, 0, 1])
    radius = np.linalg.norm(surface.vertices[:, :2], axis=1).max()
    assert apart.max() - 2 * radius == pytest.approx(3, rel=1e-5) and radius >= 0.5


@pytest.mark.parametrize("seed", range(6))
def test_fitted_capsule_encloses_points_and_touches_them(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(200, 3)) * rng.uniform(0.1, 5, 3)
    capsule = capsule_from_points(points)
    offset = points - np.clip(points, capsule.start, capsule.end)
    distances = np.linalg.norm(offset, axis=1)
    assert distances.max() == pytest.approx(capsule.radius, rel=1e-12)
    # Shortened at either end it would exclude a point, unless it is a ball.
    long = capsule.end - capsule.start
    if long.any():
        for part in (0.01, -0.01):
            start = capsule.start + max(part, 0) * long
            end = capsule.end + min(part, 0) * long
            assert np.linalg.norm(points - np.clip(points, start, end), axis=1).max() > capsule.radius


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_points_of_capsule_give_that_capsule(axis):
    ball = np.concatenate([0.5 * on_ball(3000, 1), 0.5 * np.concatenate([np.eye(3), -np.eye(3)])])
    away = 4 * np.eye(3)[axis]
    capsule = capsule_from_points(np.concatenate([ball, ball + away]))
    assert capsule.axis == axis
    assert capsule.radius == pytest.approx(0.5, abs=1e-3)
    assert capsule.end - capsule.start == pytest.approx(away, abs=0.02)
    assert capsule.volume == pytest.approx(np.pi * 0.25 * (4 + 2 / 3), rel=0.01)


@pytest.mark.parametrize("exponent", [-900, 600, 1000])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_capsule_of_tiny_and_huge_points_is_that_of_scaled_points(axis, exponent):
    """Scaling by a power of two is exact. Squares of these lengths are not: they are zero or infinite."""
    points = np.concatenate([on_ball(50), on_ball(50, 1) + 5 * np.eye(3)[axis]])
    start, end, radius, along = capsule_from_points(points)
    capsule = capsule_from_points(np.ldexp(points, exponent))
    assert capsule.axis == along == axis
    assert capsule.radius == np.ldexp(radius, exponent)
    assert np.array_equal([capsule.start, capsule.end], np.ldexp([start, end], exponent))


def test_shapes_without_size_are_rejected():
    with pytest.raises(InvalidShapeError, match="radius"):
        ball_surface((0, 0, 0), 0)
    with pytest.raises(InvalidShapeError, match="not below"):
        box_surface((0, 0, 0), (1, -1, 1))
    with pytest.raises(InvalidShapeError, match="single precision"):
        box_surface((0, 0, 0), (1, 1e39, 1))
