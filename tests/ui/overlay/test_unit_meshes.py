"""Unit meshes have the right positions, are closed, and face outward."""

from __future__ import annotations

import numpy as np
import pytest

from addon.ui.overlay import unit_meshes


@pytest.mark.parametrize("segments", [24, 64])
def test_circles_lie_on_sphere_around_each_axis_through_all_six_poles(segments):
    lines = unit_meshes.sphere_lines(segments).ribbons
    np.testing.assert_allclose(np.linalg.norm(lines.points, axis=1), 1, rtol=1e-6)
    for pole in (*np.eye(3), *-np.eye(3)):
        # Two of the three circles pass through it, with two sides each.
        assert (np.linalg.norm(lines.points - pole, axis=1) < 1e-6).sum() == 4
    circles = np.argmin(np.abs(lines.points.reshape(3, -1, 3)).max(axis=1), axis=1)
    assert sorted(circles) == [0, 1, 2]
    # Directions are tangent to the sphere, and as long as a segment.
    np.testing.assert_allclose((lines.points * lines.along).sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(lines.along, axis=1), 2 * np.pi / segments, rtol=1e-5)


def ends(lines):
    """Return the two ends (s, 2, 3) of each segment, from its ribbon of two triangles."""
    first = lines.triangles[: len(lines.triangles) // 2]
    np.testing.assert_array_equal(lines.points[first[:, 0]], lines.points[first[:, 1]])
    assert (lines.sides[first[:, 0]] == -lines.sides[first[:, 1]]).all()
    return np.stack([lines.points[first[:, 0]], lines.points[first[:, 2]]], axis=1)


@pytest.mark.smoke
def test_box_has_twelve_distinct_edges_along_axes():
    lines = unit_meshes.box_lines().ribbons
    edges = ends(lines)
    assert len({tuple(map(tuple, np.sort(edge, axis=0))) for edge in edges.tolist()}) == 12
    lengths = np.abs(edges[:, 1] - edges[:, 0])
    assert sorted(lengths.argmax(axis=1)) == [0] * 4 + [1] * 4 + [2] * 4
    np.testing.assert_array_equal(np.sort(lengths, axis=1), np.tile([0, 0, 2], (12, 1)))
    assert (np.abs(lines.points) == 1).all()


def test_circles_are_closed():
    edges = ends(unit_meshes.sphere_lines(24).ribbons)
    assert len(edges) == 72
    begins, finishes = (np.unique(np.round(edge, 5), axis=0) for edge in (edges[:, 0], edges[:, 1]))
    np.testing.assert_array_equal(begins, finishes)


def test_segment_goes_from_origin_along_z():
    np.testing.assert_array_equal(ends(unit_meshes.segment_lines().ribbons), [[[0, 0, 0], [0, 0, 1]]])


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("faces", "volume"),
    [
        (unit_meshes.box_faces(), 8.0),
        (unit_meshes.sphere_faces(32), 4 / 3 * np.pi),
        (unit_meshes.cylinder_faces(32), 2 * np.pi),
        (unit_meshes.capsule_faces(32), 2 * np.pi + 4 / 3 * np.pi),
    ],
    ids=["box", "sphere", "cylinder", "capsule"],
)
def test_faces_are_closed_and_face_outward(faces, volume):
    corners = faces.points[faces.triangles].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((normals * corners.mean(axis=1)).sum(axis=1) > 0).all()
    # The divergence theorem gives the volume inside a closed surface.
    enclosed = (corners[:, 0] * normals).sum() / 6
    assert enclosed == pytest.approx(volume, rel=0.03)
