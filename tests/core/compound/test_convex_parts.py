"""Hulls of convex parts hold every triangle, are few, and have the volumes that are known."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import ConvexHull, InvalidShapeError, convex_parts, hull_from_points
from addon.core.numeric.geodesic import geodesic_directions
from tests.core.compound.meshes_with_notches import (
    L_OUTLINE,
    L_TRIANGLES,
    U_OUTLINE,
    U_TRIANGLES,
    box,
    prism,
    ring,
    volume,
)
from tests.tiers import times


def hulls_of(parts: list[np.ndarray]) -> list[ConvexHull]:
    return [hull_from_points(part) for part in parts]


def total_volume(parts: list[np.ndarray]) -> float:
    return sum(volume(hull.vertices[hull.faces]) for hull in hulls_of(parts))


def random_points_on(triangles: np.ndarray, rng: np.random.Generator, count: int) -> np.ndarray:
    """Points on random triangles: inside, on sides and at corners."""
    weights = rng.dirichlet((1, 1, 1), (len(triangles), count))
    weights[:, ::3, 0] = 0
    weights[:, 0] = [1, 0, 0]
    return np.einsum("tcw,twi->tci", weights / weights.sum(axis=-1, keepdims=True), triangles).reshape(-1, 3)


def outside_all(points: np.ndarray, parts: list[np.ndarray], slack: float) -> np.ndarray:
    """Points that are outside of the box of each part by more than a slack, or above a face of its hull.

    Hulls are fitted in the axes of the part, around its middle: elsewhere single precision can lose the
    thickness of a sliver. They are larger by about a millionth of the part, and those of flat parts are
    thickened, so that they also have sides.
    """
    is_outside = np.ones(len(points), dtype=bool)
    for part in parts:
        middle = part.mean(axis=0)
        axes = np.linalg.svd(part - middle, full_matrices=True)[2]
        local, probe = (part - middle) @ axes.T, (points - middle) @ axes.T
        extent = np.ptp(local, axis=0)
        size = extent.max()
        inside = ((probe >= local.min(axis=0) - slack) & (probe <= local.max(axis=0) + slack)).all(axis=1)
        if size > 0:
            corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
            thickened = local / size + corners[:, None] * np.where(extent <= 1e-5 * size, 1e-5, 0.0)
            hull = hull_from_points(thickened.reshape(-1, 3))
            a, b, c = np.moveaxis(hull.vertices[hull.faces], 1, 0)
            normals = np.cross(b - a, c - a)
            normals /= np.linalg.norm(normals, axis=1, keepdims=True)
            heights = ((probe[:, None] / size - a) * normals).sum(axis=-1).max(axis=1)
            inside &= heights <= slack / size
        is_outside &= ~inside
    return points[is_outside]


def random_mesh(rng: np.random.Generator) -> np.ndarray:
    """Overlapping boxes, a crumpled ring, or loose triangles."""
    kind = rng.integers(3)
    if kind == 0:
        lows = rng.uniform(-2, 2, (rng.integers(1, 6), 3))
        return np.concatenate([box(low, low + rng.uniform(0.1, 2, 3)) for low in lows])
    if kind == 1:
        triangles = ring(1, rng.uniform(0.1, 0.6), 16, 8)
        turn = rng.normal(size=(3, 3)) * 0.4
        return triangles + np.sin(3 * triangles @ turn) * 0.3
    return rng.normal(size=(rng.integers(1, 30), 1, 3)) + rng.normal(size=(1, 3, 3)) * rng.uniform(0.1, 1)


@pytest.mark.parametrize("seed", range(times(10, 10, full=60)))
def test_every_point_of_a_random_mesh_is_in_the_hull_of_a_part(seed):
    rng = np.random.default_rng(seed)
    triangles = random_mesh(rng) * 10.0 ** rng.integers(-3, 4) + rng.normal(size=3) * 10
    count = int(rng.integers(2, 10))
    parts = convex_parts(triangles, count)
    assert 1 <= len(parts) <= count
    points = random_points_on(triangles, rng, 12)
    size = np.linalg.norm(np.ptp(triangles.reshape(-1, 3), axis=0))
    # Flat hulls have no thickness; rounding of the size of the coordinates.
    slack = 1e-9 * size + 1e-13 * np.abs(triangles).max()
    assert not len(outside_all(points, parts, slack))


@pytest.mark.parametrize(
    ("triangles", "count", "expected"),
    [
        (prism(L_OUTLINE, L_TRIANGLES), 2, 4.0),
        (prism(L_OUTLINE, L_TRIANGLES), 8, 4.0),
        (np.concatenate([box((0, 0, 0), (1, 1, 1)), box((5, 0, 0), (6, 2, 1))]), 2, 3.0),
    ],
    ids=["L in 2", "L in up to 8", "two boxes apart"],
)
def test_shapes_of_two_boxes_have_exactly_their_volume(triangles, count, expected):
    parts = convex_parts(triangles, count)
    assert len(parts) == 2
    assert total_volume(parts) == pytest.approx(expected, rel=1e-5)


def test_shape_of_three_boxes_has_nearly_its_volume():
    parts = convex_parts(prism(U_OUTLINE, U_TRIANGLES), 3)
    assert len(parts) == 3
    assert 5.0 <= total_volume(parts) * (1 + 1e-9) <= 5.05


def test_convex_meshes_stay_one_part():
    """A box with a face of many triangles, a box turned in space, and a ball."""
    quarter = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    quarter *= np.sign(np.linalg.det(quarter))
    vectors, faces, _ = geodesic_directions(5)
    ball = vectors[faces]
    for triangles in (box((0, 0, 0), (1, 2, 3)), box((-1, -1, -1), (1, 2, 1)) @ quarter.T, ball):
        assert len(convex_parts(triangles, 8)) == 1


@pytest.mark.parametrize("corners", [16, pytest.param(32, marks=pytest.mark.long)])
def test_flat_disk_stays_one_part(corners):
    """Its hull has no volume: its measure is that of a thin layer."""
    turned = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    angles = np.arange(corners) * 2 * np.pi / corners
    points = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    faces = np.array([(0, k, k + 1) for k in range(1, corners - 1)])
    for each in (points, points @ turned.T, (points @ turned.T).astype(np.float32)):
        (part,) = convex_parts(each[faces], 8)
        assert len(part) == corners


def test_flat_ring_is_split():
    """Eight trapezoids of a regular octagon with a hole of half the size have three quarters of its area."""
    angles = np.arange(8) * np.pi / 4
    outer = np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    inner, k = outer / 2, np.arange(8)
    triangles = np.concatenate(
        [np.stack([outer[k], outer[k - 1], inner[k]], 1), np.stack([inner[k], outer[k - 1], inner[k - 1]], 1)]
    )
    parts = convex_parts(triangles, 8)
    assert 4 <= len(parts) <= 8


@pytest.mark.long
def test_more_parts_of_a_ring_come_nearer_to_its_volume():
    """The hull of a ring has 1.57 times its volume; 8 parts are within a tenth."""
    triangles = ring()
    volumes = [total_volume(convex_parts(triangles, count)) for count in (1, 4, 8, times(12, full=24))]
    assert volumes[0] > volumes[1] > volumes[2] > volumes[3]
    assert volumes[2] <= 1.1 * volume(triangles)
    # The hulls hold a solid, not only its surface.
    assert volumes[3] >= volume(triangles) * (1 - 1e-6)


def test_interior_of_a_solid_that_is_cut_in_three_directions_is_held():
    """The corner where three cuts meet is inside of the solid, on none of its triangles."""
    cross = np.concatenate(
        [box((-3, -1, -1), (3, 1, 1)), box((-1, -3, -1), (1, 3, 1)), box((-1, -1, -3), (1, 1, 3))]
    )
    parts = convex_parts(cross, 8)
    rng = np.random.default_rng(0)
    inside = rng.uniform(-1, 1, (2000, 3))
    arm = rng.uniform(-1, 1, (2000, 3)) * [3, 1, 1]
    assert not len(outside_all(np.concatenate([inside, arm]), parts, 1e-9))


def test_parts_with_shallow_notches_are_not_split():
    triangles = prism(L_OUTLINE, L_TRIANGLES)
    assert len(convex_parts(triangles, 8, tolerance=3.0)) == 1
    assert len(convex_parts(triangles, 8, tolerance=0.5)) == 2


@pytest.mark.parametrize(
    "triangles",
    [
        [[(0, 0, 0), (1, 0, 0), (0, 1, 0)]],
        [[(1, 2, 3)] * 3],
        [[(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 0, 0), (3, 0, 0), (2, 0, 0)]],
    ],
    ids=["triangle", "point", "line"],
)
def test_degenerate_meshes_have_parts_that_hold_them(triangles):
    parts = convex_parts(triangles, 4)
    assert not len(outside_all(np.array(triangles, dtype=float).reshape(-1, 3), parts, 1e-12))


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_size_does_not_change_the_parts(scale):
    triangles = prism(L_OUTLINE, L_TRIANGLES)
    expected = convex_parts(triangles, 4)
    for part, other in zip(expected, convex_parts(triangles * scale, 4), strict=True):
        np.testing.assert_allclose(other / scale, part, atol=1e-12)


@pytest.mark.parametrize(("count", "tolerance"), [(0, 0.0), (257, 0.0), (2.5, 0.0), (2, -1.0), (2, np.nan)])
def test_counts_and_tolerances_out_of_range_are_refused(count, tolerance):
    with pytest.raises(InvalidShapeError):
        convex_parts(box((0, 0, 0), (1, 1, 1)), count, tolerance)
