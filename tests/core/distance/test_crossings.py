"""Crossings of triangles that last: those proven must be there at all sampled times, also when perturbed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from addon.core.distance.crossings import crossing_margins
from tests.core import scenes
from tests.core.mesh.solids import surfaces_cross
from tests.tiers import times

MOMENTS = np.linspace(0, 1, 21)

FLAT = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
UPRIGHT = np.array([[0.0, 1, -1], [0, 1, 1], [0, -3, 1]])
"""Crosses FLAT where it is shifted along X: then a side of it is 1 from one side of FLAT, and the shift from
another. Of the other crossing, the lower side of FLAT is at 2 / sqrt(20) from a side of this one: less, where
the shift is more than a half.
"""


def shifted(corners: np.ndarray, *offset: float) -> np.ndarray:
    """Corners moved by an offset."""
    return corners + np.array(offset)


def margins(a, b, a_end=None, b_end=None) -> np.ndarray:
    """Margins without warnings; triangles are at rest unless their ends are given."""
    ends = a if a_end is None else a_end, b if b_end is None else b_end
    corners = (np.asarray(each, dtype=float).reshape(-1, 3, 3) for each in (a, ends[0], b, ends[1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = crossing_margins(*corners)
    assert not np.isnan(found).any()
    return found


def random_pairs(seed: int, count: int, motion: float) -> list[np.ndarray]:
    """Triangles near the origin at both ends, (4, count, 3, 3): all corners move by themselves."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, count, 3, 3))
    return [a, a + rng.normal(size=a.shape) * motion, b, b + rng.normal(size=b.shape) * motion]


def at(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Corners (times, m, 3, 3) at all moments."""
    part = MOMENTS[:, None, None, None]
    return start * (1 - part) + end * part


def cross_at_moments(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Decide which triangles (times, m, 3, 3) cross, (times, m)."""
    shape = a.shape[:2]
    return surfaces_cross(a.reshape(-1, 1, 3, 3), b.reshape(-1, 1, 3, 3)).reshape(shape)


@pytest.mark.parametrize("motion", [0.0, 0.05, 0.3, 1.0, 3.0])
def test_margins_are_positive_only_where_triangles_cross_at_all_times(motion):
    a, a_end, b, b_end = random_pairs(1, times(20_000, 4000, full=40_000), motion)
    is_proven = margins(a, b, a_end, b_end) > 0
    crosses = cross_at_moments(at(a, a_end), at(b, b_end)).all(axis=0)
    assert not (is_proven & ~crosses).any()
    assert is_proven.any()
    if motion == 0:
        assert np.array_equal(is_proven, crosses)
    elif motion <= 0.05:
        # Others cross by one edge after another, or pass near a side.
        assert is_proven.sum() > 0.75 * crosses.sum()


@pytest.mark.parametrize("motion", [0.0, 0.3])
@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_corners_elsewhere_by_less_than_the_margin_do_not_end_a_crossing(motion, part):
    a, a_end, b, b_end = random_pairs(2, times(6000, 3000, full=30_000), motion)
    margin = margins(a, b, a_end, b_end)
    rows = np.flatnonzero(margin > 0)
    rng = np.random.default_rng(3)
    first, second = (at(*(each[rows] for each in ends)) for ends in ((a, a_end), (b, b_end)))
    for attempt in range(times(30, 6)):
        shifts = scenes.random_directions(rng, 6 * first.shape[0] * len(rows)).reshape(2, *first.shape)
        if attempt % 2:
            # Both triangles as a whole, away from each other.
            shifts[0], shifts[1] = shifts[0, :, :, :1], -shifts[0, :, :, :1]
        shifts *= 0.999 * margin[rows, None, None]
        assert cross_at_moments(first + part * shifts[0], second + (1 - part) * shifts[1]).all()


def margins_at_rest(edges: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Distances (m,) of the ends of an edge from the plane, and of its line from those of the sides.

    The least of them for an edge that passes through the face, the largest for all edges; 0 for none.
    """
    result = np.zeros(len(edges))
    sides = faces[:, [1, 2, 0]] - faces
    normal = np.cross(sides[:, 0], sides[:, 1])
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    heights = np.einsum("mki,mi->mk", edges - faces[:, :1], normal)
    for k, end in enumerate((1, 2, 0)):
        along = edges[:, end] - edges[:, k]
        part = heights[:, k] / (heights[:, k] - heights[:, end])
        point = edges[:, k] + part[:, None] * along
        # On the inner side of all three sides.
        inward = np.einsum("mji,mi->mj", np.cross(sides, point[:, None] - faces), normal)
        is_through = (heights[:, k] * heights[:, end] < 0) & (inward > 0).all(axis=1)
        across = np.cross(along[:, None], sides)
        lines = np.abs(np.einsum("mji,mji->mj", faces - edges[:, k, None], across))
        lines /= np.linalg.norm(across, axis=-1)
        least = np.minimum(np.abs(heights[:, [k, end]]).min(axis=1), lines.min(axis=1))
        result = np.maximum(result, np.where(is_through, least, 0))
    return result


def test_margins_at_rest_are_distances_from_planes_and_lines():
    a, _, b, _ = random_pairs(4, times(20_000, 4000, full=40_000), 0.0)
    expected = np.maximum(margins_at_rest(a, b), margins_at_rest(b, a))
    found = margins(a, b)
    np.testing.assert_allclose(np.maximum(found, 0), expected, rtol=0, atol=1e-9)
    assert (found[expected > 0] > 0.99 * expected[expected > 0] - 1e-9).all()
    assert (expected > 0.1).any()


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_margin_of_an_edge_through_a_face_is_the_distance_from_its_ends_and_sides(scale):
    for start, end, expected in (
        (0.5, 0.5, 0.5),
        (0.75, 0.75, 0.75),
        (1.2, 1.2, 1.0),
        (0.5, 0.9, 0.5),
        (1, 0.6, 0.6),
    ):
        shifts = ([start, 0, 0], [end, 0, 0])
        first, last = (shifted(UPRIGHT, *shift) * scale for shift in shifts)
        assert margins(FLAT * scale, first, FLAT * scale, last)[0] == pytest.approx(
            expected * scale, rel=1e-12
        )
        assert margins(first, FLAT * scale, last, FLAT * scale)[0] == pytest.approx(
            expected * scale, rel=1e-12
        )


@pytest.mark.parametrize("scale", [1e-12, 1e6])
def test_margins_grow_with_the_unit(scale):
    pairs = random_pairs(5, 300, 0.3)
    a, a_end, b, b_end = pairs
    expected = margins(a, b, a_end, b_end)
    scaled = [each * scale for each in pairs]
    found = margins(scaled[0], scaled[2], scaled[1], scaled[3])
    np.testing.assert_allclose(found / scale, expected, rtol=1e-9, atol=1e-12)


def test_order_of_triangles_corners_and_times_does_not_matter():
    a, a_end, b, b_end = random_pairs(6, 500, 0.3)
    expected = margins(a, b, a_end, b_end)
    for found in (
        margins(b, a, b_end, a_end),
        margins(a_end, b_end, a, b),
        margins(a[:, [1, 2, 0]], b[:, [2, 0, 1]], a_end[:, [1, 2, 0]], b_end[:, [2, 0, 1]]),
        margins(a[:, [1, 0, 2]], b, a_end[:, [1, 0, 2]], b_end),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("apart", shifted(UPRIGHT, 0.5, 0, 5)),
        ("apart in one plane", shifted(FLAT, 5, 5, 0)),
        ("coplanar", shifted(FLAT, 0.5, 0.5, 0)),
        ("the same", FLAT),
        ("a corner on the face", [[1, 1, 0], [1, 2, 2], [2, 1, 2]]),
        ("a corner on a corner", [[0, 0, 0], [-1, 0, 1], [0, -1, 1]]),
        ("a shared side", [[0, 0, 0], [4, 0, 0], [1, 0, 3]]),
        ("a side through a side", [[2, 0, -1], [2, 0, 1], [2, -3, 0]]),
        ("a point on the face", [[1, 1, 0]] * 3),
        ("a point apart", [[1, 1, 3]] * 3),
        ("a segment in the plane", [[1, 1, 0], [2, 1, 0], [2, 1, 0]]),
        ("a segment that ends on the face", [[1, 1, 0], [1, 1, 2], [1, 1, 2]]),
        ("a segment apart", [[5, 5, -1], [5, 5, 1], [5, 5, 1]]),
    ],
)
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6])
def test_triangles_that_touch_or_are_flat_or_apart_have_no_margin(name, other, scale):
    other = np.asarray(other, dtype=float)
    assert margins(FLAT * scale, other * scale)[0] <= 0, name
    assert margins(other * scale, FLAT * scale)[0] <= 0, name
    # In general position, up to rounding.
    rotations = scenes.random_rotations(np.random.default_rng(7), 20)
    first, second = (np.einsum("nij,kj->nki", rotations, each * scale) for each in (FLAT, other))
    assert (margins(first, second) <= 1e-14 * scale).all(), name


def test_segments_and_points_have_no_margin_between_them():
    along_x, along_y = [[-1, 0, 0], [1, 0, 0], [1, 0, 0]], [[0, -1, 0], [0, 1, 0], [0, 1, 0]]
    point = [[0, 0, 0]] * 3
    for first in (along_x, along_y, point):
        for second in (along_x, along_y, point):
            assert margins(first, second)[0] <= 0


def test_segment_through_a_face_has_no_margin_or_a_true_one():
    segment = np.array([[1.0, 1, -1], [1, 1, 1], [1, 1, 1]])
    assert margins(FLAT, segment)[0] <= 1
    assert margins(FLAT, segment, FLAT, shifted(segment, 2.5, 0, 0))[0] <= 0


def test_triangle_that_passes_through_a_face_and_leaves_it_has_no_margin():
    start = shifted(UPRIGHT, 0.6, 0, 0)
    assert margins(FLAT, start)[0] > 0
    for shift in ([0, 0, 3], [0, 0, -3], [5, 0, 0]):
        assert margins(FLAT, start, FLAT, shifted(start, *shift))[0] <= 0
    # It crosses at both ends, but lies flat in between.
    turned = start * [1, 1, -1]
    assert margins(FLAT, turned)[0] > 0
    assert margins(FLAT, start, FLAT, turned)[0] <= 0


def test_no_pairs_have_no_margins():
    none = np.zeros((0, 3, 3))
    assert margins(none, none).shape == (0,)
