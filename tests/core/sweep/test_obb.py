"""Sweeps of rotating oriented boxes, compared with separating axes sampled at many times.

The samples are independent of the code under test: rotations and axes are computed here.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from addon.core import Aabb, ImpactStatus, Obb, Sphere, first_impact, overlaps, time_of_impact
from addon.core.shapes import concatenated
from tests.core import scenes
from tests.core.exact import ExactBox
from tests.core.exact_sweeps import GapMotion, oriented_box_span
from tests.core.motions import (
    random_oriented_boxes,
    random_sphere_and_oriented_box,
    rotation_about,
    scaled,
    separation_at,
    take_rows,
)
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")

X, Y, Z = np.eye(3)
CORNERS = np.array(list(product((-1, 1), repeat=3)), dtype=float)


# --- moving boxes as tests know them ---------------------------------------------------------------------


class Movers(NamedTuple):
    """Boxes (n,) in linear motion with linear growth, rotating about an axis by less than half a turn."""

    center: np.ndarray
    shift: np.ndarray
    half: np.ndarray
    growth: np.ndarray
    rotation: np.ndarray
    axis: np.ndarray
    angle: np.ndarray

    @classmethod
    def random(cls, rng: np.random.Generator, count: int, half, angle, spread: float = 3.0) -> Movers:
        center, end = rng.uniform(-spread, spread, (2, count, 3))
        return cls(
            center,
            end - center,
            np.broadcast_to(half, (count, 3)),
            np.zeros((count, 3)),
            scenes.random_rotations(rng, count),
            scenes.random_directions(rng, count),
            np.broadcast_to(angle, count),
        )

    def rotation_at(self, time: float) -> np.ndarray:
        return rotation_about(self.axis, self.angle * time) @ self.rotation

    def samples(self) -> list[Obb]:
        """Boxes at the start and at the end."""
        return [
            Obb(self.center + self.shift * t, self.half + self.growth * t, self.rotation_at(t))
            for t in (0.0, 1.0)
        ]


def separations_at(a: Movers, b: Movers, time: float, rows: np.ndarray) -> np.ndarray:
    """Signed gaps (k,) of pairs at `rows` along the best of 15 axes, from projections of the corners.

    A crossing of edges that are parallel but for 1e-6 is left out: it would say too little to matter.
    """
    axes, corners = [], []
    for mover in (a, b):
        mover = Movers(*(field[rows] for field in mover))
        rotation = mover.rotation_at(time)
        axes.append(np.swapaxes(rotation, 1, 2))
        sides = CORNERS * (mover.half + mover.growth * time)[:, None]
        corners.append(sides @ axes[-1])
    offset = (b.center - a.center)[rows] + (b.shift - a.shift)[rows] * time
    crossed = np.cross(axes[0][:, :, None], axes[1][:, None]).reshape(-1, 9, 3)
    directions = np.concatenate([*axes, crossed], axis=1)
    lengths = np.linalg.norm(directions, axis=2)
    on_a, on_b = (np.swapaxes(points @ np.swapaxes(directions, 1, 2), 1, 2) for points in corners)
    along = (directions @ offset[:, :, None])[..., 0]
    gaps = np.maximum(
        on_b.min(axis=2) + along - on_a.max(axis=2), on_a.min(axis=2) - along - on_b.max(axis=2)
    )
    gaps = np.divide(gaps, lengths, out=np.full_like(gaps, -np.inf), where=lengths > 1e-6)
    return gaps.max(axis=1)


def first_sampled(a: Movers, b: Movers, samples: int, depth: float) -> np.ndarray:
    """First sampled times (n,) at which the boxes overlap by `depth` or more; NaN for none."""
    first = np.full(len(a.center), np.nan)
    around = [np.linalg.norm(np.maximum(m.half, m.half + m.growth), axis=1) for m in (a, b)]
    for time in np.linspace(0, 1, samples + 1):
        offset = (b.center - a.center) + (b.shift - a.shift) * time
        rows = np.flatnonzero(np.isnan(first) & (np.linalg.norm(offset, axis=1) <= around[0] + around[1]))
        if len(rows):
            deep = separations_at(a, b, time, rows) <= -depth
            first[rows[deep]] = time
    return first


def assert_never_late_and_touching(a: Movers, b: Movers, samples: int, size: float = 1.0) -> np.ndarray:
    """Assert that no sample overlaps before the time of impact, and boxes touch at it; return the times."""
    found = first_impact(*a.samples(), *b.samples())
    first = first_sampled(a, b, samples, 1e-9 * size)
    hit = ~np.isnan(first)
    assert not np.isnan(found.time[hit]).any()
    assert (found.time[hit] <= first[hit] + 1e-12).all()
    assert (found.status != ImpactStatus.UNRESOLVED).all()
    moving = np.flatnonzero(found.time > 0)
    apart = [separations_at(a, b, found.time[i], np.array([i]))[0] for i in moving[:400]]
    assert np.abs(apart).max(initial=0) <= 1e-12 * size
    started = np.flatnonzero(found.time == 0)
    assert (separations_at(a, b, 0.0, started) <= 1e-12 * size).all()
    turns = (a.angle > 0) | (b.angle > 0)
    hits = ~np.isnan(found.time)
    assert (found.status == np.where(hits & turns, ImpactStatus.CONSERVATIVE, ImpactStatus.EXACT)).all()
    assert np.isfinite(found.point[hits]).all()
    assert np.isnan(found.point[~hits]).all()
    return found.time


# --- boxes that turn -------------------------------------------------------------------------------------


def test_ten_thousand_rotating_pairs_are_never_late_or_missed():
    rng = np.random.default_rng(41)
    count = times(10_000, 2000)
    angles = rng.uniform(0, np.pi * 0.99, (2, count))
    a, b = (Movers.random(rng, count, rng.uniform(0.1, 1, (count, 3)), angle) for angle in angles)
    found = assert_never_late_and_touching(a, b, times(200, 100))
    assert 0.2 * count < (~np.isnan(found)).sum() < 0.8 * count
    assert (found > 0).sum() > 0.15 * count


def rods(rng, count):
    a = Movers.random(rng, count, [2, 0.02, 0.02], rng.uniform(0, 3, count), 1)
    return a, Movers.random(rng, count, [1.5, 0.02, 0.05], rng.uniform(0, 3, count), 1)


def plates(rng, count):
    a = Movers.random(rng, count, [1, 1, 0.001], rng.uniform(0, 3, count), 2)
    return a, Movers.random(rng, count, [1, 0.5, 0], rng.uniform(0, 3, count), 2)


def needles_and_points(rng, count):
    a = Movers.random(rng, count, [2, 0, 0], rng.uniform(2, 3, count), 0.3)
    return a, Movers.random(rng, count, np.where(rng.random((count, 1)) < 0.5, 0.0, [0.5, 0.5, 0]), 0.0, 0.7)


def spinning_in_place(rng, count):
    pair = [
        Movers.random(rng, count, rng.uniform(0.2, 1, (count, 3)), rng.uniform(1, 3.1, count), 1)
        for _ in "ab"
    ]
    apart = scenes.random_directions(rng, count) * rng.uniform(0.8, 2.5, (count, 1))
    still = np.zeros((count, 3))
    return pair[0]._replace(center=still, shift=still), pair[1]._replace(center=apart, shift=still)


def nearly_half_turns(rng, count):
    return tuple(
        Movers.random(
            rng, count, rng.uniform(0.1, 1, (count, 3)), np.pi - 10.0 ** rng.uniform(-9, -2, count), 2
        )
        for _ in "ab"
    )


def one_turns(rng, count):
    a = Movers.random(rng, count, rng.uniform(0.1, 1, (count, 3)), rng.uniform(0, 3, count), 2)
    return a, Movers.random(rng, count, rng.uniform(0.1, 1, (count, 3)), 0.0, 2)


def tiny_turns(rng, count):
    return tuple(
        Movers.random(rng, count, rng.uniform(0.1, 1, (count, 3)), 10.0 ** rng.uniform(-14, -2, count), 2)
        for _ in "ab"
    )


def growing(rng, count):
    made = []
    for _ in "ab":
        mover = Movers.random(rng, count, rng.uniform(0, 1, (count, 3)), rng.uniform(0, 3, count), 3)
        made.append(mover._replace(growth=rng.uniform(0, 1, (count, 3)) - mover.half))
    return tuple(made)


def aligned_spins(rng, count):
    """Boxes spinning on a floor: parallel axes and faces, gaps down to 1e-12 or overlapping."""
    floor = Movers.random(rng, count, [5, 5, 1], 0.0)
    still = np.zeros((count, 3))
    floor = floor._replace(center=still - Z, shift=still, rotation=np.tile(np.eye(3), (count, 1, 1)))
    half = rng.uniform(0.2, 1, (count, 3))
    gap = rng.choice([-1e-3, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2], count)
    center = np.column_stack([rng.uniform(-3, 3, (count, 2)), half[:, 2] + gap])
    spin = Movers.random(rng, count, half, rng.uniform(0.1, 3.1, count))
    shift = np.column_stack([rng.uniform(-2, 2, (count, 2)), np.zeros(count)])
    axis = np.where(rng.random((count, 1)) < 0.8, Z, X)
    return floor, spin._replace(
        center=center, shift=shift, axis=axis, rotation=np.tile(np.eye(3), (count, 1, 1))
    )


def far_from_the_origin(rng, count):
    """Boxes a million units away, at positions in steps of 2^-20, so that sums are exact."""
    base = np.round(rng.normal(size=(count, 3)) * 1e6)
    made = []
    for mover in growing(rng, count):
        center, shift = (np.round(v * 2.0**20) / 2.0**20 for v in (mover.center, mover.shift))
        made.append(mover._replace(center=center + base, shift=shift + base[::-1]))
    return tuple(made)


FAMILIES = {
    family.__name__: family
    for family in (
        rods,
        plates,
        needles_and_points,
        spinning_in_place,
        nearly_half_turns,
        one_turns,
        tiny_turns,
        growing,
        aligned_spins,
        far_from_the_origin,
    )
}


@pytest.mark.parametrize("family", FAMILIES)
def test_families_of_rotating_pairs_are_never_late_or_missed(family):
    count = times(600, 200)
    a, b = FAMILIES[family](np.random.default_rng(42), count)
    found = assert_never_late_and_touching(a, b, times(150, 60))
    assert (~np.isnan(found)).sum() > count / 10
    assert np.isnan(found).sum() > count / 10


@pytest.mark.parametrize("size", [1e-150, 1e-6, 1e6, 1e150])
def test_rotating_pairs_of_any_size_are_never_late_or_missed(size):
    rng = np.random.default_rng(43)
    a, b = (
        mover._replace(
            **{name: getattr(mover, name) * size for name in ("center", "shift", "half", "growth")}
        )
        for mover in growing(rng, 300)
    )
    assert (~np.isnan(assert_never_late_and_touching(a, b, 60, size))).sum() > 60


# --- turns with a known answer ---------------------------------------------------------------------------


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


# --- boxes that only move --------------------------------------------------------------------------------


def solid(box: Obb, index: int) -> ExactBox:
    return ExactBox.of(box.center[index], box.half_extents[index], box.rotation[index])


@pytest.mark.parametrize("scale", [1e-150, 1e-6, 1.0, 1e6, 1e150])
def test_translating_growing_oriented_boxes_match_exact_rationals(scale):
    motion = scaled(random_oriented_boxes(np.random.default_rng(46), 120, max_rotation=0), scale)
    found = first_impact(*motion)
    assert (found.status == ImpactStatus.EXACT).all()
    assert 20 < np.isnan(found.time).sum() < 100
    assert (found.time > 0).sum() > 15
    for i, time in enumerate(found.time[: times(120, 25)].tolist()):
        truth = oriented_box_span(*(solid(box, i) for box in motion))
        assert np.isnan(time) == (truth is None)
        if truth is not None:
            assert time == pytest.approx(float(truth.enter), abs=1e-12)


def test_flat_and_aligned_boxes_match_exact_rationals():
    # Parallel axes, zero extents and exact contacts; quarters and quarter turns keep all numbers exact.
    rng = np.random.default_rng(47)
    count = 300
    shapes = []
    for _ in "ab":
        rotation = np.array(scenes.QUARTER_TURNS)[rng.integers(0, 24, count)]
        half = rng.integers(0, 5, (count, 3)) / 4
        shapes += [Obb(rng.integers(-8, 9, (count, 3)) / 4, half, rotation) for _ in range(2)]
    found = time_of_impact(*shapes)
    assert (~np.isnan(found)).sum() > 50
    for i, time in enumerate(found[: times(count, 100)].tolist()):
        truth = oriented_box_span(*(solid(box, i) for box in shapes))
        assert np.isnan(time) == (truth is None)
        if truth is not None:
            assert time == pytest.approx(float(truth.enter), abs=1e-15)


def test_nearly_parallel_edges_do_not_separate_boxes():
    # The cross product of nearly parallel edges is rounding noise.
    rng = np.random.default_rng(48)
    count = 400
    rotation = scenes.random_rotations(rng, count)
    tilt = rotation_about(scenes.random_directions(rng, count), 10.0 ** rng.uniform(-17, -5, count))
    half = rng.uniform(0.1, 1, (2, count, 3))
    positions = rng.uniform(-3, 3, (3, count, 3))
    aim = -positions[0] * rng.uniform(0, 1.5, (count, 1)) + positions[2] * 0.3
    a, b = (
        Obb(np.zeros((count, 3)), half[0], rotation),
        [Obb(position, half[1], tilt @ rotation) for position in (positions[0], aim)],
    )
    found = time_of_impact(a, a, *b)
    assert (found > 0).sum() > 100
    for i, time in enumerate(found[: times(count, 60)].tolist()):
        truth = oriented_box_span(*(solid(box, i) for box in (a, a, *b)))
        assert np.isnan(time) == (truth is None)
        if truth is not None:
            assert time == pytest.approx(float(truth.enter), abs=1e-12)


def test_boxes_from_million_sizes_are_accurate_to_rounding_of_path():
    rng = np.random.default_rng(49)
    count = 100
    rotation = scenes.random_rotations(rng, 2 * count).reshape(2, count, 3, 3)
    path = scenes.random_directions(rng, count) * 1e6
    still, near = np.zeros((count, 3)), rng.uniform(-0.5, 0.5, (count, 3))
    a = Obb(still, rng.uniform(0.5, 1, (count, 3)), rotation[0])
    b = [Obb(near + path * s, rng.uniform(0.5, 1, (count, 3)) * 0 + 0.5, rotation[1]) for s in (-0.7, 0.3)]
    found = time_of_impact(a, a, *b)
    for i, time in enumerate(found[: times(count, 25)].tolist()):
        truth = oriented_box_span(*(solid(box, i) for box in (a, a, *b)))
        assert abs(time - float(truth.enter)) * 1e6 <= 2e-9


# --- spheres ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_spheres_and_translating_boxes_match_exact_rationals(scale):
    # Quarters and quarter turns, so that the local coordinates are exact and GapMotion gives the reference.
    rng = np.random.default_rng(50)
    count = 300
    rotation = np.array(scenes.QUARTER_TURNS)[rng.integers(0, 24, count)]
    center, half = rng.integers(-8, 9, (2, count, 3)) / 4, rng.integers(0, 9, (2, count, 3)) / 4
    positions, radii = rng.integers(-20, 21, (2, count, 3)) / 4, rng.integers(0, 9, (2, count)) / 4
    motion = [Sphere(p, r) for p, r in zip(positions, radii, strict=True)]
    motion += [Obb(c, h, rotation) for c, h in zip(center, half, strict=True)]
    found = first_impact(*scaled(motion, scale))
    assert (found.status == ImpactStatus.EXACT).all()
    assert 50 < (~np.isnan(found.time)).sum() < 250
    for i, time in enumerate(found.time[: times(count, 75)].tolist()):
        seen = [rotation[i].T @ (p[i] - c[i]) for p, c in zip(positions, center, strict=True)]
        truth = GapMotion.of_sphere_and_box(
            *((p, r[i]) for p, r in zip(seen, radii, strict=True)), *((-h[i], h[i]) for h in half)
        )
        assert np.isnan(time) == (truth.first is None)
        if truth.first is not None:
            assert time == pytest.approx(truth.first, abs=1e-7)
            assert abs(truth.f(time)) <= 1e-12 * truth.scale or time == 0


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_spheres_and_rotating_boxes_match_dense_sampling(scale):
    rng = np.random.default_rng(51)
    count = 2000
    ball0, ball1, *_ = random_sphere_and_oriented_box(rng, count)
    box, _ = growing(rng, count)
    motion = scaled([ball0, ball1, *box.samples()], scale)
    found = first_impact(*motion)
    assert (found.status != ImpactStatus.UNRESOLVED).all()
    first = np.full(count, np.nan)
    for t in np.linspace(0, 1, 201):
        center = ball0.center * (1 - t) + ball1.center * t - (box.center + box.shift * t)
        local = np.einsum("nji,nj->ni", box.rotation_at(t), center)
        half = box.half + box.growth * t
        distance = np.linalg.norm(local - np.clip(local, -half, half), axis=1)
        inside = distance <= ball0.radius * (1 - t) + ball1.radius * t - 1e-9
        first = np.where(inside & np.isnan(first), t, first)
    hit = ~np.isnan(first)
    assert hit.sum() > 300
    assert not np.isnan(found.time[hit]).any()
    assert (found.time <= first + 1e-12)[hit].all()
    moving = found.time > 0
    gaps = separation_at(take_rows(motion, moving), found.time[moving])
    assert (np.abs(gaps) <= 1e-12 * scale).all()
    # The point is on the sphere, and the normal points from its center to it.
    ball = take_rows(motion, moving)[:2]
    t = found.time[moving, None]
    center = ball[0].center * (1 - t) + ball[1].center * t
    radius = ball[0].radius[:, None] * (1 - t) + ball[1].radius[:, None] * t
    reach = center + found.normal[moving] * radius
    np.testing.assert_allclose(found.point[moving], reach, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("scenario", "ball", "expected"),
    [
        ("inside", ([0, 0, 0], 0.1), 0.0),
        ("touching a face at the start", ([0, 0, 1.5], 0.5), 0.0),
        # The corner, sqrt(2) from the center, is at the top after an eighth of a turn: reach sqrt(2) + 0.25.
        ("touched by the corner at the top of its path", ([0, 0, np.sqrt(2) + 0.25], 0.25 + 1e-12), 0.5),
        ("out of its reach", ([0, 0, np.sqrt(2) + 0.25], 0.25 - 1e-12), np.nan),
        # Three above the center, the face leans away: 3 cos(angle) - 1 = 1.9, closest inside of the face.
        ("touched by a face", ([0, 0, 3], 1.9), np.arccos(2.9 / 3) / (np.pi / 2)),
        # The edge, at distance sqrt(2) and an angle of 45 degrees - angle: 2 + 9 - 6 sqrt(2) cos = 1.7^2.
        (
            "touched by an edge",
            ([0, 0, 3], 1.7),
            (np.pi / 4 - np.arccos((11 - 1.7**2) / np.sqrt(72))) / (np.pi / 2),
        ),
    ],
)
def test_sphere_at_rest_next_to_spinning_box(scenario, ball, expected):
    spin = [Obb([0, 0, 0], [1, 1, 1], rotation_about(X, np.array(angle))) for angle in (0, np.pi / 2)]
    found = time_of_impact(Sphere(*ball), Sphere(*ball), *spin)
    # At the top of its path an edge grazes, so the time has half of its digits.
    assert found == pytest.approx(expected, abs=1e-5 if "top" in scenario else 1e-13, nan_ok=True), scenario


def test_growing_sphere_touches_spinning_box():
    # The face stays 1 from the center, the sphere is 3 away along the axis of rotation: 3 - 1 = 4 t.
    spin = [Obb([0, 0, 0], [1, 1, 1], rotation_about(Z, np.array(angle))) for angle in (0, 3)]
    found = first_impact(Sphere([0, 0, 3], 0), Sphere([0, 0, 3], 4), *spin)
    assert found.time == pytest.approx(0.5, abs=1e-14)
    assert found.status == ImpactStatus.CONSERVATIVE
    np.testing.assert_allclose(found.point, [0, 0, 1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.normal, [0, 0, -1], rtol=0, atol=1e-12)
