"""Oriented boxes: no point outside, and as small as known answers and dense searches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import (
    EmptyGeometryError,
    InvalidShapeError,
    NonFiniteGeometryError,
    Obb,
    aabb_from_points,
    obb_from_points,
)
from addon.core.numeric.arrays import rotation_matrix
from tests.core.fitting.point_sets import random_mesh
from tests.tiers import examples, times

COORDINATE = st.integers(-6, 6).map(lambda n: n / 4)
POINTS = st.lists(st.tuples(COORDINATE, COORDINATE, COORDINATE), min_size=1, max_size=30)


def volume(box: Obb) -> float:
    return float((2 * box.half_extents).prod())


def random_rotations(count: int, seed: int = 0) -> np.ndarray:
    return np.array([rotation_matrix(q) for q in np.random.default_rng(seed).normal(size=(count, 4))])


def clouds() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    ring, tube = np.meshgrid(np.linspace(0, 2 * np.pi, 60), np.linspace(0, 2 * np.pi, 30))
    torus = [
        (2 + 0.5 * np.cos(tube)) * np.cos(ring),
        (2 + 0.5 * np.cos(tube)) * np.sin(ring),
        0.5 * np.sin(tube),
    ]
    turn = random_rotations(1, 3)[0].T
    return {
        "gauss": rng.normal(size=(300, 3)) @ turn,
        "blob": rng.normal(size=(5000, 3)) * [1, 2, 3] @ turn,
        "torus": np.stack(torus, axis=-1).reshape(-1, 3) @ turn,
        "rod": rng.uniform(-1, 1, (3000, 3)) * [100, 1, 1.2] @ turn,
        "float32 far off": (rng.uniform(-1, 1, (500, 3)) @ turn + 1e6).astype(np.float32),
        "plane": rng.uniform(-1, 1, (200, 3)) * [3, 1, 0] @ turn,
        "line": rng.uniform(-1, 1, (200, 3)) * [3, 0, 0] @ turn,
        "one place": np.full((4, 3), 0.1),
        "huge": rng.normal(size=(40, 3)) * 1e150,
        "tiny": rng.normal(size=(40, 3)) * 1e-150,
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", clouds())
def test_no_point_is_outside(name):
    points = clouds()[name]
    assert obb_from_points(points).contains(points).all()
    for rotation in random_rotations(5):
        assert obb_from_points(points, rotation).contains(points).all()


@given(POINTS, st.integers(0, 1000), st.sampled_from([1e-6, 1.0, 1e6]))
@examples(60, full=1000)
def test_points_are_inside_and_box_is_no_larger_than_axis_aligned_box(points, seed, scale):
    turned = np.array(points) @ random_rotations(1, seed)[0].T * scale
    box = obb_from_points(turned)
    assert box.contains(turned).all()
    upright = aabb_from_points(turned)
    slack = 1e-9 * max(scale, 1e-300) ** 3 * 100
    assert volume(box) <= float((upright.max - upright.min).prod()) * (1 + 1e-9) + slack


@pytest.mark.parametrize("size", [(1, 2, 3), (1, 1, 1), (5, 0.1, 0.1), (4, 4, 0.01)])
def test_corners_of_rotated_box_give_that_box(size):
    for rotation in random_rotations(times(20), 1):
        corners = Obb([3, -2, 1], size, rotation).corners()
        assert volume(obb_from_points(corners)) == pytest.approx(8 * np.prod(size), rel=1e-9)


def test_tetrahedron_gets_cube_with_no_face_flush_to_it():
    # Four corners of a cube with sides of 2, no two of them neighbors.
    tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    for rotation in random_rotations(times(20), 2):
        assert volume(obb_from_points(tetrahedron @ rotation.T)) == pytest.approx(8, rel=1e-9)


@pytest.mark.parametrize("name", ["gauss", "blob", "torus", "rod"])
def test_no_randomly_rotated_box_is_smaller(name):
    points = clouds()[name]
    rotations = random_rotations(times(200, 80, full=400), 4)
    smallest = min(volume(obb_from_points(points, rotation)) for rotation in rotations)
    assert volume(obb_from_points(points)) <= smallest


def densely_searched_volume(points: np.ndarray, rng: np.random.Generator) -> float:
    """Least volume of boxes with 2,000 random axes, the best of which are improved by ever smaller steps."""

    def volumes(quaternions: np.ndarray) -> np.ndarray:
        axes = rotation_matrix(quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True))
        return np.ptp(np.einsum("ni,kij->knj", points, axes), axis=1).prod(axis=1)

    quaternions = rng.normal(size=(2000, 4))
    order = np.argsort(volumes(quaternions))[:40]
    best, least = quaternions[order], volumes(quaternions[order])
    step = np.full(len(best), 0.1)
    for count in range(120):
        best /= np.linalg.norm(best, axis=1, keepdims=True)
        tries = best[:, None] + rng.normal(size=(len(best), 12, 4)) * step[:, None, None]
        found = volumes(tries.reshape(-1, 4)).reshape(len(best), -1)
        rows, pick = np.arange(len(best)), found.argmin(axis=1)
        is_better = found[rows, pick] < least
        best = np.where(is_better[:, None], tries[rows, pick], best)
        least = np.minimum(least, found[rows, pick])
        step *= np.where(is_better, 1.2, 0.75)
        if count in (20, 50):
            kept = np.argsort(least)[: max(4, len(least) // 3)]
            best, least, step = best[kept], least[kept], step[kept]
    return float(least.min())


@pytest.mark.long
def test_volume_is_at_most_1_01_of_the_least_that_a_dense_search_finds():
    ratios = []
    for seed in range(times(3, full=500)):
        points = random_mesh(seed)
        ratios.append(
            volume(obb_from_points(points)) / densely_searched_volume(points, np.random.default_rng(seed))
        )
    assert max(ratios) <= 1.01
    # The search is as good as the fit, so that it could find a better one.
    assert np.median(ratios) > 0.99


@pytest.mark.smoke
def test_given_axes_are_kept_and_box_is_tight():
    points = clouds()["gauss"]
    for rotation in random_rotations(10, 5):
        box = obb_from_points(points, rotation)
        assert np.abs(box.rotation - rotation).max() < 1e-15
        local = points @ rotation
        assert box.half_extents == pytest.approx(np.ptp(local, axis=0) / 2, rel=1e-12)


@pytest.mark.smoke
def test_batch_with_given_axes_equals_single_fits():
    rng = np.random.default_rng(6)
    points, rotations = rng.normal(size=(4, 5, 30, 3)), random_rotations(5)
    boxes = obb_from_points(points, rotations)
    assert boxes.shape == (4, 5)
    single = obb_from_points(points[2, 3], rotations[3])
    assert np.array_equal(boxes[2, 3].half_extents, single.half_extents)
    assert np.array_equal(boxes[2, 3].center, single.center)


def test_scaling_points_scales_box():
    points = clouds()["gauss"]
    expected = volume(obb_from_points(points))
    for scale in (1e-6, 1e6):
        assert volume(obb_from_points(points * scale)) == pytest.approx(expected * scale**3, rel=1e-9)


def test_rotated_points_get_box_of_nearly_same_volume():
    # Only nearly, because the search also starts from the world axes, which do not rotate with the points.
    points = clouds()["gauss"]
    expected = volume(obb_from_points(points))
    for rotation in random_rotations(10, 8):
        assert volume(obb_from_points(points @ rotation.T)) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(
    ("points", "rotation", "error", "words"),
    [
        (np.empty((0, 3)), None, EmptyGeometryError, "no points"),
        ([[0, 0, 0], [0, np.nan, 0]], None, NonFiniteGeometryError, r"\(1, 1\) is nan"),
        ([0, 0, 0], None, InvalidShapeError, r"\(\.\.\., n, 3\)"),
        (np.zeros((2, 4, 3)), None, InvalidShapeError, r"\(n, 3\)"),
        (np.zeros((4, 2)), None, InvalidShapeError, r"\(\.\.\., n, 3\)"),
        (np.zeros((4, 3)), 2 * np.eye(3), InvalidShapeError, "not a rotation"),
        (np.zeros((4, 3)), np.diag([1, 1, -1]), InvalidShapeError, "mirrors"),
    ],
)
def test_invalid_input_raises_error_with_reason(points, rotation, error, words):
    with pytest.raises(error, match=words):
        obb_from_points(points, rotation)
