"""From a row to its pair in the scene: the time, the two objects, and what is in the way of seeing them."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context

from ...scene.blender.timeline import go_to
from ...scene.jobs import session
from .. import updates
from ..contact_rows import active_row
from ..overlay.state import object_by_uid, subject_identities
from ..properties.contact_list import COLLISION_BOUNDS_PG_contact_row
from ..properties.scene import COLLISION_BOUNDS_PG_scene


def show_active_row(settings: COLLISION_BOUNDS_PG_scene, context: Context) -> None:
    """Jump to the time of the row that was clicked, sub-frame included, and select its pair."""
    row = active_row(settings)
    if row is None:
        return
    scene: Any = settings.id_data
    go_to(scene, frame_of(settings, row))
    if scene == context.scene:
        select_pair(context, settings, row)


def frame_of(settings: COLLISION_BOUNDS_PG_scene, row: COLLISION_BOUNDS_PG_contact_row) -> float:
    """When a row's pair first touches, or is closest: as it was found, if that is still known."""
    result = session.get(settings.result_id).contacts
    if result is None or result.report is None:
        return row.frame
    if row.is_near_miss:
        return result.report.clearances[row.index].frame
    return result.report.contacts[row.index].first.frame


def _pair(
    layer: bpy.types.ViewLayer, settings: COLLISION_BOUNDS_PG_scene, row: COLLISION_BOUNDS_PG_contact_row
) -> list[tuple[str, bpy.types.Object | None]]:
    """What the two of a row are called, and what they are: of an instance, the object that makes it."""
    result = session.get(settings.result_id).contacts
    if result is None or result.report is None:
        return [(name, _named(layer, name)) for name in (row.a, row.b)]
    pair = (result.report.clearances if row.is_near_miss else result.report.contacts)[row.index]
    known = subject_identities(settings.result_id, result)
    names = [(result.subjects[side].key[0], known[side].owner) for side in (pair.a, pair.b)]
    # By who they were, whatever they are called now.
    return [(name, _named(layer, name) if uid < 0 else object_by_uid(uid)) for name, uid in names]


def select_pair(
    context: Context, settings: COLLISION_BOUNDS_PG_scene, row: COLLISION_BOUNDS_PG_contact_row
) -> list[bpy.types.Object]:
    """Select just the pair, the first of the two active, as far as it is there to be selected."""
    if context.mode != "OBJECT":
        return []
    layer = context.view_layer
    seen = [
        item
        for _, item in _pair(layer, settings, row)
        if item is not None and item.visible_get(view_layer=layer)
    ]
    for item in layer.objects.selected[:]:
        item.select_set(False, view_layer=layer)
    for item in seen:
        item.select_set(True, view_layer=layer)
    seen = [item for item in seen if item.select_get(view_layer=layer)]
    if seen:
        layer.objects.active = seen[0]
    return seen


def why_unseen(
    context: Context, settings: COLLISION_BOUNDS_PG_scene, row: COLLISION_BOUNDS_PG_contact_row
) -> list[str]:
    """Why a row's objects cannot be selected, one line each; nothing when they can."""
    reasons = []
    for name, item in dict(_pair(context.view_layer, settings, row)).items():
        if item is not None and item.visible_get(view_layer=context.view_layer):
            if item.hide_select:
                reasons.append(f"{name}: its selection is disabled")
        elif item is None or _named(context.view_layer, item.name_full) is None:
            reasons.append(f"{name} is no longer in the scene")
        else:
            reasons.append(f"{name} is hidden")
    if not reasons and context.mode != "OBJECT":
        reasons.append("Leave this mode to select the pair")
    return reasons


def _named(layer: bpy.types.ViewLayer, name: str) -> bpy.types.Object | None:
    """The object of that full name; names of linked ones say their file."""
    items: Any = layer.objects
    item = items.get(name)
    if item is not None and item.name_full == name:
        return item
    if item is None and not name.endswith("]"):
        return None  # as no linked one is called: a panel asks whenever it is drawn
    return next((item for item in items if item.name_full == name), None)


def attach() -> None:
    """Follow the clicks on rows."""
    updates.contact_chosen.append(show_active_row)


def detach() -> None:
    """No longer follow them."""
    updates.contact_chosen.remove(show_active_row)
