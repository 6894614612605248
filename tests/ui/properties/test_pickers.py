"""Pickers of groups and obstacles: the same scan as with patterns, and never both at once."""

from __future__ import annotations

import bpy
import pytest

from addon.ui.properties.scene import contact_settings
from tests.ui import scanned_scene


@pytest.fixture
def scene_settings(settings):
    scanned_scene.build()
    return settings


def pairs(settings):
    scanned_scene.scan()
    return {frozenset((row.a, row.b)) for row in settings.rows if not row.is_near_miss}


def put_into_collection(name, *objects):
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for item in objects:
        collection.objects.link(bpy.data.objects[item])
    return collection


def test_chosen_object_gives_the_pairs_of_its_name(scene_settings):
    scene_settings.pickers.group_a.object = bpy.data.objects["Near"]
    assert pairs(scene_settings) == {frozenset(("Slider", "Near"))}


def test_chosen_collection_gives_the_pairs_of_its_objects_after_renaming_too(scene_settings):
    collection = put_into_collection("Stops", "Near", "Far")
    scene_settings.pickers.group_b.collection = collection
    wanted = {frozenset(("Slider", "Near")), frozenset(("Slider", "Far"))}
    assert pairs(scene_settings) == wanted
    collection.name = "Stops [old]*"
    assert pairs(scene_settings) == wanted


def test_several_collections_give_the_pairs_of_all_their_objects(scene_settings):
    picker = scene_settings.pickers.group_b
    picker.collection = put_into_collection("Stops", "Near")
    assert bpy.ops.collision_bounds.add_collection(option="group_b") == {"FINISHED"}
    # Nothing is chosen in the second one yet.
    assert pairs(scene_settings) == {frozenset(("Slider", "Near"))}
    picker.more[0].collection = put_into_collection("Ends [new]", "Far")
    assert pairs(scene_settings) == {frozenset(("Slider", "Near")), frozenset(("Slider", "Far"))}
    assert bpy.ops.collision_bounds.remove_collection(option="group_b", index=0) == {"FINISHED"}
    assert pairs(scene_settings) == {frozenset(("Slider", "Near"))}


def test_chosen_object_replaces_all_collections(scene_settings):
    picker = scene_settings.pickers.group_b
    picker.collection = put_into_collection("Stops", "Near")
    picker.more.add().collection = picker.collection
    picker.object = bpy.data.objects["Far"]
    assert contact_settings(scene_settings).group_b == ("Far",)
    picker.collection = bpy.data.collections["Stops"]
    assert contact_settings(scene_settings).group_b == ("collection:Stops",)


def test_name_with_characters_of_patterns_is_that_object_alone(scene_settings):
    bpy.data.objects["Near"].name = "Post*"
    bpy.data.objects["Far"].name = "Post B"
    scene_settings.pickers.group_a.object = bpy.data.objects["Post*"]
    assert pairs(scene_settings) == {frozenset(("Slider", "Post*"))}
    bpy.data.objects["Post*"].name = "collection:Posts"
    assert pairs(scene_settings) == {frozenset(("Slider", "collection:Posts"))}


def test_picking_clears_the_alternatives(scene_settings):
    picker = scene_settings.pickers.group_a
    scene_settings.group_a = "Ne*"
    picker.object = bpy.data.objects["Far"]
    assert not scene_settings.group_a and contact_settings(scene_settings).group_a == ("Far",)
    picker.collection = put_into_collection("Stops", "Near")
    assert picker.object is None and contact_settings(scene_settings).group_a == ("collection:Stops",)
    scene_settings.group_a = "Ne*"
    assert picker.collection is None and contact_settings(scene_settings).group_a == ("Ne*",)


def test_script_that_passes_a_pattern_replaces_what_was_chosen(scene_settings):
    scene_settings.pickers.group_a.object = bpy.data.objects["Far"]
    scanned_scene.scan(group_a="Near")
    assert {frozenset((row.a, row.b)) for row in scene_settings.rows} == {frozenset(("Slider", "Near"))}
    assert scene_settings.pickers.group_a.object is None


def test_chosen_obstacles_count_with_meshes_and_spheres_alone(scene_settings):
    scene_settings.pickers.obstacles.object = bpy.data.objects["Pane"]
    assert contact_settings(scene_settings).obstacles == ("Pane",)
    scene_settings.shape = "aabb"
    assert contact_settings(scene_settings).obstacles == ()
    scene_settings.shape = "sphere"
    assert contact_settings(scene_settings).obstacles == ("Pane",)
