"""Skipping pairs must not change the result, which is compared with testing each pair in each interval."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from addon.core import Aabb, InvalidShapeError, Obb, Sphere, time_of_impact
from addon.core.numeric.arrays import rotation_matrix
from benchmarks.pair_tracking import SweptPairs
from tests.tiers import times

FRAMES = times(60, 20)


def swarm(kind: str, count: int = 40, frames: int = FRAMES) -> list:
    """Generate shapes that move in a room at very different speeds; one jumps across and back."""
    rng = np.random.default_rng(11)
    start, drift, phase = (
        rng.uniform(-5, 5, (count, 3)),
        rng.normal(size=(count, 3)),
        rng.uniform(0, 6, (count, 3)),
    )
    drift *= rng.choice([0.0, 0.02, 0.1], (count, 1))
    size = rng.uniform(0.2, 1.0, (count, 3))
    quaternions = rng.normal(size=(count, 4))
    samples = []
    for frame in range(frames):
        center = start + drift * frame + 2 * np.sin(phase + 0.2 * frame)
        center[0] = [-30, 0, 0] if frame % 7 else [30, 0, 0]
        grown = size * (1 + 0.3 * np.sin(0.3 * frame))
        if kind == "sphere":
            samples.append(Sphere(center, grown[:, 0]))
        elif kind == "aabb":
            samples.append(Aabb(center - grown, center + grown))
        else:
            spun = quaternions + 0.1 * frame * np.roll(quaternions, 1, axis=1)
            samples.append(Obb(center, grown, [rotation_matrix(q) for q in spun]))
    return samples


@pytest.mark.parametrize("kind", ["sphere", "aabb", "obb"])
@pytest.mark.parametrize("skipping", [True, False])
def test_hits_agree_with_testing_every_pair_in_every_interval(kind, skipping):
    samples = swarm(kind)
    pairs = np.argwhere(np.triu(np.ones((40, 40), dtype=bool), 1))
    swept = SweptPairs(pairs, samples[0], skipping=skipping)
    first, second = pairs.T
    hit_count = 0
    for start, end in pairwise(samples):
        rows, times = swept.advance(end)
        expected = time_of_impact(start[first], end[first], start[second], end[second])
        assert np.array_equal(rows, np.flatnonzero(~np.isnan(expected)))
        assert np.array_equal(times, expected[rows])
        hit_count += len(rows)
    assert hit_count > FRAMES * 100 / 60


@pytest.mark.smoke
def test_pairs_that_touch_at_rest_are_reported_in_every_interval():
    spheres = Sphere([[0, 0, 0], [2, 0, 0], [9, 0, 0]], [1, 1, 1])
    swept = SweptPairs([(0, 1), (0, 2)], spheres)
    for _ in range(3):
        rows, times = swept.advance(spheres)
        assert rows.tolist() == [0]
        assert times.tolist() == [0.0]


@pytest.mark.smoke
def test_no_pairs_and_no_shapes_give_no_hits():
    nothing = Sphere(np.empty((0, 3)), np.empty(0))
    rows, times = SweptPairs(np.empty((0, 2)), nothing).advance(nothing)
    assert len(rows) == len(times) == 0


def test_invalid_pairs_raise():
    spheres = Sphere(np.zeros((3, 3)), [1, 1, 1])
    with pytest.raises(InvalidShapeError, match="out of range for 3 shapes"):
        SweptPairs([(0, 3)], spheres)
    with pytest.raises(InvalidShapeError, match=r"must be \(n,\)"):
        SweptPairs([(0, 1)], spheres[0])
