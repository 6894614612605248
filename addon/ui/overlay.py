"""The bounds drawn over the viewport: blue when free, red when in contact at the current frame.

Handlers fit the shapes when the frame or the scene changes; the draw callback only hands finished arrays to
the graphics card. Shaders and batches are made at the first drawing: Blender has no graphics in background.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy
import gpu
import numpy as np
from bpy.app.handlers import persistent
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ..scene import session
from ..scene.fitting import FitSettings
from ..scene.jobs import as_typed
from ..scene.live import live_shapes
from . import wires

if TYPE_CHECKING:
    from .properties import SceneSettings

FREE_COLOR = (0.16, 0.52, 1.0, 1.0)
CONTACT_COLOR = (1.0, 0.16, 0.1, 1.0)
_LINE_WIDTH = 1.8
_UNCHECKED_ALPHA = 0.3
"""Shapes that are not the ones checked for contact are shown faintly."""


class _Lines(NamedTuple):
    color: tuple[float, float, float, float]
    points: NDArray[np.float32]


class _State:
    """What is on show. One a session: a module cannot hold it, since reloading must start afresh."""

    def __init__(self) -> None:
        self.lines: dict[int, tuple[_Lines, ...]] = {}  # by the scene's session_uid
        self.batches: dict[int, list[tuple[tuple[float, float, float, float], gpu.types.GPUBatch]]] = {}
        self.paused = False
        # The next update belongs to what just happened and is no change of the user's: after a frame change
        # physics reports what it moved, after an undo everything does.
        self.frame_changed = False
        self.undone = False
        self.draw_handle: object = None


_state = _State()


@contextmanager
def paused() -> Iterator[None]:
    """While a scan moves the playhead the overlay stays as it is, and nothing counts as a change."""
    before, _state.paused = _state.paused, True
    try:
        yield
    finally:
        _state.paused = before


def settings_on(scene: bpy.types.Scene) -> SceneSettings:
    """The settings that registration has put on every scene."""
    return scene.collision_bounds  # type: ignore[attr-defined]


def fit_settings(settings: SceneSettings) -> FitSettings:
    """How the panel wants shapes fitted. Single precision lengths, read as the decimals that were typed."""
    return FitSettings(settings.method, as_typed(settings.padding))


def refresh(context: bpy.types.Context) -> None:
    """Fit the shapes of the context's scene again and redraw."""
    if context.scene is not None:
        _fit(context.scene, context.evaluated_depsgraph_get())


def lines_of(scene: bpy.types.Scene) -> tuple[_Lines, ...]:
    """What is drawn for a scene, for tests to look at."""
    return _state.lines.get(scene.session_uid, ())


def attach() -> None:
    """Start drawing and listening."""
    bpy.app.handlers.frame_change_post.append(_on_frame)
    bpy.app.handlers.depsgraph_update_post.append(_on_update)
    bpy.app.handlers.undo_post.append(_on_undo)
    bpy.app.handlers.redo_post.append(_on_undo)
    bpy.app.handlers.load_post.append(_on_load)
    _state.draw_handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")


def detach() -> None:
    """Stop drawing and listening, and forget what was drawn."""
    bpy.types.SpaceView3D.draw_handler_remove(_state.draw_handle, "WINDOW")
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.redo_post.remove(_on_undo)
    bpy.app.handlers.undo_post.remove(_on_undo)
    bpy.app.handlers.depsgraph_update_post.remove(_on_update)
    bpy.app.handlers.frame_change_post.remove(_on_frame)
    _state.__init__()  # type: ignore[misc]
    session.clear()
    _redraw()


def _fit(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Bring the lines of `scene` up to date with the frame that `depsgraph` stands at."""
    settings = settings_on(scene)
    results = session.get(settings.result_id)
    result = results.contacts or results.bounds
    uid = scene.session_uid
    if result is None or not settings.show_overlay:
        changed = _state.lines.pop(uid, None) is not None
    else:
        fit = fit_settings(settings)
        shown = live_shapes(depsgraph, result, fit, settings.shape, report_counts=not results.stale)
        lines = []
        for color, chosen in ((FREE_COLOR, ~shown.in_contact), (CONTACT_COLOR, shown.in_contact)):
            faint = (*color[:3], _UNCHECKED_ALPHA)
            if settings.show_spheres:
                checked = settings.shape == "sphere"
                lines.append(_Lines(color if checked else faint, wires.sphere_wires(shown.spheres[chosen])))
            if settings.show_boxes:
                checked = settings.shape == "aabb"
                lines.append(_Lines(color if checked else faint, wires.box_wires(shown.boxes[chosen])))
        _state.lines[uid] = tuple(entry for entry in lines if len(entry.points))
        changed = True
    if changed:
        _state.batches.pop(uid, None)
        _redraw()


def _redraw() -> None:
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    _state.frame_changed = True
    if not _state.paused:
        _fit(scene, depsgraph)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _state.paused:
        return
    frame_changed, undone = _state.frame_changed, _state.undone
    _state.frame_changed = _state.undone = False
    if undone:
        return
    moved = [
        update
        for update in depsgraph.updates
        if isinstance(update.id, bpy.types.Object)
        and (update.is_updated_transform or update.is_updated_geometry)
        and not (frame_changed and update.id.rigid_body)
    ]
    if moved:
        session.mark_stale(settings_on(scene).result_id)
        _fit(scene, depsgraph)


@persistent
def _on_undo(scene: bpy.types.Scene, _unused: object = None) -> None:
    _state.undone = True
    _fit(scene, bpy.context.evaluated_depsgraph_get())


@persistent
def _on_load(*_unused: object) -> None:
    """Results belong to the session, not to the file: a loaded file starts without."""
    session.clear()
    _state.lines.clear()
    _state.batches.clear()
    for scene in bpy.data.scenes:
        settings_on(scene).rows.clear()
        settings_on(scene).result_id = ""


def _draw() -> None:
    context = bpy.context
    scene = context.scene
    view: Any = context.space_data
    if scene is None or not view.overlay.show_overlays:
        return
    lines = _state.lines.get(scene.session_uid)
    if not lines:
        return
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batches = _state.batches.get(scene.session_uid)
    if batches is None:
        batches = [
            (color, batch_for_shader(shader, "LINES", {"pos": points}))  # type: ignore[dict-item]
            for color, points in lines
        ]
        _state.batches[scene.session_uid] = batches
    region = context.region
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("viewportSize", (region.width, region.height))
    shader.uniform_float("lineWidth", _LINE_WIDTH * context.preferences.system.ui_scale)
    for color, batch in batches:
        shader.uniform_float("color", color)
        batch.draw(shader)
    gpu.state.blend_set("NONE")
