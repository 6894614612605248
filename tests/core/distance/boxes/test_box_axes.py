"""Separating axes, gaps and directions of oriented boxes at known places."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import Obb, separation
from addon.core.distance.obb import gap_along_axis, separation_and_axis
from tests.core.scenes import axis_rotation, rotation_3_4_5

TURNS = [np.eye(3), rotation_3_4_5(0) @ rotation_3_4_5(2)]
OFFSET = np.array([100.0, -30.0, 50.0])
"""Far from the origin, so that positions cannot be confused with their differences."""


def boxes(offset, turn) -> tuple[Obb, Obb]:
    """Two aligned boxes with half extents of 6 and 2, moved and rotated together."""
    center = turn @ OFFSET
    return (
        Obb([center], [[6, 6, 6]], turn[None]),
        Obb([center + turn @ np.asarray(offset, float)], [[2, 2, 2]], turn[None]),
    )


@pytest.mark.parametrize("turn", TURNS)
def test_boxes_apart_at_a_face_have_the_gap_along_its_normal(turn):
    a, b = boxes([20, 1, 1], turn)
    for along_axes in (False, True):
        gap, axis = separation_and_axis(a, b, along_axes)
        assert gap == pytest.approx([12], rel=1e-14)
        np.testing.assert_allclose(axis, [turn @ [1, 0, 0]], atol=1e-15)
    assert gap_along_axis(axis, a, b) == pytest.approx([12], rel=1e-14)
    assert gap_along_axis(-axis, b, a) == pytest.approx([12], rel=1e-14)
    assert gap_along_axis((turn @ [0, 1, 0])[None], a, b) == pytest.approx([-7], rel=1e-14)


@pytest.mark.parametrize("turn", TURNS)
def test_boxes_apart_at_a_corner_have_their_distance_along_the_line_between_the_corners(turn):
    # From the corner of one to the corner of the other is (3, 4, 12), of length 13.
    a, b = boxes([11, 12, 20], turn)
    gap, axis = separation_and_axis(a, b)
    assert gap == pytest.approx([13], rel=1e-14)
    np.testing.assert_allclose(axis, [turn @ [3, 4, 12] / 13], atol=1e-15)
    assert gap_along_axis(axis, a, b) == pytest.approx([13], rel=1e-14)
    # No candidate axis has that direction; the largest gap of them is along Z.
    gap, axis = separation_and_axis(a, b, along_axes=True)
    assert gap == pytest.approx([12], rel=1e-14)
    np.testing.assert_allclose(axis, [turn @ [0, 0, 1]], atol=1e-15)


@pytest.mark.parametrize("turn", TURNS)
def test_overlapping_boxes_have_the_negative_depth_along_the_shallowest_axis(turn):
    a, b = boxes([1, -5, 2], turn)
    for along_axes in (False, True):
        gap, axis = separation_and_axis(a, b, along_axes)
        assert gap == pytest.approx([-3], rel=1e-14)
        np.testing.assert_allclose(axis, [turn @ [0, -1, 0]], atol=1e-15)
    assert gap_along_axis(axis, a, b) == pytest.approx([-3], rel=1e-14)


@pytest.mark.parametrize("axes", [(2, 1), (0, 2), (1, 0)])
def test_crossing_edges_have_their_gap_along_the_axis_across_both(axes):
    # Long boxes that stand on edges along two different axes, which face each other along the third.
    first, second = axes
    third = 3 - first - second
    half = [np.where(np.arange(3) == each, 20.0, 3.0) for each in axes]
    turns = [rotation_3_4_5(each) for each in axes]
    direction = np.eye(3)[third]
    # Each ridge is 3 * (0.8 + 0.6) from its center.
    a = Obb([OFFSET], [half[0]], turns[0][None])
    b = Obb([OFFSET + direction * (8.4 + 5)], [half[1]], turns[1][None])
    for along_axes in (False, True):
        gap, axis = separation_and_axis(a, b, along_axes)
        assert gap == pytest.approx([5], rel=1e-13)
        np.testing.assert_allclose(axis, [direction], atol=1e-14)
    assert gap_along_axis(axis, a, b) == pytest.approx([5], rel=1e-13)


@pytest.mark.parametrize("angle", [5e-3, 1e-6])
def test_nearly_parallel_ridges_have_the_gap_where_they_cross(angle):
    # One ridge is along X, the other turned about Z. They cross in the middle, 5 apart along Z.
    ridge = rotation_3_4_5(0)
    turn = axis_rotation(2, math.cos(angle), math.sin(angle))
    a = Obb([[0, 0, 0]], [[20, 3, 3]], ridge[None])
    # The upper ridge of the first is at (0.6, 4.2) in Y and Z, the lower one opposite.
    b = Obb([[0, 0.6, 4.2 + 5] + turn @ [0, 0.6, 4.2]], [[20, 3, 3]], (turn @ ridge)[None])
    gap, axis = separation_and_axis(a, b)
    assert gap == pytest.approx([5], rel=1e-9)
    np.testing.assert_allclose(axis, [[0, 0, 1]], atol=1e-6)
    assert separation(a, b) == pytest.approx([5], rel=1e-9)


def test_many_boxes_have_the_results_of_each_alone():
    # More than are solved at a time.
    distances = np.linspace(9, 30, 5000)
    a, b = boxes([0, 0, 0], np.eye(3))
    b = Obb(b.center + distances[:, None] * [1, 0, 0], b.half_extents, b.rotation)
    for along_axes in (False, True):
        gap, axis = separation_and_axis(a, b, along_axes)
        np.testing.assert_allclose(gap, distances - 8, rtol=0, atol=1e-13)
        np.testing.assert_allclose(axis, np.tile([1, 0, 0], (5000, 1)), atol=1e-15)
