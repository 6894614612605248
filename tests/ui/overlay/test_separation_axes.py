"""Axes of the graph of a separation."""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.jobs.pair_separation import SeparationCurve
from addon.ui.overlay.over_time import GraphAxes, segments, ticks


def curve(frames, values, clearance=0.0):
    return SeparationCurve(np.array(frames, float), np.array(values, float), ("A", "B"), clearance)


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0, 10, 5, [0, 5, 10]),
        (1, 120, 10, [20, 40, 60, 80, 100, 120]),
        (-0.9, 3.1, 3, [0, 2]),
        (-0.003, 0.002, 6, [-0.003, -0.002, -0.001, 0, 0.001, 0.002]),
    ],
)
def test_ticks_are_round_and_not_too_many(low, high, most, expected):
    found = ticks(low, high, most)
    assert found == pytest.approx(expected, abs=1e-12) and len(found) <= most


def test_any_range_has_few_ticks_within():
    random = np.random.default_rng(1)
    for _ in range(300):
        low = random.normal() * 10 ** random.uniform(-5, 5)
        high = low + 10 ** random.uniform(-3, 6)
        most = int(random.integers(1, 20))
        found = ticks(low, high, most)
        assert len(found) <= most
        assert all(low - 1e-6 * (high - low) <= value <= high + 1e-6 * (high - low) for value in found)


@pytest.mark.parametrize("values", [[3, 1, 2], [-3, -1, -2], [0, 0, 0], [np.nan, 2, 5]])
def test_zero_and_all_values_are_within_the_range(values):
    axes = GraphAxes.of(curve([1, 2, 3], values))
    assert axes.low < min(np.nanmin(values), 0) and axes.high > max(np.nanmax(values), 0)


def test_single_frame_has_a_range():
    axes = GraphAxes.of(curve([5], [1]))
    assert axes.across(np.array([5.0]))[0] == 0


def test_curve_is_cut_at_zero():
    above, below = segments(curve([0, 2, 4], [1, -1, 3]))
    assert above.tolist() == [[[0, 1], [1, 0]], [[2.5, 0], [4, 3]]]
    assert below.tolist() == [[[1, 0], [2, -1]], [[2, -1], [2.5, 0]]]


def test_missing_value_is_a_gap():
    above, below = segments(curve([0, 1, 2, 3, 4], [1, 1, np.nan, 2, 2]))
    assert above[:, :, 0].tolist() == [[0, 1], [3, 4]] and not len(below)
