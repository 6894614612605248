"""Draw data composed from values alone, without Blender's scene."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from addon.core import Aabb, Obb, Segment, Sphere
from addon.scene.live.contact_state import LiveShapes, MovedParts, OwnedShapes
from addon.ui.overlay.draw_data import (
    Additions,
    DrawData,
    OverlayColors,
    compose_draw_data,
    draw_data_from_shapes,
    instance_rows,
    label_ranks,
)

FREE, CONTACT = (0.0, 0.0, 1.0, 1.0), (1.0, 0.0, 0.0, 1.0)
GREEN, YELLOW = (0.5, 1.0, 0.3, 1.0), (1.0, 0.9, 0.1, 1.0)
COLORS = OverlayColors(FREE, CONTACT, GREEN, YELLOW)
OFF = ("only_selected", "show_names", "show_contact", "show_ghosts", "show_envelopes")
OPTIONS = {**dict.fromkeys(OFF, False), "show_spheres": True, "show_boxes": True}
NOTHING_ADDED = Additions((), (), None, None, DrawData(), YELLOW)


def live_shapes(shape, name="aabb", selected=(True, True)):
    """Return live shapes of two subjects with one shape each, the second in contact."""
    shapes = {name: OwnedShapes(shape, np.arange(2))}
    return LiveShapes(shapes, np.array([False, True]), np.array(selected), np.ones(2, dtype=bool))


BOXES = Aabb([[0, 0, 0], [5, 0, 0]], [[2, 2, 2], [7, 2, 2]])


def test_unknown_shape_raises_and_is_not_drawn_as_box():
    segments = Segment([[0, 0, 0], [5, 0, 0]], [[1, 0, 0], [6, 0, 0]])
    with pytest.raises(TypeError, match="cannot draw Segment"):
        instance_rows(segments)
    with pytest.raises(TypeError, match="cannot draw Segment"):
        draw_data_from_shapes(live_shapes(segments), ["aabb"], "aabb", COLORS)


def test_free_subject_is_blue_and_subject_in_contact_red():
    data = draw_data_from_shapes(live_shapes(BOXES), ["aabb"], "aabb", COLORS)
    np.testing.assert_array_equal(data.boxes.rows[:, 3], [FREE, CONTACT])


def test_shape_that_is_not_checked_is_faint():
    spheres = Sphere([[0, 0, 0], [5, 0, 0]], [1, 2])
    data = draw_data_from_shapes(live_shapes(spheres, "sphere"), ["sphere"], "aabb", COLORS)
    np.testing.assert_allclose(data.spheres.rows[:, 3, 3], 0.3)


def test_build_leaves_its_arguments_unchanged_and_excludes_unselected_subjects():
    live = live_shapes(BOXES, selected=(False, True))
    bounds = draw_data_from_shapes(live, ["aabb"], "aabb", COLORS)
    options = SimpleNamespace(**{**OPTIONS, "only_selected": True, "show_names": True})
    data = compose_draw_data(bounds, live, NOTHING_ADDED._replace(names=("A", "B")), options)
    assert data.labels.texts.tolist() == ["B"] and data.boxes.owners.tolist() == [1]
    np.testing.assert_allclose(data.labels.positions, [[6, 1, 1]])
    np.testing.assert_allclose(data.labels.sizes, [[1, 1, 1]])
    assert len(bounds.boxes) == 2 and not len(bounds.labels.texts)


def test_ghosts_are_white_and_envelopes_below_bounds():
    live = live_shapes(BOXES)
    bounds = draw_data_from_shapes(live, ["aabb"], "aabb", COLORS)
    additions = NOTHING_ADDED._replace(ghosts=bounds, envelopes=bounds)
    options = SimpleNamespace(**{**OPTIONS, "show_ghosts": True, "show_envelopes": True})
    data = compose_draw_data(bounds, live, additions, options)
    assert data.boxes.owners.tolist() == [0, 1, 0, 1, 0, 1]
    np.testing.assert_array_equal(data.boxes.rows[4:, 3, :3], 1)
    assert compose_draw_data(bounds, live, additions, SimpleNamespace(**OPTIONS)).boxes is bounds.boxes


def test_lines_of_subjects_in_contact_are_strong():
    live = live_shapes(BOXES)._replace(in_contact=np.array([False, True]))
    plain, strong = draw_data_from_shapes(live, ["aabb"], "aabb", COLORS).by_strength
    assert plain.boxes.owners.tolist() == [0] and strong.boxes.owners.tolist() == [1]


def test_clicked_pair_and_contacts_are_strong_and_all_but_the_pair_are_faint():
    live = live_shapes(BOXES)._replace(in_contact=np.array([False, True]))
    data = draw_data_from_shapes(live, ["aabb"], "aabb", COLORS, active=(0,))
    assert data.strong.tolist() == [True, True]
    np.testing.assert_allclose(data.boxes.rows[:, 3, 3], [1.0, 0.3])


def test_labels_of_clicked_pair_come_first_then_selected_then_in_contact():
    live = live_shapes(BOXES, selected=(False, True))._replace(in_contact=np.array([True, True]))
    assert label_ranks(live, ()).tolist() == [2, 1]
    assert label_ranks(live, (0,)).tolist() == [0, 1]


@pytest.mark.parametrize(("count", "opacity"), [(100, 1.0), (400, 0.5), (10_000, 0.35)])
def test_free_bounds_of_many_subjects_are_fainter_and_contacts_are_not(count, opacity):
    in_contact = np.zeros(count + 1, dtype=bool)
    in_contact[7] = True
    colors = COLORS.of_subjects(in_contact)
    np.testing.assert_allclose(colors[~in_contact, 3], opacity * COLORS.free[3], rtol=1e-5)
    assert colors[7, 3] == COLORS.contact[3]


def test_parts_of_one_subject_replace_its_boxes_alone():
    live = live_shapes(Obb([[0, 0, 0], [5, 0, 0]], [[1, 1, 1]] * 2, [np.eye(3)] * 2), "compound")
    spheres = OwnedShapes(Sphere([[5, 0, 0]], [2]), np.array([1]))
    edges = np.array([[[5.0, 0, 0], [5, 0, 3]]])
    parts = MovedParts(np.array([False, True]), (spheres,), edges, np.array([1]))
    data = draw_data_from_shapes(live._replace(parts=parts), ["compound"], "compound", COLORS)
    assert data.boxes.owners.tolist() == [0]
    assert data.spheres.owners.tolist() == data.edges.owners.tolist() == [1]
    np.testing.assert_array_equal(data.edges.rows[0, :3, 3], edges[0, 0])
    np.testing.assert_array_equal(data.edges.rows[0, :3, 2], [0, 0, 3])
    np.testing.assert_array_equal(data.edges.rows[:, 3], [CONTACT])
    assert data.of_subjects(np.array([True, False])).edges.rows.shape == (0, 4, 4)
