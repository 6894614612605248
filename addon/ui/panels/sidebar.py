"""The tab in the sidebar of the 3D viewport, and layout helpers of its panels."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Operator, UILayout

from .. import property_events
from ..properties.preferences import NAME, Preferences, preferences


class Tab:
    """Mixin of panels in the tab."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = NAME


def rename(name: str) -> None:
    """Move the registered panels into the tab of that name; an empty name is the default."""
    name = name.strip() or NAME
    if Tab.bl_category == name:
        return
    panels: list[Any] = [panel for panel in Tab.__subclasses__() if panel.is_registered]  # type: ignore[attr-defined]
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    Tab.bl_category = name
    # Subclasses are listed in the order of definition, so parents are registered first.
    for panel in panels:
        bpy.utils.register_class(panel)


def attach() -> None:
    """Move the panels to the tab of the preferences, now and when it changes."""
    property_events.tab_renamed.append(_follow)
    rename(preferences().tab_name)


def detach() -> None:
    """Reset the tab to its default for the next registration."""
    property_events.tab_renamed.remove(_follow)
    Tab.bl_category = NAME


def _follow(owner: Preferences, _context: Context) -> None:
    rename(owner.tab_name)


def with_button(
    layout: UILayout, operator: type[Operator], icon: Any, clear: type[Operator] | None = None
) -> UILayout:
    """Draw the main button of a panel, and return the layout for its settings.

    `clear` is the operator of a small button next to it that clears its results.
    """
    layout.use_property_split = True
    layout.use_property_decorate = False
    row = layout.row(align=True)
    row.scale_y = 1.4
    row.row(align=True).operator(operator.bl_idname, icon=icon)
    if clear is not None:
        row.operator(clear.bl_idname, text="", icon="X")
    return layout


def draw_warning(layout: UILayout, text: str) -> None:
    """Draw a warning; what follows the first colon is on a second line."""
    column = layout.column(align=True)
    for number, part in enumerate(text.split(": ", 1)):
        column.label(text=part[:1].upper() + part[1:], icon="BLANK1" if number else "ERROR")


def folded(layout: UILayout, name: str, label: str) -> UILayout | None:
    """Draw a subpanel that is closed by default; return its layout, or None while it is closed."""
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    parts: tuple[UILayout, UILayout | None] = layout.panel(name, default_closed=True)
    header, body = parts
    header.label(text=label)
    return body


def greyed(layout: UILayout, settings: Any, option: str, reason: str) -> None:
    """Draw an option, greyed out with the reason below it if there is one."""
    row = layout.row()
    row.enabled = not reason
    row.prop(settings, option)
    if reason:
        layout.label(text=reason, icon="INFO")
