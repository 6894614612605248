"""Deviation of the sides of boxes around blended points from linear motion, against dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.curves.transform_bounds import TransformChords
from addon.core.skins.blended_points import BlendedPoints, kinks_between, kinks_of_any, point_deviations
from tests.core.skins.test_blended_points import all_positions, blended, random_matrices


def chords_of(begin, end, offset, linear):
    """Chords of bones (b,) with these matrices at both ends and bounds."""
    count = len(begin)
    return TransformChords(begin, end, np.full(count, offset), np.full(count, linear), np.full(count, np.inf))


def kinks_by_outermost(points, begin, end):
    """Bound (1,) by the points that are outermost with matrices (b, 4, 4) at both ends."""
    outermost = points.boxes(np.stack([begin, end]))[2][None]
    return kinks_between(*(points.coordinates(matrices[None], outermost) for matrices in (begin, end)))


def alternating_points():
    """Two points, of which one is outermost at first, then the other one: the side is a V."""
    points = BlendedPoints(
        np.array([[0], [1]]), np.ones((2, 1)), np.zeros((2, 1, 3)), np.array([[0.0, 0, 0], [1, 0, 0]])
    )
    begin = np.tile(np.eye(4), (2, 1, 1))
    end = begin.copy()
    begin[0, 0, 3], end[1, 0, 3] = 1, 1
    return points, begin, end


@pytest.mark.parametrize("seed", range(20))
def test_sides_of_points_on_straight_paths_are_within_both_bounds(seed):
    rng = np.random.default_rng(seed)
    points = BlendedPoints(*blended(rng, 200, 5, 3))
    begin, end = random_matrices(rng, 2, 5)
    shares = np.linspace(0, 1, 201)
    low, high, _ = points.boxes(begin + (end - begin) * shares[:, None, None, None])
    sides = np.concatenate([low, high], axis=1)
    found = np.abs(sides - sides[0] - (sides[-1] - sides[0]) * shares[:, None]).max()
    bound = kinks_of_any(points.balls, chords_of(begin, end, 0.0, 0.0))
    assert bound.shape == (1,)
    assert found <= bound[0]
    by_outermost = kinks_by_outermost(points, begin, end)
    assert by_outermost.shape == (1,)
    assert found <= by_outermost[0] * (1 + 1e-9) + 1e-12


def test_both_bounds_are_reached_where_two_points_take_turns():
    points, begin, end = alternating_points()
    assert kinks_of_any(points.balls, chords_of(begin, end, 0.0, 0.0)) == pytest.approx([0.5])
    assert kinks_by_outermost(points, begin, end) == pytest.approx([0.5])
    _, high, _ = points.boxes(((begin + end) / 2)[None])
    assert high[0, 0] == pytest.approx(0.5)


def test_side_on_which_one_point_stays_outermost_has_no_kink():
    points, begin, _ = alternating_points()
    end = begin.copy()
    # It moves away fast, and stays outermost on each side.
    end[0, 0, 3] = 10
    assert kinks_of_any(points.balls, chords_of(begin, end, 0.0, 0.0))[0] > 2
    assert kinks_by_outermost(points, begin, end) == pytest.approx([0], abs=1e-15)


def test_bound_by_outermost_points_falls_with_the_square_of_the_interval():
    # A circle of points that turns: each side passes from point to point.
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    rest = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    points = BlendedPoints(np.zeros((2000, 1), dtype=np.int64), np.ones((2000, 1)), rest[:, None], rest)
    bounds = []
    for turn in (0.1, 0.05):
        begin, end = np.tile(np.eye(4), (2, 1, 1, 1))
        end[0, :2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        bounds.append(kinks_by_outermost(points, begin, end)[0])
    assert bounds[0] < 0.1**2
    assert bounds[0] / bounds[1] == pytest.approx(4, rel=0.1)


def test_outermost_points_are_where_the_sides_are():
    rng = np.random.default_rng(3)
    given = blended(rng, 300, 5, 3)
    points, matrices = BlendedPoints(*given), random_matrices(rng, 9, 5)
    outermost = points.boxes(matrices)[2]
    far_out = points.coordinates(matrices, outermost[:, None])[:, 0]
    expected = all_positions(*given[:3], matrices)
    assert far_out[:, :3] == pytest.approx(-expected.min(axis=1), rel=1e-12, abs=1e-12)
    assert far_out[:, 3:] == pytest.approx(expected.max(axis=1), rel=1e-12, abs=1e-12)


def test_deviations_of_bones_count_at_their_farthest_points():
    points = BlendedPoints(*blended(np.random.default_rng(1), 50, 3, 2))
    still = np.tile(np.eye(4), (3, 1, 1))
    chords = chords_of(still, still, 0.25, 0.5)
    assert kinks_of_any(points.balls, chords) == pytest.approx([0])
    assert point_deviations(points.balls, chords) == pytest.approx([0.25 + 0.5 * points.balls.reach.max()])
