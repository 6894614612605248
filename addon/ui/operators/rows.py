"""Rows of the contact list: jump to their frames, select their pairs, step, sort, copy, mark in the timeline.

Timeline markers of contacts are recognized by name and frame, because markers of Blender 4.2 have no custom
properties. Other markers are never removed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.types import Context, Operator, Scene

from ...core import Contact
from ...formats.wording import valid_text
from ...scene.blender.frames import go_to, playhead
from ...scene.blender.instances import full_name_of
from ...scene.blender.mesh_data import copied
from ...scene.errors import SceneError
from ...translations import CONTEXT
from ..overlay.state import object_by_uid, subject_identities
from ..properties.contact_list import ContactRow, sorting
from ..properties.options import flag, one_of
from ..properties.scene import SceneSettings, settings_of, settings_on
from ..row_order import active_row, entry_of_row, has_rows, listed_rows
from ..texts import n_, rpt_, rpt_count
from . import need
from .command import Command, OfItem, Outcome, row_of

_ROUNDING = 1e-4
"""Frames: the playhead is in single precision."""
_playhead = SimpleNamespace(is_kept=False)
"""State of `playhead_stays`."""


@contextmanager
def playhead_stays() -> Iterator[None]:
    """Leave the playhead where it is while a row becomes active."""
    _playhead.is_kept = True
    try:
        yield
    finally:
        _playhead.is_kept = False


def go_to_active_row(settings: SceneSettings, context: Context) -> None:
    """Jump to the time of the active row, sub-frame included, and select its pair; open its group."""
    row = active_row(settings)
    if row is None:
        return
    if row.heading >= 0:
        settings.rows[row.heading].is_open = True
    scene: Any = settings.id_data
    if not _playhead.is_kept:
        go_to(scene, frame_of_row(settings, row))
    # While the list follows the selection, the selection must not follow the list.
    if scene != context.scene or settings.contact_list.selected_only:
        return
    if select_pair(context, settings, row) and settings.contact_list.view_follows:
        frame_selected(context)


def frame_selected(context: Any) -> None:
    """Frame the selected objects in the 3D viewport of the context; without one, do nothing."""
    if not _is_viewport(context):
        return
    region = next(region for region in context.area.regions if region.type == "WINDOW")
    with context.temp_override(region=region):
        bpy.ops.view3d.view_selected()


def frame_of_row(settings: SceneSettings, row: ContactRow) -> float:
    """Return the frame of a row's first contact or closest approach, in double precision."""
    entry = entry_of_row(settings, row)
    return entry.first.frame if isinstance(entry, Contact) else entry.frame


def starts_of_row(settings: SceneSettings, row: ContactRow) -> list[float]:
    """Return the frames at which the intervals of a contact begin, or that of a near miss."""
    entry = entry_of_row(settings, row)
    return [span.start for span in entry.intervals] if isinstance(entry, Contact) else [entry.frame]


def interval_at(starts: Sequence[float], frame: float) -> int:
    """Return the index of the interval that began last at a frame; the first one before all of them."""
    return max(bisect_right(starts, frame + _ROUNDING) - 1, 0)


def pair_of_row(
    layer: bpy.types.ViewLayer, settings: SceneSettings, row: ContactRow
) -> list[tuple[str, bpy.types.Object | None]]:
    """Return name and object of both sides of a row; for an instance, those of the object that creates it."""
    pair, result = entry_of_row(settings, row), settings.results.contacts
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


def _direction(description: str, following: str, previous: str) -> Any:
    items = ("NEXT", "Next", following), ("PREVIOUS", "Previous", previous)
    return one_of("Direction", description, *items, options={"SKIP_SAVE"})


class COLLISION_BOUNDS_OT_go_to_contact(OfItem, Operator):
    """Jump to the next or previous row of the list, and select its pair"""

    bl_label = "Go to Contact"
    needs = (need.rows,)
    direction: _direction(
        "Direction in the list",
        "Jump to the next row of the list, and select its pair",
        "Jump to the previous row of the list, and select its pair",
    )

    def run(self, context: Context) -> Outcome:
        """Make the next or previous row active, which jumps to it."""
        settings = settings_of(context)
        listed = listed_rows(settings)
        order = listed.order[listed.passes[listed.order]]
        if not len(order):
            text = rpt_("The list shows no rows: change its search or its filters")
            return self.cancelled(text, "WARNING")
        step = 1 if self.direction == "NEXT" else -1
        active = np.flatnonzero(order == settings.active_row)
        position = int(active[0]) + step if len(active) else (0 if step > 0 else len(order) - 1)
        if not 0 <= position < len(order):
            return self.cancelled(rpt_("No next row" if step > 0 else "No previous row"))
        settings.active_row = int(order[position])
        return None


_touches_again = need.that(
    lambda context: len(starts_of_row(*row_of(context))) > 1, n_("This pair touches at most once")
)


class COLLISION_BOUNDS_OT_go_to_interval(OfItem, Operator):
    """Jump to the next or previous time that the pair of the active row begins to touch"""

    bl_label = "Go to Interval"
    needs = (need.rows, need.row, _touches_again)
    direction: _direction(
        "Direction in time",
        "Jump to the next time that this pair begins to touch",
        "Jump to the previous time that this pair begins to touch",
    )

    def run(self, context: Context) -> Outcome:
        settings, row = row_of(context)
        starts, now, is_next = starts_of_row(settings, row), playhead(context.scene), self.direction == "NEXT"
        target = interval_at(starts, now) + (1 if is_next else -1)
        if is_next and now < starts[0]:
            target = 0
        if not 0 <= target < len(starts):
            text = rpt_("No next contact of this pair" if is_next else "No previous contact of this pair")
            return self.cancelled(text)
        go_to(context.scene, starts[target])
        return None


def deepest_frame_now(settings: SceneSettings, row: ContactRow, frame: float) -> float | None:
    """Return the deepest frame of the contact that began last at a frame; None where it is not known."""
    entry = entry_of_row(settings, row)
    if not isinstance(entry, Contact) or not entry.details:
        return None
    return float(entry.details[interval_at(starts_of_row(settings, row), frame)].deepest_frame)


def _deepest_of_context(context: Context) -> float | None:
    return deepest_frame_now(*row_of(context), playhead(context.scene))


_is_deepest_known = need.that(
    lambda context: _deepest_of_context(context) is not None, n_("Where this pair is deepest is not known")
)


class COLLISION_BOUNDS_OT_go_to_deepest(OfItem, Operator):
    """Jump to the frame at which this pair is deepest in this contact"""

    bl_label = "Go to Deepest"
    needs = (need.rows, need.row, _is_deepest_known)

    def run(self, context: Context) -> None:
        frame = _deepest_of_context(context)
        assert frame is not None, "the button is off then"
        go_to(context.scene, frame)


class COLLISION_BOUNDS_OT_sort_contacts(Command, Operator):
    """Sort the list by this column; again to reverse the order"""

    bl_label = "Sort Contacts"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}
    needs = (need.rows,)

    column: sorting(options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        contact_list = settings_of(context).contact_list
        contact_list.reverse = contact_list.sort_by == self.column and not contact_list.reverse
        contact_list.sort_by = self.column


def _is_viewport(context: Context) -> bool:
    return context.area is not None and context.area.type == "VIEW_3D"


class COLLISION_BOUNDS_OT_frame_pair(Command, Operator):
    """Select the pair of the active row and frame it in the view"""

    bl_label = "Frame Pair"
    needs = (need.rows, need.row, need.that(_is_viewport, n_("Only available in a 3D viewport")))

    def run(self, context: Context) -> None:
        settings, row = row_of(context)
        if not select_pair(context, settings, row):
            raise SceneError("; ".join(selection_problems(context, settings, row)))
        frame_selected(context)


class COLLISION_BOUNDS_OT_show_hidden_rows(Command, Operator):
    """Show all rows that were hidden"""

    bl_label = "Show Hidden Rows"
    needs = (need.rows,)

    def run(self, context: Context) -> None:
        rows = settings_of(context).rows
        rows.foreach_set("hidden", np.zeros(len(rows), dtype=bool))


class COLLISION_BOUNDS_OT_copy_contacts(Command, Operator):
    """Copy the contacts to the clipboard as a text table"""

    bl_label = "Copy Contacts"
    bl_options: ClassVar = {"REGISTER"}
    needs = (need.contacts,)

    def run(self, context: Context) -> str:
        result = settings_of(context).results.contacts
        context.window_manager.clipboard = result.contacts_table(result.document())
        return rpt_("Contacts copied as text")


def has_markers(scene: Scene) -> bool:
    """Return whether the timeline has contact markers.

    Panels call this in every redraw, so frames are compared as arrays, and names only where frames agree.
    """
    added, existing = settings_on(scene).contact_list.markers, scene.timeline_markers
    added_frames, frames = (copied(markers, "frame", np.int32) for markers in (added, existing))
    return any(
        existing[k].name == added[i].name
        for i in np.flatnonzero(np.isin(added_frames, frames)).tolist()
        for k in np.flatnonzero(frames == added_frames[i]).tolist()
    )


def add_markers(scene: Scene, all_intervals: bool = False) -> int:
    """Add markers for the contacts of the list that are not hidden; return the number of markers added.

    With `all_intervals`, a pair that touches several times gets a marker each time.
    Contacts on one frame share a marker, because the names of several could not be read. A marker that exists
    already, also one of the user's, is not added again. Markers are on whole frames: a contact between frames
    gets its marker on the frame before, so that it is never late.
    """
    settings = settings_on(scene)
    existing = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    pairs: dict[int, list[str]] = defaultdict(list)
    for row in settings.rows if has_rows(settings) else ():
        if row.is_near_miss or row.is_heading or row.hidden:
            continue
        starts = starts_of_row(settings, row) if all_intervals else [frame_of_row(settings, row)]
        # A contact this close below a whole frame is on it.
        for frame in sorted({math.floor(start + _ROUNDING) for start in starts}):
            pairs[frame].append(f"{row.a} – {row.b}")
    settings.contact_list.marks_all_intervals = all_intervals
    count = 0
    for frame, names in pairs.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        # Blender truncates marker names to 63 bytes.
        name = names[0].encode()[: 63 - len(more)].decode(errors="ignore") + more
        if (name, frame) in existing:
            continue
        marker = scene.timeline_markers.new(name, frame=frame)
        existing.add((marker.name, frame))
        added = settings.contact_list.markers.add()
        added.name, added.frame = marker.name, frame
        count += 1
    return count


def remove_markers(scene: Scene) -> int:
    """Remove contact markers and return their number; markers that were moved or renamed stay."""
    added = settings_on(scene).contact_list.markers
    known = {(entry.name, entry.frame) for entry in added}
    removed = [marker for marker in scene.timeline_markers if (marker.name, marker.frame) in known]
    for marker in removed:
        scene.timeline_markers.remove(marker)
    added.clear()
    return len(removed)


def renew_markers(scene: Scene) -> None:
    """Replace contact markers by those of new contacts, if there are markers."""
    if has_markers(scene):
        remove_markers(scene)
        add_markers(scene, settings_on(scene).contact_list.marks_all_intervals)


def _has_contacts_or_markers(context: Context) -> bool:
    settings = settings_of(context)
    # Contacts come before near misses, so the first row shows whether there are contacts.
    return (has_rows(settings) and not settings.rows[0].is_near_miss) or has_markers(context.scene)


class COLLISION_BOUNDS_OT_contact_markers(Command, Operator):
    """Add timeline markers for the listed contacts, or remove them"""

    bl_label = "Contact Markers"
    needs = (need.that(_has_contacts_or_markers, n_("There are no contacts to mark: find contacts first")),)

    action: one_of(
        "Action",
        "Action on the markers",
        ("TOGGLE", "Toggle", "Remove the markers if there are any, else add them"),
        ("ADD", "Add", "Add missing markers"),
        ("REMOVE", "Remove", "Remove all contact markers"),
        translation_context=CONTEXT,
        options={"SKIP_SAVE"},
    )
    all_intervals: flag(
        "All Intervals",
        "Mark each time that a pair begins to touch, not only the first",
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context) -> str:
        scene: Scene = context.scene
        if self.action == "REMOVE" or (self.action == "TOGGLE" and has_markers(scene)):
            return rpt_count(remove_markers(scene), "{count} marker removed", "{count} markers removed")
        added = add_markers(scene, self.all_intervals)
        return rpt_count(added, "{count} marker added", "{count} markers added")
