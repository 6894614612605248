"""Result of the last check of colliders, which the panel shows and a click on a problem uses.

It is no part of the file and holds no object, so undo and redo do not change it. They and edits
make it outdated.
"""

from __future__ import annotations

from collections.abc import Collection

import bpy

from ..scene.blender.names import full_name_of
from ..scene.blender.object_settings import is_collider
from ..scene.colliders.check_records import ColliderCheck

_results: dict[int, ColliderCheck] = {}
"""The result by the session_uid of its scene; at most one."""
_known: dict[int, frozenset[int]] = {}
"""The session_uids of its colliders by that of the scene."""
_outdated: set[int] = set()
"""session_uids of scenes that were edited since."""
_has_others: dict[int, bool] = {}
"""Whether a scene has other colliders than at the check, by its session_uid; dropped at each update."""


def store_check(scene: bpy.types.Scene, check: ColliderCheck | None) -> None:
    """Store the result of a scene in place of the one before; None removes it."""
    forget_checks()
    if check is not None:
        _results[scene.session_uid] = check
        _known[scene.session_uid] = _collider_uids(scene, check)


def stored_check(scene: bpy.types.Scene) -> ColliderCheck | None:
    """Return the last result of a scene; None if there is none, or another scene was checked since."""
    return _results.get(scene.session_uid)


def has_check() -> bool:
    """Return whether a result is stored, of any scene."""
    return bool(_results)


def forget_checks() -> None:
    """Drop all results, because there is a new one, or another file was opened."""
    for each in (_results, _known, _outdated, _has_others):
        each.clear()


def is_outdated(scene: bpy.types.Scene) -> bool:
    """Return whether the colliders or meshes of a scene may have changed since its last result.

    The panel calls this at each redraw, so the objects of a scene are compared only once after each update.
    """
    uid = scene.session_uid
    if uid in _outdated:
        return True
    if uid not in _has_others:
        _has_others[uid] = _collider_uids(scene, _results[uid]) != _known[uid]
    return _has_others[uid]


def _collider_uids(scene: bpy.types.Scene, check: ColliderCheck) -> frozenset[int]:
    """Return the session_uids of all colliders that were checked or created here and are in a scene."""
    ids = {entry.id for entry in check.colliders}
    return frozenset(
        item.session_uid for item in scene.objects if is_collider(item) or full_name_of(item) in ids
    )


def mark_outdated(edited_uids: Collection[int] | None = None) -> None:
    """Mark the results as outdated; by edits only if an object with a surface is among the edited ones.

    Blender reports no edited object where one is created, removed or linked, so `is_outdated` compares then.
    """
    _has_others.clear()
    if edited_uids is None or any(
        item.session_uid in edited_uids and item.type not in _WITHOUT_SURFACE for item in bpy.data.objects
    ):
        _outdated.update(_results)


_WITHOUT_SURFACE = {"CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
"""Types of objects that colliders and their meshes never depend on."""
