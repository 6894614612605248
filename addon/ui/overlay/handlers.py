"""Handlers of the overlay: Blender's callbacks, and their effect on the state of the overlay.

No bpy object is kept between two callbacks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core import Contact, Meshes
from ...scene.blender import animated
from ...scene.blender.frames import playhead
from ...scene.jobs import result_store
from ...scene.live.contact_state import LiveShapes
from ...scene.live.live_shapes import LiveSubjects
from ...scene.live.overlap import MeshOverlap, find_overlap
from .. import job_state
from ..kept_checks import forget_checks, mark_outdated, mark_stale
from ..properties.preferences import preferences
from ..properties.scene import SceneSettings, envelopes_on, fit_settings, settings_on
from ..row_order import active_entry
from ..texts import iface_, length_text
from . import draw_data, over_time
from . import state as overlays
from .collider_surfaces import ColliderPainter
from .flat import draw_labels
from .painter import Painter, Style
from .state import state

_colliders = ColliderPainter()
_attached = ExitStack()
"""Removes all handlers."""
_FRAME_TOLERANCE = 1e-3
"""A jump lands as close as the single precision of a sub-frame allows, far within this."""
_PART_OF_FRAME = 0.1
"""Part of the time of a frame that an overlap may take during playback."""
_POLL_INTERVAL = 0.2
"""Seconds after which an update that is not complete is tried again, while it has to wait."""


@contextmanager
def paused() -> Iterator[None]:
    """Leave the overlay as it is while a scan moves the playhead; no change counts as an edit."""
    before, state.is_paused = state.is_paused, True
    try:
        yield
    finally:
        state.is_paused = before


def attach() -> None:
    for space, draw, when in (
        (bpy.types.SpaceView3D, _draw_shapes, "POST_VIEW"),
        (bpy.types.SpaceView3D, _draw_labels, "POST_PIXEL"),
        (bpy.types.SpaceView3D, over_time.draw_large_graph, "POST_PIXEL"),
        (bpy.types.SpaceDopeSheetEditor, over_time.draw_bars, "POST_PIXEL"),
    ):
        handle = space.draw_handler_add(draw, (), "WINDOW", when)
        _attached.callback(space.draw_handler_remove, handle, "WINDOW")


def detach() -> None:
    _attached.close()
    if bpy.app.timers.is_registered(_go_on):
        bpy.app.timers.unregister(_go_on)
    over_time.detach()
    state.clear()
    _colliders.clear()
    result_store.clear()
    forget_checks()
    overlays.redraw()


# ---- Changes of properties, of the scene, and of the file; `registration` lists what calls these


@persistent
def after_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Update what moves with the frame."""
    if depsgraph.mode != "VIEWPORT":
        return  # a render, whose vertices may differ
    state.was_frame_changed = True
    mark_stale(depsgraph, is_edit=False)
    _colliders.on_frame()
    settings, cached = settings_on(scene), overlays.find_overlay(scene, depsgraph.view_layer)
    if cached is None and not (settings.result_id and settings.display.show_overlay):
        return  # nothing is shown: playback costs nothing
    if not _skip_while_paused():
        if cached is not None and cached.deforms is None:
            cached.deforms = cached.subjects.may_deform(depsgraph.scene)
        # Listing the updates of a thousand objects takes as long as reading their matrices.
        changed_uids = animated.updated_geometry_uids(depsgraph) if cached is None or cached.deforms else ()
        update_overlay(scene, depsgraph, changed_uids, keep_flags=True)
        overlays.record_snapshot(scene, depsgraph.view_layer)


@persistent
def after_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Update what an edit has changed, and mark results that are out of date."""
    state.missing_uids.clear()
    if depsgraph.mode != "VIEWPORT":
        return
    _colliders.on_update(depsgraph)
    mark_stale(depsgraph, is_edit=True)
    if _skip_while_paused():
        return
    was_frame_changed, was_undone = state.was_frame_changed, state.was_undone
    state.was_frame_changed = state.was_undone = False
    if not settings_on(scene).result_id and job_state.running() is None:
        # Nothing of this scene can become out of date.
        state.physics.pop(scene.session_uid, None)
        return
    has_new_flags = depsgraph.id_type_updated("SCENE") or depsgraph.id_type_updated("COLLECTION")
    cached = overlays.find_overlay(scene, depsgraph.view_layer)
    if cached is not None:
        cached.deforms = None  # Blender does not report updates during playback
    was_valid = cached is not None and not cached.is_invalid
    moved = update_overlay(
        scene, depsgraph, animated.updated_geometry_uids(depsgraph), keep_flags=not has_new_flags
    )
    # Blender reports bodies that physics has moved again after the frame change, which has read them.
    is_after_physics = was_frame_changed and not (moved and was_valid)
    physics = animated.physics_settings(scene)
    has_other_physics = state.physics.get(scene.session_uid, physics) != physics
    state.physics[scene.session_uid] = physics
    is_click = not moved and animated.is_scene_edited(depsgraph) and not has_other_physics
    edited_uids = animated.edited_object_uids(depsgraph, without_bodies=is_after_physics or is_click)
    if edited_uids and (scan := job_state.running()):
        scan.was_scene_edited = True
    if not was_undone and overlays.on_edit(scene, depsgraph.view_layer, edited_uids, moved):
        update_overlay(scene, depsgraph, (), keep_flags=True)


@persistent
def after_undo(_scene: bpy.types.Scene, _unused: object = None) -> None:
    """Update everything: any object may be another one."""
    state.was_undone = True
    mark_outdated()
    _colliders.clear()
    state.missing_uids.clear()
    state.invalidate()
    refresh(bpy.context)
    for scene in bpy.data.scenes:
        if overlays.on_undo(scene):
            refresh(bpy.context)


@persistent
def after_load(*_unused: object) -> None:
    """Drop all results: they belong to the session, not to the file."""
    result_store.clear()
    state.clear()
    forget_checks()
    _colliders.clear()
    for scene in bpy.data.scenes:
        settings_on(scene).rows.clear()
        settings_on(scene).result_id = ""


def _skip_while_paused() -> bool:
    """Return whether the overlay is paused. If so, invalidate it, because it misses a change."""
    if state.is_paused:
        state.invalidate()
    return state.is_paused


# ---- Update: read the subjects of a scene at its frame, and build their draw data


def refresh(context: Any) -> bool:
    """Update the overlays of the context's view layer, if it has one, and of those in all windows.

    Returns whether these are complete: see `LiveShapes`.
    """
    if context.scene is None:
        return True
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    updated = set()
    for override in [{}, *({"window": window} for window in windows)]:
        with context.temp_override(**override):
            scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
            key = overlays.view_layer_key(scene, depsgraph.view_layer)
            if key not in updated:
                updated.add(key)
                update_overlay(scene, depsgraph, ())
    shown = [cached for key in updated if (cached := state.overlays.get(key)) is not None]
    return all(cached.is_complete for cached in shown)


def update_overlay(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    changed_uids: Collection[int],
    keep_flags: bool = False,
) -> bool:
    """Update the overlay of a view layer to the frame of its evaluated depsgraph.

    `changed_uids` are the session_uids of objects whose vertices have changed since the last update. With
    `keep_flags`, nothing was selected, hidden or shown since. Returns whether any subject may have moved or
    have other vertices.
    """
    settings = settings_on(scene)
    results = settings.results
    result = results.contacts or results.bounds
    if result is not None and overlays.is_copied_result(scene, settings.result_id, result):
        settings.rows.clear()
        settings.result_id, result = "", None
    key = overlays.view_layer_key(scene, depsgraph.view_layer)
    if result is None or not settings.display.show_overlay:
        if state.overlays.pop(key, None) is not None:
            overlays.redraw()
        return False
    cached = overlays.find_overlay(scene, depsgraph.view_layer)
    if cached is None or cached.result is not result:
        subjects = LiveSubjects(result, overlays.subject_identities(settings.result_id, result))
        cached = state.overlays[key] = overlays.CachedOverlay(result, subjects)
        # Scenes and view layers may have been removed.
        layers = [(scene, layer) for scene in bpy.data.scenes for layer in scene.view_layers]
        keys = {overlays.view_layer_key(*each) for each in layers}
        for removed in set(state.overlays) - keys:
            del state.overlays[removed]
    is_new = cached.live is None
    live = cached.live = cached.subjects.update(
        depsgraph,
        replace(fit_settings(settings), vertex_group=cached.result.group),
        # Meshes are not drawn: pairs that touch now are of these.
        (*settings.display.shapes_drawn, *(("mesh",) if settings.shape == "mesh" else ())),
        settings.shape_of_bounds,
        use_report=not settings.results.stale,
        changed_uids=None if cached.is_invalid else changed_uids,
        keep_flags=keep_flags,
    )
    cached.is_invalid = False
    cached.draw_data = _build_draw_data(cached, live, settings, playhead(scene))
    if is_new:
        overlays.record_snapshot(scene, depsgraph.view_layer)
    overlays.redraw()
    if not (cached.is_complete or bpy.app.background or bpy.app.timers.is_registered(_go_on)):
        bpy.app.timers.register(_go_on, first_interval=0.0)
    return live.moved


def _go_on() -> float | None:
    """Update again what is not complete; during playback, each frame does."""
    if state.is_paused or _is_playing():
        return _POLL_INTERVAL
    # Overlays that no window shows wait until one does.
    return None if refresh(bpy.context) else 0.0


def _is_playing() -> bool:
    """Return whether any window plays the animation."""
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    return any(window.screen.is_animation_playing for window in windows)


def _build_draw_data(
    cached: overlays.CachedOverlay, live: LiveShapes, settings: SceneSettings, frame: float
) -> draw_data.DrawData:
    """Build the draw data of an overlay, with ghosts and envelopes from its cache."""
    display, pair = settings.display, active_entry(settings)
    contact = pair if isinstance(pair, Contact) else None
    active = () if pair is None else (pair.a, pair.b)
    bounds = draw_data.draw_data_from_shapes(live, display.shapes_drawn, settings.shape_of_bounds, active)
    data = bounds.of_subjects(live.selected) if display.only_selected else bounds
    if display.show_names:
        names = cached.subjects.current_names(cached.result.subjects)
        data = draw_data.with_labels(data, names, live, active)
    # The meshes are in question then, not the bounds around them.
    meshes = _meshes_of_pair(live, active) if active and display.show_overlap else None
    cached.awaits_overlap = False
    is_at_first = contact is not None and abs(frame - contact.first.frame) < _FRAME_TOLERANCE
    ghosts = None
    if contact is not None:
        # The bounds of the pair at its first contact, once the playhead was there.
        if is_at_first:
            at_contact = bounds.instances.take(np.isin(bounds.instances.owners, active))
            cached.ghosts = (contact.a, contact.b), at_contact
        if cached.ghosts is not None and cached.ghosts[0] == (contact.a, contact.b):
            ghosts = cached.ghosts[1]
    if contact is not None and display.show_contact and (is_at_first or meshes is None):
        # There are no ghosts before the playhead was at the contact: take sizes from current bounds.
        marker = draw_data.contact_marker(contact, data.instances if ghosts is None else ghosts)
        data = replace(data, marker=marker)
    if meshes is not None:
        data = replace(data, instances=draw_data.Instances())
        if (overlap := _overlap_now(cached, live.moved, active, meshes, settings.id_data)) is not None:
            data = draw_data.with_overlap(data, overlap, _overlap_text(overlap, settings.id_data), active[0])
    parts = [data.instances]
    if ghosts is not None and display.show_ghosts:
        parts.append(ghosts.with_color(draw_data.GHOST_COLOR))
    if display.show_envelopes and (swept := envelopes_on(settings)) is not None:
        drawn = display.shapes_drawn
        if cached.envelopes is None or cached.envelopes[0] is not swept or cached.envelopes[1] != drawn:
            cached.envelopes = swept, drawn, draw_data.envelope_instances(cached.result, swept, drawn)
        envelopes = cached.envelopes[2]
        is_shown = live.visible & live.selected if display.only_selected else live.visible
        parts.insert(0, envelopes.take(is_shown[envelopes.owners]).with_color(preferences().swept_color))
    return replace(data, instances=draw_data.Instances.concatenate(parts)) if len(parts) > 1 else data


def _meshes_of_pair(live: LiveShapes, pair: Sequence[int]) -> tuple[Meshes, Meshes] | None:
    """Return the meshes (1,) of a pair; None if a scan tests others, and if either is absent or very large.

    Of very large ones, finding the overlap takes longer than a window may stand still.
    """
    if "mesh" not in live.shapes:
        return None
    meshes, owners = live.shapes["mesh"]
    rows = [np.flatnonzero(owners == side) for side in pair]
    if not all(len(row) == 1 for row in rows):
        return None
    a, b = (meshes[row] for row in rows)
    assert isinstance(a, Meshes) and isinstance(b, Meshes), "these shapes are of meshes"
    return None if (a.are_very_large | b.are_very_large)[0] else (a, b)


def _overlap_now(
    cached: overlays.CachedOverlay,
    is_moved: bool,
    pair: tuple[int, ...],
    meshes: tuple[Meshes, Meshes],
    scene: Any,
) -> MeshOverlap | None:
    """Return the overlap of the meshes of a pair, found again if they may have moved.

    None during playback, if it takes more than a part of the time of a frame.
    """
    if is_moved or (cached.overlap is not None and cached.overlap[0] != pair):
        cached.overlap = None
    if cached.overlap is None:
        frame_seconds = scene.render.fps_base / scene.render.fps
        if cached.overlap_seconds > _PART_OF_FRAME * frame_seconds and _is_playing():
            cached.awaits_overlap = True
            return None
        begin = perf_counter()
        cached.overlap = pair, find_overlap(*meshes)
        cached.overlap_seconds = perf_counter() - begin
    return cached.overlap[1]


def _overlap_text(overlap: MeshOverlap, scene: Any) -> str:
    """Return the label of an overlap: its depth or gap, or that surfaces cross; empty for a touch."""
    if not overlap.depth or np.isnan(overlap.depth):
        return iface_("cross") if len(overlap.curve) else ""
    text = length_text(abs(overlap.depth), scene.unit_settings, digits=3)
    return text if overlap.depth > 0 else iface_("Gap {distance}", distance=text)


# ---- Drawing a view


def _draw_shapes() -> None:
    context: Any = bpy.context
    if not _shows_overlays(context):
        return
    settings = settings_on(context.scene)
    if settings.display.show_overlay and settings.colliders.show_surfaces:
        _colliders.draw(context, preferences().collider_color)
    if (cached := overlays.find_overlay(context.scene, context.view_layer)) is not None:
        style = Style.of(settings.display, context.preferences.system.ui_scale)
        painter = state.painter = state.painter or Painter()
        painter.draw(cached.in_view(context), style, (context.region.width, context.region.height))


def _draw_labels() -> None:
    context: Any = bpy.context
    cached = overlays.find_overlay(context.scene, context.view_layer) if _shows_overlays(context) else None
    if cached is not None and len(cached.draw_data.labels.owners):
        draw_labels(cached.in_view(context).labels, context)


def _shows_overlays(context: Any) -> bool:
    """Return whether the view that is being drawn shows overlays.

    While a job runs, it shows none: the results are of before, and the job may go to other frames.
    """
    return (
        context.scene is not None and context.space_data.overlay.show_overlays and job_state.running() is None
    )
