"""Draw data of the overlay after edits, frame changes, undo and other events. No graphics card needed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon import registration
from addon.scene.jobs import result_store
from addon.ui import job_state
from addon.ui.overlay import handlers as overlay
from tests.scene.building import add_object, curves, hidden_collection, key_location
from tests.ui.overlay_data import draw_data_on


@pytest.fixture
def scene(empty_file):
    """Return the scene of an empty file with the extension enabled. Bounds are red where boxes overlap."""
    registration.register()
    bpy.context.scene.collision_bounds.shape = "aabb"
    yield bpy.context.scene
    registration.unregister()


def boxes():
    """Return the centers of the boxes drawn, along x and rounded, and whether each is red."""
    rows = draw_data_on(bpy.context.scene).by_mesh["boxes"].rows
    centers = [(round(float(row[0, 3]), 4), bool(row[3, 0] > row[3, 2])) for row in rows]
    return sorted(centers)


def compute():
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")


def update():
    bpy.context.view_layer.update()


@pytest.fixture
def row_of_three(scene, add_mesh):
    """Return cubes of side 2 at x = 0, 5 and 10."""
    items = [add_mesh(name, location=(x, 0, 0)) for name, x in (("A", 0), ("B", 5), ("C", 10))]
    compute()
    return items


@pytest.mark.smoke
def test_bounds_follow_moved_object_and_are_red_where_they_overlap(row_of_three):
    assert boxes() == [(0, False), (5, False), (10, False)]
    row_of_three[0].location.x = 4
    update()
    assert boxes() == [(4, True), (5, True), (10, False)]
    row_of_three[0].location.x = -4
    update()
    assert boxes() == [(-4, False), (5, False), (10, False)]


@pytest.mark.smoke
def test_scrubbing_updates_bounds_at_each_frame(scene, add_mesh):
    key_location(add_mesh("Mover"), {1: (0, 0, 0), 11: (10, 0, 0)})
    add_mesh("Wall", location=(10, 0, 0))
    scene.frame_set(1)
    compute()
    for frame, x in ((3, 2), (7, 6), (2, 1)):
        scene.frame_set(frame)
        assert boxes() == [(x, False), (10, False)]
    scene.frame_set(10)
    assert boxes() == [(9, True), (10, True)]


def test_bounds_are_refitted_to_edited_vertices(row_of_three):
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
def test_bounds_follow_animated_shape_key(scene, add_mesh):
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


@pytest.mark.parametrize("how", ["modifier", "vertices"])
def test_bounds_follow_vertices_that_are_animated_after_playback(scene, add_mesh, how):
    key_location(add_mesh("Mover"), {1: (0, 0, 0), 11: (10, 0, 0)})
    item = add_mesh("Waver", location=(0, 20, 0))
    scene.frame_set(1)
    compute()
    scene.frame_set(3)  # from here on it is known that no vertex of the scene is animated
    assert boxes() == [(0, False), (2, False)]
    if how == "modifier":
        displace = item.modifiers.new("Displace", "DISPLACE")
        displace.direction, displace.mid_level = "X", 0.0
        for frame, strength in ((1, 0.0), (11, 10.0)):
            displace.strength = strength
            displace.keyframe_insert("strength", frame=frame)
        action = item.animation_data.action
    else:
        for vertex in item.data.vertices:
            x = vertex.co.x
            for frame, shift in ((1, 0.0), (11, 10.0)):
                vertex.co.x = x + shift
                vertex.keyframe_insert("co", index=0, frame=frame)
        action = item.data.animation_data.action
    for curve in curves(action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    update()
    scene.frame_set(6)
    assert boxes() == [(5, False), (5, False)]


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


def test_animated_visibility_is_followed(scene, add_mesh):
    item = add_mesh("A")
    for frame, hidden in ((1, False), (5, True), (9, False)):
        item.hide_viewport = hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    scene.frame_set(1)
    compute()
    for frame, number in ((4, 1), (5, 0), (8, 0), (9, 1)):
        scene.frame_set(frame)
        assert len(boxes()) == number, frame


def test_renamed_object_keeps_its_bounds_and_has_new_label(row_of_three):
    display = bpy.context.scene.collision_bounds.display
    display.show_names = True
    assert draw_data_on(bpy.context.scene).labels.texts.tolist() == ["A", "B", "C"]
    row_of_three[1].name = "Renamed"
    row_of_three[1].location.x = 6
    update()
    assert boxes() == [(0, False), (6, False), (10, False)]
    data = draw_data_on(bpy.context.scene)
    assert data.labels.texts.tolist() == ["A", "Renamed", "C"]
    np.testing.assert_allclose(data.labels.positions, [(0, 0, 0), (6, 0, 0), (10, 0, 0)], atol=1e-6)
    # A change of settings updates the overlay of all three again.
    bpy.context.scene.collision_bounds.padding = 0.5
    assert len(boxes()) == 3


@pytest.mark.smoke
def test_undo_and_redo_restore_bounds_of_deleted_renamed_and_edited_objects(scene, add_mesh):
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


def test_only_selected_hides_others_but_colors_consider_them(row_of_three):
    display = bpy.context.scene.collision_bounds.display
    row_of_three[0].location.x = 4
    row_of_three[1].select_set(True)
    display.only_selected = True
    assert boxes() == [(5, True)]
    row_of_three[1].select_set(False)
    row_of_three[2].select_set(True)
    update()
    assert boxes() == [(10, False)]


def test_checked_shape_is_enabled_and_opaque_and_others_are_faint(row_of_three):
    settings = bpy.context.scene.collision_bounds
    for shape in ("obb", "spheres", "sphere", "aabb"):
        settings.shape = shape
        for switch in ("show_spheres", "show_boxes", "show_oriented_boxes", "show_sphere_trees"):
            setattr(settings.display, switch, False)
        settings.shape = shape
        data = draw_data_on(bpy.context.scene)
        checked, unchecked = data.by_mesh["boxes"], data.by_mesh["spheres"]
        if shape.startswith("sphere"):
            checked, unchecked = unchecked, checked
        assert len(checked) == 3 and not len(unchecked), shape
        assert (checked.rows[:, 3, 3] == 1).all()
    settings.display.show_spheres = True
    assert draw_data_on(bpy.context.scene).by_mesh["spheres"].rows[:, 3, 3] == pytest.approx(0.3)


def test_overlay_is_up_to_date_after_being_disabled_and_enabled(row_of_three):
    display = bpy.context.scene.collision_bounds.display
    display.show_overlay = False
    assert boxes() == []
    row_of_three[2].location.x = 12
    update()
    display.show_overlay = True
    assert boxes() == [(0, False), (5, False), (12, False)]


def test_paused_overlay_is_unchanged_and_then_includes_edits(row_of_three):
    with overlay.paused():
        row_of_three[2].location.x = 12
        for vertex in row_of_three[0].data.vertices:
            vertex.co.x -= 1
        row_of_three[0].data.update()
        update()
        assert boxes() == [(0, False), (5, False), (10, False)]
    overlay.refresh(bpy.context)
    assert boxes() == [(-1, False), (5, False), (12, False)]


def test_results_are_stale_only_if_a_subject_moves(row_of_three):
    scene = bpy.context.scene
    parent = add_object("Parent")
    row_of_three[2].parent = parent
    compute()

    def stale():
        update()
        return result_store.get(scene.collision_bounds.result_id).stale

    camera = add_object("Camera", bpy.data.cameras.new("Camera"))
    camera.location.x = 7
    row_of_three[0].select_set(True)
    scene.collision_bounds.display.only_selected = True
    assert not stale()
    parent.location.x = 1
    assert stale()


def is_stale():
    return result_store.get(bpy.context.scene.collision_bounds.result_id).stale


def pushed(message):
    update()
    bpy.ops.ed.undo_push(message=message)


def test_undo_of_move_makes_results_fresh_and_redo_stale(row_of_three):
    pushed("computed")
    bpy.data.objects["A"].location.x = 3
    pushed("moved")
    bpy.data.objects["B"].select_set(True)
    pushed("selected")
    stale_states = [is_stale()]
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo, *[bpy.ops.ed.undo] * 2):
        step()
        stale_states.append(is_stale())
        update()
        assert is_stale() == stale_states[-1]
    assert stale_states == [True, True, False, True, True, True, False]
    bpy.data.objects["C"].location.x = 30
    update()
    assert is_stale(), "an edit makes results stale as before"


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
def test_undo_leaves_results_stale_after_edits_that_do_not_show(scene, add_mesh, how):
    """Edits: a key at another frame, a move there and back that may leave keys, a move at another frame."""
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


def test_edit_of_any_member_of_merged_collection_makes_results_stale(row_of_three):
    together = bpy.data.collections.new("Together")
    bpy.context.scene.collection.children.link(together)
    together.collision_bounds.merge_bounds = True
    for item in row_of_three:
        together.objects.link(item)
    update()
    compute()
    row_of_three[2].update_tag()
    update()
    assert is_stale(), "it has not moved at this frame, but can move at others"


@pytest.mark.smoke
def test_key_at_another_frame_makes_results_stale(scene, add_mesh):
    """Nothing has moved at this frame, but contacts can be at other times."""
    item = add_mesh("A")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    scene.frame_set(1)
    compute()
    update()
    assert not result_store.get(scene.collision_bounds.result_id).stale
    curve = curves(item.animation_data.action)[0]
    curve.keyframe_points[1].co.y = 5
    curve.update()
    item.update_tag()
    update()
    assert result_store.get(scene.collision_bounds.result_id).stale


@pytest.mark.smoke
def test_disabling_extension_during_scan_leaves_no_job(scene):
    job_state.begin()
    assert not bpy.ops.collision_bounds.compute_bounds.poll()
    registration.unregister()
    registration.register()
    assert job_state.running() is None and bpy.ops.collision_bounds.compute_bounds.poll()


def test_scene_without_results_shows_no_bounds(row_of_three, add_mesh):
    first = bpy.context.scene
    second = bpy.data.scenes.new("Second")
    assert not len(draw_data_on(second).by_mesh["boxes"])
    bpy.data.scenes.remove(second)
    update()
    assert len(draw_data_on(first).by_mesh["boxes"]) == 3


def test_full_copy_of_scene_has_no_results_and_linked_copy_has_them(row_of_three):
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
    assert len(draw_data_on(first).by_mesh["boxes"]) == 3 and first.collision_bounds.result_id


@pytest.mark.smoke
def test_loading_file_clears_overlay(row_of_three):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert boxes() == []


def test_bounds_follow_each_instance(scene, add_mesh):
    source = add_mesh("Crate")
    inner = hidden_collection("Crates", source)
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


def test_active_contact_has_marker_and_ghosts_at_its_first_frame(scene, add_mesh):
    mover = add_mesh("Mover")
    key_location(mover, {1: (0, 0, 0), 11: (10, 0, 0)})
    add_mesh("Wall", location=(6, 0, 0))
    scene.frame_start, scene.frame_end = 1, 11
    scene.frame_set(1)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="aabb")
    settings = scene.collision_bounds
    settings.display.show_ghosts = True
    settings.display.show_spheres = False
    assert not len(draw_data_on(scene).marker)
    settings.active_row = 0
    # Faces meet at x = 5, when the center of the mover is at 4: frame 5.
    assert (scene.frame_current, scene.frame_subframe) == (5, 0)
    marker = draw_data_on(scene).marker.rows
    center, half = marker[3, :3, 3], marker[3, :3, 2]
    np.testing.assert_allclose(center - half, (5, 0, 0), atol=1e-5)
    assert 2 * abs(half[0]) == pytest.approx(1) and not half[1:].any()
    scene.frame_set(1)
    assert [x for x, _ in boxes()] == [0, 4, 6, 6]
    ghosts = draw_data_on(scene).by_mesh["boxes"].take([2, 3])
    assert ghosts.owners.tolist() == [0, 1] and (ghosts.rows[:, 3, :3] == 1).all(), "white, above the others"
    settings.active_row = -1
    scene.frame_set(1)
    assert [x for x, _ in boxes()] == [0, 6]


def test_active_contact_is_marked_at_frames_beyond_single_precision(scene, add_mesh):
    """Above 65536 single precision resolves 1/128 of a frame, so the frame of a row is off by up to 0.004."""
    key_location(add_mesh("Mover"), {100001: (0, 0, 0), 100011: (10, 0, 0)})
    add_mesh("Wall", location=(6.302, 0, 0))
    scene.frame_start, scene.frame_end = 100001, 100011
    scene.frame_set(100001)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="aabb")
    settings = scene.collision_bounds
    settings.active_row = 0
    marker = draw_data_on(scene).marker.rows
    # Faces meet at x = 5.302, apart from the error of Blender's keys in single precision.
    np.testing.assert_allclose(marker[3, :3, 3] - marker[3, :3, 2], (5.302, 0, 0), atol=0.01)


@pytest.mark.smoke
def test_changed_scene_settings_are_no_edit_of_rigid_bodies(scene, add_mesh):
    """Blender reports bodies as moved whenever a property of the scene is set."""
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
    assert not result_store.get(scene.collision_bounds.result_id).stale
    scene.frame_set(3)
    update()
    assert not result_store.get(scene.collision_bounds.result_id).stale
    scene.frame_set(4)
    body.scale.x = 1.5
    update()
    assert result_store.get(scene.collision_bounds.result_id).stale


def test_results_of_scan_with_rigid_bodies_are_fresh(scene, add_mesh):
    """After a scan has played the frames, Blender reports the bodies that physics has moved."""
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
    assert not result_store.get(scene.collision_bounds.result_id).stale


@pytest.fixture
def crossing_meshes(scene):
    """Return a cube of side 2 that goes through another one, in contact by meshes; at frame 6."""
    for name in ("Wall", "Mover"):
        bpy.ops.mesh.primitive_cube_add(size=2, location=(6, 0, 0))
        bpy.context.object.name = name
    mover = bpy.data.objects["Mover"]
    key_location(mover, {1: (0, 0.3, 0.6), 11: (10, 0.3, 0.6)})
    scene.frame_start, scene.frame_end = 1, 11
    scene.frame_set(1)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="mesh")
    scene.collision_bounds.shape = "mesh"
    scene.collision_bounds.active_row = 0
    scene.frame_set(6)
    return mover


def overlap_now():
    """Return how many triangles and lines of an overlap are drawn, and the texts of labels."""
    data = draw_data_on(bpy.context.scene)
    return len(data.faces) // 3, len(data.marker), data.labels.texts.tolist()


def test_overlap_of_active_pair_is_drawn_instead_of_bounds(crossing_meshes, scene):
    """The deepest corner is at (6, -0.7, -0.4), in a block whose nearest side is at y = -1."""
    scene.unit_settings.system = "NONE"
    scene.frame_set(6)
    faces, lines, texts = overlap_now()
    assert faces > 10 and lines > 6 and texts == ["0.3"] and boxes() == []
    scene.collision_bounds.display.show_overlap = False
    assert overlap_now() == (0, 6, []) and len(boxes()) == 2, "the marker of the first contact is back"


def test_gap_of_active_pair_is_drawn_where_it_is_apart(crossing_meshes, scene):
    scene.unit_settings.system = "NONE"
    scene.frame_set(2)
    assert overlap_now() == (0, 1, ["Gap 3"])
    low, high = np.sort(draw_data_on(scene).marker.rows[0, 0, [2, 3]])
    assert (low, high) == pytest.approx((1.5, 3.5))


def test_overlap_follows_an_object_that_is_moved(crossing_meshes, scene):
    scene.unit_settings.system = "NONE"
    scene.frame_set(6)
    crossing_meshes.location.y = 0.5
    update()
    assert overlap_now()[2] == ["0.5"]


def test_overlap_waits_for_the_end_of_playback_that_it_would_slow_down(crossing_meshes, scene, monkeypatch):
    overlay.overlays.find_overlay(scene, bpy.context.view_layer).overlap_seconds = 1.0
    monkeypatch.setattr(overlay, "_is_playing", lambda: True)
    scene.frame_set(7)
    assert overlap_now() == (0, 0, []) and boxes() == []
    monkeypatch.setattr(overlay, "_is_playing", lambda: False)
    assert overlay.refresh(bpy.context) and overlap_now()[0] > 10


def test_first_contact_is_marked_at_its_frame_only_where_the_overlap_is_drawn(crossing_meshes, scene):
    first = scene.collision_bounds.results.contacts.report.contacts[0].first.frame
    scene.frame_set(int(first), subframe=first % 1)
    assert overlap_now()[1] >= 6


def test_pair_with_a_very_large_mesh_keeps_its_bounds(crossing_meshes, scene, monkeypatch):
    """Finding the overlap of millions of triangles takes longer than a window may stand still."""
    monkeypatch.setattr(overlay.Meshes, "are_very_large", np.ones(1, dtype=bool))
    scene.frame_set(7)
    assert overlap_now() == (0, 6, []) and len(boxes()) == 2


def test_surfaces_that_cross_without_a_depth_are_labelled(scene):
    """Two open grids that cross at a right angle have no inside."""
    for name, turn in (("Sheet", 0.0), ("Mover", np.pi / 2)):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=3, size=2, rotation=(turn, 0, 0.1))
        bpy.context.object.name = name
    key_location(bpy.context.object, {1: (5, 0.1, 0), 11: (0, 0.1, 0)})
    scene.frame_start, scene.frame_end = 1, 11
    scene.frame_set(1)
    bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE", shape="mesh")
    scene.collision_bounds.shape = "mesh"
    scene.collision_bounds.active_row = 0
    scene.frame_set(11)
    faces, lines, texts = overlap_now()
    assert faces == 0 and lines > 3 and texts == ["cross"]
