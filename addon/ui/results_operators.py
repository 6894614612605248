"""What can be done with the result list: step through it, frame a pair, show hidden rows, copy it."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.props import EnumProperty
from bpy.types import Context, Operator

from ..formats import contacts_table
from ..scene import session
from ..scene.result import Result
from .contact_rows import active_row, listed
from .pair_selection import select_pair, why_unseen
from .properties import settings_of


def _has_rows(cls: type[Operator], context: Context) -> bool:
    if context.scene is not None and settings_of(context).rows:
        return True
    cls.poll_message_set("There are no contacts: find contacts or load a report first")
    return False


class GoToContact(Operator):
    """Jump to the next or the previous row of the list, and select its pair"""

    bl_idname = "collision_bounds.go_to_contact"
    bl_label = "Go to Contact"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    direction: EnumProperty(
        name="Direction",
        description="Which way along the list",
        items=(("NEXT", "Next", "Down the list"), ("PREVIOUS", "Previous", "Up the list")),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: GoToContact) -> str:
        """What the button does."""
        return f"Jump to the {properties.direction.lower()} row of the list, and select its pair"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs rows."""
        return _has_rows(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Make the neighbour in the list active, which jumps."""
        settings = settings_of(context)
        order, shown = listed(settings)
        order = order[shown[order]]
        if not len(order):
            self.report({"WARNING"}, "The list shows no rows: change its search or its filters")
            return {"CANCELLED"}
        step = 1 if self.direction == "NEXT" else -1
        found = np.flatnonzero(order == settings.active_row)
        place = (0 if step > 0 else len(order) - 1) if not len(found) else int(found[0]) + step
        if not 0 <= place < len(order):
            self.report({"INFO"}, f"No {self.direction.lower()} row")
            return {"CANCELLED"}
        settings.active_row = int(order[place])
        return {"FINISHED"}


class FramePair(Operator):
    """Select the pair of the clicked row, and turn the view to it"""

    bl_idname = "collision_bounds.frame_pair"
    bl_label = "Frame Pair"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a row and a viewport."""
        if not _has_rows(cls, context):
            return False
        if active_row(settings_of(context)) is None:
            cls.poll_message_set("Click a row first")
            return False
        if context.area is None or context.area.type != "VIEW_3D":
            cls.poll_message_set("Needs a 3D viewport")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        """Select and frame."""
        settings = settings_of(context)
        row = active_row(settings)
        assert row is not None, "poll makes sure of a row"
        if not select_pair(context, settings, row):
            self.report({"ERROR"}, "; ".join(why_unseen(context, settings, row)))
            return {"CANCELLED"}
        region = next(region for region in context.area.regions if region.type == "WINDOW")
        around: Any = context
        with around.temp_override(region=region):
            bpy.ops.view3d.view_selected()
        return {"FINISHED"}


class ShowHiddenRows(Operator):
    """Show again the rows that were hidden one by one"""

    bl_idname = "collision_bounds.show_hidden_rows"
    bl_label = "Show Hidden Rows"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs rows."""
        return _has_rows(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Hide none."""
        rows = settings_of(context).rows
        rows.foreach_set("hidden", np.zeros(len(rows), dtype=bool))
        return {"FINISHED"}


class CopyContacts(Operator):
    """Copy the contacts as a table, as the command line prints it"""

    bl_idname = "collision_bounds.copy_contacts"
    bl_label = "Copy Contacts"
    bl_options: ClassVar = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs contacts."""
        if context.scene is not None and session.get(settings_of(context).result_id).contacts is not None:
            return True
        cls.poll_message_set("There are no contacts: find contacts or load a report first")
        return False

    def execute(self, context: Context) -> set[str]:
        """Fill the clipboard."""
        result = session.get(settings_of(context).result_id).contacts
        assert result is not None, "poll makes sure of contacts"
        context.window_manager.clipboard = as_text(result)
        self.report({"INFO"}, "Contacts copied as text")
        return {"FINISHED"}


def as_text(result: Result) -> str:
    """The table that the command line prints."""
    return contacts_table(result.document(), result.linear_only)


CLASSES = (GoToContact, FramePair, ShowHiddenRows, CopyContacts)
