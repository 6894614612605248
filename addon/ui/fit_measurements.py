"""Measurements of fits, cached for the Measurements panel until their object changes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

import bpy
from bpy.app.handlers import persistent

from ..core import CollisionBoundsError
from ..scene.blender.depsgraph_updates import edited_object_uids
from ..scene.blender.instances import MESH_LIKE
from ..scene.fitting.quality import FitQuality, measure_fit
from ..scene.settings import BoundShape, FitSettings
from .properties.scene import SceneSettings, bound_shapes, bounds_fit_settings, settings_of

_MAX_MEASUREMENTS = 1000
"""Number of cached measurements; the oldest are dropped first."""


@dataclass(frozen=True)
class FitMeasurement:
    """Measurement of one object's bounds, with the settings and shapes of Compute Bounds at its time.

    It is stale if the object has changed since.
    """

    quality: FitQuality
    fit: FitSettings
    shapes: tuple[BoundShape, ...]
    stale: bool = False


_measures: dict[int, FitMeasurement] = {}
"""Measurements by the session_uid of their objects."""


def measure(item: bpy.types.Object, settings: SceneSettings) -> None:
    """Measure an object and cache the measurement. Raises SceneError if the object cannot be fitted."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    fit, shapes = bounds_fit_settings(settings), bound_shapes(settings)
    _measures[item.session_uid] = FitMeasurement(measure_fit(evaluated, fit, shapes), fit, shapes)
    if len(_measures) > _MAX_MEASUREMENTS:
        del _measures[next(iter(_measures))]


def active_with_geometry(context: bpy.types.Context) -> bpy.types.Object | None:
    """Return the active object if its type has geometry, else None."""
    item = context.object
    return item if item is not None and item.type in MESH_LIKE else None


def measure_active(context: bpy.types.Context) -> None:
    """Measure the active object if possible; the button in the panel reports errors."""
    item = active_with_geometry(context)
    if item is not None and item.visible_get():
        with suppress(CollisionBoundsError):
            measure(item, settings_of(context))


def find_measurement(item: bpy.types.Object, settings: SceneSettings) -> FitMeasurement | None:
    """Return the measurement of an object, stale if the object or the settings of its fit have changed.

    None without a measurement.
    """
    kept = _measures.get(item.session_uid)
    if kept is None:
        return None
    is_same = kept.fit == bounds_fit_settings(settings) and kept.shapes == bound_shapes(settings)
    return kept if is_same else replace(kept, stale=True)


@persistent
def mark_stale(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Mark measurements of changed objects as stale."""
    fresh = {uid for uid, measurement in _measures.items() if not measurement.stale}
    # Updates are listed only if a measurement depends on them: this runs at every frame of playback.
    if fresh and depsgraph.mode == "VIEWPORT":
        for uid in fresh & edited_object_uids(depsgraph, without_bodies=False):
            _measures[uid] = replace(_measures[uid], stale=True)


@persistent
def forget_measurements(*_unused: object) -> None:
    """Drop all measurements, as when another file is opened."""
    _measures.clear()
