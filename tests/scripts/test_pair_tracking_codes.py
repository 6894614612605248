"""Box codes can accept boxes that are apart, but must never reject boxes that overlap."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb
from benchmarks.pair_tracking import box_codes, may_overlap

COUNT = 300


def may_overlap_and_truth(boxes: Aabb) -> tuple[np.ndarray, np.ndarray]:
    """Decide whether codes accept each pair of boxes (n, n), and whether the boxes overlap (n, n)."""
    first, second = box_codes(boxes)
    low, high = boxes.min, boxes.max
    truth = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=-1)
    return may_overlap(first[:, None], second[None]), truth


def scattered(scale: float = 1.0, offset: float = 0.0, size: float = 0.2) -> Aabb:
    rng = np.random.default_rng(5)
    center, half = rng.normal(size=(COUNT, 3)), rng.uniform(0, size, (COUNT, 3))
    return Aabb((center - half) * scale + offset, (center + half) * scale + offset)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-6, 1.0, 1e6, 1e150, 1e307])
def test_codes_reject_no_overlap_at_any_scale_and_accept_few_others(scale):
    may, truth = may_overlap_and_truth(scattered(scale))
    assert truth.sum() > COUNT
    assert not (truth & ~may).any()
    assert (may & ~truth).sum() < 0.3 * truth.sum()


@pytest.mark.smoke
def test_codes_reject_no_overlap_far_from_the_origin():
    may, truth = may_overlap_and_truth(scattered(1e-3, offset=1e6))
    assert not (truth & ~may).any()
    assert (may & ~truth).sum() < 0.3 * truth.sum()


def test_outliers_do_not_enlarge_the_cells():
    boxes = scattered()
    low, high = boxes.min.copy(), boxes.max.copy()
    low[::60] -= 1e9
    high[30::60] += 1e12
    may, truth = may_overlap_and_truth(Aabb(low, high))
    assert not (truth & ~may).any()
    assert (may & ~truth).sum() < 0.3 * truth.sum()


def test_boxes_with_equal_faces_touch():
    low = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 1, 1]], dtype=float)
    may, truth = may_overlap_and_truth(Aabb(low, low + 1))
    assert not (truth & ~may).any()
    assert truth[0, 1] and truth[1, 2] and truth[2, 3]


@pytest.mark.parametrize("flat", [(0,), (0, 1), (0, 1, 2)])
def test_axes_with_coincident_centers_are_skipped(flat):
    boxes = scattered()
    low, high = boxes.min.copy(), boxes.max.copy()
    low[:, flat], high[:, flat] = -1.0, 1.0
    may, truth = may_overlap_and_truth(Aabb(low, high))
    assert not (truth & ~may).any()
    if len(flat) < 3:
        assert not may.all()


@pytest.mark.smoke
def test_codes_reject_no_overlap_of_the_largest_floats():
    rng = np.random.default_rng(6)
    most = np.finfo(np.float64).max
    corners = rng.choice([-most, -1.0, 0.0, 1.0, most], (2, COUNT, 3))
    may, truth = may_overlap_and_truth(Aabb(corners.min(axis=0), corners.max(axis=0)))
    assert not (truth & ~may).any()


@pytest.mark.parametrize("count", [1, 2, 99, 100, 101, 250])
def test_codes_are_symmetric_for_any_number_of_boxes(count):
    boxes = scattered()[:count]
    may, truth = may_overlap_and_truth(boxes)
    assert not (truth & ~may).any()
    assert np.array_equal(may, may.T)
