"""State of the overlay: draw data of each view layer, identities of subjects, and whether results are stale.

A local view hides subjects that its view layer shows: drawing skips them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np

from ...core.numeric.arrays import Bools
from ...formats.wording import valid_text
from ...scene.blender.animated import is_transforming, last_operator_pointer
from ...scene.blender.frames import go_to, playhead
from ...scene.blender.instances import name_of
from ...scene.blender.mesh_data import copied
from ...scene.blender.object_settings import SETTINGS_PROPERTY
from ...scene.jobs import result_store
from ...scene.jobs.result import Result
from ...scene.live.contact_state import FrameSnapshot, LiveShapes
from ...scene.live.live_shapes import LiveSubjects
from ...scene.live.overlap import MeshOverlap
from ...scene.live.staleness import Staleness, StalenessMachine, ViewLayerKey
from ...scene.settings import DrawnShape
from ...scene.subjects.subject import Identity, identify_subjects
from ..properties.scene import settings_on
from .draw_data import DrawData, Instances
from .painter import Painter


def shows_all(view: Any) -> bool:
    """Return whether a 3D view shows every object that its view layer shows."""
    kinds = ("mesh", "curve", "surf", "meta", "font", "curves", "empty")
    is_local = view.local_view is not None or view.use_local_collections
    return not is_local and all(getattr(view, f"show_object_viewport_{kind}", True) for kind in kinds)


@dataclass
class CachedOverlay:
    """Overlay of one view layer of one scene.

    result : The result whose subjects are drawn.
    subjects : LiveSubjects
    live : Shapes at the last update; None before the first.
    draw_data : Everything that is drawn of the view layer.
    is_invalid : Whether vertices may have changed that no update has read.
    deforms : Whether vertices of any subject may change from frame to frame; None until it is known after
        an edit.
    ghosts : ((int, int), Instances) or None. The subjects of a contact, and their bounds at its first frame.
    overlap : (subjects, MeshOverlap) or None. The active pair, and how its meshes overlap now.
    overlap_seconds : Time that it took to find the overlap last; 0 if it never was.
    awaits_overlap : Whether the overlap is not drawn yet, because it would slow playback down.
    envelopes : (Result, shapes, Instances) or None. A result, and its envelopes of the shapes shown.
    """

    result: Result
    subjects: LiveSubjects
    draw_data: DrawData = field(default_factory=DrawData)
    is_invalid: bool = True
    deforms: bool | None = None
    live: LiveShapes | None = None
    ghosts: tuple[tuple[int, int], Instances] | None = None
    overlap: tuple[tuple[int, ...], MeshOverlap] | None = None
    overlap_seconds: float = 0.0
    awaits_overlap: bool = False
    envelopes: tuple[Result, Sequence[DrawnShape], Instances] | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether everything is drawn: see `LiveShapes`."""
        return not self.awaits_overlap and (self.live is None or self.live.is_complete)

    def in_view(self, context: Any) -> DrawData:
        """Return the draw data of the subjects that the 3D view of the context shows."""
        view = context.space_data
        if shows_all(view):
            return self.draw_data
        # Evaluated objects, because before Blender 5 the local view is not considered for original objects.
        items = context.view_layer.depsgraph.objects
        visible = [item.original.session_uid for item in items if item.visible_in_viewport_get(view)]
        return self.draw_data.of_subjects(np.isin(self.subjects.owners, np.array(visible, dtype=np.int64)))


class OverlayState:
    """State of the overlay. There is one instance per session; reloading creates a new one.

    overlays : mapping of view layer to CachedOverlay
    identities : Kept by the id of results, because undo restores results after their subjects have been
        renamed.
    home_scenes : The scene in which each result was drawn first.
    staleness : mapping of result id to StalenessMachine
    known_names : mapping of session_uid to name and library of an object
    physics : mapping of session_uid to the settings of a scene's physics, at its last update
    missing_uids : Objects that did not exist at the last lookup. Any update empties it.
    painter : None until something was drawn, which needs a graphics card.
    is_paused : bool
    was_frame_changed, was_undone : Whether the next depsgraph update is the outcome of a frame change or an
        undo, and not an edit by the user: after a frame change, bodies that physics has moved are reported;
        after an undo, all objects.
    """

    def __init__(self) -> None:
        self.overlays: dict[ViewLayerKey, CachedOverlay] = {}
        self.identities: dict[str, tuple[Identity, ...]] = {}
        self.home_scenes: dict[str, int] = {}
        self.staleness: dict[str, StalenessMachine] = {}
        self.known_names: dict[int, tuple[str, str | None]] = {}
        self.physics: dict[int, tuple[object, ...]] = {}
        self.missing_uids: set[int] = set()
        self.painter: Painter | None = None
        self.is_paused = False
        self.was_frame_changed = False
        self.was_undone = False

    def invalidate(self) -> None:
        """Make the next update of each overlay read all vertices."""
        for cached in self.overlays.values():
            cached.is_invalid = True

    def clear(self) -> None:
        """Drop everything about the file that was open. A pause goes on."""
        vars(self).update(vars(OverlayState()), is_paused=self.is_paused)


state = OverlayState()


def view_layer_key(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> ViewLayerKey:
    """Return the key of a scene's view layer, which holds no bpy object."""
    return scene.session_uid, name_of(layer)


def find_overlay(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> CachedOverlay | None:
    """Return the overlay of a view layer; None if nothing is drawn there."""
    return state.overlays.get(view_layer_key(scene, layer))


def redraw(editors: Sequence[str] = ("VIEW_3D", "DOPESHEET_EDITOR"), region_type: str = "") -> None:
    """Draw all 3D views and timelines again, or all regions of a type in some editors."""
    for manager in bpy.data.window_managers:
        areas = [area for window in manager.windows for area in window.screen.areas if area.type in editors]
        for region in (region for area in areas for region in area.regions):
            if region_type in ("", region.type):
                region.tag_redraw()


def subject_identities(result_id: str, result: Result) -> tuple[Identity, ...]:
    """Return the identities of a result's subjects, by the names they had at the first call for its id."""
    if result_id not in state.identities:
        state.identities[result_id] = identify_subjects(result.subjects)
        while len(state.identities) > result_store.KEPT:
            oldest = next(iter(state.identities))
            state.home_scenes.pop(oldest, None)
            del state.identities[oldest]
    return state.identities[result_id]


def deleted_subjects(result_id: str, result: Result) -> Bools:
    """Return which subjects of a result (n,) are of objects that were deleted since."""
    identities = subject_identities(result_id, result)
    owners = np.array([each.owner for each in identities], dtype=np.int64)
    return np.asarray((owners >= 0) & ~np.isin(owners, copied(bpy.data.objects, "session_uid", np.int32)))


def is_copied_result(scene: bpy.types.Scene, result_id: str, result: Result) -> bool:
    """Return whether a scene got a result by being copied, and has none of the result's objects."""
    if state.home_scenes.setdefault(result_id, scene.session_uid) == scene.session_uid:
        return False
    uids = {item.session_uid for item in scene.objects}
    identities = subject_identities(result_id, result)
    return uids.isdisjoint(uid for identity in identities for uid in identity[:2])


def object_by_uid(uid: int) -> bpy.types.Object | None:
    """Return the object with a session_uid. Names are cached, because panels call this whenever drawn."""
    if uid in state.missing_uids:
        return None
    items: Any = bpy.data.objects
    item = items.get(state.known_names[uid]) if uid in state.known_names else None
    if item is None or item.session_uid != uid:
        item = next((item for item in items if item.session_uid == uid), None)
        if item is None:
            state.missing_uids.add(uid)
        else:
            state.known_names[uid] = (
                name_of(item),
                valid_text(item.library.filepath) if item.library else None,
            )
    return item


# ---- Staleness: the rules are in `scene/live/staleness.py`; the outcome is copied into the session

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
    subjects = state.identities.get(result_id, ())
    parts = (*subjects, *(member for identity in subjects for member in identity.members))
    if not moved and edited_uids.isdisjoint(uid for identity in parts for uid in identity[:2]):
        return False
    machine = _machine_of(result_id)
    key, now = view_layer_key(scene, layer), _snapshot(scene, layer)
    machine.on_edit(key, now, is_transforming(), last_operator_pointer())
    return _apply(result_id, machine.state.is_stale)


def on_undo(scene: bpy.types.Scene) -> bool:
    """Compare a scene with its snapshots after undo or redo, and return whether its staleness has changed."""
    result_id = settings_on(scene).result_id
    if not result_id:
        return False
    machine = state.staleness.get(result_id)
    if machine is None:
        # Without snapshots nothing shows that the result is still valid.
        return _apply(result_id, True)
    snapshots = {view_layer_key(scene, layer): _snapshot(scene, layer) for layer in scene.view_layers}
    machine.on_undo({key: snapshot for key, snapshot in snapshots.items() if snapshot is not None})
    return _apply(result_id, machine.state.is_stale)


_before_export: tuple[str, FrameSnapshot] | None = None
"""Fresh result of the scene that is exported, and what its view layer showed before."""


def before_export(_export_settings: Any) -> None:
    """Record what the context's view layer shows, because exporters play the animation."""
    global _before_export
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if not hasattr(scene, SETTINGS_PROPERTY):  # the exporter also calls extensions that were disabled
        return
    result_id, now = settings_on(scene).result_id, _snapshot(scene, layer)
    _before_export = None if now is None or result_store.get(result_id).stale else (result_id, now)


def after_export(_export_settings: Any) -> None:
    """Keep a result fresh if an exporter has left everything as it was."""
    global _before_export
    before, _before_export = _before_export, None
    scene, layer = bpy.context.scene, bpy.context.view_layer
    if before is None or settings_on(scene).result_id != before[0]:
        return
    # The exporter returns to the frame of the user later.
    go_to(scene, before[1].frame)
    layer.update()
    now = _snapshot(scene, layer)
    if now is not None and now.is_same(before[1]):
        state.staleness.pop(before[0], None)
        _apply(before[0], False)
        record_snapshot(scene, layer)


def _snapshot(scene: bpy.types.Scene, layer: bpy.types.ViewLayer) -> FrameSnapshot | None:
    """Return what the last update has read of a view layer; None if nothing is drawn there."""
    cached = find_overlay(scene, layer)
    return None if cached is None else cached.subjects.snapshot(playhead(scene))


def _machine_of(result_id: str) -> StalenessMachine:
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
