"""Result of the last check of colliders, which the panel shows and a click on a problem uses.

It is no part of the file and holds no object, so undo and redo do not change it.
"""

from __future__ import annotations

import bpy

from ..scene.colliders.check_records import ColliderCheck

_results: dict[int, ColliderCheck] = {}
"""The result by the session_uid of its scene; at most one."""


def store_check(scene: bpy.types.Scene, check: ColliderCheck | None) -> None:
    """Store the result of a scene in place of the one before; None removes it."""
    _results.clear()
    if check is not None:
        _results[scene.session_uid] = check


def stored_check(scene: bpy.types.Scene) -> ColliderCheck | None:
    """Return the last result of a scene; None if there is none, or another scene was checked since."""
    return _results.get(scene.session_uid)
