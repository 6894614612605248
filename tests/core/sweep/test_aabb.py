"""Sweeps of axis-aligned boxes, and of spheres and boxes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Aabb, Sphere, closest_time, overlap_span, overlaps, separation, time_of_impact
from addon.core.sweep.interpolation import at
from tests.core import scenes
from tests.core.motions import (
    UNIT,
    aabbs,
    boxes_passing,
    random_boxes,
    random_sphere_and_box,
    reversed_in_time,
    scaled,
    separation_at,
    swapped,
    take_rows,
)
from tests.core.sweep.exact_sweeps import GapMotion, box_overlap_span
from tests.tiers import examples, times

pytestmark = pytest.mark.filterwarnings("error")

BALL = st.tuples(scenes.POINT, scenes.SIZE)


def faces(box: Aabb, index: int | None = None) -> tuple:
    return (box.min, box.max) if index is None else (box.min[index], box.max[index])


def ball_at_unit_box(start: list[float], end: list[float], radius: float = 1.0, grown: float | None = None):
    """Sphere in motion past the unit box at rest."""
    return [Sphere(start, radius), Sphere(end, radius if grown is None else grown), *aabbs(UNIT, UNIT)]


def assert_time_matches(found: float, truth: GapMotion, tolerance: float = 1e-12) -> None:
    """Assert that the time is the first root; the value may be ill-conditioned, the residual is not."""
    if math.isnan(found) or truth.first is None:
        assert math.isnan(found) == (truth.first is None) or abs(truth.minimum) <= tolerance * truth.scale
    else:
        assert (found == 0) == (truth.first == 0)
        assert found == 0 or abs(truth.f(found)) <= tolerance * truth.scale
        assert found == pytest.approx(truth.first, abs=1e-7)


# --- two boxes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        # The near faces are 9 apart at x; 16 per interval.
        ("through", boxes_passing([10, 0, 0], [-6, 0, 0]), (9 / 16, 11 / 16)),
        ("grazing an edge's side", boxes_passing([10, 1, 0], [-6, 1, 0]), (9 / 16, 11 / 16)),
        ("near miss", boxes_passing([10, np.nextafter(1, 2), 0], [-6, np.nextafter(1, 2), 0]), None),
        # x closes at t = 1/3 just as y opens at t = 1/3: corners pass through one point.
        ("corner to corner at an instant", boxes_passing([2, 0, 0], [-1, 3, 0]), (1 / 3, 1 / 3)),
        ("touching at the start, then receding", boxes_passing([1, 0, 0], [5, 0, 0]), (0, 0)),
        ("touching exactly at the end", boxes_passing([5, 0, 0], [1, 0, 0]), (1, 1)),
        ("nearly touching at the end", boxes_passing([5, 0, 0], [np.nextafter(1, 2), 0, 0]), None),
        ("receding", boxes_passing([2, 0, 0], [5, 0, 0]), None),
        ("stopping short", boxes_passing([5, 0, 0], [1.001, 0, 0]), None),
        ("at rest and apart", boxes_passing([0, 0, 1.5], [0, 0, 1.5]), None),
        ("at rest and touching at a corner", boxes_passing([1, 1, 1], [1, 1, 1]), (0, 1)),
        ("at rest and identical", boxes_passing([0, 0, 0], [0, 0, 0]), (0, 1)),
    ],
)
def test_boxes_at_limit_of_contact(scenario, motion, expected):
    expected = expected or (math.nan, math.nan)
    for order in (motion, swapped(motion)):
        assert np.array_equal(overlap_span(*order), expected, equal_nan=True), scenario
        assert np.array_equal(time_of_impact(*order), expected[0], equal_nan=True), scenario


def test_growing_box_reaches_neighbor():
    # The top face rises from 1 to 9, the neighbor is at 3: t = 2 / 8.
    motion = aabbs(UNIT, ([0, 0, 0], [1, 1, 9]), ([0, 0, 3], [1, 1, 4]), ([0, 0, 3], [1, 1, 4]))
    assert overlap_span(*motion) == (0.25, 1.0)


def test_boxes_without_relative_motion_match_static_overlap():
    shift = np.array([1024.0, -8, 0.5])
    for low, expected in ((0.5, 0.0), (1.5, math.nan)):
        start = (np.array([low, 0, 0]), np.array([low + 1, 1, 1]))
        motion = aabbs(UNIT, (shift, shift + 1), start, (start[0] + shift, start[1] + shift))
        assert np.array_equal(time_of_impact(*motion), expected, equal_nan=True)


@examples(133, full=400)
@given(scenes.boxes(), scenes.boxes(), scenes.boxes(), scenes.boxes())
def test_box_spans_match_exact_rationals(a_start, a_end, b_start, b_end):
    # Gaps of quarters are exact and a quotient is rounded once, so grazing is decided exactly.
    motion = [a_start, a_end, b_start, b_end]
    truth = box_overlap_span(*map(faces, motion))
    enter, leave = overlap_span(*motion)
    if truth is None:
        assert math.isnan(enter)
        assert math.isnan(leave)
    else:
        assert enter == float(truth.enter)
        assert leave == float(truth.leave)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_random_moving_growing_boxes_match_exact_rationals(scale):
    motion = [Aabb(b.min * scale, b.max * scale) for b in random_boxes(np.random.default_rng(9), 400)]
    enter, leave = overlap_span(*motion)
    assert 50 < np.isnan(enter).sum() < 350
    for i in range(400):
        truth = box_overlap_span(*(faces(b, i) for b in motion))
        assert math.isnan(enter[i]) == math.isnan(leave[i]) == (truth is None)
        if truth is not None:
            assert enter[i] == pytest.approx(float(truth.enter), abs=1e-14)
            assert leave[i] == pytest.approx(float(truth.leave), abs=1e-14)


@pytest.mark.smoke
def test_boxes_overlap_in_middle_of_span():
    motion = random_boxes(np.random.default_rng(16), 500)
    enter, leave = overlap_span(*motion)
    found = ~np.isnan(enter)
    assert (separation_at(motion, np.where(found, (enter + leave) / 2, 0))[found] <= 0).all()


@pytest.mark.smoke
def test_contact_just_before_end_is_not_at_end():
    # The last face opens within 1e-20 of the end or the start. Float64 cannot represent that time, but the
    # result must be consistent with adjacent intervals.
    leaving = boxes_passing([0, 0, 0], [1 + 2**-52, 0, 0])
    assert not overlaps(leaving[1], leaving[3])
    for motion in (leaving, reversed_in_time(leaving)):
        for clearance in (0.0, 2.0**-60):
            enter, leave = overlap_span(*motion, clearance=clearance)
            gap_start, gap_end = separation(motion[0], motion[2]), separation(motion[1], motion[3])
            assert (enter == 0) == (gap_start <= clearance)
            assert (leave == 1) == (gap_end <= clearance)


# --- two boxes with a clearance --------------------------------------------------------------------------


def test_clearance_of_boxes_is_euclidean_at_corners():
    # The corner gap shrinks from (6, 8, 0), of length 10, to 0: it is 5 at half time.
    enter, leave = overlap_span(*boxes_passing([7, 9, 0], [1, 1, 0]), clearance=5.0)
    assert enter == 0.5
    assert leave == 1
    # Passing a corner at a gap of (1, 1, 0), of length 1.414. Boxes inflated by 1.4 would overlap.
    passing = boxes_passing([2 + 4, 2 - 4, 0], [2 - 4, 2 + 4, 0])
    assert separation_at(passing, 0.5) == math.sqrt(2)
    assert np.isnan(overlap_span(*passing, clearance=1.4)).all()
    enter, leave = overlap_span(*passing, clearance=1.5)
    # |(1 - 8 s, 1 + 8 s)| = 1.5 for s = t - 0.5: 2 + 128 s^2 = 2.25, s = 0.0442.
    assert enter == pytest.approx(0.5 - math.sqrt(0.25 / 128), abs=1e-15)
    assert leave == pytest.approx(0.5 + math.sqrt(0.25 / 128), abs=1e-15)


def test_boxes_at_rest_within_clearance_span_whole_interval():
    motion = boxes_passing([1.5, 0, 0], [1.5, 0, 0])
    assert overlap_span(*motion, clearance=0.5) == (0.0, 1.0)
    assert np.isnan(overlap_span(*motion, clearance=0.49)[0])


@examples(100, full=300)
@given(scenes.boxes(), scenes.boxes(), scenes.boxes(), scenes.boxes(), st.sampled_from([0.25, 1.0, 3.0, 5.0]))
def test_spans_with_clearance_match_exact_rationals(a_start, a_end, b_start, b_end, clearance):
    motion = [a_start, a_end, b_start, b_end]
    enter, leave = overlap_span(*motion, clearance=clearance)
    back = GapMotion.of_boxes(*map(faces, reversed_in_time(motion)), clearance)
    assert_time_matches(float(enter), GapMotion.of_boxes(*map(faces, motion), clearance))
    assert_time_matches(float(1 - leave), back)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_random_spans_with_clearance_match_exact_rationals_forward_and_backward(scale):
    motion = [Aabb(b.min * scale, b.max * scale) for b in random_boxes(np.random.default_rng(31), 300)]
    clearance = 0.3 * scale
    enter, leave = overlap_span(*motion, clearance=clearance)
    assert 30 < np.isnan(enter).sum() < 250
    assert ((enter > 0) & (leave < 1)).sum() > 10
    for i in range(times(150, 60, full=300)):
        ends = [faces(b, i) for b in motion]
        assert_time_matches(float(enter[i]), GapMotion.of_boxes(*ends, clearance))
        assert_time_matches(float(1 - leave[i]), GapMotion.of_boxes(*reversed_in_time(ends), clearance))


# --- a sphere and a box ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        # The face is at x = 1: the center is a radius away at x = 2. 10 - 16 t = 2.
        ("onto a face", ball_at_unit_box([10, 0.5, 0.5], [-6, 0.5, 0.5]), 0.5),
        # Offset (0.6, 0.8) from the edge x = y = 1: the center is at (1.6, 1.8).
        ("onto an edge", ball_at_unit_box([1.6 + 4, 1.8, 0.5], [1.6 - 4, 1.8, 0.5]), 0.5),
        # Offset (2, 3, 6), of length 7, from the corner (1, 1, 1).
        ("onto a corner", ball_at_unit_box([3 + 16, 4, 7], [3 - 16, 4, 7], 7), 0.5),
        ("grazing a face", ball_at_unit_box([10, 0.5, 2], [-10, 0.5, 2]), 9 / 20),
        # Through (1 + 3, 1 + 4), perpendicular to (3, 4), with a radius of 5.
        ("grazing an edge", ball_at_unit_box([4 + 4, 5 - 3, 0.5], [4 - 4, 5 + 3, 0.5], 5), 0.5),
        # Through (3, 4, 7), perpendicular to (2, 3, 6), with a radius of 7.
        ("grazing a corner", ball_at_unit_box([3 + 3, 4 - 2, 7], [3 - 3, 4 + 2, 7], 7), 0.5),
        ("near miss of an edge", ball_at_unit_box([8, 2, 0.5], [0, 8, 0.5], 5 - 1e-13), math.nan),
        ("near miss of a corner", ball_at_unit_box([6, 2, 7], [0, 6, 7], 7 - 1e-13), math.nan),
        ("starting inside", ball_at_unit_box([0.5, 0.5, 0.5], [9, 9, 9]), 0.0),
        ("touching with the center outside", ball_at_unit_box([2, 0.5, 0.5], [9, 9, 9]), 0.0),
        ("touching exactly at the end", ball_at_unit_box([9, 0.5, 0.5], [2, 0.5, 0.5]), 1.0),
        (
            "nearly touching at the end",
            ball_at_unit_box([9, 0.5, 0.5], [np.nextafter(2, 3), 0.5, 0.5]),
            math.nan,
        ),
        # The edge at (1, 1) is (3, 4) away, and then 4e-15 farther.
        ("touching an edge at the end", ball_at_unit_box([12, 13, 0.5], [4, 5, 0.5], 5), 1.0),
        (
            "nearly touching an edge at the end",
            ball_at_unit_box([12, 13, 0.5], [4, 5 + 2**-47, 0.5], 5),
            math.nan,
        ),
        ("at rest", ball_at_unit_box([3, 0.5, 0.5], [3, 0.5, 0.5]), math.nan),
        ("at rest, touching", ball_at_unit_box([2, 0.5, 0.5], [2, 0.5, 0.5]), 0.0),
        # 2 + 16 t - 1 = 9 - 1: by growth alone.
        ("growing", ball_at_unit_box([10, 0.5, 0.5], [10, 0.5, 0.5], 1, 17), 0.5),
        # The radius grows faster than the sphere recedes: 9 + 4 t = 1 + 12 t at 1.
        ("growing as it flees", ball_at_unit_box([10, 0.5, 0.5], [14, 0.5, 0.5], 1, 13), 1.0),
        ("a point", ball_at_unit_box([10, 0.5, 0.5], [-6, 0.5, 0.5], 0), 9 / 16),
    ],
)
def test_sphere_and_box_at_limit_of_contact(scenario, motion, expected):
    for order in (motion, swapped(motion)):
        found = time_of_impact(*order)
        # At a graze the time has half of its digits, because it is a double root.
        is_ill_conditioned = "onto" in scenario or "grazing" in scenario
        assert found == pytest.approx(expected, abs=1e-7 if is_ill_conditioned else 0, nan_ok=True), scenario


def test_growing_box_reaches_sphere_at_rest():
    # The face rises from 1 to 9, the lowest point of the sphere is at 3.
    ball = Sphere([0.5, 0.5, 4], 1)
    assert time_of_impact(ball, ball, *aabbs(UNIT, ([0, 0, 0], [1, 1, 9]))) == 0.25
    # The corner (1, 1, 1) moves to (5, 5, 1). At (2, 2, 1) it touches the sphere of radius 1 at (2.6, 2.8,
    # 1).
    ball = Sphere([2.6, 2.8, 1], 1.0)
    found = time_of_impact(ball, ball, *aabbs(UNIT, ([0, 0, 0], [5, 5, 1])))
    assert found == pytest.approx(0.25, abs=1e-15)


@examples(100, full=300)
@given(BALL, BALL, scenes.boxes(), scenes.boxes())
def test_sphere_and_box_times_match_exact_rationals(a_start, a_end, b_start, b_end):
    found = time_of_impact(Sphere(*a_start), Sphere(*a_end), b_start, b_end)
    assert_time_matches(
        float(found), GapMotion.of_sphere_and_box(a_start, a_end, faces(b_start), faces(b_end))
    )


def exact_motions(motion: list) -> list[GapMotion]:
    balls = [list(zip(s.center, s.radius, strict=True)) for s in motion[:2]]
    boxes = [list(zip(b.min, b.max, strict=True)) for b in motion[2:]]
    return [GapMotion.of_sphere_and_box(*ends) for ends in zip(*balls, *boxes, strict=True)]


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_random_moving_growing_spheres_and_boxes_match_exact_rationals(scale):
    motion = scaled(random_sphere_and_box(np.random.default_rng(32), 400), scale)
    found = time_of_impact(*motion)
    assert 50 < np.isnan(found).sum() < 350
    assert (found > 0).sum() > 50
    subset = slice(times(200, 80, full=400))
    for time, truth in zip(found[subset].tolist(), exact_motions(take_rows(motion, subset)), strict=True):
        assert_time_matches(time, truth)


def test_near_misses_of_edges_and_corners_are_distinguished_from_hits():
    # Aimed past a corner or an edge, with a miss distance down to 1e-15 of the radius.
    rng = np.random.default_rng(33)
    count = 1200
    half = rng.uniform(0.2, 2, (count, 3))
    along = scenes.random_directions(rng, count)
    across = np.cross(along, scenes.random_directions(rng, count))
    across /= np.linalg.norm(across, axis=1)[:, None]
    across[::3] *= rng.permuted(np.tile([1, 1, 0], (count // 3, 1)), axis=1)
    across /= np.linalg.norm(across, axis=1)[:, None]
    radius = rng.uniform(0.1, 1, count)
    off = 1 + rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-15, -2, count)
    middle = np.sign(across) * half + across * (radius * off)[:, None]
    motion = [
        Sphere(middle - 3 * along, radius),
        Sphere(middle + 2 * along, radius),
        *[Aabb(-half, half)] * 2,
    ]
    found = time_of_impact(*motion)
    assert 300 < np.isnan(found).sum() < 900
    subset = slice(times(count, 200))
    for time, truth in zip(found[subset].tolist(), exact_motions(take_rows(motion, subset)), strict=True):
        assert_time_matches(time, truth)


def test_sphere_and_box_times_match_dense_sampling():
    motion = random_sphere_and_box(np.random.default_rng(34), 3000)
    ball0, ball1, box0, box1 = motion
    found = time_of_impact(*motion)
    first = np.full(3000, np.nan)
    for t in np.linspace(0, 1, 401):
        low, high = box0.min * (1 - t) + box1.min * t, box0.max * (1 - t) + box1.max * t
        center = ball0.center * (1 - t) + ball1.center * t
        reach = ball0.radius * (1 - t) + ball1.radius * t
        inside = np.linalg.norm(center - np.clip(center, low, high), axis=1) <= reach
        first = np.where(inside & np.isnan(first), t, first)
    hit = ~np.isnan(first)
    assert hit.sum() > 500
    assert ((found <= first + 1e-12) & (found >= first - 1 / 400 - 1e-12))[hit].all()
    # Impacts between the samples are real contacts.
    rest = ~hit & ~np.isnan(found)
    assert (np.abs(separation_at(motion, np.nan_to_num(found)))[rest] < 1e-12).all()


def test_time_from_million_radii_is_accurate_to_rounding_of_path():
    # Onto a face of the box at any angle: the gap is linear, and so is the exact time.
    rng = np.random.default_rng(35)
    count = 500
    start = np.column_stack([1e6 * rng.uniform(0.3, 1, count), rng.normal(size=(count, 2)) * 1e3])
    end = np.column_stack([-rng.uniform(0, 1e6, count), rng.normal(size=(count, 2)) * 1e3])
    box = Aabb([-1, -1e5, -1e5], [1, 1e5, 1e5])
    found = time_of_impact(Sphere(start, 1), Sphere(end, 1), box, box)
    for time, x0, x1 in zip(found.tolist(), start[:, 0].tolist(), end[:, 0].tolist(), strict=True):
        exact = (Fraction(x0) - 2) / (Fraction(x0) - Fraction(x1))
        assert abs(Fraction(time) - exact) * Fraction(x0 - x1) <= Fraction(1, 10**9)


# --- when two boxes are closest --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        ("passing a face: constant gap along it", boxes_passing([-3, 2, 0], [5, 2, 0]), 0.25),
        ("passing a corner", boxes_passing([3, 1.5, 0], [1.5, 3, 0]), 0.5),
        ("sliding along a face", boxes_passing([0, 1, 0], [0.5, 1, 0]), 0.0),
        # Deepest where the overlap on x reaches the 0.5 of y: the x overlap is 4 t - 1 = 0.5.
        ("sinking in", boxes_passing([2, 0.5, 0], [-2, 0.5, 0]), 0.375),
    ],
)
@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**1000])
def test_closest_time_of_boxes_is_first_minimum(scenario, motion, expected, scale):
    assert closest_time(*scaled(motion, scale)) == pytest.approx(expected, abs=1e-15), scenario


@pytest.mark.parametrize("is_on_grid", [False, True])
def test_closest_time_is_the_first_with_the_least_separation_of_a_dense_search(is_on_grid):
    rng, count = np.random.default_rng(4), 4000

    def random_boxes(step):
        center, half = rng.normal(size=(count, 3)) * step, rng.random((count, 3))
        if is_on_grid:
            # Gaps that are equal, that stay constant, and that open at 0.
            center, half = np.round(center * 2) / 2, np.round(half * 2) / 2
        return Aabb(center - half, center + half)

    motion = [random_boxes(2), random_boxes(2), random_boxes(0.5), random_boxes(0.5)]

    def separation_at(times):
        return separation(at(motion[0], motion[1], times), at(motion[2], motion[3], times))

    found = closest_time(*motion)
    least = separation_at(found)
    # The separation is convex: thirds without the minimum are dropped, and of equal ones the later.
    low, high = np.zeros(count), np.ones(count)
    for _ in range(100):
        third = (high - low) / 3
        is_later = separation_at(low + third) > separation_at(high - third)
        low, high = np.where(is_later, low + third, low), np.where(is_later, high, high - third)
    assert least == pytest.approx(separation_at(low), abs=1e-13)
    # Of a level stretch, the begin.
    times = np.linspace(0, 1, 501)[:, None] + np.zeros(count)
    is_least = separation_at(times) <= least + 1e-14
    rows = np.flatnonzero(is_least.any(axis=0))
    assert (found[rows] <= times[is_least.argmax(axis=0)[rows], 0] + 1e-6).all()
    assert np.isin(found, (0, 1)).mean() > 0.1


def test_smallest_gap_that_opens_is_no_contact():
    # The time at which such a gap was closed is 0 up to underflow.
    gap = 5e-324
    start, end = Aabb([gap, 0, 0], [1, 1, 1]), Aabb([4, 0, 0], [5, 1, 1])
    still = Aabb([-1, 0, 0], [0, 1, 1])
    with np.errstate(under="ignore"):
        assert np.isnan(overlap_span(still, still, start, end)).all()
        assert np.isnan(overlap_span(start, end, still, still)).all()
