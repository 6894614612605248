"""Properties of the queries for all pairs of moving shapes; the other files of this folder test each pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from addon.core import (
    ImpactStatus,
    Obb,
    Sphere,
    at,
    closest_time,
    first_impact,
    overlap_span,
    overlaps,
    separation,
    time_of_impact,
    witness_points,
)
from tests.core import motions, scenes
from tests.core.motions import (
    BATCHES,
    WITH_CLOSEST,
    WITH_SINGLE_SPANS,
    reversed_in_time,
    scaled,
    separation_at,
    swapped,
    take_rows,
)
from tests.tiers import examples, times

pytestmark = pytest.mark.filterwarnings("error")

# --- in every order of shapes and of time ----------------------------------------------------------------


@pytest.mark.parametrize("kind", BATCHES)
def test_first_impact_is_symmetric_in_shapes(kind):
    motion = BATCHES[kind](np.random.default_rng(10), 2000)
    one, other = first_impact(*motion), first_impact(*swapped(motion))
    np.testing.assert_allclose(one.time, other.time, rtol=0, atol=1e-12)
    assert np.array_equal(one.status, other.status)
    moving = one.time > 1e-9
    assert moving.sum() > 200
    # Not all normals, because they are not unique for shapes that touch along a line or a face.
    turned_round = (one.normal[moving] * other.normal[moving]).sum(axis=1)
    assert (turned_round < -1 + 1e-6).mean() > 0.99


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("clearance", [0.0, 0.3])
def test_spans_are_symmetric_in_shapes(kind, clearance):
    motion = BATCHES[kind](np.random.default_rng(10), 2000)
    one = overlap_span(*motion, clearance=clearance)
    other = overlap_span(*swapped(motion), clearance=clearance)
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", WITH_CLOSEST)
def test_closest_times_are_symmetric_in_shapes(kind):
    motion = BATCHES[kind](np.random.default_rng(10), 2000)
    np.testing.assert_allclose(closest_time(*motion), closest_time(*swapped(motion)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", BATCHES)
def test_spans_are_mirrored_for_reversed_motion(kind):
    motion = BATCHES[kind](np.random.default_rng(11), 3000)
    enter, leave = overlap_span(*motion)
    back_enter, back_leave = overlap_span(*reversed_in_time(motion))
    np.testing.assert_allclose(back_enter, 1 - leave, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back_leave, 1 - enter, rtol=0, atol=1e-12)


# --- first contact ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BATCHES)
def test_first_impacts_match_dense_sampling(kind):
    motion = BATCHES[kind](np.random.default_rng(12), 800)
    found = first_impact(*motion)
    count = times(100, 50, full=200)
    samples = np.linspace(0, 1, count + 1)
    inside = np.array([separation_at(motion, time) < -1e-9 for time in samples])
    first = np.where(inside.any(axis=0), samples[inside.argmax(axis=0)], np.nan)
    hit = ~np.isnan(first)
    assert 100 < hit.sum() < 700
    assert (found.time <= first + 1e-12)[hit].all()
    assert (found.time > first - 1 / count - 1e-12)[hit].all()
    assert np.array_equal(found.time, time_of_impact(*motion), equal_nan=True)


# Without one-sided triangles: a sphere from behind overlaps them deeply when the contact begins to count.
@pytest.mark.parametrize("kind", [kind for kind in BATCHES if "one-sided" not in kind])
@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_first_impacts_are_on_both_surfaces_with_unit_normals(kind, scale):
    motion = scaled(BATCHES[kind](np.random.default_rng(13), 1000), scale)
    found = first_impact(*motion)
    miss = np.isnan(found.time)
    assert 200 < miss.sum() < 800
    assert np.isnan(found.point[miss]).all()
    assert np.isnan(found.normal[miss]).all()
    assert (found.status[miss] == ImpactStatus.EXACT).all()
    np.testing.assert_allclose(np.linalg.norm(found.normal[~miss], axis=1), 1, rtol=0, atol=1e-12)
    moving = found.time > 0
    assert moving.sum() > 100
    a, b = (
        at(start, end, found.time[moving])
        for start, end in zip(take_rows(motion, moving)[::2], take_rows(motion, moving)[1::2], strict=True)
    )
    assert (np.abs(separation(a, b)) <= 1e-12 * scale).all()
    point = Sphere(found.point[moving], 0.0)
    for shape in (a, b):
        assert (np.abs(separation(point, shape)) <= 1e-7 * scale).all()
    # The normal points from the first to the second, so a translation along it separates them.
    apart = separation(a, scenes.translated(b, 0.01 * scale * found.normal[moving]))
    assert (apart >= 0.009 * scale).all()


@pytest.mark.parametrize("kind", BATCHES)
def test_overlap_at_start_has_time_zero(kind):
    motion = BATCHES[kind](np.random.default_rng(14), 1000)
    found = first_impact(*motion)
    overlapping = overlaps(motion[0], motion[2])
    assert overlapping.sum() > 25
    assert np.array_equal(found.time == 0, overlapping)
    assert (np.abs(np.linalg.norm(found.normal[overlapping], axis=1) - 1) < 1e-12).all()


@pytest.mark.parametrize("kind", BATCHES)
def test_shapes_at_rest_match_static_overlap(kind):
    motion = BATCHES[kind](np.random.default_rng(15), 1000)
    a, b = motion[0], motion[2]
    found = first_impact(a, a, b, b)
    assert np.array_equal(~np.isnan(found.time), overlaps(a, b))
    assert (found.time[~np.isnan(found.time)] == 0).all()
    assert (found.status == ImpactStatus.EXACT).all()


@pytest.mark.parametrize("kind", BATCHES)
def test_contact_at_end_is_found(kind):
    # Ends that touch according to a static query: translated by the separation.
    motion = BATCHES[kind](np.random.default_rng(16), 1000)
    a, b = motion[1], motion[3]
    gap = separation(a, b)
    # Spheres behind a one-sided triangle have an infinite separation.
    rows = np.flatnonzero(np.isfinite(gap))
    (a_start, a, b_start, b), gap = take_rows(motion, rows), gap[rows]
    normal = witness_points(a, b).normal
    for closer in (0.0, 1e-12):
        # The first shape is translated, because triangles are at rest.
        end = scenes.translated(a, normal * (gap + closer)[:, None])
        touching = overlaps(end, b)
        assert touching.all() if closer else touching.mean() > 0.3
        assert not np.isnan(time_of_impact(a_start, end, b_start, b)[touching]).any()


# --- spans -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("clearance", [0.0, 0.3])
def test_spans_are_in_interval_and_join_adjacent_intervals(kind, clearance):
    motion = BATCHES[kind](np.random.default_rng(12), 3000)
    enter, leave = overlap_span(*motion, clearance=clearance)
    found = ~np.isnan(enter)
    assert np.array_equal(found, ~np.isnan(leave))
    assert ((enter[found] >= 0) & (enter[found] <= leave[found]) & (leave[found] <= 1)).all()
    a_start, a_end, b_start, b_end = motion
    for found_at, bound, a, b in ((enter, 0, a_start, b_start), (leave, 1, a_end, b_end)):
        near = separation(a, b) <= clearance
        sure = np.abs(separation(a, b) - clearance) > 1e-12
        assert np.array_equal((found_at == bound)[sure], near[sure])
        assert 50 < near.sum() < 2950


@pytest.mark.parametrize("kind", WITH_SINGLE_SPANS)
@pytest.mark.parametrize("clearance", [0.0, 0.25])
def test_spans_match_dense_sampling(kind, clearance):
    motion = BATCHES[kind](np.random.default_rng(13), 500)
    enter, leave = overlap_span(*motion, clearance=clearance)
    for time in np.linspace(0, 1, times(161, 81, full=401)):
        gap = separation_at(motion, time) - clearance
        inside = (enter <= time) & (time <= leave)
        sure = np.abs(gap) > 1e-9
        assert np.array_equal(inside[sure], (gap <= 0)[sure])


@pytest.mark.parametrize("kind", WITH_CLOSEST)
def test_no_sample_is_closer_than_closest_time(kind):
    motion = BATCHES[kind](np.random.default_rng(14), 2000)
    best = closest_time(*motion)
    assert ((best >= 0) & (best <= 1)).all()
    assert ((best > 0) & (best < 1)).sum() > 500
    least = separation_at(motion, best)
    for time in np.linspace(0, 1, times(121, 61, full=301)):
        gap = separation_at(motion, time)
        assert (least <= gap + 1e-13).all()
        # No earlier time is as close, up to rounding, because the first minimum is returned.
        assert (gap[time < best - 1e-3] > least[time < best - 1e-3] - 1e-13).all()


# --- rigid motion, scale, padding ------------------------------------------------------------------------


@st.composite
def balls(draw) -> list[Sphere]:
    """Two samples of a sphere."""
    return [Sphere(draw(scenes.POINT), draw(scenes.SIZE)) for _ in "ab"]


@st.composite
def turning_boxes(draw) -> list[Obb]:
    """Two samples of a box that rotates by up to four times 36.9 degrees about one of its axes."""
    start = draw(scenes.oriented_boxes())
    turn = np.linalg.matrix_power(scenes.rotation_3_4_5(draw(st.integers(0, 2))), draw(st.integers(0, 4)))
    return [start, Obb(draw(scenes.POINT), draw(scenes.SIZES), start.rotation @ turn)]


PAIRS = st.one_of(st.tuples(a, b) for a, b in [(balls(), balls()), (balls(), turning_boxes())])
PAIRS |= st.tuples(turning_boxes(), turning_boxes())


def assert_same_time(one: list, other: list, tolerance: float) -> None:
    """Assert that neither motion touches later than the other with its first shape slightly inflated."""
    for motion, also in ((one, other), (other, one)):
        sooner = first_impact(*(shape.padded(tolerance) for shape in also[:2]), *also[2:])
        found = first_impact(*motion)
        assume(sooner.status != ImpactStatus.UNRESOLVED and found.status != ImpactStatus.UNRESOLVED)
        assert np.isnan(found.time) or sooner.time <= found.time + 1e-12


@examples(50, full=150)
@given(PAIRS, st.integers(0, 2**31))
def test_rigid_motion_of_scene_keeps_time(pair, seed):
    rng = np.random.default_rng(seed)
    rotation, offset = scenes.random_rotations(rng, 1)[0], rng.normal(size=3) * 10
    motion = [*pair[0], *pair[1]]
    assert_same_time(motion, motions.rigidly_moved(motion, rotation, offset), 1e-9)


@settings(max_examples=times(50, 12, full=150))
@given(PAIRS, st.floats(-6, 6))
def test_unit_of_length_keeps_time(pair, exponent):
    motion = [*pair[0], *pair[1]]
    scale = 10.0**exponent
    seen = scaled(motion, scale)
    # Compared in the original unit.
    assert_same_time(motion, scaled(seen, 1 / scale), 1e-9)
    found, other = first_impact(*motion), first_impact(*seen)
    larger = first_impact(*(shape.padded(1e-9 * scale) for shape in seen[:2]), *seen[2:])
    assert np.isnan(found.time) or larger.time <= found.time + 1e-12
    assert other.status == found.status or np.isnan(other.time) != np.isnan(found.time)


@examples(66, full=200)
@given(PAIRS, scenes.SIZE, st.booleans())
def test_padding_does_not_delay_contact(pair, amount, second):
    motion = [*pair[0], *pair[1]]
    padded = list(motion)
    for index in (2, 3) if second else (0, 1):
        padded[index] = motion[index].padded(amount)
    found, sooner = first_impact(*motion), first_impact(*padded)
    assume(sooner.status != ImpactStatus.UNRESOLVED and found.status != ImpactStatus.UNRESOLVED)
    assert np.isnan(found.time) or sooner.time <= found.time + 1e-12


@pytest.mark.parametrize("kind", ["boxes", "sphere and box", "box and oriented box"])
def test_padding_of_axis_aligned_boxes_does_not_delay_contact(kind):
    motion = BATCHES[kind](np.random.default_rng(17), 2000)
    found = time_of_impact(*motion)
    for amount in (1e-9, 0.1, 1.0):
        padded = time_of_impact(motion[0].padded(amount), motion[1].padded(amount), *motion[2:])
        hit = ~np.isnan(found)
        assert (padded <= found + 1e-12)[hit].all()
