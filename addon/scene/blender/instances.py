"""Visible mesh-like objects, and instances of objects, one entry each.

Objects, collection instances and geometry-nodes instances all come out of the dependency graph's
`object_instances`. Its items are valid only during their step of the loop, so nothing here keeps one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import bpy

from ...core.messages import message
from .names import full_name_of

CURVE_LIKE = frozenset({"CURVE", "SURFACE", "FONT", "META"})
MESH_LIKE = CURVE_LIKE | {"MESH"}
UNSUPPORTED_REASONS = {
    "CURVES": message("hair curves have no surface"),
    "POINTCLOUD": message("point clouds have no surface"),
    "VOLUME": message("volumes have no surface"),
    "GREASEPENCIL": message("Grease Pencil drawings have no surface"),
    "GPENCIL": message("Grease Pencil drawings have no surface"),
}

UNUSED_INDEX = 2**31 - 1
"""Fills the persistent ids of instances to eight numbers."""

InstanceKey: TypeAlias = tuple[str, str, tuple[int, ...]]
"""Owner's full name, object's full name, Blender's persistent id of the instance; stable over all frames."""


class VisibleInstance(NamedTuple):
    """One visible mesh-like object or instance, valid until the next step of the loop that it came from.

    Attributes
    ----------
    key : InstanceKey
    instance : bpy.types.DepsgraphObjectInstance
    owner : bpy.types.Object
        Original object that instances it; the object itself if it is no instance.
    """

    key: InstanceKey
    instance: bpy.types.DepsgraphObjectInstance
    owner: bpy.types.Object


def is_made_by_nodes(key: InstanceKey) -> bool:
    """Return whether an instance is made by the object's own geometry nodes, and is not the object's mesh."""
    owner, name, indices = key
    return bool(indices) and owner == name


def key_of_instance(instance: bpy.types.DepsgraphObjectInstance) -> InstanceKey:
    """Return the key of a visible object or instance."""
    original = instance.object.original
    name = full_name_of(original)
    if instance.is_instance:
        persistent_id: Any = instance.persistent_id
        indices = tuple([index for index in persistent_id if index != UNUSED_INDEX])
        if indices:
            return full_name_of(owner_of_instance(instance)), name, indices
    return name, name, ()


def owner_of_instance(instance: bpy.types.DepsgraphObjectInstance) -> bpy.types.Object:
    """Return the original object that instances a visible object; the object itself if it is no instance."""
    return (instance.parent or instance.object).original


def visible_instances(depsgraph: bpy.types.Depsgraph) -> Iterator[VisibleInstance]:
    """Iterate over all visible mesh-like objects and instances of a dependency graph, in its order."""
    converted: tuple[str, tuple[int, ...]] | None = None
    for instance in depsgraph.object_instances:
        kind = instance.object.type
        if kind not in MESH_LIKE:
            continue
        key = key_of_instance(instance)
        # A curve, surface, text or metaball is followed by the mesh that Blender converts it to, as an
        # instance with one more index. Skip that, because it is the same geometry.
        _, name, indices = key
        if kind == "MESH" and converted == (name, indices[1:]):
            continue
        converted = (name, indices) if kind in CURVE_LIKE else None
        yield VisibleInstance(key, instance, owner_of_instance(instance))
