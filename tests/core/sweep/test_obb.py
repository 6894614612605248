"""Sweeps of oriented boxes: rotating ones by separating axes at many times, others by exact rationals."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import ImpactStatus, Obb, first_impact, time_of_impact
from addon.core.sweep.gap_advancement import BoxPairMotion, GapAxis, gap_curvature_bound, largest_gap
from tests.core import scenes
from tests.core.exact import ExactBox
from tests.core.motions import random_oriented_boxes, rotation_about, scaled
from tests.core.rotating_boxes import Movers, assert_never_late_and_touching, growing
from tests.core.sweep.exact_sweeps import oriented_box_span
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")

X, Y, Z = np.eye(3)


def test_ten_thousand_rotating_pairs_are_never_late_or_missed():
    rng = np.random.default_rng(41)
    count = times(5000, 2000, full=10_000)
    angles = rng.uniform(0, np.pi * 0.99, (2, count))
    a, b = (Movers.random(rng, count, rng.uniform(0.1, 1, (count, 3)), angle) for angle in angles)
    found = assert_never_late_and_touching(a, b, times(100, full=200))
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
    count = times(300, 200, full=600)
    a, b = FAMILIES[family](np.random.default_rng(42), count)
    found = assert_never_late_and_touching(a, b, times(80, 60, full=150))
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


# --- the bound of the curvature --------------------------------------------------------------------------


def spinning_pairs(count: int, growth: float, speed: float, opposite: bool) -> BoxPairMotion:
    """Disjoint boxes that spin, grow and move apart; with `opposite`, against each other about one axis."""
    rng = np.random.default_rng(11)
    turn = [scenes.random_rotations(rng, count) for _ in range(2)]
    about = [scenes.random_directions(rng, count) for _ in range(2)]
    angle = rng.uniform(0.5, 3, (2, count))
    if opposite:
        about[1], angle[1] = -about[0], angle[0]
    end = [
        np.stack([rotation_about(*each) for each in zip(about[k], angle[k], strict=True)]) @ turn[k]
        for k in range(2)
    ]
    half = rng.uniform(0.05, 0.5, (2, count, 3))
    center = scenes.random_directions(rng, count) * 2
    boxes = (
        Obb(np.zeros((count, 3)), half[0], turn[0]),
        Obb(np.zeros((count, 3)), half[0] * growth, end[0]),
        Obb(center, half[1], turn[1]),
        Obb(center * speed, half[1] * growth, end[1]),
    )
    return BoxPairMotion.of(boxes, np.zeros(count), np.zeros(count))


def test_curvature_bound_holds_for_an_offset_that_doubles():
    # Two small cubes at the offset (1 + t) X. The first turns by half a turn about Z, and its face normal is
    # followed. At the end the normal is opposite to the offset 2 X, and its second derivative is pi^2.
    small, turn = np.full(3, 2.0**-20), rotation_about(np.array([0.0, 0, 1]), np.array(np.pi))
    placed = ((0, np.eye(3)), (0, turn), (1, np.eye(3)), (2, np.eye(3)))
    boxes = tuple(Obb([[x, 0, 0]], [small], [rotation]) for x, rotation in placed)
    motion = BoxPairMotion.of(boxes, np.zeros(1), np.zeros(1))
    _, axis = largest_gap(motion, np.zeros(1), is_rounded=False)
    bound = gap_curvature_bound(motion, axis, np.ones(1)) / motion.offset[0]
    assert 2 * np.pi**2 <= bound <= 2 * np.pi**2 + 2 * np.pi + 1e-3


def test_curvature_bound_holds_along_a_direction_at_rest():
    # A cube turns about the diagonal (1, 1, 1). Its reach along X curves by up to w^2 times the distance of a
    # corner from that axis.
    turn = rotation_about(np.ones(3) / np.sqrt(3), np.array(np.sqrt(3)))
    cube = [Obb([[0, 0, 0]], [[1, 1, 1]], [rotation]) for rotation in (np.eye(3), turn)]
    speck = Obb([[2.0**-20, 0, 0]], [[2.0**-20] * 3], [np.eye(3)])
    motion = BoxPairMotion.of((*cube, speck, speck), np.zeros(1), np.zeros(1))
    x, unused = np.array([[1.0], [0], [0]]), np.zeros(1, dtype=np.int64)
    axis = GapAxis(np.zeros(1), x, unused, x, unused, unused, np.ones(1))
    bound = gap_curvature_bound(motion, axis, np.ones(1))
    step = 1e-3
    times = np.arange(0, 1, step)
    corner = np.array([1.0, 1, -1])
    path = [(rotation_about(np.ones(3) / np.sqrt(3), np.array(np.sqrt(3) * t)) @ corner)[0] for t in times]
    curvature = np.abs(np.diff(path, 2)).max() / step**2
    assert curvature > 3
    # The motion is in units of the pair's size.
    assert bound / motion.half[0, 0] >= curvature - 1e-4


@pytest.mark.parametrize("opposite", [False, True])
@pytest.mark.parametrize(("growth", "speed"), [(1, 1), (1, 6), (4, 1), (0.25, 0.5)])
def test_gap_along_an_axis_never_curves_more_than_its_bound(growth, speed, opposite):
    count, step = 150, 1e-3
    motion = spinning_pairs(count, growth, speed, opposite)

    def gap_at(axis: GapAxis, time: float) -> np.ndarray:
        offset, half, rotation, _ = motion.at(np.full(count, time))
        gap = (axis.at(rotation) * offset).sum(axis=0)
        for k in range(2):
            along = (axis.at(rotation)[:, None] * rotation[k]).sum(axis=0)
            gap -= (half[k] * np.abs(along)).sum(axis=0)
        return gap

    for trial in (1.0, 0.1):
        _, axis = largest_gap(motion, np.zeros(count), is_rounded=False)
        bound = gap_curvature_bound(motion, axis, np.full(count, trial))
        curvature = [
            (gap_at(axis, time - step) + gap_at(axis, time + step) - 2 * gap_at(axis, time)) / step**2
            for time in np.linspace(step, trial - step, 25)
        ]
        assert (np.max(curvature, axis=0) <= bound * (1 + 1e-6) + 1e-8).all()


# --- without rotation, compared with exact rationals ----------------------------------------


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
