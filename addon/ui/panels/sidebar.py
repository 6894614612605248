"""The tab in the sidebar of the 3D viewport, and layout helpers of its panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import blf
import bpy
from bpy.types import Context, Panel, UILayout

from .. import job_state
from ..properties.preferences import NAME, Preferences, preferences
from ..result_texts import Note, first_and_count
from ..texts import draw_line, draw_note, iface_, wrapped_lines


class Tab:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = NAME


class BoundsTab(Tab):
    """Mixin of panels in the Bounds panel, closed at first so that the list of contacts is on the screen."""

    bl_parent_id = "COLLISION_BOUNDS_PT_bounds"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}


def rename(owner: Preferences, _context: Context | None = None) -> None:
    """Move the registered panels into the tab of the preferences; an empty name is the default."""
    name = owner.tab_name.strip() or NAME
    if Tab.bl_category == name:
        return
    known: list[Any] = Panel.__subclasses__()
    panels = [panel for panel in known if issubclass(panel, Tab) and panel.is_registered]
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    Tab.bl_category = name
    for panel in sorted(panels, key=lambda each: hasattr(each, "bl_parent_id")):  # parents first
        bpy.utils.register_class(panel)


def attach() -> None:
    """Move the panels to the tab of the preferences."""
    rename(preferences())


def detach() -> None:
    """Reset the tab to its default for the next registration."""
    Tab.bl_category = NAME


_AROUND_NOTE = 50
"""Pixels of a popover left and right of a text with an icon."""


class Popover:
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_ui_units_x = 20


def with_button(
    layout: UILayout,
    operator: str,
    icon: Any,
    clear: str = "",
    job: job_state.RunningJob | None = None,
    text: str = "",
) -> UILayout:
    """Draw the main button of a panel, and return the layout for its settings.

    `text` replaces the label of the operator; it is translated already. `clear` is the operator of a small
    button next to it that clears its results. While `job` runs, its progress is in its place, in
    the same height, with Stop at its end: what is below does not move, and a double click does not hit Stop.
    """
    layout.use_property_split, layout.use_property_decorate = True, False
    row = layout.row(align=True)
    row.scale_y = 1.4
    if job is not None:
        job.draw(row.row(align=True))
        row.operator("collision_bounds.stop_scan", text="", icon="CANCEL")
        return layout
    shown: Any = {"text": text, "translate": False} if text else {}
    row.row(align=True).operator(operator, icon=icon, **shown)
    if clear:
        row.operator(clear, text="", icon="X")
    return layout


def running_job(*operators: str) -> job_state.RunningJob | None:
    job = job_state.running()
    return job if job is not None and job.operator in operators else None


def draw_warning_button(layout: UILayout, panel: str, warnings: Sequence[str]) -> None:
    """Draw the first warning, up to its colon, as a button that shows all of them in full."""
    text = first_and_count([warning.split(": ", 1)[0] for warning in warnings], translate=iface_)
    layout.popover(panel, text=text, translate=False, icon="ERROR")


def draw_note_button(layout: UILayout, panel: str, notes: Sequence[Note]) -> None:
    """Draw a note, up to its colon, or several in short, as a button that shows all of them in full."""
    texts = list(dict.fromkeys(note.short for note in notes))
    if len(notes) == 1:
        texts = [notes[0].text.split(": ", 1)[0]]
    elif len(texts) > 3:
        # A sidebar that nobody has resized has room for three.
        texts[2:] = [f"+{len(texts) - 2}"]
    layout.popover(panel, text=", ".join(texts), translate=False, icon="INFO")


def draw_warnings(layout: UILayout, warnings: Sequence[str], icon: Any = "ERROR") -> None:
    """Draw warnings in full, in lines that fit a popover; what follows the first colon begins a line."""
    width_of, room = measure_texts(bpy.context), 20 * Popover.bl_ui_units_x - _AROUND_NOTE
    for warning in warnings:
        parts = (part[:1].upper() + part[1:] for part in warning.split(": ", 1))
        lines = [line for part in parts for line in wrapped_lines(part, lambda text: width_of(text) <= room)]
        draw_note(layout.column(align=True), "\n".join(lines), icon)


def folded(layout: UILayout, name: str, label: str, closed: bool = True, note: str = "") -> UILayout | None:
    """Draw a subpanel, with a note in its header; return its layout, or None while it is closed.

    The label is translated here, the note is shown as it is.
    """
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    parts: tuple[UILayout, UILayout | None] = layout.panel(name, default_closed=closed)
    header, body = parts
    header.label(text=iface_(label), translate=False)
    if note:
        end = header.row()
        end.alignment = "RIGHT"
        end.label(text=note, translate=False)
    return body


def greyed(layout: UILayout, settings: Any, option: str, reason: str) -> None:
    """Draw an option, greyed out with the reason below it if there is one."""
    row = layout.row()
    row.enabled = not reason
    row.prop(settings, option)
    if reason:
        draw_line(layout, reason, "INFO")


def draw_parts(layout: UILayout, settings: Any) -> None:
    """Draw the number of convex parts, and the depth of notches that stay closed."""
    column = layout.column(align=True)
    column.prop(settings, "parts")
    row = column.row(align=True)
    row.enabled = settings.parts > 1
    row.prop(settings, "parts_tolerance")


HEADER_SURROUNDINGS = 96
"""Pixels of a sidebar that are left and right of the texts in the header of a panel."""
_DEFAULT_REGION = 280
"""Pixels of a sidebar that nobody has resized."""


def sidebar_width(context: Context) -> float:
    """Return the width of the sidebar, in pixels at a scale of 1."""
    scale = context.preferences.system.ui_scale
    return context.region.width / scale if context.region else _DEFAULT_REGION


def measure_texts(context: Context) -> Callable[[str], float]:
    """Make a function that returns the width of a text, in pixels at a scale of 1."""
    preferences: Any = context.preferences
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    dimensions: Callable[[int, str], Any] = blf.dimensions
    scale = preferences.system.ui_scale or 1.0  # 0 in background
    blf.size(0, preferences.ui_styles[0].widget.points * scale)
    return lambda text: dimensions(0, text)[0] / scale


def fits_in_sidebar(context: Context, surroundings: float) -> Callable[[str], bool]:
    """Make a function that returns whether a text fits into the sidebar between other contents."""
    width_of, room = measure_texts(context), sidebar_width(context) - surroundings
    return lambda text: width_of(text) <= room
