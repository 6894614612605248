"""What may deform and what is simulated, found out from the scene."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.changes import Simulations, may_deform

pytestmark = pytest.mark.usefixtures("empty_file")


def test_a_mesh_that_only_has_keys_keeps_its_form(add_mesh):
    item = add_mesh("Crate")
    item.keyframe_insert("location", frame=1)
    item.keyframe_insert("rotation_euler", frame=1)
    item.keyframe_insert("scale", frame=1)
    assert not may_deform(item, "evaluated")


def test_modifiers_shape_keys_and_animated_data_may_deform(add_mesh):
    bevelled, keyed, driven = (add_mesh(name) for name in ("Bevelled", "Keyed", "Driven"))
    bevelled.modifiers.new("Bevel", "BEVEL")
    keyed.shape_key_add(name="Basis")
    driven.data["value"] = 1.0
    driven.data.keyframe_insert('["value"]', frame=1)
    for item in (bevelled, keyed, driven):
        assert may_deform(item, "evaluated"), item.name
    assert not may_deform(bevelled, "base")
    curve = bpy.data.objects.new("Curve", bpy.data.curves.new("Curve", "CURVE"))
    assert may_deform(curve, "base")


def test_an_armature_as_parent_deforms_and_a_bone_does_not(add_mesh):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    skin, tool = add_mesh("Skin"), add_mesh("Tool")
    skin.parent, skin.parent_type = rig, "ARMATURE"
    tool.parent = rig
    assert may_deform(skin, "evaluated")
    assert not may_deform(tool, "evaluated")


def test_nothing_is_simulated_in_a_plain_scene(add_mesh):
    add_mesh("Crate")
    assert Simulations.of(bpy.context.scene) == Simulations(frozenset(), None)


def test_cloth_and_what_hangs_on_it_is_simulated(add_mesh):
    flag, badge, follower, other = (add_mesh(name) for name in ("Flag", "Badge", "Follower", "Other"))
    flag.modifiers.new("Cloth", "CLOTH").point_cache.frame_start = 7
    badge.parent = flag
    follower.constraints.new("COPY_LOCATION").target = badge
    found = Simulations.of(bpy.context.scene)
    assert found.uids == {item.session_uid for item in (flag, badge, follower)}
    assert other.session_uid not in found.uids
    assert found.first_frame == 7


def test_rigid_bodies_are_simulated_unless_their_world_is_switched_off(add_mesh):
    item = add_mesh("Ball")
    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    with bpy.context.temp_override(object=item, active_object=item, selected_objects=[item]):
        bpy.ops.rigidbody.object_add()
    assert Simulations.of(scene).uids == {item.session_uid}
    scene.rigidbody_world.enabled = False
    assert Simulations.of(scene).uids == frozenset()


def test_a_simulation_zone_in_nested_node_groups_is_found(add_mesh):
    item = add_mesh("Growing")
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeSimulationInput")
    outer = bpy.data.node_groups.new("Outer", "GeometryNodeTree")
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    item.modifiers.new("Nodes", "NODES").node_group = outer
    assert Simulations.of(bpy.context.scene).uids == {item.session_uid}
