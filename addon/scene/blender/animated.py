"""Data paths that the animation of a data-block changes, and the times at which keyed values turn.

*Switches* are properties by which the source of a motion is chosen. Their values now are not enough, because
they may be animated themselves: a constraint that is muted now may move bones later.

A stroke that begins after a frame and is over at the next one shows at neither. Motion that is not known is
sampled at the times at which values turn, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ...core.numeric.arrays import Floats
from .mesh_data import copied


def animated_paths(owner: Any) -> Iterator[str]:
    """Paths of the properties of a data-block that have keys, in the NLA too, or drivers."""
    if owner.animation_data is not None:
        yield from (curve.data_path for curve in owner.animation_data.drivers)
    for user in users_of_actions(owner):
        yield from (curve.data_path for curve in curves_of_action(user))


def users_of_actions(owner: Any) -> Iterator[Any]:
    """Iterate over the animation of a data-block and its strips, which use actions."""
    animation = getattr(owner, "animation_data", None)
    if animation is None:
        return
    yield animation
    strips = [strip for track in animation.nla_tracks for strip in track.strips]
    while strips:
        strip = strips.pop()
        yield strip
        strips += strip.strips


def curves_of_action(user: Any) -> Iterator[bpy.types.FCurve]:
    """Iterate over the F-curves of the action of an animation or strip that apply to its data-block."""
    action: Any = user.action
    if action is None:
        return
    slot = getattr(user, "action_slot", None)
    if not hasattr(action, "layers") or not len(action.layers):
        # Until Blender 4.3 an action is a list of curves.
        yield from getattr(action, "fcurves", ())
        return
    if slot is None:
        return
    # Objects and their data share an action, with a slot each.
    for layer in action.layers:
        for strip in layer.strips:
            channelbag = strip.channelbag(slot)
            if channelbag is not None:
                yield from channelbag.fcurves


# ---- Properties by which the source of a motion is chosen

_NAME = r'\["(?:[^"\\]|\\.)*"\]'
"""Name of a bone, a constraint or a custom property in a data path, with escapes."""
_BONE = r"pose\.bones" + _NAME


def _switch(paths: str, unrelated: str = "") -> re.Pattern[str]:
    """Pattern of data paths but for unrelated ones."""
    return re.compile(f"(?!(?:{unrelated})$)(?:{paths})" if unrelated else paths, re.DOTALL)


TRANSFORM = _switch(
    ".*",
    unrelated=f"{_BONE}.*|{_NAME}|(?:color|display_|lock_|hide_render|hide_select|pass_index).*"
    "|show_(?!instancer).*",
)
"""All of an object but what neither its matrix nor its visibility depends on. Bones do not move it."""
BONE_TRANSFORMS = _switch(
    rf"{_BONE}\..*",
    unrelated=rf"{_BONE}\.(?:bbone_|color|custom_shape|hide|ik_|lock_|select|use_custom).*",
)
"""All of bones but what their matrices do not depend on without constraints and segments."""
BONE_CONSTRAINTS = _switch(rf"{_BONE}\.constraints\[.*")
"""Constraints of bones: muted or not, and how many bones they move."""
VISIBILITY = _switch("hide_viewport")
INSTANCING = _switch("instance_type|show_instancer_for_viewport")
"""Whether an object shows instances, and is shown itself as well."""
REST_BONES = _switch(".*")
"""Rest position, inheritance and segments of bones, which of them deform, and anything else."""
VERTICES = _switch(".*")
SIMPLIFICATION = _switch(r"render\..*simplify.*")
"""How much less modifiers do in the whole scene. The settings of time cannot be animated."""


def changing(owner: Any, switch: re.Pattern[str]) -> set[str]:
    """Return the data paths of those properties of a data-block that may change while the scene plays."""
    return {path for path in animated_paths(owner) if switch.fullmatch(path)}


# ---- Times within frames at which keyed values turn

_MOST = 10_000
"""Cycles or repeats up to which the keys of a curve are repeated. More would take too long for their use."""
_NEAR = 1e-3
"""Time in frames within which two times are one, and a time is a whole frame."""


def turning_times(depsgraph: bpy.types.Depsgraph, times: Sequence[float]) -> list[float]:
    """Find the keys within frames at which a value is larger or smaller than just before or after, or stops.

    Those of everything that the scene depends on count. Drivers, and what modifiers of curves other than
    cycles add to a value, have no keys.

    depsgraph : Of the scene.
    times : At least two increasing frames of the timeline.
    Returns times : Increasing frames between the first and the last one, none of them whole or one of
        `times`.
    """
    render = depsgraph.scene.render
    stretch = render.frame_map_new / render.frame_map_old
    span = times[0] / stretch, times[-1] / stretch
    users = (user for block in depsgraph.ids for user in users_of_actions(block.original))
    found = [turns for user in users for turns in _turns_of(user, span)]
    turns = np.unique(np.concatenate([*found, []]) * stretch)
    given = np.array(times)
    after = np.clip(np.searchsorted(given, turns), 1, len(given) - 1)
    is_between = (turns > given[after - 1] + _NEAR) & (turns < given[after] - _NEAR)
    turns = turns[is_between & (np.abs(turns - np.round(turns)) > _NEAR)]
    result: list[float] = turns[np.diff(turns, prepend=-np.inf) > _NEAR].tolist()
    return result


def _turns_of(user: Any, span: tuple[float, float]) -> Iterator[Floats]:
    """Iterate over the curves of an action: times of the scene at which each turns."""
    for curve in curves_of_action(user):
        if len(curve.keyframe_points) < 2:
            continue
        keys = copied(curve.keyframe_points, "co", np.float32, (2,))
        is_cyclic = any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)
        frames, values = keys.astype(np.float64).T
        if is_cyclic:
            # Repeated as far as the span reaches.
            cycle = float(frames[-1] - frames[0])
            first, last = (math.floor((edge - frames[0]) / cycle) for edge in span) if cycle > 0 else (0, 0)
            cycles = np.arange(first - 1, last + 2) if last - first <= _MOST else np.zeros(1)
            times = (frames + cycle * cycles[:, None]).ravel()
        else:
            # Keys between two that do not go on in the same direction.
            rises = np.sign(np.diff(values))
            times = frames[1:-1][rises[1:] != rises[:-1]]
        if isinstance(user, bpy.types.NlaStrip):
            # The strip plays the action once or more often.
            length = user.action_frame_end - user.action_frame_start
            inside = np.clip(times, user.action_frame_start, user.action_frame_end) - user.action_frame_start
            inside = length - inside if user.use_reverse else inside
            count = min(math.ceil(user.repeat), _MOST)
            times = user.frame_start + user.scale * (inside + length * np.arange(count)[:, None]).ravel()
        yield times
