"""Times at which triangles come to the front of others: dense samples of their heights, and bisection."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.sweep.one_sided import times_in_front
from tests.tiers import times

Array = np.ndarray
SAMPLES = times(2001, 501)


def heights(face: tuple[Array, Array], other: tuple[Array, Array], time: Array) -> Array:
    """Heights (m, k) of centers of triangles above the planes of faces at times (m, k)."""
    part = time[..., None, None]
    now, center = (each[0][:, None] * (1 - part) + each[1][:, None] * part for each in (face, other))
    corner = now[..., 0, :]
    normal = np.cross(now[..., 1, :] - corner, now[..., 2, :] - corner)
    unit = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    return ((center.mean(axis=-2) - corner) * unit).sum(axis=-1)


def first_times(face: tuple[Array, Array], other: tuple[Array, Array], begin: Array, behind: Array) -> Array:
    """First times (m,) in [begin, 1] at which heights are not farther behind, by samples and bisection."""
    time = begin[:, None] + (1 - begin)[:, None] * np.linspace(0, 1, SAMPLES)
    is_front = heights(face, other, time) >= -behind[:, None]
    first, rows = is_front.argmax(axis=1), np.arange(len(begin))
    high, low = time[rows, first], time[rows, np.maximum(first - 1, 0)]
    for _ in range(50):
        middle = (low + high) / 2
        ahead = heights(face, other, middle[:, None])[:, 0] >= -behind
        low, high = np.where(ahead, low, middle), np.where(ahead, middle, high)
    return np.where(is_front.any(axis=1), np.where(first == 0, begin, high), np.nan)


def moving(rng: np.random.Generator, count: int, spread: float) -> tuple[Array, Array]:
    """Corners (m, 3, 3) of random triangles at both ends of motions."""
    start = rng.normal(size=(count, 1, 3)) * spread + rng.normal(size=(count, 3, 3))
    return start, start + rng.normal(size=(count, 1, 3)) * 2 + rng.normal(size=(count, 3, 3))


@pytest.mark.parametrize("seed", range(times(3, 1, full=12)))
@pytest.mark.parametrize("begins", [False, True])
def test_times_of_random_motion_agree_with_dense_samples(seed, begins):
    rng, count = np.random.default_rng(seed), 2000
    face, other = moving(rng, count, 0.0), moving(rng, count, 1.0)
    begin = rng.uniform(0, 0.9, count) if begins else np.zeros(count)
    found = times_in_front(face, other, begin, np.zeros(count))
    expected = first_times(face, other, begin, np.zeros(count))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    # Both kinds, and those that come to the front on the way.
    assert np.isnan(found).sum() > 100 and (found == begin).sum() > 100 and (found > begin).sum() > 100


def test_triangles_behind_throughout_are_never_in_front():
    # The least distance behind the plane is a thousandth of the size, at some time in between.
    rng, count = np.random.default_rng(5), 2000
    face, other = moving(rng, count, 0.0), moving(rng, count, 1.0)
    time = np.broadcast_to(np.linspace(0, 1, SAMPLES), (count, SAMPLES))
    above = heights(face, other, time)
    is_behind = above.max(axis=1) < -1e-3
    assert is_behind.sum() > 100
    rows = np.flatnonzero(is_behind)
    sides = [tuple(each[rows] for each in side) for side in (face, other)]
    assert np.isnan(times_in_front(*sides, np.zeros(len(rows)), np.zeros(len(rows)))).all()


def test_faces_that_move_without_turning_allow_exactly_the_distance_behind():
    rng, count = np.random.default_rng(6), 2000
    start, path = rng.normal(size=(count, 3, 3)), rng.normal(size=(count, 1, 3)) * 3
    other, behind = moving(rng, count, 1.0), rng.uniform(0, 0.5, count)
    face = start, start + path
    begin = np.zeros(count)
    found, expected = times_in_front(face, other, begin, behind), first_times(face, other, begin, behind)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_distance_behind_never_makes_times_of_turning_faces_late():
    rng, count = np.random.default_rng(7), 2000
    face, other, behind = moving(rng, count, 0.0), moving(rng, count, 1.0), rng.uniform(0, 0.3, count)
    begin = np.zeros(count)
    found, expected = times_in_front(face, other, begin, behind), first_times(face, other, begin, behind)
    is_any = ~np.isnan(expected)
    assert (found[is_any] <= expected[is_any] + 1e-12).all()
    without = times_in_front(face, other, begin, np.zeros(count))
    assert not (found > without).any() and is_any.sum() > 100


@pytest.mark.parametrize("is_point", [False, True])
def test_nothing_is_behind_faces_without_area(is_point):
    # Small whole numbers, of which no product is rounded.
    rng, count = np.random.default_rng(8), 200
    corner, side = rng.integers(-9, 9, (count, 1, 3)), rng.integers(-9, 9, (count, 1, 3))
    start = corner + side * (np.zeros((3, 1)) if is_point else np.array([[0.0], [1], [3]]))
    face = start, start + rng.integers(-9, 9, (count, 1, 3))
    begin = rng.uniform(0, 1, count)
    found = times_in_front(face, moving(rng, count, 1.0), begin, np.zeros(count))
    np.testing.assert_array_equal(found, begin)


def test_triangle_in_the_plane_of_a_face_is_not_behind_it():
    # Both at rest in one plane, whose numbers are not exact.
    rng, count = np.random.default_rng(9), 500
    sides = rng.normal(size=(count, 2, 3))
    face, other = (rng.normal(size=(count, 3, 2)) @ sides for _ in "ab")
    zeros = np.zeros(count)
    np.testing.assert_array_equal(times_in_front((face, face), (other, other), zeros, zeros), zeros)


def test_last_moment_counts():
    # The center comes to the plane z = 0 exactly at the end.
    face = np.array([[(0.0, 0, 0), (1, 0, 0), (0, 1, 0)]])
    behind = np.array([[(0.0, 0, -1), (1, 0, -1), (0, 1, -1)]])
    found = times_in_front((face, face), (behind, face), np.zeros(1), np.zeros(1))
    assert found == pytest.approx(1, abs=1e-12)
