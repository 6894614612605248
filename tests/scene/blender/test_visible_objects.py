"""Bounds of exactly the objects that Blender shows, for all that hides objects, collections and instances.

What is expected is Blender's own `visible_get`, and of instances that of the object that makes them.
"""

from __future__ import annotations

from itertools import product

import bpy
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.instances import read_instance_table, visible_instances
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings
from addon.scene.subjects.find import IN_BACKGROUND
from tests.scene.building import CUBE, add_instance, add_vertices, key_location

pytestmark = [pytest.mark.smoke, pytest.mark.usefixtures("empty_file")]

HIDES = ("open", "eye", "monitor", "exclude")
"""What a collection is hidden by."""


def add_collection(name: str, hidden_by: str, parent: bpy.types.LayerCollection) -> bpy.types.LayerCollection:
    """Add a collection to another one, and hide it."""
    collection = bpy.data.collections.new(name)
    parent.collection.children.link(collection)
    branch = parent.children[name]
    branch.hide_viewport, branch.exclude = hidden_by == "eye", hidden_by == "exclude"
    collection.hide_viewport = hidden_by == "monitor"
    return branch


def add_to(collection: bpy.types.Collection, item: bpy.types.Object) -> bpy.types.Object:
    """Move an object of the scene collection to another one."""
    bpy.context.scene.collection.objects.unlink(item)
    collection.objects.link(item)
    return item


def add_instancer(name: str, parts: bpy.types.Collection) -> bpy.types.Object:
    """Add an instance of a collection to the scene."""
    item = add_instance(name, parts)
    return item


def owners_found() -> set[str]:
    """Names of the owners of all visible instances, the same for both readers."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    owners = {item.owner.name for item in visible_instances(depsgraph)}
    table = run_to_end(read_instance_table(depsgraph, lambda item: item.owner.name))
    assert owners == {table.kinds[kind].details for kind in table.kind_of.tolist()}
    return owners


def test_objects_in_collections_hidden_in_all_ways_are_those_that_blender_shows():
    root, items = bpy.context.view_layer.layer_collection, []
    parts = bpy.data.collections.new("Parts")
    add_to(parts, add_vertices("Part"))
    for outer, inner, hides_object in product(HIDES, HIDES, ("open", "eye", "monitor")):
        name = f"{outer} {inner} {hides_object}"
        branch = add_collection(name, outer, root)
        deeper = add_collection(f"{name} inner", inner, branch)
        made = [
            add_to(branch.collection, add_vertices(f"{name} outside")),
            add_to(deeper.collection, add_vertices(f"{name} inside")),
            add_to(deeper.collection, add_instancer(f"{name} instancer", parts)),
        ]
        bpy.context.view_layer.update()
        for item in made:
            item.hide_viewport = hides_object == "monitor"
            if hides_object == "eye" and item.name in bpy.context.view_layer.objects:
                item.hide_set(True)
        items += made
    both = add_vertices("In a shown collection too")
    root.children["eye open open"].collection.objects.link(both)
    bpy.context.view_layer.update()
    shown = {item.name for item in [*items, both] if item.visible_get()}
    assert len(shown) == 9, "of 145: the rest is hidden"
    assert owners_found() == shown


def test_instances_of_collection_hidden_by_eye_are_shown_where_they_are_instanced():
    branch = add_collection("Parts", "eye", bpy.context.view_layer.layer_collection)
    add_to(branch.collection, add_vertices("Part"))
    add_instancer("Instancer", branch.collection)
    assert owners_found() == {"Instancer"}
    branch.collection.hide_viewport = True
    assert owners_found() == set()


def test_children_of_hidden_parent_are_shown():
    branch = add_collection("Parents", "eye", bpy.context.view_layer.layer_collection)
    parent = add_to(branch.collection, add_vertices("Parent"))
    add_vertices("Child").parent = parent
    assert owners_found() == {"Child"}


@pytest.mark.parametrize("shows", [True, False])
def test_instancer_on_faces_is_shown_as_its_switch_says(shows):
    faces = add_vertices("Ground", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    faces.instance_type, faces.show_instancer_for_viewport = "FACES", shows
    add_vertices("Grass").parent = faces
    depsgraph = bpy.context.evaluated_depsgraph_get()
    names = {item.key[1] for item in visible_instances(depsgraph)}
    assert names == ({"Grass", "Ground"} if shows else {"Grass"})


def test_visibility_is_that_of_active_view_layer():
    scene = bpy.context.scene
    for name in ("Left", "Right"):
        branch = add_collection(name, "open", bpy.context.view_layer.layer_collection)
        add_to(branch.collection, add_vertices(f"{name} crate"))
    second = scene.view_layers.new("Second")
    bpy.context.view_layer.layer_collection.children["Left"].hide_viewport = True
    second.layer_collection.children["Right"].hide_viewport = True
    assert owners_found() == {"Right crate"}
    bpy.context.window.view_layer = second
    assert owners_found() == {"Left crate"}


def test_animated_switch_hides_as_well_as_collections_hidden_by_eye():
    add_collection("Hidden", "eye", bpy.context.view_layer.layer_collection)
    item, scene = add_vertices("Blinker"), bpy.context.scene
    for frame, hides in ((1, True), (5, False)):
        item.hide_viewport = hides
        item.keyframe_insert("hide_viewport", frame=frame)
    for frame, shown in ((1, set()), (5, {"Blinker"}), (2, set())):
        scene.frame_set(frame)
        assert owners_found() == shown, frame


def test_text_in_hidden_collection_is_hidden_with_its_mesh():
    branch = add_collection("Old", "eye", bpy.context.view_layer.layer_collection)
    sign = bpy.data.objects.new("Sign", bpy.data.curves.new("Sign", "FONT"))
    sign.data.body = "Sign"
    branch.collection.objects.link(sign)
    add_vertices("Crate")
    assert owners_found() == {"Crate"}


def add_background(name: str, scene: bpy.types.Scene) -> bpy.types.Scene:
    """Give a scene a background scene, with an object that its name begins with."""
    background = bpy.data.scenes.new(name)
    background.collection.objects.link(bpy.data.objects.new(f"{name} crate", bpy.data.objects["Crate"].data))
    scene.background_set = background
    return background


def test_objects_of_background_scenes_are_skipped_with_reason_and_warning():
    crate, scene = add_vertices("Crate", CUBE), bpy.context.scene
    set_ = add_background("Set", scene)
    add_background("City", set_)
    hidden = bpy.data.objects.new("Hidden in the set", crate.data)
    hidden.hide_viewport = True
    set_.collection.objects.link(hidden)
    set_.collection.objects.link(crate)  # in both: an object of the scene itself
    key_location(bpy.data.objects["Set crate"], {1: (0, 0, 0), 9: (5, 0, 0)})
    result = compute_bounds(scene, BoundsSettings())
    assert [subject.name for subject in result.subjects] == ["Crate"]
    reasons = {entry.name: entry.reason for entry in result.skipped}
    assert reasons == {"Set crate": IN_BACKGROUND, "City crate": IN_BACKGROUND}
    assert [(entry.kind, entry.name) for entry in result.warnings] == [("backgroundScene", "Set")]
    assert "2 objects" in result.warnings[0].message


def test_background_scene_without_surfaces_is_no_warning():
    add_vertices("Crate")
    background = bpy.data.scenes.new("Lights")
    background.collection.objects.link(bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN")))
    bpy.context.scene.background_set = background
    assert compute_bounds(bpy.context.scene, BoundsSettings()).warnings == ()
