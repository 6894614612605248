"""Notes below the state of a panel: hidden and other skipped objects, with names and reasons."""

from __future__ import annotations

import bpy

from addon.ui.panels.bounds import COLLISION_BOUNDS_PT_bounds
from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts
from tests.ui.drawn_panel import Page


def test_hidden_objects_are_noted_in_both_panels(settings, add_mesh):
    items = [add_mesh(name) for name in ("A", "B", "Hero", "Wall")]
    for item in items[2:]:
        item.hide_set(True)
    bpy.context.scene.frame_end = 1
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    assert "2 hidden objects skipped" in Page(COLLISION_BOUNDS_PT_bounds).popovers
    bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert "2 hidden objects skipped" in page.popovers
    assert "Hero, Wall" in page.labels
    assert "2 hidden objects skipped" not in Page(COLLISION_BOUNDS_PT_bounds).popovers


def test_many_hidden_objects_are_counted(settings, add_mesh):
    for number in range(7):
        add_mesh(f"Post.{number}").hide_set(number > 1)
    bpy.context.scene.frame_end = 1
    bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
    assert "Post.2, Post.3, Post.4 and 2 more" in Page(COLLISION_BOUNDS_PT_contacts).labels


def test_hidden_source_of_visible_instances_is_not_noted(settings, add_mesh):
    source = add_mesh("Tree")
    collection = bpy.data.collections.new("Trees")
    bpy.context.scene.collection.children.link(collection)
    bpy.context.scene.collection.objects.unlink(source)
    collection.objects.link(source)
    for index in range(2):
        empty = bpy.data.objects.new(f"Planted.{index}", None)
        empty.instance_type, empty.instance_collection = "COLLECTION", collection
        bpy.context.scene.collection.objects.link(empty)
    bpy.context.view_layer.layer_collection.children["Trees"].exclude = True
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    page = Page(COLLISION_BOUNDS_PT_bounds)
    assert "Bounds of 2 objects" in page.labels
    assert page.popovers == []


def test_hidden_lights_and_selected_scans_have_no_note(settings, add_mesh):
    items = [add_mesh(name) for name in ("A", "B", "Wall")]
    lamp = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    bpy.context.scene.collection.objects.link(lamp)
    lamp.hide_set(True)
    items[2].hide_set(True)
    for item in items[:2]:
        item.select_set(True)
    bpy.ops.collision_bounds.compute_bounds(scope="SELECTED")
    assert Page(COLLISION_BOUNDS_PT_bounds).popovers == []


def test_skipped_object_is_noted_with_reason_and_rows_are_called_rows(settings, add_mesh):
    for name in ("A", "B"):
        add_mesh(name)
    fence = bpy.data.objects.new("Fence", bpy.data.meshes.new("Fence"))
    bpy.context.scene.collection.objects.link(fence)
    bpy.context.scene.frame_end = 1
    bpy.ops.collision_bounds.find_contacts(scope="VISIBLE")
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert "1 skipped" in page.popovers
    assert any("Fence: " in label and "vertices" in label for label in page.labels), page.labels
