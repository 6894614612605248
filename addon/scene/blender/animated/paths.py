"""Data paths of the properties of a data-block that are animated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy


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
