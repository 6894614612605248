"""Times within frames at which keyed values turn.

A stroke that begins after a frame and is over at the next one shows at neither. Motion that is not known is
sampled at these times too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from ....core.numeric.arrays import Bools, Floats
from .paths import curves_of_action, users_of_actions

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
        keys = np.empty((len(curve.keyframe_points), 2), dtype=np.float32)
        if len(keys) < 2:
            continue
        curve.keyframe_points.foreach_get("co", keys.reshape(-1))
        is_cyclic = any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)
        frames, values = keys.astype(np.float64).T
        times = frames if is_cyclic else frames[_turns(values)]
        if is_cyclic:
            times = _repeated(times, float(frames[-1] - frames[0]), span)
        yield _of_strip(times, user) if isinstance(user, bpy.types.NlaStrip) else times


def _turns(values: Floats) -> Bools:
    """Mask (k,) of keys between two that do not go on in the same direction."""
    rises = np.sign(np.diff(values))
    result: Bools = np.concatenate([[False], rises[1:] != rises[:-1], [False]])
    return result


def _repeated(times: Floats, duration: float, span: tuple[float, float]) -> Floats:
    """Repeat times in cycles, as far as a span reaches."""
    first, last = (math.floor((edge - times[0]) / duration) for edge in span) if duration > 0 else (0, 0)
    if last - first > _MOST:
        return times
    return (times + duration * np.arange(first - 1, last + 2)[:, None]).ravel()


def _of_strip(times: Floats, strip: bpy.types.NlaStrip) -> Floats:
    """Convert times of an action to those of a strip that plays it, once or more often."""
    length = strip.action_frame_end - strip.action_frame_start
    inside = np.clip(times, strip.action_frame_start, strip.action_frame_end) - strip.action_frame_start
    inside = length - inside if strip.use_reverse else inside
    count = min(math.ceil(strip.repeat), _MOST)
    return strip.frame_start + strip.scale * (inside + length * np.arange(count)[:, None]).ravel()
