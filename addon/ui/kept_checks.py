"""Measurements of fits, numbers of colliders, and the last check of a scene's colliders, which panels show.

Measurements are stale once their object changes, the check of colliders after an edit of a collider or mesh.
It is no part of the file and holds no object, so undo and redo do not change it: they make it outdated too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import bpy

from ..core import CollisionBoundsError
from ..scene.blender.animated import edited_object_uids
from ..scene.blender.instances import MESH_LIKE, full_name_of
from ..scene.blender.object_settings import SETTINGS_PROPERTY, is_collider, is_marked_collider
from ..scene.colliders.check import ColliderCheck
from ..scene.colliders.records import ColliderState, collider_state
from ..scene.fitting.quality import FitQuality, measure_fit
from ..scene.settings import BoundShape, FitSettings
from .properties.scene import SceneSettings, settings_of

_MAX_MEASUREMENTS = 1000
"""Number of cached measurements; the oldest are dropped first."""


@dataclass(frozen=True)
class FitMeasurement:
    """Measurement of one object's bounds, with the settings and shapes of Compute Bounds at its time.

    It is stale if the object has changed since.
    """

    quality: FitQuality
    fit: FitSettings
    shapes: tuple[BoundShape, ...]
    stale: bool = False


_measures: dict[int, FitMeasurement] = {}
"""Measurements by the session_uid of their objects."""


def measure(item: bpy.types.Object, settings: SceneSettings) -> None:
    """Measure an object and cache the measurement. Raises SceneError if the object cannot be fitted."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    fit, shapes = settings.bounds_fit, settings.bound_shapes
    _measures[item.session_uid] = FitMeasurement(measure_fit(evaluated, fit, shapes), fit, shapes)
    if len(_measures) > _MAX_MEASUREMENTS:
        del _measures[next(iter(_measures))]


def active_with_geometry(context: bpy.types.Context) -> bpy.types.Object | None:
    item = context.object
    return item if item is not None and item.type in MESH_LIKE else None


def settings_of_active(context: bpy.types.Context) -> Any:
    """Return the settings of the active object, or None if it has no geometry. Undo invalidates them."""
    item = active_with_geometry(context)
    return None if item is None else getattr(item, SETTINGS_PROPERTY)


def measure_active(context: bpy.types.Context) -> None:
    """Measure the active object if possible; the button in the panel reports errors."""
    item = active_with_geometry(context)
    if item is not None and item.visible_get():
        with suppress(CollisionBoundsError):
            measure(item, settings_of(context))


def find_measurement(item: bpy.types.Object, settings: SceneSettings) -> FitMeasurement | None:
    """Return the measurement of an object, stale if the object or the settings of its fit have changed.

    None without a measurement.
    """
    kept = _measures.get(item.session_uid)
    if kept is None:
        return None
    is_same = kept.fit == settings.bounds_fit and kept.shapes == settings.bound_shapes
    return kept if is_same else replace(kept, stale=True)


def mark_stale(depsgraph: bpy.types.Depsgraph, is_edit: bool) -> None:
    """Mark measurements of changed objects as stale, and after an edit the check of colliders as outdated."""
    fresh = {uid for uid, measurement in _measures.items() if not measurement.stale}
    # Updates are listed only if anything depends on them: this runs at every frame of playback.
    if is_edit:
        _counts.clear()
    if fresh or (is_edit and (_last or _states)):
        edited_uids = edited_object_uids(depsgraph, without_bodies=False)
        for uid in fresh & edited_uids:
            _measures[uid] = replace(_measures[uid], stale=True)
        if is_edit:
            mark_outdated(edited_uids)


_states: dict[int, ColliderState] = {}
"""States of colliders by their session_uids, until they are edited."""
_counts: dict[int, Counter[ColliderState]] = {}
"""Numbers of the colliders of scenes in each state by the session_uids of the scenes, until any edit."""


def count_colliders(scene: bpy.types.Scene) -> Counter[ColliderState]:
    """Count the colliders of a scene that were created here, by state.

    The panel calls this at each redraw, so each collider is compared only once after each edit of it.
    """
    uid = scene.session_uid
    if uid not in _counts:
        states: Counter[ColliderState] = Counter()
        for item in filter(is_marked_collider, scene.objects):
            if item.session_uid not in _states:
                _states[item.session_uid] = collider_state(item)
            states[_states[item.session_uid]] += 1
        _counts[uid] = states
    return _counts[uid]


_last: list[SimpleNamespace] = []
"""The last check of a scene, if there is one.

`has_others` is whether the scene has other colliders than then; None until it is known after an update.
"""


def store_check(scene: bpy.types.Scene, check: ColliderCheck | None) -> None:
    _last.clear()
    if check is not None:
        kept = {"scene_uid": scene.session_uid, "check": check, "uids": _collider_uids(scene, check)}
        _last.append(SimpleNamespace(**kept, is_outdated=False, has_others=None))


def stored_check(scene: bpy.types.Scene) -> ColliderCheck | None:
    """Return the last result of a scene; None if there is none, or another scene was checked since."""
    return next((last.check for last in _last if last.scene_uid == scene.session_uid), None)


def forget_checks() -> None:
    """Drop all measurements and the check, as when another file is opened."""
    _measures.clear()
    _last.clear()
    _forget_states()


def _forget_states() -> None:
    _counts.clear()
    _states.clear()


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
    if edited_uids is None:
        _forget_states()
    for uid in _states.keys() & set(edited_uids or ()):
        del _states[uid]
    for last in _last:
        last.has_others = None
        last.is_outdated |= edited_uids is None or any(
            item.session_uid in edited_uids and item.type not in _WITHOUT_SURFACE for item in bpy.data.objects
        )


_WITHOUT_SURFACE = {"CAMERA", "LIGHT", "LIGHT_PROBE", "SPEAKER"}
"""Types of objects that colliders and their meshes never depend on."""
