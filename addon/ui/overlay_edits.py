"""What edits, undo and redo do to results on show: they go stale, or are fresh again."""

from __future__ import annotations

import bpy

from ..scene import session
from ..scene.edits import is_dragging, last_done
from .overlay_looks import look, look_everywhere
from .overlay_state import at_frame, freshness_of, remember, state
from .scene_settings import settings_on


def take_edits(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, edited: set[int], moved: bool) -> None:
    """Results are stale as soon as a subject moves, or is edited where it is: a key at another frame."""
    result_id = settings_on(scene).result_id
    place = (scene.session_uid, depsgraph.view_layer.name)
    if not edited:
        remember(place, scene)
        return
    subjects = state.who.get(result_id, ())
    everyone = (*subjects, *(member for identity in subjects for member in identity.members))
    if not moved and edited.isdisjoint(uid for identity in everyone for uid in identity[:2]):
        return
    freshness, now = freshness_of(result_id), at_frame(scene, place)
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
        look(scene, depsgraph, (), same_flags=True)
        return
    else:
        freshness.edited(place, now)
    if not session.get(result_id).stale:
        session.mark_stale(result_id)
        look(scene, depsgraph, (), same_flags=True)


def take_undo() -> None:
    """Results are fresh again, or no longer, by what undo or redo has led to."""
    for scene in bpy.data.scenes:
        result_id = settings_on(scene).result_id
        places = [(scene.session_uid, layer.name) for layer in scene.view_layers]
        now = {place: found for place in places if (found := at_frame(scene, place)) is not None}
        # Of what was forgotten nobody can tell.
        freshness = state.freshness.get(result_id)
        is_fresh = freshness.after_undo(now) if freshness else False
        if not result_id or is_fresh is None or is_fresh != session.get(result_id).stale:
            continue
        if is_fresh:
            session.mark_fresh(result_id)
        else:
            session.mark_stale(result_id)
        look_everywhere()
