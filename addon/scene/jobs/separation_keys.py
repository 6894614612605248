"""The separation of a pair as keys of a custom property, for drivers, sound and Geometry Nodes."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.messages import message
from ...formats.wording import valid_text
from ..blender.animated.paths import curves_of_action
from ..blender.names import name_of
from ..errors import SceneError
from .pair_separation import SeparationCurve

MAX_NAME = 63
"""Bytes that Blender keeps of the name of a custom property."""


def key_separation(scene: bpy.types.Scene, item: bpy.types.Object, name: str, curve: SeparationCurve) -> int:
    """Write a separation over time to a custom property of an object, one linear key for each sample.

    A property of this name that is a number is replaced, with all its keys. The time remapping of the scene
    converts frames of the timeline to frames of the animation. Samples without a value get no key.

    Returns the number of keys. Raises SceneError for a linked object or action, for a name that is empty or
    too long, and for a property of this name that is driven or no number.
    """
    shown = valid_text(name_of(item))
    _check(item, name, shown)
    path = f'["{bpy.utils.escape_identifier(name)}"]'
    has_value = ~np.isnan(curve.values)
    settings = scene.render
    times = curve.frames[has_value] * (settings.frame_map_old / settings.frame_map_new)
    values = curve.values[has_value]
    held: Any = item
    held[name] = float(values[0])
    held.id_properties_ui(name).update(description="Separation of bounds", subtype="NONE")
    if (old := _curve_of(item, path)) is not None:
        old.keyframe_points.clear()
    item.keyframe_insert(path, frame=float(times[0]))
    keyed = _curve_of(item, path)
    if keyed is None:
        raise SceneError(
            message(
                "{object} cannot be animated: remove its action, or choose the other object", object=shown
            )
        )
    points: Any = keyed.keyframe_points
    points.add(len(times) - len(points))
    points.foreach_set("co", np.stack([times, values], axis=1).astype(np.float32).ravel())
    for point in points:
        point.interpolation = "LINEAR"
    keyed.update()
    # Otherwise the evaluated copy of an object that was animated before has no such property.
    item.update_tag(refresh={"OBJECT"})
    return len(points)


def _check(item: bpy.types.Object, name: str, shown: str) -> None:
    """Raise SceneError unless a property of this name can be keyed on the object."""
    if item.library is not None:
        raise SceneError(
            message("{object} is linked: make a library override, or choose the other object", object=shown)
        )
    if not name or len(name.encode()) > MAX_NAME:
        raise SceneError(
            message("property {name!r}: needs a name of 1 to {most} bytes", name=name, most=MAX_NAME)
        )
    held: Any = item
    if name in held and not isinstance(held[name], (int, float)):
        raise SceneError(
            message(
                "{object} has a property {name!r} that is no number: choose another name",
                object=shown,
                name=name,
            )
        )
    animation: Any = item.animation_data
    if animation is None:
        return
    path = f'["{bpy.utils.escape_identifier(name)}"]'
    if any(curve.data_path == path for curve in animation.drivers):
        raise SceneError(
            message(
                "{object} has a driver on {name!r}: delete the driver, or choose another name",
                object=shown,
                name=name,
            )
        )
    if animation.action is not None and animation.action.library is not None:
        raise SceneError(
            message(
                "{object} has a linked action: make the action local, or choose the other object",
                object=shown,
            )
        )


def _curve_of(item: bpy.types.Object, path: str) -> bpy.types.FCurve | None:
    """Return the F-curve of a property of an object, or None."""
    if item.animation_data is None:
        return None
    curves = curves_of_action(item.animation_data)
    return next((curve for curve in curves if curve.data_path == path), None)
