"""Helpers that build scenes for tests."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import bpy
import numpy as np

from tests.paths import TOP

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
"""Corners of a cube of side 2 around the origin."""


def open_empty_file() -> None:
    """Open an empty file and keep the preferences.

    Resetting the preferences too takes five times as long, so only `factory_settings` does, once per module.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=True)


def add_vertices(
    name: str, points: object = CUBE, faces: object = (), **attributes: object
) -> bpy.types.Object:
    """Add a mesh object to the scene collection: loose vertices, by default of a cube of side 2, or faces."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points, dtype=float).tolist(), [], list(faces))
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    for key, value in attributes.items():
        setattr(item, key, value)
    return item


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
