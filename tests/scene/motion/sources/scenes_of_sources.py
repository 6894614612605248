"""Scenes for which the source of poses matters: some objects are the same in a private scene, others are not.

Each function builds one scene of moving meshes. Names of those that need the whole scene begin with "Scene".
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy

from tests.scene.building import CUBE, Nodes, add_armature, add_object, add_vertices, curves, key_location

SAME: list[Callable[[], None]] = []
DIFFERENT: list[Callable[[], None]] = []
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def same(function: Callable[[], None]) -> Callable[[], None]:
    SAME.append(function)
    return function


def different(function: Callable[[], None]) -> Callable[[], None]:
    DIFFERENT.append(function)
    return function


def cube(name: str = "Cube", **attributes: object) -> bpy.types.Object:
    return add_vertices(name, CUBE, QUADS, **attributes)


def empty(name: str = "Empty", **attributes: object) -> bpy.types.Object:
    item = add_object(name)
    for key, value in attributes.items():
        setattr(item, key, value)
    return item


def moving(item: bpy.types.Object) -> bpy.types.Object:
    key_location(item, {1: (-4, 0, 1), 9: (3, 2, 0), 20: (5, -3, 2)}, "BEZIER")
    return item


def drive(owner: bpy.types.bpy_struct, path: str, expression: str, index: int = -1) -> bpy.types.Driver:
    driver = owner.driver_add(path, index).driver
    driver.expression = expression
    return driver


def add_target(driver: bpy.types.Driver, kind: str, block: bpy.types.ID, path: str) -> None:
    variable = driver.variables.new()
    variable.name = "value"
    variable.targets[0].id_type, variable.targets[0].id = kind, block
    variable.targets[0].data_path = path


def node_modifier(item: bpy.types.Object) -> tuple[Nodes, bpy.types.NodeSocket]:
    """Add geometry nodes that move all vertices; return them, and the input of the offset."""
    nodes = Nodes(item)
    move = nodes.add("GeometryNodeSetPosition", {"Geometry": nodes.mesh})
    nodes.end(move.outputs[0])
    return nodes, move.inputs["Offset"]


def armature() -> bpy.types.Object:
    """Add an armature of two bones that turn."""
    bones = {"Lower": ((0, 0, -1), (0, 0, 0)), "Upper": ((0, 0, 0), (0, 0, 1))}
    item = add_armature("Armature", bones)
    for bone, angle in (("Lower", 0.7), ("Upper", -1.1)):
        pose = item.pose.bones[bone]
        pose.rotation_mode = "XYZ"
        for frame, factor in ((1, 0), (20, 1)):
            pose.rotation_euler = (angle * factor, 0.2 * factor, 0)
            pose.keyframe_insert("rotation_euler", frame=frame)
    return item


# ---- The same in a private scene


@same
def driver_of_the_frame() -> None:
    # Not one of the functions of which slopes are known.
    drive(cube(), "location", "sqrt(frame) - 2", 0)


@same
def driver_of_another_object() -> None:
    add_target(drive(cube(), "location", "value * 2", 1), "OBJECT", moving(empty()), "location.x")


@same
def python_driver_of_numbers() -> None:
    drive(cube(), "location", "max([frame, 4]) * 0.1 if frame > 3 else min((1, frame))", 2)


@same
def copied_location() -> None:
    item = cube()
    constraint = item.constraints.new("COPY_LOCATION")
    constraint.target, constraint.influence = moving(empty()), 0.9
    item.scale = (1, 2, 0.5)


@same
def child_of_a_turning_empty() -> None:
    hub = empty()
    for frame, angle in ((1, 0), (20, 5)):
        hub.rotation_euler = (angle, 0.3, 0)
        hub.keyframe_insert("rotation_euler", frame=frame)
    item = cube(location=(3, 0, 0))
    item.constraints.new("CHILD_OF").target = hub


@same
def path_that_is_followed() -> None:
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions, curve.use_path = "3D", True
    line = curve.splines.new("BEZIER")
    line.bezier_points.add(2)
    for point, place in zip(line.bezier_points, ((-3, 0, 0), (0, 4, 1), (5, 0, 2)), strict=True):
        point.co = place
        point.handle_left_type = point.handle_right_type = "AUTO"
    path = add_object("Path", curve)
    constraint = cube().constraints.new("FOLLOW_PATH")
    constraint.target, constraint.use_fixed_location = path, True
    for frame, factor in ((1, 0), (20, 1)):
        constraint.offset_factor = factor
        constraint.keyframe_insert("offset_factor", frame=frame)


@same
def mesh_bent_by_an_armature() -> None:
    item = cube()
    for bone, rows in (("Lower", (0, 2, 4, 6)), ("Upper", (1, 3, 5, 7))):
        item.vertex_groups.new(name=bone).add(rows, 1, "REPLACE")
    modifier = item.modifiers.new("Armature", "ARMATURE")
    # With linear blending, boxes follow from the curves of the bones.
    modifier.object, modifier.use_deform_preserve_volume = armature(), True


@same
def child_of_a_bone() -> None:
    item, item.location = cube(), (0, 0, 2)
    item.parent, item.parent_type, item.parent_bone = armature(), "BONE", "Upper"


@same
def bones_that_reach_for_a_target() -> None:
    rig = armature()
    constraint = rig.pose.bones["Upper"].constraints.new("IK")
    constraint.target, constraint.chain_count = moving(empty()), 2
    item = cube()
    item.parent, item.parent_type, item.parent_bone = rig, "BONE", "Upper"


@same
def shape_keys() -> None:
    item = cube()
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Wide")
    for row in range(4):
        key.data[row].co.x -= 2
    for frame, value in ((1, 0), (20, 1)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


@same
def shape_key_that_is_driven() -> None:
    item = cube()
    item.shape_key_add(name="Basis")
    item.shape_key_add(name="Wide").data[0].co.x = 3
    drive(item.data.shape_keys.key_blocks["Wide"], "value", "frame / 20")


@same
def waves() -> None:
    cube().modifiers.new("Wave", "WAVE").height = 2


@same
def nodes_that_read_the_time() -> None:
    nodes, offset = node_modifier(cube())
    nodes.tree.links.new(nodes.time("Seconds"), offset)


@same
def nodes_that_read_an_object() -> None:
    nodes, offset = node_modifier(cube())
    read = nodes.add("GeometryNodeObjectInfo", {"Object": moving(empty())})
    nodes.tree.links.new(read.outputs["Location"], offset)


@same
def mesh_shrunk_onto_a_hidden_one() -> None:
    target = moving(cube("Target"))
    target.hide_viewport = True
    cube(scale=(2, 2, 2)).modifiers.new("Wrap", "SHRINKWRAP").target = target


@same
def hook() -> None:
    modifier = cube().modifiers.new("Hook", "HOOK")
    modifier.object = moving(empty())
    modifier.vertex_indices_set([0, 3])


@same
def lattice() -> None:
    cage = add_object("Lattice", bpy.data.lattices.new("Lattice"))
    cube().modifiers.new("Lattice", "LATTICE").object = moving(cage)


@same
def child_of_a_vertex() -> None:
    above = cube("Above")
    above.modifiers.new("Wave", "WAVE").height = 2
    item = cube()
    item.parent, item.parent_type, item.parent_vertices[0] = above, "VERTEX", 3


@same
def stretched_time() -> None:
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 250
    moving(cube("Keyed"))
    drive(cube(), "location", "frame", 0)


@same
def another_frame_rate() -> None:
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = 30, 1.001
    nodes_that_read_the_time()


@same
def simplified_subdivision() -> None:
    render = bpy.context.scene.render
    render.use_simplify, render.simplify_subdivision = True, 1
    item = cube()
    item.modifiers.new("Subdivision", "SUBSURF").levels = 3
    drive(item, "location", "frame", 0)


@same
def strips() -> None:
    item = moving(cube())
    animation = item.animation_data
    animation.nla_tracks.new().strips.new("Strip", 3, animation.action).scale = 1.7
    animation.action = None


@same
def noise() -> None:
    item = moving(cube())
    curves(item.animation_data.action)[0].modifiers.new("NOISE").strength = 4


@same
def visibility_that_is_keyed() -> None:
    item = moving(cube())
    for frame, is_hidden in ((1, False), (8, True), (13, False)):
        item.hide_viewport = is_hidden
        item.keyframe_insert("hide_viewport", frame=frame)


@same
def object_of_two_scenes() -> None:
    item = cube()
    drive(item, "location", "frame / 4", 0)
    bpy.data.scenes.new("Other").collection.objects.link(item)


@same
def target_of_an_excluded_collection() -> None:
    collection = bpy.data.collections.new("Excluded")
    bpy.context.scene.collection.children.link(collection)
    target = bpy.data.objects.new("Target", None)
    collection.objects.link(target)
    cube().constraints.new("COPY_LOCATION").target = moving(target)
    bpy.context.view_layer.layer_collection.children["Excluded"].exclude = True


@same
def linked_object() -> None:
    """Link the object from a library."""
    copied_location()
    path = str(Path(bpy.app.tempdir) / "library.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Cube"]}, fake_user=True)
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    with bpy.data.libraries.load(path, link=True) as (_, linked):
        linked.objects = ["Cube"]
    bpy.context.scene.collection.objects.link(linked.objects[0])


# ---- Not the same


@different
def driver_of_a_property_of_the_scene() -> None:
    bpy.context.scene["height"] = 1.0
    for frame, value in ((1, 0.0), (20, 5.0)):
        bpy.context.scene["height"] = value
        bpy.context.scene.keyframe_insert('["height"]', frame=frame)
    driver = drive(cube("Scene cube"), "location", "value", 2)
    add_target(driver, "SCENE", bpy.context.scene, '["height"]')


@different
def driver_of_the_frame_of_the_scene() -> None:
    driver = drive(cube("Scene cube"), "location", "value", 2)
    add_target(driver, "SCENE", bpy.context.scene, "frame_current")


@different
def driver_of_the_context() -> None:
    driver = drive(cube("Scene cube"), "location", "value", 2)
    variable = driver.variables.new()
    variable.name, variable.type = "value", "CONTEXT_PROP"
    variable.targets[0].context_property = "ACTIVE_SCENE"
    variable.targets[0].data_path = "frame_current"


@different
def driver_that_runs_python() -> None:
    bpy.app.driver_namespace["playhead"] = lambda: bpy.context.scene.frame_current
    drive(cube("Scene cube"), "location", "playhead()", 2)


@different
def follower_of_what_reads_the_scene() -> None:
    driver_of_the_frame_of_the_scene()
    cube("Scene follower").constraints.new("COPY_LOCATION").target = bpy.data.objects["Scene cube"]
    drive(cube("Free"), "location", "frame", 0)


@different
def child_that_bends_by_what_reads_the_scene() -> None:
    driver_of_a_property_of_the_scene()
    cube("Scene hooked").modifiers.new("Hook", "HOOK").object = bpy.data.objects["Scene cube"]


@different
def nodes_of_the_active_camera() -> None:
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    bpy.context.scene.collection.objects.link(moving(camera))
    bpy.context.scene.camera = camera
    nodes, offset = node_modifier(cube("Scene cube"))
    shown = nodes.add("GeometryNodeInputActiveCamera").outputs[0]
    read = nodes.add("GeometryNodeObjectInfo", {"Object": shown})
    nodes.tree.links.new(read.outputs["Location"], offset)


@different
def handler_that_moves_an_object() -> None:
    item = cube("Scene cube")

    def move(scene: bpy.types.Scene, _: object = None) -> None:
        scene.objects["Scene cube"].location.x = scene.frame_current / 3

    item.constraints.new("LIMIT_SCALE")
    bpy.app.handlers.frame_change_pre.append(move)


@different
def mesh_that_is_edited() -> None:
    item = cube("Scene cube")
    drive(item, "location", "frame", 0)
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode="EDIT")


@different
def rigid_body() -> None:
    item = cube("Scene cube", location=(0, 0, 9))
    bpy.context.view_layer.objects.active = item
    bpy.ops.rigidbody.world_add()
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    drive(item, "location", "frame", 0)
