"""Sweeps of rotating oriented boxes with known times of impact."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, ImpactStatus, Obb, first_impact, overlaps, time_of_impact
from addon.core.shapes import concatenated
from tests.core import scenes
from tests.core.motions import (
    random_oriented_boxes,
    rotation_about,
)

pytestmark = pytest.mark.filterwarnings("error")

X, Y, Z = np.eye(3)


def rolled(angle: float) -> np.ndarray:
    """Rotation about X, the long axis of a rod."""
    return rotation_about(X, np.array(angle))


def assert_hits(found, expected: float, abs_error: float = 1e-12) -> None:
    assert found.time == pytest.approx(expected, abs=abs_error)
    assert found.time <= expected + 1e-15
    assert found.status == ImpactStatus.CONSERVATIVE


@pytest.mark.parametrize("degrees", [0, 10, 45, 70])
def test_rotating_rod_touches_box_at_same_time_for_every_roll(degrees):
    # A rod of half extents (2, 0.1, 0.1) rotates from +X to +Y about its middle. Rolled by f, its leading
    # edge is h = 0.1 (cos f + sin f) ahead of its axis. A corner one unit from the middle, at the angle c,
    # touches that edge at the rotation c - asin(h). The box is beyond the corner, seen from the rod.
    ahead = 0.1 * (np.cos(np.radians(degrees)) + np.sin(np.radians(degrees)))
    at_corner = 0.9092 * np.pi / 2 + np.arcsin(ahead)
    corner = np.array([np.cos(at_corner), np.sin(at_corner), 0])
    box = Aabb(np.add(corner, [-1, 0, -0.5]), np.add(corner, [0, 1, 0.5]))
    start = Obb([0, 0, 0], [2, 0.1, 0.1], rolled(np.radians(degrees)))
    end = Obb([0, 0, 0], [2, 0.1, 0.1], rotation_about(Z, np.array(np.pi / 2)) @ start.rotation)
    assert_hits(first_impact(start, end, box, box), 0.9092)
    found = first_impact(box, box, start, end)
    assert_hits(found, 0.9092)
    # The corner is a vertical edge. The leading edge touches it at its own height, a face in the middle.
    height = 0.1 * (np.sin(np.radians(degrees)) - np.cos(np.radians(degrees))) if degrees else 0
    np.testing.assert_allclose(found.point, [corner[0], corner[1], height], rtol=0, atol=1e-7)
    # From the box to the rod, against the rotation.
    leading = rotation_about(Z, np.array(0.9092 * np.pi / 2)) @ Y
    np.testing.assert_allclose(found.normal, -leading, rtol=0, atol=1e-7)


@pytest.mark.parametrize(("degrees", "expected"), [(0, 0.9092), (20, 0.8911), (45, 0.8826)])
def test_rolled_rod_touches_box_sooner(degrees, expected):
    # The same box for all: its corner is at 0.9092 * 90 + asin(0.1) = 87.567 degrees. Rolled by 45 degrees
    # the edge is asin(0.141421) = 8.130 degrees ahead: (87.567 - 8.130) / 90 = 0.8826.
    at_corner = 0.9092 * np.pi / 2 + np.arcsin(0.1)
    corner = np.array([np.cos(at_corner), np.sin(at_corner), 0])
    box = Aabb(np.add(corner, [-1, 0, -0.5]), np.add(corner, [0, 1, 0.5]))
    start = Obb([0, 0, 0], [2, 0.1, 0.1], rolled(np.radians(degrees)))
    end = Obb([0, 0, 0], [2, 0.1, 0.1], rotation_about(Z, np.array(np.pi / 2)) @ start.rotation)
    ahead = 0.1 * (np.cos(np.radians(degrees)) + np.sin(np.radians(degrees)))
    formula = (at_corner - np.arcsin(ahead)) / (np.pi / 2)
    assert formula == pytest.approx(expected, abs=5e-5)
    assert_hits(first_impact(start, end, box, box), formula)


def test_spinning_square_touches_ceiling_with_corner():
    # A square prism of half 1 reaches sqrt(2) cos(45 degrees - angle) up: 1.25 where that angle is
    # acos(1.25 / sqrt(2)).
    spin = [Obb([0, 0, 0], [1, 1, 1], rotation_about(X, np.array(angle))) for angle in (0, np.pi / 2)]
    ceiling = Aabb([-5, -5, 1.25], [5, 5, 2])
    expected = (np.pi / 4 - np.arccos(1.25 / np.sqrt(2))) / (np.pi / 2)
    assert_hits(first_impact(*spin, ceiling, ceiling), expected)
    # It grazes a ceiling just below the peak of the corner, and never touches one just above.
    for height, hits in ((np.sqrt(2) - 1e-9, True), (np.sqrt(2) + 1e-9, False)):
        ceiling = Aabb([-5, -5, height], [5, 5, 2])
        found = first_impact(*spin, ceiling, ceiling)
        assert found.status == (ImpactStatus.CONSERVATIVE if hits else ImpactStatus.EXACT)
        assert found.time == pytest.approx(0.5, abs=1e-4) if hits else np.isnan(found.time)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("angle", [0.3, 1.6, 3.1])
def test_box_spinning_parallel_to_floor_never_touches(gap, angle):
    floor = Obb([0, 0, -1], [5, 5, 1], np.eye(3))
    spin = [Obb([0, 0, 1 + gap], [1, 1, 1], rotation_about(Z, np.array(a))) for a in (0, angle)]
    for motion in ([*spin, floor, floor], [floor, floor, *spin]):
        found = first_impact(*motion)
        assert np.isnan(found.time)
        assert found.status == ImpactStatus.EXACT


def test_rotating_box_that_lands_at_end_touches():
    # Arbitrary half extents. The box ends flat on the floor, with the same rounding as in a static query.
    rng = np.random.default_rng(44)
    count = 2000
    half = rng.uniform(0.1, 1, (count, 3))
    end = Obb(half * [0, 0, 1] + rng.normal(size=(count, 3)) * [1, 1, 0], half, np.eye(3))
    angle = rng.uniform(0.1, 3, count) * rng.choice([0, 1], count)
    start = Obb(end.center + 4 * Z, half, rotation_about(scenes.random_directions(rng, count), angle))
    floor = Aabb([-9, -9, -1], [9, 9, 0])
    assert overlaps(end, floor).all()
    found = time_of_impact(start, end, floor, floor)
    assert not np.isnan(found).any()
    still = angle == 0
    np.testing.assert_allclose(found[still], 1, rtol=0, atol=1e-15)


def test_unresolved_time_is_not_late():
    # Two needles cross at a distance and spin about their own axes. The curvature bound assumes that this
    # rotates the cross product of their edges, so the steps are too small to reach the end.
    needle = [1, 0, 0]
    low = [Obb([0, 0, 0], needle, rotation_about(X, np.array(angle))) for angle in (0, 3)]
    high = [
        Obb([0, 0, 1e-9], needle, rotation_about(Z, np.array(np.pi / 2)) @ rotation_about(X, np.array(a)))
        for a in (0, 3)
    ]
    found = first_impact(*low, *high)
    assert found.status == ImpactStatus.UNRESOLVED
    assert 0 < found.time < 1
    assert np.isfinite(found.point).all()
    np.testing.assert_allclose(np.abs(found.normal), Z, rtol=0, atol=1e-6)
    # A similar pair that touches: the time is not later.
    high = [
        Obb(center, needle, box.rotation)
        for center, box in zip(([0, 0, 1e-9], [0, 0, -1]), high, strict=True)
    ]
    assert time_of_impact(*low, *high) <= 1e-9


@pytest.mark.smoke
def test_mixed_batch_of_rotating_and_translating_pairs_stays_exact():
    rng = np.random.default_rng(45)
    turning, sliding = random_oriented_boxes(rng, 300), random_oriented_boxes(rng, 300, max_rotation=0)
    both = [
        Obb(*(np.concatenate([getattr(m, name), getattr(s, name)]) for name in Obb.field_shapes))
        for m, s in zip(turning, sliding, strict=True)
    ]
    found = first_impact(*both)
    alone = first_impact(*sliding)
    assert (found.status[300:] == ImpactStatus.EXACT).all()
    np.testing.assert_allclose(found.time[300:], alone.time, rtol=0, atol=1e-13)
    assert (found.status[:300] == np.where(np.isnan(found.time[:300]), 0, 1)).all()


def test_translating_pair_is_exact_after_rotating_pair_finishes():
    # Each in a batch with a rotating pair that is in contact from the start, so only the other pair
    # continues.
    sliding = random_oriented_boxes(np.random.default_rng(46), 60, max_rotation=0)
    alone = time_of_impact(*sliding)
    assert np.isfinite(alone).sum() > 20
    sides, half_turn = np.ones((1, 3)), np.diag([-1.0, -1.0, 1.0])[None]
    turning = [
        Obb(np.zeros((1, 3)), sides, turn) for turn in (np.eye(3)[None], half_turn, half_turn, half_turn)
    ]
    for k in range(60):
        found = time_of_impact(
            *(concatenated(m[k : k + 1], t) for m, t in zip(sliding, turning, strict=True))
        )
        assert found.tolist() == [pytest.approx(alone[k], abs=1e-12, nan_ok=True), 0.0]


def test_rotation_by_rounding_errors_does_not_change_the_time():
    # A cube turned by 45 degrees about Z reaches sqrt(2) along X. The gap is 1, and the path 4 long.
    turned = rotation_about(Z, np.array(np.pi / 4))
    end = np.where(np.abs(turned) < 1, np.nextafter(turned, 2), turned)
    cube, cube_end = (Obb([0, 0, 0], [1, 1, 1], rotation) for rotation in (turned, end))
    start, stop = (Aabb([np.sqrt(2) + x, -1, -1], [np.sqrt(2) + x + 2, 1, 1]) for x in (1, -3))
    found = first_impact(cube, cube_end, start, stop)
    assert found.time == pytest.approx(0.25, abs=1e-12)
    assert found.time <= 0.25 + 1e-15


def test_box_that_stops_just_before_contact_never_touches():
    # The gap at the end is a few rounding errors, little more than the gap of a contact.
    box = Obb([0, 0, 0], [0.25, 0.25, 0.25], np.eye(3))
    start, end = (Obb([0.5 + gap, 0, 0], box.half_extents, box.rotation) for gap in (1, 12 * 2.0**-52))
    for motion in ([box, box, start, end], [start, end, box, box]):
        found = first_impact(*motion)
        assert np.isnan(found.time)
        assert found.status == ImpactStatus.EXACT


@pytest.mark.parametrize("path", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("turn", [0.0, 1e-3])
def test_cubes_meeting_with_their_corners_touch_in_time(path, turn):
    # The diagonals of both cubes are along X, so their bounding spheres touch at the same time. A turn about
    # X leaves the corners in place.
    onto_x = rotation_about(np.array([0.0, 1, -1]) / np.sqrt(2), np.array(-np.arccos(1 / np.sqrt(3))))
    if (onto_x @ np.ones(3))[0] < 1.7:
        onto_x = onto_x.T
    np.testing.assert_allclose(onto_x @ np.ones(3), [np.sqrt(3), 0, 0], rtol=0, atol=1e-15)
    first = Obb([0, 0, 0], np.ones(3), onto_x)
    last = Obb([0, 0, 0], np.ones(3), rolled(turn) @ onto_x)
    there = [Obb([2 * np.sqrt(3) + x, 0, 0], np.ones(3), onto_x) for x in (path / 2, -path / 2)]
    for motion in ([first, last, *there], [*there, first, last]):
        found = time_of_impact(*motion)
        assert 0.5 - 1e-14 / path - 1e-9 <= found <= 0.5 + 1e-14 / path
