"""Keyframes and their interpolation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import bpy


def insert_keys(owner: bpy.types.bpy_struct, path: str, keys: Iterable[tuple[int, Sequence[float]]]) -> None:
    """Insert keyframes of a vector property, given as (frame, value)."""
    for frame, value in keys:
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def set_interpolation(animated: bpy.types.Object, interpolation: str) -> None:
    """Set the interpolation of all keyframes of an object to LINEAR or BEZIER.

    New keyframes have the interpolation from the user's preferences.
    """
    for curve in action_curves(animated.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = interpolation
        curve.update()


def action_curves(action: bpy.types.Action) -> Iterator[bpy.types.FCurve]:
    """Yield the curves of an action.

    Blender 4.4 moved them into layers, and Blender 5.0 removed `Action.fcurves`.
    """
    if hasattr(action, "fcurves"):
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for channelbag in strip.channelbags:
                yield from channelbag.fcurves
