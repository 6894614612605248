"""Contacts of moving boxes, compared with dense samples of the same linear motion."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb
from addon.core.interval.aabb import interval_contacts_of_aabbs, minimum_separation_of_aabbs
from addon.core.interval.pair_motion import PairMotion
from tests.tiers import times

SAMPLES = 401


def random_pairs(seed: int, count: int = 400) -> PairMotion:
    """Make boxes that move, grow and shrink; in some pairs, the second one stands still."""
    rng = np.random.default_rng(seed)
    boxes = []
    for _ in range(4):
        center, half = rng.uniform(-2, 2, (count, 3)), rng.uniform(0.05, 1.0, (count, 3))
        boxes.append(Aabb(center - half, center + half))
    still = rng.random(count) < 0.2
    boxes[3] = Aabb(
        np.where(still[:, None], boxes[2].min, boxes[3].min),
        np.where(still[:, None], boxes[2].max, boxes[3].max),
    )
    return PairMotion(*boxes)


def dense_separations(pairs: PairMotion) -> np.ndarray:
    """Separations (SAMPLES, m) by the gaps of the axes, at equal steps from begin to end."""
    a0, a1, b0, b1 = pairs
    t = np.linspace(0, 1, SAMPLES)[:, None, None]
    low_a, high_a = a0.min + t * (a1.min - a0.min), a0.max + t * (a1.max - a0.max)
    low_b, high_b = b0.min + t * (b1.min - b0.min), b0.max + t * (b1.max - b0.max)
    gaps = np.maximum(low_b - high_a, low_a - high_b)
    apart = np.sqrt((np.maximum(gaps, 0) ** 2).sum(axis=-1))
    return np.where(apart > 0, apart, gaps.max(axis=-1))


@pytest.mark.parametrize("seed", range(times(10)))
@pytest.mark.parametrize("deviation", [0.0, 0.3])
def test_bounds_hold_at_all_samples_and_the_minimum_is_exact_where_it_decides(seed, deviation):
    pairs = random_pairs(seed)
    separations = dense_separations(pairs)
    least = separations.min(axis=0)
    contacts = interval_contacts_of_aabbs(pairs, 0.1, np.full(len(least), deviation))
    assert (contacts.low <= least + 1e-12).all()
    assert (contacts.high >= separations.max(axis=0) - 1e-12).all()
    # A value that the pair has at its time, and so never less than the minimum.
    assert (contacts.least >= contacts.low).all()
    decides = (least - deviation < 0.1) & (separations.max(axis=0) + deviation > 0.1)
    assert decides.sum() > 50
    # Sides move at most 8 units, so between two samples the separation falls by less than this.
    assert (contacts.least[decides] <= least[decides] + 1e-12).all()
    assert (contacts.least[decides] >= least[decides] - 0.05).all()
    touches = (separations <= 0.1).any(axis=0)
    assert not (touches & np.isnan(contacts.enter)).any()


@pytest.mark.parametrize("seed", range(times(5)))
def test_minimum_is_at_its_time_and_below_all_samples(seed):
    pairs = random_pairs(seed)
    least, time = minimum_separation_of_aabbs(pairs)
    assert ((time >= 0) & (time <= 1)).all()
    assert (least <= dense_separations(pairs).min(axis=0) + 1e-12).all()
    np.testing.assert_allclose(pairs.separation_at(time), least, rtol=0, atol=0)
