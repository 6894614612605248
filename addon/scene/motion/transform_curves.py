"""Objects and bones whose world matrices follow from F-curves and from drivers of the frame alone, as arrays.

Such an object and its parents have keyed, driven or constant transform channels, and nothing else that moves
them: no NLA, no physics, and no constraint but a copied location. Such a bone and its parents inherit all of
their parents' motion, and no constraint moves them, not even one of another bone. Blender computes nothing
for them that `core.curves` does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core.curves.expressions import DrivenCurves, Expressions
from ...core.curves.transforms import (
    AXIS_ANGLE,
    CHANNELS,
    DELTA_LOCATION,
    DELTA_ROTATION,
    DELTA_SCALE,
    LOCATION,
    QUATERNION,
    ROTATION,
    SCALE,
    Transforms,
)
from ...core.numeric.arrays import Bools, Floats, Singles
from ..blender.animated import BONE_CONSTRAINTS, BONE_TRANSFORMS, INSTANCING, REST_BONES, VISIBILITY, changing
from ..blender.instances import are_names_readable
from .channels import (
    BONES,
    HIDING,
    ROTATION_MODES,
    ROTATION_PATHS,
    Channel,
    CurveKeys,
    FrameDriver,
    Visibility,
    applied_curves,
    are_identities,
    channels_of_object,
    channels_of_paths,
    frame_driver,
    is_switch,
    joined_curves,
    known_keys,
)

_PATH = re.compile(re.escape(BONES) + r'((?:[^"\\]|\\.)*)"\]\.(.+)')
"""Data path of a bone: its name, with escapes, and the path below it."""


Key: TypeAlias = int | tuple[int, str]
"""Key of an object, its session_uid; of a bone, that of the armature's object, and its name."""


class Animated(NamedTuple):
    """An object or bone that nothing but curves and its parent may move.

    above : Key of its parent; None for none.
    rest : (CHANNELS,) float32. Values of its channels that nothing animates.
    inverse : (4, 4) float32. Inverse of the parent; of a bone, its matrix at rest in the space of that.
    mode : Rotation mode.
    """

    key: Key
    above: Key | None
    rest: Singles
    inverse: Singles
    mode: int
    channels: list[Channel]


def movable_bones(item: bpy.types.Object) -> list[Animated]:
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
    constrained, uid = _constrained_bones(item), item.session_uid
    found: dict[str, Animated] = {}
    for bone in armature.bones:
        posed, parent = pose.bones[bone.name], bone.parent
        # A single segment that moves with all its parent does.
        inherits_all = (
            bone.use_inherit_rotation
            and bone.inherit_scale == "FULL"
            and bone.use_local_location
            and bone.bbone_segments == 1
        )
        has_known_parent = parent is None or parent.name in found
        if bone.name in constrained or not (inherits_all and has_known_parent):
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
        above = uid if parent is None else (uid, parent.name)
        key = uid, bone.name
        found[bone.name] = Animated(key, above, rest, offset.astype(np.float32), mode, channels)
    return list(found.values())


def _curves_by_bone(item: bpy.types.Object) -> dict[str, list[tuple[str, bpy.types.FCurve]]] | None:
    """Return the curves of each bone with their paths below the bone; None if they are not all there is."""
    curves, pose = applied_curves(item), item.pose
    if curves is None:
        return None
    names = {bpy.utils.escape_identifier(bone.name): bone.name for bone in pose.bones}
    result: dict[str, list[tuple[str, bpy.types.FCurve]]] = {}
    for curve in curves:
        if not curve.data_path.startswith("pose."):
            continue
        found = _PATH.fullmatch(curve.data_path)
        if found is not None and found[1] in names:
            if BONE_TRANSFORMS.fullmatch(curve.data_path):
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


def _rest_values(item: Any, mode: int) -> Singles:
    """Return the values (CHANNELS,) of all channels of a bone, or an object without delta transforms, now."""
    values: Singles = np.zeros(CHANNELS, dtype=np.float32)
    values[LOCATION], values[SCALE], values[DELTA_SCALE] = item.location, item.scale, 1
    rotation = getattr(item, ROTATION_PATHS.get(mode, "rotation_euler"))
    values[ROTATION][: len(rotation)] = rotation
    if mode == QUATERNION:
        values[DELTA_ROTATION] = 1, 0, 0, 0
    return values


_LOCATIONS = frozenset(
    {*range(LOCATION.start, LOCATION.stop), *range(DELTA_LOCATION.start, DELTA_LOCATION.stop)}
)


@dataclass
class TransformCurves:
    """Reads objects whose motion is known from curves, some at a time.

    No reference to an object of Blender is kept.

    index_of : Index of each known object, and of each known bone that was read, in the transforms.
    hidden_by : list of (CurveKeys or None). The curve that hides and shows each known object, if there is
        one.
    """

    index_of: dict[Key, int] = field(default_factory=dict)
    hidden_by: list[CurveKeys | None] = field(default_factory=list)
    # Session_uids of objects that were read, whether they are known or not; of those that are not; and of
    # armatures' objects whose bones were read.
    _read: set[int] = field(default_factory=set)
    _unknown: set[Key] = field(default_factory=set)
    _with_bones: set[int] = field(default_factory=set)
    # Channels at rest, inverse of the parent, rotation mode, and parent of each.
    _rows: list[tuple[Singles, Singles, int, int]] = field(default_factory=list)
    _curves: list[tuple[int, int, CurveKeys]] = field(default_factory=list)
    _drivers: list[tuple[int, int, FrameDriver]] = field(default_factory=list)

    def read(
        self,
        scene: bpy.types.Scene,
        objects: Iterable[bpy.types.Object],
        times: tuple[float, float],
        with_bones: bool = False,
    ) -> None:
        """Read original objects and all their parents, as far as their motion between `times` is known.

        with_bones : Whether to read the bones of armatures' objects too.
        """
        if scene.render.frame_map_old != scene.render.frame_map_new:
            return
        # Parents before children.
        found: list[Animated] = []
        for item in objects:
            if self._add(item, found) and with_bones and item.type == "ARMATURE":
                self._add_bones(item, found)
        curves = [curve for each in found for _, curve in each.channels]
        known = known_keys(curves, times)
        is_identity: Bools = np.zeros(len(curves), dtype=bool)
        if any(curve.driver is not None for curve in curves):
            is_identity = are_identities(
                [None if curve.driver is None else keys for curve, keys in zip(curves, known, strict=True)]
            )
        read = (
            keys if curve.driver is None else frame_driver(curve, keys, is_map)
            for curve, keys, is_map in zip(curves, known, is_identity.tolist(), strict=True)
        )
        for key, above, rest, inverse, mode, channels in found:
            sources = [(channel, next(read)) for channel, _ in channels]
            if not (above is None or above in self.index_of) or any(
                source is None or (channel == HIDING and not is_switch(source)) for channel, source in sources
            ):
                self._unknown.add(key)
                continue
            row = self.index_of[key] = len(self._rows)
            self._rows.append((rest, inverse, mode, -1 if above is None else self.index_of[above]))
            self.hidden_by.append(None)
            for channel, source in sources:
                if isinstance(source, FrameDriver):
                    self._drivers.append((row, channel, source))
                elif channel == HIDING:
                    self.hidden_by[-1] = source
                elif source is not None:
                    self._curves.append((row, channel, source))

    def _add_bones(self, item: bpy.types.Object, found: list[Animated]) -> None:
        if item.session_uid not in self._with_bones:
            self._with_bones.add(item.session_uid)
            found += movable_bones(item)

    def _add(self, item: bpy.types.Object, found: list[Animated]) -> bool:
        """Add an object after its parents; return whether nothing but curves may move it."""
        uid, parent = item.session_uid, item.parent
        if uid in self._read:
            return uid not in self._unknown
        self._read.add(uid)
        # In case of a circle of parents the object is unknown until all of them are.
        self._unknown.add(uid)
        # Another object may give this one its location.
        source: Any = _source_of_location(item)
        if source is None or not (parent is None or self._add(parent, found)):
            return False
        channels = channels_of_object(item)
        of_source = channels if source == item else channels_of_object(source)
        if channels is None or of_source is None:
            return False
        if source != item:
            channels = [each for each in channels if each[0] not in _LOCATIONS]
            channels += [each for each in of_source if each[0] in _LOCATIONS]
        mode = ROTATION_MODES[item.rotation_mode]
        values: Any = _rest_values(item, mode)
        values[LOCATION], values[DELTA_LOCATION] = source.location, source.delta_location
        values[DELTA_SCALE] = item.delta_scale
        if mode == QUATERNION:
            values[DELTA_ROTATION] = item.delta_rotation_quaternion
        elif mode != AXIS_ANGLE:
            values[DELTA_ROTATION][:3] = item.delta_rotation_euler
        inverse = np.array(item.matrix_parent_inverse, dtype=np.float32)
        above: Key | None = None if parent is None else parent.session_uid
        if parent is not None and item.parent_type == "BONE":
            self._add_bones(parent, found)
            above = parent.session_uid, item.parent_bone
            # From the tail of the bone to its head.
            from_tail, armature = np.eye(4, dtype=np.float32), parent.data
            assert isinstance(armature, bpy.types.Armature), "others have no bones"
            from_tail[1, 3] = armature.bones[item.parent_bone].length
            inverse = from_tail @ inverse
        self._unknown.discard(uid)
        found.append(Animated(uid, above, values, inverse, mode, channels))
        return True

    def transforms(self) -> Transforms:
        """Return the transforms of all known objects."""
        count = len(self._rows)
        columns: Any = zip(*self._rows, strict=True) if count else ([], [], [], [])
        rests, inverses, modes, parents = columns
        rest = np.array(rests, dtype=np.float32).reshape(count, CHANNELS)
        inverse = np.array(inverses, dtype=np.float32).reshape(count, 4, 4)
        curve_of = np.full((count, CHANNELS), -1)
        for number, (row, channel, _) in enumerate([*self._curves, *self._drivers]):
            curve_of[row, channel] = number
        curves = joined_curves([keys for *_, keys in self._curves])
        if self._drivers:
            drivers = [driver for *_, driver in self._drivers]
            is_mapped = np.array([driver.map is not None for driver in drivers], dtype=bool)
            map_of = np.where(is_mapped, np.cumsum(is_mapped) - 1, -1)
            maps = joined_curves([driver.map for driver in drivers if driver.map is not None])
            expressions = Expressions([driver.expression for driver in drivers], map_of, maps)
            curves = DrivenCurves(curves, expressions)
        numbers = np.array([modes, parents], dtype=np.int64)
        return Transforms(rest, curve_of, numbers[0], numbers[1], inverse, curves)


def may_show_more(items: Iterable[bpy.types.Object], is_wanted: Callable[[bpy.types.Object], bool]) -> bool:
    """Return whether wanted ones of some objects may appear or disappear while their scene plays."""
    return any(
        is_wanted(item) and (changing(item, VISIBILITY) or changing(item, INSTANCING))
        for item in items
        if item.animation_data is not None
    )


def read_visibility(objects: Sequence[bpy.types.Object], times: tuple[float, float]) -> Visibility:
    """Read the keys that hide and show objects between `times`, whatever moves these objects.

    An object that something else may hide as well counts as always shown.
    """
    hiding = [
        [curve for curve in applied_curves(item) or () if curve.data_path == "hide_viewport"]
        for item in objects
    ]
    is_alone = [len(each) == 1 and each[0].driver is None for each in hiding]
    keys = iter(known_keys([each[0] for each, alone in zip(hiding, is_alone, strict=True) if alone], times))
    hidden_by = [next(keys) if alone else None for alone in is_alone]
    return Visibility([source if source is not None and is_switch(source) else None for source in hidden_by])


def _source_of_location(item: bpy.types.Object) -> bpy.types.Object | None:
    """Return the object whose channels locate an object; None if more than they and its parent may move it.

    The object itself without constraints, or the target of one that copies the location.
    """
    parent: Any = item.parent
    is_child_of_tail = True
    if item.parent_type == "BONE":
        bones = parent.data.bones if parent is not None and parent.type == "ARMATURE" else {}
        is_child_of_tail = item.parent_bone in bones and not bones[item.parent_bone].use_relative_parent
    if (
        item.rigid_body is not None
        or item.rigid_body_constraint is not None
        or (parent is not None and (item.parent_type not in ("OBJECT", "BONE") or parent.type == "CURVE"))
        or not is_child_of_tail
    ):
        return None
    constraints: list[Any] = [constraint for constraint in item.constraints if not constraint.mute]
    if not constraints:
        return item
    constraint = constraints[0]
    if len(constraints) > 1 or constraint.type != "COPY_LOCATION" or constraint.influence != 1:
        return None
    is_whole = constraint.use_x and constraint.use_y and constraint.use_z and not constraint.use_offset
    is_inverted = constraint.invert_x or constraint.invert_y or constraint.invert_z
    in_world = constraint.owner_space == constraint.target_space == "WORLD"
    target: bpy.types.Object | None = constraint.target
    if not (is_whole and in_world and target) or is_inverted or constraint.subtarget:
        return None
    # With parents, a location in the world is not that of the channels.
    is_alone = item.parent is None and target.parent is None
    is_free = all(other.mute for other in target.constraints) and _source_of_location(target) is not None
    return target if is_alone and is_free else None
