"""The pair of a row: jump to its frame, select its objects, explain why they cannot be selected."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context

from ....core import Contact
from ....formats.wording import valid_text
from ....scene.blender.frames import go_to
from ....scene.blender.names import full_name_of
from ... import property_events
from ...contact_rows import active_row, entry_of_row
from ...overlay.state import object_by_uid, subject_identities
from ...properties.contact_list import ContactRow
from ...properties.scene import SceneSettings, results_of
from ...translation import rpt_

_ROUNDING = 1e-4
"""Frames: the playhead is in single precision."""


class _Playhead:
    """State of `playhead_stays`."""

    is_kept = False


@contextmanager
def playhead_stays() -> Iterator[None]:
    """Leave the playhead where it is while a row becomes active."""
    _Playhead.is_kept = True
    try:
        yield
    finally:
        _Playhead.is_kept = False


def go_to_active_row(settings: SceneSettings, context: Context) -> None:
    """Jump to the time of the active row, sub-frame included, and select its pair."""
    row = active_row(settings)
    if row is None:
        return
    scene: Any = settings.id_data
    if not _Playhead.is_kept:
        go_to(scene, frame_of_row(settings, row))
    # While the list follows the selection, the selection must not follow the list.
    if scene != context.scene or settings.contact_list.selected_only:
        return
    if select_pair(context, settings, row) and settings.contact_list.view_follows:
        frame_selected(context)


def frame_selected(context: Context) -> None:
    """Frame the selected objects in the 3D viewport of the context; without one, do nothing."""
    if context.area is None or context.area.type != "VIEW_3D":
        return
    region = next(region for region in context.area.regions if region.type == "WINDOW")
    overridable: Any = context  # the type stubs lack temp_override
    with overridable.temp_override(region=region):
        bpy.ops.view3d.view_selected()


def frame_of_row(settings: SceneSettings, row: ContactRow) -> float:
    """Return the frame of a row's first contact or closest approach.

    The result has it in double precision, the row only in single precision. The row is used if the session no
    longer has the result.
    """
    entry = entry_of_row(settings, row)
    if entry is None:
        return row.frame
    return entry.first.frame if isinstance(entry, Contact) else entry.frame


def contact_of_row(settings: SceneSettings, row: ContactRow) -> Contact | None:
    """Return the contact of a row; None for a near miss, or if the session no longer has the result."""
    entry = entry_of_row(settings, row)
    return entry if isinstance(entry, Contact) else None


def starts_of_row(settings: SceneSettings, row: ContactRow) -> list[float]:
    """Return the frames at which the intervals of a contact begin; the first alone without the result."""
    contact = contact_of_row(settings, row)
    return [row.frame] if contact is None else [span.start for span in contact.intervals]


def interval_at(starts: Sequence[float], frame: float) -> int:
    """Return the index of the interval that began last at a frame; the first one before all of them."""
    return max(bisect_right(starts, frame + _ROUNDING) - 1, 0)


def pair_of_row(
    layer: bpy.types.ViewLayer, settings: SceneSettings, row: ContactRow
) -> list[tuple[str, bpy.types.Object | None]]:
    """Return name and object of both sides of a row; for an instance, those of the object that creates it."""
    pair, result = entry_of_row(settings, row), results_of(settings).contacts
    if pair is None or result is None:
        return [(name, _find_object(layer, name)) for name in (row.a, row.b)]
    known = subject_identities(settings.result_id, result)
    names = [(result.subjects[side].key[0], known[side].owner) for side in (pair.a, pair.b)]
    # By session_uid, because objects may have been renamed since the scan.
    return [(name, _find_object(layer, name) if uid < 0 else object_by_uid(uid)) for name, uid in names]


def select_pair(context: Context, settings: SceneSettings, row: ContactRow) -> list[bpy.types.Object]:
    """Select only the pair of a row, and return the selected objects; the first becomes active.

    Hidden and unselectable objects are skipped.
    """
    return select_only(context, [item for _, item in pair_of_row(context.view_layer, settings, row)])


def select_only(context: Context, items: Sequence[bpy.types.Object | None]) -> list[bpy.types.Object]:
    """Select only these objects, and return those that were selected; see `select_pair`."""
    if context.mode != "OBJECT":
        return []
    layer = context.view_layer
    visible = [item for item in items if item is not None and item.visible_get(view_layer=layer)]
    for item in layer.objects.selected[:]:
        item.select_set(False, view_layer=layer)
    for item in visible:
        item.select_set(True, view_layer=layer)
    selected = [item for item in visible if item.select_get(view_layer=layer)]
    if selected:
        layer.objects.active = selected[0]
    return selected


def selection_problems(context: Context, settings: SceneSettings, row: ContactRow) -> list[str]:
    """Return the reasons why the objects of a row cannot be selected, one line each; empty if they can."""
    reasons = []
    for full_name, item in dict(pair_of_row(context.view_layer, settings, row)).items():
        name = valid_text(full_name)
        if item is not None and item.visible_get(view_layer=context.view_layer):
            if item.hide_select:
                reasons.append(rpt_("{name} is not selectable", name=name))
        elif item is None or _find_object(context.view_layer, full_name_of(item)) is None:
            reasons.append(rpt_("{name} is no longer in the scene", name=name))
        else:
            reasons.append(rpt_("{name} is hidden", name=name))
    if not reasons and context.mode != "OBJECT":
        reasons.append(rpt_("Go to Object Mode to select"))
    return reasons


def _find_object(layer: bpy.types.ViewLayer, name: str) -> bpy.types.Object | None:
    """Return the object with a full name, which includes the file of a linked object; None without one."""
    items: Any = layer.objects
    item = items.get(valid_text(name))
    if item is not None and full_name_of(item) == name:
        return item
    if item is None and not name.endswith("]") and name == valid_text(name):
        # Full names of linked objects end with a bracket. Panels call this in every redraw, so skip the
        # search.
        return None
    return next((item for item in items if full_name_of(item) == name), None)


def attach() -> None:
    """Subscribe to changes of the active row."""
    property_events.active_contact_changed.append(go_to_active_row)


def detach() -> None:
    """Unsubscribe."""
    property_events.active_contact_changed.remove(go_to_active_row)
