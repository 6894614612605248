"""Sweeps of oriented boxes without rotation, compared with exact rationals."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import ImpactStatus, Obb, first_impact, time_of_impact
from tests.core import scenes
from tests.core.exact import ExactBox
from tests.core.exact_sweeps import oriented_box_span
from tests.core.motions import (
    random_oriented_boxes,
    rotation_about,
    scaled,
)
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")


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
