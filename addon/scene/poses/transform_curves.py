"""Objects whose world matrices follow from F-curves alone, read as arrays.

Such an object and its parents have keyed or constant transform channels, and nothing else that moves them:
no constraint, driver, NLA or physics. Blender computes nothing for them that `core.curves` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...core.curves.rotation import AXIS_ANGLE, EULER_ORDERS, QUATERNION
from ...core.curves.transforms import (
    CHANNELS,
    DELTA_LOCATION,
    DELTA_ROTATION,
    DELTA_SCALE,
    LOCATION,
    ROTATION,
    SCALE,
    Transforms,
)
from ..blender.simulation import animated_paths
from .curve_keys import CurveKeys, joined_curves, known_keys

_MODES = {mode: number for number, mode in enumerate(EULER_ORDERS)} | {
    "QUATERNION": QUATERNION,
    "AXIS_ANGLE": AXIS_ANGLE,
}
_ROTATIONS = {QUATERNION: "rotation_quaternion", AXIS_ANGLE: "rotation_axis_angle"}
_ROTATION_PATHS = frozenset({"rotation_euler", *_ROTATIONS.values()})
_CURVES_OF = {"location": LOCATION.start, "scale": SCALE.start, "delta_location": DELTA_LOCATION.start}
_PATHS_THAT_MOVE_NOTHING = ("color", "show_", "display_", "lock_", "hide_render", "hide_select", "pass_index")
"""Beginnings of data paths of an object that neither its matrix nor its visibility depends on."""

_ChannelCurve: TypeAlias = tuple[int, bpy.types.FCurve]
"""Channel of a transform, and the curve that animates it."""


class TransformCurves:
    """Reads objects whose motion is known from curves.

    Attributes
    ----------
    index_of : dict
        Index of each known object in the transforms, by its session_uid.
    """

    def __init__(
        self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], times: tuple[float, float]
    ) -> None:
        """Read original objects and all their parents, as far as their motion between `times` is known."""
        # Objects that nothing else moves, after their parents, and their curves with the channels.
        self._moved: dict[int, tuple[bpy.types.Object, list[_ChannelCurve]]] = {}
        self._unknown: set[int] = set()
        self.index_of: dict[int, int] = {}
        self._objects: list[bpy.types.Object] = []
        self._parents: list[int] = []
        self._curves: list[tuple[int, int, CurveKeys]] = []
        if scene.render.frame_map_old == scene.render.frame_map_new:
            for item in objects:
                self._add(item)
            self._read_keys(times)

    def _add(self, item: bpy.types.Object) -> bool:
        """Add an object after its parents; return whether nothing but curves of a known kind moves it."""
        uid = item.session_uid
        if uid in self._moved or uid in self._unknown:
            return uid in self._moved
        # In case of a circle of parents the object is unknown until all of them are.
        self._unknown.add(uid)
        channels = None
        if not _is_moved_by_others(item) and (item.parent is None or self._add(item.parent)):
            channels = _channels_of(item)
        if channels is None:
            return False
        self._unknown.discard(uid)
        self._moved[uid] = item, channels
        return True

    def _read_keys(self, times: tuple[float, float]) -> None:
        """Read the keys of all curves, and index the objects of which all keys are known."""
        every = [curve for _, channels in self._moved.values() for _, curve in channels]
        keys = iter(known_keys(every, times))
        for uid, (item, channels) in self._moved.items():
            found = [(channel, next(keys)) for channel, _ in channels]
            parent = -1 if item.parent is None else self.index_of.get(item.parent.session_uid, -2)
            known = [(channel, curve) for channel, curve in found if curve is not None]
            if parent < -1 or len(known) < len(found):
                continue
            self.index_of[uid] = number = len(self._objects)
            self._objects.append(item)
            self._parents.append(parent)
            self._curves += [(number, channel, curve) for channel, curve in known]

    def transforms(self) -> Transforms:
        """Return the transforms of all known objects."""
        count = len(self._objects)
        rest = np.zeros((count, CHANNELS), dtype=np.float32)
        inverse = np.empty((count, 4, 4), dtype=np.float32)
        for row, item in enumerate(self._objects):
            rest[row] = _rest_values(item)
            inverse[row] = np.array(item.matrix_parent_inverse, dtype=np.float32)
        curve_of = np.full((count, CHANNELS), -1)
        for number, (row, channel, _) in enumerate(self._curves):
            curve_of[row, channel] = number
        modes = np.array([_MODES[item.rotation_mode] for item in self._objects], dtype=np.int64)
        parents = np.array(self._parents, dtype=np.int64)
        return Transforms(
            rest, curve_of, modes, parents, inverse, joined_curves([keys for *_, keys in self._curves])
        )


def may_show_more(scene: bpy.types.Scene, is_wanted: Callable[[bpy.types.Object], bool]) -> bool:
    """Return whether wanted objects of a scene may appear or disappear while it plays."""
    return any(
        "hide_viewport" in path
        for item in scene.objects
        if item.animation_data is not None and is_wanted(item)
        for path in animated_paths(item)
    )


def _is_moved_by_others(item: bpy.types.Object) -> bool:
    """Return whether something else than an object's channels and its parent may move it."""
    parent = item.parent
    return bool(
        len(item.constraints)
        or item.rigid_body is not None
        or item.rigid_body_constraint is not None
        or (parent is not None and (item.parent_type != "OBJECT" or parent.type == "CURVE"))
    )


def _channels_of(item: bpy.types.Object) -> list[_ChannelCurve] | None:
    """Return the animated channels of an object with their curves; None if these are not all there is."""
    animation = item.animation_data
    if animation is None:
        return []
    if animation.use_tweak_mode or not _is_action_all(animation):
        return None
    if any(not _moves_nothing(driver.data_path) for driver in animation.drivers):
        return None
    mode = _MODES[item.rotation_mode]
    channels = []
    for curve in _curves_of_action(animation):
        path, index = curve.data_path, curve.array_index
        if curve.mute or (curve.group is not None and curve.group.mute) or _moves_nothing(path):
            continue
        if path in _CURVES_OF:
            start, size = _CURVES_OF[path], 3
        elif path in _ROTATION_PATHS:
            if path != _ROTATIONS.get(mode, "rotation_euler"):
                continue
            start, size = ROTATION.start, 4 if mode in _ROTATIONS else 3
        else:
            return None
        if not 0 <= index < size:
            continue
        channels.append((start + index, curve))
    return channels


def _is_action_all(animation: bpy.types.AnimData) -> bool:
    """Return whether no NLA track has a part in an animation, and the action counts in full."""
    tracks = animation.nla_tracks
    if not len(tracks) or not animation.use_nla:
        return True
    # While there are tracks, even muted ones, these settings apply to the action.
    is_whole = animation.action_influence == 1 and animation.action_blend_type == "REPLACE"
    return is_whole and animation.action_extrapolation == "HOLD" and all(track.mute for track in tracks)


def _moves_nothing(path: str) -> bool:
    """Return whether a data path of an object is none that its matrix or visibility depends on."""
    return path.startswith(_PATHS_THAT_MOVE_NOTHING) or (path.startswith('["') and path.endswith('"]'))


def _curves_of_action(animation: Any) -> Iterator[bpy.types.FCurve]:
    """Iterate over the F-curves of an action that apply to one data-block."""
    action: Any = animation.action
    if action is None:
        return
    slot = getattr(animation, "action_slot", None)
    if not hasattr(action, "layers") or not len(action.layers):
        # Until Blender 4.3 an action is a list of curves.
        yield from getattr(action, "fcurves", ())
        return
    if slot is None:
        return
    for layer in action.layers:
        for strip in layer.strips:
            channelbag = strip.channelbag(slot)
            if channelbag is not None:
                yield from channelbag.fcurves


def _rest_values(item: Any) -> Any:
    """Return the values (CHANNELS,) of all channels of an object now."""
    values: Any = np.zeros(CHANNELS, dtype=np.float32)
    mode = _MODES[item.rotation_mode]
    values[LOCATION], values[SCALE] = item.location, item.scale
    values[DELTA_LOCATION], values[DELTA_SCALE] = item.delta_location, item.delta_scale
    rotation = getattr(item, _ROTATIONS.get(mode, "rotation_euler"))
    values[ROTATION][: len(rotation)] = rotation
    if mode == QUATERNION:
        values[DELTA_ROTATION] = item.delta_rotation_quaternion
    elif mode != AXIS_ANGLE:
        values[DELTA_ROTATION][:3] = item.delta_rotation_euler
    return values
