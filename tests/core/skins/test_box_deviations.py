"""Deviation of the sides of boxes around blended points from linear motion, against dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.curves.transform_bounds import TransformChords
from addon.core.skins.blended_points import BlendedPoints
from addon.core.skins.box_deviations import box_deviations
from tests.core.skins.test_blended_points import blended, random_matrices


def chords_of(begin, end, offset, linear):
    """Chords of bones (b,) with these matrices at both ends and bounds."""
    count = len(begin)
    return TransformChords(begin, end, np.full(count, offset), np.full(count, linear), np.full(count, np.inf))


@pytest.mark.parametrize("seed", range(20))
def test_sides_of_points_on_straight_paths_are_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    points = BlendedPoints(*blended(rng, 200, 5, 3))
    begin, end = random_matrices(rng, 2, 5)
    shares = np.linspace(0, 1, 201)
    low, high = points.boxes(begin + (end - begin) * shares[:, None, None, None])
    sides = np.concatenate([low, high], axis=1)
    found = np.abs(sides - sides[0] - (sides[-1] - sides[0]) * shares[:, None]).max()
    bound = box_deviations(points.balls, chords_of(begin, end, 0.0, 0.0))
    assert bound.shape == (1,)
    assert found <= bound[0]


def test_bound_is_reached_where_two_points_take_turns():
    # At first one point is outermost, then the other one: the side is a V.
    points = BlendedPoints(
        np.array([[0], [1]]), np.ones((2, 1)), np.zeros((2, 1, 3)), np.array([[0.0, 0, 0], [1, 0, 0]])
    )
    begin = np.tile(np.eye(4), (2, 1, 1))
    end = begin.copy()
    begin[0, 0, 3], end[1, 0, 3] = 1, 1
    assert box_deviations(points.balls, chords_of(begin, end, 0.0, 0.0)) == pytest.approx([0.5])
    _, high = points.boxes(((begin + end) / 2)[None])
    assert high[0, 0] == pytest.approx(0.5)


def test_deviations_of_bones_count_at_their_farthest_points():
    points = BlendedPoints(*blended(np.random.default_rng(1), 50, 3, 2))
    still = np.tile(np.eye(4), (3, 1, 1))
    bound = box_deviations(points.balls, chords_of(still, still, 0.25, 0.5))
    assert bound == pytest.approx([0.25 + 0.5 * points.balls.reach.max()])
