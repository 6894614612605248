"""Objects that may deform, and objects that are simulated, determined from the scene."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.blender.animated import Simulations, may_deform, physics_settings
from tests.scene.building import add_object
from tests.scene.sampling import add_box, scan_scene, world_points

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
    rig = add_object("Rig", bpy.data.armatures.new("Rig"))
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


def switch_on_later(owner, part, switch, kind):
    """Switch a simulation off at frame 1 and on at frame 5, by a key, a strip or a driver."""
    setattr(part, switch, False)
    if kind == "driver":
        part.driver_add(switch).driver.expression = "frame >= 5"
        return
    part.keyframe_insert(switch, frame=1)
    setattr(part, switch, True)
    part.keyframe_insert(switch, frame=5)
    animation = owner.animation_data
    if kind == "strip":
        tracks = animation.nla_tracks
        tracks.new().strips.new("Strip", 1, animation.action)
        animation.action = None
    bpy.context.scene.frame_set(1)
    assert not getattr(part, switch)


@pytest.mark.parametrize("kind", ["key", "strip", "driver"])
def test_modifier_that_is_switched_on_later_is_simulated(add_mesh, kind):
    flag, other = add_mesh('Flag "1"'), add_mesh("Other")
    switch_on_later(flag, flag.modifiers.new('Cloth "1"', "CLOTH"), "show_viewport", kind)
    # Switched off always, although the object has keys, and switched on, but no simulation.
    off = other.modifiers.new("Cloth", "CLOTH")
    off.show_viewport = False
    off.keyframe_insert("show_render", frame=1)
    switch_on_later(other, other.modifiers.new("Cloth.001", "WAVE"), "show_viewport", "driver")
    assert Simulations.of(bpy.context.scene).uids == {flag.session_uid}


def test_cloth_that_is_switched_on_later_is_scanned_in_the_order_of_frames():
    flag = add_box("Flag", (1, 1, 0.1))
    switch_on_later(flag, flag.modifiers.new("Cloth", "CLOTH"), "show_viewport", "key")
    add_box("Floor", (3, 3, 0.1)).location.z = -0.4
    heights = []
    for frame in range(1, 16):
        bpy.context.scene.frame_set(frame)
        heights.append(world_points("Flag")[:, 2].min())
    # It falls from frame 5 on, onto the upper side of the floor.
    below = next(frame for frame, height in enumerate(heights) if height < -0.3)
    assert heights[:4] == pytest.approx([-0.1] * 4, abs=1e-6)
    before, after = heights[below - 1 : below + 1]
    bpy.context.scene.frame_set(1)
    result = scan_scene(frames=(1, 15, 1))
    assert result.linear_only == ("Flag", "Floor")
    (contact,) = result.report.contacts
    assert contact.first.motion == "linear"
    assert contact.first.frame == pytest.approx(below + (before + 0.3) / (before - after), abs=1e-4)


@pytest.mark.parametrize("modifier", ["SOFT_BODY", "FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "NODES"])
def test_every_simulation_that_is_switched_on_later_is_found(add_mesh, modifier):
    item = add_mesh("Item")
    part = item.modifiers.new("Part", modifier)
    if modifier == "NODES":
        part.node_group = bpy.data.node_groups.new("Zone", "GeometryNodeTree")
        part.node_group.nodes.new("GeometryNodeSimulationInput")
    switch_on_later(item, part, "show_viewport", "key")
    assert Simulations.of(bpy.context.scene).uids == {item.session_uid}


@pytest.mark.parametrize("kind", ["key", "driver"])
def test_rigid_body_world_that_is_switched_on_later_simulates_its_bodies(add_mesh, kind):
    item, scene = add_mesh("Ball"), bpy.context.scene
    bpy.ops.rigidbody.world_add()
    with bpy.context.temp_override(object=item, active_object=item, selected_objects=[item]):
        bpy.ops.rigidbody.object_add()
    switch_on_later(scene, scene.rigidbody_world, "enabled", kind)
    assert Simulations.of(scene).uids == {item.session_uid}


def test_object_that_is_only_instanced_is_simulated_and_so_is_its_instancer(add_mesh):
    part, other = add_mesh("Part"), add_mesh("Other")
    crowd = add_object("Crowd")
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


def test_settings_that_rigid_bodies_depend_on_differ_after_a_change():
    scene = bpy.context.scene
    before = physics_settings(scene)
    assert physics_settings(scene) == before
    scene.gravity.z = -3
    lighter = physics_settings(scene)
    assert lighter != before
    bpy.ops.rigidbody.world_add()
    with_world = physics_settings(scene)
    assert with_world != lighter
    scene.rigidbody_world.substeps_per_frame = 33
    assert physics_settings(scene) != with_world
