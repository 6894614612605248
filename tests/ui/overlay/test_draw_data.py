"""Draw data composed from values alone, without Blender's scene."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Capsule, Contact, ContactInterval, FirstContact, Obb, Segment, Sphere, Triangle
from addon.scene.live.contact_state import LiveShapes, OwnedShapes
from addon.ui.overlay.draw_data import (
    contact_marker,
    draw_data_from_shapes,
    instances_of,
    subject_colors,
    with_labels,
)
from addon.ui.properties.preferences import preferences

FREE, CONTACT = preferences().free_color, preferences().contact_color


def live_shapes(shape, name="aabb", selected=(True, True)):
    """Return live shapes of two subjects with one shape each, the second in contact."""
    shapes = {name: OwnedShapes(shape, np.arange(2))}
    return LiveShapes(shapes, np.array([False, True]), np.array(selected), np.ones(2, dtype=bool))


BOXES = Aabb([[0, 0, 0], [5, 0, 0]], [[2, 2, 2], [7, 2, 2]])


def test_unknown_shape_raises_and_is_not_drawn_as_box():
    triangles = Triangle(*np.random.default_rng(1).normal(size=(3, 2, 3)))
    with pytest.raises(TypeError, match="cannot draw Triangle"):
        instances_of(triangles, np.arange(2))
    with pytest.raises(TypeError, match="cannot draw Triangle"):
        draw_data_from_shapes(live_shapes(triangles), ["aabb"], "aabb")


def test_free_subject_is_blue_and_subject_in_contact_red():
    data = draw_data_from_shapes(live_shapes(BOXES), ["aabb"], "aabb")
    np.testing.assert_allclose(data.by_mesh["boxes"].rows[:, 3], [FREE, CONTACT])


def test_shape_that_is_not_checked_is_faint():
    spheres = Sphere([[0, 0, 0], [5, 0, 0]], [1, 2])
    data = draw_data_from_shapes(live_shapes(spheres, "sphere"), ["sphere"], "aabb")
    np.testing.assert_allclose(data.by_mesh["spheres"].rows[:, 3, 3], 0.3)


def test_subjects_that_are_excluded_have_no_labels_and_stay_in_the_whole():
    live = live_shapes(BOXES, selected=(False, True))
    bounds = draw_data_from_shapes(live, ["aabb"], "aabb")
    data = with_labels(bounds.of_subjects(live.selected), ("A", "B"), live)
    assert data.labels.texts.tolist() == ["B"] and data.by_mesh["boxes"].owners.tolist() == [1]
    np.testing.assert_allclose(data.labels.positions, [[6, 1, 1]])
    np.testing.assert_allclose(data.labels.sizes, [[1, 1, 1]])
    assert len(bounds.by_mesh["boxes"]) == 2 and not len(bounds.labels.texts)


def test_shapes_that_are_drawn_first_are_over_those_that_follow():
    shapes = {"aabb": OwnedShapes(BOXES, np.array([0, 1])), "obb": OwnedShapes(BOXES, np.array([1, 0]))}
    live = live_shapes(BOXES)._replace(shapes=shapes)
    data = draw_data_from_shapes(live, ["aabb", "obb"], "aabb")
    assert data.by_mesh["boxes"].owners.tolist() == [1, 0, 0, 1]


def test_lines_of_subjects_in_contact_are_strong():
    live = live_shapes(BOXES)._replace(in_contact=np.array([False, True]))
    plain, strong = draw_data_from_shapes(live, ["aabb"], "aabb").by_strength
    assert plain.by_mesh["boxes"].owners.tolist() == [0] and strong.by_mesh["boxes"].owners.tolist() == [1]


def test_clicked_pair_and_contacts_are_strong_and_all_but_the_pair_are_faint():
    live = live_shapes(BOXES)._replace(in_contact=np.array([False, True]))
    data = draw_data_from_shapes(live, ["aabb"], "aabb", active=(0,))
    assert data.strong.tolist() == [True, True]
    np.testing.assert_allclose(data.by_mesh["boxes"].rows[:, 3, 3], [1.0, 0.3])


def test_labels_of_clicked_pair_come_first_then_selected_then_in_contact():
    live = live_shapes(BOXES, selected=(False, True))._replace(in_contact=np.array([True, True]))
    bounds = draw_data_from_shapes(live, ["aabb"], "aabb")
    assert with_labels(bounds, ("A", "B"), live).labels.ranks.tolist() == [2, 1]
    assert with_labels(bounds, ("A", "B"), live, (0,)).labels.ranks.tolist() == [0, 1]


@pytest.mark.parametrize(("count", "opacity"), [(100, 1.0), (400, 0.5), (10_000, 0.35)])
def test_free_bounds_of_many_subjects_are_fainter_and_contacts_are_not(count, opacity):
    in_contact = np.zeros(count + 1, dtype=bool)
    in_contact[7] = True
    colors = subject_colors(in_contact)
    np.testing.assert_allclose(colors[~in_contact, 3], opacity * FREE[3], rtol=1e-5)
    assert colors[7, 3] == CONTACT[3]


def with_parts(live, *parts):
    """Return live shapes whose second subject has convex parts instead of its box."""
    shape, owners = live.shapes["compound"]
    shapes = {"compound": OwnedShapes(shape[:1], owners[:1])}
    return live._replace(shapes=shapes, parts=tuple(OwnedShapes(*part) for part in parts))


def test_parts_of_one_subject_are_drawn_as_their_kinds():
    live = live_shapes(Obb([[0, 0, 0], [5, 0, 0]], [[1, 1, 1]] * 2, [np.eye(3)] * 2), "compound")
    edges = np.array([[[5.0, 0, 0], [5, 0, 3]]])
    parts = [(Sphere([[5, 0, 0]], [2]), np.array([1])), (Segment(edges[:, 0], edges[:, 1]), np.array([1]))]
    data = draw_data_from_shapes(with_parts(live, *parts), ["compound"], "compound")
    assert data.by_mesh["boxes"].owners.tolist() == [0]
    drawn = data.by_mesh["edges"]
    assert data.by_mesh["spheres"].owners.tolist() == drawn.owners.tolist() == [1]
    np.testing.assert_array_equal(drawn.rows[0, :3, 3] - drawn.rows[0, :3, 2], edges[0, 0])
    np.testing.assert_array_equal(drawn.rows[0, :3, 3] + drawn.rows[0, :3, 2], edges[0, 1])
    np.testing.assert_allclose(drawn.rows[:, 3], [CONTACT])
    assert not len(data.of_subjects(np.array([True, False])).by_mesh["edges"])


def test_label_of_a_hull_is_about_the_box_around_its_edges():
    live = live_shapes(Obb([[0, 0, 0], [5, 0, 0]], [[1, 1, 1]] * 2, [np.eye(3)] * 2), "compound")
    edges = np.array([[[5.0, 0, 0], [5, 0, 3]], [[5, 0, 3], [5, 2, 3]]])
    edges = Segment(edges[:, 0], edges[:, 1]), np.array([1, 1])
    data = draw_data_from_shapes(with_parts(live, edges), ["compound"], "compound")
    labels = with_labels(data, ("A", "B"), live).labels
    np.testing.assert_allclose(labels.positions[1], [5, 1, 1.5])
    np.testing.assert_allclose(labels.sizes[1], [0, 1, 1.5])


def test_marker_of_a_contact_is_as_long_as_whole_shapes_of_several_instances():
    capsules = Capsule([[0, 0, 0], [9, 0, 0]], [[0, 0, 1]] * 2, [3, 3], [2, 2])
    first = FirstContact(4.0, 0.0, np.zeros(3), np.array([0.0, 0.0, 1.0]), False, False)
    contact = Contact(0, 1, first, (ContactInterval(4, 5),), 4.5, 0.5)
    marker = contact_marker(contact, instances_of(capsules, np.arange(2)))
    assert 2 * marker.rows[3, 2, 2] == pytest.approx(3 + 2)
