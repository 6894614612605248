"""Bones of an armature whose motion follows from F-curves and from drivers of the frame alone.

Such a bone and its parents have keyed, driven or constant channels, inherit all of their parents' motion, and
no constraint moves them, not even one of another bone.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.curves.rotation import QUATERNION
from ...core.curves.segments import Singles
from ...core.curves.transforms import (
    CHANNELS,
    DELTA_LOCATION,
    DELTA_ROTATION,
    DELTA_SCALE,
    LOCATION,
    ROTATION,
    SCALE,
)
from ...core.numeric.arrays import Floats
from ..blender.animated.switches import BONE_CONSTRAINTS, BONE_TRANSFORMS, REST_BONES, changing
from ..blender.names import are_names_readable
from .channels import BONES, ROTATION_MODES, ROTATION_PATHS, Channel, applied_curves, channels_of_paths

_PATH = re.compile(re.escape(BONES) + r'((?:[^"\\]|\\.)*)"\]\.(.+)')
"""Data path of a bone: its name, with escapes, and the path below it."""


class PoseBone(NamedTuple):
    """A bone, as `Transforms` has objects.

    parent : Bone, or the armature's object.
    rest : (CHANNELS,) float32
    offset : (4, 4) float32. Matrix at rest, in the space of its parent at rest.
    """

    name: str
    parent: str | None
    rest: Singles
    offset: Singles
    mode: int
    channels: list[Channel]


def movable_bones(item: bpy.types.Object) -> list[PoseBone]:
    """Read the bones of an armature's object that nothing but curves may move, parents before children."""
    armature: Any = item.data
    pose: Any = item.pose
    if not are_names_readable(armature.bones):
        return []
    curves = _curves_by_bone(item)
    if curves is None or changing(armature, REST_BONES) or armature.is_editmode:
        return []
    if armature.pose_position != "POSE":
        return []
    constrained = _constrained_bones(item)
    found: dict[str, PoseBone] = {}
    for bone in armature.bones:
        posed, parent = pose.bones[bone.name], bone.parent
        is_free = bone.name not in constrained and _inherits_all(bone)
        if not is_free or (parent is not None and parent.name not in found):
            continue
        mode = ROTATION_MODES[posed.rotation_mode]
        channels = channels_of_paths(curves.get(bone.name, []), mode)
        if channels is None or any(channel >= DELTA_LOCATION.start for channel, _ in channels):
            continue
        rest = _rest_values(posed, mode)
        if bone.use_connect:
            # Blender ignores the location of a bone whose head stays at the tail of its parent.
            rest[LOCATION] = 0
            channels = [each for each in channels if not LOCATION.start <= each[0] < LOCATION.stop]
        offset: Floats = np.array(bone.matrix_local, dtype=np.float64)
        if parent is not None:
            offset = np.asarray(np.linalg.solve(np.array(parent.matrix_local, dtype=np.float64), offset))
        name = None if parent is None else parent.name
        found[bone.name] = PoseBone(bone.name, name, rest, offset.astype(np.float32), mode, channels)
    return list(found.values())


def _curves_by_bone(item: bpy.types.Object) -> dict[str, list[tuple[str, bpy.types.FCurve]]] | None:
    """Return the curves of each bone with their paths below the bone; None if they are not all there is."""
    animation, pose = item.animation_data, item.pose
    if animation is None:
        return {}
    curves = applied_curves(animation)
    if curves is None:
        return None
    names = {bpy.utils.escape_identifier(bone.name): bone.name for bone in pose.bones}
    result: dict[str, list[tuple[str, bpy.types.FCurve]]] = {}
    for curve in curves:
        if not curve.data_path.startswith("pose."):
            continue
        found = _PATH.fullmatch(curve.data_path)
        if found is not None and found[1] in names:
            if BONE_TRANSFORMS.has(curve.data_path):
                result.setdefault(names[found[1]], []).append((found[2], curve))
        elif not curve.data_path.endswith('"]'):
            return None
    return result


def _constrained_bones(item: bpy.types.Object) -> set[str]:
    """Return the names of the bones that constraints may move, at any time."""
    pose: Any = item.pose
    found = (_PATH.fullmatch(path) for path in changing(item, BONE_CONSTRAINTS))
    switched = {match[1] for match in found if match is not None}
    names = set()
    for bone in pose.bones:
        is_switched = bool(switched) and bpy.utils.escape_identifier(bone.name) in switched
        for constraint in bone.constraints:
            if constraint.mute and not is_switched:
                continue
            names.add(bone.name)
            if constraint.type in ("IK", "SPLINE_IK"):
                above = bone.parent_recursive
                # A chain begins at the bone, or at its parent. Another solver may move all.
                is_fixed = pose.ik_solver == "LEGACY" and not is_switched
                count = constraint.chain_count if is_fixed else 0
                begins_here = getattr(constraint, "use_tail", True)
                above = above[: count - begins_here if count else len(above)]
                names.update(parent.name for parent in above)
    return names


def _inherits_all(bone: Any) -> bool:
    """Return whether a bone is a single segment and moves with all its parent does."""
    return bool(
        bone.use_inherit_rotation
        and bone.inherit_scale == "FULL"
        and bone.use_local_location
        and bone.bbone_segments == 1
    )


def _rest_values(bone: Any, mode: int) -> Singles:
    """Return the values (CHANNELS,) of all channels of a bone now."""
    values: Singles = np.zeros(CHANNELS, dtype=np.float32)
    values[LOCATION], values[SCALE], values[DELTA_SCALE] = bone.location, bone.scale, 1
    rotation = getattr(bone, ROTATION_PATHS.get(mode, "rotation_euler"))
    values[ROTATION][: len(rotation)] = rotation
    if mode == QUATERNION:
        values[DELTA_ROTATION] = 1, 0, 0, 0
    return values
