"""What is on show in each view layer of each scene, and of whom it is known how they are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ..core import Contact
from ..scene import session
from ..scene.freshness import AtFrame, Freshness, Place
from ..scene.identities import Identity, identities
from ..scene.live import Live
from ..scene.playhead import playhead
from ..scene.result import Result
from .picture import Picture
from .scene_settings import settings_on
from .views import OnShow, Views

_KEPT_FRESH = 8
"""So many results know what they were made from: that holds on to vertices."""


@dataclass
class Shown:
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


class State:
    """What is on show. One a session: a module cannot hold it, since reloading must start afresh."""

    def __init__(self) -> None:
        self.shown: dict[Place, Shown] = {}
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


state = State()


def redraw() -> None:
    """Draw all 3D views again."""
    for manager in bpy.data.window_managers:
        for window in manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    area.tag_redraw()


def who(result_id: str, result: Result) -> tuple[Identity, ...]:
    """Who the subjects of results are, by the names they had when this was first asked."""
    if result_id not in state.who:
        state.who[result_id] = identities(result.subjects)
        while len(state.who) > session.KEPT:
            state.homes.pop(first := next(iter(state.who)), None)
            del state.who[first]
    return state.who[result_id]


def is_copied(scene: bpy.types.Scene, result_id: str, result: Result) -> bool:
    """Whether a scene has its results from one that it is a copy of, and nothing that they are about."""
    if state.homes.setdefault(result_id, scene.session_uid) == scene.session_uid:
        return False
    there = {item.session_uid for item in scene.objects}
    return there.isdisjoint(uid for identity in who(result_id, result) for uid in identity[:2])


def object_by_uid(uid: int) -> bpy.types.Object | None:
    """The object with that session_uid, quickly: panels ask whenever they are drawn."""
    if uid in state.gone:
        return None
    items: Any = bpy.data.objects
    item = items.get(state.called[uid]) if uid in state.called else None
    if item is None or item.session_uid != uid:
        item = next((item for item in items if item.session_uid == uid), None)
        if item is None:
            state.gone.add(uid)
        else:
            state.called[uid] = (item.name, item.library.filepath if item.library else None)
    return item


def remember(place: Place, scene: bpy.types.Scene) -> None:
    """What is there now is what fresh results tell of."""
    result_id = settings_on(scene).result_id
    now = at_frame(scene, place)
    if now is not None and not session.get(result_id).stale:
        freshness_of(result_id).remember(place, now)


def freshness_of(result_id: str) -> Freshness:
    if result_id not in state.freshness:
        state.freshness[result_id] = Freshness()
        while len(state.freshness) > _KEPT_FRESH:
            del state.freshness[next(iter(state.freshness))]
    return state.freshness[result_id]


def at_frame(scene: bpy.types.Scene, place: Place) -> AtFrame | None:
    """What was there of the subjects at the last look; None where none was taken."""
    shown = state.shown.get(place)
    return None if shown is None else AtFrame(playhead(scene), shown.live.seen())
