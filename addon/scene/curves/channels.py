"""Channels of objects and bones, and the F-curves and drivers that animate them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import bpy

from ...core.curves.rotation import AXIS_ANGLE, EULER_ORDERS, QUATERNION
from ...core.curves.transforms import CHANNELS, DELTA_LOCATION, LOCATION, ROTATION, SCALE
from ..blender.animated.paths import curves_of_action
from ..blender.animated.switches import TRANSFORM

ROTATION_MODES = {mode: number for number, mode in enumerate(EULER_ORDERS)} | {
    "QUATERNION": QUATERNION,
    "AXIS_ANGLE": AXIS_ANGLE,
}
"""Numbers of Blender's rotation modes in `core.curves`."""
ROTATION_PATHS = {QUATERNION: "rotation_quaternion", AXIS_ANGLE: "rotation_axis_angle"}
"""Properties of rotations that are not Euler angles."""
HIDING = CHANNELS
"""Number of the channel that hides an object, after those of its transform."""

Channel: TypeAlias = tuple[int, bpy.types.FCurve]
"""Channel of an object or bone, and the curve or driver's curve that animates it."""

_ALL_ROTATIONS = frozenset({"rotation_euler", *ROTATION_PATHS.values()})
_CURVES_OF = {"location": LOCATION.start, "scale": SCALE.start, "delta_location": DELTA_LOCATION.start}
BONES = 'pose.bones["'
"""Beginning of data paths of bones."""


def applied_curves(animation: bpy.types.AnimData) -> list[bpy.types.FCurve] | None:
    """Return the curves and drivers' curves that animate a data-block; None if these are not all there is."""
    if animation.use_tweak_mode or not is_action_all(animation):
        return None
    return [
        curve
        for curve in (*curves_of_action(animation), *animation.drivers)
        if not (curve.mute or (curve.group is not None and curve.group.mute))
    ]


def channels_of_object(item: bpy.types.Object) -> list[Channel] | None:
    """Return the animated channels of an object; None if these are not all there is."""
    animation = item.animation_data
    curves: list[bpy.types.FCurve] | None = [] if animation is None else applied_curves(animation)
    if curves is None:
        return None
    moving = ((curve.data_path, curve) for curve in curves if TRANSFORM.has(curve.data_path))
    return channels_of_paths(moving, ROTATION_MODES[item.rotation_mode])


def channels_of_paths(curves: Iterable[tuple[str, bpy.types.FCurve]], mode: int) -> list[Channel] | None:
    """Return the channels of data paths, each with its curve; None for a path that is no channel.

    curves : iterable of (str, bpy.types.FCurve). Data paths below the object or bone, and their curves.
    mode : Rotation mode. Rotations of other modes are ignored.
    """
    found: dict[int, bpy.types.FCurve] = {}
    for path, curve in curves:
        channels = _channels_of_path(path, mode)
        if channels is None:
            return None
        # Blender ignores the index of a property that has one value.
        index = curve.array_index if path != "hide_viewport" else 0
        if not 0 <= index < len(channels):
            continue
        channel = channels[index]
        # A driver replaces the value of a curve, but only while it is valid.
        if channel in found:
            return None
        found[channel] = curve
    return list(found.items())


def _channels_of_path(path: str, mode: int) -> range | None:
    """Return the channels of a data path: none for a rotation of another mode, None for other paths."""
    if path in _CURVES_OF:
        return range(_CURVES_OF[path], _CURVES_OF[path] + 3)
    if path == "hide_viewport":
        return range(HIDING, HIDING + 1)
    if path not in _ALL_ROTATIONS:
        return None
    if path != ROTATION_PATHS.get(mode, "rotation_euler"):
        return range(0)
    return range(ROTATION.start, ROTATION.start + (4 if mode in ROTATION_PATHS else 3))


def is_action_all(animation: bpy.types.AnimData) -> bool:
    """Return whether no NLA track has a part in an animation, and the action counts in full."""
    tracks = animation.nla_tracks
    if not len(tracks) or not animation.use_nla:
        return True
    # While there are tracks, even muted ones, these settings apply to the action.
    is_whole = animation.action_influence == 1 and animation.action_blend_type == "REPLACE"
    return is_whole and animation.action_extrapolation == "HOLD" and all(track.mute for track in tracks)
