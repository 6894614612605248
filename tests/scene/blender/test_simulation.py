"""Objects that may deform, and objects that are simulated, determined from the scene."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.blender.simulation import Simulations, may_deform

pytestmark = [pytest.mark.usefixtures("empty_file"), pytest.mark.smoke]


def test_mesh_with_only_transform_keys_does_not_deform(add_mesh):
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


def test_armature_parent_deforms_and_bone_parent_does_not(add_mesh):
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    skin, tool = add_mesh("Skin"), add_mesh("Tool")
    skin.parent, skin.parent_type = rig, "ARMATURE"
    tool.parent = rig
    assert may_deform(skin, "evaluated")
    assert not may_deform(tool, "evaluated")


def test_nothing_is_simulated_in_plain_scene(add_mesh):
    add_mesh("Crate")
    assert Simulations.of(bpy.context.scene) == Simulations(frozenset(), None)


def test_cloth_and_its_dependents_are_simulated(add_mesh):
    flag, badge, follower, other = (add_mesh(name) for name in ("Flag", "Badge", "Follower", "Other"))
    flag.modifiers.new("Cloth", "CLOTH").point_cache.frame_start = 7
    badge.parent = flag
    follower.constraints.new("COPY_LOCATION").target = badge
    simulations = Simulations.of(bpy.context.scene)
    assert simulations.uids == {item.session_uid for item in (flag, badge, follower)}
    assert other.session_uid not in simulations.uids
    assert simulations.first_frame == 7


def test_rigid_bodies_are_simulated_unless_their_world_is_disabled(add_mesh):
    item = add_mesh("Ball")
    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    with bpy.context.temp_override(object=item, active_object=item, selected_objects=[item]):
        bpy.ops.rigidbody.object_add()
    assert Simulations.of(scene).uids == {item.session_uid}
    scene.rigidbody_world.enabled = False
    assert Simulations.of(scene).uids == frozenset()


def test_simulation_zone_in_nested_node_groups_is_found(add_mesh):
    item = add_mesh("Growing")
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeSimulationInput")
    outer = bpy.data.node_groups.new("Outer", "GeometryNodeTree")
    outer.nodes.new("GeometryNodeGroup").node_tree = inner
    item.modifiers.new("Nodes", "NODES").node_group = outer
    assert Simulations.of(bpy.context.scene).uids == {item.session_uid}


def test_object_that_is_only_instanced_is_simulated_and_so_is_its_instancer(add_mesh):
    part, other = add_mesh("Part"), add_mesh("Other")
    crowd = bpy.data.objects.new("Crowd", None)
    bpy.context.scene.collection.objects.link(crowd)
    part.modifiers.new("Cloth", "CLOTH").point_cache.frame_start = 7
    bpy.context.scene.collection.objects.unlink(part)
    inner, outer = (bpy.data.collections.new(name) for name in ("Inner", "Outer"))
    outer.children.link(inner)
    inner.objects.link(part)
    crowd.instance_type, crowd.instance_collection = "COLLECTION", outer
    bpy.context.view_layer.update()
    simulations = Simulations.of(bpy.context.scene)
    assert simulations.uids == {part.session_uid, crowd.session_uid}
    assert simulations.first_frame == 7
    assert other.session_uid not in simulations.uids


def test_drivers_curves_and_nodes_that_refer_to_simulated_objects_are_simulated(add_mesh):
    names = ("Flag", "Driven", "Nodes", "Same Mesh")
    flag, driven, with_nodes, same_mesh = (add_mesh(name) for name in names)
    flag.modifiers.new("Cloth", "CLOTH")
    variable = driven.driver_add("location", 0).driver.variables.new()
    variable.type, variable.targets[0].id = "TRANSFORMS", flag
    tree = bpy.data.node_groups.new("Nodes", "GeometryNodeTree")
    inner = bpy.data.node_groups.new("Inner", "GeometryNodeTree")
    inner.nodes.new("GeometryNodeObjectInfo").inputs["Object"].default_value = flag
    tree.nodes.new("GeometryNodeGroup").node_tree = inner
    with_nodes.modifiers.new("Nodes", "NODES").node_group = tree
    bevelled = bpy.data.objects.new("Bevelled", bpy.data.curves.new("Bevelled", "CURVE"))
    profile = bpy.data.objects.new("Profile", bpy.data.curves.new("Profile", "CURVE"))
    for item in (bevelled, profile):
        bpy.context.scene.collection.objects.link(item)
    bevelled.data.bevel_mode, bevelled.data.bevel_object = "OBJECT", profile
    profile.parent = driven
    # A shared mesh or material does not make an object depend on another.
    same_mesh.data = flag.data
    material = bpy.data.materials.new("Paint")
    flag.data.materials.append(material)
    bpy.context.view_layer.update()
    simulations = Simulations.of(bpy.context.scene).uids
    assert simulations == {item.session_uid for item in (flag, driven, with_nodes, bevelled, profile)}


def test_first_frame_of_simulation_is_on_timeline(add_mesh):
    flag = add_mesh("Flag")
    flag.modifiers.new("Cloth", "CLOTH").point_cache.frame_start = 9
    scene = bpy.context.scene
    # Frame 9 of the animation is at frame 18 of the timeline, or at 4.5.
    for new, first in ((200, 18), (50, 4)):
        scene.render.frame_map_old, scene.render.frame_map_new = 100, new
        assert Simulations.of(scene).first_frame == first
