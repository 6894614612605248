"""Move Apart: the pair of the active row no longer overlaps at the playhead."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.jobs import result_store
from addon.ui.operators.pairs import pairs_now
from tests.scene.building import add_object
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene


@pytest.fixture
def overlapping(settings):
    """Return the settings of a scanned scene, at a frame at which Slider is 0.4 within Near."""
    scanned_scene.build()
    scanned_scene.scan()
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Near")
    bpy.context.scene.frame_set(4, subframe=0.4)
    return settings


@pytest.mark.parametrize("shape", ["aabb", "obb", "sphere"])
def test_second_object_is_moved_along_the_direction_of_the_deepest_overlap(settings, shape):
    body, post = add_box("Body", (0.4, 0.5, 0.6)), add_box("Post", (0.3, 0.3, 2))
    post.location, post.rotation_euler = (0.2, 0.3, 0.1), (0.2, 0.1, 0.4)
    key(body, "location", [(1, (-6, -1, 0.3)), (20, (6, 1.3, 0))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    settings.shape = shape
    scanned_scene.scan()
    contact, row = result_store.get(settings.result_id).contacts.report.contacts[0], settings.rows[0]
    (details,) = contact.details
    settings.active_row = 0
    frame = details.deepest_frame
    bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
    moved = bpy.data.objects[row.b]
    before = np.array(moved.matrix_world.translation)
    assert bpy.ops.collision_bounds.move_apart(moved="SECOND") == {"FINISHED"}
    translation = np.array(moved.matrix_world.translation) - before
    assert details.depth > 0.2
    np.testing.assert_allclose(translation, details.depth * details.direction, atol=2e-3)
    assert touching() == []


def touching():
    subjects, pairs = pairs_now(bpy.context)
    return [{subjects[a].name, subjects[b].name} for a, b in pairs.pairs.tolist()]


def number_of(name, settings):
    row = settings.rows[settings.active_row]
    return "FIRST" if row.a == name else "SECOND"


def test_object_is_moved_by_the_depth_and_the_pair_is_apart(overlapping):
    assert touching() == [{"Slider", "Near"}]
    which = number_of("Near", overlapping)
    assert bpy.ops.collision_bounds.move_apart(moved=which) == {"FINISHED"}
    assert tuple(bpy.data.objects["Near"].location) == pytest.approx((5.4, 0, 0), abs=1e-4)
    assert touching() == []
    assert bpy.ops.collision_bounds.move_apart(moved=which) == {"CANCELLED"}, "they do not overlap"


def test_of_two_animated_objects_the_active_one_is_moved_and_gets_a_key_with_auto_keying(overlapping):
    slider = bpy.data.objects["Slider"]
    bpy.data.objects["Near"].keyframe_insert("location", frame=0)
    bpy.context.view_layer.objects.active = slider
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    try:
        assert bpy.ops.collision_bounds.move_apart() == {"FINISHED"}
    finally:
        bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    assert slider.location.x == pytest.approx(4.0, abs=1e-4)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(4, subframe=0.4)
    assert slider.location.x == pytest.approx(4.0, abs=1e-4) and touching() == []


@pytest.mark.parametrize("active", ["Slider", "Near"])
def test_object_at_rest_is_moved_rather_than_an_animated_one(overlapping, active):
    bpy.context.view_layer.objects.active = bpy.data.objects[active]
    assert bpy.ops.collision_bounds.move_apart() == {"FINISHED"}
    assert tuple(bpy.data.objects["Near"].location) == pytest.approx((5.4, 0, 0), abs=1e-4)


def test_object_that_can_be_moved_is_moved_if_a_constraint_holds_the_other_one(overlapping):
    near, slider = bpy.data.objects["Near"], bpy.data.objects["Slider"]
    limit = near.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x, limit.use_min_x, limit.min_x = True, 5.0, True, 5.0
    bpy.context.view_layer.objects.active = near
    assert bpy.ops.collision_bounds.move_apart() == {"FINISHED"}
    assert slider.location.x == pytest.approx(4.0, abs=1e-4) and touching() == []


def test_child_of_a_scaled_parent_is_moved_as_far(overlapping):
    parent = add_object("Parent")
    parent.scale = (4, 4, 4)
    near = bpy.data.objects["Near"]
    near.parent = parent
    bpy.context.view_layer.update()
    near.matrix_parent_inverse = parent.matrix_world.inverted()
    bpy.context.view_layer.update()
    assert bpy.ops.collision_bounds.move_apart(moved=number_of("Near", overlapping)) == {"FINISHED"}
    assert near.matrix_world.translation.x == pytest.approx(5.4, abs=1e-4) and touching() == []


def test_object_that_a_constraint_holds_stays_and_the_reason_is_given(overlapping):
    near = bpy.data.objects["Near"]
    limit = near.constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, 5.0
    limit.use_min_x, limit.min_x = True, 5.0
    with pytest.raises(RuntimeError, match="Near cannot be moved apart: a constraint"):
        bpy.ops.collision_bounds.move_apart(moved=number_of("Near", overlapping))
    assert near.matrix_world.translation.x == pytest.approx(5.0)


def test_reason_is_given_while_display_is_off(overlapping):
    overlapping.display.show_overlay = False
    with pytest.raises(RuntimeError, match="Display"):
        bpy.ops.collision_bounds.move_apart()


def test_right_after_a_click_on_its_row_a_pair_is_moved_apart_where_it_is_deepest(overlapping):
    """The playhead is where the contact begins, with nothing to move apart yet."""
    starts = result_store.get(overlapping.result_id).contacts.report.contacts[overlapping.active_row]
    overlapping.active_row = -1
    overlapping.active_row = scanned_scene.row_of(overlapping, "Slider", "Near")
    scene, deepest = bpy.context.scene, starts.details[0].deepest_frame
    assert scene.frame_current_final == pytest.approx(starts.first.frame, abs=1e-4) and deepest > 1
    assert bpy.ops.collision_bounds.move_apart(moved=number_of("Near", overlapping)) == {"FINISHED"}
    assert scene.frame_current_final == pytest.approx(deepest, abs=1e-4) and touching() == []


def test_button_goes_to_the_deepest_frame_of_the_contact_at_the_playhead(overlapping):
    details = result_store.get(overlapping.result_id).contacts.report.contacts[overlapping.active_row].details
    assert bpy.ops.collision_bounds.go_to_deepest() == {"FINISHED"}
    assert bpy.context.scene.frame_current_final == pytest.approx(details[0].deepest_frame, abs=1e-4)


def test_pair_that_overlaps_at_the_first_frame_is_moved_apart_there(settings):
    """A click on its row goes there, where it is not at its deepest."""
    half = (0.5, 0.5, 0.5)
    key(add_box("Body", half), "location", [(1, (0.8, 0, 0)), (11, (0.3, 0, 0))])
    add_box("Post", half)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    scanned_scene.scan()
    settings.active_row = 0
    assert settings.rows[0].at_start and bpy.context.scene.frame_current_final == 1
    assert bpy.ops.collision_bounds.move_apart(moved=number_of("Post", settings)) == {"FINISHED"}
    assert bpy.context.scene.frame_current_final == 1
    assert bpy.data.objects["Post"].location.x == pytest.approx(-0.2, abs=1e-4)
