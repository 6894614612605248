"""The Colliders and Export panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from bpy.types import Context, Panel, UILayout

from ...formats.wording import valid_text
from ...scene.colliders.check import ColliderCheck
from ..collider_check import is_outdated, stored_check
from ..operators import export
from ..operators.colliders import check_summary, draw_options
from ..properties.scene import COLLIDER_OPTIONS, selected_count, settings_of
from ..texts import iface_, iface_count, translated
from .sidebar import Tab, fits_in_sidebar, running_job, with_button

_BUTTONS_IN_ROW, _WIDE_BUTTONS_IN_ROW = 3, 2

_LISTED = 12
"""Problems and notes that the panel lists; the report of the command line has all."""
_SURROUNDINGS = 84
"""Pixels of a sidebar that are left and right of a text in the list."""


class COLLISION_BOUNDS_PT_colliders(Tab, Panel):
    """Panel to create and check collider objects."""

    bl_label = "Colliders"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the button to create colliders, that to remove them, and the options."""
        layout = with_button(
            self.layout,
            "collision_bounds.create_colliders",
            "MESH_CUBE",
            "collision_bounds.remove_colliders",
            running_job("collision_bounds.create_colliders"),
            _button_text(context),
        )
        settings = settings_of(context)
        draw_options(layout, settings.colliders, COLLIDER_OPTIONS)
        row = layout.row()
        row.active = settings.display.show_overlay
        row.prop(settings.colliders, "show_surfaces")
        column = self.layout.column(align=True)
        column.operator("collision_bounds.colliders_from_selection", icon="EDITMODE_HLT")
        column.operator("collision_bounds.colliders_from_group", icon="GROUP_VERTEX")
        self.layout.operator("collision_bounds.check_colliders", icon="CHECKMARK")
        check = stored_check(context.scene)
        if check is not None:
            _draw_check(self.layout.box(), context, check)


def _button_text(context: Context) -> str:
    """Return the text of Create Colliders with the number of selected objects; empty for its label."""
    count = selected_count(context)
    return iface_("Create Colliders: {count} Selected", count=count) if count else ""


def _draw_check(layout: UILayout, context: Context, check: ColliderCheck) -> None:
    """Draw the problems and notes of the last check: click a name to select the object."""
    row = layout.row(align=True)
    if is_outdated(context.scene):
        row.label(text="The scene changed: check again", icon="ERROR")
    else:
        row.label(text=check_summary(check), translate=False, icon="ERROR" if check.problems else "CHECKMARK")
    row.operator("collision_bounds.clear_collider_check", text="", icon="X", emboss=False)
    fits = fits_in_sidebar(context, _SURROUNDINGS)
    for index, problem in enumerate(check.findings[:_LISTED]):
        column = layout.column(align=True)
        name = column.row(align=True)
        name.alignment = "LEFT"
        icon: Any = "RESTRICT_SELECT_OFF" if index < len(check.problems) else "INFO"
        select, text = "collision_bounds.select_collider_problem", valid_text(problem.name)
        name.operator(select, text=text, translate=False, icon=icon, emboss=False).index = index
        for line in wrapped_lines(valid_text(translated(problem.text)), fits):
            column.label(text=line, translate=False)
    if len(check.findings) > _LISTED:
        more = len(check.findings) - _LISTED
        text = iface_count(more, "and {count} other", "and {count} others")
        layout.label(text=text, translate=False)


def wrapped_lines(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """Break a text between words into lines that fit; a word that does not fit is a line of its own.

    Languages without spaces are broken between any two characters.
    """
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and not fits(longer):
            yield line
            longer = word
        # Japanese, for example, is written without spaces.
        while len(longer) > 1 and not fits(longer) and any("\u3040" <= each <= "\u9fff" for each in longer):
            count = next((end for end in range(len(longer) - 1, 1, -1) if fits(longer[:end])), 1)
            yield longer[:count]
            longer = longer[count:]
        line = longer
    if line:
        yield line


class COLLISION_BOUNDS_PT_export(Tab, Panel):
    """Panel to export files."""

    bl_label = "Export"

    def draw(self, context: Context) -> None:
        """Draw the buttons of all file formats, and the option to keep results in the blend file."""
        document, *partial = export.EXPORTS
        text = iface_(document.button_text)
        self.layout.operator(document.bl_idname, text=text, translate=False, icon="EXPORT")
        for is_wide, count in ((False, _BUTTONS_IN_ROW), (True, _WIDE_BUTTONS_IN_ROW)):
            buttons = [operator for operator in partial if operator.is_wide == is_wide]
            for start in range(0, len(buttons), count):
                row = self.layout.row(align=True)
                for operator in buttons[start : start + count]:
                    text = iface_(operator.button_text)
                    row.operator(operator.bl_idname, text=text, translate=False)
        self.layout.prop(settings_of(context), "keep_results")
