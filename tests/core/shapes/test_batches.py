"""Conventions of all shapes, and functions that combine batches."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import (
    Aabb,
    InvalidShapeError,
    NonFiniteGeometryError,
    Obb,
    Segment,
    Sphere,
    Triangle,
    stacked,
)
from tests.core.scenes import random_shapes

# --- invalid input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Sphere([[0, 0, 0], [0, math.nan, 0]], [1, 1]), NonFiniteGeometryError, r"\(1, 1\) is nan"),
        (lambda: Sphere([0, 0, math.inf], 1), NonFiniteGeometryError, r"center: element \(2,\) is inf"),
        (lambda: Sphere([0, 0, 0], -math.inf), NonFiniteGeometryError, r"radius.* is -inf"),
        (
            lambda: Sphere([[0, 0, 0]] * 3, [1, 2, -1e-9]),
            InvalidShapeError,
            r"radius: element \(2,\) is negative",
        ),
        (lambda: Sphere([0, 0], 1), InvalidShapeError, r"center: the shape must end in \(3,\)"),
        (lambda: Sphere(np.zeros((2, 3)), np.ones(3)), InvalidShapeError, r"\(2,\) and \(3,\)"),
        (lambda: Sphere("abc", 1), InvalidShapeError, "center: not an array of numbers"),
        (lambda: Aabb([[0, 0, 0], [0, 0, 2]], [1, 1, 1]), InvalidShapeError, r"element \(1,\) has min > max"),
        (lambda: Aabb([0, 0, math.nan], [1, 1, 1]), NonFiniteGeometryError, r"min: element \(2,\) is nan"),
        (lambda: Aabb([0, 0, 0], [1, 1, math.inf]), NonFiniteGeometryError, r"max: element \(2,\) is inf"),
        (lambda: Aabb([0, 0, 0, 0], [1, 1, 1, 1]), InvalidShapeError, r"must end in \(3,\)"),
        (lambda: Sphere([0, 0, 0], 1).padded(-2), InvalidShapeError, "negative"),
        (lambda: Aabb([0, 0, 0], [1, 1, 1]).padded(-0.6), InvalidShapeError, "min > max"),
        (lambda: Sphere([0, 0, 0], 1).transformed(np.eye(3)), InvalidShapeError, r"matrix: .*\(4, 4\)"),
        (lambda: stacked([]), InvalidShapeError, "at least one"),
        (
            lambda: stacked([Sphere([0, 0, 0], 1), Aabb([0, 0, 0], [1, 1, 1])]),
            InvalidShapeError,
            "one kind",
        ),
        (lambda: stacked([Sphere([0, 0, 0], 1), Sphere([[0, 0, 0]], 1)]), InvalidShapeError, "one batch"),
        (
            lambda: stacked([Triangle(*np.eye(3)), Triangle(*np.eye(3), one_sided=True)]),
            InvalidShapeError,
            "one kind",
        ),
        (
            lambda: Obb([[0, 0, 0], [0, 0, math.nan]], [1, 1, 1], np.eye(3)),
            NonFiniteGeometryError,
            r"center: element \(1, 2\) is nan",
        ),
        (
            lambda: Obb([0, 0, 0], [1, math.inf, 1], np.eye(3)),
            NonFiniteGeometryError,
            r"half extents: element \(1,\) is inf",
        ),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], np.diag([1, 1, math.nan])),
            NonFiniteGeometryError,
            r"rotation: element \(2, 2\) is nan",
        ),
        (
            lambda: Obb([0, 0, 0], [[1, 1, 1], [1, -1e-300, 1]], np.eye(3)),
            InvalidShapeError,
            r"half extents: element \(1, 1\) is negative",
        ),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], np.stack([np.eye(3), np.diag([1, 1, 1.01])])),
            InvalidShapeError,
            r"rotation: element \(1,\) is not a rotation",
        ),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], [[1, 0.01, 0], [0, 1, 0], [0, 0, 1]]),
            InvalidShapeError,
            "not a rotation",
        ),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.zeros((3, 3))), InvalidShapeError, "not a rotation"),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(3) * 1e200), InvalidShapeError, "not a rotation"),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], np.stack([np.eye(3), np.diag([1, 1, -1])])),
            InvalidShapeError,
            r"rotation: element \(1,\) mirrors",
        ),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(4)), InvalidShapeError, r"rotation: .*\(3, 3\)"),
        (lambda: Obb([0, 0, 0], 1, np.eye(3)), InvalidShapeError, r"half extents: .*end in \(3,\)"),
        (
            lambda: Obb(np.zeros((2, 3)), np.ones((3, 3)), np.eye(3)),
            InvalidShapeError,
            r"oriented box: batches \(2,\) and \(3,\)",
        ),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(3)).padded(-2), InvalidShapeError, "negative"),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(3)).padded(math.nan), NonFiniteGeometryError, "padding"),
        (lambda: Segment([0, 0, math.nan], [0, 0, 0]), NonFiniteGeometryError, r"start: element \(2,\)"),
        (lambda: Segment([0, 0, 0], [0, -math.inf, 0]), NonFiniteGeometryError, r"end: element \(1,\)"),
        (lambda: Segment([0, 0], [0, 0, 0]), InvalidShapeError, r"start: the shape must end in \(3,\)"),
        (lambda: Segment(np.zeros((2, 3)), np.zeros((3, 3))), InvalidShapeError, r"segment: batches"),
        (lambda: Triangle([0, 0, 0], [0, 0, math.nan], [0, 0, 0]), NonFiniteGeometryError, "corner b"),
        (
            lambda: Triangle([0, 0, 0], [0, 0, 0], [[0, 0, 0], [0, math.inf, 0]]),
            NonFiniteGeometryError,
            "corner c",
        ),
        (lambda: Triangle([0, 0], [0, 0, 0], [0, 0, 0]), InvalidShapeError, r"corner a.*\(3,\)"),
        (
            lambda: Triangle(np.zeros((2, 3)), np.zeros((3, 3)), [0, 0, 0]),
            InvalidShapeError,
            r"triangle corner: batches",
        ),
    ],
)
def test_invalid_input_raises_error_with_index_of_element(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.smoke
def test_arrays_of_shape_are_read_only_and_arrays_of_caller_stay_writable():
    center = np.zeros(3)
    sphere = Sphere(center, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        sphere.center[0] = 1.0
    center[0] = 2.0


# --- batches ---------------------------------------------------------------------------------------------


def test_single_radius_broadcasts_to_batch_of_centers():
    sphere = Sphere(np.zeros((2, 5, 3)), 3)
    assert sphere.shape == (2, 5)
    assert sphere.radius.shape == (2, 5)
    assert sphere[1, 4].shape == ()


def test_indexing_stacked_shapes_returns_original_shapes():
    boxes = stacked([Aabb([i, 0, 0], [i + 1, 2, 3]) for i in range(4)])
    assert boxes.shape == (4,)
    assert boxes[2].min.tolist() == [2, 0, 0]
    assert boxes[2].max.tolist() == [3, 2, 3]


def test_box_has_all_eight_corners_in_documented_order():
    corners = Aabb([0, 10, 100], [1, 12, 103]).corners()
    expected = {(x, y, z) for x in (0, 1) for y in (10, 12) for z in (100, 103)}
    assert {tuple(corner) for corner in corners.tolist()} == expected
    assert corners[5].tolist() == [1, 10, 103]  # 5 = 0b101: max on x and z


@pytest.mark.smoke
def test_center_and_half_extents_do_not_overflow_near_the_largest_float():
    box = Aabb([-1.7e308] * 3, [1.7e308] * 3)
    assert box.center.tolist() == [0, 0, 0]
    assert box.half_extents.tolist() == [1.7e308] * 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [Sphere, Aabb, Obb, Segment, Triangle])
def test_arguments_that_do_not_broadcast_are_rejected(kind):
    batch = random_shapes(kind, np.random.default_rng(0), 2)
    matrices = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(InvalidShapeError, match=r"matrix: batches \(2,\) and \(3,\)"):
        batch.transformed(matrices)
    with pytest.raises(InvalidShapeError, match=r"matrix: .*\(4, 4\)"):
        batch.transformed(np.eye(3))
    with pytest.raises(NonFiniteGeometryError, match=r"matrix: element \(1, 3\) is nan"):
        broken = np.eye(4)
        broken[1, 3] = math.nan
        batch.transformed(broken)
    if kind in (Segment, Triangle):
        return
    other = random_shapes(kind, np.random.default_rng(0), 3)
    with pytest.raises(InvalidShapeError, match=r"batches \(2,\) and \(3,\)"):
        batch.merged(other)
    with pytest.raises(InvalidShapeError, match=r"points: batches \(2,\) and \(3,\)"):
        batch.contains(np.zeros((3, 3)))
    with pytest.raises(InvalidShapeError, match=r"points: .*\(3,\)"):
        batch.contains(np.zeros((2, 4)))
    with pytest.raises(InvalidShapeError, match=r"padding: batches \(2,\) and \(3,\)"):
        batch.padded(np.zeros(3))
