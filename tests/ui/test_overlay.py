"""What the overlay shows of a scene, and that it follows whatever happens to it. No graphics card needed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon import registration
from addon.scene import session
from addon.ui import overlay, running_scan
from tests.scene.building import curves, key_location


@pytest.fixture
def scene(empty_file):
    """The scene of an empty file with the extension switched on."""
    registration.register()
    yield bpy.context.scene
    registration.unregister()


def boxes():
    """Middles of the boxes that are shown along x, rounded, and whether each is red."""
    rows = overlay.picture_on(bpy.context.scene).boxes.rows
    found = [(round(float(row[0, 3]), 4), bool(row[3, 0] > row[3, 2])) for row in rows]
    return sorted(found)


def compute():
    bpy.ops.collision_bounds.compute(scope="VISIBLE")


def update():
    bpy.context.view_layer.update()


@pytest.fixture
def row_of_three(scene, add_mesh):
    """Cubes of side 2 at 0, 5 and 10."""
    items = [add_mesh(name, location=(x, 0, 0)) for name, x in (("A", 0), ("B", 5), ("C", 10))]
    compute()
    return items


@pytest.mark.smoke
def test_moved_object_takes_its_bounds_along_and_what_it_meets_turns_red(row_of_three):
    assert boxes() == [(0, False), (5, False), (10, False)]
    row_of_three[0].location.x = 4
    update()
    assert boxes() == [(4, True), (5, True), (10, False)]
    row_of_three[0].location.x = -4
    update()
    assert boxes() == [(-4, False), (5, False), (10, False)]


@pytest.mark.smoke
def test_scrubbing_shows_each_frame(scene, add_mesh):
    key_location(add_mesh("Mover"), {1: (0, 0, 0), 11: (10, 0, 0)})
    add_mesh("Wall", location=(10, 0, 0))
    scene.frame_set(1)
    compute()
    for frame, x in ((3, 2), (7, 6), (2, 1)):
        scene.frame_set(frame)
        assert boxes() == [(x, False), (10, False)]
    scene.frame_set(10)
    assert boxes() == [(9, True), (10, True)]


def test_edited_vertices_are_fitted_again(row_of_three):
    mesh = row_of_three[2].data
    for vertex in mesh.vertices:
        vertex.co.x += 3
    mesh.update()
    update()
    assert boxes() == [(0, False), (5, False), (13, False)]
    row_of_three[2].scale = (2, 2, 2)
    update()
    assert boxes() == [(0, False), (5, False), (16, False)]


@pytest.mark.smoke
def test_shape_key_is_followed_through_frames(scene, add_mesh):
    item = add_mesh("Bent")
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Out")
    for point in key.data:
        point.co.x += 4
    for frame, value in ((1, 0.0), (11, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for curve in curves(item.data.shape_keys.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scene.frame_set(1)
    compute()
    scene.frame_set(6)
    assert boxes() == [(2, False)]


@pytest.mark.parametrize(
    "how",
    [
        *("eye", "screen", "collection", "deleted", "unlinked"),
        pytest.param("excluded", marks=pytest.mark.smoke),
    ],
)
def test_hidden_or_deleted_objects_have_no_bounds(scene, add_mesh, how):
    collection = bpy.data.collections.new("Props")
    scene.collection.children.link(collection)
    item = add_mesh("A")
    scene.collection.objects.unlink(item)
    collection.objects.link(item)
    add_mesh("B", location=(5, 0, 0))
    compute()
    assert boxes() == [(0, False), (5, False)]
    layer = bpy.context.view_layer.layer_collection.children["Props"]
    if how == "eye":
        item.hide_set(True)
    elif how == "screen":
        item.hide_viewport = True
    elif how == "collection":
        layer.hide_viewport = True
    elif how == "excluded":
        layer.exclude = True
    elif how == "deleted":
        bpy.data.objects.remove(item)
    else:
        collection.objects.unlink(item)
    update()
    assert boxes() == [(5, False)]
    if how == "eye":
        item.hide_set(False)
        update()
        assert boxes() == [(0, False), (5, False)]


def test_keyed_hiding_is_followed(scene, add_mesh):
    item = add_mesh("A")
    for frame, hidden in ((1, False), (5, True), (9, False)):
        item.hide_viewport = hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    scene.frame_set(1)
    compute()
    for frame, number in ((4, 1), (5, 0), (8, 0), (9, 1)):
        scene.frame_set(frame)
        assert len(boxes()) == number, frame


def test_renamed_objects_keep_their_bounds_and_their_names_are_new(row_of_three):
    display = bpy.context.scene.collision_bounds.display
    display.show_names = True
    assert overlay.picture_on(bpy.context.scene).names == ("A", "B", "C")
    row_of_three[1].name = "Renamed"
    row_of_three[1].location.x = 6
    update()
    assert boxes() == [(0, False), (6, False), (10, False)]
    picture = overlay.picture_on(bpy.context.scene)
    assert picture.names == ("A", "Renamed", "C")
    np.testing.assert_allclose(picture.places, [(0, 0, 0), (6, 0, 0), (10, 0, 0)], atol=1e-6)
    # A new object that takes the old name is none of the subjects.
    bpy.context.scene.collision_bounds.padding = 0.5
    assert len(boxes()) == 3


@pytest.mark.smoke
def test_undo_and_redo_bring_bounds_back_also_of_what_was_deleted_renamed_or_edited(scene, add_mesh):
    add_mesh("A")
    add_mesh("B", location=(5, 0, 0))
    compute()
    bpy.ops.ed.undo_push(message="computed")
    bpy.data.objects["B"].name = "New"
    bpy.data.objects["A"].location.x = -3
    update()
    bpy.ops.ed.undo_push(message="renamed")
    bpy.data.objects.remove(bpy.data.objects["New"])
    update()
    bpy.ops.ed.undo_push(message="deleted")
    for vertex in bpy.data.objects["A"].data.vertices:
        vertex.co.x += 1
    bpy.data.objects["A"].data.update()
    update()
    bpy.ops.ed.undo_push(message="edited")
    states = [boxes()]
    for step in (*[bpy.ops.ed.undo] * 3, *[bpy.ops.ed.redo] * 3):
        step()
        states.append(boxes())
    computed, renamed = [(0, False), (5, False)], [(-3, False), (5, False)]
    deleted, edited = [(-3, False)], [(-2, False)]
    assert states == [edited, deleted, renamed, computed, renamed, deleted, edited]


def test_only_selected_shows_those_and_still_tells_their_contacts(row_of_three):
    display = bpy.context.scene.collision_bounds.display
    row_of_three[0].location.x = 4
    row_of_three[1].select_set(True)
    display.only_selected = True
    assert boxes() == [(5, True)]
    row_of_three[1].select_set(False)
    row_of_three[2].select_set(True)
    update()
    assert boxes() == [(10, False)]


def test_checked_shape_is_switched_on_and_opaque_and_others_are_faint(row_of_three):
    settings = bpy.context.scene.collision_bounds
    for shape in ("obb", "spheres", "sphere", "aabb"):
        settings.shape = shape
        for switch in ("show_spheres", "show_boxes", "show_oriented_boxes", "show_sphere_trees"):
            setattr(settings.display, switch, False)
        settings.shape = shape
        picture = overlay.picture_on(bpy.context.scene)
        forms, others = picture.boxes, picture.balls
        if shape.startswith("sphere"):
            forms, others = others, forms
        assert len(forms) == 3 and not len(others), shape
        assert (forms.rows[:, 3, 3] == 1).all()
    settings.display.show_spheres = True
    assert overlay.picture_on(bpy.context.scene).balls.rows[:, 3, 3] == pytest.approx(0.3)


def test_switched_off_nothing_is_kept_and_on_again_it_is_up_to_date(row_of_three):
    display = bpy.context.scene.collision_bounds.display
    display.show_overlay = False
    assert boxes() == []
    row_of_three[2].location.x = 12
    update()
    display.show_overlay = True
    assert boxes() == [(0, False), (5, False), (12, False)]


def test_paused_it_stays_and_then_catches_up_with_edits_too(row_of_three):
    with overlay.paused():
        row_of_three[2].location.x = 12
        for vertex in row_of_three[0].data.vertices:
            vertex.co.x -= 1
        row_of_three[0].data.update()
        update()
        assert boxes() == [(0, False), (5, False), (10, False)]
    overlay.refresh(bpy.context)
    assert boxes() == [(-1, False), (5, False), (12, False)]


def test_only_what_moves_a_subject_makes_results_stale(row_of_three):
    scene = bpy.context.scene
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    row_of_three[2].parent = parent
    compute()

    def stale():
        update()
        return session.get(scene.collision_bounds.result_id).stale

    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location.x = 7
    row_of_three[0].select_set(True)
    scene.collision_bounds.display.only_selected = True
    assert not stale()
    parent.location.x = 1
    assert stale()


def is_stale():
    return session.get(bpy.context.scene.collision_bounds.result_id).stale


def pushed(message):
    update()
    bpy.ops.ed.undo_push(message=message)


def test_undo_of_a_move_makes_results_fresh_again_and_redo_stale(row_of_three):
    pushed("computed")
    bpy.data.objects["A"].location.x = 3
    pushed("moved")
    bpy.data.objects["B"].select_set(True)
    pushed("selected")
    told = [is_stale()]
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo, *[bpy.ops.ed.undo] * 2):
        step()
        told.append(is_stale())
        update()
        assert is_stale() == told[-1]
    assert told == [True, True, False, True, True, True, False]
    bpy.data.objects["C"].location.x = 30
    update()
    assert is_stale(), "and an edit counts as before"


def test_undo_of_edited_vertices_makes_results_fresh_again(row_of_three):
    pushed("computed")
    mesh = bpy.data.objects["A"].data
    mesh.vertices[0].co.x -= 1
    mesh.update()
    pushed("edited")
    assert is_stale()
    bpy.ops.ed.undo()
    assert not is_stale()


@pytest.mark.parametrize("how", ["unseen", "moved back", "elsewhere"])
def test_undo_does_not_make_results_fresh_while_anything_else_is_edited(scene, add_mesh, how):
    """A key at another frame; a move there and back, which may have left keys; an edit at another frame."""
    item = add_mesh("A")
    add_mesh("B", location=(30, 0, 0))
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    scene.frame_set(1)
    compute()
    pushed("computed")
    if how == "unseen":
        curve = curves(item.animation_data.action)[0]
        curve.keyframe_points[1].co.y = 5
        curve.update()
        item.update_tag()
        pushed("key")
    elif how == "moved back":
        for x in (31, 30):
            bpy.data.objects["B"].location.x = x
            pushed("moved")
    else:
        scene.frame_set(11)
        bpy.data.objects["B"].location.x = 31
        update()
        scene.frame_set(1)
        bpy.data.objects["B"].location.x = 30
        pushed("back")
    bpy.data.objects["B"].location.y = 2
    pushed("moved")
    bpy.ops.ed.undo()
    assert is_stale()


def test_an_edit_of_any_member_of_what_is_taken_as_one_makes_results_stale(row_of_three):
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.take_as_one = True
    for item in row_of_three:
        together.objects.link(item)
    update()
    compute()
    row_of_three[2].update_tag()
    update()
    assert is_stale(), "it has not moved, but may move elsewhere now"


@pytest.mark.smoke
def test_a_key_at_another_frame_makes_results_stale(scene, add_mesh):
    """Nothing is elsewhere now, and yet contacts may come at other times."""
    item = add_mesh("A")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    scene.frame_set(1)
    compute()
    update()
    assert not session.get(scene.collision_bounds.result_id).stale
    curve = curves(item.animation_data.action)[0]
    curve.keyframe_points[1].co.y = 5
    curve.update()
    item.update_tag()
    update()
    assert session.get(scene.collision_bounds.result_id).stale


@pytest.mark.smoke
def test_nothing_stays_behind_when_the_extension_is_switched_off_during_a_scan(scene):
    running_scan.begin()
    assert not bpy.ops.collision_bounds.compute.poll()
    registration.unregister()
    registration.register()
    assert running_scan.running() is None and bpy.ops.collision_bounds.compute.poll()


def test_another_scene_shows_its_own_bounds_only(row_of_three, add_mesh):
    first = bpy.context.scene
    second = bpy.data.scenes.new("Second")
    assert not len(overlay.picture_on(second).boxes)
    bpy.data.scenes.remove(second)
    update()
    assert len(overlay.picture_on(first).boxes) == 3


def test_a_full_copy_of_a_scene_starts_without_results_and_a_linked_one_with_them(row_of_three):
    first = bpy.context.scene
    bpy.ops.scene.new(type="LINK_COPY")
    update()
    assert bpy.context.scene != first and len(boxes()) == 3
    bpy.ops.scene.new(type="FULL_COPY")
    update()
    copy = bpy.context.scene
    assert boxes() == [] and copy.collision_bounds.result_id == "", "the panel offers to compute them"
    compute()
    assert len(boxes()) == 3
    assert len(overlay.picture_on(first).boxes) == 3 and first.collision_bounds.result_id


@pytest.mark.smoke
def test_loading_a_file_leaves_nothing(row_of_three):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert boxes() == []


def test_instances_are_followed_one_by_one(scene, add_mesh):
    source = add_mesh("Crate")
    inner = bpy.data.collections.new("Crates")
    scene.collection.objects.unlink(source)
    inner.objects.link(source)
    for name, x in (("One", 0), ("Two", 6)):
        empty = bpy.data.objects.new(name, None)
        empty.instance_type, empty.instance_collection = "COLLECTION", inner
        empty.location.x = x
        scene.collection.objects.link(empty)
    update()
    compute()
    assert boxes() == [(0, False), (6, False)]
    bpy.data.objects["Two"].location.x = 1
    bpy.data.objects["One"].name = "Uno"
    update()
    assert boxes() == [(0, True), (1, True)]


def test_chosen_contact_is_marked_and_its_ghosts_stay_where_it_was(scene, add_mesh):
    mover = add_mesh("Mover")
    key_location(mover, {1: (0, 0, 0), 11: (10, 0, 0)})
    add_mesh("Wall", location=(6, 0, 0))
    scene.frame_start, scene.frame_end = 1, 11
    scene.frame_set(1)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="aabb")
    settings = scene.collision_bounds
    settings.display.show_ghosts = True
    settings.display.show_spheres = False
    assert not len(overlay.picture_on(scene).sticks)
    settings.active_row = 0
    # Faces meet at x = 5, when the mover's middle is at 4: frame 5.
    assert (scene.frame_current, scene.frame_subframe) == (5, 0)
    sticks = overlay.picture_on(scene).sticks.rows
    np.testing.assert_allclose(sticks[3, :3, 3], (5, 0, 0), atol=1e-5)
    assert abs(sticks[3, 0, 2]) == pytest.approx(1) and not sticks[3, 1:3, 2].any()
    scene.frame_set(1)
    assert [x for x, _ in boxes()] == [0, 4, 6, 6]
    settings.active_row = -1
    scene.frame_set(1)
    assert [x for x, _ in boxes()] == [0, 6]


def test_chosen_contact_is_marked_at_frames_that_single_precision_is_too_coarse_for(scene, add_mesh):
    """From 65536 on it keeps 128ths of a frame, so that the frame of a row is up to 0.004 off."""
    key_location(add_mesh("Mover"), {100001: (0, 0, 0), 100011: (10, 0, 0)})
    add_mesh("Wall", location=(6.302, 0, 0))
    scene.frame_start, scene.frame_end = 100001, 100011
    scene.frame_set(100001)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="aabb")
    settings = scene.collision_bounds
    settings.active_row = 0
    sticks = overlay.picture_on(scene).sticks.rows
    # Faces meet at x = 5.302, but for the keys: Blender looks them up in single precision too.
    np.testing.assert_allclose(sticks[3, :3, 3], (5.302, 0, 0), atol=0.01)


@pytest.mark.smoke
def test_settings_of_the_scene_are_no_change_to_rigid_bodies(scene, add_mesh):
    """Blender reports bodies as moved whenever anything of the scene is written."""
    add_mesh("Floor", location=(0, 0, -3))
    body = add_mesh("Body", location=(0, 0, 5))
    with bpy.context.temp_override(object=body, active_object=body, selected_objects=[body]):
        bpy.ops.rigidbody.world_add()
        scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
        bpy.ops.rigidbody.object_add()
    scene.frame_set(1)
    scene.frame_set(2)
    compute()
    for value in (0.1, 0.2):
        scene.collision_bounds.clearance = value
        update()
    assert not session.get(scene.collision_bounds.result_id).stale
    scene.frame_set(3)
    update()
    assert not session.get(scene.collision_bounds.result_id).stale
    scene.frame_set(4)
    body.scale.x = 1.5
    update()
    assert session.get(scene.collision_bounds.result_id).stale


def test_results_of_a_scan_with_rigid_bodies_begin_fresh(scene, add_mesh):
    """After a scan has played the frames, Blender reports what physics has moved in them."""
    add_mesh("Floor", location=(0, 0, -3))
    body = add_mesh("Body", location=(0, 0, 5))
    with bpy.context.temp_override(object=body, active_object=body, selected_objects=[body]):
        bpy.ops.rigidbody.world_add()
        scene.rigidbody_world.collection = bpy.data.collections.new("Bodies")
        bpy.ops.rigidbody.object_add()
    scene.frame_start, scene.frame_end = 1, 10
    scene.frame_set(1)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")
    update()
    assert not session.get(scene.collision_bounds.result_id).stale
