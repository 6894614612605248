"""The line under the mouse, compared with points sampled along all lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Aabb, Capsule, Cylinder, Sphere
from addon.ui.operators.pointing import subject_at
from addon.ui.overlay.draw_data import DrawData, instances_of

VIEWPORT = (800, 600)
# Orthographic, 8 by 6 units: 100 pixels a unit, the origin in the middle.
ABOVE = np.diag([1 / 4, 1 / 3, 0.1, 1.0])
# Perspective along -Z from (0, 0, 5), as OpenGL's matrices are.
PERSPECTIVE = np.array([[1.5, 0, 0, 0], [0, 2, 0, 0], [0, 0, -1, 4.8], [0, 0, -1, 5.0]])


def drawn(shape):
    """Return the draw data of shapes (n,), each of a subject of its own."""
    return DrawData(instances_of(shape, np.arange(shape.shape[0])))


def boxes(centers, half):
    shape = Aabb(np.asarray(centers) - half, np.asarray(centers) + half)
    return drawn(shape)


def at(data, mouse, matrix=ABOVE, count=2, reach=6.0):
    return subject_at(data, np.ones(count, dtype=bool), matrix, VIEWPORT, mouse, reach)


def test_nearest_line_within_reach_wins():
    data = boxes([(-2.0, 0, 0), (2.0, 0, 0)], 1.0)
    assert at(data, (400 - 100 + 4, 300)) == 0  # its right face is at 300
    assert at(data, (500 - 4, 300)) == 1
    assert at(data, (400, 300)) is None, "between both"
    assert at(data, (200, 300)) is None, "in the middle of the first"


def test_only_included_subjects_are_found():
    data = boxes([(0.0, 0, 0), (0.0, 0, 0)], 1.0)
    included = np.array([False, True])
    assert subject_at(data, included, ABOVE, VIEWPORT, (500, 300), 6.0) == 1


def test_circle_of_a_sphere_is_found_and_its_inside_is_not():
    shape = Sphere(np.array([[0.0, 0, 0]]), np.array([1.0]))
    data = drawn(shape)
    diagonal = 100 / np.sqrt(2)
    assert at(data, (400 + diagonal, 300 + diagonal), count=1) == 0
    assert at(data, (400 + diagonal / 2, 300 + diagonal / 2), count=1) is None


def test_outline_of_a_capsule_is_found_at_its_round_end_and_its_inside_is_not():
    shape = Capsule([[0.0, 0, 0]], [[1, 0, 0]], [2.0], [0.5])
    data = drawn(shape)
    diagonal = 50 / np.sqrt(2)
    assert at(data, (600 + diagonal, 300 + diagonal), count=1) == 0
    assert at(data, (400, 350), count=1) == 0, "a line between both ends"
    assert at(data, (650, 350), count=1) is None, "the corner of the box around it"
    assert at(data, (400, 325), count=1) is None


def test_edges_of_a_cylinder_are_found_and_its_inside_is_not():
    shape = Cylinder([[0.0, 0, 0]], [[1, 0, 0]], [2.0], [0.5])
    data = drawn(shape)
    assert at(data, (600, 325), count=1) == 0, "a circle that is seen edge-on"
    assert at(data, (500, 350), count=1) == 0
    assert at(data, (500, 325), count=1) is None


def test_box_behind_the_viewer_is_not_found():
    data = boxes([(0.0, 0, 9.0)], 1.0)
    for x in range(0, 800, 50):
        assert at(data, (x, 300), PERSPECTIVE, count=1, reach=20.0) is None


def test_box_around_the_viewer_is_found_at_its_visible_lines():
    data = boxes([(0.0, 0, 5.0)], 3.0)
    # The corner (3, 3, 2) is at depth 3: x = 1.5 * 3 / 3 is outside the view, so the edge y = 3 is, too.
    assert at(data, (400, 300), PERSPECTIVE, count=1) is None
    data = boxes([(0.0, 0, 0.0)], (1.0, 1.0, 6.0))
    # Edges along Z go from the depth 11 past the viewer; at the depth 2, (1, 1) is at (0.75, 1.0).
    assert at(data, (400 + 300, 300 + 300), PERSPECTIVE, count=1) == 0


@given(
    st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=5),
    st.tuples(st.floats(0, 800), st.floats(0, 600)),
)
def test_picking_agrees_with_points_sampled_along_the_edges(centers, mouse):
    data = boxes(centers, 0.7)
    distances = []
    for center in np.array(centers):
        corners = center + 0.7 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        edges = [(a, b) for a in corners for b in corners if np.isclose(np.abs(a - b).sum(), 1.4)]
        points = np.concatenate([np.linspace(a, b, 400) for a, b in edges])
        clip = np.hstack([points, np.ones((len(points), 1))]) @ PERSPECTIVE.T
        pixels = (clip[:, :2] / clip[:, 3:] + 1) / 2 * VIEWPORT
        distances.append(np.linalg.norm(pixels - mouse, axis=1).min())
    found = at(data, mouse, PERSPECTIVE, count=len(centers), reach=20.0)
    if found is None:
        assert min(distances) > 19.0
    else:
        assert distances[found] <= min(min(distances) + 1.0, 21.0)


@pytest.mark.parametrize("mouse", [(0, 0), (800, 600)])
def test_nothing_is_found_without_shapes(mouse):
    assert at(DrawData(), mouse, count=0) is None
