"""Moving oriented boxes: bounds of the least separation must hold at every time of the interval."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Obb
from addon.core.distance.obb import separation_and_axis
from addon.core.interval.pair_motion import PairMotion
from addon.core.interval.rotating import contact_bounds, may_touch, minimum_separation_of_rotating
from tests.core import motions, scenes
from tests.tiers import times

TURNS = [0.0, 0.01, 0.3, 1.5, np.pi - 0.01]
MOMENTS = np.linspace(0, 1, 401)[:, None]


def corners(box: Obb) -> np.ndarray:
    """Corners (n, 8, 3) from the definition of a box."""
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3, indexing="ij")).reshape(3, 8)
    return box.center[:, None] + np.einsum("nij,nj,jk->nki", box.rotation, box.half_extents, signs)


def random_boxes(seed: int, drawn: int, most_turn: float, count: int) -> list[Obb]:
    """Return the first `count` of pairs drawn at random, which are the same for each count."""
    every = motions.random_oriented_boxes(np.random.default_rng(seed), drawn, most_turn)
    return motions.take_rows(every, slice(count))


def halves(pairs: PairMotion) -> list[tuple[np.ndarray, np.ndarray]]:
    """Half extents at both ends, of the first boxes and of the second."""
    a0, a1, b0, b1 = (shape.half_extents for shape in pairs)
    return [(a0, a1), (b0, b1)]


@pytest.mark.parametrize("most_turn", TURNS)
def test_boxes_never_come_nearer_than_the_lower_bound(most_turn):
    count = times(250, 100, full=500)
    pairs = PairMotion(*random_boxes(1, 500, most_turn, count))
    low = contact_bounds(pairs).low
    sampled = motions.separation_at(list(pairs), np.broadcast_to(MOMENTS, (len(MOMENTS), count)))
    assert (low <= sampled.min(axis=0) + 1e-12).all()


def test_lower_bound_of_approaching_boxes_without_rotation_is_their_least_separation():
    """The boxes approach face to face, so the bound is the separation itself."""
    turn = scenes.random_rotations(np.random.default_rng(2), 1)
    half = np.ones((1, 3))
    paths = (4 * turn[..., 0], 2.5 * turn[..., 0])
    rest, start, end = (Obb(center, half, turn) for center in (np.zeros((1, 3)), *paths))
    for pairs in (PairMotion(rest, rest, start, end), PairMotion(rest, rest, end, start)):
        np.testing.assert_allclose(contact_bounds(pairs).low, 0.5, rtol=0, atol=1e-14)


def test_boxes_that_grow_until_they_touch_may_touch():
    """Growing boxes whose faces meet exactly at the end: the gap there is only rounding error."""
    rng = np.random.default_rng(5)
    turn, start = scenes.random_rotations(rng, 2000), rng.normal(size=(2000, 3))
    half, other, nothing = (*rng.uniform(0.1, 1, (2, 2000, 3)), np.zeros((2000, 3)))
    neighbor = start + turn[..., 0] * (half[:, :1] + other[:, :1])
    paths = (
        Obb(center, sides, turn)
        for center, sides in (
            (start, nothing),
            (start, half),
            (neighbor, nothing),
            (neighbor, other),
        )
    )
    pairs = PairMotion(*paths)
    for motion in (pairs, PairMotion(pairs.a_end, pairs.a_start, pairs.b_end, pairs.b_start)):
        assert may_touch(motion, contact_bounds(motion).low, 0.0, np.zeros(2000)).all()


@pytest.mark.parametrize("most_turn", TURNS)
def test_least_separation_matches_dense_samples(most_turn):
    count = times(150, 100, full=300)
    pairs = PairMotion(*random_boxes(3, 300, most_turn, count))
    sampled = motions.separation_at(list(pairs), np.broadcast_to(MOMENTS, (len(MOMENTS), count)))
    least, time = minimum_separation_of_rotating(pairs, contact_bounds(pairs), np.full(count, np.inf))
    np.testing.assert_allclose(motions.separation_at(list(pairs), time), least, rtol=0, atol=1e-12)
    # Where corners move linearly, the separation is convex and its minimum is found.
    reach = sum(np.linalg.norm(np.maximum(*ends), axis=-1) for ends in halves(pairs))
    assert (least - sampled.min(axis=0) <= 1e-3 + reach * most_turn**2 / 8).all()


@pytest.mark.smoke
def test_separation_is_gap_along_its_axis():
    rng = np.random.default_rng(4)
    a, b = (scenes.random_shapes(Obb, rng, 2000) for _ in range(2))
    separation, axis = separation_and_axis(a, b)
    np.testing.assert_allclose(np.linalg.norm(axis, axis=-1), 1, rtol=0, atol=1e-14)
    reach_a = np.einsum("nki,ni->nk", corners(a), axis).max(axis=1)
    reach_b = np.einsum("nki,ni->nk", corners(b), axis).min(axis=1)
    assert (separation > 0).any() and (separation < 0).any()
    np.testing.assert_allclose(reach_b - reach_a, separation, rtol=0, atol=1e-12)
