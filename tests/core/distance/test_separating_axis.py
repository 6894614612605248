"""Separating axis test of two oriented boxes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from addon.core import Obb
from addon.core.distance.separating_axis import BoxPair, separating_axis
from tests.core import exact
from tests.core.scenes import QUARTER_TURNS, axis_rotation, oriented_boxes, random_shapes
from tests.tiers import times

pytestmark = pytest.mark.filterwarnings("error")


def assert_index_names_the_axis(which: int, a: Obb, b: Obb, axis: np.ndarray) -> None:
    """Check the index: axis k of the first box, k - 3 of the second, or perpendicular to an edge of each."""
    if which < 6:
        face_axis = np.concatenate([a.rotation.T, b.rotation.T])[which]
        np.testing.assert_allclose(abs(axis @ face_axis), 1, atol=1e-14)
    else:
        i, j = divmod(which - 6, 3)
        np.testing.assert_allclose([axis @ a.rotation[:, i], axis @ b.rotation[:, j]], 0, atol=1e-14)


def axis_of(a: Obb, b: Obb) -> tuple[float, np.ndarray]:
    """Return the gap of one pair and the axis in world space."""
    gap, axis, which = separating_axis(BoxPair.of(a.reshaped((1,)), b.reshaped((1,))))
    assert_index_names_the_axis(int(which[0]), a, b, a.rotation @ axis[:, 0])
    return float(gap[0]), a.rotation @ axis[:, 0]


def solid(box: Obb) -> exact.ExactBox:
    return exact.ExactBox.of(box.center, box.half_extents, box.rotation)


@settings(max_examples=times(20, full=100))
@given(oriented_boxes(), oriented_boxes())
def test_best_gap_agrees_with_exact_arithmetic(a, b):
    gap, axis = axis_of(a, b)
    truth = exact.largest_gap_of_boxes(solid(a), solid(b))
    if truth <= 0:
        assert gap == pytest.approx(truth, abs=1e-13)
    else:
        # Edges that are parallel up to rounding may give a direction with a larger gap, but none above the
        # distance.
        assert truth - 1e-13 <= gap <= exact.separation_of_boxes(solid(a), solid(b)) + 1e-13
    assert np.linalg.norm(axis) == pytest.approx(1, abs=1e-15)
    assert axis @ (b.center - a.center) >= -1e-14


@pytest.mark.smoke
def test_pair_holds_second_box_in_the_space_of_the_first():
    a, b = random_shapes(Obb, np.random.default_rng(0), 5), random_shapes(Obb, np.random.default_rng(1), 5)
    pair = BoxPair.of(a, b)
    for i in range(5):
        np.testing.assert_allclose(a.rotation[i] @ pair.offset[:, i], b.center[i] - a.center[i], atol=1e-15)
        np.testing.assert_allclose(a.rotation[i] @ pair.rotation[:, :, i], b.rotation[i], atol=1e-15)
        assert pair.half_a[:, i].tolist() == a.half_extents[i].tolist()
        assert pair.half_b[:, i].tolist() == b.half_extents[i].tolist()


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("sign", [1, -1])
def test_every_face_axis_can_be_the_separating_axis(k, sign):
    # A corner above a face, on either side: the normal of the face is the axis, from the first box to the
    # second.
    tilted = axis_rotation((k + 1) % 3, math.cos(0.6), math.sin(0.6)) @ axis_rotation(k, math.cos(0.7), 0.0)
    tilted = np.linalg.qr(axis_rotation(0, 0.8, 0.6) @ axis_rotation(1, 0.8, 0.6) @ tilted)[0]
    tilted *= np.sign(np.linalg.det(tilted))
    offset = np.zeros(3)
    offset[k] = 5 * sign
    plain, turned = Obb([0, 0, 0], [1, 1, 1], np.eye(3)), Obb(offset, [1, 1, 1], tilted)
    reach = np.abs(tilted[k]).sum()
    gap, axis = axis_of(plain, turned)
    assert gap == pytest.approx(5 - 1 - reach, abs=1e-14)
    np.testing.assert_allclose(axis, offset / 5, atol=1e-15)
    gap, axis = axis_of(turned, plain)
    assert gap == pytest.approx(5 - 1 - reach, abs=1e-14)
    np.testing.assert_allclose(axis, -offset / 5, atol=1e-15)


@pytest.mark.parametrize("i", range(3))
@pytest.mark.parametrize("j", range(3))
def test_every_edge_pair_can_give_the_separating_axis(i, j):
    # A rod along z with an edge towards +X, and one along y at x = 3 with an edge towards -X. The long axes
    # are axis i and axis j of the boxes. Half a diagonal is sqrt(2), so the gap along X is 3 - 2 sqrt(2).
    half = math.sqrt(0.5)

    def rod(center, direction, towards, place) -> Obb:
        side = np.cross(direction, towards)
        axes = [np.array(direction), (towards + side) * half, (side - towards) * half]
        columns = np.empty((3, 3))
        for k in range(3):
            columns[:, (place + k) % 3] = axes[k]
        if np.linalg.det(columns) < 0:
            columns[:, (place + 1) % 3] *= -1
        extents = np.ones(3)
        extents[place] = 4
        return Obb(center, extents, columns)

    a = rod([0, 0, 0], np.array([0, 0, 1.0]), np.array([1.0, 0, 0]), i)
    b = rod([3, 0, 0], np.array([0, 1.0, 0]), np.array([1.0, 0, 0]), j)
    gap, axis = axis_of(a, b)
    assert gap == pytest.approx(3 - 2 * math.sqrt(2), abs=1e-15)
    np.testing.assert_allclose(axis, [1, 0, 0], atol=1e-15)


def test_face_axis_wins_over_equal_cross_product_of_edges():
    # For a rotation about z, cross products of edges along z with the others are normals of the side faces.
    a = Obb([0, 0, 0], [1, 1, 1], np.eye(3))
    b = Obb([3, 0.2, 0.1], [1, 1, 1], QUARTER_TURNS[5])
    gap, axis = axis_of(a, b)
    assert gap == 1
    assert axis.tolist() == [1, 0, 0]


def test_concentric_boxes_use_a_positive_axis_of_the_first():
    _, axis = axis_of(Obb([1, 2, 3], [3, 1, 2], np.eye(3)), Obb([1, 2, 3], [1, 1, 1], np.eye(3)))
    assert axis.tolist() == [0, 1, 0]


@pytest.mark.smoke
def test_empty_batch_gives_empty_results():
    none = random_shapes(Obb, np.random.default_rng(0), 0)
    gap, axis, which = separating_axis(BoxPair.of(none, none))
    assert which.shape == (0,)
    assert gap.shape == (0,)
    assert axis.shape == (3, 0)
