"""Fitted capsules and cylinders: enclosing, near the smallest volume that a dense search finds."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Capsule,
    Cylinder,
    EmptyGeometryError,
    InvalidShapeError,
    capsule_from_points,
    cylinder_from_points,
)
from addon.core.fitting.axial import capsule_along
from tests.core.fitting.point_sets import random_mesh, random_wheel
from tests.core.scenes import random_rotations
from tests.tiers import times

FITS = [capsule_from_points, cylinder_from_points]


def capsule_volumes(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Volumes (k,) of capsules around segments (k, 3) whose radius reaches all points."""
    along = end - start
    squared = np.maximum((along * along).sum(axis=1), 1e-300)
    offset = points[None] - start[:, None]
    part = np.clip(np.einsum("kni,ki->kn", offset, along) / squared[:, None], 0, 1)
    radius = np.sqrt(((offset - part[..., None] * along[:, None]) ** 2).sum(axis=-1)).max(axis=1)
    return np.pi * radius**2 * (np.sqrt(squared) + 4 / 3 * radius)


def cylinder_volumes(points: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Volumes (k,) of cylinders around the lines through two points (k, 3)."""
    axis = (end - start) / np.maximum(np.linalg.norm(end - start, axis=1, keepdims=True), 1e-300)
    offset = points[None] - start[:, None]
    along = np.einsum("kni,ki->kn", offset, axis)
    radius = np.sqrt(np.maximum((offset**2).sum(axis=-1) - along**2, 0)).max(axis=1)
    return np.pi * radius**2 * np.ptp(along, axis=1)


def densely_searched(points: np.ndarray, volumes, rounds: int) -> float:
    """Least volume of many random segments, each improved by smaller and smaller steps of its ends."""
    rng = np.random.default_rng(0)
    count = 60
    size = np.ptp(points, axis=0).max()
    middle = points.mean(axis=0)
    axis = rng.normal(size=(count, 3))
    axis *= rng.uniform(0.1, 1, (count, 1)) * size / 2 / np.linalg.norm(axis, axis=1, keepdims=True)
    ends = np.stack([middle - axis, middle + axis], axis=1)
    best = volumes(points, ends[:, 0], ends[:, 1])
    step = np.full(count, 0.3 * size)
    for number in range(rounds):
        tries = ends[:, None] + rng.normal(size=(len(ends), 16, 2, 3)) * step[:, None, None, None]
        found = volumes(points, tries[..., 0, :].reshape(-1, 3), tries[..., 1, :].reshape(-1, 3)).reshape(
            len(ends), 16
        )
        rows, pick = np.arange(len(ends)), found.argmin(axis=1)
        better = found[rows, pick] < best
        ends = np.where(better[:, None, None], tries[rows, pick], ends)
        best = np.minimum(best, found[rows, pick])
        step *= np.where(better, 1.2, 0.8)
        if number in (20, 40):
            kept = np.argsort(best)[: len(best) // 3]
            ends, best, step = ends[kept], best[kept], step[kept]
    return float(best.min())


@pytest.mark.long
@pytest.mark.parametrize(
    ("fit", "volumes"), [(capsule_from_points, capsule_volumes), (cylinder_from_points, cylinder_volumes)]
)
def test_volume_is_at_most_1_05_of_the_least_that_a_dense_search_finds(fit, volumes):
    ratios = []
    for seed in range(times(2, full=500)):
        points = random_mesh(seed)
        shape = fit(points)
        assert shape.contains(points).all()
        ratios.append(float(shape.volume) / densely_searched(points, volumes, 150))
    assert max(ratios) <= 1.05
    # The search is as good as the fit, so that it could find a better one.
    assert np.median(ratios) > 0.97


@pytest.mark.parametrize("seed", [34, 209, *range(times(30, 8, full=200))])
def test_cylinder_of_a_wheel_of_many_vertices_is_along_its_axle_or_as_small(seed):
    """The cylinder along the axle has a closed form. Some wheels have a hub, a valve or an axle."""
    wheel, radius, length = random_wheel(seed)
    turned = wheel @ random_rotations(np.random.default_rng(seed), 1)[0].T
    assert cylinder_from_points(turned).volume <= 1.05 * np.pi * radius**2 * length


@pytest.mark.smoke
@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("seed", range(6))
def test_every_point_is_inside(fit, seed):
    points = random_mesh(seed) + np.array([1e3, 0, -1e4])
    assert fit(points).contains(points).all()
    assert fit(points.astype(np.float32)).contains(points.astype(np.float32)).all()


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("exponent", [-900, -30, 600, 900])
def test_fit_of_tiny_and_huge_points_is_the_scaled_fit(fit, exponent):
    """Scaling by a power of two is exact. Squares of these lengths are not: they are zero or infinite."""
    points = random_mesh(3)
    shape, scaled = fit(points), fit(np.ldexp(points, exponent))
    assert (scaled.axis == shape.axis).all()
    assert scaled.radius == np.ldexp(shape.radius, exponent)
    assert scaled.half_length == np.ldexp(shape.half_length, exponent)
    assert (scaled.center == np.ldexp(shape.center, exponent)).all()


def test_points_on_a_capsule_give_that_capsule():
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(4000, 3))
    ball *= 0.5 / np.linalg.norm(ball, axis=1, keepdims=True)
    axis = np.array([2.0, 3, 6]) / 7
    capsule = capsule_from_points(ball + np.where((ball @ axis > 0)[:, None], 2.0, -2.0) * axis)
    assert abs(capsule.axis @ axis) > 0.9999
    assert capsule.radius == pytest.approx(0.5, rel=0.01)
    assert capsule.half_length == pytest.approx(2, rel=0.01)


def test_points_on_a_cylinder_give_that_cylinder():
    angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(64)], axis=1)
    turn = random_rotations(np.random.default_rng(4), 1)[0]
    cylinder = cylinder_from_points(
        np.concatenate([ring - np.array([0, 0, 3]), ring + np.array([0, 0, 3])]) @ turn.T
    )
    assert abs(cylinder.axis @ turn[:, 2]) > 0.9999
    assert cylinder.volume == pytest.approx(6 * np.pi, rel=0.01)


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("axis", [[0, 0, 1], [1, 2, 3]])
def test_given_axis_is_kept(fit, axis):
    points = random_mesh(1)
    shape = fit(points, axis)
    np.testing.assert_allclose(shape.axis, np.array(axis) / np.linalg.norm(axis), rtol=1e-15)
    assert shape.contains(points).all()
    assert shape.volume >= fit(points).volume * 0.95


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize(
    "points",
    [
        [[1, 2, 3]],
        [[1, 2, 3]] * 4,
        [[0, 0, 0], [1, 2, 3]],
        [[0, 0, 0], [1, 2, 3], [2, 4, 6]],
        [[0, 0, 1], [5, 0, 1], [0, 3, 1], [5, 3, 1]],
        [[0, 0, 0], [1e-9, 0, 0], [0, 1e3, 0]],
    ],
    ids=["one", "equal", "two", "line", "plane", "needle"],
)
def test_degenerate_points_are_inside(fit, points):
    shape = fit(points)
    assert shape.contains(points).all()
    assert isinstance(shape, Capsule | Cylinder)
    assert shape.volume >= 0


@pytest.mark.parametrize("fit", FITS)
def test_missing_points_and_axis_are_named(fit):
    with pytest.raises(EmptyGeometryError, match="no points"):
        fit(np.empty((0, 3)))
    with pytest.raises(InvalidShapeError, match="axis: must be a direction"):
        fit([[0, 0, 0], [1, 1, 1]], [0, 0, 0])


@pytest.mark.parametrize("fit", FITS)
def test_ends_of_axes_are_within_a_cube_around_all_points_wherever_its_middle_is(fit):
    """Scans bound the motion of the ends by that of a ball of this radius around the origin of the object."""
    rng = np.random.default_rng(11)
    for seed in range(times(25, 10, full=1000)):
        points = random_mesh(seed)
        shape = fit(points)
        spread = np.ptp(points, axis=0).max()
        origins = np.concatenate([points[:8], points.mean(axis=0) + rng.normal(size=(40, 3)) * spread])
        reach = np.linalg.norm(points[None] - origins[:, None], axis=-1).max(axis=1)
        for end in (shape.start, shape.end):
            assert (np.linalg.norm(end - origins, axis=1) <= np.sqrt(3) * reach).all()


@pytest.mark.parametrize("seed", range(times(25, 10, full=60)))
def test_capsule_along_a_line_that_was_found_before_is_small_too(seed):
    rng = np.random.default_rng(seed)
    points = random_mesh(seed)
    found = capsule_from_points(points)
    again = capsule_along(points, found.axis, found.center)
    # Radii are compared in steps.
    assert again.volume <= 1.03 * found.volume
    along_axis = capsule_from_points(points, found.axis).volume
    for distance in (0.3, 3, 1e3, 1e12):
        moved = points + rng.normal(size=3) * distance * np.ptp(points, axis=0).max()
        capsule = capsule_along(moved, found.axis, found.center)
        assert capsule.contains(moved).all()
        if distance < 1e6:
            assert capsule.volume <= 1.35 * along_axis
