"""Sweeps of spheres and triangles."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from addon.core import (
    InvalidShapeError,
    Sphere,
    Triangle,
    at,
    closest_time,
    first_impact,
    overlap_span,
    overlaps,
    separation,
    time_of_impact,
)
from tests.core import scenes
from tests.core.motions import (
    random_sphere_and_triangle,
    reversed_in_time,
    scaled,
    separation_at,
    spheres,
    take_rows,
)
from tests.core.sweep.exact_sweeps import TriangleMotion
from tests.tiers import examples, times

pytestmark = pytest.mark.filterwarnings("error")

CORNERS = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
TRIANGLE, FRONT = Triangle(*CORNERS), Triangle(*CORNERS, one_sided=True)
BEHIND = Triangle(CORNERS[0], CORNERS[2], CORNERS[1], one_sided=True)
"""Triangles in the plane z = 0: two-sided, with contact from above, and with contact from below."""


def ball(start: list[float], end: list[float], radius: float = 1.0, radius_end: float | None = None) -> list:
    """Motion of a sphere and the two-sided triangle in the plane z = 0."""
    last = radius if radius_end is None else radius_end
    return [*spheres((start, radius), (end, last)), TRIANGLE, TRIANGLE]


def against(motion: list, triangle: Triangle) -> list:
    return [*motion[:2], triangle, triangle]


def exact_motions(motion: list) -> list[TriangleMotion]:
    """Exact references for a batch (n,)."""
    a0, a1, b, _ = motion
    return [
        TriangleMotion((a0.center[i], a0.radius[i]), (a1.center[i], a1.radius[i]), [b.a[i], b.b[i], b.c[i]])
        for i in range(len(a0.radius))
    ]


# --- when they touch -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        # A radius above the plane: 9 - 16 t = 1.
        ("onto the face", ball([1, 1, 9], [1, 1, -7]), 0.5),
        ("onto the face from below", ball([1, 1, -9], [1, 1, 7]), 0.5),
        ("onto an edge", ball([2, -0.6, 0.8 + 8], [2, -0.6, 0.8 - 8]), 0.5),
        ("onto an edge, in the plane", ball([2, -9, 0], [2, 7, 0]), 0.5),
        # Offset (2, 3, 6), of length 7, from the first corner.
        ("onto a corner", ball([-2, -3, 6 + 8], [-2, -3, 6 - 8], 7), 0.5),
        ("along an edge, onto a corner", ball([-9, 0, 0], [7, 0, 0]), 0.5),
        ("grazing the face from rim to rim", ball([-4, 1, 1], [12, 1, 1]), 0.25),
        ("grazing an edge", ball([2, -1, 9], [2, -1, -9]), 0.5),
        ("grazing a corner", ball([-1, 0, 9], [-1, 0, -9]), 0.5),
        (
            "near miss of an edge",
            ball([2, np.nextafter(-1, -2) - 1e-13, 9], [2, -1 - 1e-13, -9]),
            math.nan,
        ),
        ("near miss of the face", ball([-4, 1, 1 + 1e-13], [12, 1, 1 + 1e-13]), math.nan),
        ("touching at the start, then receding", ball([1, 1, 1], [1, 1, 9]), 0.0),
        ("in the middle of it at the start", ball([1, 1, 0], [1, 1, 9]), 0.0),
        ("touching exactly at the end", ball([1, 1, 9], [1, 1, 1]), 1.0),
        ("not quite there at the end", ball([1, 1, 9], [1, 1, 1.001]), math.nan),
        ("receding", ball([1, 1, 2], [1, 1, 9]), math.nan),
        ("passing the long edge", ball([4, 4, 9], [4, 4, -9]), math.nan),
        ("at rest and apart", ball([1, 1, 2], [1, 1, 2]), math.nan),
        ("at rest and touching", ball([1, 1, 1], [1, 1, 1]), 0.0),
        # 3 + 4 t = 5.
        ("growing until it touches", ball([1, 1, 5], [1, 1, 5], 3, 7), 0.5),
        # Center 9 - 8 t above it, radius 7 t.
        ("growing in motion", ball([1, 1, 9], [1, 1, 1], 0, 7), 0.6),
        ("shrinking away as it comes", ball([1, 1, 9], [1, 1, 1], 8, 0), math.nan),
        ("a point through the face", ball([1, 1, 9], [1, 1, -7], 0), 9 / 16),
        ("a point through an edge", ball([2, 0, 9], [2, 0, -7], 0), 9 / 16),
        ("a point through a corner", ball([4, 0, 9], [4, 0, -7], 0), 9 / 16),
        ("a point past it", ball([4.001, 0, 9], [4.001, 0, -7], 0), math.nan),
    ],
)
def test_spheres_at_limit_of_contact(scenario, motion, expected):
    for order in (motion, [*motion[2:], *motion[:2]]):
        found = time_of_impact(*order)
        # A graze is a double root, so the time has half of its digits.
        assert found == pytest.approx(expected, abs=1e-7 if "graz" in scenario else 1e-14, nan_ok=True), (
            scenario
        )
        assert expected != 0 or found == 0


QUARTERS = st.tuples(scenes.POINT, scenes.SIZE)


@examples(100, full=300)
@given(QUARTERS, QUARTERS, scenes.POINT, scenes.POINT, scenes.POINT, st.booleans())
def test_spans_match_exact_rationals(start, end, a, b, c, one_sided):
    truth = TriangleMotion(start, end, [a, b, c])
    # A center in the plane at an end is behind or in front because of the rounding of the normal: skip it.
    assume(not one_sided or (truth.height(0) and truth.height(1)))
    triangle = Triangle(a, b, c, one_sided and truth.height(0) != truth.height(1))
    enter, leave = overlap_span(*spheres(start, end), triangle, triangle)
    expected = truth.span_in_front if triangle.one_sided else truth.span
    if expected is None:
        assert np.isnan([enter, leave]).all()
        return
    # Rounding extends the span of a graze by its square root.
    grazes = expected[1] - expected[0] < 1e-6
    assert [enter, leave] == pytest.approx([float(t) for t in expected], abs=1e-6 if grazes else 1e-12)
    assert (enter == 0) == (expected[0] == 0)
    assert (leave == 1) == (expected[1] == 1)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("clearance", [0.0, 0.3])
@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_random_spans_match_exact_rationals(scale, clearance, one_sided):
    motion = scaled(random_sphere_and_triangle(np.random.default_rng(3), 100, one_sided), scale)
    enter, leave = overlap_span(*motion, clearance=clearance * scale)
    assert 10 < np.isnan(enter).sum() < 90
    grown = [*(sphere.padded(clearance * scale) for sphere in motion[:2]), *motion[2:]]
    grown = take_rows(grown, slice(times(50, 8, full=100)))
    for i, truth in enumerate(exact_motions(scaled(grown, 1 / scale) if scale in (1e-150, 1e150) else grown)):
        expected = truth.span_in_front if one_sided else truth.span
        assert np.isnan(enter[i]) == np.isnan(leave[i]) == (expected is None)
        if expected is not None:
            assert [enter[i], leave[i]] == pytest.approx([float(t) for t in expected], abs=1e-11)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("speed", [1.0, 1e3, 1e6])
@pytest.mark.parametrize(("thinness", "radius"), [(1.0, 0.3), (1e-3, 1e-5), (1e-5, 1e-8), (1e-5, 0.1)])
def test_fast_small_spheres_and_thin_triangles_match_exact_rationals(thinness, radius, speed, offset):
    """Compare speeds up to a million radii, and triangles a hundred thousand times as long as wide."""
    rng, count = np.random.default_rng(4), 30
    corners = rng.normal(size=(3, count, 3))
    if thinness < 1:
        corners[2] = (corners[0] + corners[1]) / 2 + rng.normal(size=(count, 3)) * thinness
    weights = rng.dirichlet([1, 1, 1], count).T[..., None]
    target = (corners * weights).sum(axis=0) + rng.normal(size=(count, 3)) * radius
    offset_to_target = rng.normal(size=(count, 3)) * speed
    positions = np.array(
        [target - offset_to_target, target + offset_to_target * rng.uniform(0.1, 1, (count, 1))]
    )
    radii = radius * rng.uniform(0.5, 1.5, (2, count))
    reach = 1e-13 * (offset + speed)
    # Pairs that are undecided within this reach are skipped, because rounding decides about them.
    sure = np.ones(count, dtype=bool)
    expected = []
    motion = [
        *(Sphere(p + offset, r) for p, r in zip(positions, radii, strict=True)),
        *[Triangle(*corners + offset)] * 2,
    ]
    checked = times(15, full=count)
    for i, truth in enumerate(exact_motions(take_rows(motion, slice(checked)))):
        larger, smaller = (
            TriangleMotion(
                *((s.center[i], max(s.radius[i] + off, 0)) for s in motion[:2]), corners_of_row(motion, i)
            )
            for off in (reach, -reach)
        )
        sure[i] = (larger.span is None) == (smaller.span is None)
        expected.append((truth.span, larger.span))
    sure = sure[:checked]
    assert sure.sum() > checked / 3 or radius < reach
    enter, leave = overlap_span(*motion)
    hits = 0
    for i in np.flatnonzero(sure):
        span, larger = expected[i]
        assert np.isnan(enter[i]) == np.isnan(leave[i]) == (span is None)
        if span is not None:
            hits += 1
            # No earlier than a sphere inflated by rounding, and no later than the exact time.
            assert float(larger[0]) - 1e-14 <= enter[i] <= float(span[0]) + 1e-12
            assert float(span[1]) - 1e-12 <= leave[i] <= float(larger[1]) + 1e-14
    assert hits > checked / 6 or radius < reach


def test_shallow_contact_at_far_end_of_thin_triangle_is_found():
    # The normal of such a thin triangle has an error up to 1e-7, and so have heights above its first corner.
    rng, count = np.random.default_rng(5), 400
    a, b = rng.normal(size=(2, count, 3))
    triangle = Triangle(a, b, (a + b) / 2 + rng.normal(size=(count, 3)) * 1e-9)
    off = ((b - a) * triangle.normal).sum(axis=1)
    assert (np.abs(off) > 1e-9).sum() > 100
    up = triangle.normal * np.where(off < 0, -1.0, 1.0)[:, None]
    depth = np.abs(off)[:, None] / 2
    start, end = Sphere(b + up, 0.1), Sphere(b + up * (0.1 - depth), 0.1)
    sunk = overlaps(end, triangle)
    assert sunk.sum() > count * 0.9
    assert not np.isnan(time_of_impact(start, end, triangle, triangle))[sunk].any()


def corners_of_row(motion: list, i: int) -> list:
    return [motion[2].a[i], motion[2].b[i], motion[2].c[i]]


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("kind", ["segment", "folded", "point"])
def test_degenerate_triangles_act_as_segments_or_points(kind, one_sided):
    motion = random_sphere_and_triangle(np.random.default_rng(6), 200)
    a, b = motion[2].a, motion[2].b
    # Rounded, so that the midpoint is exactly on the segment and the triangle has no face.
    a, b = np.round(a * 1024) / 1024, np.round(b * 1024) / 1024
    corners = {"segment": (a, b, b), "folded": (a, b, (a + b) / 2), "point": (a, a, a)}[kind]
    found = time_of_impact(*against(motion, Triangle(*corners, one_sided)))
    assert 10 < np.isnan(found).sum() < 190
    for i in range(0, 200, 4):
        span = exact_motion(motion, i, [corner[i] for corner in corners]).span
        assert np.isnan(found[i]) == (span is None)
        if span is not None:
            assert found[i] == pytest.approx(float(span[0]), abs=1e-11)


def exact_motion(motion: list, i: int, corners: list) -> TriangleMotion:
    return TriangleMotion(*((s.center[i], s.radius[i]) for s in motion[:2]), corners)


# --- one-sided -------------------------------------------------------------------------------------------


def test_one_sided_contact_lasts_while_center_is_in_front():
    # Center at 9 - 16 t: touches at 1, passes the plane at 0.
    motion = ball([1, 1, 9], [1, 1, -7])
    assert overlap_span(*motion) == pytest.approx((8 / 16, 10 / 16), abs=1e-15)
    assert overlap_span(*against(motion, FRONT)) == pytest.approx((8 / 16, 9 / 16), abs=1e-13)
    # From behind, contact begins there: a sphere with its center in front counts, as it does at rest.
    assert overlap_span(*against(motion, BEHIND)) == pytest.approx((9 / 16, 10 / 16), abs=1e-13)
    half_way = ball([1, 1, 9], [1, 1, -0.25])
    assert overlaps(half_way[1], BEHIND)
    assert overlap_span(*against(half_way, BEHIND))[1] == 1


@pytest.mark.parametrize(
    ("scenario", "motion"),
    [
        ("to the back and no farther", ball([1, 1, -9], [1, 1, -0.25])),
        ("along the back", ball([-9, 1, -0.5], [9, 1, -0.5])),
        ("at rest behind", ball([1, 1, -0.5], [1, 1, -0.5])),
        ("past the edge, to the front outside of it", ball([2, -0.5, -9], [2, -4, 9])),
        ("onto the edge from behind", ball([2, -9, -0.5], [2, 9, -0.5])),
    ],
)
def test_sphere_behind_one_sided_triangle_does_not_touch(scenario, motion):
    assert not np.isnan(time_of_impact(*motion)) or "outside" in scenario
    assert np.isnan(overlap_span(*against(motion, FRONT))).all()
    assert not np.isnan(time_of_impact(*against(motion, BEHIND))) or "outside" in scenario


def test_first_contact_from_behind_matches_static_query():
    # Far from the origin and slow, so that the center passes the plane by less than a rounding error.
    rng = np.random.default_rng(8)
    motion = random_sphere_and_triangle(rng, 3000, one_sided=True)
    moved = [scenes.translated(shape, np.array([1e5, -1e4, 3e5])) for shape in motion]
    enter, leave = overlap_span(*moved)
    passes = np.flatnonzero(np.isinf(separation_at(moved, 0.0)) & (enter > 0))
    assert len(passes) > 100
    a0, a1, b, _ = (shape[passes] for shape in moved)
    for moments in (enter, leave):
        assert (separation(at(a0, a1, moments[passes]), b) < 1e-9).all()


@pytest.mark.smoke
def test_first_impact_on_edge_and_face_of_one_sided_triangle():
    onto_face = first_impact(*against(ball([1, 1, 9], [1, 1, -7]), FRONT))
    np.testing.assert_allclose(onto_face.point, [1, 1, 0], atol=1e-15)
    np.testing.assert_allclose(onto_face.normal, [0, 0, -1], atol=1e-15)
    onto_edge = first_impact(*against(ball([2, -0.6, 8.8], [2, -0.6, -7.2]), FRONT))
    np.testing.assert_allclose(onto_edge.point, [2, 0, 0], atol=1e-13)
    np.testing.assert_allclose(onto_edge.normal, [0, 0.6, -0.8], atol=1e-13)
    swapped = first_impact(FRONT, FRONT, *ball([1, 1, 9], [1, 1, -7])[:2])
    assert swapped.normal.tolist() == (-onto_face.normal).tolist()


# --- when they are closest -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "motion", "expected"),
    [
        ("through the face", ball([1, 1, 9], [1, 1, -7]), 9 / 16),
        ("past an edge", ball([2, -3, 6], [2, -3, -6]), 0.5),
        ("past a corner", ball([-3, -3, 6], [-3, -3, -6]), 0.5),
        ("at the end", ball([1, 1, 9], [1, 1, 2]), 1.0),
        ("at the start", ball([1, 1, 2], [1, 1, 9]), 0.0),
        ("at rest", ball([1, 1, 2], [1, 1, 2]), 0.0),
        # Above the face from x = 0 on.
        ("at one height over the face: when that begins", ball([-4, 1, 2], [12, 1, 2]), 0.25),
        ("along an edge: when that begins", ball([-4, -1, 2], [12, -1, 2]), 0.25),
    ],
)
def test_closest_times_of_simple_motions(scenario, motion, expected):
    assert closest_time(*motion) == pytest.approx(expected, abs=1e-12), scenario


def test_deepest_one_sided_overlap_is_just_before_center_passes():
    motion = ball([1, 1, 9], [1, 1, -7])
    for triangle in (FRONT, BEHIND):
        time = closest_time(*against(motion, triangle))
        assert time == pytest.approx(9 / 16, abs=1e-13)
        assert separation_at(against(motion, triangle), time) == pytest.approx(-1, abs=1e-12)
    assert closest_time(*against(ball([1, 1, -3], [1, 1, -2]), FRONT)) == 0


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("one_sided", [False, True])
def test_no_sample_is_closer_than_closest_time(one_sided, scale):
    motion = random_sphere_and_triangle(np.random.default_rng(9), 1500, one_sided)
    motion = scaled([scenes.translated(shape, np.array([50.0, -20, 3])) for shape in motion], scale)
    least = separation_at(motion, closest_time(*motion))
    samples = np.array([separation_at(motion, time) for time in np.linspace(0, 1, times(101, 41, full=401))])
    assert (least <= samples.min(axis=0) + 1e-12 * scale).all()
    seen = np.isfinite(least)
    assert np.array_equal(seen, np.isfinite(samples).any(axis=0) | seen)
    assert (seen.all() and not one_sided) or 100 < (~seen).sum() < 1400
    assert 100 < (least < 0).sum() < 1400


def test_closest_times_match_exact_minimum_separation():
    motion = take_rows(random_sphere_and_triangle(np.random.default_rng(10), 25), slice(times(25)))
    found = closest_time(*motion)
    for truth, time, gap in zip(
        exact_motions(motion), found.tolist(), separation_at(motion, found).tolist(), strict=True
    ):
        when, least = truth.minimum_separation()
        assert gap == pytest.approx(float(least), abs=1e-11)
        assert time <= float(when) + 1e-5


# --- invalid input, and batches --------------------------------------------------------------------------


@pytest.mark.parametrize("query", [time_of_impact, first_impact, overlap_span, closest_time])
def test_moving_triangle_or_changed_side_is_rejected(query):
    one, other = ball([1, 1, 9], [1, 1, -7])[:2]
    for last in (scenes.translated(TRIANGLE, np.array([0, 0, 1.0])), FRONT):
        with pytest.raises(InvalidShapeError, match="triangles: the two samples differ"):
            query(one, other, TRIANGLE, last)
        with pytest.raises(InvalidShapeError, match="triangles: the two samples differ"):
            query(last, TRIANGLE, one, other)


def test_spans_are_mirrored_for_reversed_motion_from_both_sides():
    for one_sided in (False, True):
        motion = random_sphere_and_triangle(np.random.default_rng(11), 2000, one_sided)
        enter, leave = overlap_span(*motion)
        back = overlap_span(*reversed_in_time(motion))
        np.testing.assert_allclose(back, (1 - leave, 1 - enter), rtol=0, atol=1e-11)


def test_chunked_batches_match_subsets():
    motion = random_sphere_and_triangle(np.random.default_rng(12), 40_000)
    found, closest = time_of_impact(*motion), closest_time(*motion)
    checked = np.arange(0, 40_000, 197)
    alone = [shape[checked] for shape in motion]
    np.testing.assert_array_equal(found[checked], time_of_impact(*alone))
    np.testing.assert_array_equal(closest[checked], closest_time(*alone))


@pytest.mark.parametrize("width", [1e-15, 1e-14, 1e-13])
def test_sphere_that_moves_a_little_hits_a_needle_whose_normal_is_a_rounding_error(width):
    rng = np.random.default_rng(6)
    count = 300
    tip, along, path, aside = rng.normal(size=(4, count, 3))
    along, path = (x / np.linalg.norm(x, axis=1)[:, None] for x in (along, path))
    corners = [tip, tip + along, tip + along * rng.uniform(0.2, 0.8, (count, 1)) + aside * width]
    target = tip + along * rng.uniform(0, 1, (count, 1))
    start, end = Sphere(target - 1e-5 * path, 1e-7), Sphere(target + 1e-5 * path, 1e-7)
    for order in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1)):
        needle = Triangle(*(corners[k] for k in order))
        found = time_of_impact(start, end, needle, needle)
        # The center meets the needle in the middle, and the surface at an angle up to that much earlier.
        across = np.linalg.norm(np.cross(along, path), axis=1)
        np.testing.assert_allclose(found, 0.5 - 0.005 / across, rtol=0, atol=1e-7 / across.min())


def test_message_about_a_moving_triangle_names_it():
    with pytest.raises(InvalidShapeError, match=r"^triangles: the two samples differ"):
        time_of_impact(Sphere([0, 0, 1], 1), Sphere([0, 0, 2], 1), TRIANGLE, BEHIND)


def test_sphere_from_behind_touches_when_its_center_comes_through_in_the_middle():
    start, end = Sphere([1, 1, -1], 0.25), Sphere([1, 1, 1], 0.25)
    assert time_of_impact(start, end, FRONT, FRONT) == pytest.approx(0.5, abs=1e-13)
    assert separation(at(start, end, closest_time(start, end, FRONT, FRONT)), FRONT) == pytest.approx(-0.25)


def test_sphere_that_touches_within_rounding_at_the_end_touches_no_later_than_that():
    rng = np.random.default_rng(8)
    triangle = Triangle(*rng.normal(size=(3, 4000, 3)) + 1e3)
    center = rng.normal(size=(4000, 3)) * 3 + 1e3
    end = Sphere(center, separation(Sphere(center, 0.0), triangle))
    start = Sphere(center + rng.normal(size=(4000, 3)), end.radius)
    found, touches = time_of_impact(start, end, triangle, triangle), overlaps(end, triangle)
    assert touches.sum() > 1000
    assert (found[touches] <= 1).all()


def test_points_that_come_from_behind_touch_in_front():
    rng = np.random.default_rng(9)
    corners = rng.normal(size=(3, 2000, 3)) + np.array([1e5, -1e4, 3e5])
    triangle = Triangle(*corners, one_sided=True)
    target = (corners * rng.dirichlet(np.ones(3), 2000).T[..., None]).sum(axis=0)
    behind = target - triangle.normal + 0.3 * rng.normal(size=(2000, 3))
    behind -= (
        np.maximum(((behind - target) * triangle.normal).sum(axis=1) + 0.1, 0)[:, None] * triangle.normal
    )
    for reach in (1.0, 2.0):  # to the plane, within rounding errors, and through it
        start, end = Sphere(behind, 0.0), Sphere(behind + reach * (target - behind), 0.0)
        found = time_of_impact(start, end, triangle, triangle)
        hit = ~np.isnan(found)
        assert hit.sum() > (900 if reach == 1 else 1900)
        assert (found[hit] <= 1).all()
        moments = separation(at(start[hit], end[hit], found[hit]), triangle[hit])
        # Rounding leaves few of them behind the plane.
        assert (moments < 1e-8).mean() > 0.95


def test_sphere_that_starts_a_rounding_error_above_the_front_touches_at_once():
    above = np.nextafter(0.25, 1) + 2.0**-52
    for radius in (0.25, 0.0):
        start, end = Sphere([1, 1, above - 0.25 + radius], radius), Sphere([1, 1, -1], radius)
        assert 0 <= time_of_impact(start, end, FRONT, FRONT) <= 1e-14
