"""The bounds drawn over the viewport, in one colour when free, in another when in contact at this frame.

Handlers bring the picture of a scene up to date when its frame or anything else changes; drawing a view only
hands finished arrays to the graphics card. Nothing here outlives a step with a bpy object in its hands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..scene import session
from ..scene.edits import edited_objects, other_vertices
from . import running_scan
from .overlay_edits import take_edits, take_undo
from .overlay_looks import look, look_everywhere
from .overlay_state import Shown, redraw, remember, state
from .picture import Picture
from .scene_settings import settings_on
from .views import Views


@contextmanager
def paused() -> Iterator[None]:
    """While a scan moves the playhead the overlay stays as it is, and nothing counts as a change."""
    before, state.paused = state.paused, True
    try:
        yield
    finally:
        state.paused = before


def refresh(context: bpy.types.Context) -> None:
    """Show the context's scene, and those in other windows, as they are now."""
    if context.scene is not None:
        look_everywhere()


def look_again(_settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """What happens when a property is set that the picture depends on."""
    refresh(context)


def picture_on(scene: bpy.types.Scene, layer: bpy.types.ViewLayer | None = None) -> Picture:
    """What is drawn for a scene, on its first view layer unless told; empty if nothing is."""
    shown = state.shown.get((scene.session_uid, (layer or scene.view_layers[0]).name))
    return shown.show.picture if shown else Picture()


def attach() -> None:
    """Start drawing and listening."""
    bpy.app.handlers.frame_change_post.append(_on_frame)
    bpy.app.handlers.depsgraph_update_post.append(_on_update)
    bpy.app.handlers.undo_post.append(_on_undo)
    bpy.app.handlers.redo_post.append(_on_undo)
    bpy.app.handlers.load_post.append(_on_load)
    for draw, when in ((_draw, "POST_VIEW"), (_draw_names, "POST_PIXEL")):
        handle = bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", when)
        state.draw_handles.append(handle)


def detach() -> None:
    """Stop drawing and listening, and forget what was drawn."""
    for handle in state.draw_handles:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.redo_post.remove(_on_undo)
    bpy.app.handlers.undo_post.remove(_on_undo)
    bpy.app.handlers.depsgraph_update_post.remove(_on_update)
    bpy.app.handlers.frame_change_post.remove(_on_frame)
    state.__init__()
    session.clear()
    redraw()


# ---- When something happens


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return  # a render, with vertices of its own
    state.frame_changed = True
    if not _fall_behind():
        look(scene, depsgraph, other_vertices(depsgraph), same_flags=True)
        remember((scene.session_uid, depsgraph.view_layer.name), scene)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    state.gone.clear()
    if depsgraph.mode != "VIEWPORT" or _fall_behind():
        return
    frame_changed, undone = state.frame_changed, state.undone
    state.frame_changed = state.undone = False
    flags = depsgraph.id_type_updated("SCENE") or depsgraph.id_type_updated("COLLECTION")
    shown = state.shown.get((scene.session_uid, depsgraph.view_layer.name))
    was_seen = shown is not None and not shown.behind
    moved = look(scene, depsgraph, other_vertices(depsgraph), same_flags=not flags)
    # What physics has moved in a frame is told afterwards, when it is there already.
    edited = edited_objects(depsgraph, without_bodies=frame_changed and not (moved and was_seen))
    if edited and (scan := running_scan.running()):
        scan.was_disturbed = True
    if not undone:
        take_edits(scene, depsgraph, edited, moved)


@persistent
def _on_undo(_scene: bpy.types.Scene, _unused: object = None) -> None:
    state.undone = True
    state.gone.clear()
    for shown in state.shown.values():
        shown.behind = True
    look_everywhere()
    take_undo()


@persistent
def _on_load(*_unused: object) -> None:
    """Results belong to the session, not to the file: a loaded file starts without."""
    session.clear()
    state.shown.clear()
    state.who.clear()
    state.homes.clear()
    state.freshness.clear()
    state.called.clear()
    state.gone.clear()
    state.views = Views()
    for scene in bpy.data.scenes:
        settings_on(scene).rows.clear()
        settings_on(scene).result_id = ""


def _fall_behind() -> bool:
    """Whether the overlay is paused, in which case it has missed something."""
    if state.paused:
        for shown in state.shown.values():
            shown.behind = True
    return state.paused


# ---- Drawing a view


def _draw() -> None:
    context = bpy.context
    shown = _shown_in(context)
    if shown is not None:
        display = settings_on(context.scene).display
        state.views.draw(shown.show, display.style(context.preferences.system.ui_scale), context)


def _draw_names() -> None:
    shown = _shown_in(bpy.context)
    if shown is not None:
        state.views.draw_names(shown.show, bpy.context)


def _shown_in(context: Any) -> Shown | None:
    """What the view shows that is being drawn; None for nothing."""
    if context.scene is None or not context.space_data.overlay.show_overlays:
        return None
    return state.shown.get((context.scene.session_uid, context.view_layer.name))
