"""Hulls far away enclose the points that were moved exactly, by exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from addon.core import ConvexHull, hull_from_points
from addon.core.fitting.hull_surface import hull_defect, moved_hull
from addon.formats.spaces import rounded_hulls


def points_above(hull, points):
    """Return the number of pairs of a face and a point (rows of fractions) above its plane."""
    corners = [[Fraction(x) for x in row] for row in hull.vertices.tolist()]
    count = 0
    for face in hull.faces.tolist():
        a, b, c = (corners[index] for index in face)
        u, v = ([x - y for x, y in zip(other, a, strict=True)] for other in (b, c))
        normal = [u[k - 2] * v[k - 1] - u[k - 1] * v[k - 2] for k in range(3)]
        for point in points:
            count += sum(n * (x - y) for n, x, y in zip(normal, point, a, strict=True)) > 0
    return count


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3, 1e12])
@pytest.mark.parametrize("place", [0.0, 1e9, 1e15, 1e16, 1e20, 1e25, 1e30])
def test_hulls_far_away_are_correct_and_enclose_points(size, place):
    points = np.random.default_rng(0).normal(size=(10, 3)) * size
    direction = np.array([1.0, 0.3, 0.0])
    hull = moved_hull(hull_from_points(points), place * direction)
    offset = [Fraction(x) for x in (place * direction).tolist()]
    exact = [[Fraction(x) + y for x, y in zip(row, offset, strict=True)] for row in points.tolist()]
    for written in (hull, *(rounded_hulls([hull], decimals)[0] for decimals in (3, 6, 9))):
        assert hull_defect(written.vertices, written.faces) == ""
        assert points_above(written, exact) == 0
        again = rounded_hulls([written], 6)[0]
        np.testing.assert_array_equal(rounded_hulls([again], 6)[0].vertices, again.vertices)


def test_hull_of_collapsed_vertices_becomes_a_box():
    """At 1e20, the distance of neighboring numbers is 16384."""
    hull = hull_from_points(np.random.default_rng(0).normal(size=(10, 3)))
    collapsed = ConvexHull(hull.vertices + np.array([1e20, -1e20, 0]), hull.faces)
    assert hull_defect(collapsed.vertices, collapsed.faces) == "faces: are clockwise as seen from outside"
    written = rounded_hulls([collapsed], 6)[0]
    assert hull_defect(written.vertices, written.faces) == ""
    assert len(written.vertices) == 8


def test_near_hulls_are_only_moved():
    hull = hull_from_points(np.random.default_rng(0).normal(size=(10, 3)))
    offset = np.array([1000.0, -3.0, 0.1])
    moved = moved_hull(hull, offset)
    np.testing.assert_array_equal(moved.vertices, hull.vertices + offset)
    assert moved.faces is hull.faces
