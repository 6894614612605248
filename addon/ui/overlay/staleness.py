"""Staleness of displayed results: passes edits, undo and redo to the state machine of each result.

The rules are in `scene/live/staleness.py`. This module takes the snapshots that they compare, and copies the
outcome into the session, where panels and operators read it.
"""

from __future__ import annotations

import bpy

from ...scene.blender.depsgraph_updates import is_transforming, last_operator_pointer
from ...scene.blender.frames import playhead
from ...scene.blender.object_settings import SETTINGS_PROPERTY
from ...scene.jobs import result_store
from ...scene.live.staleness import FrameSnapshot, Staleness, StalenessMachine
from ..properties.scene import settings_on
from .state import find_overlay, state, view_layer_key

_MAX_MACHINES = 8
"""Number of results whose snapshots are kept; few, because snapshots hold vertices."""


def record_snapshot(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> None:
    """Record what a view layer shows, if its result is fresh."""
    result_id = settings_on(scene).result_id
    now = _snapshot(scene, layer)
    if now is not None and not result_store.get(result_id).stale:
        _machine_of(result_id).record(view_layer_key(scene, layer), now)


def on_edit(scene: bpy.types.Scene, layer: bpy.types.ViewLayer, edited_uids: set[int], moved: bool) -> bool:
    """Pass an edit to the state machine; return whether the staleness of the result has changed.

    A subject that moves makes a result stale. So does a subject that is edited without moving, such as by a
    key at another frame. `moved` is what the last update of the view layer has found.
    """
    result_id = settings_on(scene).result_id
    if not edited_uids:
        record_snapshot(scene, layer)
        return False
    if not moved and edited_uids.isdisjoint(_subject_uids(result_id)):
        return False
    machine = _machine_of(result_id)
    key, now = view_layer_key(scene, layer), _snapshot(scene, layer)
    machine.on_edit(key, now, is_transforming(), last_operator_pointer())
    return _apply(result_id, machine.is_stale)


def on_undo(scene: bpy.types.Scene) -> bool:
    """Compare a scene with its snapshots after undo or redo, and return whether its staleness has changed."""
    result_id = settings_on(scene).result_id
    if not result_id:
        return False
    snapshots = {view_layer_key(scene, layer): _snapshot(scene, layer) for layer in scene.view_layers}
    machine = state.staleness.get(result_id)
    if machine is None:
        # Without snapshots nothing shows that the result is still valid.
        return _apply(result_id, True)
    machine.on_undo({key: snapshot for key, snapshot in snapshots.items() if snapshot is not None})
    return _apply(result_id, machine.is_stale)


_before_export: tuple[str, FrameSnapshot] | None = None
"""Fresh result of the scene that is exported, and what its view layer showed before."""


def before_export() -> None:
    """Record what the context's view layer shows, because exporters play the animation."""
    global _before_export
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if not hasattr(scene, SETTINGS_PROPERTY):  # the exporter also calls extensions that were disabled
        return
    result_id = settings_on(scene).result_id
    now = _snapshot(scene, layer)
    is_fresh = now is not None and not result_store.get(result_id).stale
    _before_export = (result_id, now) if is_fresh and now is not None else None


def after_export() -> None:
    """Keep a result fresh if an exporter has left everything as it was."""
    global _before_export
    before, _before_export = _before_export, None
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if before is None or settings_on(scene).result_id != before[0]:
        return
    # The exporter returns to the frame of the user later.
    frame = int(before[1].frame // 1)
    scene.frame_set(frame, subframe=before[1].frame - frame)
    layer.update()
    now = _snapshot(scene, layer)
    if now is not None and now.is_same(before[1]):
        state.staleness[before[0]] = StalenessMachine(Staleness.FRESH)
        _apply(before[0], False)
        record_snapshot(scene, layer)


def _subject_uids(result_id: str) -> set[int]:
    """Return the session_uids of all objects that the subjects of a result consist of."""
    subjects = state.identities.get(result_id, ())
    identities = (*subjects, *(member for identity in subjects for member in identity.members))
    return {uid for identity in identities for uid in identity[:2]}


def _snapshot(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> FrameSnapshot | None:
    """Return what the last update has read of a view layer; None if nothing is drawn there."""
    cached = find_overlay(scene, layer)
    return None if cached is None else FrameSnapshot(playhead(scene), cached.subjects.snapshot())


def _machine_of(result_id: str) -> StalenessMachine:
    """Return the state machine of a result, new if it has none."""
    if result_id not in state.staleness:
        is_stale = result_store.get(result_id).stale
        state.staleness[result_id] = StalenessMachine(Staleness.STALE if is_stale else Staleness.FRESH)
        while len(state.staleness) > _MAX_MACHINES:
            del state.staleness[next(iter(state.staleness))]
    return state.staleness[result_id]


def _apply(result_id: str, is_stale: bool) -> bool:
    """Copy the staleness of a result into the session, and return whether it has changed."""
    if result_store.get(result_id).stale == is_stale:
        return False
    result_store.set_stale(result_id, is_stale)
    return True
