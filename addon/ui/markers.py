"""Timeline markers where pairs first touch. Ours are known by name and frame, and only those are removed."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.props import EnumProperty
from bpy.types import Context, Operator, Scene
from numpy.typing import NDArray

from ..formats.wording import counted
from .pair_selection import frame_of
from .properties import settings_of
from .scene_settings import settings_on

_ROUNDING = 1e-4
"""Of a frame: a contact this close to the next whole frame is there, but for rounding."""


def has_markers(scene: Scene) -> bool:
    """Whether markers were made of contacts. A panel asks whenever it is drawn: names are read of few."""
    kept, there = settings_on(scene).listing.markers, scene.timeline_markers
    ours, all_frames = _frames(kept), _frames(there)
    return any(
        there[place].name == kept[number].name
        for number in np.flatnonzero(np.isin(ours, all_frames)).tolist()
        for place in np.flatnonzero(all_frames == ours[number]).tolist()
    )


def _frames(markers: Any) -> NDArray[np.int32]:
    """The frame (n,) of each marker, of the timeline or kept."""
    frames = np.empty(len(markers), dtype=np.int32)
    markers.foreach_get("frame", frames)
    return frames


def add(scene: Scene) -> int:
    """Mark the contacts that are listed and not hidden; how many markers that took.

    One that is there already, the user's own too, is not made twice. A marker has a whole frame: the one
    before a contact between frames, so that it is never late.
    """
    settings = settings_on(scene)
    there = {(marker.name, marker.frame) for marker in scene.timeline_markers}
    count = 0
    for row in settings.rows:
        if row.is_near_miss or row.hidden:
            continue
        # As many bytes as Blender keeps of a name.
        name = f"{row.a} – {row.b}".encode()[:63].decode(errors="ignore")
        frame = math.floor(frame_of(settings, row) + _ROUNDING)
        if (name, frame) in there:
            continue
        marker = scene.timeline_markers.new(name, frame=frame)
        there.add((marker.name, frame))
        kept = settings.listing.markers.add()
        kept.name, kept.frame = marker.name, frame
        count += 1
    return count


def remove(scene: Scene) -> int:
    """Take away the markers that were made; how many. One that was moved or renamed is the user's now."""
    kept = settings_on(scene).listing.markers
    ours = {(entry.name, entry.frame) for entry in kept}
    gone = [marker for marker in scene.timeline_markers if (marker.name, marker.frame) in ours]
    for marker in gone:
        scene.timeline_markers.remove(marker)
    kept.clear()
    return len(gone)


def renew(scene: Scene) -> None:
    """After other contacts were found: mark those instead, if contacts were marked before."""
    if has_markers(scene):
        remove(scene)
        add(scene)


class ContactMarkers(Operator):
    """Mark the contacts of the list in the timeline, or take these markers away again"""

    bl_idname = "collision_bounds.contact_markers"
    bl_label = "Contact Markers"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    action: EnumProperty(
        name="Action",
        description="What to do with the markers",
        items=(
            ("TOGGLE", "Toggle", "Take them away if there are any, make them if not"),
            ("ADD", "Add", "Make those that are not there"),
            ("REMOVE", "Remove", "Take away all that were made"),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs contacts to mark, or markers to take away."""
        if context.scene is None:
            return False
        rows = settings_of(context).rows
        # Contacts come before near misses.
        if (len(rows) and not rows[0].is_near_miss) or has_markers(context.scene):
            return True
        cls.poll_message_set("There are no contacts to mark: find contacts first")
        return False

    def execute(self, context: Context) -> set[str]:
        """Make them, or take them away."""
        scene: bpy.types.Scene = context.scene
        removes = self.action == "REMOVE" or (self.action == "TOGGLE" and has_markers(scene))
        count = remove(scene) if removes else add(scene)
        self.report({"INFO"}, f"{counted(count, 'marker')} {'removed' if removes else 'added'}")
        return {"FINISHED"}


CLASSES = (ContactMarkers,)
