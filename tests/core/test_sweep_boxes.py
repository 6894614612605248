from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Aabb, Sphere, closest_time, overlap_span, overlaps, separation, time_of_impact
from tests.core import scenes
from tests.core.exact_sweeps import GapMotion, box_overlap_span
from tests.core.motions import (
    UNIT,
    aabbs,
    box_flying,
    gaps_at,
    picked,
    random_boxes,
    random_sphere_and_box,
    reversed_in_time,
    scaled,
    swapped,
)
from tests.tiers import examples, times

pytestmark = pytest.mark.filterwarnings("error")

BALL = st.tuples(scenes.POINT, scenes.SIZE)


def faces(box: Aabb, index: int | None = None) -> tuple:
    return (box.min, box.max) if index is None else (box.min[index], box.max[index])


def ball_at_unit_box(start: list[float], end: list[float], radius: float = 1.0, grown: float | None = None):
    """A sphere that moves by the unit box at rest."""
    return [Sphere(start, radius), Sphere(end, radius if grown is None else grown), *aabbs(UNIT, UNIT)]


def assert_times_are_those(found: float, truth: GapMotion, hair: float = 1e-12) -> None:
    """The time of a quadratic may be ill-conditioned; that it is a root, and the first, is not."""
    if math.isnan(found) or truth.first is None:
        assert math.isnan(found) == (truth.first is None) or abs(truth.least) <= hair * truth.scale
    else:
        assert (found == 0) == (truth.first == 0)
        assert found == 0 or abs(truth.f(found)) <= hair * truth.scale
        assert found == pytest.approx(truth.first, abs=1e-7)


# --- two boxes -------------------------------------------------------------------------------------------


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
        ("a hair from touching at the end", box_flying([5, 0, 0], [np.nextafter(1, 2), 0, 0]), None),
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


@examples(400)
@given(scenes.boxes(), scenes.boxes(), scenes.boxes(), scenes.boxes())
def test_box_spans_against_exact_rationals(a_start, a_end, b_start, b_end):
    # Gaps of quarters are exact and a quotient is rounded once: grazing is decided without any error.
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
def test_random_boxes_that_move_and_grow_against_exact_rationals(scale):
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
def test_overlap_at_the_found_time_is_real():
    motion = random_boxes(np.random.default_rng(16), 500)
    enter, leave = overlap_span(*motion)
    found = ~np.isnan(enter)
    assert (gaps_at(motion, np.where(found, (enter + leave) / 2, 0))[found] <= 0).all()


@pytest.mark.smoke
def test_a_hair_from_the_end_is_not_the_end():
    # The last face opens within 1e-20 of the end, and within 1e-20 of the start: no part of an interval that
    # float64 can tell, but neighbouring intervals must be told.
    leaving = box_flying([0, 0, 0], [1 + 2**-52, 0, 0])
    assert not overlaps(leaving[1], leaving[3])
    for motion in (leaving, reversed_in_time(leaving)):
        for clearance in (0.0, 2.0**-60):
            enter, leave = overlap_span(*motion, clearance=clearance)
            gap_start, gap_end = separation(motion[0], motion[2]), separation(motion[1], motion[3])
            assert (enter == 0) == (gap_start <= clearance)
            assert (leave == 1) == (gap_end <= clearance)


# --- two boxes with a clearance --------------------------------------------------------------------------


def test_clearance_around_a_box_is_euclidean_at_the_corners():
    # The corner gap shrinks from (6, 8, 0), 10 long, to nothing: 5 is left at half time.
    enter, leave = overlap_span(*box_flying([7, 9, 0], [1, 1, 0]), clearance=5.0)
    assert enter == 0.5
    assert leave == 1
    # Passing a corner at a gap of (1, 1, 0), 1.414 long. Boxes grown by 1.4 would meet.
    passing = box_flying([2 + 4, 2 - 4, 0], [2 - 4, 2 + 4, 0])
    assert gaps_at(passing, 0.5) == math.sqrt(2)
    assert np.isnan(overlap_span(*passing, clearance=1.4)).all()
    enter, leave = overlap_span(*passing, clearance=1.5)
    # |(1 - 8 s, 1 + 8 s)| = 1.5 for s = t - 0.5: 2 + 128 s^2 = 2.25, s = 0.0442.
    assert enter == pytest.approx(0.5 - math.sqrt(0.25 / 128), abs=1e-15)
    assert leave == pytest.approx(0.5 + math.sqrt(0.25 / 128), abs=1e-15)


def test_clearance_at_rest_holds_for_the_whole_interval():
    motion = box_flying([1.5, 0, 0], [1.5, 0, 0])
    assert overlap_span(*motion, clearance=0.5) == (0.0, 1.0)
    assert np.isnan(overlap_span(*motion, clearance=0.49)[0])


@examples(300)
@given(scenes.boxes(), scenes.boxes(), scenes.boxes(), scenes.boxes(), st.sampled_from([0.25, 1.0, 3.0, 5.0]))
def test_spans_with_a_clearance_against_exact_rationals(a_start, a_end, b_start, b_end, clearance):
    motion = [a_start, a_end, b_start, b_end]
    enter, leave = overlap_span(*motion, clearance=clearance)
    back = GapMotion.of_boxes(*map(faces, reversed_in_time(motion)), clearance)
    assert_times_are_those(float(enter), GapMotion.of_boxes(*map(faces, motion), clearance))
    assert_times_are_those(float(1 - leave), back)


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_random_spans_with_a_clearance_against_exact_rationals_both_ways_in_time(scale):
    motion = [Aabb(b.min * scale, b.max * scale) for b in random_boxes(np.random.default_rng(31), 300)]
    clearance = 0.3 * scale
    enter, leave = overlap_span(*motion, clearance=clearance)
    assert 30 < np.isnan(enter).sum() < 250
    assert ((enter > 0) & (leave < 1)).sum() > 10
    for i in range(times(300, 60)):
        ends = [faces(b, i) for b in motion]
        assert_times_are_those(float(enter[i]), GapMotion.of_boxes(*ends, clearance))
        assert_times_are_those(float(1 - leave[i]), GapMotion.of_boxes(*reversed_in_time(ends), clearance))


# --- a sphere and a box ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "motion", "expected"),
    [
        # The face is at x = 1: the centre is a radius off at x = 2. 10 - 16 t = 2.
        ("onto a face", ball_at_unit_box([10, 0.5, 0.5], [-6, 0.5, 0.5]), 0.5),
        # Beside the edge x = y = 1, by (0.6, 0.8): the centre at (1.6, 1.8).
        ("onto an edge", ball_at_unit_box([1.6 + 4, 1.8, 0.5], [1.6 - 4, 1.8, 0.5]), 0.5),
        # (2, 3, 6) / 7 of a radius of 7 off the corner (1, 1, 1).
        ("onto a corner", ball_at_unit_box([3 + 16, 4, 7], [3 - 16, 4, 7], 7), 0.5),
        ("grazing a face", ball_at_unit_box([10, 0.5, 2], [-10, 0.5, 2]), 9 / 20),
        # Through (1 + 3, 1 + 4), at right angles to (3, 4), with a radius of 5.
        ("grazing an edge", ball_at_unit_box([4 + 4, 5 - 3, 0.5], [4 - 4, 5 + 3, 0.5], 5), 0.5),
        # Through (3, 4, 7), at right angles to (2, 3, 6), with a radius of 7.
        ("grazing a corner", ball_at_unit_box([3 + 3, 4 - 2, 7], [3 - 3, 4 + 2, 7], 7), 0.5),
        ("by an edge by a hair", ball_at_unit_box([8, 2, 0.5], [0, 8, 0.5], 5 - 1e-13), math.nan),
        ("by a corner by a hair", ball_at_unit_box([6, 2, 7], [0, 6, 7], 7 - 1e-13), math.nan),
        ("starting inside", ball_at_unit_box([0.5, 0.5, 0.5], [9, 9, 9]), 0.0),
        ("its centre outside, touching", ball_at_unit_box([2, 0.5, 0.5], [9, 9, 9]), 0.0),
        ("touching exactly at the end", ball_at_unit_box([9, 0.5, 0.5], [2, 0.5, 0.5]), 1.0),
        ("a hair from the end", ball_at_unit_box([9, 0.5, 0.5], [np.nextafter(2, 3), 0.5, 0.5]), math.nan),
        ("at rest", ball_at_unit_box([3, 0.5, 0.5], [3, 0.5, 0.5]), math.nan),
        ("at rest, touching", ball_at_unit_box([2, 0.5, 0.5], [2, 0.5, 0.5]), 0.0),
        # 2 + 16 t - 1 = 9 - 1: by growing alone.
        ("growing", ball_at_unit_box([10, 0.5, 0.5], [10, 0.5, 0.5], 1, 17), 0.5),
        # The radius outgrows the flight: 9 + 4 t = 1 + 12 t at 1.
        ("growing as it flees", ball_at_unit_box([10, 0.5, 0.5], [14, 0.5, 0.5], 1, 13), 1.0),
        ("a point", ball_at_unit_box([10, 0.5, 0.5], [-6, 0.5, 0.5], 0), 9 / 16),
    ],
)
def test_spheres_and_a_box_at_the_edge_of_contact(what, motion, expected):
    for order in (motion, swapped(motion)):
        found = time_of_impact(*order)
        # At a graze half of the digits of a time are left.
        exactly = "onto" in what or "grazing" in what
        assert found == pytest.approx(expected, abs=1e-7 if exactly else 0, nan_ok=True), what


def test_box_that_grows_towards_a_resting_sphere():
    # The face rises from 1 to 9, the sphere's lowest point waits at 3.
    ball = Sphere([0.5, 0.5, 4], 1)
    assert time_of_impact(ball, ball, *aabbs(UNIT, ([0, 0, 0], [1, 1, 9]))) == 0.25
    # And the corner (1, 1, 1) that goes to (5, 5, 1) passes (2, 2, 1) before one at (2.6, 2.8, 1), radius 1.
    ball = Sphere([2.6, 2.8, 1], 1.0)
    found = time_of_impact(ball, ball, *aabbs(UNIT, ([0, 0, 0], [5, 5, 1])))
    assert found == pytest.approx(0.25, abs=1e-15)


@examples(300)
@given(BALL, BALL, scenes.boxes(), scenes.boxes())
def test_sphere_and_box_times_against_exact_rationals(a_start, a_end, b_start, b_end):
    found = time_of_impact(Sphere(*a_start), Sphere(*a_end), b_start, b_end)
    assert_times_are_those(
        float(found), GapMotion.of_sphere_and_box(a_start, a_end, faces(b_start), faces(b_end))
    )


def truths(motion: list) -> list[GapMotion]:
    balls = [list(zip(s.center, s.radius, strict=True)) for s in motion[:2]]
    boxes = [list(zip(b.min, b.max, strict=True)) for b in motion[2:]]
    return [GapMotion.of_sphere_and_box(*ends) for ends in zip(*balls, *boxes, strict=True)]


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_random_spheres_and_boxes_that_move_and_grow_against_exact_rationals(scale):
    motion = scaled(random_sphere_and_box(np.random.default_rng(32), 400), scale)
    found = time_of_impact(*motion)
    assert 50 < np.isnan(found).sum() < 350
    assert (found > 0).sum() > 50
    some = slice(times(400, 80))
    for time, truth in zip(found[some].tolist(), truths(picked(motion, some)), strict=True):
        assert_times_are_those(time, truth)


def test_spheres_that_pass_edges_and_corners_by_hairs_are_told_from_those_that_do_not():
    # Aimed beside a corner or an edge, off by down to 1e-15 of the radius.
    rng = np.random.default_rng(33)
    count = 1200
    half = rng.uniform(0.2, 2, (count, 3))
    along = scenes.directions(rng, count)
    across = np.cross(along, scenes.directions(rng, count))
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
    some = slice(times(count, 200))
    for time, truth in zip(found[some].tolist(), truths(picked(motion, some)), strict=True):
        assert_times_are_those(time, truth)


def test_sphere_times_agree_with_dense_sampling_of_the_distance():
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
    # What is found between the samples is real.
    rest = ~hit & ~np.isnan(found)
    assert (np.abs(gaps_at(motion, np.nan_to_num(found)))[rest] < 1e-12).all()


def test_spheres_from_a_million_radii_hit_a_box_within_rounding_of_the_path():
    # Onto a face of the box at any slant: the gap is linear, and so is the exact time.
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
    ("what", "motion", "expected"),
    [
        ("passing a face keeps its gap while beside it", box_flying([-3, 2, 0], [5, 2, 0]), 0.25),
        ("passing a corner", box_flying([3, 1.5, 0], [1.5, 3, 0]), 0.5),
        ("sliding along a face", box_flying([0, 1, 0], [0.5, 1, 0]), 0.0),
        # Deepest where the overlap on x reaches the 0.5 on y: x overlap 4 t - 1 = 0.5.
        ("sinking in", box_flying([2, 0.5, 0], [-2, 0.5, 0]), 0.375),
    ],
)
@pytest.mark.parametrize("scale", [2.0**-1000, 1.0, 2.0**1000])
def test_closest_time_of_boxes_is_the_first_of_the_closest(what, motion, expected, scale):
    assert closest_time(*scaled(motion, scale)) == pytest.approx(expected, abs=1e-15), what
