"""What may change from frame to frame: vertices that move in their own space, and simulations."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import bpy

from .extraction import Modifiers

_RIGID_PARENTS = frozenset({"OBJECT", "BONE", "VERTEX", "VERTEX_3"})
"""Other kinds of parents deform their children."""
_SIMULATED = frozenset({"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT", "PARTICLE_SYSTEM", "EXPLODE"})
_SIMULATION_NODES = frozenset({"GeometryNodeSimulationInput", "GeometryNodeSimulationOutput"})
_PASSED_ON = frozenset(
    {
        "ARMATURE",
        "COLLECTION",
        "CURVE",
        "CURVES",
        "KEY",
        "LATTICE",
        "MESH",
        "META",
        "NODETREE",
        "OBJECT",
        "PARTICLE",
    }
)
"""Kinds of data by which one object may go by another: its own, and those between."""


def may_deform(item: bpy.types.Object, modifiers: Modifiers) -> bool:
    """Whether an original object's vertices may move in its own space while frames go by."""
    if item.type != "MESH" or item.data is None or getattr(item.data, "is_editmode", False):
        return True
    if item.data.animation_data is not None:
        return True
    if modifiers == "base":
        return False
    shape_keys = getattr(item.data, "shape_keys", None)
    bends = item.parent is not None and item.parent_type not in _RIGID_PARENTS
    return bool(item.modifiers) or shape_keys is not None or bends


@dataclass(frozen=True)
class Simulations:
    """What of a scene is simulated.

    uids : objects whose motion or shape comes from a simulation, or hangs on one that does
    first_frame : of the timeline, where the first simulation begins that has not been baked, None when there
        is none. Its cache fills frame by frame: played out of order, it would hold nonsense.
    """

    uids: frozenset[int]
    first_frame: int | None

    @classmethod
    def of(cls, scene: bpy.types.Scene) -> Simulations:
        """Found by rigid bodies, modifiers and geometry nodes, and followed to all that may go by them.

        The scene must be the one on show.
        """
        depsgraph = bpy.context.evaluated_depsgraph_get()
        # What only instances show is no object of the scene.
        items = [block.original for block in depsgraph.ids if isinstance(block, bpy.types.Object)]
        found: set[bpy.types.Object] = set()
        starts: list[int] = []
        world = scene.rigidbody_world
        bodies = world is not None and world.enabled and world.collection is not None
        if bodies and world is not None:
            found |= {item for item in items if item.rigid_body is not None}
            if found and not world.point_cache.is_baked:
                starts.append(_on_timeline(scene, world.point_cache))
        for item in items:
            caches = list(_caches(item))
            if caches:
                found.add(item)
                starts += [
                    scene.frame_start if cache is None else _on_timeline(scene, cache)
                    for cache in caches
                    if cache is None or not cache.is_baked
                ]
        if found:
            _spread(found)
        return cls(frozenset(item.session_uid for item in found), min(starts) if starts else None)


def _on_timeline(scene: bpy.types.Scene, cache: bpy.types.PointCache) -> int:
    """The last whole frame of the timeline that is not after the cache's first, which is the animation's."""
    return math.floor(cache.frame_start * scene.render.frame_map_new / scene.render.frame_map_old)


def _caches(item: bpy.types.Object) -> Iterable[bpy.types.PointCache | None]:
    """The caches of an object's simulations; None for one that does not tell whether it is baked."""
    for modifier in item.modifiers:
        if not modifier.show_viewport:
            continue
        if modifier.type in _SIMULATED:
            system = getattr(modifier, "particle_system", None)
            yield getattr(modifier if system is None else system, "point_cache", None)
        elif modifier.type == "NODES" and _has_simulation(getattr(modifier, "node_group", None), set()):
            yield None


def _has_simulation(tree: bpy.types.NodeTree | None, seen: set[str]) -> bool:
    if tree is None or tree.name_full in seen:
        return False
    seen.add(tree.name_full)
    return any(
        node.bl_idname in _SIMULATION_NODES or _has_simulation(getattr(node, "node_tree", None), seen)
        for node in tree.nodes
    )


def _spread(found: set[bpy.types.Object]) -> None:
    """Add what refers to something simulated, however far down.

    By parents, constraints, modifiers, drivers, instances: whoever refers to a thing may go by it. Things in
    one scene, or with one material, do not.
    """
    # The type stubs of Blender 4.2 do not say that the other arguments are optional.
    users = bpy.data.user_map(value_types=set(_PASSED_ON))  # type: ignore[call-arg, unused-ignore]
    waiting: list[bpy.types.ID] = list(found)
    seen: set[bpy.types.ID] = set(waiting)
    while waiting:
        more = users.get(waiting.pop(), set()) - seen
        seen |= more
        waiting += more
    found |= {block for block in seen if isinstance(block, bpy.types.Object)}
