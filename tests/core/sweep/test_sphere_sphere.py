"""Sweeps of two spheres, compared with exact rationals and known times."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Sphere, closest_time, overlap_span, overlaps, time_of_impact
from addon.core.sweep.closed_forms import time_of_minimum_gap
from tests.core import scenes
from tests.core.motions import (
    random_spheres,
    reversed_in_time,
    scaled,
    separation_at,
    spheres,
    spheres_passing,
    swapped,
    take_rows,
)
from tests.core.sweep.exact_sweeps import SphereMotion
from tests.tiers import examples, times

pytestmark = pytest.mark.filterwarnings("error")

BALL = st.tuples(scenes.POINT, scenes.SIZE)


def exact_motions(motion: list[Sphere]) -> list[SphereMotion]:
    """Exact references for a batch (n,)."""
    parts = [
        list(zip(s.center.tolist(), s.radius.tolist(), strict=True))
        for s in (s.broadcast_to(motion[2].shape) for s in motion)
    ]
    return [SphereMotion(*four) for four in zip(*parts, strict=True)]


# --- when they touch -------------------------------------------------------------------------------------


def test_fast_sphere_through_another_has_span_inside_interval():
    # Centers 10 apart at the start, radii 1 + 1, 20 in one interval: (10 - 2) / 20 and (10 + 2) / 20.
    enter, leave = overlap_span(*spheres_passing(-10, 10, 0))
    assert enter == pytest.approx(0.4, rel=1e-15)
    assert leave == pytest.approx(0.6, rel=1e-15)


def test_sphere_passing_at_height_has_pythagorean_span():
    # Height 1.2 of a reach of 2 leaves sqrt(4 - 1.44) = 1.6 along x: (10 - 1.6) / 20.
    enter, leave = overlap_span(*spheres_passing(-10, 10, 1.2))
    assert enter == pytest.approx(0.42, rel=1e-14)
    assert leave == pytest.approx(0.58, rel=1e-14)


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        ("grazing at one instant", spheres_passing(-8, 8, 2), 0.5),
        ("near miss", spheres_passing(-8, 8, np.nextafter(2, 3)), math.nan),
        ("touching at the start, then receding", spheres_passing(2, 8, 0), 0.0),
        ("overlapping at the start, then receding", spheres_passing(1.5, 8, 0), 0.0),
        ("touching exactly at the end", spheres_passing(8, 2, 0), 1.0),
        ("not quite there at the end", spheres_passing(8, np.nextafter(2, 3), 0), math.nan),
        ("receding", spheres_passing(3, 8, 0), math.nan),
        ("stopping short", spheres_passing(9, 3, 0), math.nan),
        ("at rest and apart", spheres_passing(3, 3, 0), math.nan),
        ("at rest and touching", spheres_passing(2, 2, 0), 0.0),
        ("grazing at rest at one height", spheres_passing(0, 0, 2), 0.0),
        ("points that meet", spheres(*[([x, 0, 0], 0) for x in (0, 0, -1, 3)]), 0.25),
        ("coincident points", spheres(*[([1, 2, 3], 0)] * 4), 0.0),
    ],
)
def test_spheres_at_limit_of_contact(scenario, motion, expected):
    for order in (motion, swapped(motion)):
        assert np.array_equal(time_of_impact(*order), expected, equal_nan=True), scenario


def test_diagonal_contact_exactly_at_end():
    # (2, 3, 6) has length 7 = 3 + 4.
    motion = spheres(([0, 0, 0], 3), ([0, 0, 0], 3), ([20, 30, 60], 4), ([2, 3, 6], 4))
    assert overlap_span(*motion) == (1.0, 1.0)


def test_spheres_without_relative_motion_match_static_overlap():
    shift = np.array([1e3, -7, 0.1])
    for distance, expected in ((1.5, 0.0), (2.5, math.nan)):
        start = np.array([distance, 0, 0])
        motion = spheres(([0, 0, 0], 1), (shift, 1), (start, 1), (start + shift, 1))
        assert np.array_equal(time_of_impact(*motion), expected, equal_nan=True)


@examples(133, full=400)
@given(BALL, BALL, BALL, BALL)
def test_sphere_times_match_exact_rationals(a_start, a_end, b_start, b_end):
    truth = SphereMotion(a_start, a_end, b_start, b_end)
    found = float(time_of_impact(*spheres(a_start, a_end, b_start, b_end)))
    if truth.first is None:
        assert math.isnan(found)
    else:
        # A graze at one instant is a double root, so the time has half of its digits.
        grazes = truth.C > 0 and truth.minimum == 0 and truth.f(1) > 0
        assert found == pytest.approx(truth.first, abs=1e-7 if grazes else 1e-12)
        assert (found == 0) == (truth.C <= 0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_random_spheres_match_exact_rationals(scale, offset):
    rng = np.random.default_rng(7)
    motion = [Sphere((s.center + offset) * scale, s.radius * scale) for s in random_spheres(rng, 300)]
    found = time_of_impact(*motion)
    assert 50 < np.isnan(found).sum() < 250
    for truth, time in zip(exact_motions(motion), found.tolist(), strict=True):
        assert math.isnan(time) == (truth.first is None)
        if truth.first is not None:
            assert time == pytest.approx(truth.first, abs=1e-12)
            # The quadratic is about zero at that time, and positive just before.
            assert time == 0 or abs(truth.f(time)) <= Fraction(1, 10**12) * truth.scale
            assert time <= 1e-6 or truth.f(time - 1e-6) > 0


# --- grazes and near misses ------------------------------------------------------------------------------


def oblique_grazes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points p at integer distances from the origin, integer vectors v perpendicular to p, and distances."""
    found = []
    for p in product(range(9), repeat=3):
        distance = math.isqrt(p[0] ** 2 + p[1] ** 2 + p[2] ** 2)
        if sum(x > 0 for x in p) > 1 and distance**2 == p[0] ** 2 + p[1] ** 2 + p[2] ** 2:
            for v in product(range(-6, 7), repeat=3):
                if any(v) and sum(x * y for x, y in zip(p, v, strict=True)) == 0:
                    found.append((p, v, distance))
    p, v, distance = (np.array(values, dtype=float) for values in zip(*found, strict=True))
    assert len(p) > 1000
    return p, v, distance


@pytest.mark.parametrize("before", [1.0, 3.0, 7.0, 2.0**20 - 1])
def test_oblique_grazes_are_found_and_near_misses_are_not(before):
    # All numbers are integers, so the sphere passes p exactly, after the part before / (before + 1).
    p, v, distance = oblique_grazes()
    still = np.zeros_like(p)

    def times(radius: np.ndarray) -> np.ndarray:
        moving = Sphere(p - before * v, radius), Sphere(p + v, radius)
        return time_of_impact(Sphere(still, radius), Sphere(still, radius), *moving)

    assert np.array_equal(times(distance / 2), np.full(len(p), before / (before + 1)))
    assert np.isnan(times(np.nextafter(distance / 2, 0))).all()
    larger = times(np.nextafter(distance / 2, 100))
    assert (larger <= before / (before + 1)).all()


def test_grazes_of_growing_and_shrinking_spheres_are_found():
    # By 3-4-5 triangles: at half time the offset is (4, 3, 0) k, the reach 5 k, and both change at one rate,
    # 4 / 5 of the speed along x, so that the quadratic has a double root there.
    for k, speed in ((1, 10), (2, 10), (3, 30), (3, -30), (1, -10), (7, 70), (5, 40)):
        x, growth = speed / 2, 4 * speed / 5 / 2
        offsets = [4 * k - x, 3 * k, 0], [4 * k + x, 3 * k, 0]
        for lead in ([0, 0, 0], [8, 16, 4]):
            positions = lead, lead, np.add(offsets[0], lead), np.add(offsets[1], lead)
            for less, expected in ((0, 0.5), (2.0**-44, None)):
                radii = 0, 0, 5 * k - growth, 5 * k + growth - less
                motion = spheres(*zip(positions, radii, strict=True))
                truth = SphereMotion(*zip(positions, radii, strict=True))
                assert truth.C > 0
                assert (truth.minimum == 0) == (expected is not None)
                found = time_of_impact(*motion)
                assert np.isnan(found) if expected is None else found == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("growth", [0.0, 0.7, -0.7])
def test_misses_by_one_rounding_error_are_distinguished_from_hits(growth):
    # The reach is that of a graze, rounded. So exact arithmetic decides whether they touch.
    rng = np.random.default_rng(11)
    count = times(1000, 500, full=2000)
    a, b = rng.uniform(-1, 1, (2, count, 3))
    p, v = b - a, rng.uniform(-1, 1, (count, 3))
    p -= (rng.uniform(0.1, 0.9, count) + (p * v).sum(axis=1) / (v * v).sum(axis=1))[:, None] * v
    b, carried = a + p, rng.uniform(-1, 1, (count, 3))
    p, v = b - a, (b + v + carried) - (a + carried) - (b - a)
    speed, nearest = np.linalg.norm(v, axis=1), -(p * v).sum(axis=1) / (v * v).sum(axis=1)
    s = growth * speed * rng.uniform(0.5, 1, count)
    reach = np.linalg.norm(np.cross(p, v), axis=1) / speed * np.sqrt(1 - (s / speed) ** 2) - s * nearest
    share = rng.uniform(0.2, 0.8, count)
    first, last = [reach * share, (reach + s) * share], [reach * (1 - share), (reach + s) * (1 - share)]
    valid = (np.minimum(reach, reach + s) > 0) & (np.linalg.norm(p, axis=1) > reach)
    motion = [
        Sphere(center[valid], radius[valid])
        for center, radius in zip((a, a + carried, b, b + v + carried), (*first, *last), strict=True)
    ]
    compared = hits = 0
    for truth, time in zip(exact_motions(motion), time_of_impact(*motion).tolist(), strict=True):
        if abs(truth.minimum) > truth.scale * Fraction(1, 10**29):
            assert math.isnan(time) == (truth.first is None)
            compared, hits = compared + 1, hits + (truth.first is not None)
    assert count / 10 < hits < compared - count / 10


@pytest.mark.parametrize(("before", "steps"), [(1, 3), (1, 5), (2, 7), (1, 49), (5, 6)])
@pytest.mark.parametrize(("along", "across"), [([1, 0, 0], [0, 10, 0]), ([3, 4, 0], [-8, 6, 0])])
def test_graze_at_a_time_that_is_rounded_is_found(before, steps, along, across):
    # They pass at distance 10, at a time that has no exact float64.
    start, end = (
        np.subtract(across, np.multiply(before, along)),
        np.add(across, np.multiply(steps - before, along)),
    )
    for less in (0, 2.0**-48):
        motion = ([0, 0, 0], 4), ([0, 0, 0], 4), (start, 6 - less), (end, 6 - less)
        expected = math.nan if less else before / steps
        assert time_of_impact(*spheres(*motion)) == pytest.approx(expected, abs=1e-15, nan_ok=True)


def test_spheres_that_touch_at_the_end_touch_no_later_than_that():
    # The radius is the distance at the end, rounded. Where it is not less, they touch.
    rng = np.random.default_rng(12)
    start, end = rng.uniform(-1, 1, (2, 2000, 3)) * [[[4.0]], [[1.0]]]
    reach = np.linalg.norm(end, axis=1)
    still = Sphere(np.zeros_like(end), np.zeros(len(end)))
    motion = [still, still, Sphere(start, reach), Sphere(end, reach)]
    found, touches = time_of_impact(*motion), overlaps(motion[1], motion[3])
    assert touches.sum() > 400
    assert (found[touches] <= 1).all()


def approaches(rng: np.random.Generator, count: int, distance: float, dtype: type) -> list[Sphere]:
    """Spheres of radius about 1 that come from `distance` away and pass at 0 to 1.1 times the reach.

    Half of them nearly graze, down to 1e-12 of the reach; some share a common translation.
    """
    along = scenes.random_directions(rng, count)
    across = np.cross(along, scenes.random_directions(rng, count))
    across /= np.linalg.norm(across, axis=1)[:, None]
    sign = rng.choice([-1, 1], count)
    miss = np.choose(
        rng.integers(0, 4, count),
        [
            rng.uniform(0, 1.1, count),
            1 + sign * 10.0 ** rng.uniform(-12, -1, count),
            1 + sign * 1e-12 * rng.uniform(1, 2, count),
            np.zeros(count),
        ],
    )
    radius = rng.uniform(0.5, 1.5, count).astype(dtype)
    start = across * (miss * 2 * radius)[:, None] - along * distance * rng.uniform(0.3, 1, (count, 1))
    end = start + along * distance * rng.uniform(0.3, 2, (count, 1))
    base, carried = rng.normal(size=(2, count, 3)) * rng.choice([0, 1, 1e3], (count, 1))
    positions = (base, base + carried, base + start, base + carried + end)
    return [Sphere(position.astype(dtype), radius) for position in positions]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("distance", [1e1, 1e3, 1e6])
def test_approach_from_million_radii_is_accurate_to_billionth_of_radius(distance, dtype):
    motion = approaches(np.random.default_rng(21), 1500, distance, dtype)
    found = time_of_impact(*motion)
    hits = 0
    velocity = (motion[3].center - motion[1].center) - (motion[2].center - motion[0].center)
    speed = np.linalg.norm(velocity, axis=1)
    checked = times(700, 300, full=1500)
    for i, truth in enumerate(exact_motions(take_rows(motion, slice(checked)))):
        if math.isnan(found[i]) != (truth.first is None):
            # Only if the closest approach is within 1e-12 of the scale of a contact.
            assert abs(truth.minimum) <= truth.scale * Fraction(1, 10**12) ** 2
        elif truth.first is not None:
            hits += 1
            assert abs(found[i] - truth.first) * speed[i] <= 1e-9 * motion[0].radius[i]
    assert checked / 3 < hits < checked * 0.8


@pytest.mark.smoke
def test_float32_near_misses_at_million_radii_are_distinguished_from_hits():
    # Radii of 1 cross 2 million per interval. The float32 positions round to 1/16, so that closest approaches
    # are on both sides of the reach; the exact quadratic decides.
    rng = np.random.default_rng(8)
    count = 400
    along = scenes.random_directions(rng, count)
    across = np.cross(along, rng.normal(size=(count, 3)))
    across *= 2 * (1 + rng.normal(size=(count, 1)) * 0.01) / np.linalg.norm(across, axis=1)[:, None]
    start = (across - along * 1e6).astype(np.float32)
    end = (across + along * 1e6).astype(np.float32)
    still, radius = np.zeros((count, 3), np.float32), np.float32(1)
    motion = [Sphere(still, radius), Sphere(still, radius), Sphere(start, radius), Sphere(end, radius)]
    found = time_of_impact(*motion)
    expected = [truth.first for truth in exact_motions(motion)]
    assert [math.isnan(time) for time in found] == [first is None for first in expected]
    hits = [(time, first) for time, first in zip(found, expected, strict=True) if first is not None]
    assert 100 < len(hits) < 300
    assert all(time == pytest.approx(first, abs=1e-12) for time, first in hits)


@pytest.mark.smoke
def test_float32_input_is_widened_before_subtraction():
    # 1e8 + 8 is a float32, and so is 1e8; but 1e8 + 8 + 0.5 (the sum of a center and a radius) is not.
    motion = [
        Sphere(np.float32([1e8, 0, 0]), np.float32(0.5)),
        Sphere(np.float32([1e8, 0, 0]), np.float32(0.5)),
        Sphere(np.float32([1e8 + 8, 0, 0]), np.float32(0.25)),
        Sphere(np.float32([1e8, 0, 0]), np.float32(0.25)),
    ]
    assert time_of_impact(*motion) == (8 - 0.75) / 8


# --- radii that change -----------------------------------------------------------------------------------


def test_growing_spheres_at_rest_touch():
    # Reach 2 + 16 t against a distance of 10.
    motion = spheres(([0, 0, 0], 1), ([0, 0, 0], 9), ([0, 10, 0], 1), ([0, 10, 0], 9))
    assert overlap_span(*motion) == (0.5, 1.0)
    # In reversed time, shrinking spheres separate at the mirrored time.
    assert overlap_span(*reversed_in_time(motion)) == (0.0, 0.5)


def test_sphere_growing_as_fast_as_it_moves():
    # Receding at 6, growing by 6: |10 + 6 t| = 2 + 6 t never. Approaching at 6: 10 - 6 t = 2 + 6 t at 2 / 3.
    away = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 1), ([16, 0, 0], 7))
    assert np.isnan(time_of_impact(*away))
    coming = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 1), ([4, 0, 0], 7))
    assert time_of_impact(*coming) == pytest.approx(2 / 3, rel=1e-15)


def test_sphere_growing_faster_than_it_recedes():
    # Receding at 6, growing by 12: 10 + 6 t = 2 + 12 t is at 4 / 3, too late; by 14: 8 / 8.
    late = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 1), ([16, 0, 0], 13))
    assert np.isnan(time_of_impact(*late))
    reached = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 1), ([16, 0, 0], 15))
    assert time_of_impact(*reached) == 1
    # Shrinking faster than it approaches: 10 - 4 t = 9 - 8 t never. The second pair touches at the start.
    shrinking = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 8), ([6, 0, 0], 0))
    assert np.isnan(time_of_impact(*shrinking))
    assert overlap_span(*spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([9, 0, 0], 8), ([5, 0, 0], 0))) == (0, 0)


def test_radii_changing_as_fast_as_centers_move_match_exact_rationals():
    # A = v.v - s s then cancels, down to 0.
    rng = np.random.default_rng(22)
    count = 1500
    p, v = rng.normal(size=(2, count, 3)) * 3
    speed = np.linalg.norm(v, axis=1)
    change = speed * (1 + rng.choice([-1, 0, 1], count) * 10.0 ** rng.uniform(-17, -1, count))
    radius = np.linalg.norm(p, axis=1) * rng.uniform(0, 1.2, count)
    grows = rng.random(count) < 0.5
    r0, r1 = np.where(grows, [radius, radius + change], [radius + change, radius])
    still = Sphere(np.zeros((count, 3)), 0.0)
    motion = [still, still, Sphere(p, r0), Sphere(p + v, r1)]
    found = time_of_impact(*motion)
    assert (found > 0).sum() > 100
    for time, truth in zip(found.tolist(), exact_motions(motion), strict=True):
        if math.isnan(time) or truth.first is None:
            assert math.isnan(time) == (truth.first is None) or abs(truth.minimum) < 1e-14 * truth.scale
        else:
            # The time of the root may be ill-conditioned, its residual and its order are not.
            assert time == 0 or abs(truth.f(time)) <= Fraction(1, 10**14) * truth.scale
            assert time == pytest.approx(truth.first, abs=1e-7)


def test_sphere_scaled_about_point_on_surface_is_not_late():
    # Box 1 x 3 x 4 with its origin in a corner, scaled from 1 to 4: the center moves as fast as the
    # radius grows. It touches a sphere of radius 1 at (4, 4, 12) where |p - c k| = R k + 1, k = 1 + 3 t.
    c, big = np.array([0.5, 1.5, 2.0]), math.sqrt(0.25 + 2.25 + 4.0)
    p = np.array([4.0, 4.0, 12.0])
    low, high = 1.0, 4.0
    for _ in range(200):
        k = (low + high) / 2
        low, high = (k, high) if np.linalg.norm(p - c * k) > big * k + 1 else (low, k)
    still = Sphere(p, 1.0)
    found = time_of_impact(Sphere(c, big), Sphere(c * 4, big * 4), still, still)
    assert found == pytest.approx((high - 1) / 3, abs=1e-9)


# --- extremes --------------------------------------------------------------------------------------------


@pytest.mark.smoke
@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
def test_power_of_two_unit_keeps_results_bit_identical(power):
    # Scaling by powers of two is exact, so every result must be the same.
    motion = random_spheres(np.random.default_rng(23), 1000)
    small = scaled(motion, 2.0**power)
    for query in (time_of_impact, overlap_span, closest_time):
        assert np.array_equal(query(*motion), query(*small), equal_nan=True), query


def test_huge_and_tiny_spheres_in_one_scene():
    # A point flies at 1e150 through a sphere of radius 1e-150 in the origin, and past it.
    tiny, far = Sphere([0, 0, 0], 1e-150), 1e150
    point = [Sphere([x, 0, 0], 0) for x in (-far, far)]
    assert time_of_impact(tiny, tiny, *point) == 0.5
    past = [Sphere([x, 1e140, 0], 0) for x in (-far, far)]
    assert np.isnan(time_of_impact(tiny, tiny, *past))


# --- when they are closest -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        ("passing by", spheres_passing(-4, 12, 5), 0.25),
        ("passing through", spheres_passing(-4, 12, 1), 0.25),
        ("receding", spheres_passing(4, 12, 0), 0.0),
        ("approaching", spheres_passing(12, 4, 0), 1.0),
        ("at rest", spheres_passing(4, 4, 0), 0.0),
        # Growing from radius 1 to 9 at rest: closest at the end.
        ("growing", spheres(([0, 0, 0], 1), ([0, 0, 0], 9), ([20, 0, 0], 1), ([20, 0, 0], 1)), 1.0),
    ],
)
def test_closest_time_of_spheres_is_first_minimum(scenario, motion, expected):
    assert closest_time(*motion) == pytest.approx(expected, abs=1e-15), scenario


def test_minimum_gap_is_at_the_start_without_a_minimum_in_between():
    p = np.array([[-2.0, 0, 0], [-2, 1, 0], [-2, 1, 0], [3, 4, 0]])
    v = np.array([[1.0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]])
    # Growing faster than the centers approach, as fast, shrinking as fast; and at rest.
    np.testing.assert_array_equal(time_of_minimum_gap(p, v, np.array([2.0, 1, -1, 0])), 0)


def test_growing_passing_spheres_are_closest_after_middle():
    # Offset (x, 3) with x = 16 t - 4, radius 2 + s t: closest where 16 x / sqrt(x^2 + 9) = s. With s = 12.8 =
    # 16 * 0.8 that is x = 4, t = 0.5.
    motion = spheres(([0, 0, 0], 0), ([0, 0, 0], 0), ([-4, 3, 0], 2), ([12, 3, 0], 14.8))
    assert closest_time(*motion) == pytest.approx(0.5, abs=1e-14)
    assert separation_at(motion, 0.5) == pytest.approx(5 - 8.4, abs=1e-14)


# --- clearance -------------------------------------------------------------------------------------------


def test_clearance_of_spheres_adds_to_radius():
    # Reach 2 + 1 at x: (10 - 3) / 20.
    enter, leave = overlap_span(*spheres_passing(-10, 10, 0), clearance=1.0)
    assert enter == pytest.approx(0.35, rel=1e-15)
    assert leave == pytest.approx(0.65, rel=1e-15)
    assert np.isnan(overlap_span(*spheres_passing(-10, 10, 2.5))[0])
    assert overlap_span(*spheres_passing(-8, 8, 2.5), clearance=0.5)[0] == 0.5
