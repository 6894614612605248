"""Line segments of shapes: they lie on the surface they stand for, and all of it is drawn."""

from __future__ import annotations

import numpy as np

from addon.core import Aabb, Sphere
from addon.ui.wires import CIRCLE_SEGMENTS, box_wires, sphere_wires


def test_every_end_point_of_a_sphere_lies_on_it_and_reaches_all_six_poles():
    centers, radii = np.array([[1.0, 2, 3], [-4, 0, 0]]), np.array([0.5, 2])
    lines = sphere_wires(Sphere(centers, radii)).reshape(2, -1, 3).astype(float)
    assert lines.shape[1] == 3 * CIRCLE_SEGMENTS * 2
    distance = np.linalg.norm(lines - centers[:, None], axis=2)
    np.testing.assert_allclose(distance, radii[:, None] * np.ones_like(distance), rtol=1e-6)
    np.testing.assert_allclose(
        lines.max(axis=1) - lines.min(axis=1), 2 * radii[:, None] * np.ones((2, 3)), rtol=1e-6
    )


def test_box_has_twelve_different_edges_each_along_one_axis():
    low, high = np.array([-1.0, 2, 5]), np.array([1.0, 5, 9])
    edges = box_wires(Aabb([low], [high])).reshape(-1, 2, 3)
    assert len({tuple(map(tuple, np.sort(edge, axis=0))) for edge in edges}) == 12
    lengths = np.abs(edges[:, 1] - edges[:, 0])
    assert ((lengths > 0).sum(axis=1) == 1).all()
    # Four edges along each axis, as long as the box is there.
    np.testing.assert_array_equal(np.sort(lengths.max(axis=1)), np.repeat([2.0, 3.0, 4.0], 4))


def test_nothing_to_draw_is_an_empty_array():
    assert sphere_wires(Sphere(np.empty((0, 3)), np.empty(0))).shape == (0, 3)
    assert box_wires(Aabb(np.empty((0, 3)), np.empty((0, 3)))).shape == (0, 3)
