"""Unit meshes have the right positions, are closed, and face outward."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from addon.core import Aabb, Capsule, Cylinder, Obb, Sphere
from addon.ui.overlay import unit_meshes
from addon.ui.overlay.draw_data import UNIT_MESHES, instances_of


@pytest.mark.parametrize("segments", [24, 64])
def test_circles_lie_on_sphere_around_each_axis_through_all_six_poles(segments):
    columns, _ = unit_meshes.sphere_lines(segments).ribbons
    points, along = columns["point"], columns["along"]
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-6)
    for pole in (*np.eye(3), *-np.eye(3)):
        # Two of the three circles pass through it, with two sides each.
        assert (np.linalg.norm(points - pole, axis=1) < 1e-6).sum() == 4
    circles = np.argmin(np.abs(points.reshape(3, -1, 3)).max(axis=1), axis=1)
    assert sorted(circles) == [0, 1, 2]
    # Directions are tangent to the sphere, and as long as a segment.
    np.testing.assert_allclose((points * along).sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(along, axis=1), 2 * np.pi / segments, rtol=1e-5)


def ends(lines):
    """Return the two ends (s, 2, 3) of each segment, from its ribbon of two triangles."""
    columns, triangles = lines.ribbons
    points, sides = columns["point"], columns["side"]
    first = triangles[: len(triangles) // 2]
    np.testing.assert_array_equal(points[first[:, 0]], points[first[:, 1]])
    assert (sides[first[:, 0]] == -sides[first[:, 1]]).all()
    return np.stack([points[first[:, 0]], points[first[:, 2]]], axis=1)


@pytest.mark.smoke
def test_box_has_twelve_distinct_edges_along_axes():
    edges = ends(unit_meshes.box_lines())
    assert len({tuple(map(tuple, np.sort(edge, axis=0))) for edge in edges.tolist()}) == 12
    lengths = np.abs(edges[:, 1] - edges[:, 0])
    assert sorted(lengths.argmax(axis=1)) == [0] * 4 + [1] * 4 + [2] * 4
    np.testing.assert_array_equal(np.sort(lengths, axis=1), np.tile([0, 0, 2], (12, 1)))
    assert (np.abs(edges) == 1).all()


def test_circles_are_closed():
    edges = ends(unit_meshes.sphere_lines(24))
    assert len(edges) == 72
    begins, finishes = (np.unique(np.round(edge, 5), axis=0) for edge in (edges[:, 0], edges[:, 1]))
    np.testing.assert_array_equal(begins, finishes)


def test_segment_is_along_z():
    np.testing.assert_array_equal(ends(unit_meshes.LINES["edges"](0)), [[[0, 0, -1], [0, 0, 1]]])


SHAPES = [
    (Aabb([[-1, -1, -1]], [[1, 1, 1]]), 8.0),
    (Sphere([[0, 0, 0]], [1]), 4 / 3 * np.pi),
    (Cylinder([[0, 0, 0]], [[0, 0.6, 0.8]], [1], [1]), 2 * np.pi),
    (Capsule([[0, 0, 0]], [[0.6, 0, 0.8]], [2], [1]), 4 * np.pi + 4 / 3 * np.pi),
]


@pytest.mark.smoke
@pytest.mark.parametrize(("shape", "volume"), SHAPES, ids=[type(shape).__name__ for shape, _ in SHAPES])
def test_faces_of_all_parts_of_a_shape_are_closed_and_face_outward(shape, volume):
    parts = []
    for mesh, rows, _ in zip(*instances_of(shape, np.array([0])), strict=True):
        faces = unit_meshes.FACES[UNIT_MESHES[mesh]](32)
        placed = faces.points @ rows[:3, :3].T + rows[:3, 3]
        parts.append(placed[faces.triangles].astype(float))
    corners = np.concatenate(parts)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((normals * corners.mean(axis=1)).sum(axis=1) > 0).all()
    # The divergence theorem gives the volume inside a closed surface.
    enclosed = (corners[:, 0] * normals).sum() / 6
    assert enclosed == pytest.approx(volume, rel=0.03)


_COUNT = 10_000


@pytest.mark.parametrize(
    ("shape", "half_extents"),
    [
        (Aabb(np.zeros((_COUNT, 3)), np.full((_COUNT, 3), (2, 4, 6))), (1, 2, 3)),
        (Sphere(np.ones((_COUNT, 3)), np.full(_COUNT, 5)), (5, 5, 5)),
    ],
    ids=["Aabb", "Sphere"],
)
def test_shapes_along_the_axes_of_the_world_need_no_product_of_matrices(shape, half_extents):
    """Each frame makes the instances of all shapes again."""
    owners = np.arange(_COUNT)
    turned = Obb(shape.center, [half_extents] * _COUNT, [np.eye(3)] * _COUNT)
    np.testing.assert_array_equal(instances_of(shape, owners).rows, instances_of(turned, owners).rows)
    tracemalloc.start()
    rows = instances_of(shape, owners).rows
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    centers_and_sizes = 2 * _COUNT * 3 * 8
    assert peak < rows.nbytes + centers_and_sizes + _COUNT * 8
