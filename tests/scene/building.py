"""Helpers that build scenes for tests."""

from __future__ import annotations

import bpy
import numpy as np

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
"""Corners of a cube of side 2 around the origin."""


def open_empty_file() -> None:
    """Open an empty file and keep the preferences.

    Resetting the preferences too takes five times as long, so only `factory_settings` does, once per module.
    """
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True, load_ui=True)


def key_location(
    item: bpy.types.Object, keys: dict[int, tuple[float, float, float]], interpolation: str = "LINEAR"
) -> None:
    """Key locations with linear or another of Blender's interpolations, eased in."""
    for frame, location in keys.items():
        item.location = location
        item.keyframe_insert("location", frame=frame)
    for curve in curves(item.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation, point.easing = interpolation, "EASE_IN"


def curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """All curves of an action, in any version of Blender."""
    if hasattr(action, "fcurves"):  # before Blender 5.0
        return list(action.fcurves)
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        for bag in strip.channelbags
        for curve in bag.fcurves
    ]
