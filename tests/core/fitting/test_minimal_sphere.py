"""The smallest enclosing sphere: few points, many points, and groups."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from addon.core import EmptyGeometryError, InvalidShapeError, NonFiniteGeometryError, sphere_from_points
from addon.core.fitting.enclosing import spheres_from_groups
from tests.core import exact
from tests.tiers import examples, times

TETRAHEDRON = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


def rotation(seed: int) -> np.ndarray:
    """Return a random rotation or reflection, orthonormal to rounding."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]


def on_unit_sphere(count: int, seed: int = 1) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def radius_excess(sphere, points) -> float:
    """Relative excess of a radius over that of the exact smallest sphere."""
    squared = exact.smallest_ball_squared_radius(points)
    return float(Fraction(float(sphere.radius)) ** 2 / squared - 1) / 2


def degenerate(kind: str, seed: int) -> np.ndarray:
    """Small sets with ill-conditioned circumcenters."""
    rng = np.random.default_rng(seed)
    count = rng.integers(4, 8)
    points = rng.normal(size=(count, 3))
    tiny = 10.0 ** -rng.integers(2, 16)
    angle = rng.uniform(0, 2 * math.pi, count)
    ring = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    if kind == "flat":
        return points * [1, 1, tiny]
    if kind == "needle":
        return points * [1, tiny, tiny]
    if kind == "coplanar":
        return rng.integers(-4, 5, (count, 3)) * [1.0, 1, 0] + [0, 0, seed]
    if kind == "collinear":
        return rng.integers(-9, 10, (count, 1)) * [1.0, 2, -3] + [0, 0, 0.5]
    if kind == "duplicates":
        return points[rng.integers(0, 3, count)]
    if kind == "lattice":
        return rng.integers(-2, 3, (count, 3)).astype(float)
    if kind == "nearly on a sphere":
        return points / np.linalg.norm(points, axis=1)[:, None] * (1 + tiny * rng.normal(size=(count, 1)))
    if kind == "nearly on a circle":
        return (ring + tiny * rng.normal(size=(count, 3)) * [0, 0, 1]) @ rotation(seed)
    if kind == "close together, far from another":
        return np.concatenate([points[:1] + 5, points * tiny])
    if kind == "right-angled, by a hair":
        # The third and fourth point are barely outside of the sphere of the first two.
        return np.array([[-1.0, 0, 0], [1, 0, 0], [0, 1 + tiny, 0], [0, 0, 1 + tiny * rng.random()]])
    assert kind == "thin obtuse"
    return np.array([[0.0, 0, 0], [10, 0, 0], [5, tiny, 0], [rng.random() * 10, 0, -tiny]]) @ rotation(seed)


KINDS = [
    "flat",
    "needle",
    "coplanar",
    "collinear",
    "duplicates",
    "lattice",
    "nearly on a sphere",
    "nearly on a circle",
    "close together, far from another",
    "right-angled, by a hair",
    "thin obtuse",
]


def shells() -> dict[str, np.ndarray]:
    """Return sets of 20 thousand points, which are solved by samples."""
    rng = np.random.default_rng(5)
    around = on_unit_sphere(20_000)
    u, v = rng.uniform(0, 2 * math.pi, (2, 20_000))
    ring = 1 + 0.3 * np.cos(v)
    return {
        "cloud": rng.normal(size=(20_000, 3)),
        "blob": around * (1 + 0.1 * np.sin(4 * around).sum(axis=1)[:, None]),
        "torus": np.stack([ring * np.cos(u), ring * np.sin(u), 0.3 * np.sin(v)], axis=1),
        "sphere": around,
        "shell": around * (1 + 1e-3 * rng.random((20_000, 1))),
        "one far away": np.concatenate([0.01 * around, [[7.0, 0, 0]]]),
        "all the same but two": np.concatenate([np.zeros((20_000, 3)), [[1.0, 0, 0], [0, 1, 0]]]),
        "grid": np.stack(np.meshgrid(*[np.arange(28.0)] * 3), axis=-1).reshape(-1, 3),
    }


# --- smallest radius, and enclosure ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_radius_is_smallest_for_ill_conditioned_circumcenters(kind, scale):
    for seed in range(times(4, 3, full=100)):
        points = degenerate(kind, seed) * scale
        sphere = sphere_from_points(points)
        assert sphere.contains(points).all()
        if len(np.unique(points, axis=0)) > 1:
            assert -1e-15 <= radius_excess(sphere, points) <= 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_group_radius_is_smallest_for_ill_conditioned_circumcenters(kind):
    sets = [degenerate(kind, seed) for seed in range(times(10, full=1000))]
    offsets = np.cumsum([0, *map(len, sets)])
    spheres = spheres_from_groups(np.concatenate(sets), offsets)
    for index, points in enumerate(sets):
        assert spheres[index].contains(points).all()
        if len(np.unique(points, axis=0)) > 1:
            assert -1e-15 <= radius_excess(spheres[index], points) <= 1e-12


@pytest.mark.parametrize("offset", [[1e6, 0, 0], [1e6, -1e6, 1e6]])
def test_radius_far_from_origin_exceeds_smallest_by_rounding_of_center_only(offset):
    for seed in range(times(10, full=1000)):
        points = np.random.default_rng(seed).normal(size=(6, 3)) + offset
        sphere = sphere_from_points(points)
        assert sphere.contains(points).all()
        smallest = exact.square_root(exact.smallest_ball_squared_radius(points))
        # A center coordinate of 1e6 is rounded by up to 6e-11, and there are three of them.
        assert smallest * (1 - 1e-15) <= float(sphere.radius) <= smallest * (1 + 1e-12) + 1.1e-10


@examples(80, full=1000)
@given(arrays(np.float64, st.tuples(st.integers(1, 40), st.just(3)), elements=st.floats(-1e9, 1e9)))
def test_no_point_of_any_set_is_outside_alone_or_in_a_group(points):
    assert sphere_from_points(points).contains(points).all()
    half = len(points) // 2
    offsets = [0, half, len(points)] if half else [0, len(points)]
    spheres = spheres_from_groups(points, offsets)
    for index, (start, end) in enumerate(pairwise(offsets)):
        assert spheres[index].contains(points[start:end]).all()


@examples(60, full=1000)
@given(arrays(np.float64, st.tuples(st.integers(2, 6), st.just(3)), elements=st.integers(-5, 5).map(float)))
def test_sphere_of_lattice_points_is_exactly_smallest(points):
    # Of lattice points, many are on one sphere, circle or line.
    sphere = sphere_from_points(points)
    grouped = spheres_from_groups(points, [0, len(points)])
    if len(np.unique(points, axis=0)) == 1:
        assert sphere.radius == grouped.radius[0] == 0
    else:
        assert -1e-15 <= radius_excess(sphere, points) <= 1e-12
        assert -1e-15 <= radius_excess(grouped[0], points) <= 1e-12


@pytest.mark.parametrize("name", list(shells()))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 100.0, 1e4])
def test_radius_of_many_points_is_that_of_points_on_sphere(name, dtype, offset):
    points = (shells()[name] + offset).astype(dtype)
    sphere = sphere_from_points(points)
    assert sphere.contains(points).all()
    # The smallest sphere of a subset is a lower bound: take the points farthest from the center.
    different = np.unique(points, axis=0)
    distances = np.linalg.norm(different.astype(np.float64) - sphere.center, axis=1)
    outermost = different[np.argsort(distances)[-60:]]
    lower = float(sphere_from_points(outermost).radius)
    rounding = 2e-16 * offset * math.sqrt(3)
    assert lower * (1 - 1e-12) <= float(sphere.radius)
    if name not in ("sphere", "grid"):
        assert float(sphere.radius) <= lower * (1 + 1e-12) + rounding
    elif name == "grid" and offset == 0:
        assert float(sphere.radius) == pytest.approx(13.5 * math.sqrt(3), rel=1e-12)


@pytest.mark.smoke
def test_radius_of_float32_points_on_sphere_covers_all_points():
    # Rounded to float32, points are within 1e-7 of the sphere: float32 cannot decide which are outside.
    points = on_unit_sphere(60_000).astype(np.float32)
    sphere = sphere_from_points(points)
    assert sphere.contains(points).all()
    assert sphere_from_points(points.astype(np.float64)).radius == pytest.approx(
        float(sphere.radius), rel=1e-13
    )


@pytest.mark.parametrize("row", [0, 7_000, 23_456, 29_999])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_single_outlier_outside_every_sample_is_found(row, dtype):
    points = on_unit_sphere(30_000).astype(dtype)
    points[row] *= 3
    sphere = sphere_from_points(points)
    assert sphere.contains(points).all()
    # The sphere spans the outlier and the far side of the unit sphere: radius (3 + 1) / 2 at most, and
    # nearly that.
    assert 1.99 < float(sphere.radius) <= 2 + 1e-6


# --- invariance ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [5, 24, 300, 12_000])
def test_order_motion_and_scale_do_not_change_sphere(count):
    points = np.random.default_rng(count).normal(size=(count, 3))
    sphere = sphere_from_points(points)
    shuffled = sphere_from_points(np.random.default_rng(0).permutation(points))
    assert float(shuffled.radius) == pytest.approx(float(sphere.radius), rel=1e-12)
    for seed, scale in enumerate((1.0, 1e-6, 1e6)):
        turn, shift = rotation(seed), scale * np.array([1.0, -2, 3])
        moved = sphere_from_points(points @ turn * scale + shift)
        assert float(moved.radius) == pytest.approx(float(sphere.radius) * scale, rel=1e-12)
        np.testing.assert_allclose(moved.center, sphere.center @ turn * scale + shift, atol=1e-9 * scale)


@pytest.mark.parametrize("count", [1, 2, 6, 40, 9_000])
@pytest.mark.parametrize("size", [1e-150, 1e-40, 1e40, 1e150, 1e300])
def test_extreme_sizes_neither_overflow_nor_underflow_alone_or_in_groups(count, size):
    points = np.random.default_rng(count).uniform(-1, 1, (count, 3))
    plain = sphere_from_points(points)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spheres = [
            sphere_from_points(points * size),
            spheres_from_groups(points * size, [0, count])[0],
            sphere_from_points((points * size)[None])[0],
        ]
    for sphere in spheres:
        assert sphere.contains(points * size).all()
        assert float(sphere.radius) / size == pytest.approx(float(plain.radius), rel=1e-12)


@pytest.mark.parametrize("count", [8, 200, 20_000])
@pytest.mark.parametrize("size", [1e-42, 1e-30, 3e37])
def test_float32_points_near_limits_of_range(count, size):
    points = (on_unit_sphere(count) * size).astype(np.float32)
    points[0] = [np.finfo(np.float32).max, 0, 0] if size > 1 else points[0]
    sphere = sphere_from_points(points)
    assert sphere.contains(points).all()
    wide = sphere_from_points(points.astype(np.float64))
    assert float(sphere.radius) == pytest.approx(float(wide.radius), rel=1e-12)


def test_radius_beyond_float64_is_rejected():
    points = np.array([[1.7e308] * 3, [-1.7e308] * 3])
    with pytest.raises(NonFiniteGeometryError, match="sphere radius"):
        sphere_from_points(points)
    with pytest.raises(NonFiniteGeometryError, match=r"sphere radius: element \(0,\)"):
        spheres_from_groups(points, [0, 2])


# --- groups ----------------------------------------------------------------------------------------------


@pytest.mark.smoke
def test_groups_of_all_sizes_get_spheres_of_single_fits():
    rng = np.random.default_rng(8)
    counts = [1, 2, 3, 4, 5000, 1, 17, 300, 8, 2, *rng.integers(1, 30, 200)]
    offsets = np.cumsum([0, *counts])
    points = (
        rng.normal(size=(offsets[-1], 3))
        * np.repeat(10.0 ** rng.integers(-6, 7, len(counts)), counts)[:, None]
    )
    for dtype in (np.float64, np.float32):
        typed = points.astype(dtype)
        spheres = spheres_from_groups(typed, offsets)
        assert spheres.shape == (len(counts),)
        for index in range(len(counts)):
            members = typed[offsets[index] : offsets[index + 1]]
            alone = sphere_from_points(members)
            assert spheres[index].contains(members).all()
            assert float(spheres.radius[index]) == pytest.approx(float(alone.radius), rel=1e-12)
            np.testing.assert_allclose(spheres.center[index], alone.center, atol=1e-7 * alone.radius)


def test_group_of_single_point_or_duplicates_gives_that_point():
    points = np.array([[0.1, 0.2, 0.3], [5, 5, 5], [5, 5, 5], [5, 5, 5]])
    spheres = spheres_from_groups(points, [0, 1, 4])
    assert spheres.center.tolist() == [[0.1, 0.2, 0.3], [5, 5, 5]]
    assert spheres.radius.tolist() == [0, 0]


def test_groups_can_skip_points_at_both_ends():
    points = np.array([[99.0, 0, 0], *TETRAHEDRON, [math.pi, 99, 0]])
    spheres = spheres_from_groups(points, [1, 5])
    assert spheres.radius[0] == pytest.approx(math.sqrt(3), rel=1e-15)
    assert spheres_from_groups(points, [3]).shape == (0,)


def test_groups_over_many_blocks():
    # 9 000 times 20 points, each a tetrahedron of another size with its center and points inside.
    sizes = np.linspace(1, 2, 9_000)
    inner = on_unit_sphere(16, seed=3) * 0.5
    points = (np.concatenate([TETRAHEDRON, inner])[None] * sizes[:, None, None]).reshape(-1, 3)
    spheres = spheres_from_groups(points, np.arange(9_001) * 20)
    np.testing.assert_allclose(spheres.radius, math.sqrt(3) * sizes, rtol=1e-12)
    np.testing.assert_allclose(spheres.center, 0, atol=1e-12)


@pytest.mark.parametrize(
    ("offsets", "error", "message"),
    [
        ([0, 2, 2, 4], EmptyGeometryError, "group 1 has no points"),
        ([0, 3, 1], InvalidShapeError, "element 2 is less than the one before"),
        ([-1, 3], InvalidShapeError, "between 0 and 4"),
        ([0, 5], InvalidShapeError, "between 0 and 4"),
        ([0.0, 4.0], InvalidShapeError, "whole numbers"),
        ([[0, 4]], InvalidShapeError, "whole numbers"),
        ([], InvalidShapeError, "whole numbers"),
    ],
)
def test_invalid_offsets_are_rejected(offsets, error, message):
    with pytest.raises(error, match=message):
        spheres_from_groups(TETRAHEDRON, offsets)


def test_non_finite_coordinate_in_group_is_reported_by_index_among_all_points():
    points = np.zeros((5, 3))
    points[3, 2] = math.nan
    with pytest.raises(NonFiniteGeometryError, match=r"points: element \(3, 2\) is nan"):
        spheres_from_groups(points, [0, 2, 5])
    with pytest.raises(InvalidShapeError, match=r"\(n, 3\)"):
        spheres_from_groups(np.zeros((2, 2, 3)), [0, 1])
