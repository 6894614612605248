"""Timeline markers at first contacts, or at all intervals of contact.

Contact markers are recognized by name and frame, because markers of Blender 4.2 have no custom properties.
Other markers are never removed.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from bpy.props import BoolProperty, EnumProperty
from bpy.types import Context, Operator, Scene

from ...scene.blender.mesh_data import copied
from ...translations import CONTEXT
from ..properties.scene import settings_of, settings_on
from ..translation import n_, rpt_count
from .command import Command
from .rows import frame_of_row, starts_of_row

_ROUNDING = 1e-4
"""Frames: a contact this close below a whole frame is on it, up to rounding."""


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


def add(scene: Scene, all_intervals: bool = False) -> int:
    """Add markers for the contacts of the list that are not hidden; return the number of markers added.

    With `all_intervals`, a pair that touches several times gets a marker each time.
    Contacts on one frame share a marker, because the names of several could not be read. A marker that exists
    already, also one of the user's, is not added again. Markers are on whole frames: a contact between frames
    gets its marker on the frame before, so that it is never late.
    """
    settings = settings_on(scene)
    existing = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    pairs: dict[int, list[str]] = defaultdict(list)
    for row in settings.rows:
        if row.is_near_miss or row.hidden:
            continue
        starts = starts_of_row(settings, row) if all_intervals else [frame_of_row(settings, row)]
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


def remove(scene: Scene) -> int:
    """Remove contact markers and return their number; markers that were moved or renamed stay."""
    added = settings_on(scene).contact_list.markers
    known = {(entry.name, entry.frame) for entry in added}
    removed = [marker for marker in scene.timeline_markers if (marker.name, marker.frame) in known]
    for marker in removed:
        scene.timeline_markers.remove(marker)
    added.clear()
    return len(removed)


def renew(scene: Scene) -> None:
    """Replace contact markers by those of new contacts, if there are markers."""
    if has_markers(scene):
        remove(scene)
        add(scene, settings_on(scene).contact_list.marks_all_intervals)


def _needs_contacts_or_markers(context: Context) -> str:
    rows = settings_of(context).rows
    # Contacts come before near misses, so the first row shows whether there are contacts.
    if (len(rows) and not rows[0].is_near_miss) or has_markers(context.scene):
        return ""
    return n_("There are no contacts to mark: find contacts first")


class COLLISION_BOUNDS_OT_contact_markers(Command, Operator):
    """Add timeline markers for the listed contacts, or remove them"""

    bl_label = "Contact Markers"
    needs = (_needs_contacts_or_markers,)

    action: EnumProperty(
        name="Action",
        description="Action on the markers",
        translation_context=CONTEXT,
        items=(
            ("TOGGLE", "Toggle", "Remove the markers if there are any, else add them"),
            ("ADD", "Add", "Add missing markers"),
            ("REMOVE", "Remove", "Remove all contact markers"),
        ),
        options={"SKIP_SAVE"},
    )
    all_intervals: BoolProperty(
        name="All Intervals",
        description="Mark each time that a pair begins to touch, not only the first",
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context) -> None:
        """Add the markers, or remove them."""
        scene: Scene = context.scene
        if self.action == "REMOVE" or (self.action == "TOGGLE" and has_markers(scene)):
            text = rpt_count(remove(scene), "{count} marker removed", "{count} markers removed")
        else:
            added = add(scene, self.all_intervals)
            text = rpt_count(added, "{count} marker added", "{count} markers added")
        self.report({"INFO"}, text)
