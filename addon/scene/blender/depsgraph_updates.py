"""Edits that an update of the dependency graph reports."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.numeric.arrays import Bools


def _flags(depsgraph: bpy.types.Depsgraph, name: str) -> Bools:
    """Read one flag of each update (n,)."""
    updates: Any = depsgraph.updates
    flags = np.zeros(len(updates), dtype=bool)
    updates.foreach_get(name, flags)
    return flags


def updated_geometry_uids(depsgraph: bpy.types.Depsgraph) -> set[int]:
    """Find the session_uids of data-blocks whose geometry was updated."""
    flags = _flags(depsgraph, "is_updated_geometry")
    if not flags.any():
        return set()
    pairs = zip(depsgraph.updates, flags.tolist(), strict=True)
    return {update.id.original.session_uid for update, is_updated in pairs if is_updated}


def edited_object_uids(depsgraph: bpy.types.Depsgraph, without_bodies: bool) -> set[int]:
    """Find the session_uids of objects that were moved or edited, optionally without rigid bodies."""
    flags = _flags(depsgraph, "is_updated_geometry") | _flags(depsgraph, "is_updated_transform")
    if not flags.any():
        return set()
    return {
        update.id.original.session_uid
        for update, is_updated in zip(depsgraph.updates, flags.tolist(), strict=True)
        if is_updated
        and isinstance(update.id, bpy.types.Object)
        and not (without_bodies and update.id.rigid_body)
    }


def is_scene_edited(depsgraph: bpy.types.Depsgraph) -> bool:
    """Return whether a property of a scene was edited, of any kind.

    Blender then reports all bodies of its physics as moved, wherever they are.
    """
    return depsgraph.id_type_updated("SCENE") and any(
        isinstance(update.id, bpy.types.Scene) and update.is_updated_geometry for update in depsgraph.updates
    )


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
