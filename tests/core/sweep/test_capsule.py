"""Moving capsules, against closed forms and dense sampling."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Capsule,
    ImpactStatus,
    Obb,
    Sphere,
    at,
    first_impact,
    separation,
    time_of_impact,
)
from tests.core.motions import random_capsules, random_oriented_boxes, random_spheres
from tests.core.scenes import random_rotations
from tests.tiers import times


def random_motion(kind, rng: np.random.Generator, turns: bool):
    """Return a shape at times 0 and 1."""
    shapes = []
    axis = rng.normal(size=3)
    rotation = random_rotations(rng, 1)[0]
    half, radius = rng.uniform(0.1, 1, 3), rng.uniform(0.1, 0.6)
    for _ in range(2):
        center = rng.normal(size=3) * 1.2
        if turns:
            axis, rotation = axis + rng.normal(size=3) * 0.8, random_rotations(rng, 1)[0]
        unit = axis / np.linalg.norm(axis)
        shapes.append(
            {
                Capsule: lambda c=center, u=unit: Capsule(c, u, half[0], radius),
                Sphere: lambda c=center: Sphere(c, radius),
                Aabb: lambda c=center: Aabb(c - half, c + half),
                Obb: lambda c=center, r=rotation: Obb(c, half, r),
            }[kind]()
        )
    return shapes


@pytest.mark.parametrize("turns", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", [Capsule, Sphere, Aabb, Obb])
def test_time_of_impact_is_that_of_dense_sampling_and_never_late(kind, turns):
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(times(40, 25, full=100)):
        a, b = random_motion(Capsule, rng, turns), random_motion(kind, rng, turns)
        time = float(time_of_impact(*a, *b))
        steps = np.linspace(0, 1, times(501, 501, full=2001))
        gaps = separation(at(*a, steps), at(*b, steps))
        touching = np.flatnonzero(gaps <= 0)
        if not len(touching):
            assert np.isnan(time) or separation(at(*a, time), at(*b, time)) < 1e-9
            continue
        hits += 1
        first = steps[touching[0]]
        assert time <= first
        # At the time, the surfaces meet.
        gap = float(separation(at(*a, time), at(*b, time)))
        assert gap == pytest.approx(0, abs=1e-9) or (time == 0 and gap < 0)
    assert hits >= times(8, 5, full=16)


@pytest.mark.parametrize(
    "other", [random_capsules, random_spheres, random_oriented_boxes], ids=["capsule", "sphere", "box"]
)
def test_surfaces_of_turning_capsules_meet_at_the_time_of_impact(other):
    rng = np.random.default_rng(3)
    motion = [*random_capsules(rng, 2000)[:2], *other(rng, 2000)[2:]]
    impact = first_impact(*motion)
    # Steps can become so short that they end a few rounding errors before the contact.
    assert (impact.status == ImpactStatus.UNRESOLVED).sum() <= 2
    hits = impact.time > 0
    assert hits.sum() > 100
    a0, a1, b0, b1 = (shape[hits] for shape in motion)
    gaps = separation(at(a0, a1, impact.time[hits]), at(b0, b1, impact.time[hits]))
    assert np.abs(gaps).max() < 1e-13
    swapped = first_impact(*motion[2:], *motion[:2])
    np.testing.assert_allclose(swapped.time, impact.time, atol=1e-12)


def test_rod_that_falls_flat_on_a_floor_touches_by_its_radius():
    rod = [Capsule([0, 0, height], [1, 0, 0], 2, 0.25) for height in (3.0, 1.0)]
    floor = Aabb([-5, -5, -1], [5, 5, 1.25])
    impact = first_impact(*rod, floor, floor)
    assert impact.time == pytest.approx((3 - 1.5) / 2, abs=1e-12)
    assert impact.status == ImpactStatus.EXACT
    assert impact.normal == pytest.approx([0, 0, -1])


@pytest.mark.smoke
def test_turning_rod_hits_a_ball_when_the_arc_says_so():
    """A thin rod turns by a right angle about its middle; its tip line meets a ball at 60 degrees."""
    start, end = Capsule([0, 0, 0], [1, 0, 0], 2, 0.0), Capsule([0, 0, 0], [0, 1, 0], 2, 0.0)
    turn = np.radians(60)
    center = np.array([np.cos(turn), np.sin(turn), 0])
    # The line reaches a ball at distance 1 when it is asin(radius) short of its center.
    ball = Sphere(center, 0.1)
    expected = (turn - np.arcsin(0.1)) / (np.pi / 2)
    time = float(time_of_impact(start, end, ball, ball))
    assert time == pytest.approx(expected, abs=1e-9) and time <= expected + 1e-12


def test_parallel_capsules_that_pass_beyond_the_sum_of_radii_never_touch():
    a = [Capsule([x, 0.8, 0], [0, 0, 1], 1, 0.4) for x in (-5.0, 5.0)]
    b = Capsule([0, 0, 0], [0, 0, 1], 1, 0.39999)
    assert np.isnan(time_of_impact(*a, b, b))
    b = Capsule([0, 0, 0], [0, 0, 1], 1, 0.40001)
    assert time_of_impact(*a, b, b) == pytest.approx(0.5, abs=0.01)


def test_shapes_at_any_time_keep_unit_axes_and_equal_the_samples_at_the_ends():
    rng = np.random.default_rng(2)
    for _ in range(20):
        start, end = random_motion(Capsule, rng, True)
        times = np.linspace(0, 1, 11)
        path = at(start, end, times)
        np.testing.assert_allclose(np.linalg.norm(path.axis, axis=1), 1, rtol=1e-14)
        assert (path.axis[0] == start.axis).all() and (path.axis[-1] == end.axis).all()
        # The rate is constant: angles between neighbors are equal.
        cosines = (path.axis[1:] * path.axis[:-1]).sum(axis=1)
        np.testing.assert_allclose(cosines, cosines[0], rtol=1e-12)
    flipped = at(Capsule([0, 0, 0], [0, 0, 1], 1, 1), Capsule([0, 0, 0], [0, 0, -1], 1, 1), 0.5)
    assert flipped.axis[2] == pytest.approx(0, abs=1e-15)
