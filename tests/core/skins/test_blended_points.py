"""Boxes around points that bones carry by shares, against all points."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.skins import blended_points
from addon.core.skins.blended_points import BlendedPoints

RNG = np.random.default_rng


def blended(rng, count, bones, most):
    """Return bones, shares and places (count, most, ...) of points at random, and their places at rest."""
    rest = rng.normal(size=(count, 3)) * (3, 1, 1)
    of_point = np.array([rng.choice(bones, most, replace=False) for _ in range(count)]).reshape(count, most)
    shares = rng.random((count, most)) ** 4
    shares[rng.random((count, most)) < 0.4] = 0
    # Each bone carries a point.
    of_point[:bones, 0], shares[:bones, 0] = np.arange(bones), 1
    for row in range(bones):
        shares[row, 1:][of_point[row, 1:] == row] = 0
    shares[shares.sum(axis=1) == 0, 0] = 1
    shares /= shares.sum(axis=1, keepdims=True)
    return of_point, shares, rest[:, None] + rng.normal(size=(count, most, 3)) * 0.1, rest


def all_positions(bones, shares, places, matrices):
    """Places (q, n, 3) of all points."""
    of_bones = matrices[:, bones]
    moved = np.einsum("qnjik,njk->qnji", of_bones[..., :3, :3], places) + of_bones[..., :3, 3]
    return np.einsum("nj,qnji->qni", shares, moved)


def random_matrices(rng, count, bones):
    """Affine maps (count, bones, 4, 4), sheared and mirrored ones too."""
    matrices = np.tile(np.eye(4), (count, bones, 1, 1))
    matrices[..., :3, :] += rng.normal(size=(count, bones, 3, 4)) * rng.choice((0.01, 0.3, 5))
    return matrices


@pytest.mark.parametrize("count", [1, 2, 16, 17, 100, 700, 5000])
@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_those_of_all_points(count, seed):
    rng = RNG(seed)
    bones = min(count, 7)
    given = blended(rng, count, bones, min(bones, 3))
    points, matrices = BlendedPoints(*given), random_matrices(rng, 9, bones)
    low, high, _ = points.boxes(matrices)
    expected = all_positions(*given[:3], matrices)
    assert low == pytest.approx(expected.min(axis=1), rel=1e-12, abs=1e-12)
    assert high == pytest.approx(expected.max(axis=1), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("offset", [0, 1e3, 1e6])
@pytest.mark.parametrize("spread", [1e-7, 1e-5, 1e-3])
def test_bounds_of_single_precision_lose_no_point(offset, spread):
    # Thousands of points are nearly as far out as the outermost one, and bones are far from their points.
    rng, count = RNG(11), 4000
    bones, shares, places, rest = blended(rng, count, 6, 3)
    places = np.tile((100, -200, 50), (count, 3, 1)) + rng.normal(size=(count, 3, 3)) * spread
    points, matrices = BlendedPoints(bones, shares, places, rest), random_matrices(rng, 40, 6)
    matrices[..., :3, 3] += offset
    low, high, outermost = points.boxes(matrices)
    expected = all_positions(bones, shares, places, matrices)
    tolerance = 1e-15 * np.abs(expected).max() * 8
    assert np.abs(low - expected.min(axis=1)).max() <= tolerance
    assert np.abs(high - expected.max(axis=1)).max() <= tolerance
    far_out = points.coordinates(matrices, outermost[:, None])[:, 0]
    assert np.abs(far_out - np.concatenate([-low, high], axis=1)).max() <= tolerance


@pytest.mark.parametrize("size", [0, 1e-12, 1])
@pytest.mark.parametrize("offset", [0, 50, 1e10, 1e15])
def test_boxes_of_any_size_far_away_are_those_of_all_points(offset, size):
    # Such as a character that is hidden by a scale of 0.
    rng = RNG(12)
    given = blended(rng, 2000, 3, 3)
    points, matrices = BlendedPoints(*given), random_matrices(rng, 50, 3) * size
    matrices[..., :3, 3] += rng.normal(size=(50, 1, 3)) * offset
    low, high, _ = points.boxes(matrices)
    expected = all_positions(*given[:3], matrices)
    tolerance = 8e-16 * np.abs(expected).max()
    assert np.abs(low - expected.min(axis=1)).max() <= tolerance
    assert np.abs(high - expected.max(axis=1)).max() <= tolerance


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_box_of_bones_that_are_not_finite_is_not_finite(value):
    rng = RNG(13)
    points, matrices = BlendedPoints(*blended(rng, 2000, 3, 3)), random_matrices(rng, 4, 3)
    expected = points.boxes(matrices)
    matrices[1, 1, 0, 3] = value
    low, high, _ = points.boxes(matrices)
    assert not (np.isfinite(low[1, 0]) and np.isfinite(high[1, 0]))
    for found, side in zip((low, high), expected, strict=False):
        assert (found[[0, 2, 3]] == side[[0, 2, 3]]).all()


def test_positions_are_in_the_order_of_the_points():
    rng = RNG(5)
    given = blended(rng, 300, 5, 3)
    points, matrices = BlendedPoints(*given), random_matrices(rng, 1, 5)
    expected = all_positions(*given[:3], matrices)[0]
    for rows in (np.arange(300), np.array([7, 3, 299])):
        assert points.positions(matrices[0], rows) == pytest.approx(expected[rows], abs=1e-12)


def test_balls_hold_the_places_that_each_bone_carries():
    bones, shares, places, rest = blended(RNG(6), 300, 5, 3)
    balls = BlendedPoints(bones, shares, places, rest).balls
    for bone in range(5):
        carried = places[(bones == bone) & (shares > 0)]
        distances = np.linalg.norm(carried - balls.center[bone], axis=1)
        assert distances.max() == pytest.approx(balls.radius[bone])
        assert np.linalg.norm(carried, axis=1).max() == pytest.approx(balls.reach[bone])


def test_many_poses_are_computed_in_parts():
    rng = RNG(7)
    given = blended(rng, 40, 4, 2)
    points, matrices = BlendedPoints(*given), random_matrices(rng, 700, 4)
    low, high, _ = points.boxes(matrices)
    for row in (0, 255, 256, 699):
        alone = points.boxes(matrices[row : row + 1])
        assert (low[row] == alone[0][0]).all()
        assert (high[row] == alone[1][0]).all()


def test_leaves_are_computed_in_parts(monkeypatch):
    rng = RNG(9)
    points, matrices = BlendedPoints(*blended(rng, 500, 5, 3)), random_matrices(rng, 9, 5)
    expected = points.boxes(matrices)
    monkeypatch.setattr(blended_points, "_NUMBERS", 1)
    for found, side in zip(points.boxes(matrices), expected, strict=True):
        assert (found == side).all()


def test_no_pose_gives_no_box():
    points = BlendedPoints(*blended(RNG(8), 20, 3, 2))
    low, high, _ = points.boxes(np.empty((0, 3, 4, 4)))
    assert low.shape == high.shape == (0, 3)
