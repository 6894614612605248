"""Everything Blender shows that has a surface, one entry each: objects, and instances of objects.

Objects, collection instances and geometry-nodes instances all come out of the dependency graph's
`object_instances`. Its items die with the loop step, so nothing here outlives one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import bpy

CURVE_LIKE = frozenset({"CURVE", "SURFACE", "FONT", "META"})
MESH_LIKE = CURVE_LIKE | {"MESH"}
UNSUPPORTED = {
    "CURVES": "hair curves have no surface",
    "POINTCLOUD": "point clouds have no surface",
    "VOLUME": "volumes have no surface",
    "GREASEPENCIL": "Grease Pencil drawings have no surface",
    "GPENCIL": "Grease Pencil drawings have no surface",
}

_UNUSED_INDEX = 2**31 - 1

Key: TypeAlias = tuple[str, str, tuple[int, ...]]
"""Owner's full name, object's full name, Blender's persistent id of the instance; the same in every frame."""


class Visible(NamedTuple):
    """One visible thing with a surface. Only good until the next step of the loop it came from.

    owner : the original object that it appears because of; itself, when it is no instance
    """

    key: Key
    instance: bpy.types.DepsgraphObjectInstance
    owner: bpy.types.Object


def is_made_by_nodes(key: Key) -> bool:
    """Whether a thing is geometry that an object's own nodes made instances of, and not its mesh."""
    owner, name, indices = key
    return bool(indices) and owner == name


def _indices(instance: Any) -> tuple[int, ...]:
    return tuple(index for index in instance.persistent_id if index != _UNUSED_INDEX)


def visible(depsgraph: bpy.types.Depsgraph) -> Iterator[Visible]:
    """All visible mesh-like objects and instances of `depsgraph`, in its order."""
    carrier: tuple[str, tuple[int, ...]] | None = None
    for instance in depsgraph.object_instances:
        item = instance.object
        if item.type not in MESH_LIKE:
            continue
        original = item.original
        indices: tuple[int, ...] = ()
        owner = original
        if instance.is_instance:
            indices = _indices(instance)
            owner = instance.parent.original if instance.parent else original
        # A curve, surface, text or metaball is followed by the mesh that Blender made of it, as an instance
        # with one more index. That is the same thing again.
        if item.type == "MESH" and carrier == (original.name_full, indices[1:]):
            continue
        carrier = (original.name_full, indices) if item.type in CURVE_LIKE else None
        yield Visible((owner.name_full, original.name_full, indices), instance, owner)
