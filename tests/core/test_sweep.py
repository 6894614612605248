from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core import (
    Aabb,
    InvalidShapeError,
    Segment,
    Sphere,
    at,
    closest_time,
    overlap_span,
    overlaps,
    separation,
    time_of_impact,
)
from tests.core import exact

QUARTER = st.integers(-40, 40).map(lambda n: n / 4)
POINT = st.tuples(QUARTER, QUARTER, QUARTER)
SIZE = st.integers(0, 20).map(lambda n: n / 4)
BALL = st.tuples(POINT, SIZE)


@st.composite
def boxes(draw):
    low = np.array(draw(POINT))
    return low, low + draw(st.tuples(SIZE, SIZE, SIZE))


def spheres(*motion) -> list[Sphere]:
    return [Sphere(center, radius) for center, radius in motion]


def aabbs(*motion) -> list[Aabb]:
    return [Aabb(low, high) for low, high in motion]


def swapped(motion: list) -> list:
    a_start, a_end, b_start, b_end = motion
    return [b_start, b_end, a_start, a_end]


def reversed_in_time(motion: list) -> list:
    a_start, a_end, b_start, b_end = motion
    return [a_end, a_start, b_end, b_start]


def passing_by(x_start: float, x_end: float, y: float, radius: float = 1.0) -> list[Sphere]:
    """A unit sphere at rest in the origin, and another that moves along x at height y."""
    return spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([x_start, y, 0], radius), ([x_end, y, 0], radius))


def random_spheres(rng: np.random.Generator, count: int) -> list[Sphere]:
    """Pairs that approach, pass, hit or miss; half of them change their radius."""
    a0, b0, a1 = rng.normal(size=(3, count, 3)) * 1.5
    aim = rng.random((count, 1)) < 0.5
    b1 = np.where(aim, a1 + (a0 - b0) * rng.random((count, 1)) + rng.normal(size=(count, 3)), b0 + a1 - a0)
    radii = rng.random((4, count))
    radii[1::2] = np.where(rng.random(count) < 0.5, radii[::2], radii[1::2])
    return [Sphere(c, r) for c, r in zip((a0, a1, b0, b1), radii, strict=True)]


def random_boxes(rng: np.random.Generator, count: int) -> list[Aabb]:
    return [Aabb(s.center - size, s.center + size) for s, size in with_sizes(rng, random_spheres(rng, count))]


def with_sizes(rng: np.random.Generator, balls: list[Sphere]):
    count = balls[0].shape[0]
    start, end = rng.random((2, 2, count, 3))
    end = np.where(rng.random((2, count, 1)) < 0.5, start, end)
    return zip(balls, (start[0], end[0], start[1], end[1]), strict=True)


# --- spheres: the time of impact -------------------------------------------------------------------------


def test_fast_sphere_through_another_is_found_inside_the_interval():
    # Centres 10 apart at the start, radii 1 + 1, 20 in one interval: (10 - 2) / 20 and (10 + 2) / 20.
    enter, leave = overlap_span(*passing_by(-10, 10, 0))
    assert enter == pytest.approx(0.4, rel=1e-15)
    assert leave == pytest.approx(0.6, rel=1e-15)


def test_sphere_passing_at_a_height_meets_where_pythagoras_says():
    # Height 1.2 of a reach of 2 leaves sqrt(4 - 1.44) = 1.6 along x: (10 - 1.6) / 20.
    enter, leave = overlap_span(*passing_by(-10, 10, 1.2))
    assert enter == pytest.approx(0.42, rel=1e-14)
    assert leave == pytest.approx(0.58, rel=1e-14)


@pytest.mark.parametrize(
    ("what", "motion", "expected"),
    [
        ("grazing at one instant", passing_by(-8, 8, 2), 0.5),
        ("missing by a hair", passing_by(-8, 8, np.nextafter(2, 3)), math.nan),
        ("touching at the start, then receding", passing_by(2, 8, 0), 0.0),
        ("overlapping at the start, then receding", passing_by(1.5, 8, 0), 0.0),
        ("touching exactly at the end", passing_by(8, 2, 0), 1.0),
        ("not quite there at the end", passing_by(8, np.nextafter(2, 3), 0), math.nan),
        ("receding", passing_by(3, 8, 0), math.nan),
        ("stopping short", passing_by(9, 3, 0), math.nan),
        ("at rest and apart", passing_by(3, 3, 0), math.nan),
        ("at rest and touching", passing_by(2, 2, 0), 0.0),
        ("grazing at rest at one height", passing_by(0, 0, 2), 0.0),
    ],
)
def test_spheres_at_the_edge_of_contact(what, motion, expected):
    for order in (motion, swapped(motion)):
        assert np.array_equal(time_of_impact(*order), expected, equal_nan=True), what


def test_touching_exactly_at_the_end_off_the_axes():
    # (2, 3, 6) has length 7 = 3 + 4.
    motion = spheres(([0, 0, 0], 3), ([0, 0, 0], 3), ([20, 30, 60], 4), ([2, 3, 6], 4))
    assert overlap_span(*motion) == (1.0, 1.0)


def test_spheres_moving_alike_have_the_static_answer():
    shift = np.array([1e3, -7, 0.1])
    for distance, expected in ((1.5, 0.0), (2.5, math.nan)):
        start = np.array([distance, 0, 0])
        motion = spheres(([0, 0, 0], 1), (shift, 1), (start, 1), (start + shift, 1))
        assert np.array_equal(time_of_impact(*motion), expected, equal_nan=True)


def test_growing_spheres_meet_without_moving():
    # Reach 2 + 16 t against a distance of 10.
    motion = spheres(([0, 0, 0], 1), ([0, 0, 0], 9), ([0, 10, 0], 1), ([0, 10, 0], 9))
    assert overlap_span(*motion) == (0.5, 1.0)
    # Shrinking again they part at the mirrored time.
    assert overlap_span(*reversed_in_time(motion)) == (0.0, 0.5)


def test_sphere_that_grows_as_fast_as_it_flies():
    # Moving off at 6, growing by 6: |10 + 6 t| = 2 + 6 t never. Coming at 6: 10 - 6 t = 2 + 6 t at 2 / 3.
    away = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 1), ([16, 0, 0], 7))
    assert np.isnan(time_of_impact(*away))
    coming = spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([10, 0, 0], 1), ([4, 0, 0], 7))
    assert time_of_impact(*coming) == pytest.approx(2 / 3, rel=1e-15)


@settings(max_examples=400)
@given(BALL, BALL, BALL, BALL)
def test_sphere_times_against_exact_rationals(a_start, a_end, b_start, b_end):
    truth = exact.SphereMotion(a_start, a_end, b_start, b_end)
    found = float(time_of_impact(*spheres(a_start, a_end, b_start, b_end)))
    if truth.C > 0 and truth.least == 0 and truth.f(1) > 0:
        # Grazing on a slant: one rounding decides whether it is seen, but not when.
        assert math.isnan(found) or found == pytest.approx(truth.first, abs=1e-6)
    elif truth.first is None:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(truth.first, abs=1e-12)
        assert (found == 0) == (truth.C <= 0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_random_spheres_against_exact_rationals(scale, offset):
    rng = np.random.default_rng(7)
    motion = [Sphere((s.center + offset) * scale, s.radius * scale) for s in random_spheres(rng, 300)]
    found = time_of_impact(*motion)
    assert 50 < np.isnan(found).sum() < 250
    for i, time in enumerate(found.tolist()):
        truth = exact.SphereMotion(*[(s.center[i], s.radius[i]) for s in motion])
        assert math.isnan(time) == (truth.first is None)
        if truth.first is not None:
            assert time == pytest.approx(truth.first, abs=1e-12)
            # And directly: the quadratic is about zero there, positive a moment before.
            assert time == 0 or abs(truth.f(time)) <= Fraction(1, 10**12) * truth.scale
            assert time <= 1e-6 or truth.f(time - 1e-6) > 0


def test_near_misses_and_near_hits_at_a_million_radii_are_told_apart_in_float32():
    # Radii of 1 cross 2 million per interval. The float32 positions round to 1/16, so that closest approaches
    # fall on both sides of the reach; the exact quadratic says which.
    rng = np.random.default_rng(8)
    count = 400
    along = rng.normal(size=(count, 3))
    along /= np.linalg.norm(along, axis=1)[:, None]
    across = np.cross(along, rng.normal(size=(count, 3)))
    across *= 2 * (1 + rng.normal(size=(count, 1)) * 0.01) / np.linalg.norm(across, axis=1)[:, None]
    start = (across - along * 1e6).astype(np.float32)
    end = (across + along * 1e6).astype(np.float32)
    still, radius = np.zeros((count, 3), np.float32), np.float32(1)
    motion = [Sphere(still, radius), Sphere(still, radius), Sphere(start, radius), Sphere(end, radius)]
    found = time_of_impact(*motion)
    hits = 0
    for i in range(count):
        truth = exact.SphereMotion((still[i], 1), (still[i], 1), (start[i], 1), (end[i], 1))
        hits += truth.first is not None
        assert math.isnan(found[i]) == (truth.first is None)
        if truth.first is not None:
            assert found[i] == pytest.approx(truth.first, abs=1e-12)
    assert 100 < hits < 300


# --- boxes: the time of impact ---------------------------------------------------------------------------

UNIT = ([0, 0, 0], [1, 1, 1])


def box_flying(start: list[float], end: list[float]) -> list[Aabb]:
    """The unit box at rest, and another unit box whose low corner moves."""
    return aabbs(UNIT, UNIT, (start, np.add(start, 1)), (end, np.add(end, 1)))


@pytest.mark.parametrize(
    ("what", "motion", "expected"),
    [
        # The near faces are 9 apart at x; 16 per interval.
        ("through", box_flying([10, 0, 0], [-6, 0, 0]), (9 / 16, 11 / 16)),
        ("grazing an edge's side", box_flying([10, 1, 0], [-6, 1, 0]), (9 / 16, 11 / 16)),
        ("missing by a hair", box_flying([10, np.nextafter(1, 2), 0], [-6, np.nextafter(1, 2), 0]), None),
        # x closes at t = 1/3 just as y opens at t = 1/3: corners pass through one point.
        ("corner to corner at an instant", box_flying([2, 0, 0], [-1, 3, 0]), (1 / 3, 1 / 3)),
        ("touching at the start, then receding", box_flying([1, 0, 0], [5, 0, 0]), (0, 0)),
        ("touching exactly at the end", box_flying([5, 0, 0], [1, 0, 0]), (1, 1)),
        ("receding", box_flying([2, 0, 0], [5, 0, 0]), None),
        ("stopping short", box_flying([5, 0, 0], [1.001, 0, 0]), None),
        ("at rest and apart", box_flying([0, 0, 1.5], [0, 0, 1.5]), None),
        ("at rest and touching at a corner", box_flying([1, 1, 1], [1, 1, 1]), (0, 1)),
        ("at rest and identical", box_flying([0, 0, 0], [0, 0, 0]), (0, 1)),
    ],
)
def test_boxes_at_the_edge_of_contact(what, motion, expected):
    expected = expected or (math.nan, math.nan)
    for order in (motion, swapped(motion)):
        assert np.array_equal(overlap_span(*order), expected, equal_nan=True), what
        assert np.array_equal(time_of_impact(*order), expected[0], equal_nan=True), what


def test_growing_box_reaches_its_neighbour():
    # The top face rises from 1 to 9, the neighbour waits at 3: t = 2 / 8.
    motion = aabbs(UNIT, ([0, 0, 0], [1, 1, 9]), ([0, 0, 3], [1, 1, 4]), ([0, 0, 3], [1, 1, 4]))
    assert overlap_span(*motion) == (0.25, 1.0)


def test_boxes_moving_alike_have_the_static_answer():
    shift = np.array([1024.0, -8, 0.5])
    for low, expected in ((0.5, 0.0), (1.5, math.nan)):
        start = (np.array([low, 0, 0]), np.array([low + 1, 1, 1]))
        motion = aabbs(UNIT, (shift, shift + 1), start, (start[0] + shift, start[1] + shift))
        assert np.array_equal(time_of_impact(*motion), expected, equal_nan=True)


@settings(max_examples=400)
@given(boxes(), boxes(), boxes(), boxes())
def test_box_spans_against_exact_rationals(a_start, a_end, b_start, b_end):
    # Gaps of quarters are exact and a quotient is rounded once: grazing is decided without any error.
    truth = exact.box_overlap_span(a_start, a_end, b_start, b_end)
    enter, leave = overlap_span(*aabbs(a_start, a_end, b_start, b_end))
    if truth is None:
        assert math.isnan(enter)
        assert math.isnan(leave)
    else:
        assert enter == float(truth.enter)
        assert leave == float(truth.leave)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_random_boxes_against_exact_rationals(scale):
    motion = [Aabb(b.min * scale, b.max * scale) for b in random_boxes(np.random.default_rng(9), 400)]
    enter, leave = overlap_span(*motion)
    assert 50 < np.isnan(enter).sum() < 350
    for i in range(400):
        truth = exact.box_overlap_span(*[(b.min[i], b.max[i]) for b in motion])
        assert math.isnan(enter[i]) == math.isnan(leave[i]) == (truth is None)
        if truth is not None:
            assert enter[i] == pytest.approx(float(truth.enter), abs=1e-14)
            assert leave[i] == pytest.approx(float(truth.leave), abs=1e-14)


# --- what holds for both ---------------------------------------------------------------------------------

KINDS = {"spheres": random_spheres, "boxes": random_boxes}


@pytest.mark.parametrize("kind", KINDS)
def test_first_and_second_shape_may_trade_places(kind):
    motion = KINDS[kind](np.random.default_rng(10), 3000)
    assert np.array_equal(time_of_impact(*motion), time_of_impact(*swapped(motion)), equal_nan=True)
    np.testing.assert_allclose(closest_time(*motion), closest_time(*swapped(motion)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_going_back_in_time_the_last_contact_is_the_first(kind):
    motion = KINDS[kind](np.random.default_rng(11), 3000)
    enter, leave = overlap_span(*motion)
    back_enter, back_leave = overlap_span(*reversed_in_time(motion))
    np.testing.assert_allclose(back_enter, 1 - leave, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back_leave, 1 - enter, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clearance", [0.0, 0.3])
def test_spans_lie_in_the_interval_and_join_their_neighbours_without_a_seam(kind, clearance):
    motion = KINDS[kind](np.random.default_rng(12), 3000)
    enter, leave = overlap_span(*motion, clearance=clearance)
    found = ~np.isnan(enter)
    assert np.array_equal(found, ~np.isnan(leave))
    assert ((enter[found] >= 0) & (enter[found] <= leave[found]) & (leave[found] <= 1)).all()
    a_start, a_end, b_start, b_end = motion
    for times, bound, a, b in ((enter, 0, a_start, b_start), (leave, 1, a_end, b_end)):
        near = separation(a, b) <= clearance
        sure = np.abs(separation(a, b) - clearance) > 1e-12
        assert np.array_equal((times == bound)[sure], near[sure])
        assert 50 < near.sum() < 2950


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("clearance", [0.0, 0.25])
def test_spans_agree_with_dense_sampling(kind, clearance):
    motion = KINDS[kind](np.random.default_rng(13), 500)
    a_start, a_end, b_start, b_end = motion
    enter, leave = overlap_span(*motion, clearance=clearance)
    steps = 400
    for step in range(steps + 1):
        time = np.full(500, step / steps)
        gap = separation(at(a_start, a_end, time), at(b_start, b_end, time)) - clearance
        inside = (enter <= time) & (time <= leave)
        sure = np.abs(gap) > 1e-9
        assert np.array_equal(inside[sure], (gap <= 0)[sure])


@pytest.mark.parametrize("kind", KINDS)
def test_no_sampled_time_is_closer_than_the_closest(kind):
    motion = KINDS[kind](np.random.default_rng(14), 2000)
    a_start, a_end, b_start, b_end = motion
    best = closest_time(*motion)
    assert ((best >= 0) & (best <= 1)).all()
    assert ((best > 0) & (best < 1)).sum() > 500
    least = separation(at(a_start, a_end, best), at(b_start, b_end, best))
    for step in np.linspace(0, 1, 301):
        time = np.full(2000, step)
        gap = separation(at(a_start, a_end, time), at(b_start, b_end, time))
        assert (least <= gap + 1e-13).all()
        # "First": no earlier time is as near, but for rounding.
        assert (gap[step < best - 1e-3] > least[step < best - 1e-3] - 1e-13).all()


@pytest.mark.parametrize(
    ("what", "motion", "expected"),
    [
        ("sphere passing by", passing_by(-4, 12, 5), 0.25),
        ("sphere passing through", passing_by(-4, 12, 1), 0.25),
        ("sphere receding", passing_by(4, 12, 0), 0.0),
        ("sphere approaching", passing_by(12, 4, 0), 1.0),
        ("sphere at rest", passing_by(4, 4, 0), 0.0),
        # Gap 4 - |8 t - 4| + ... : growing from radius 1 to 9 while still: nearest at the end.
        ("sphere growing", spheres(([0, 0, 0], 1), ([0, 0, 0], 9), ([20, 0, 0], 1), ([20, 0, 0], 1)), 1.0),
        ("box passing a face keeps its gap while beside it", box_flying([-3, 2, 0], [5, 2, 0]), 0.25),
        ("box passing a corner", box_flying([3, 1.5, 0], [1.5, 3, 0]), 0.5),
        ("box sliding along a face", box_flying([0, 1, 0], [0.5, 1, 0]), 0.0),
        # Deepest where the overlap on x reaches the 0.5 on y: x overlap 4 t - 1 = 0.5.
        ("box sinking in", box_flying([2, 0.5, 0], [-2, 0.5, 0]), 0.375),
    ],
)
def test_closest_time_is_the_first_of_the_closest(what, motion, expected):
    assert closest_time(*motion) == pytest.approx(expected, abs=1e-15), what


def test_float32_input_is_widened_before_it_is_subtracted():
    # 1e8 + 8 is a float32, and so is 1e8; but 1e8 + 8 + 0.5 (the sum of a centre and a radius) is not.
    motion = [
        Sphere(np.float32([1e8, 0, 0]), np.float32(0.5)),
        Sphere(np.float32([1e8, 0, 0]), np.float32(0.5)),
        Sphere(np.float32([1e8 + 8, 0, 0]), np.float32(0.25)),
        Sphere(np.float32([1e8, 0, 0]), np.float32(0.25)),
    ]
    assert time_of_impact(*motion) == (8 - 0.75) / 8


def test_one_shape_meets_a_whole_batch():
    still = Sphere([0, 0, 0], 1)
    x = np.array([4.0, 8.0, 1.0, 40.0])
    start = Sphere(np.stack([x, 0 * x, 0 * x], axis=1), 1)
    end = Sphere(np.zeros((4, 3)), 1)
    # (x - 2) / x, and 0 for the one that overlaps already.
    np.testing.assert_allclose(time_of_impact(still, still, start, end), [0.5, 0.75, 0, 0.95], rtol=1e-15)


# --- clearance -------------------------------------------------------------------------------------------


def test_clearance_around_a_sphere_is_more_radius():
    # Reach 2 + 1 at x: (10 - 3) / 20.
    enter, leave = overlap_span(*passing_by(-10, 10, 0), clearance=1.0)
    assert enter == pytest.approx(0.35, rel=1e-15)
    assert leave == pytest.approx(0.65, rel=1e-15)
    assert np.isnan(overlap_span(*passing_by(-10, 10, 2.5))[0])
    assert overlap_span(*passing_by(-8, 8, 2.5), clearance=0.5)[0] == 0.5


def test_clearance_around_a_box_is_euclidean_at_the_corners():
    # The corner gap shrinks from (6, 8, 0), 10 long, to nothing: 5 is left at half time.
    enter, leave = overlap_span(*box_flying([7, 9, 0], [1, 1, 0]), clearance=5.0)
    assert enter == pytest.approx(0.5, abs=2e-15)
    assert enter <= 0.5
    assert leave == 1
    # Passing a corner at a gap of (1, 1, 0), 1.414 long. Boxes grown by 1.4 would meet.
    passing = box_flying([2 + 4, 2 - 4, 0], [2 - 4, 2 + 4, 0])
    assert separation(*(at(passing[i], passing[i + 1], np.float64(0.5)) for i in (0, 2))) == math.sqrt(2)
    assert np.isnan(overlap_span(*passing, clearance=1.4)).all()
    enter, leave = overlap_span(*passing, clearance=1.5)
    # |(1 - 8 s, 1 + 8 s)| = 1.5 for s = t - 0.5: 2 + 128 s^2 = 2.25, s = 0.0442.
    assert enter == pytest.approx(0.5 - math.sqrt(0.25 / 128), abs=1e-14)
    assert leave == pytest.approx(0.5 + math.sqrt(0.25 / 128), abs=1e-14)


def test_clearance_at_rest_holds_for_the_whole_interval():
    motion = box_flying([1.5, 0, 0], [1.5, 0, 0])
    assert overlap_span(*motion, clearance=0.5) == (0.0, 1.0)
    assert np.isnan(overlap_span(*motion, clearance=0.49)[0])


# --- positions, kinds ------------------------------------------------------------------------------------


def test_positions_at_both_ends_are_exactly_the_samples():
    rng = np.random.default_rng(15)
    a, b, *_ = random_boxes(rng, 100)
    for time, expected in ((0.0, a), (1.0, b)):
        box = at(a, b, np.full(100, time))
        assert np.array_equal(box.min, expected.min)
        assert np.array_equal(box.max, expected.max)


@pytest.mark.parametrize("query", [time_of_impact, overlap_span, closest_time])
def test_a_pair_of_kinds_without_a_method_is_refused_by_name(query):
    segment, box = Segment([0, 0, 0], [1, 0, 0]), Aabb([0, 0, 0], [1, 1, 1])
    with pytest.raises(InvalidShapeError, match="Segment and Aabb"):
        query(segment, segment, box, box)


def test_overlap_at_the_found_time_is_real():
    motion = random_boxes(np.random.default_rng(16), 500)
    a_start, a_end, b_start, b_end = motion
    enter, leave = overlap_span(*motion)
    found = ~np.isnan(enter)
    middle = np.where(found, (enter + leave) / 2, 0)
    assert overlaps(at(a_start, a_end, middle), at(b_start, b_end, middle))[found].all()


def test_sphere_scaled_about_a_pivot_on_its_surface_is_not_late():
    # Box 1 x 3 x 4 with its origin in a corner, scaled from 1 to 4: the centre moves as fast as the
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
