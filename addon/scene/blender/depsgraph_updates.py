"""Edits that an update of the dependency graph reports."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from typing import Any

import bpy
import numpy as np


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
    """Find the session_uids of data-blocks whose geometry was updated."""
    return {block.original.session_uid for block in _updated(depsgraph, "is_updated_geometry")}


def edited_object_uids(depsgraph: bpy.types.Depsgraph, without_bodies: bool) -> set[int]:
    """Find the session_uids of objects that were moved or edited, optionally without rigid bodies."""
    return {
        block.original.session_uid
        for block in _updated(depsgraph, "is_updated_geometry", "is_updated_transform")
        if isinstance(block, bpy.types.Object) and not (without_bodies and block.rigid_body)
    }


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
    return any(
        operator.bl_idname.startswith("TRANSFORM_OT_")
        for window in windows
        for operator in window.modal_operators
    )


def last_operator_pointer() -> int:
    """Return the address of the operator that finished last, 0 for none. A canceled one does not finish."""
    operators = [manager.operators[-1:] for manager in bpy.data.window_managers]
    return next((last[0].as_pointer() for last in operators if last), 0)
