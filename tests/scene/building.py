"""Helpers that build scenes for tests."""

from __future__ import annotations

import importlib.util
from collections.abc import Container, Mapping, Sequence
from types import ModuleType

import bpy
import numpy as np

from tests.paths import TOP

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
"""Corners of a cube of side 2 around the origin."""
CUBE_FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
"""Faces of the cube, which face outward."""


def open_empty_file() -> None:
    """Open an empty file and keep the preferences.

    Resetting the preferences too takes five times as long, so only `factory_settings` does, once per module.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=True)


def add_object(name: str, data: bpy.types.ID | None = None, **attributes: object) -> bpy.types.Object:
    """Add an object to the scene collection, by default an empty."""
    item = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(item)
    for key, value in attributes.items():
        setattr(item, key, value)
    return item


def add_instance(name: str, collection: bpy.types.Collection, **attributes: object) -> bpy.types.Object:
    """Add an empty that instances a collection."""
    return add_object(name, instance_type="COLLECTION", instance_collection=collection, **attributes)


def add_vertices(
    name: str, points: object = CUBE, faces: object = (), **attributes: object
) -> bpy.types.Object:
    """Add a mesh object to the scene collection: loose vertices, by default of a cube of side 2, or faces."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], list(faces))
    return add_object(name, mesh, **attributes)


def add_armature(
    name: str, bones: Mapping[str, tuple[Sequence[float], Sequence[float]]], connected: Container[str] = ()
) -> bpy.types.Object:
    """Add an active armature with a chain of bones, by the head and the tail of each.

    connected : names of bones that are connected to the one before
    """
    rig = add_object(name, bpy.data.armatures.new(name))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    before = None
    for bone_name, (head, tail) in bones.items():
        bone = rig.data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        bone.parent, bone.use_connect = before, bone_name in connected
        before = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


class Nodes:
    """Geometry nodes, as a modifier of an object.

    mesh : socket of the mesh of the object
    """

    def __init__(self, item: bpy.types.Object | None = None, name: str = "Nodes") -> None:
        self.tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for end in ("INPUT", "OUTPUT"):
            self.tree.interface.new_socket("Geometry", in_out=end, socket_type="NodeSocketGeometry")
        self.mesh = self.tree.nodes.new("NodeGroupInput").outputs[0]
        self._result = self.tree.nodes.new("NodeGroupOutput").inputs[0]
        if item is not None:
            item.modifiers.new(name, "NODES").node_group = self.tree

    def add(self, kind: str, inputs: Mapping[str | int, object] = {}, **attributes: object) -> bpy.types.Node:
        """Add a node with attributes and inputs: values, or sockets to link."""
        node = self.tree.nodes.new(kind)
        for key, value in attributes.items():
            setattr(node, key, value)
        for key, value in inputs.items():
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, node.inputs[key])
            else:
                node.inputs[key].default_value = value
        return node

    def end(self, result: bpy.types.NodeSocket) -> None:
        """Link what the nodes make to the output."""
        self.tree.links.new(result, self._result)

    def math(self, operation: str, *values: object) -> bpy.types.NodeSocket:
        """Return the result of an operation on numbers or sockets."""
        return self.add("ShaderNodeMath", dict(enumerate(values)), operation=operation).outputs[0]

    def time(self, unit: str) -> bpy.types.NodeSocket:
        """Return the time of the scene, as "Frame" or "Seconds"."""
        return self.add("GeometryNodeInputSceneTime").outputs[unit]

    def instance_of(self, item: bpy.types.Object) -> bpy.types.NodeSocket:
        """Return an instance of an object."""
        info = {"Object": item, "As Instance": True}
        return self.add("GeometryNodeObjectInfo", info).outputs["Geometry"]

    def on_points(
        self, points: bpy.types.NodeSocket, instance: bpy.types.NodeSocket, **inputs: object
    ) -> bpy.types.NodeSocket:
        """Return instances at points."""
        inputs |= {"Points": points, "Instance": instance}
        return self.add("GeometryNodeInstanceOnPoints", inputs).outputs[0]

    def moved(self, geometry: bpy.types.NodeSocket, **offset: object) -> bpy.types.NodeSocket:
        """Return geometry whose points are moved along X, Y and Z."""
        by = self.add("ShaderNodeCombineXYZ", offset).outputs[0]
        return self.add("GeometryNodeSetPosition", {"Geometry": geometry, "Offset": by}).outputs[0]

    def joined(self, *parts: bpy.types.NodeSocket) -> bpy.types.NodeSocket:
        """Return several geometries as one."""
        join = self.add("GeometryNodeJoinGeometry")
        for part in parts:
            self.tree.links.new(part, join.inputs[0])
        return join.outputs[0]


def hidden_collection(name: str, *items: bpy.types.Object) -> bpy.types.Collection:
    """Move objects of the scene collection to a new one that is in no scene, to be shown by instances."""
    collection = bpy.data.collections.new(name)
    for item in items:
        bpy.context.scene.collection.objects.unlink(item)
        collection.objects.link(item)
    return collection


def merged_collection(name: str, *items: bpy.types.Object) -> bpy.types.Collection:
    """Move objects of the scene collection to a new one below it, and merge their bounds."""
    collection = hidden_collection(name, *items)
    bpy.context.scene.collection.children.link(collection)
    collection.collision_bounds.merge_bounds = True
    return collection


def select_objects(*items: bpy.types.Object) -> None:
    """Select only these objects, and make the first of them active."""
    bpy.context.view_layer.update()
    for item in bpy.context.view_layer.objects:
        item.select_set(item in items)
    bpy.context.view_layer.objects.active = items[0] if items else None


def fill_settings(settings: bpy.types.PropertyGroup) -> None:
    """Give all settings of an object values that differ from the defaults."""
    settings.use_object_settings, settings.modifiers, settings.padding = True, "base", 0.25
    settings.axes, settings.depth, settings.override = "object", 2, "box"
    settings.center, settings.half_extents, settings.radius = (1, 2, 3), (0.5, 0.25, 2), 0.75


def settings_values(settings: bpy.types.PropertyGroup) -> list[object]:
    """Return the values that `fill_settings` sets, for comparison."""
    scalars = ("use_object_settings", "modifiers", "padding", "axes", "depth", "override", "radius")
    return [getattr(settings, name) for name in scalars] + [
        list(settings.center),
        list(settings.half_extents),
    ]


def load_example() -> ModuleType:
    """Import the script that builds the example scene."""
    spec = importlib.util.spec_from_file_location("example_scene", TOP / "scripts" / "example_scene.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(item: bpy.types.Object) -> None:
    """Add a constraint without effect that reads the scene: only the scene itself has the object's motion."""
    curve = item.constraints.new("LIMIT_SCALE").driver_add("influence")
    variable = curve.driver.variables.new()
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", bpy.context.scene
    variable.targets[0].data_path = "render.fps"
    curve.driver.expression = f"{variable.name} > 0"


def key_location(
    item: bpy.types.Object, keys: dict[int, tuple[float, float, float]], interpolation: str = "LINEAR"
) -> None:
    """Key the location of an object by frame, with one interpolation and easing in."""
    for frame, location in keys.items():
        item.location = location
        item.keyframe_insert("location", frame=frame)
    for curve in curves(item.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation, point.easing = interpolation, "EASE_IN"


def curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """Return all curves of an action, in any version of Blender."""
    if hasattr(action, "fcurves"):  # before Blender 5.0
        return list(action.fcurves)
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]
