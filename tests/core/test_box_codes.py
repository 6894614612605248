"""Codes may say yes to boxes that are apart, never no to boxes that overlap. Truth is comparing faces."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb
from addon.core.box_codes import box_codes, may_overlap

COUNT = 300


def told(boxes: Aabb) -> tuple[np.ndarray, np.ndarray]:
    """(n, n) what the codes say of each box with each, and what is so."""
    first, second = box_codes(boxes)
    low, high = boxes.min, boxes.max
    truth = ((low[:, None] <= high[None]) & (low[None] <= high[:, None])).all(axis=-1)
    return may_overlap(first[:, None], second[None]), truth


def scattered(scale: float = 1.0, offset: float = 0.0, size: float = 0.2) -> Aabb:
    rng = np.random.default_rng(5)
    center, half = rng.normal(size=(COUNT, 3)), rng.uniform(0, size, (COUNT, 3))
    return Aabb((center - half) * scale + offset, (center + half) * scale + offset)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-6, 1.0, 1e6, 1e150, 1e307])
def test_no_overlap_is_lost_at_any_scale_and_few_are_invented(scale):
    said, truth = told(scattered(scale))
    assert truth.sum() > COUNT
    assert not (truth & ~said).any()
    assert (said & ~truth).sum() < 0.3 * truth.sum()


@pytest.mark.smoke
def test_no_overlap_is_lost_far_from_the_origin():
    said, truth = told(scattered(1e-3, offset=1e6))
    assert not (truth & ~said).any()
    assert (said & ~truth).sum() < 0.3 * truth.sum()


def test_a_few_that_are_far_out_leave_the_cells_small():
    boxes = scattered()
    low, high = boxes.min.copy(), boxes.max.copy()
    low[::60] -= 1e9
    high[30::60] += 1e12
    said, truth = told(Aabb(low, high))
    assert not (truth & ~said).any()
    assert (said & ~truth).sum() < 0.3 * truth.sum()


def test_faces_that_are_the_same_number_touch():
    low = np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0], [2, 1, 1]], dtype=float)
    said, truth = told(Aabb(low, low + 1))
    assert not (truth & ~said).any()
    assert truth[0, 1] and truth[1, 2] and truth[2, 3]


@pytest.mark.parametrize("flat", [(0,), (0, 1), (0, 1, 2)])
def test_centres_in_one_plane_line_or_point_are_told_apart_by_the_other_axes(flat):
    boxes = scattered()
    low, high = boxes.min.copy(), boxes.max.copy()
    low[:, flat], high[:, flat] = -1.0, 1.0
    said, truth = told(Aabb(low, high))
    assert not (truth & ~said).any()
    if len(flat) < 3:
        assert not said.all()


@pytest.mark.smoke
def test_the_largest_numbers_there_are_lose_nothing():
    rng = np.random.default_rng(6)
    most = np.finfo(np.float64).max
    corners = rng.choice([-most, -1.0, 0.0, 1.0, most], (2, COUNT, 3))
    said, truth = told(Aabb(corners.min(axis=0), corners.max(axis=0)))
    assert not (truth & ~said).any()


@pytest.mark.parametrize("count", [1, 2, 99, 100, 101, 250])
def test_any_number_of_boxes(count):
    boxes = scattered()[:count]
    said, truth = told(boxes)
    assert not (truth & ~said).any()
    assert np.array_equal(said, said.T)
