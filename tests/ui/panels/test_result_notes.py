"""Notes below the state of a panel: hidden and other skipped objects, with names and reasons."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.ui.panels import sidebar
from addon.ui.panels.bounds import COLLISION_BOUNDS_PT_bounds
from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts, _button_text
from addon.ui.panels.sidebar import draw_note_button
from addon.ui.result_texts import Note
from tests.scene.building import add_instance, add_object
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Layout, Page


def test_hidden_objects_are_noted_in_both_panels(settings, add_mesh):
    items = [add_mesh(name) for name in ("A", "B", "Hero", "Wall")]
    for item in items[2:]:
        item.hide_set(True)
    bpy.context.scene.frame_end = 1
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    assert "2 hidden objects skipped" in Page(COLLISION_BOUNDS_PT_bounds).popovers
    scanned_scene.scan()
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert "2 hidden objects skipped" in page.popovers
    assert "Hero, Wall" in page.labels
    assert "2 hidden objects skipped" not in Page(COLLISION_BOUNDS_PT_bounds).popovers


def test_many_hidden_objects_are_counted(settings, add_mesh):
    for number in range(7):
        add_mesh(f"Post.{number}").hide_set(number > 1)
    bpy.context.scene.frame_end = 1
    scanned_scene.scan()
    assert "Post.2, Post.3, Post.4 and 2 more" in Page(COLLISION_BOUNDS_PT_contacts).labels


def test_hidden_source_of_visible_instances_is_not_noted(settings, add_mesh):
    source = add_mesh("Tree")
    collection = bpy.data.collections.new("Trees")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(source)
    collection.objects.link(source)
    for index in range(2):
        add_instance(f"Planted.{index}", collection)
    bpy.context.view_layer.layer_collection.children["Trees"].exclude = True
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    page = Page(COLLISION_BOUNDS_PT_bounds)
    assert "Bounds of 2 objects" in page.labels
    assert page.popovers == []


def test_hidden_lights_and_selected_scans_have_no_note(settings, add_mesh):
    items = [add_mesh(name) for name in ("A", "B", "Wall")]
    lamp = add_object("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    lamp.hide_set(True)
    items[2].hide_set(True)
    for item in items[:2]:
        item.select_set(True)
    bpy.ops.collision_bounds.compute_bounds(scope="SELECTED")
    assert Page(COLLISION_BOUNDS_PT_bounds).popovers == []


def test_skipped_object_is_noted_with_reason_and_rows_are_called_rows(settings, add_mesh):
    for name in ("A", "B"):
        add_mesh(name)
    add_object("Fence", bpy.data.meshes.new("Fence"))
    bpy.context.scene.frame_end = 1
    scanned_scene.scan()
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert "1 skipped" in page.popovers
    assert any("Fence: " in label and "vertices" in label for label in page.labels), page.labels


def test_button_has_number_of_selected_objects_and_result_says_so(settings, add_mesh):
    items = [add_mesh(name, location=(3 * index, 0, 0)) for index, name in enumerate("ABC")]
    lamp = add_object("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.frame_end = 1
    settings = bpy.context.scene.collision_bounds
    settings.scope = "SELECTED"
    bpy.ops.object.select_all(action="DESELECT")
    assert _button() == ""
    for item in (*items[:2], lamp):
        item.select_set(True)
    assert _button() == "Find Contacts: 2 Selected"
    scanned_scene.scan(scope="SELECTED")
    assert "2 selected objects checked" in Page(COLLISION_BOUNDS_PT_contacts).popovers
    settings.scope = "VISIBLE"
    assert _button() == ""
    scanned_scene.scan()
    assert Page(COLLISION_BOUNDS_PT_contacts).popovers == []


def test_one_selected_object_is_reported_before_the_scan_which_keeps_the_contacts(settings, add_mesh):
    items = [add_mesh(name) for name in "AB"]
    bpy.context.scene.frame_end = 1
    scanned_scene.scan()
    settings = bpy.context.scene.collision_bounds
    settings.scope = "SELECTED"
    bpy.ops.object.select_all(action="DESELECT")
    items[0].select_set(True)
    assert _button() == "1 selected: nothing to check"
    assert bpy.ops.collision_bounds.find_contacts() == {"CANCELLED"}
    assert [(row.a, row.b) for row in settings.rows] == [("A", "B")]
    # Instances of one object can touch each other.
    items[0].modifiers.new("Nodes", "NODES")
    assert _button() == "Find Contacts: 1 Selected"


def _button() -> str:
    return _button_text(bpy.context)[0]


def test_rotating_objects_of_contacts_are_noted_after_a_scan_of_world_boxes(settings, add_mesh):
    half = (0.5, 0.5, 0.5)
    spinner, slider, other = (add_box(name, half) for name in ("Spinner", "Slider", "Other"))
    add_box("Wall", half).location = 2, 0, 0
    key(spinner, "location", [(1, (0, 0, 0)), (21, (2, 0, 0))])
    key(spinner, "rotation_euler", [(1, (0, 0, 0)), (21, (0, 0, 1))])
    key(slider, "location", [(1, (4, 0, 0)), (21, (2, 0, 0))])
    key(slider, "scale", [(1, (1, 1, 1)), (21, (2, 1, 1))])
    other.location = 50, 0, 0
    key(other, "rotation_euler", [(1, (0, 0, 0)), (21, (0, 0, 1))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 21
    bpy.ops.collision_bounds.find_contacts(scope="VISIBLE", shape="aabb")
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert page.popovers == ["1 box grows as it rotates"]
    assert "Choose the Shape Oriented Boxes: Spinner" in page.labels
    # The remedy works: the note is gone, and the time is later than that of the world boxes.
    early = {row.frame for row in bpy.context.scene.collision_bounds.rows if "Spinner" in (row.a, row.b)}
    bpy.ops.collision_bounds.find_contacts(scope="VISIBLE", shape="obb")
    assert Page(COLLISION_BOUNDS_PT_contacts).popovers == []
    late = {row.frame for row in bpy.context.scene.collision_bounds.rows if "Spinner" in (row.a, row.b)}
    assert min(early) < min(late)


def test_several_notes_are_short(settings, add_mesh):
    for name in "ABC":
        add_mesh(name).hide_set(name == "C")
    add_object("Fence", bpy.data.meshes.new("Fence"))
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    page = Page(COLLISION_BOUNDS_PT_bounds)
    assert page.popovers == ["1 hidden, 1 skipped"]
    assert "1 hidden object skipped" in page.labels and "1 skipped" in page.labels


def test_more_than_three_notes_are_cut_to_the_width_of_the_sidebar(settings):
    drawn = []
    layout = SimpleNamespace(popover=lambda _panel, text, **_: drawn.append(text))
    notes = [Note(f"{count} of a kind", "") for count in range(1, 5)]
    for count in (3, 4):
        draw_note_button(layout, "COLLISION_BOUNDS_PT_bounds", notes[:count])
    assert drawn == ["1 of a kind, 2 of a kind, 3 of a kind", "1 of a kind, 2 of a kind, +2"]


@pytest.mark.parametrize(
    ("fps", "base", "step", "text"),
    [
        (24, 1.0, 1, "Frames 0 to 20, 24 fps"),
        (24, 1.001, 1, "Frames 0 to 20, 23.976 fps"),
        (30, 1.0, 5, "Frames 0 to 20, step 5, 30 fps"),
    ],
)
def test_scanned_frames_are_named_with_contacts_and_without(settings, fps, base, step, text):
    scanned_scene.build()
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base, scene.frame_step = fps, base, step
    scanned_scene.scan()
    assert {"3 contacts of bounds", text} <= set(Page(COLLISION_BOUNDS_PT_contacts).labels)
    bpy.data.objects["Near"].location.x = 5.1
    bpy.context.view_layer.update()
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert not page.popovers and {"The scene changed", text} <= set(page.labels)
    # The remedy has a button, too.
    assert page.buttons.count("collision_bounds.find_contacts") == 2
    scanned_scene.scan(ignored="Slider:Near, Slider:Far, Bullet:Pane")
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert {"No contacts", text} <= set(page.labels) and page.popovers == ["9 pairs skipped"]
    bpy.ops.collision_bounds.clear_results()
    assert text not in Page(COLLISION_BOUNDS_PT_contacts).labels


def test_long_note_is_broken_into_lines_so_that_its_remedy_is_not_cut(settings, monkeypatch):
    monkeypatch.setattr(sidebar, "measure_texts", lambda _context: lambda text: 7.0 * len(text))
    page = SimpleNamespace(labels=[], greyed_labels=[])
    names = ", ".join(f"Warehouse_Conveyor_Roller.{number:03}" for number in range(3))
    sidebar.draw_warnings(Layout(page), [f"3 boxes grow as they rotate: choose Oriented Boxes: {names}"])
    room = 20 * sidebar.Popover.bl_ui_units_x
    assert len(page.labels) > 3 and all(7 * len(line) < room for line in page.labels)
    assert " ".join(page.labels).endswith(names)
