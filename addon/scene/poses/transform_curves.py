"""Objects whose world matrices follow from F-curves alone, read as arrays.

Such an object and its parents have keyed or constant transform channels, and nothing else that moves them:
no constraint, driver, NLA, physics or modifier of a curve. Blender computes nothing for them that
`core.curves` does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.curves.bezier import Singles
from ...core.curves.easings import FAMILIES, MODES, easing_code
from ...core.curves.keyframes import Curves
from ...core.curves.rotation import AXIS_ANGLE, EULER_ORDERS, QUATERNION
from ...core.curves.segments import BEZIER, CONSTANT, EASED, LINEAR, Keys
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
from ...core.numeric.arrays import Ints
from ..blender.simulation import animated_paths

_INTERPOLATIONS = {"CONSTANT": CONSTANT, "LINEAR": LINEAR, "BEZIER": BEZIER}
_EASING_OUT = frozenset({"BACK", "BOUNCE", "ELASTIC"})
"""Families that ease out where the easing is automatic; the others ease in."""
_MODES = {mode: number for number, mode in enumerate(EULER_ORDERS)} | {
    "QUATERNION": QUATERNION,
    "AXIS_ANGLE": AXIS_ANGLE,
}
_ROTATIONS = {QUATERNION: "rotation_quaternion", AXIS_ANGLE: "rotation_axis_angle"}
_ROTATION_PATHS = frozenset({"rotation_euler", *_ROTATIONS.values()})
_CURVES_OF = {"location": LOCATION.start, "scale": SCALE.start, "delta_location": DELTA_LOCATION.start}
_PATHS_THAT_MOVE_NOTHING = ("color", "show_", "display_", "lock_", "hide_render", "hide_select", "pass_index")
"""Beginnings of data paths of an object that neither its matrix nor its visibility depends on."""


_LARGEST = 1e9
"""Times and values of keys up to which no number overflows."""


_NO_POINTS: Singles = np.empty((0, 2), dtype=np.float32)
_NO_KEYS = Keys(
    _NO_POINTS, _NO_POINTS, _NO_POINTS, np.empty(0, dtype=np.int64), np.empty((0, 3), dtype=np.float32)
)


class _Curve(NamedTuple):
    """Keys of an F-curve, and whether it goes on in a straight line before and after them."""

    keys: Keys
    is_extrapolated: bool


class TransformCurves:
    """Reads objects whose motion is known from curves.

    Attributes
    ----------
    index_of : dict
        Index of each known object in the transforms, by its session_uid.
    """

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object]) -> None:
        """Read the original objects, and all their parents, as far as their motion is known."""
        self.index_of: dict[int, int] = {}
        self._unknown: set[int] = set()
        self._objects: list[bpy.types.Object] = []
        self._parents: list[int] = []
        self._curves: list[tuple[int, int, _Curve]] = []
        if scene.render.frame_map_old == scene.render.frame_map_new:
            for item in objects:
                self._add(item)

    def _add(self, item: bpy.types.Object) -> bool:
        """Add an object after its parents; return whether its motion is known."""
        uid = item.session_uid
        if uid in self.index_of or uid in self._unknown:
            return uid in self.index_of
        # In case of a circle of parents the object is unknown until all of them are.
        self._unknown.add(uid)
        channels = None
        if not _is_moved_by_others(item) and (item.parent is None or self._add(item.parent)):
            channels = _channels_of(item)
        if channels is None:
            return False
        self._unknown.discard(uid)
        self.index_of[uid] = number = len(self._objects)
        self._objects.append(item)
        self._parents.append(-1 if item.parent is None else self.index_of[item.parent.session_uid])
        self._curves += [(number, channel, keys) for channel, keys in channels]
        return True

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
            rest, curve_of, modes, parents, inverse, _joined([keys for *_, keys in self._curves])
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


def _channels_of(item: bpy.types.Object) -> list[tuple[int, _Curve]] | None:
    """Return the animated channels of an object with their keys; None if curves are not all there is."""
    animation = item.animation_data
    if animation is None:
        return []
    if animation.use_tweak_mode or any(not track.mute for track in animation.nla_tracks):
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
        keys = None if len(curve.modifiers) else _known_keys(curve)
        if keys is None:
            return None
        channels.append((start + index, keys))
    return channels


def _known_keys(curve: bpy.types.FCurve) -> _Curve | None:
    """Read the keys of a curve; None if it has none, or one of a kind that `core.curves` does not know."""
    keys: Any = curve.keyframe_points
    count = len(keys)
    codes, easings = np.zeros((2, count), dtype=np.int32)
    points, settings = np.zeros((3, count, 2), dtype=np.float32), np.zeros((3, count), dtype=np.float32)
    keys.foreach_get("interpolation", codes)
    table = _interpolation_table()
    # Few curves are eased. Each copy takes a microsecond.
    if (table[codes] >= EASED).any():
        keys.foreach_get("easing", easings)
        for values, name in zip(settings, ("back", "amplitude", "period"), strict=True):
            keys.foreach_get(name, values)
    for name, values in zip(("co", "handle_left", "handle_right"), points, strict=True):
        keys.foreach_get(name, values.reshape(-1))
    kinds: Ints = table[codes, easings]
    # Not a number compares as False.
    if not (count and (kinds >= 0).all() and (np.abs(points) <= _LARGEST).all()):
        return None
    return _Curve(Keys(points[0], points[1], points[2], kinds, settings.T), curve.extrapolation == "LINEAR")


@lru_cache(maxsize=1)
def _interpolation_table() -> Ints:
    """Interpolation of keys in `core.curves` by the numbers that Blender gives it and its easing.

    -1 for those that it does not know.
    """
    properties: Any = bpy.types.Keyframe.bl_rna.properties
    kinds, easings = properties["interpolation"].enum_items, properties["easing"].enum_items
    table = np.full([max(item.value for item in items) + 1 for items in (kinds, easings)], -1)
    for kind in kinds:
        table[kind.value] = _INTERPOLATIONS.get(kind.identifier, -1)
        for easing in easings if kind.identifier in FAMILIES else ():
            automatic = "EASE_OUT" if kind.identifier in _EASING_OUT else "EASE_IN"
            mode = easing.identifier if easing.identifier in MODES else automatic
            table[kind.value, easing.value] = EASED + easing_code(kind.identifier, mode)
    return table


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


def _joined(curves: Sequence[_Curve]) -> Curves:
    """Join the keys of curves."""
    counts = [len(curve.keys.points) for curve in curves]
    starts: Ints = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    columns = zip(_NO_KEYS, *(curve.keys for curve in curves), strict=True)
    is_extrapolated = np.array([curve.is_extrapolated for curve in curves], dtype=bool)
    return Curves(Keys(*map(np.concatenate, columns)), starts, is_extrapolated)
