"""The tab in the 3D viewport's sidebar, and what its panels have in common."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Operator, UILayout

NAME = "Collision Bounds"


class Tab:
    """Where panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = NAME


def rename(name: str) -> None:
    """Move the panels that are registered into the tab of that name, or of ours where it is empty."""
    name = name.strip() or NAME
    if Tab.bl_category == name:
        return
    panels: list[Any] = [panel for panel in Tab.__subclasses__() if panel.is_registered]  # type: ignore[attr-defined]
    for panel in reversed(panels):
        bpy.utils.unregister_class(panel)
    Tab.bl_category = name
    # Subclasses are listed as they were defined: those with a parent after it.
    for panel in panels:
        bpy.utils.register_class(panel)


def forget_name() -> None:
    """Panels that are registered from now on are in our own tab."""
    Tab.bl_category = NAME


def with_button(
    layout: UILayout, operator: type[Operator], icon: Any, enabled: bool, beside: type[Operator] | None = None
) -> UILayout:
    """A layout for settings, with the panel's one big button on top, and perhaps a small one beside it."""
    layout.use_property_split = True
    layout.use_property_decorate = False
    row = layout.row(align=True)
    row.scale_y = 1.4
    big = row.row(align=True)
    big.enabled = enabled
    big.operator(operator.bl_idname, icon=icon)
    if beside is not None:
        row.operator(beside.bl_idname, text="", icon="X")
    return layout


def folded(layout: UILayout, name: str, label: str) -> UILayout | None:
    """The layout of a part that is folded away below its label; None until a user unfolds it."""
    # What it returns is said here because the type stubs of Blender 4.2 do not say it.
    parts: tuple[UILayout, UILayout | None] = layout.panel(name, default_closed=True)
    header, body = parts
    header.label(text=label)
    return body


def greyed(layout: UILayout, settings: Any, option: str, reason: str) -> None:
    """An option that cannot be changed, with the reason below, if there is one."""
    row = layout.row()
    row.enabled = not reason
    row.prop(settings, option)
    if reason:
        layout.label(text=reason, icon="INFO")
