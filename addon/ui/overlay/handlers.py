"""Handlers of the overlay: Blender's callbacks, and their effect on the state of the overlay.

Handlers update the draw data of a view layer when its frame or anything else changes. Drawing a view only
passes finished arrays to the graphics card. No bpy object is kept between two callbacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...scene.blender.depsgraph_updates import edited_object_uids, is_scene_edited, updated_geometry_uids
from ...scene.blender.simulation import physics_settings
from ...scene.jobs import result_store
from .. import job_state, property_events
from ..collider_check import forget_checks, has_check, mark_outdated
from ..properties.preferences import preferences
from ..properties.scene import settings_on
from .collider_surfaces import ColliderPainter
from .labels import draw_labels
from .painter import Painter, Style
from .separation_graph import draw_large_graph, drop_icons
from .state import find_overlay, on_edit, on_undo, record_snapshot, redraw, state
from .timeline import draw_bars
from .update import refresh, update_overlay

_colliders = ColliderPainter()
_attached = ExitStack()
"""Removes all handlers."""


@contextmanager
def paused() -> Iterator[None]:
    """Leave the overlay as it is while a scan moves the playhead; no change counts as an edit."""
    before, state.is_paused = state.is_paused, True
    try:
        yield
    finally:
        state.is_paused = before


def attach() -> None:
    """Add all handlers."""
    handlers: Any = bpy.app.handlers
    subscriptions: tuple[tuple[list[Any], Callable[..., None]], ...] = (
        (property_events.display_changed, lambda _owner, context: refresh(context)),
        (property_events.style_changed, lambda _owner, _context: redraw()),
        (handlers.frame_change_post, _on_frame),
        (handlers.depsgraph_update_post, _on_update),
        (handlers.undo_post, _on_undo),
        (handlers.redo_post, _on_undo),
        (handlers.load_post, _on_load),
    )
    for listeners, listener in subscriptions:
        listeners.append(listener)
        _attached.callback(listeners.remove, listener)
    for space, draw, when in (
        (bpy.types.SpaceView3D, _draw_shapes, "POST_VIEW"),
        (bpy.types.SpaceView3D, _draw_labels, "POST_PIXEL"),
        (bpy.types.SpaceView3D, draw_large_graph, "POST_PIXEL"),
        (bpy.types.SpaceDopeSheetEditor, draw_bars, "POST_PIXEL"),
    ):
        handle = space.draw_handler_add(draw, (), "WINDOW", when)
        _attached.callback(space.draw_handler_remove, handle, "WINDOW")


def detach() -> None:
    """Remove all handlers, and drop results and draw data."""
    _attached.close()
    drop_icons()
    state.clear()
    _colliders.clear()
    result_store.clear()
    redraw()


# ---- Changes of the scene, and of the file


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return  # a render, whose vertices may differ
    state.was_frame_changed = True
    _colliders.on_frame()
    settings, cached = settings_on(scene), find_overlay(scene, depsgraph.view_layer)
    if cached is None and not (settings.result_id and settings.display.show_overlay):
        return  # nothing is shown: playback costs nothing
    if not _skip_while_paused():
        # Listing the updates of a thousand objects takes as long as reading their matrices.
        deforms = cached is None or cached.may_deform(depsgraph)
        changed_uids = updated_geometry_uids(depsgraph) if deforms else ()
        update_overlay(scene, depsgraph, changed_uids, keep_flags=True)
        record_snapshot(scene, depsgraph.view_layer)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    state.missing_uids.clear()
    if depsgraph.mode == "VIEWPORT":
        _colliders.on_update(depsgraph)
        if has_check():
            mark_outdated(edited_object_uids(depsgraph, without_bodies=False))
    if depsgraph.mode != "VIEWPORT" or _skip_while_paused():
        return
    if not settings_on(scene).result_id and job_state.running() is None:
        # Nothing of this scene can become out of date.
        state.physics.pop(scene.session_uid, None)
        state.was_frame_changed = state.was_undone = False
        return
    was_frame_changed, was_undone = state.was_frame_changed, state.was_undone
    state.was_frame_changed = state.was_undone = False
    has_new_flags = depsgraph.id_type_updated("SCENE") or depsgraph.id_type_updated("COLLECTION")
    cached = find_overlay(scene, depsgraph.view_layer)
    if cached is not None:
        cached.deforms = None  # Blender does not report updates during playback
    was_valid = cached is not None and not cached.is_invalid
    moved = update_overlay(scene, depsgraph, updated_geometry_uids(depsgraph), keep_flags=not has_new_flags)
    # Blender reports bodies that physics has moved again after the frame change, which has read them.
    is_after_physics = was_frame_changed and not (moved and was_valid)
    physics = physics_settings(scene)
    has_other_physics = state.physics.get(scene.session_uid, physics) != physics
    state.physics[scene.session_uid] = physics
    is_click = not moved and is_scene_edited(depsgraph) and not has_other_physics
    edited_uids = edited_object_uids(depsgraph, without_bodies=is_after_physics or is_click)
    if edited_uids and (scan := job_state.running()):
        scan.was_scene_edited = True
    if not was_undone and on_edit(scene, depsgraph.view_layer, edited_uids, moved):
        update_overlay(scene, depsgraph, (), keep_flags=True)


@persistent
def _on_undo(_scene: bpy.types.Scene, _unused: object = None) -> None:
    state.was_undone = True
    mark_outdated()
    _colliders.clear()
    state.missing_uids.clear()
    state.invalidate()
    refresh(bpy.context)
    for scene in bpy.data.scenes:
        if on_undo(scene):
            refresh(bpy.context)


@persistent
def _on_load(*_unused: object) -> None:
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


# ---- Drawing a view


def _draw_shapes() -> None:
    context: Any = bpy.context
    if not _shows_overlays(context):
        return
    settings = settings_on(context.scene)
    if settings.display.show_overlay and settings.colliders.show_surfaces:
        _colliders.draw(context, preferences().collider_color)
    if (cached := find_overlay(context.scene, context.view_layer)) is not None:
        style = Style.of(settings.display, context.preferences.system.ui_scale)
        painter = state.painter = state.painter or Painter()
        painter.draw(cached.in_view(context), style, (context.region.width, context.region.height))


def _draw_labels() -> None:
    context: Any = bpy.context
    cached = find_overlay(context.scene, context.view_layer) if _shows_overlays(context) else None
    if cached is not None and len(cached.draw_data.labels.owners):
        draw_labels(cached.in_view(context).labels, context)


def _shows_overlays(context: Any) -> bool:
    """Return whether the view that is being drawn shows overlays.

    While a job runs, it shows none: the results are of before, and the job may go to other frames.
    """
    return (
        context.scene is not None and context.space_data.overlay.show_overlays and job_state.running() is None
    )
