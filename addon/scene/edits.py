"""What an update of the dependency graph tells of edits."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core.arrays import Bools


def _flags(depsgraph: bpy.types.Depsgraph, name: str) -> Bools:
    updates: Any = depsgraph.updates
    flags = np.zeros(len(updates), dtype=bool)
    updates.foreach_get(name, flags)
    return flags


def other_vertices(depsgraph: bpy.types.Depsgraph) -> set[int]:
    """session_uids of what has other vertices than before."""
    flags = _flags(depsgraph, "is_updated_geometry")
    if not flags.any():
        return set()
    pairs = zip(depsgraph.updates, flags.tolist(), strict=True)
    return {update.id.original.session_uid for update, is_other in pairs if is_other}


def edited_objects(depsgraph: bpy.types.Depsgraph, without_bodies: bool) -> set[int]:
    """session_uids of objects that were moved or edited, rigid bodies perhaps left out."""
    flags = _flags(depsgraph, "is_updated_geometry") | _flags(depsgraph, "is_updated_transform")
    if not flags.any():
        return set()
    return {
        update.id.original.session_uid
        for update, is_other in zip(depsgraph.updates, flags.tolist(), strict=True)
        if is_other
        and isinstance(update.id, bpy.types.Object)
        and not (without_bodies and update.id.rigid_body)
    }


def is_dragging() -> bool:
    """Whether objects are being moved by hand: at first Blender reports what has not moved yet."""
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    return any(
        operator.bl_idname.startswith("TRANSFORM_OT_")
        for window in windows
        for operator in window.modal_operators
    )


def last_done() -> int:
    """Tells the operator that was finished last from those before; what is called off is not finished."""
    operators = [manager.operators[-1:] for manager in bpy.data.window_managers]
    return next((last[0].as_pointer() for last in operators if last), 0)
