"""Sweeps of two triangles."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from addon.core.shapes.primitives import triangles_from_corners
from addon.core.sweep import triangle_triangle
from addon.core.sweep.triangle_triangle import (
    MovingTriangles,
    contacts_of_triangles,
    first_impacts_of_triangles,
)
from tests.core import meshes
from tests.core.exact import segment_segment_squared
from tests.core.mesh.triangle_pairs import separation_triangle_triangle
from tests.core.sweep.triangles.exact_triangle_sweeps import corners_at
from tests.tiers import times

POSES = times(15, full=30)
FLAT = np.array([[-4.0, -4, 0], [8, -4, 0], [-4, 8, 0]])


def times_of(a: MovingTriangles, b: MovingTriangles, *rest: float) -> np.ndarray:
    """Compute times of impact (m,)."""
    return first_impacts_of_triangles(a, b, *rest)[0]


def distances(a: MovingTriangles, b: MovingTriangles, times: np.ndarray) -> np.ndarray:
    """Separations (k, m) of pairs (m,) at times (k, m)."""
    found = [(triangles_from_corners(a.at(time)), triangles_from_corners(b.at(time))) for time in times]
    return np.array([separation_triangle_triangle(*pair) for pair in found])


def assert_first(a: MovingTriangles, b: MovingTriangles, found: np.ndarray, clearance: float = 0.0) -> None:
    """Assert that pairs are within the clearance at their times, and at no sampled time before."""
    size = max(np.abs(x).max() for x in (*a, *b))
    hit = np.flatnonzero(~np.isnan(found))
    if len(hit):
        there = distances(a.take(hit), b.take(hit), found[hit][None])[0]
        np.testing.assert_allclose(np.maximum(there - clearance, 0), 0, atol=2e-13 * size)
    until = np.where(np.isnan(found), 1.0, found * (1 - 1e-9) - 1e-12)
    sampled = np.linspace(0, 1, times(80, 60, full=160))[:, None] * until
    before = distances(a, b, np.maximum(sampled, 0))
    assert (before[:, until > 0] > clearance).all()


def random_motion(count: int, spread: float, turn: float, seed: int) -> MovingTriangles:
    rng = np.random.default_rng(seed)
    start = rng.normal(size=(count, 3, 3)) + rng.normal(size=(count, 1, 3)) * spread
    change = rng.normal(size=(count, 1, 3)) * spread + rng.normal(size=(count, 3, 3)) * turn
    return MovingTriangles(start, start + change)


@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("clearance", [0.0, 0.1])
def test_random_motion_matches_dense_sampling(turn, clearance):
    count = times(40, 30, full=150)
    a, b = random_motion(count, 1.2, turn, 1), random_motion(count, 1.2, turn, 2)
    found = times_of(a, b, clearance)
    assert_first(a, b, found, clearance)
    assert ((found > 0) & (found < 1)).sum() > count / 15
    assert np.isnan(found).sum() > count / 15


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_times_do_not_depend_on_scale(scale):
    a, b = random_motion(40, 2.0, 0.3, 3), random_motion(40, 2.0, 0.3, 4)
    expected = times_of(a, b)
    larger = (MovingTriangles(x.start * scale, x.end * scale) for x in (a, b))
    np.testing.assert_allclose(times_of(*larger), expected, rtol=0, atol=1e-12)


def test_first_of_many_pairs_is_returned_and_none_after_until():
    a, b = random_motion(1200, 2.0, 0.3, 5), random_motion(1200, 2.0, 0.3, 6)
    found = times_of(a.take(np.arange(60)), b.take(np.arange(60)))
    later = np.arange(60)[~(found <= 0.05)]
    first, until = np.nanmin(found[later]), np.nanmedian(found[later])
    np.testing.assert_array_equal(times_of(a.take(later), b.take(later)), found[later])
    assert np.isnan(times_of(a.take(later), b.take(later), 0.0, 0.0, first * 0.99)).all()
    limited = times_of(a.take(later), b.take(later), 0.0, 0.0, until)
    np.testing.assert_array_equal(limited, np.where(found[later] <= until, found[later], np.nan))
    assert np.nanmin(times_of(a, b)) == 0


@pytest.mark.parametrize("growth", [0.0, 0.25])
def test_far_move_at_a_height_of_1_is_within_a_clearance_of_1_but_not_of_less(growth):
    # It is above the face around a third of the time, and rounding of its path is 1e-10.
    path = np.array([3 * 2.0**20, 0, 0])
    face = np.array([[[-1.0, -1, 0], [1, -1, 0], [0, 1, 0]]])
    above = face - path / 3 + np.array([0.0, 0, 1])
    first, last = (1 / 3 + side * 2 / path[0] for side in (-1, 1))
    sides = MovingTriangles(face, face), MovingTriangles(above, above + path)
    for beyond, expected in ((-1e-12, np.nan), (1e-12, first)):
        clearance = 1 + beyond - growth * last
        found, _ = first_impacts_of_triangles(*sides, clearance, growth=growth)
        np.testing.assert_allclose(found, expected, atol=(last - first) * 1.01)


def test_corners_are_exact_at_both_ends():
    start = np.array([[[1e16, 0, 0], [0.1, 1, 0], [0, 0, 1]]])
    moving = MovingTriangles(start, start[:, ::-1] / 3)
    np.testing.assert_array_equal(moving.at(np.zeros(1)), moving.start)
    np.testing.assert_array_equal(moving.at(np.ones(1)), moving.end)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_pairs_that_take_too_many_steps_are_not_resolved_before_they_touch(steps):
    a, b = random_motion(60, 1.2, 2.0, 1), random_motion(60, 1.2, 2.0, 2)
    exact = times_of(a, b)
    reached, is_resolved = first_impacts_of_triangles(a, b, steps=range(steps + 1))
    hit = ~np.isnan(exact)
    assert (reached[hit] <= exact[hit]).all()
    assert (reached[hit] < exact[hit]).any()
    # Resolved impacts are contacts, and pairs that never touch have none.
    np.testing.assert_allclose(reached[hit & is_resolved], exact[hit & is_resolved], rtol=0, atol=1e-11)
    assert not (is_resolved & ~np.isnan(reached) & ~hit).any()
    # What is not resolved can be continued.
    rest, _ = first_impacts_of_triangles(a, b, begin=np.nan_to_num(reached), steps=range(steps + 1, 101))
    np.testing.assert_allclose(rest[hit], exact[hit], rtol=0, atol=1e-11)
    if steps == 0:
        assert not is_resolved[hit & (exact > 0)].any()
        np.testing.assert_array_equal(reached, 0)


# --- edges that slide along each other --------------------------------------------------------------------

SLIDING = np.array(
    [
        [
            [
                (0.16666666666666657, 0.4838874930385126, 0.16666666666666677),
                (1.4621933512531597e-17, 1.4838874930385126, 0.33333333333333337),
            ],
            [
                (0.33333333336666665, -0.5333333333, 3.33333360913457e-11),
                (0.1666666667, 0.46666666669999995, 0.1666666667),
            ],
        ],
        [
            [
                (0.16666666666666693, 0.45470429839256654, 0.16666666666666663),
                (-7.558368723826238e-17, 1.4547042983925667, 0.33333333333333337),
            ],
            [
                (0.33333333336666665, -0.5333333333, 3.33333360913457e-11),
                (0.1666666667, 0.46666666669999995, 0.1666666667),
            ],
        ],
    ]
)
"""Ends (2 times, 2 edges, 2 ends, 3) of two nearly parallel edges that pass at 1e-10 of their size."""
CLOSE = Fraction(1, 5 * 10**9)
"""Distance up to which the direction between nearly parallel edges of size 1 is rounding."""


def exact_squared_distance(edges: np.ndarray, time: Fraction) -> Fraction:
    """Squared distance of two edges (2 times, 2, 2, 3) at a time, in exact fractions."""
    return segment_segment_squared(*corners_at(edges[:, 0], time), *corners_at(edges[:, 1], time))


def test_edges_that_slide_past_each_other_touch_no_earlier_than_they_are_close():
    # At 0.142 and 0.163 they are 0.01 apart. Nothing is closer than the ends that pass each other at 0.590.
    assert exact_squared_distance(SLIDING, Fraction(163, 1000)) > Fraction(1, 100) ** 2
    least = min(range(501), key=lambda k: exact_squared_distance(SLIDING, Fraction(k, 500)))
    assert least == 295
    for third in (0, 1):
        a, b = (MovingTriangles(*SLIDING[:, edge][:, None, [0, 1, third]]) for edge in (0, 1))
        for time, is_resolved in (first_impacts_of_triangles(a, b), first_impacts_of_triangles(b, a)):
            assert is_resolved.all()
            if not np.isnan(time[0]):
                assert exact_squared_distance(SLIDING, Fraction(time[0])) < CLOSE**2


@pytest.mark.parametrize("seed", range(times(30, quick=6)))
def test_edges_that_slide_at_random_touch_only_where_exact_fractions_say_so(seed):
    # Nearly parallel edges pass at 1e-6 to 1e-9 of their length, one after the other or along it.
    rng = np.random.default_rng(seed)
    along, offset = rng.normal(size=(2, 3))
    offset *= 10.0 ** rng.uniform(-9, -6)
    ends = np.array([[np.zeros(3), along], [1.05 * along, 2 * along]])
    moved = ends.copy()
    moved[1] -= along * rng.uniform(0.02, 0.5)
    edges = np.array([ends, moved]) + rng.normal(size=(2, 2, 2, 3)) * 10.0 ** rng.uniform(-12, -8)
    edges[:, 1] += offset
    a, b = (MovingTriangles(*edges[:, edge][:, None, [0, 1, 1]]) for edge in (0, 1))
    (time,), (is_resolved,) = first_impacts_of_triangles(a, b)
    least = min(exact_squared_distance(edges, Fraction(k, 300)) for k in range(301))
    if not np.isnan(time) and is_resolved:
        # The cross product of edges whose directions nearly agree is rounding.
        size = Fraction(float(np.ptp(edges, axis=(0, 1, 2)).max()))
        assert exact_squared_distance(edges, Fraction(time)) < (size / 10**10) ** 2
    assert is_resolved or least < Fraction(1, 10**5) ** 2


# --- closed forms ----------------------------------------------------------------------------------------


def dropped(corners: list, fall: float, poses: int = POSES) -> tuple[MovingTriangles, MovingTriangles]:
    """Large flat triangle at rest and another triangle that falls on it, in many poses."""
    other = np.array(corners, float)
    turned = meshes.random_poses(poses, 5.0, 7)
    pairs = [
        np.stack([x @ m[:3, :3].T + m[:3, 3] for m in turned]) for x in (FLAT, other, other - [0, 0, fall])
    ]
    return MovingTriangles(pairs[0], pairs[0]), MovingTriangles(pairs[1], pairs[2])


@pytest.mark.parametrize(
    "corners",
    [
        [[0, 0, 3], [1, 0, 5], [0, 1, 4]],
        [[0, 0, 3], [1, 0, 3], [0, 1, 3]],
        [[-20, 0, 3], [20, 0, 3], [0, 0, 20]],
        [[0, 0, 3], [0, 0, 3], [0, 0, 3]],
        [[0, 0, 3], [1, 0, 4], [0.5, 0, 3.5]],
        [[-4, -4, 3], [-9, -4, 3], [-4, -9, 3]],
    ],
    ids=["a corner", "a face", "an edge across", "a point", "a segment", "a corner on a corner"],
)
def test_triangle_falling_on_face_from_height_3(corners):
    for fall, time in ((6.0, 0.5), (3.0, 1.0), (3e6, 1e-6), (2.999, np.nan)):
        still, falling = dropped(corners, fall)
        found = times_of(still, falling)
        np.testing.assert_allclose(found, time, rtol=1e-9 if fall > 1e5 else 1e-13)
        np.testing.assert_allclose(times_of(falling, still), found, rtol=1e-9)
    # With a clearance the contact is earlier.
    if corners[0] != [-4, -4, 3]:
        np.testing.assert_allclose(times_of(*dropped(corners, 6.0), 0.6), 0.4, rtol=1e-12)


def test_contact_at_the_end_is_found_by_a_search_that_begins_there():
    still, falling = dropped([[0, 0, 3], [1, 0, 5], [0, 1, 4]], 3.0, 1)
    assert first_impacts_of_triangles(still, falling, begin=1.0) == (np.ones(1), np.ones(1, dtype=bool))


def test_coplanar_triangles_touch_or_pass():
    still = MovingTriangles(*[np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]])] * 2)
    start = np.array([[[5.0, 0.2, 0], [6, 0.2, 0], [5, 0.4, 0]]])
    # The corner (5, 0.4) touches the oblique side x + y = 1 at x = 0.6, the one at (5, 0.2) at x = 0.8.
    coming = MovingTriangles(start, start - [10, 0, 0])
    np.testing.assert_allclose(times_of(coming, still), 0.42, rtol=1e-12)
    passing = MovingTriangles(start + np.array([0, 1, 0]), start + np.array([-10, 1, 0]))
    assert np.isnan(times_of(passing, still)).all()


@pytest.mark.smoke
def test_contact_at_start_is_zero_and_needles_are_hit():
    needle = np.array([[[0.0, 0, 2], [0, 1e-12, 2], [5, 0, 2]]])
    falling = MovingTriangles(needle, needle - [0, 0, 4])
    edge = MovingTriangles(*[np.array([[[2.0, -3, 0], [2, 3, 0], [2, 3, -9]]])] * 2)
    np.testing.assert_allclose(times_of(falling, edge), 0.5, rtol=1e-12)
    assert times_of(falling, falling).tolist() == [0.0]


def test_contact_normal_is_direction_of_approach():
    still, falling = dropped([[0, 0, 3], [1, 0, 3], [0, 1, 3]], 6.0)
    up = meshes.random_poses(POSES, 5.0, 7)[:, :3, 2]
    found = times_of(still, falling)
    np.testing.assert_allclose(contacts_of_triangles(still, falling, found).normal, up, atol=1e-7)
    np.testing.assert_allclose(contacts_of_triangles(falling, still, found).normal, -up, atol=1e-7)
    # At the contact they share an edge too, so only the direction of the fall determines the normal.
    adjacent = MovingTriangles(
        np.array([[[8.0, -4, 2], [-4, 8, 2], [9, 9, 2]]]),
        np.array([[[8.0, -4, -2], [-4, 8, -2], [9, 9, -2]]]),
    )
    flat = MovingTriangles(FLAT[None], FLAT[None])
    time = times_of(flat, adjacent)
    np.testing.assert_allclose(time, 0.5)
    np.testing.assert_allclose(contacts_of_triangles(flat, adjacent, time).normal, [[0, 0, 1]], atol=1e-7)


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("distance", [1e-5, 1e-2])
@pytest.mark.parametrize("away", [0.0, 1e3])
def test_contact_normal_at_a_clearance_is_direction_between_closest_corners(size, distance, away):
    # A face looks in the direction -X, another one in +X. Their closest corners are not opposite.
    direction = np.array([1.0, 2, 2]) / 3
    corners = np.array([[0, 0, 0], [-1, -2, 0.5], [-1, 0.5, -2]]) * size + away * size
    other = (
        corners[:1] - np.array([[0, 0, 0], [-1, -2, 0.5], [-1, 0.5, -2]]) * size + direction * distance * size
    )
    pair = (MovingTriangles(x[None], x[None]) for x in (corners, other))
    np.testing.assert_allclose(
        contacts_of_triangles(*pair, np.ones(1)).normal, [direction], rtol=0, atol=1e-7
    )


@pytest.mark.smoke
def test_empty_batch_has_no_impact():
    none = MovingTriangles(np.zeros((0, 3, 3)), np.zeros((0, 3, 3)))
    time, is_resolved = first_impacts_of_triangles(none, none)
    assert time.shape == is_resolved.shape == (0,)


def test_gap_that_opens_and_closes_again_is_positive_no_longer_than_that():
    # c0 + c1 t - k t^2, with a start near contact: its root is (c1 + sqrt(c1^2 + 4 k c0)) / (2 k).
    rng = np.random.default_rng(10)
    c0, (c1, k) = 10.0 ** rng.uniform(-15, 0, 1000), rng.uniform(0, 1, (2, 1000))
    exact = [
        float((b + (b * b + 4 * a * c).sqrt()) / (2 * a))
        for a, b, c in zip(*(map(Decimal, x.tolist()) for x in (k, c1, c0)), strict=True)
    ]
    terms = [np.broadcast_to(term, (1, 3, 3, 1000)) for term in (c0, c1, -k, 0.0)]
    found = triangle_triangle._positive_duration(terms, np.ones(1000))[0]
    np.testing.assert_allclose(found, exact, rtol=1e-14)
