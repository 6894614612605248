"""Collections of collider objects: those of users stay, empty ones are removed."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.colliders.make import remove_colliders
from addon.scene.settings import (
    ColliderSettings,
    Selection,
)
from tests.scene.building import CUBE, add_object
from tests.scene.colliders.creating import (
    colliders,
    create_colliders,
    make_colliders,
    object_names,
)


@pytest.mark.smoke
def test_run_keeps_rigid_bodies_and_user_collections_of_colliders(add_mesh):
    add_mesh("Crate")
    create_colliders()
    export = bpy.data.collections.new("Export")
    bpy.context.scene.collection.children.link(export)
    export.objects.link(colliders()[0])
    bpy.context.view_layer.objects.active = colliders()[0]
    bpy.ops.rigidbody.world_add()
    bpy.ops.rigidbody.object_add()
    bodies = bpy.context.scene.rigidbody_world.collection
    assert list(bodies.objects) == colliders()
    for collection in ("Colliders", "Others", "Colliders"):
        create_colliders(collection=collection)
        assert list(bodies.objects) == list(export.objects) == colliders()
        assert {entry.name for entry in colliders()[0].users_collection} == {
            collection,
            "Export",
            bodies.name,
        }


@pytest.mark.parametrize("is_overridden", [False, pytest.param(True, marks=pytest.mark.smoke)])
def test_linked_collection_of_same_name_does_not_prevent_colliders(add_mesh, tmp_path, is_overridden):
    add_mesh("Crate")
    create_colliders()
    library = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = ["Colliders"]
    (linked,) = into.collections
    bpy.context.scene.collection.children.link(linked)
    if is_overridden:
        linked.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    item = add_object("Barrel", bpy.data.meshes.new("Barrel"))
    item.data.from_pydata(CUBE.tolist(), [], [])
    for _ in range(2):
        create_colliders(selection=Selection(patterns=("Barrel",)))
        (home,) = bpy.data.objects["UBX_Barrel_00"].users_collection
        assert home.library is None and home.override_library is None
        assert [entry.name for entry in home.objects] == ["UBX_Barrel_00"]
    assert remove_colliders(bpy.context.scene) == 1
    assert [entry.name for entry in linked.objects] == ["UBX_Crate_00"]


@pytest.mark.smoke
def test_remove_removes_only_created_colliders(add_mesh):
    crate = add_mesh("Crate")
    add_mesh("UBX_Crate_07")
    collection = bpy.data.collections.new("Unrelated")
    bpy.context.scene.collection.children.link(collection)
    before = object_names(), {mesh.name for mesh in bpy.data.meshes}
    create_colliders()
    assert remove_colliders(bpy.context.scene) == 1  # UBX_Crate_07 is a collider and gets none
    assert (object_names(), {mesh.name for mesh in bpy.data.meshes}) == before
    assert [entry.name for entry in bpy.data.collections] == ["Unrelated"]
    assert crate.data.name == "Crate"
    assert remove_colliders(bpy.context.scene) == 0


def test_objects_that_users_added_to_collection_stay(add_mesh):
    crate = add_mesh("Crate")
    create_colliders()
    collider = colliders()[0]
    guest = add_mesh("Guest")
    bpy.data.collections["Colliders"].objects.link(guest)
    crate.data = collider.data
    remove_colliders(bpy.context.scene)
    assert object_names() == {"Crate", "Guest"}
    assert len(crate.data.vertices) == 8 and "Colliders" in bpy.data.collections


def test_user_collection_is_used_and_kept(add_mesh):
    collection = bpy.data.collections.new("Physics")
    bpy.context.scene.collection.children.link(collection)
    add_mesh("Crate")
    create_colliders(collection="Physics")
    assert [item.name for item in collection.objects] == ["UBX_Crate_00"]
    remove_colliders(bpy.context.scene)
    assert bpy.data.collections.get("Physics") == collection


def test_new_collection_replaces_old_one_which_is_removed_when_empty(add_mesh):
    collection = bpy.data.collections.new("Empty")
    bpy.context.scene.collection.children.link(collection)
    for name in "AB":
        add_mesh(name)
    create_colliders(collection="First")
    create_colliders(collection="Second", selection=Selection(patterns=("A",)))
    assert {entry.name for entry in bpy.data.collections} == {"Empty", "First", "Second"}
    create_colliders(collection="Second")
    assert {entry.name for entry in bpy.data.collections} == {"Empty", "Second"}


def test_two_scenes_have_different_collections(add_mesh):
    add_mesh("A")
    create_colliders()
    other = bpy.data.scenes.new("Other")
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        mesh = bpy.data.meshes.new("B")
        mesh.from_pydata(CUBE.tolist(), [], [])
        other.collection.objects.link(bpy.data.objects.new("B", mesh))
        bpy.context.view_layer.update()
        for _ in range(2):
            make_colliders(other, ColliderSettings())
        assert [entry.name for entry in other.collection.children] == ["Colliders.001"]
        assert remove_colliders(other) == 1
    assert [item.name for item in colliders()] == ["UBX_A_00"]
