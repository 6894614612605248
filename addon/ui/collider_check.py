"""Result of the last check of colliders, which the panel shows and a click on a problem uses.

It is no part of the file and holds no object, so undo and redo do not change it. They and edits
make it outdated.
"""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ..scene.blender.instances import full_name_of
from ..scene.blender.object_settings import is_collider
from ..scene.colliders.check import ColliderCheck


class _Checked:
    """Result of the last check of a scene, of which there is at most one."""

    def __init__(self, scene: bpy.types.Scene, check: ColliderCheck) -> None:
        self.scene_uid, self.check = scene.session_uid, check
        self.uids = _collider_uids(scene, check)
        self.is_outdated = False
        self.has_others: bool | None = None
        """Whether the scene has other colliders than at the check; None until it is known after an update."""


_last: list[_Checked] = []
"""The last result, if there is one."""


def store_check(scene: bpy.types.Scene, check: ColliderCheck | None) -> None:
    """Store the result of a scene in place of the one before; None removes it."""
    _last[:] = [] if check is None else [_Checked(scene, check)]


def stored_check(scene: bpy.types.Scene) -> ColliderCheck | None:
    """Return the last result of a scene; None if there is none, or another scene was checked since."""
    return next((last.check for last in _last if last.scene_uid == scene.session_uid), None)


def has_check() -> bool:
    """Return whether a result is stored, of any scene."""
    return bool(_last)


def forget_checks() -> None:
    """Drop the result, because another file was opened."""
    _last.clear()


def is_outdated(scene: bpy.types.Scene) -> bool:
    """Return whether the colliders or meshes of a scene may have changed since its last result.

    The panel calls this at each redraw, so the objects of a scene are compared only once after each update.
    """
    (last,) = _last
    if last.has_others is None:
        last.has_others = _collider_uids(scene, last.check) != last.uids
    return last.is_outdated or last.has_others


def _collider_uids(scene: bpy.types.Scene, check: ColliderCheck) -> frozenset[int]:
    """Return the session_uids of all colliders that were checked or created here and are in a scene."""
    ids = {entry.id for entry in check.colliders}
    return frozenset(
        item.session_uid for item in scene.objects if is_collider(item) or full_name_of(item) in ids
    )


def mark_outdated(edited_uids: Collection[int] | None = None) -> None:
    """Mark the result as outdated; by edits only if an object with a surface is among the edited ones.

    Blender reports no edited object where one is created, removed or linked, so `is_outdated` compares then.
    """
    for last in _last:
        last.has_others = None
        last.is_outdated |= edited_uids is None or any(
            item.session_uid in edited_uids and item.type not in _WITHOUT_SURFACE for item in bpy.data.objects
        )


_WITHOUT_SURFACE = {"CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
"""Types of objects that colliders and their meshes never depend on."""
