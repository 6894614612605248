"""Meshes around boxes, balls, capsules and cylinders: closed, facing outward, enclosing exactly."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Capsule,
    Cylinder,
    InvalidShapeError,
    ball_surface,
    box_surface,
    capsule_surface,
    cylinder_surface,
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


AXES = {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1], "slanted": [2 / 7, -3 / 7, 6 / 7]}


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
@pytest.mark.parametrize("long", [0.0, 0.001, 3.0])
def test_faces_of_capsule_surface_are_outside_of_capsule(axis, long):
    capsule = Capsule([1.0, 2.0, 3.0], axis, long / 2, 0.75)
    surface = capsule_surface(capsule)
    assert_closed(surface.vertices, surface.faces)
    ball = 0.75 * on_ball(40)
    ends = np.concatenate([capsule.start + ball, capsule.end + ball])
    assert_encloses(surface.vertices, surface.faces, ends)
    along = (surface.vertices - capsule.center) @ capsule.axis
    assert np.ptp(along) == pytest.approx(1.5 * 1.0251 + long, abs=2e-4)


@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
@pytest.mark.parametrize("long", [0.001, 3.0])
def test_faces_of_cylinder_surface_are_outside_of_cylinder(axis, long):
    cylinder = Cylinder([1.0, 2.0, 3.0], axis, long / 2, 0.75)
    surface = cylinder_surface(cylinder)
    assert_closed(surface.vertices, surface.faces)
    disc = on_ball(200) * [1, 1, 0]
    disc *= 0.75 / np.linalg.norm(disc, axis=1, keepdims=True)
    # The disc is perpendicular to Z: turn it to be perpendicular to the axis.
    frame = np.linalg.qr(np.column_stack([axis, np.eye(3)[:, :2] + 0.1]))[0]
    rim = disc[:, :1] * frame[:, 1] + disc[:, 1:2] * frame[:, 2]
    assert_encloses(
        surface.vertices, surface.faces, np.concatenate([cylinder.start + rim, cylinder.end + rim])
    )
    along = (surface.vertices - cylinder.center) @ cylinder.axis
    assert np.ptp(along) == pytest.approx(long, abs=2e-5)


def test_engine_that_uses_farthest_corners_gets_capsule():
    """Unreal uses the two corners farthest apart as the ends, and the largest width as the radius."""
    surface = capsule_surface(Capsule.between([0, 0, -1.0], [0, 0, 2.0], 0.5))
    apart = np.linalg.norm(surface.vertices[:, None] - surface.vertices, axis=2)
    a, b = np.unravel_index(apart.argmax(), apart.shape)
    along = surface.vertices[b] - surface.vertices[a]
    assert np.abs(along / apart.max()) == pytest.approx([0, 0, 1])
    radius = np.linalg.norm(surface.vertices[:, :2], axis=1).max()
    assert apart.max() - 2 * radius == pytest.approx(3, rel=1e-5) and radius >= 0.5


def test_shapes_without_size_are_rejected():
    with pytest.raises(InvalidShapeError, match="radius"):
        ball_surface((0, 0, 0), 0)
    with pytest.raises(InvalidShapeError, match="not below"):
        box_surface((0, 0, 0), (1, -1, 1))
    with pytest.raises(InvalidShapeError, match="single precision"):
        box_surface((0, 0, 0), (1, 1e39, 1))
