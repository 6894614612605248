"""Operators of the contact list: step through rows, frame a pair, show hidden rows, copy as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from bpy.props import EnumProperty
from bpy.types import Context, Operator

from ....scene.blender.frames import go_to, playhead
from ....scene.jobs.result import Result
from ...contact_rows import active_row, sorted_and_filtered
from ...properties.contact_list import SORT_BY
from ...properties.scene import results_of, settings_of
from ...translation import n_, rpt_, tip_
from ..command import Command, needs_contacts, needs_row, needs_rows, row_of
from .pair_selection import (
    contact_of_row,
    frame_selected,
    interval_at,
    select_pair,
    selection_problems,
    starts_of_row,
)


class _Step(Command):
    """Base of the operators that go forward or back."""

    tooltips: ClassVar[dict[str, str]]
    if TYPE_CHECKING:
        direction: str

    @classmethod
    def description(cls, _context: Context, properties: _Step) -> str:
        """Return the tooltip for this direction."""
        return tip_(cls.tooltips[properties.direction])


class COLLISION_BOUNDS_OT_go_to_contact(_Step, Operator):
    """Jump to the next or previous row of the list, and select its pair"""

    bl_idname = "collision_bounds.go_to_contact"
    bl_label = "Go to Contact"
    needs = (needs_rows,)
    tooltips: ClassVar = {
        "NEXT": n_("Jump to the next row of the list, and select its pair"),
        "PREVIOUS": n_("Jump to the previous row of the list, and select its pair"),
    }

    direction: EnumProperty(
        name="Direction",
        description="Direction in the list",
        items=(("NEXT", "Next", "Down the list"), ("PREVIOUS", "Previous", "Up the list")),
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context) -> set[str] | None:
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
        return None


def _touches_again(context: Context) -> str:
    """Need a pair that touches several times."""
    settings = settings_of(context)
    row = active_row(settings)
    contact = None if row is None else contact_of_row(settings, row)
    is_several = contact is not None and len(contact.intervals) > 1
    return "" if is_several else n_("This pair touches at most once")


class COLLISION_BOUNDS_OT_go_to_interval(_Step, Operator):
    """Jump to the next or previous time that the pair of the active row begins to touch"""

    bl_idname = "collision_bounds.go_to_interval"
    bl_label = "Go to Interval"
    needs = (needs_rows, needs_row, _touches_again)
    tooltips: ClassVar = {
        "NEXT": n_("Jump to the next time that this pair begins to touch"),
        "PREVIOUS": n_("Jump to the previous time that this pair begins to touch"),
    }

    direction: EnumProperty(
        name="Direction",
        description="Direction in time",
        items=(("NEXT", "Next", "Later in time"), ("PREVIOUS", "Previous", "Earlier in time")),
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context) -> set[str] | None:
        """Jump to the start of the next or previous interval."""
        settings, row = row_of(context)
        starts, now, is_next = starts_of_row(settings, row), playhead(context.scene), self.direction == "NEXT"
        target = interval_at(starts, now) + (1 if is_next else -1)
        if is_next and now < starts[0]:
            target = 0
        if not 0 <= target < len(starts):
            text = rpt_("No next contact of this pair" if is_next else "No previous contact of this pair")
            self.report({"INFO"}, text)
            return {"CANCELLED"}
        go_to(context.scene, starts[target])
        return None


class COLLISION_BOUNDS_OT_sort_contacts(Command, Operator):
    """Sort the list by this column; again to reverse the order"""

    bl_idname = "collision_bounds.sort_contacts"
    bl_label = "Sort Contacts"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}
    needs = (needs_rows,)

    column: EnumProperty(**SORT_BY, options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        """Sort by the column, or reverse the order."""
        contact_list = settings_of(context).contact_list
        contact_list.reverse = contact_list.sort_by == self.column and not contact_list.reverse
        contact_list.sort_by = self.column


def _in_viewport(context: Context) -> str:
    """Need a 3D viewport."""
    is_there = context.area is not None and context.area.type == "VIEW_3D"
    return "" if is_there else n_("Only available in a 3D viewport")


class COLLISION_BOUNDS_OT_frame_pair(Command, Operator):
    """Select the pair of the active row and frame it in the view"""

    bl_idname = "collision_bounds.frame_pair"
    bl_label = "Frame Pair"
    needs = (needs_rows, needs_row, _in_viewport)

    def run(self, context: Context) -> set[str] | None:
        """Select the pair and frame it."""
        settings, row = row_of(context)
        if not select_pair(context, settings, row):
            return self.refuse("; ".join(selection_problems(context, settings, row)))
        frame_selected(context)
        return None


class COLLISION_BOUNDS_OT_show_hidden_rows(Command, Operator):
    """Show all rows that were hidden"""

    bl_idname = "collision_bounds.show_hidden_rows"
    bl_label = "Show Hidden Rows"
    needs = (needs_rows,)

    def run(self, context: Context) -> None:
        """Show all rows."""
        rows = settings_of(context).rows
        rows.foreach_set("hidden", np.zeros(len(rows), dtype=bool))


class COLLISION_BOUNDS_OT_copy_contacts(Command, Operator):
    """Copy the contacts to the clipboard as a text table"""

    bl_idname = "collision_bounds.copy_contacts"
    bl_label = "Copy Contacts"
    bl_options: ClassVar = {"REGISTER"}
    needs = (needs_contacts,)

    def run(self, context: Context) -> None:
        """Copy the table to the clipboard."""
        result = results_of(settings_of(context)).contacts
        assert result is not None, "contacts are needed"
        context.window_manager.clipboard = contacts_as_text(result)
        self.report({"INFO"}, "Contacts copied as text")


def contacts_as_text(result: Result) -> str:
    """Return the table that the command line prints."""
    return result.contacts_table(result.document())
