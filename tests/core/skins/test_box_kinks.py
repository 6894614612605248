"""Deviation of the sides of boxes around points from linear motion, against dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.skins.blended_points import kinks_of_outermost, outermost_of_one, outermost_points
from tests.core import scenes
from tests.core.rotating_boxes import rotation_about


def about_z(*angles):
    """Rotations (k, 3, 3) by angles about the z axis."""
    return rotation_about(np.tile([0.0, 0.0, 1.0], (len(angles), 1)), np.array(angles))


def kinks_of(points, begin, end):
    """Bound of points (q, 3, p), of each body by itself and of all together."""
    singles, reach = points.astype(np.float32), np.linalg.norm(points, axis=1).max(axis=1)
    together = tuple(outermost_points(singles, linear) for linear in (begin, end))
    each = tuple(
        np.concatenate([outermost_of_one(*body) for body in zip(singles, linear[:, None], strict=True)])
        for linear in (begin, end)
    )
    bounds = kinks_of_outermost(together, begin, end, reach)
    slack = 1e-6 * reach.max() * np.abs(begin).max()
    np.testing.assert_allclose(kinks_of_outermost(each, begin, end, reach), bounds, rtol=1e-5, atol=slack)
    return bounds


def largest_deviation(points, begin, end):
    """Find how far sides of the box around points (3, p) are from their chord at 400 times, at most."""
    shares = np.linspace(0, 1, 401)[:, None]
    world = (begin + (end - begin) * shares[..., None]) @ points
    sides = np.concatenate([world.min(axis=2), world.max(axis=2)], axis=1)
    return np.abs(sides - sides[0] - (sides[-1] - sides[0]) * shares).max()


@pytest.mark.parametrize("count", [1, 2, 8, 300])
def test_sides_are_as_near_to_their_chords_as_the_bound(count):
    rng = np.random.default_rng(count)
    points = rng.normal(size=(60, 3, count)) * 10 ** rng.uniform(-2, 2, (60, 1, 1))
    points = points.astype(np.float32).astype(float)
    begin = scenes.random_rotations(rng, 60) * rng.uniform(0.3, 3, (60, 1, 3))
    turns = rotation_about(scenes.random_directions(rng, 60), 10 ** rng.uniform(-3, 0.4, 60))
    end = turns @ begin * rng.uniform(0.8, 1.25, (60, 1, 1))
    bounds = kinks_of(points, begin, end)
    found = np.array([largest_deviation(*each) for each in zip(points, begin, end, strict=True)])
    size = np.abs(points).max(axis=(1, 2)) * 3
    assert (found <= bounds + 1e-12 * size).all()
    if count == 2:
        # Of two points, one takes the place of the other once: then the bound is the deviation itself.
        has_kink = bounds > 1e-4 * size
        assert has_kink.sum() > 5
        np.testing.assert_allclose(found[has_kink], bounds[has_kink], rtol=0.02)


def test_box_of_which_no_corner_takes_the_place_of_another_has_no_kink():
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], dtype=float).T
    turns = about_z(0.3, 0.4, -0.1, 0.1)
    bounds = kinks_of(np.stack([corners, corners]), turns[[0, 2]], turns[[1, 3]])
    assert bounds[0] == pytest.approx(0, abs=1e-5)
    # Another corner of the second box is the outermost along x at either end, by 2 sin(0.1) farther than in
    # the middle.
    assert bounds[1] == pytest.approx(2 * np.sin(0.1), abs=1e-5)


def test_bound_of_a_round_surface_falls_with_the_square_of_the_angle():
    angles = np.linspace(0, 2 * np.pi, 4000, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles])
    large, small = kinks_of(np.stack([circle] * 2), np.stack([np.eye(3)] * 2), about_z(0.2, 0.1))
    assert large < 0.2**2
    assert large / small == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize(("size", "scale"), [(1e25, 1e15), (1e20, 1e20), (1e-30, 1e-20), (1e30, 1e3)])
def test_bound_holds_where_single_precision_does_not_reach(size, scale):
    rng = np.random.default_rng(5)
    points = (rng.normal(size=(20, 3, 50)) * size).astype(np.float32).astype(float)
    begin = scenes.random_rotations(rng, 20) * scale
    end = rotation_about(scenes.random_directions(rng, 20), np.full(20, 0.5)) @ begin
    found = np.array([largest_deviation(*each) for each in zip(points, begin, end, strict=True)])
    assert (found <= kinks_of(points, begin, end) * (1 + 1e-9)).all()
    assert (found > 0).all()
