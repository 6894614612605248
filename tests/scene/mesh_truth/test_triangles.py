"""The distance of triangles that the truth rests on: closed forms, dense points, Blender's own overlap."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from tests.scene.mesh_truth.solids import ball, box, inverted, joined
from tests.scene.mesh_truth.triangles import gap, least_gap, order_of, pair_distances, winding_number
from tests.tiers import times


def corners_of(mesh, offset=(0.0, 0.0, 0.0)):
    """Corners (n, 3, 3) of the triangles of a mesh, quads divided."""
    points, faces = mesh
    rows = [(face[0], *pair) for face in faces for pair in pairwise(face[1:])]
    corners = (np.asarray(points) + offset)[np.array(rows)]
    return corners[order_of(corners)]


def dense_points(triangle, count=60):
    """Points (m, 3) everywhere in a triangle."""
    u, v = (each.ravel() for each in np.meshgrid(np.linspace(0, 1, count), np.linspace(0, 1, count)))
    u, v = u[u + v <= 1], v[u + v <= 1]
    return triangle[0] + u[:, None] * (triangle[1] - triangle[0]) + v[:, None] * (triangle[2] - triangle[0])


@pytest.mark.parametrize("seed", range(times(40, 8, full=400)))
def test_distance_of_two_triangles_is_that_of_dense_points_in_them(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3, 3))
    b += rng.uniform(0, 3) * rng.normal(size=3)
    found = float(pair_distances(a[None], b[None])[0])
    dense = np.sqrt(((dense_points(a)[:, None] - dense_points(b)[None]) ** 2).sum(axis=-1).min())
    assert found <= dense + 1e-12
    edges = max(np.linalg.norm(np.roll(each, 1, axis=0) - each, axis=1).max() for each in (a, b))
    assert dense <= found + 2 * edges / 59


def test_triangles_touch_where_blender_finds_that_they_overlap():
    rng = np.random.default_rng(0)
    overlapping = 0
    for _ in range(times(2000, 300)):
        a, b = rng.integers(-60, 60, (2, 3, 3)) / 16
        trees = [BVHTree.FromPolygons(each.tolist(), [(0, 1, 2)], all_triangles=True) for each in (a, b)]
        does = bool(trees[0].overlap(trees[1]))
        distance = float(pair_distances(a[None], b[None])[0])
        if 0 < distance < 1e-5:
            continue  # rounding of single precision decides
        assert does == (distance == 0)
        overlapping += does
    assert overlapping > 20


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        ((3, 0, 0), 1.0),
        ((3, 4, 0), 5**0.5),
        ((3, 3, 3), 3**0.5),
        ((2, 0, 0), 0.0),
        ((2, 2, 2), 0.0),
        ((1, 1, 1), 0.0),
    ],
)
def test_boxes_have_the_distance_of_their_sides_and_touch_with_faces_edges_and_corners(offset, expected):
    one, other = corners_of(box(1, 1, 1)), corners_of(box(1, 1, 1), offset)
    assert gap(one, other) == pytest.approx(expected, abs=1e-15)


def test_gap_of_fine_meshes_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    one = corners_of(ball(1.0, 10, 14))
    for _ in range(times(8, 4)):
        other = corners_of(ball(0.7, 8, 10), 1.4 * rng.normal(size=3))
        rows, columns = (each.ravel() for each in np.indices((len(one), len(other))))
        expected = min(
            pair_distances(one[rows[part]], other[columns[part]]).min()
            for part in np.array_split(np.arange(len(rows)), 20)
        )
        assert gap(one, other) == expected
        assert least_gap(one, other) <= expected


def test_winding_number_is_zero_outside_and_in_the_hollow_of_a_shell():
    shell = corners_of(joined(ball(2.0), inverted(ball(1.0))))
    assert winding_number(np.array([1.5, 0, 0]), shell) == pytest.approx(1)
    assert winding_number(np.array([0.1, 0, 0]), shell) == pytest.approx(0)
    assert winding_number(np.array([3.0, 0, 0]), shell) == pytest.approx(0)
