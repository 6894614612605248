"""How well bounds fit, measured when asked for and kept for the panel, with a note of what changed since."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..scene.fit_quality import FitQuality, measured
from ..scene.fitting import FitSettings

_KEPT = 1000
"""Objects; those measured first are forgotten first."""


@dataclass(frozen=True)
class Measure:
    """The quality of one object's bounds, by the settings of its scene, and whether it has changed since."""

    quality: FitQuality
    fit: FitSettings
    stale: bool = False


_measures: dict[int, Measure] = {}  # by the object's session_uid


def measure(item: bpy.types.Object, fit: FitSettings) -> None:
    """Measure an object and keep the result. Raises SceneError when it cannot be fitted."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    _measures[item.session_uid] = Measure(measured(evaluated, fit), fit)
    if len(_measures) > _KEPT:
        del _measures[next(iter(_measures))]


def measure_of(item: bpy.types.Object, fit: FitSettings) -> Measure | None:
    """What was measured of an object; stale when the object, or `fit`, is not what it was then."""
    found = _measures.get(item.session_uid)
    return found if found is None or found.fit == fit else replace(found, stale=True)


def attach() -> None:
    """Start noticing changes."""
    bpy.app.handlers.depsgraph_update_post.append(_on_update)
    bpy.app.handlers.frame_change_post.append(_on_update)
    bpy.app.handlers.load_post.append(_on_load)


def detach() -> None:
    """Stop, and forget."""
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.frame_change_post.remove(_on_update)
    bpy.app.handlers.depsgraph_update_post.remove(_on_update)
    _measures.clear()


@persistent
def _on_update(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if not _measures or depsgraph.mode != "VIEWPORT":
        return
    for update in depsgraph.updates:
        block: Any = update.id
        if isinstance(block, bpy.types.Object) and (
            update.is_updated_transform or update.is_updated_geometry
        ):
            uid = block.original.session_uid
            if uid in _measures:
                _measures[uid] = replace(_measures[uid], stale=True)


@persistent
def _on_load(*_unused: object) -> None:
    _measures.clear()
