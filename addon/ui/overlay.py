"""The bounds drawn over the viewport, in one colour when free, in another when in contact at this frame.

Handlers bring the picture of a scene up to date when its frame or anything else changes; drawing a view only
hands finished arrays to the graphics card. Nothing here outlives a step with a bpy object in its hands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..core import Contact
from ..scene import session
from ..scene.edits import edited_objects, is_dragging, last_done, other_vertices
from ..scene.fitting import FitSettings
from ..scene.freshness import AtFrame, Freshness, Place
from ..scene.jobs import Result
from ..scene.live import Identity, Live, identities
from ..scene.own_settings import as_typed
from ..scene.playhead import playhead
from . import running_scan
from .picture import Picture, envelopes_of, mark_of, names_of, picture_of
from .preferences import preferences
from .views import OnShow, Views

if TYPE_CHECKING:
    from .properties import SceneSettings

_FRAME_TOLERANCE = 1e-3
"""A jump lands as close as the single precision of a sub-frame allows, far within this."""
_KEPT_FRESH = 8
"""So many results know what they were made from: that holds on to vertices."""


@dataclass
class _Shown:
    """What one view layer of one scene shows.

    behind : something may have changed that was not looked at
    is_new : it has not been looked at yet
    ghosts : a contact, and its pair as it was when it began
    envelopes : a result, and the picture of its envelopes
    """

    result: Result
    live: Live
    show: OnShow
    behind: bool = True
    is_new: bool = True
    ghosts: tuple[Contact, Picture] | None = None
    envelopes: tuple[Result, Picture] | None = None


class _State:
    """What is on show. One a session: a module cannot hold it, since reloading must start afresh."""

    def __init__(self) -> None:
        self.shown: dict[Place, _Shown] = {}
        # By the id of results, which undo brings back after things have been renamed.
        self.who: dict[str, tuple[Identity, ...]] = {}
        self.homes: dict[str, int] = {}  # by the same, the scene that was looked at first
        self.freshness: dict[str, Freshness] = {}  # by the same
        # Of objects by their session_uid, what they were called when they were looked for, and those that
        # were not there then, until something changes.
        self.called: dict[int, tuple[str, str | None]] = {}
        self.gone: set[int] = set()
        self.views = Views()
        self.paused = False
        # The next update belongs to what just happened and is no change of the user's: after a frame change
        # physics reports what it moved, after an undo everything does.
        self.frame_changed = False
        self.undone = False
        self.draw_handles: list[object] = []


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


def envelopes_on(settings: SceneSettings) -> Result | None:
    """The envelopes of a scene, unless they are out of date."""
    return session.get(settings.result_id).fresh_envelopes(fit_settings(settings))


def refresh(context: bpy.types.Context) -> None:
    """Show the context's scene, and those in other windows, as they are now."""
    if context.scene is not None:
        _look_everywhere()


def look_again(_settings: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """What happens when a property is set that the picture depends on."""
    refresh(context)


def redraw() -> None:
    """Draw all 3D views again."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


def picture_on(scene: bpy.types.Scene, layer: bpy.types.ViewLayer | None = None) -> Picture:
    """What is drawn for a scene, on its first view layer unless told; empty if nothing is."""
    shown = _state.shown.get((scene.session_uid, (layer or scene.view_layers[0]).name))
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
        _state.draw_handles.append(handle)


def detach() -> None:
    """Stop drawing and listening, and forget what was drawn."""
    for handle in _state.draw_handles:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.redo_post.remove(_on_undo)
    bpy.app.handlers.undo_post.remove(_on_undo)
    bpy.app.handlers.depsgraph_update_post.remove(_on_update)
    bpy.app.handlers.frame_change_post.remove(_on_frame)
    _state.__init__()  # type: ignore[misc]
    session.clear()
    redraw()


# ---- What is shown


def _look_everywhere() -> None:
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
                _look(scene, depsgraph, ())


def _look(
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
    if result is not None and _is_copied(scene, settings.result_id, result):
        settings.rows.clear()
        settings.result_id, result = "", None
    if result is None or not settings.display.show_overlay:
        if _state.shown.pop(place, None) is not None:
            redraw()
        return False
    shown = _state.shown.get(place)
    if shown is None or shown.result is not result:
        live = Live(result, who(settings.result_id, result))
        shown = _state.shown[place] = _Shown(result, live, OnShow(Picture(), live.owners))
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
        _remember(place, scene)
    redraw()
    return now.moved


def who(result_id: str, result: Result) -> tuple[Identity, ...]:
    """Who the subjects of results are, by the names they had when this was first asked."""
    if result_id not in _state.who:
        _state.who[result_id] = identities(result.subjects)
        while len(_state.who) > session.KEPT:
            _state.homes.pop(first := next(iter(_state.who)), None)
            del _state.who[first]
    return _state.who[result_id]


def object_by_uid(uid: int) -> bpy.types.Object | None:
    """The object with that session_uid, quickly: panels ask whenever they are drawn."""
    if uid in _state.gone:
        return None
    items: Any = bpy.data.objects
    item = items.get(_state.called[uid]) if uid in _state.called else None
    if item is None or item.session_uid != uid:
        item = next((item for item in items if item.session_uid == uid), None)
        if item is None:
            _state.gone.add(uid)
        else:
            _state.called[uid] = (item.name, item.library.filepath if item.library else None)
    return item  # type: ignore[no-any-return]


def _is_copied(scene: bpy.types.Scene, result_id: str, result: Result) -> bool:
    """Whether a scene has its results from one that it is a copy of, and nothing that they are about."""
    if _state.homes.setdefault(result_id, scene.session_uid) == scene.session_uid:
        return False
    there = {item.session_uid for item in scene.objects}
    return there.isdisjoint(uid for identity in who(result_id, result) for uid in identity[:2])


def _active_contact(settings: SceneSettings, result: Result) -> Contact | None:
    """The contact of the row that was clicked; None for a near miss, or when none was."""
    if result.report is None or not 0 <= settings.active_row < len(settings.rows):
        return None
    row = settings.rows[settings.active_row]
    return None if row.is_near_miss else result.report.contacts[row.index]


def _ghosts(shown: _Shown, picture: Picture, frame: float, active: Contact) -> Picture | None:
    """The active pair at its first contact, once the playhead has been there."""
    if abs(frame - active.first.frame) < _FRAME_TOLERANCE:
        pair = np.zeros(len(shown.result.subjects), dtype=bool)
        pair[[active.a, active.b]] = True
        shown.ghosts = active, picture.of(pair)
    return shown.ghosts[1] if shown.ghosts is not None and shown.ghosts[0] is active else None


def _envelopes(shown: _Shown, settings: SceneSettings) -> Picture:
    """All that are fresh, made once."""
    envelopes = envelopes_on(settings)
    if envelopes is None:
        return Picture()
    if shown.envelopes is None or shown.envelopes[0] is not envelopes:
        shown.envelopes = envelopes, envelopes_of(shown.result, envelopes)
    return shown.envelopes[1]


def _forget_what_is_gone() -> None:
    places = {(scene.session_uid, layer.name) for scene in bpy.data.scenes for layer in scene.view_layers}
    for place in set(_state.shown) - places:
        del _state.shown[place]


# ---- When something happens


@persistent
def _on_frame(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if depsgraph.mode != "VIEWPORT":
        return  # a render, with vertices of its own
    _state.frame_changed = True
    if not _fall_behind():
        _look(scene, depsgraph, other_vertices(depsgraph), same_flags=True)
        _remember((scene.session_uid, depsgraph.view_layer.name), scene)


@persistent
def _on_update(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    _state.gone.clear()
    if depsgraph.mode != "VIEWPORT" or _fall_behind():
        return
    frame_changed, undone = _state.frame_changed, _state.undone
    _state.frame_changed = _state.undone = False
    flags = depsgraph.id_type_updated("SCENE") or depsgraph.id_type_updated("COLLECTION")
    shown = _state.shown.get((scene.session_uid, depsgraph.view_layer.name))
    was_seen = shown is not None and not shown.behind
    moved = _look(scene, depsgraph, other_vertices(depsgraph), same_flags=not flags)
    # What physics has moved in a frame is told afterwards, when it is there already.
    edited = edited_objects(depsgraph, without_bodies=frame_changed and not (moved and was_seen))
    if edited and (scan := running_scan.running()):
        scan.was_disturbed = True
    if not undone:
        _take_edits(scene, depsgraph, edited, moved)


def _take_edits(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, edited: set[int], moved: bool
) -> None:
    """Results are stale as soon as a subject moves, or is edited where it is: a key at another frame."""
    result_id = settings_on(scene).result_id
    place = (scene.session_uid, depsgraph.view_layer.name)
    if not edited:
        _remember(place, scene)
        return
    subjects = _state.who.get(result_id, ())
    everyone = (*subjects, *(member for identity in subjects for member in identity.members))
    if not moved and edited.isdisjoint(uid for identity in everyone for uid in identity[:2]):
        return
    freshness, now = _freshness(result_id), _at_frame(scene, place)
    if now is None:
        freshness.give_up()
    elif is_dragging():
        if freshness.is_unmoved(place, now):
            return
        if not session.get(result_id).stale:
            freshness.hold(last_done())
        freshness.edited(place, now)
    elif freshness.let_go(place, now, last_done()):
        session.mark_fresh(result_id)
        _look(scene, depsgraph, (), same_flags=True)
        return
    else:
        freshness.edited(place, now)
    if not session.get(result_id).stale:
        session.mark_stale(result_id)
        _look(scene, depsgraph, (), same_flags=True)


def _remember(place: Place, scene: bpy.types.Scene) -> None:
    """What is there now is what fresh results tell of."""
    result_id = settings_on(scene).result_id
    now = _at_frame(scene, place)
    if now is not None and not session.get(result_id).stale:
        _freshness(result_id).remember(place, now)


def _freshness(result_id: str) -> Freshness:
    if result_id not in _state.freshness:
        _state.freshness[result_id] = Freshness()
        while len(_state.freshness) > _KEPT_FRESH:
            del _state.freshness[next(iter(_state.freshness))]
    return _state.freshness[result_id]


def _at_frame(scene: bpy.types.Scene, place: Place) -> AtFrame | None:
    """What was there of the subjects at the last look; None where none was taken."""
    shown = _state.shown.get(place)
    return None if shown is None else AtFrame(playhead(scene), shown.live.seen())


def _take_undo() -> None:
    """Results are fresh again, or no longer, by what undo or redo has led to."""
    for scene in bpy.data.scenes:
        result_id = settings_on(scene).result_id
        places = [(scene.session_uid, layer.name) for layer in scene.view_layers]
        now = {place: found for place in places if (found := _at_frame(scene, place)) is not None}
        # Of what was forgotten nobody can tell.
        freshness = _state.freshness.get(result_id)
        is_fresh = freshness.after_undo(now) if freshness else False
        if not result_id or is_fresh is None or is_fresh != session.get(result_id).stale:
            continue
        if is_fresh:
            session.mark_fresh(result_id)
        else:
            session.mark_stale(result_id)
        _look_everywhere()


@persistent
def _on_undo(_scene: bpy.types.Scene, _unused: object = None) -> None:
    _state.undone = True
    _state.gone.clear()
    for shown in _state.shown.values():
        shown.behind = True
    _look_everywhere()
    _take_undo()


@persistent
def _on_load(*_unused: object) -> None:
    """Results belong to the session, not to the file: a loaded file starts without."""
    session.clear()
    _state.shown.clear()
    _state.who.clear()
    _state.homes.clear()
    _state.freshness.clear()
    _state.called.clear()
    _state.gone.clear()
    _state.views = Views()
    for scene in bpy.data.scenes:
        settings_on(scene).rows.clear()
        settings_on(scene).result_id = ""


def _fall_behind() -> bool:
    """Whether the overlay is paused, in which case it has missed something."""
    if _state.paused:
        for shown in _state.shown.values():
            shown.behind = True
    return _state.paused


# ---- Drawing a view


def _draw() -> None:
    context = bpy.context
    shown = _shown_in(context)
    if shown is not None:
        display = settings_on(context.scene).display
        _state.views.draw(shown.show, display.style(context.preferences.system.ui_scale), context)


def _draw_names() -> None:
    shown = _shown_in(bpy.context)
    if shown is not None:
        _state.views.draw_names(shown.show, bpy.context)


def _shown_in(context: Any) -> _Shown | None:
    """What the view shows that is being drawn; None for nothing."""
    if context.scene is None or not context.space_data.overlay.show_overlays:
        return None
    return _state.shown.get((context.scene.session_uid, context.view_layer.name))
