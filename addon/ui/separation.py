"""Separation over time of the pair of the active row: the curve, or why there is none; requests for it.

A panel or a viewport that shows the graph requests it while it draws: a closed one computes nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy

from ..formats.wording import message_line
from ..scene.jobs import result_store
from ..scene.jobs.pair_separation import SeparationCurve
from ..scene.jobs.result import Result
from . import job_state
from .contact_rows import active_row, entry_of_row
from .properties.scene import SceneSettings, results_of
from .texts import iface_, n_, translated

_STALE = n_("The scene changed: find contacts again")
_LOST = n_("Find contacts again to see it")
_PLAYED = n_("Click Compute: the scene is played")


class ActivePair(NamedTuple):
    """The pair of the active row: id of the result, the result, and the indices of both subjects."""

    result_id: str
    result: Result
    pair: tuple[int, int]


class _State:
    """Requests, and pairs whose computation failed or was stopped, by result and pair, with the reason."""

    problems: dict[tuple[str, tuple[int, int]], str] = {}
    is_requested = False


def active_pair(settings: SceneSettings) -> ActivePair | None:
    """Return the pair of the active row; None without one, or if the session has lost its result."""
    entry = entry_of_row(settings, active_row(settings))
    result = results_of(settings).contacts
    if entry is None or result is None:
        return None
    return ActivePair(settings.result_id, result, (entry.a, entry.b))


def active_curve(settings: SceneSettings) -> SeparationCurve | None:
    """Return the separation of the pair of the active row, if it has been computed."""
    active = active_pair(settings)
    return result_store.get(active.result_id).separations.get(active.pair) if active else None


def request_missing(settings: SceneSettings) -> str:
    """Return why the active row has no curve yet, in a few words, and compute it soon if it can be."""
    active = active_pair(settings)
    if job_state.running():
        return iface_("Computing")
    if active is None:
        return iface_("Click a row" if active_row(settings) is None else _LOST)
    if result_store.get(active.result_id).stale:
        return iface_(_STALE)
    if problem := _State.problems.get((active.result_id, active.pair)):
        return message_line(translated(problem))
    if is_played(active):
        return iface_(_PLAYED)
    if not _State.is_requested and not bpy.app.background:
        _State.is_requested = True
        bpy.app.timers.register(_compute, first_interval=0.0)
    return iface_("Computing")


def is_played(active: ActivePair) -> bool:
    """Return whether the user's scene is played for a pair, which takes long."""
    ids = (active.result.subjects[index].id for index in active.pair)
    return any(id in active.result.played for id in ids)


def record(active: ActivePair, outcome: SeparationCurve | str) -> None:
    """Keep a curve, or the reason why there is none."""
    key = active.result_id, active.pair
    _State.problems.pop(key, None)
    if isinstance(outcome, str):
        _State.problems[key] = outcome
    else:
        result_store.get(active.result_id).separations[active.pair] = outcome


def _compute() -> None:
    """Start the computation in the window that the user works in."""
    _State.is_requested = False
    manager = bpy.context.window_manager
    window = bpy.context.window or (manager.windows[0] if manager.windows else None)
    if window is None or job_state.running():
        return
    context: Any = bpy.context
    operators: Any = bpy.ops
    with context.temp_override(window=window):
        if operators.collision_bounds.compute_separation.poll():
            operators.collision_bounds.compute_separation("INVOKE_DEFAULT")


def detach() -> None:
    """Drop a request, and all problems."""
    if bpy.app.timers.is_registered(_compute):
        bpy.app.timers.unregister(_compute)
    _State.problems.clear()
    _State.is_requested = False
