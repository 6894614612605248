"""Brings what is on show up to date: looks at a scene, and makes a picture of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..core import Contact
from ..scene import session
from ..scene.live import Live
from ..scene.playhead import playhead
from ..scene.result import Result
from .overlay_state import Shown, is_copied, redraw, remember, state, who
from .picture import Picture, envelopes_of, mark_of, names_of, picture_of
from .preferences import preferences
from .scene_settings import envelopes_on, fit_settings, settings_on
from .views import OnShow

if TYPE_CHECKING:
    from .properties import SceneSettings

_FRAME_TOLERANCE = 1e-3
"""A jump lands as close as the single precision of a sub-frame allows, far within this."""


def look_everywhere() -> None:
    """Bring up to date what the context shows, and what all windows do."""
    context: Any = bpy.context
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    places = set()
    for around in [{}, *({"window": window} for window in windows)]:
        with context.temp_override(**around):
            scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
            place = (scene.session_uid, depsgraph.view_layer.name)
            if place not in places:
                places.add(place)
                look(scene, depsgraph, ())


def look(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    changed: Collection[int],
    same_flags: bool = False,
) -> bool:
    """Bring the picture of `scene` up to date with the frame that `depsgraph` stands at; see `Live.look`.

    Returns whether anything of it may have moved.
    """
    settings = settings_on(scene)
    results = session.get(settings.result_id)
    result = results.contacts or results.bounds
    place = (scene.session_uid, depsgraph.view_layer.name)
    if result is not None and is_copied(scene, settings.result_id, result):
        settings.rows.clear()
        settings.result_id, result = "", None
    if result is None or not settings.display.show_overlay:
        if state.shown.pop(place, None) is not None:
            redraw()
        return False
    shown = state.shown.get(place)
    if shown is None or shown.result is not result:
        live = Live(result, who(settings.result_id, result))
        shown = state.shown[place] = Shown(result, live, OnShow(Picture(), live.owners))
        _forget_what_is_gone()
    display, checked = settings.display, settings.shape
    drawn = display.shapes_drawn
    now = shown.live.look(
        depsgraph,
        fit_settings(settings),
        drawn,
        checked,
        report_counts=not results.stale,
        changed=None if shown.behind else changed,
        same_flags=same_flags,
    )
    is_new, shown.behind, shown.is_new = shown.is_new, False, False
    colors = preferences()
    picture = picture_of(now, drawn, checked, colors.free_color, colors.contact_color)
    active = _active_contact(settings, result)
    ghosts = None if active is None else _ghosts(shown, picture, playhead(scene), active)
    if display.only_selected:
        picture = picture.of(now.selected)
    if display.show_names:
        picture = names_of(picture, shown.live.names(result.subjects))
    if ghosts is not None and display.show_ghosts:
        picture = picture.with_ghosts(ghosts)
    if active is not None and display.show_contact:
        picture = replace(picture, sticks=mark_of(active, ghosts or picture))
    if display.show_envelopes:
        seen = now.visible & now.selected if display.only_selected else now.visible
        around = _envelopes(shown, settings).of(seen)
        picture = picture.over(around, display.show_spheres, display.show_boxes)
    shown.show = OnShow(picture, shown.live.owners)
    if is_new:
        remember(place, scene)
    redraw()
    return now.moved


def _active_contact(settings: SceneSettings, result: Result) -> Contact | None:
    """The contact of the row that was clicked; None for a near miss, or when none was."""
    if result.report is None or not 0 <= settings.active_row < len(settings.rows):
        return None
    row = settings.rows[settings.active_row]
    return None if row.is_near_miss else result.report.contacts[row.index]


def _ghosts(shown: Shown, picture: Picture, frame: float, active: Contact) -> Picture | None:
    """The active pair at its first contact, once the playhead has been there."""
    if abs(frame - active.first.frame) < _FRAME_TOLERANCE:
        pair = np.zeros(len(shown.result.subjects), dtype=bool)
        pair[[active.a, active.b]] = True
        shown.ghosts = active, picture.of(pair)
    return shown.ghosts[1] if shown.ghosts is not None and shown.ghosts[0] is active else None


def _envelopes(shown: Shown, settings: SceneSettings) -> Picture:
    """All that are fresh, made once."""
    envelopes = envelopes_on(settings)
    if envelopes is None:
        return Picture()
    if shown.envelopes is None or shown.envelopes[0] is not envelopes:
        shown.envelopes = envelopes, envelopes_of(shown.result, envelopes)
    return shown.envelopes[1]


def _forget_what_is_gone() -> None:
    places = {(scene.session_uid, layer.name) for scene in bpy.data.scenes for layer in scene.view_layers}
    for place in set(state.shown) - places:
        del state.shown[place]
