"""Update the overlay: read a scene's subjects at its frame, and build their draw data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core import Contact
from ...scene.blender.frames import playhead
from ...scene.jobs.result import Result
from ...scene.live.contact_state import LiveShapes
from ...scene.live.live_shapes import LiveSubjects
from ..contact_rows import active_row, entry_of_row
from ..properties.preferences import preferences
from ..properties.scene import SceneSettings, envelopes_on, fit_settings, results_of, settings_on
from .draw_data import (
    GHOST_COLOR,
    DrawData,
    Instances,
    contact_marker,
    draw_data_from_shapes,
    envelope_instances,
    label_ranks,
    with_labels,
)
from .state import (
    CachedOverlay,
    find_overlay,
    is_copied_result,
    record_snapshot,
    redraw,
    state,
    subject_identities,
    view_layer_key,
)

_FRAME_TOLERANCE = 1e-3
"""A jump lands as close as the single precision of a sub-frame allows, far within this."""


def refresh(context: Any) -> None:
    """Update the overlays of the context's view layer, if it has one, and of those in all windows."""
    if context.scene is None:
        return
    windows = [window for manager in bpy.data.window_managers for window in manager.windows]
    updated = set()
    for override in [{}, *({"window": window} for window in windows)]:
        with context.temp_override(**override):
            scene, depsgraph = context.scene, context.evaluated_depsgraph_get()
            key = view_layer_key(scene, depsgraph.view_layer)
            if key not in updated:
                updated.add(key)
                update_overlay(scene, depsgraph, ())


def update_overlay(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    changed_uids: Collection[int],
    keep_flags: bool = False,
) -> bool:
    """Update the overlay of a view layer to the frame of its evaluated depsgraph.

    `changed_uids` are the session_uids of objects whose vertices have changed since the last update. With
    `keep_flags`, nothing was selected, hidden or shown since. Returns whether any subject may have moved or
    have other vertices.
    """
    settings = settings_on(scene)
    result = _displayed_result(scene, settings)
    key = view_layer_key(scene, depsgraph.view_layer)
    if result is None:
        if state.overlays.pop(key, None) is not None:
            redraw()
        return False
    cached = find_overlay(scene, depsgraph.view_layer)
    if cached is None or cached.result is not result:
        subjects = LiveSubjects(result, subject_identities(settings.result_id, result))
        cached = state.overlays[key] = CachedOverlay(result, subjects)
        # Scenes and view layers may have been removed.
        keys = {view_layer_key(scene, layer) for scene in bpy.data.scenes for layer in scene.view_layers}
        for removed in set(state.overlays) - keys:
            del state.overlays[removed]
    is_new = cached.live is None
    live = cached.live = cached.subjects.update(
        depsgraph,
        replace(fit_settings(settings), vertex_group=cached.result.group),
        settings.display.shapes_drawn,
        settings.shape,
        use_report=not results_of(settings).stale,
        changed_uids=None if cached.is_invalid else changed_uids,
        keep_flags=keep_flags,
    )
    cached.is_invalid = False
    cached.draw_data = _build_draw_data(cached, live, settings, playhead(scene))
    if is_new:
        record_snapshot(scene, depsgraph.view_layer)
    redraw()
    return live.moved


def _displayed_result(scene: bpy.types.Scene, settings: SceneSettings) -> Result | None:
    """Return the result that a scene displays. Removes a result that the scene has only by being copied."""
    results = results_of(settings)
    result = results.contacts or results.bounds
    if result is not None and is_copied_result(scene, settings.result_id, result):
        settings.rows.clear()
        settings.result_id, result = "", None
    return result if settings.display.show_overlay else None


def _build_draw_data(
    cached: CachedOverlay, live: LiveShapes, settings: SceneSettings, frame: float
) -> DrawData:
    """Build the draw data of an overlay, with ghosts and envelopes from its cache."""
    display, pair = settings.display, entry_of_row(settings, active_row(settings))
    contact = pair if isinstance(pair, Contact) else None
    active = () if pair is None else (pair.a, pair.b)
    bounds = draw_data_from_shapes(live, display.shapes_drawn, settings.shape, active)
    data = bounds.of_subjects(live.selected) if display.only_selected else bounds
    if display.show_names:
        names = cached.subjects.current_names(cached.result.subjects)
        data = with_labels(data, names, label_ranks(live, active))
    ghosts = None if contact is None else _ghosts(cached, bounds.instances, frame, contact)
    if contact is not None and display.show_contact:
        # There are no ghosts before the playhead was at the contact: take sizes from current bounds.
        marker = contact_marker(contact, data.instances if ghosts is None else ghosts)
        data = replace(data, marker=marker)
    parts = [data.instances]
    if ghosts is not None and display.show_ghosts:
        parts.append(ghosts.with_color(GHOST_COLOR))
    if display.show_envelopes:
        envelopes = _envelopes(cached, settings)
        is_shown = live.visible & live.selected if display.only_selected else live.visible
        parts.insert(0, envelopes.take(is_shown[envelopes.owners]).with_color(preferences().swept_color))
    return replace(data, instances=Instances.concatenate(parts)) if len(parts) > 1 else data


def _ghosts(cached: CachedOverlay, bounds: Instances, frame: float, active: Contact) -> Instances | None:
    """Return the bounds of the active pair at its first contact; None until the playhead was there."""
    pair = active.a, active.b
    if abs(frame - active.first.frame) < _FRAME_TOLERANCE:
        cached.ghosts = pair, bounds.take(np.isin(bounds.owners, pair))
    ghosts = cached.ghosts
    return ghosts[1] if ghosts is not None and ghosts[0] == pair else None


def _envelopes(cached: CachedOverlay, settings: SceneSettings) -> Instances:
    """Return the instances of all envelopes that are up to date, made once for the shapes that are shown."""
    envelopes, drawn = envelopes_on(settings), settings.display.shapes_drawn
    if envelopes is None:
        return Instances()
    if cached.envelopes is None or cached.envelopes[0] is not envelopes or cached.envelopes[1] != drawn:
        cached.envelopes = envelopes, drawn, envelope_instances(cached.result, envelopes, drawn)
    return cached.envelopes[2]
