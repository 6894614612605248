"""Changes while a scene plays: animated properties, and objects that deform or are simulated.

*Switches* are properties by which the source of a motion is chosen. Their values now are not enough, because
they may be animated themselves: a constraint that is muted now may move bones later.

A stroke that begins after a frame and is over at the next one shows at neither. Motion that is not known is
sampled at the times at which values turn, too.

Also edits that an update of the dependency graph reports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import bpy
import numpy as np

from ...core.numeric.arrays import Floats
from ..settings import Modifiers
from .instances import full_name_of
from .mesh_data import copied


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


TRANSFORM = re.compile(
    f"(?!{_BONE}|{_NAME}$|color|display_|lock_|hide_render|hide_select|pass_index|show_(?!instancer)).*",
    re.DOTALL,
)
"""All of an object but what neither its matrix nor its visibility depends on. Bones do not move it."""
BONE_TRANSFORMS = re.compile(
    rf"{_BONE}\.(?!bbone_|color|custom_shape|hide|ik_|lock_|select|use_custom).*", re.DOTALL
)
"""All of bones but what their matrices do not depend on without constraints and segments."""
BONE_CONSTRAINTS = re.compile(rf"{_BONE}\.constraints\[.*", re.DOTALL)
"""Constraints of bones: muted or not, and how many bones they move."""
VISIBILITY = re.compile("hide_viewport")
INSTANCING = re.compile("instance_type|show_instancer_for_viewport")
"""Whether an object shows instances, and is shown itself as well."""
REST_BONES = re.compile(".*", re.DOTALL)
"""Rest position, inheritance and segments of bones, which of them deform, and anything else."""
VERTICES = re.compile(".*", re.DOTALL)
SIMPLIFICATION = re.compile(r"render\..*simplify.*", re.DOTALL)
"""How much less modifiers do in the whole scene. The settings of time cannot be animated."""


def changing(owner: Any, switch: re.Pattern[str] | None = None) -> set[str]:
    """Return the data paths of properties of a data-block that may change while the scene plays.

    These have keys, in the NLA too, or drivers.
    """
    curves = [] if owner.animation_data is None else [*owner.animation_data.drivers]
    for user in users_of_actions(owner):
        curves += curves_of_action(user)
    return {curve.data_path for curve in curves if switch is None or switch.fullmatch(curve.data_path)}


# ---- Times within frames at which keyed values turn

_MOST = 10_000
"""Cycles or repeats up to which the keys of a curve are repeated. More would take too long for their use."""
_NEAR = 1e-3
"""Time in frames within which two times are one, and a time is a whole frame."""


def turning_times(depsgraph: bpy.types.Depsgraph, times: Sequence[float]) -> list[float]:
    """Find the keys within frames at which a value is larger or smaller than just before or after, or stops.

    Those of everything that the scene depends on count. Drivers, and what modifiers of curves other than
    cycles add to a value, have no keys.

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
    return list(turns[np.diff(turns, prepend=-np.inf) > _NEAR].tolist())


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


_INSTANCING = ("Instance", "ObjectInfo", "CollectionInfo", "StringToCurves", "Import", "GreasePencil", "Bake")
"""Parts of the names of nodes that can make instances, or read them."""


def _has_node(item: bpy.types.Modifier, parts: Iterable[str]) -> bool:
    """Return whether a node of a modifier, or of a group in it, has any of these parts in its type."""
    waiting, seen = [getattr(item, "node_group", None)], set()
    while waiting:
        tree = waiting.pop()
        if tree is None or (name := full_name_of(tree)) in seen:
            continue
        if any(part in node.bl_idname for node in tree.nodes for part in parts):
            return True
        seen.add(name)
        waiting += [getattr(node, "node_tree", None) for node in tree.nodes]
    return False


def may_have_instances(item: bpy.types.Object) -> bool:
    """Return whether an original object may show instances at any frame. Conservative."""
    return bool(item.is_instancer or changing(item, INSTANCING)) or any(
        modifier.type == "PARTICLE_SYSTEM" or (modifier.type == "NODES" and _has_node(modifier, _INSTANCING))
        for modifier in item.modifiers
    )


_RIGID_PARENTS = frozenset({"OBJECT", "BONE", "VERTEX", "VERTEX_3"})
"""Kinds of parents that move their children without deforming them."""
_SIMULATED = frozenset({"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "EXPLODE"})
_SIMULATION_NODES = ("GeometryNodeSimulationInput", "GeometryNodeSimulationOutput")
_DEPENDENCY_TYPES = frozenset(
    {
        *("ARMATURE", "COLLECTION", "CURVE", "CURVES", "KEY", "LATTICE"),
        *("MESH", "META", "NODETREE", "OBJECT", "PARTICLE"),
    }
)
"""Types of data-blocks through which one object can depend on another."""


def may_deform(item: bpy.types.Object, modifiers: Modifiers) -> bool:
    """Return whether the vertices of an original object may move in object space during the animation."""
    if item.type != "MESH" or item.data is None or getattr(item.data, "is_editmode", False):
        return True
    if changing(item.data, VERTICES):
        return True
    if modifiers == "base":
        return False
    shape_keys = getattr(item.data, "shape_keys", None)
    is_bent_by_parent = item.parent is not None and item.parent_type not in _RIGID_PARENTS
    return bool(item.modifiers) or shape_keys is not None or is_bent_by_parent


def physics_settings(scene: bpy.types.Scene) -> tuple[object, ...]:
    """Return the settings of a scene that rigid bodies depend on."""
    world: Any = scene.rigidbody_world
    gravity: Any = scene.gravity
    settings: tuple[object, ...] = (tuple(gravity), scene.use_gravity)
    if world is None:
        return settings
    names = ("enabled", "time_scale", "substeps_per_frame", "solver_iterations", "use_split_impulse")
    groups = [getattr(group, "session_uid", None) for group in (world.collection, world.constraints)]
    weights = world.effector_weights
    forces = [] if weights is None else [getattr(weights, name, None) for name in ("all", "gravity", "wind")]
    return (*settings, *(getattr(world, name) for name in names), *groups, *forces)


@dataclass(frozen=True)
class Simulations:
    """Simulated objects of a scene.

    uids : session_uids of objects whose motion or shape comes from a simulation, or depends on one that does.
        The set is conservative: it can contain objects that are not simulated, but misses none.
    first_frame : Frame of the timeline at which the first simulation that is not baked begins; None if there
        is none. Its cache fills frame by frame, so playing frames out of order would corrupt it.
    """

    uids: frozenset[int]
    first_frame: int | None

    @classmethod
    def of(cls, scene: bpy.types.Scene) -> Simulations:
        """Find simulations by rigid bodies, modifiers and nodes, and all objects that depend on them.

        The scene must be the active one.
        """
        depsgraph = bpy.context.evaluated_depsgraph_get()
        # From the dependency graph, because objects that are only instanced are not in `scene.objects`.
        items = [block.original for block in depsgraph.ids if isinstance(block, bpy.types.Object)]
        simulated: set[bpy.types.Object] = set()
        starts: list[int] = []
        world = scene.rigidbody_world
        if world is not None and world.collection is not None and _is_enabled(scene, world, "enabled"):
            simulated |= {item for item in items if item.rigid_body is not None}
            if simulated and not world.point_cache.is_baked:
                starts.append(_first_timeline_frame(scene, world.point_cache))
        for item in items:
            for modifier in item.modifiers:
                has_nodes = modifier.type == "NODES" and _has_node(modifier, _SIMULATION_NODES)
                if not (has_nodes or modifier.type in _SIMULATED):
                    continue
                if _is_enabled(item, modifier, "show_viewport"):
                    simulated.add(item)
                    cache = _cache_of(modifier)
                    if cache is None or not cache.is_baked:
                        starts.append(_first_timeline_frame(scene, cache))
        if not simulated:
            return cls(frozenset(), None)
        objects = (block for block in dependents_of(simulated) if isinstance(block, bpy.types.Object))
        return cls(frozenset(block.session_uid for block in objects), min(starts) if starts else None)

    def restart(self, scene: bpy.types.Scene) -> None:
        """Let the active scene's simulations that are not baked be simulated again from their start.

        That is not needed for what Blender has simulated in order. But where the playhead jumped, also to the
        frame of a file that was just opened, it keeps what it has simulated in one long step. And it stores
        what it interpolates at sub-frames as the frame before, if it did not simulate all frames in one go.
        """
        if self.first_frame is None:
            return
        scene.frame_set(self.first_frame)
        world = scene.rigidbody_world
        has_bodies = world is not None and not world.point_cache.is_baked
        blocks = (block.original for block in bpy.context.evaluated_depsgraph_get().ids)
        for item in [block for block in blocks if isinstance(block, bpy.types.Object)]:
            # Those switched on later do not pass their start, where Blender would begin again.
            shown = (each for each in item.modifiers if each.type in _SIMULATED and each.show_viewport)
            is_simulated = any(not getattr(_cache_of(each), "is_baked", False) for each in shown)
            if is_simulated or (has_bodies and item.rigid_body is not None):
                # As an edit of the object does, this marks its cache as outdated.
                item.update_tag(refresh={"DATA"})


def _first_timeline_frame(scene: bpy.types.Scene, cache: bpy.types.PointCache | None) -> int:
    """Whole frame of the timeline at or before the first frame of a cache, which counts animation frames.

    Without a cache it is that of the scene.
    """
    if cache is None:
        return scene.frame_start
    return math.floor(cache.frame_start * scene.render.frame_map_new / scene.render.frame_map_old)


def _cache_of(modifier: Any) -> bpy.types.PointCache | None:
    """Cache of a simulated modifier; None where baking is not exposed, as of nodes."""
    system = getattr(modifier, "particle_system", None)
    cache: bpy.types.PointCache | None
    cache = getattr(modifier if system is None else system, "point_cache", None)
    return cache


def _is_enabled(owner: bpy.types.ID, part: bpy.types.bpy_struct, switch: str) -> bool:
    """Return whether a switch of a part of a data-block is on, or may be at another frame."""
    return getattr(part, switch) or part.path_from_id(switch) in changing(owner)


def dependents_of(blocks: Iterable[bpy.types.ID]) -> set[bpy.types.ID]:
    """Return original data-blocks and all that refer to them, directly or through others.

    References are parents, constraints, modifiers, drivers and instances. Sharing a scene or a material is
    not a dependency.
    """
    waiting = list(blocks)
    seen = set(waiting)
    # The type stubs of Blender 4.2 declare the other arguments as required.
    users = bpy.data.user_map(value_types=set(_DEPENDENCY_TYPES))  # type: ignore[call-arg, unused-ignore]
    while waiting:
        more = users.get(waiting.pop(), set()) - seen
        seen |= more
        waiting += more
    return seen


def _updated(depsgraph: bpy.types.Depsgraph, *flags: str) -> Iterator[bpy.types.ID]:
    """Iterate over the evaluated data-blocks whose updates have one of several flags."""
    updates: Any = depsgraph.updates
    values = np.zeros((len(flags), len(updates)), dtype=bool)
    for row, flag in zip(values, flags, strict=True):
        updates.foreach_get(flag, row)
    # Updates are objects of Python, which are not made if none of them has a flag.
    if values.any():
        yield from (update.id for update in compress(updates, np.any(values, axis=0)))


def updated_geometry_uids(depsgraph: bpy.types.Depsgraph) -> set[int]:
    return {block.original.session_uid for block in _updated(depsgraph, "is_updated_geometry")}


def edited_object_uids(depsgraph: bpy.types.Depsgraph, without_bodies: bool) -> set[int]:
    """Find the session_uids of objects that were moved or edited, optionally without rigid bodies."""
    blocks = _updated(depsgraph, "is_updated_geometry", "is_updated_transform")
    objects = (block for block in blocks if isinstance(block, bpy.types.Object))
    return {each.original.session_uid for each in objects if not (without_bodies and each.rigid_body)}


def is_scene_edited(depsgraph: bpy.types.Depsgraph) -> bool:
    """Return whether a property of a scene was edited, of any kind.

    Blender then reports all bodies of its physics as moved, wherever they are.
    """
    blocks = _updated(depsgraph, "is_updated_geometry") if depsgraph.id_type_updated("SCENE") else ()
    return any(isinstance(block, bpy.types.Scene) for block in blocks)


def is_transforming() -> bool:
    """Return whether a transform operator is running.

    Blender reports the objects of such an operator as updated before they move.
    """
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    operators = (operator for window in windows for operator in window.modal_operators)
    return any(operator.bl_idname.startswith("TRANSFORM_OT_") for operator in operators)


def last_operator_pointer() -> int:
    """Return the address of the operator that finished last, 0 for none. A canceled one does not finish."""
    operators = [manager.operators[-1:] for manager in bpy.data.window_managers]
    return next((last[0].as_pointer() for last in operators if last), 0)
