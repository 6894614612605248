"""Measures of hulls, against formulas and brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from addon.core.compound.hull_estimate import THICKNESS, hull_measure, prefix_extremes


@pytest.mark.parametrize("steps", [4, 1000])
def test_extremes_of_first_points_are_those_of_each_prefix(steps):
    """With few different heights, several points are extreme: the last of them counts."""
    rng = np.random.default_rng(steps)
    heights = rng.integers(0, steps, (60, 7)) / steps
    counts = rng.permutation([1, 2, 5, 5, 17, 59, 60])
    found = prefix_extremes(heights, counts)
    for count, row in zip(counts.tolist(), found, strict=True):
        last = [max(k for k in range(count) if column[k] == column[:count].max()) for column in heights.T]
        assert row.tolist() == last


def test_measure_of_a_box_is_its_volume_and_a_layer_over_its_area():
    corners = np.array(list(itertools.product((0.0, 0.2), (0.1, 0.5), (-0.4, 0.4))))
    volume, area = 0.2 * 0.4 * 0.8, 2 * (0.2 * 0.4 + 0.4 * 0.8 + 0.2 * 0.8)
    # Triangles of two equal corners have no area, and add nothing.
    assert hull_measure(corners) == pytest.approx(volume + THICKNESS * area, rel=1e-12)
