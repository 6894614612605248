"""Operators of the contact list: step through rows, frame a pair, show hidden rows, copy as text."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from bpy.props import EnumProperty
from bpy.types import Context, Operator

from ....scene.blender.frames import go_to, playhead
from ....scene.jobs import result_store
from ....scene.jobs.result import Result
from ...contact_rows import active_row, sorted_and_filtered
from ...properties.contact_list import SORT_BY
from ...properties.scene import settings_of
from ...translation import rpt_, tip_
from .ignored_pairs import requires_row
from .pair_selection import (
    contact_of_row,
    frame_selected,
    interval_at,
    select_pair,
    selection_problems,
    starts_of_row,
)


def _has_rows(cls: type[Operator], context: Context) -> bool:
    if context.scene is not None and settings_of(context).rows:
        return True
    cls.poll_message_set(tip_("There are no contacts: find contacts or load a report first"))
    return False


class COLLISION_BOUNDS_OT_go_to_contact(Operator):
    """Jump to the next or previous row of the list, and select its pair"""

    bl_idname = "collision_bounds.go_to_contact"
    bl_label = "Go to Contact"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction",
        description="Direction in the list",
        items=(("NEXT", "Next", "Down the list"), ("PREVIOUS", "Previous", "Up the list")),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: COLLISION_BOUNDS_OT_go_to_contact) -> str:
        """Return the tooltip for this direction."""
        return tip_(
            "Jump to the next row of the list, and select its pair"
            if properties.direction == "NEXT"
            else "Jump to the previous row of the list, and select its pair"
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the list has rows."""
        return _has_rows(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Make the next or previous row active, which jumps to it."""
        settings = settings_of(context)
        order, shown = sorted_and_filtered(settings)
        order = order[shown[order]]
        if not len(order):
            self.report({"WARNING"}, "The list shows no rows: change its search or its filters")
            return {"CANCELLED"}
        step = 1 if self.direction == "NEXT" else -1
        active = np.flatnonzero(order == settings.active_row)
        position = int(active[0]) + step if len(active) else (0 if step > 0 else len(order) - 1)
        if not 0 <= position < len(order):
            self.report({"INFO"}, rpt_("No next row" if step > 0 else "No previous row"))
            return {"CANCELLED"}
        settings.active_row = int(order[position])
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_go_to_interval(Operator):
    """Jump to the next or previous time that the pair of the active row begins to touch"""

    bl_idname = "collision_bounds.go_to_interval"
    bl_label = "Go to Interval"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction",
        description="Direction in time",
        items=(("NEXT", "Next", "Later in time"), ("PREVIOUS", "Previous", "Earlier in time")),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: COLLISION_BOUNDS_OT_go_to_interval) -> str:
        """Return the tooltip for this direction."""
        return tip_(
            "Jump to the next time that this pair begins to touch"
            if properties.direction == "NEXT"
            else "Jump to the previous time that this pair begins to touch"
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active row is a pair that touches several times."""
        if not (_has_rows(cls, context) and requires_row(cls, context)):
            return False
        settings = settings_of(context)
        row = active_row(settings)
        contact = None if row is None else contact_of_row(settings, row)
        if contact is not None and len(contact.intervals) > 1:
            return True
        cls.poll_message_set(tip_("This pair touches at most once"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Jump to the start of the next or previous interval."""
        settings = settings_of(context)
        row = active_row(settings)
        assert row is not None, "poll requires a row"
        starts = starts_of_row(settings, row)
        current = interval_at(starts, playhead(context.scene))
        target = current + (1 if self.direction == "NEXT" else -1)
        if self.direction == "NEXT" and playhead(context.scene) < starts[0]:
            target = 0
        if not 0 <= target < len(starts):
            is_next = self.direction == "NEXT"
            text = rpt_("No next contact of this pair" if is_next else "No previous contact of this pair")
            self.report({"INFO"}, text)
            return {"CANCELLED"}
        go_to(context.scene, starts[target])
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_sort_contacts(Operator):
    """Sort the list by this column; again to reverse the order"""

    bl_idname = "collision_bounds.sort_contacts"
    bl_label = "Sort Contacts"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    column: EnumProperty(**SORT_BY, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the list has rows."""
        return _has_rows(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Sort by the column, or reverse the order."""
        contact_list = settings_of(context).contact_list
        contact_list.reverse = contact_list.sort_by == self.column and not contact_list.reverse
        contact_list.sort_by = self.column
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_frame_pair(Operator):
    """Select the pair of the active row and frame it in the view"""

    bl_idname = "collision_bounds.frame_pair"
    bl_label = "Frame Pair"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether a row is active and the context is a 3D viewport."""
        if not (_has_rows(cls, context) and requires_row(cls, context)):
            return False
        if context.area is None or context.area.type != "VIEW_3D":
            cls.poll_message_set(tip_("Only available in a 3D viewport"))
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        """Select the pair and frame it."""
        settings = settings_of(context)
        row = active_row(settings)
        assert row is not None, "poll requires a row"
        if not select_pair(context, settings, row):
            self.report({"ERROR"}, "; ".join(selection_problems(context, settings, row)))
            return {"CANCELLED"}
        frame_selected(context)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_show_hidden_rows(Operator):
    """Show all rows that were hidden"""

    bl_idname = "collision_bounds.show_hidden_rows"
    bl_label = "Show Hidden Rows"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the list has rows."""
        return _has_rows(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Show all rows."""
        rows = settings_of(context).rows
        rows.foreach_set("hidden", np.zeros(len(rows), dtype=bool))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_copy_contacts(Operator):
    """Copy the contacts to the clipboard as a text table"""

    bl_idname = "collision_bounds.copy_contacts"
    bl_label = "Copy Contacts"
    bl_options: ClassVar = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there are contacts."""
        if (
            context.scene is not None
            and result_store.get(settings_of(context).result_id).contacts is not None
        ):
            return True
        cls.poll_message_set(tip_("There are no contacts: find contacts or load a report first"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Copy the table to the clipboard."""
        result = result_store.get(settings_of(context).result_id).contacts
        assert result is not None, "poll requires contacts"
        context.window_manager.clipboard = contacts_as_text(result)
        self.report({"INFO"}, "Contacts copied as text")
        return {"FINISHED"}


def contacts_as_text(result: Result) -> str:
    """Return the table that the command line prints."""
    return result.contacts_table(result.document())


CLASSES = (
    COLLISION_BOUNDS_OT_sort_contacts,
    COLLISION_BOUNDS_OT_go_to_contact,
    COLLISION_BOUNDS_OT_go_to_interval,
    COLLISION_BOUNDS_OT_frame_pair,
    COLLISION_BOUNDS_OT_show_hidden_rows,
    COLLISION_BOUNDS_OT_copy_contacts,
)
