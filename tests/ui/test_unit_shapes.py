"""The forms that everything is drawn from: they lie where they should, closed, seen from outside."""

from __future__ import annotations

import numpy as np
import pytest

from addon.ui import unit_shapes


@pytest.mark.parametrize("segments", [24, 64])
def test_circles_lie_on_the_ball_go_round_each_axis_and_reach_all_six_poles(segments):
    lines = unit_shapes.ball_lines(segments)
    np.testing.assert_allclose(np.linalg.norm(lines.points, axis=1), 1, rtol=1e-6)
    for pole in (*np.eye(3), *-np.eye(3)):
        # Two of the three circles pass it, with two sides each.
        assert (np.linalg.norm(lines.points - pole, axis=1) < 1e-6).sum() == 4
    circles = np.argmin(np.abs(lines.points.reshape(3, -1, 3)).max(axis=1), axis=1)
    assert sorted(circles) == [0, 1, 2]
    # Where the line goes is along the ball, and as far as to the next point.
    np.testing.assert_allclose((lines.points * lines.along).sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(lines.along, axis=1), 2 * np.pi / segments, rtol=1e-5)


def ends(lines):
    """The two ends (s, 2, 3) of each segment, from its ribbon of two triangles."""
    first = lines.triangles[: len(lines.triangles) // 2]
    np.testing.assert_array_equal(lines.points[first[:, 0]], lines.points[first[:, 1]])
    assert (lines.sides[first[:, 0]] == -lines.sides[first[:, 1]]).all()
    return np.stack([lines.points[first[:, 0]], lines.points[first[:, 2]]], axis=1)


@pytest.mark.smoke
def test_box_has_twelve_different_edges_each_along_one_axis():
    lines = unit_shapes.box_lines()
    edges = ends(lines)
    assert len({tuple(map(tuple, np.sort(edge, axis=0))) for edge in edges.tolist()}) == 12
    lengths = np.abs(edges[:, 1] - edges[:, 0])
    assert sorted(lengths.argmax(axis=1)) == [0] * 4 + [1] * 4 + [2] * 4
    np.testing.assert_array_equal(np.sort(lengths, axis=1), np.tile([0, 0, 2], (12, 1)))
    assert (np.abs(lines.points) == 1).all()


def test_circle_closes():
    edges = ends(unit_shapes.ball_lines(24))
    assert len(edges) == 72
    begins, finishes = (np.unique(np.round(edge, 5), axis=0) for edge in (edges[:, 0], edges[:, 1]))
    np.testing.assert_array_equal(begins, finishes)


def test_stick_goes_from_the_origin_along_z():
    np.testing.assert_array_equal(ends(unit_shapes.stick_lines()), [[[0, 0, 0], [0, 0, 1]]])


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("faces", "volume"),
    [(unit_shapes.box_faces(), 8.0), (unit_shapes.ball_faces(32), 4 / 3 * np.pi)],
    ids=["box", "ball"],
)
def test_faces_are_closed_and_look_outward(faces, volume):
    corners = faces.points[faces.triangles].astype(float)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert ((normals * corners.mean(axis=1)).sum(axis=1) > 0).all()
    # The divergence theorem: what a closed surface encloses.
    enclosed = (corners[:, 0] * normals).sum() / 6
    assert enclosed == pytest.approx(volume, rel=0.03)
