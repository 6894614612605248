"""Channels of objects and bones, what animates them, and the keys of F-curves as arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core.curves.easings import EASING_CODES, FAMILIES, MODES
from ...core.curves.expressions import Expression, expression_of
from ...core.curves.keyframes import (
    BEZIER,
    CONSTANT,
    EASED,
    EXTRAPOLATED,
    LINEAR,
    Curves,
    Keys,
    rounded_times,
)
from ...core.curves.transforms import (
    AXIS_ANGLE,
    CHANNELS,
    DELTA_LOCATION,
    EULER_ORDERS,
    LOCATION,
    QUATERNION,
    ROTATION,
    SCALE,
)
from ...core.numeric.arrays import Bools, Floats, Ints, Singles
from ..blender.animated import TRANSFORM, curves_of_action

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
_CHANNELS_OF = {
    "location": range(LOCATION.start, LOCATION.stop),
    "scale": range(SCALE.start, SCALE.stop),
    "delta_location": range(DELTA_LOCATION.start, DELTA_LOCATION.stop),
    "hide_viewport": range(HIDING, HIDING + 1),
}
BONES = 'pose.bones["'
"""Beginning of data paths of bones."""


def applied_curves(item: bpy.types.Object) -> list[bpy.types.FCurve] | None:
    """Return the curves and drivers' curves that animate an object; None if these are not all there is."""
    animation = item.animation_data
    if animation is None:
        return []
    tracks = animation.nla_tracks
    if animation.use_tweak_mode:
        return None
    if len(tracks) and animation.use_nla:
        # While there are tracks, even muted ones, these settings apply to the action.
        is_whole = animation.action_influence == 1 and animation.action_blend_type == "REPLACE"
        if not (
            is_whole and animation.action_extrapolation == "HOLD" and all(track.mute for track in tracks)
        ):
            return None
    return [
        curve
        for curve in (*curves_of_action(animation), *animation.drivers)
        if not (curve.mute or (curve.group is not None and curve.group.mute))
    ]


def channels_of_object(item: bpy.types.Object) -> list[Channel] | None:
    """Return the animated channels of an object; None if these are not all there is."""
    curves = applied_curves(item)
    if curves is None:
        return None
    moving = ((curve.data_path, curve) for curve in curves if TRANSFORM.fullmatch(curve.data_path))
    return channels_of_paths(moving, ROTATION_MODES[item.rotation_mode])


def channels_of_paths(curves: Iterable[tuple[str, bpy.types.FCurve]], mode: int) -> list[Channel] | None:
    """Return the channels of data paths, each with its curve; None for a path that is no channel.

    curves : iterable of (str, bpy.types.FCurve). Data paths below the object or bone, and their curves.
    mode : Rotation mode. Rotations of other modes are ignored.
    """
    found: dict[int, bpy.types.FCurve] = {}
    for path, curve in curves:
        channels = _CHANNELS_OF.get(path)
        if path in _ALL_ROTATIONS:
            count = 4 if mode in ROTATION_PATHS else 3
            is_of_mode = path == ROTATION_PATHS.get(mode, "rotation_euler")
            channels = range(ROTATION.start, ROTATION.start + (count if is_of_mode else 0))
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


_INTERPOLATIONS = {"CONSTANT": CONSTANT, "LINEAR": LINEAR, "BEZIER": BEZIER}
_EASING_OUT = frozenset({"BACK", "BOUNCE", "ELASTIC"})
"""Families that ease out where the easing is automatic; the others ease in."""
_LARGEST = 1e9
"""Times and values of keys up to which no number overflows."""
_MOST_KEYS = 10_000
"""Keys of a cyclic curve with all that are repeated. More would take too long for their use."""

_NO_POINTS: Singles = np.empty((0, 2), dtype=np.float32)
_NO_KEYS = Keys(
    _NO_POINTS, _NO_POINTS, _NO_POINTS, np.empty(0, dtype=np.int64), np.empty((0, 3), dtype=np.float32)
)


class CurveKeys(NamedTuple):
    """Keys of an F-curve, and whether it goes on in a straight line before and after them."""

    keys: Keys
    is_extrapolated: bool


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
            table[kind.value, easing.value] = EASED + EASING_CODES[kind.identifier, mode]
    return table


_INTERPOLATION_TABLE = _interpolation_table()


def known_keys(curves: Sequence[bpy.types.FCurve], times: tuple[float, float]) -> list[CurveKeys | None]:
    """Read the keys of curves, and repeat them between `times` in frames where a curve is cyclic.

    None for a curve that has no keys, or a key or modifier of a kind that `core.curves` does not know.
    """
    every: list[Any] = [curve.keyframe_points for curve in curves]
    starts = np.cumsum([0, *map(len, every)])
    spans = [slice(*ends) for ends in pairwise(starts.tolist())]
    points = np.empty((3, starts[-1], 2), dtype=np.float32)
    codes, settings = np.zeros((2, starts[-1]), dtype=np.int32), np.zeros((starts[-1], 3), dtype=np.float32)
    # Each read takes a microsecond, and each operation on an array that is made for one curve another.
    for items, span in zip(every, spans, strict=True):
        items.foreach_get("interpolation", codes[0, span])
        items.foreach_get("co", points[0, span].reshape(-1))
        items.foreach_get("handle_left", points[1, span].reshape(-1))
        items.foreach_get("handle_right", points[2, span].reshape(-1))
    curve_of = np.repeat(np.arange(len(every)), np.diff(starts))
    for eased in np.unique(curve_of[_INTERPOLATION_TABLE[codes[0], 0] >= EASED]).tolist():
        every[eased].foreach_get("easing", codes[1, spans[eased]])
        for column, name in enumerate(("back", "amplitude", "period")):
            values = np.empty(len(every[eased]), dtype=np.float32)
            every[eased].foreach_get(name, values)
            settings[spans[eased], column] = values
    kinds = _INTERPOLATION_TABLE[codes[0], codes[1]]
    keys = Keys(points[0], points[1], points[2], kinds, settings)
    is_known = np.diff(starts) > 0
    # Not a number compares as False. Interpolation is -1 where it is not known.
    is_read = (keys.interpolation >= 0) & (np.abs(points) <= _LARGEST).all(axis=(0, 2))
    is_known[curve_of[~is_read]] = False
    result: list[CurveKeys | None] = []
    for curve, span, known in zip(curves, spans, is_known.tolist(), strict=True):
        found = keys.take(span) if known else None
        if found is not None and len(curve.modifiers):
            found = _repeated(curve, found, times)
        result.append(None if found is None else CurveKeys(found, curve.extrapolation == "LINEAR"))
    return result


def _repeated(curve: Any, keys: Keys, times: tuple[float, float]) -> Keys | None:
    """Repeat keys (k,) between `times` as the modifier of a curve does; None for what is not known.

    The times of all repeated keys must be exact in single precision. The curve must not jump from the end of
    a cycle to the begin of the next: Blender would show the end at that time, and not what follows.
    """
    modifiers = [modifier for modifier in curve.modifiers if not modifier.mute]
    duration, change = (keys.points[-1].astype(np.float64) - keys.points[0]).tolist()
    if not modifiers:
        return keys
    modifier, *further = modifiers
    if further or modifier.type != "CYCLES" or modifier.use_restricted_range or modifier.use_influence:
        return None
    if duration == 0:
        return keys
    before = _cycles(modifier, "before", float(keys.points[0, 0] - times[0]) / duration, change)
    after = _cycles(modifier, "after", float(times[1] - keys.points[-1, 0]) / duration, change)
    if before is None or after is None:
        return None
    cycles = np.arange(-before[0], after[0] + 1)
    if len(cycles) * len(keys.points) > _MOST_KEYS:
        return None
    rise = np.where(cycles < 0, before[1], after[1])
    shift = np.stack([cycles * duration, cycles * rise], axis=1)[:, None]
    points, left, right = (
        (values.astype(np.float64) + shift).astype(np.float32)
        for values in (keys.points, keys.left, keys.right)
    )
    exact = keys.points[:, 0].astype(np.float64) + cycles[:, None] * duration
    if (points[..., 0] != exact).any():
        return None
    # The last key of each cycle is the first one of the next, with the handle on its left.
    left[1:, 0] = left[:-1, -1]
    is_kept = np.ones(points.shape[:2], dtype=bool)
    is_kept[:-1, -1] = False
    kinds = np.tile(keys.interpolation, (len(cycles), 1))
    settings = np.tile(keys.settings, (len(cycles), 1, 1))
    return Keys(points, left, right, kinds, settings).take(is_kept)


def _cycles(modifier: Any, side: str, wanted: float, change: float) -> tuple[int, float] | None:
    """Return the number of cycles before or after the keys, and the rise of each; None for what is not known.

    wanted : cycles that are needed
    change : of the value from the first key to the last
    """
    mode, limit = getattr(modifier, f"mode_{side}"), getattr(modifier, f"cycles_{side}")
    count = 0 if mode == "NONE" else max(0, math.ceil(wanted))
    rise = change if mode == "REPEAT_OFFSET" else 0.0
    is_unknown = limit or mode not in ("REPEAT", "REPEAT_OFFSET") or rise != change
    return None if count and is_unknown else (count, rise)


def joined_curves(curves: Sequence[CurveKeys]) -> Curves:
    """Join the keys of curves."""
    counts = [len(curve.keys.points) for curve in curves]
    starts: Ints = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    is_extrapolated = np.array([curve.is_extrapolated for curve in curves], dtype=bool)
    return Curves(Keys.concatenate([_NO_KEYS, *(curve.keys for curve in curves)]), starts, is_extrapolated)


_ENDS = np.array([[0, 0], [1, 1]], dtype=np.float32)
"""Keys of the map from a driver's result to the value of the property, as Blender adds them."""


class FrameDriver(NamedTuple):
    """Expression of a driver, and the keys through which its result goes, if there are any."""

    expression: Expression
    map: CurveKeys | None


def are_identities(curves: Sequence[CurveKeys | None]) -> Bools:
    """Mask (k,) of curves that map each number to itself, if they have the keys that Blender adds."""
    result = np.zeros(len(curves), dtype=bool)
    maps = {k: each for k, each in enumerate(curves) if each is not None and len(each.keys.points) == 2}
    if not maps:
        return result
    joined, rows = joined_curves(list(maps.values())), list(maps)
    keys, segments = joined.keys, joined.segments
    # Keys and handles on the diagonal are not enough: it may bounce between keys, or be constant.
    is_diagonal = (keys.points == np.tile(_ENDS, (len(rows), 1))).all(axis=1)
    for handles in (keys.left, keys.right):
        is_diagonal &= handles[:, 0] == handles[:, 1]
    before, between, after = segments.kind.reshape(-1, 3).T
    is_straight = np.isin(between, (LINEAR, BEZIER)) & (before == EXTRAPOLATED) & (after == EXTRAPOLATED)
    is_straight &= (segments.slope.reshape(-1, 3)[:, ::2] == 1).all(axis=1)
    result[rows] = is_diagonal.reshape(-1, 2).all(axis=1) & is_straight
    return result


def frame_driver(curve: bpy.types.FCurve, keys: CurveKeys | None, is_identity: bool) -> FrameDriver | None:
    """Read a driver that is not muted; None unless it is known how its result follows from the frame.

    keys : keys of its curve, as far as `known_keys` knows them
    is_identity : whether these map each number to itself
    """
    driver: Any = curve.driver
    is_readable = driver.type == "SCRIPTED" and not len(driver.variables) and not driver.use_self
    # Anything but a simple expression is evaluated by Python, and may be refused.
    if not (is_readable and driver.is_valid and driver.is_simple_expression):
        return None
    expression = expression_of(driver.expression)
    if expression is None:
        return None
    if not len(curve.keyframe_points):
        # Blender adds a modifier that changes nothing.
        modifiers: Any = curve.modifiers
        is_unchanged = all(
            modifier.type == "GENERATOR"
            and modifier.mode == "POLYNOMIAL"
            and tuple(modifier.coefficients) == (0, 1)
            and not (modifier.use_additive or modifier.use_influence or modifier.use_restricted_range)
            for modifier in modifiers
        )
        return FrameDriver(expression, None) if is_unchanged else None
    return FrameDriver(expression, keys) if is_identity and not len(curve.modifiers) else None


class Visibility:
    """Visibility of objects (n,).

    is_switched : (n,) bool. Objects that a curve hides and shows; the others are always shown.
    """

    def __init__(self, hidden_by: Sequence[CurveKeys | None]) -> None:
        """Take the curve that hides each object, if there is one."""
        self.is_switched: Bools = np.array([curve is not None for curve in hidden_by], dtype=bool)
        self._curve_of = np.cumsum(self.is_switched) - 1
        self._curves = joined_curves([curve for curve in hidden_by if curve is not None])

    def are_shown(self, objects: Ints, times: Floats | float) -> Bools:
        """Mask of objects that are shown, each at its own time in frames; both are broadcast."""
        result = np.ones(np.broadcast_shapes(objects.shape, np.shape(times)), dtype=bool)
        if self.is_switched[objects].any():
            objects, each_time = np.broadcast_arrays(objects, times)
            is_switched = self.is_switched[objects]
            curves = self._curve_of[objects[is_switched]]
            result[is_switched] = self._curves.values_of(curves, rounded_times(each_time[is_switched])) == 0
        return result

    def switches(self, objects: Ints) -> Floats:
        """Increasing times at which any of some objects (m,) appears or disappears."""
        segments = self._curves.segments
        curve_of = np.repeat(np.arange(self._curves.count), np.diff(segments.first))
        wanted = self._curve_of[objects[self.is_switched[objects]]]
        is_change = (segments.start[:, 1] != segments.end[:, 1]) & np.isin(curve_of, wanted)
        return np.unique(segments.end[is_change, 0]).astype(np.float64)


def is_switch(source: object) -> bool:
    """Return whether a source of a channel is a curve that is 0 or 1 at any time.

    Blender rounds other values by more than one rule.
    """
    if not isinstance(source, CurveKeys):
        return False
    keys = source.keys
    return bool((keys.interpolation == CONSTANT).all() and np.isin(keys.points[:, 1], (0, 1)).all())
