"""Children of collider objects stay in place when colliders are updated or removed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.colliders.make import remove_colliders
from addon.scene.settings import (
    Selection,
)
from tests.scene.building import add_armature, add_object, add_vertices, merged_collection
from tests.scene.colliders.creating import (
    colliders,
    create_colliders,
    object_names,
    set_parent,
    world_matrix,
)


def test_child_of_collider_stays_in_place(add_mesh):
    crate = add_mesh("Crate", location=(1, 2, 3), rotation_euler=(0.1, 0.2, 0.3), scale=(2, 1, 0.5))
    create_colliders()
    lamp = add_mesh("Lamp", location=(4, 0, 0), rotation_euler=(0.4, 0, 0))
    lamp.parent = colliders()[0]
    lamp.matrix_parent_inverse = colliders()[0].matrix_world.inverted()
    pose = world_matrix(lamp)
    for kind in ("box", "sphere", "hull", "capsule", "box"):
        create_colliders(kind=kind, selection=Selection(patterns=("Crate",)))
        assert lamp.parent == next(item for item in colliders() if item.parent == crate)
        np.testing.assert_allclose(world_matrix(lamp), pose, atol=1e-5)
    colliders()[0].location, colliders()[0].delta_scale = (0, 0, 9), (2, 2, 2)
    pose = world_matrix(lamp)
    create_colliders(selection=Selection(patterns=("Crate",)), replace_edited=True)
    np.testing.assert_allclose(world_matrix(colliders()[0]), world_matrix(crate), atol=1e-6)
    np.testing.assert_allclose(world_matrix(lamp), pose, atol=1e-5)
    crate.location = (0, 0, 0)
    assert np.abs(world_matrix(lamp) - pose).max() > 1, "the lamp follows the crate"
    pose = world_matrix(lamp)
    remove_colliders(bpy.context.scene)
    assert lamp.parent == crate and object_names() == {"Crate", "Lamp"}
    np.testing.assert_allclose(world_matrix(lamp), pose, atol=1e-5)


def test_child_of_removed_part_stays_in_place(add_mesh, object_settings):
    item = add_mesh("Parts", [(x, y, 0) for x in range(3) for y in (0.0, 0.5)], location=(0, 0, 2))
    item.data.edges.add(3)
    item.data.edges.foreach_set("vertices", list(range(6)))
    item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
    create_colliders()
    lamps = []
    for number in range(3):
        lamps.append(add_mesh(f"Lamp{number}", location=(number, 7, 0)))
        lamps[-1].parent = bpy.data.objects[f"UBX_Parts_{number:02}"]
    poses = [world_matrix(lamp) for lamp in lamps]
    item.collision_bounds.bounds_for = "object"
    for _ in range(2):
        create_colliders(selection=Selection(patterns=("Parts",)))
        assert [entry.name for entry in colliders()] == ["UBX_Parts_00"]
        assert [lamp.parent.name for lamp in lamps] == ["UBX_Parts_00", "Parts", "Parts"]
        np.testing.assert_allclose([world_matrix(lamp) for lamp in lamps], poses, atol=1e-6)


def test_child_of_collider_without_parent_stays_in_place(add_mesh, object_settings):
    merged_collection("Group").objects.link(add_mesh("A", location=(3, 0, 0)))
    create_colliders()
    lamp = add_mesh("Lamp", location=(0, 7, 0))
    colliders()[0].location = (5, 5, 5)
    lamp.parent = colliders()[0]
    pose = world_matrix(lamp)
    create_colliders(selection=Selection(patterns=("A", "Group")))
    np.testing.assert_allclose(world_matrix(lamp), pose, atol=1e-6)
    remove_colliders(bpy.context.scene)
    assert lamp.parent is None
    np.testing.assert_allclose(world_matrix(lamp), pose, atol=1e-6)


def add_constraint(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    """Parent the lamp to a collider with a constraint."""
    target = add_object("Target")
    target.location = (7, 8, 9)
    colliders()[0].constraints.new("COPY_LOCATION").target = target
    set_parent(lamp, colliders()[0])


def parent_to_bone(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    """Parent the lamp to a collider whose parent is a bone."""
    rig = add_armature("Rig", {"Bone": ((0, 0, 0), (0, 3, 1))})
    colliders()[0].parent, colliders()[0].parent_bone = rig, "Bone"
    colliders()[0].parent_type = "BONE"
    set_parent(lamp, colliders()[0])


def nest_colliders(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    """Parent the lamp to a collider whose parent is another collider."""
    other = add_vertices("Other", location=(5, 0, 1))
    create_colliders(selection=Selection(patterns=("Other",)))
    outer, inner = (bpy.data.objects[f"UBX_{name}_00"] for name in ("Other", "Crate"))
    set_parent(inner, outer)
    assert other and outer.parent == other
    set_parent(lamp, inner)


def parent_to_vertex(crate: bpy.types.Object, lamp: bpy.types.Object) -> None:
    """Parent the lamp to a vertex of a collider."""
    set_parent(lamp, colliders()[0], "VERTEX")


@pytest.mark.parametrize("set_up", [add_constraint, parent_to_bone, nest_colliders, parent_to_vertex])
def test_child_of_removed_collider_stays_in_place_for_any_parent_type(add_mesh, set_up):
    crate = add_mesh("Crate", location=(1, 2, 3), rotation_euler=(0.1, 0.2, 0.3), scale=(2, 1, 0.5))
    create_colliders()
    lamp = add_mesh("Lamp", location=(0, 0, 3), rotation_euler=(0.4, 0, 0))
    set_up(crate, lamp)
    bpy.context.view_layer.update()
    pose = world_matrix(lamp)
    remove_colliders(bpy.context.scene)
    assert not colliders()
    bpy.context.view_layer.update()
    np.testing.assert_allclose(world_matrix(lamp), pose, atol=1e-5)
    assert lamp.parent is not None and lamp.parent.name in {"Crate", "Rig", "Other"}
