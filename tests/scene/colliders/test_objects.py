"""Collider objects: created as children of their sources, updated in place, and recognized by a mark."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.colliders import objects as objects_module
from addon.scene.settings import (
    ColliderSettings,
    Selection,
)
from tests.core.closed import assert_closed
from tests.scene.building import CUBE, add_object, key_location, merged_collection
from tests.scene.colliders.creating import (
    KINDS,
    colliders,
    create_colliders,
    make_colliders,
    object_names,
    uids_by_name,
    world_matrix,
)


def test_collider_is_child_in_pose_of_source_hidden_from_render_in_collection(add_mesh):
    crate = add_mesh("Crate", location=(1, 2, 3), rotation_euler=(0.1, 0.2, 0.3), scale=(2, 1, 0.5))
    create_colliders()
    (collider,) = colliders()
    assert collider.parent == crate and collider.hide_render and not crate.hide_render
    assert [entry.name for entry in collider.users_collection] == ["Colliders"]
    bpy.context.view_layer.update()
    assert np.array_equal(np.array(collider.matrix_world), np.array(crate.matrix_world))
    assert_closed(
        np.array([v.co for v in collider.data.vertices]), [p.vertices[:] for p in collider.data.polygons]
    )
    assert not collider.data.validate(verbose=True), "the mesh is valid"


def test_collider_follows_parent(add_mesh):
    crate = add_mesh("Crate")
    key_location(crate, {1: (0, 0, 0), 11: (5, 0, 0)})
    create_colliders()
    bpy.context.scene.frame_set(11)
    assert colliders()[0].matrix_world.translation[:] == pytest.approx((5, 0, 0))


@pytest.mark.smoke
def test_second_run_replaces_colliders_without_leftovers(add_mesh):
    for name in "ABC":
        add_mesh(name)
    before = len(bpy.data.objects), len(bpy.data.meshes)
    for kind in (*KINDS, *KINDS):
        result = create_colliders(kind=kind)
        assert result.colliders == 3
        assert {item.name for item in colliders()} == {f"{KINDS[kind]}_{name}_00" for name in "ABC"}
        assert {mesh.name for mesh in bpy.data.meshes} >= {item.name for item in colliders()}
        assert (len(bpy.data.objects), len(bpy.data.meshes)) == (before[0] + 3, before[1] + 3)
    assert result.replaced == 3
    assert len(bpy.data.collections) == 1


def test_second_run_updates_same_objects(add_mesh):
    for name in "ABC":
        add_mesh(name, scale=(1, 2, 3))
    create_colliders()
    before, points = uids_by_name(), [v.co[:] for v in bpy.data.objects["UBX_B_00"].data.vertices]
    bpy.data.objects["B"].data.vertices[0].co.x = -4
    bpy.data.objects["UBX_A_00"].hide_set(True)
    create_colliders()
    assert uids_by_name() == before
    assert min(v.co.x for v in bpy.data.objects["UBX_B_00"].data.vertices) == -4 < min(points)[0]
    assert bpy.data.objects["UBX_A_00"].hide_get(), "colliders that the user has hidden stay hidden"
    create_colliders(kind="sphere")
    assert {name.replace("UBX", "USP"): uid for name, uid in before.items()} == uids_by_name()
    create_colliders(kind="box")
    assert uids_by_name() == before
    assert [v.co[:] for v in bpy.data.objects["UBX_C_00"].data.vertices] == points


@pytest.mark.parametrize("count", [3, 40])
def test_number_of_loops_over_all_objects_is_constant(add_mesh, monkeypatch, count):
    for number in range(count):
        add_mesh(f"Item{number:02}")
    create_colliders()
    loops = []
    for name in ("_children_of", "_collections_of"):
        original = getattr(objects_module, name)
        monkeypatch.setattr(
            objects_module,
            name,
            lambda items, original=original, name=name: loops.append(name) or original(items),
        )
    before = uids_by_name()
    create_colliders()
    assert uids_by_name() == before, "no object is removed, because Blender searches the whole file for each"
    assert sorted(loops) == ["_children_of", "_children_of", "_collections_of"]


def test_changes_to_transform_of_collider_are_reset_if_edited_ones_are_replaced(add_mesh):
    crate = add_mesh("Crate", location=(1, 2, 3))
    for kind in ("box", "hull"):
        create_colliders(kind=kind)
        collider = colliders()[0]
        key_location(collider, {1: (5, 5, 5), 11: (9, 9, 9)})
        collider.constraints.new("LIMIT_LOCATION").use_min_x = True
        collider.modifiers.new("Array", "ARRAY")
        collider.rotation_mode, collider.scale = "AXIS_ANGLE", (2, 2, 2)
        collider.delta_rotation_euler = (1, 1, 1)
        collider.parent_type, collider.display_type, collider.hide_render = "VERTEX", "SOLID", False
        create_colliders(kind=kind, replace_edited=True)
        assert np.array_equal(world_matrix(collider), world_matrix(crate))
        assert not collider.modifiers and collider.display_type == "WIRE" and collider.hide_render
        bpy.context.scene.frame_set(11)
        assert np.array_equal(world_matrix(collider), world_matrix(crate))


def test_collider_that_compensated_shear_has_axes_of_source_without_the_shear(add_mesh):
    """Blender converts the rotation of an object when its rotation mode changes."""
    parent = add_mesh("Parent", scale=(3, 1, 1))
    child = add_mesh("Child", rotation_euler=(0.2, 0.3, 0.7), parent=parent)
    create_colliders(kind="box")
    collider = next(item for item in colliders() if item.parent == child)
    assert not np.array_equal(np.array(collider.matrix_basis), np.eye(4))
    parent.scale = (1, 1, 1)
    bpy.context.view_layer.update()
    create_colliders(kind="hull")
    collider = next(item for item in colliders() if item.parent == child)
    assert np.array_equal(np.array(collider.matrix_basis), np.eye(4))
    assert np.array_equal(world_matrix(collider), world_matrix(child))


def test_mesh_with_another_user_is_not_changed(add_mesh):
    crate, other = add_mesh("Crate", CUBE * 2), add_mesh("Other")
    create_colliders(selection=Selection(patterns=("Crate",)))
    other.data = colliders()[0].data
    crate.data.vertices[0].co.x = -7
    create_colliders(selection=Selection(patterns=("Crate",)))
    assert min(v.co.x for v in other.data.vertices) == -2
    assert min(v.co.x for v in colliders()[0].data.vertices) == -7


def test_colliders_are_recognized_by_mark_and_parent_not_by_name(add_mesh):
    crate = add_mesh("Crate")
    create_colliders()
    colliders()[0].name = "Renamed"
    crate.name = "Box"
    add_mesh("UBX_Crate_00")
    create_colliders(selection=Selection(patterns=("Box",)))
    assert object_names() == {"Box", "UBX_Crate_00", "UBX_Box_00"}


def test_collider_that_became_parent_of_its_source_stays_and_another_is_created(add_mesh):
    """A user may parent a source to its collider, so that a physics body moves the visible object."""
    crate = add_mesh("Crate", location=(5, 0, 0))
    create_colliders()
    body = colliders()[0]
    pose = world_matrix(body)
    body.parent, body.matrix_world = None, body.matrix_world.copy()
    between = add_object("Between")
    between.parent, crate.parent = body, between
    crate.matrix_parent_inverse = body.matrix_world.inverted()
    for _ in range(2):
        result = create_colliders()
        assert result.colliders == 1 and body.parent is None
        np.testing.assert_allclose(world_matrix(body), pose, atol=1e-6)
        (collider,) = [item for item in colliders() if item.parent == crate]
        assert collider.name == "UBX_Crate_01", "UBX_Crate_00 is in use"
        np.testing.assert_allclose(world_matrix(collider), world_matrix(crate), atol=1e-6)


def test_colliders_of_deleted_object_are_replaced_by_those_of_object_with_same_name(add_mesh):
    crate = add_mesh("Crate", location=(5, 0, 0))
    create_colliders()
    bpy.data.objects.remove(crate)
    assert colliders()[0].parent is None
    crate = add_mesh("Crate")
    assert create_colliders().replaced == 1
    assert [(item.name, item.parent) for item in colliders()] == [("UBX_Crate_00", crate)]


def test_collider_of_collection_stays_when_object_has_same_name(add_mesh, object_settings):
    merged_collection("Crate").objects.link(add_mesh("A"))
    create_colliders()
    bpy.data.objects["A"].hide_viewport = True
    crate = add_mesh("Crate")
    for _ in range(2):
        create_colliders()
        assert {item.name: item.parent for item in colliders()} == {
            "UBX_Crate_00": None,
            "UBX_Crate_01": crate,
        }


def test_object_in_two_scenes_has_one_collider_in_both(add_mesh):
    crate = add_mesh("Crate")
    create_colliders()
    first, other = bpy.context.scene, bpy.data.scenes.new("Other")
    other.collection.objects.link(crate)
    with bpy.context.temp_override(scene=other, view_layer=other.view_layers[0]):
        bpy.context.view_layer.update()
        for _ in range(2):
            make_colliders(other, ColliderSettings(kind="hull"))
            for scene in (first, other):
                assert {item.name for item in scene.objects} == {"Crate", "UCX_Crate_00"}
    assert len(bpy.data.objects) == 2
