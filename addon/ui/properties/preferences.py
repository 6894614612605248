"""Preferences of the extension, for all files on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import FloatProperty, FloatVectorProperty, StringProperty
from bpy.types import AddonPreferences, Context

from ...scene.blender.object_properties import PADDING
from .. import property_events

# The package of the extension, whatever the repository that it was installed from is called.
_PACKAGE = __package__.removesuffix(".ui.properties")


NAME = "Collision Bounds"
"""The tab of the sidebar, unless it is renamed."""


@dataclass(frozen=True)
class _Defaults:
    """Values where Blender keeps no preferences of the extension, for example in a script."""

    free_color: tuple[float, ...] = (0.16, 0.52, 1.0, 1.0)
    contact_color: tuple[float, ...] = (1.0, 0.16, 0.1, 1.0)
    swept_color: tuple[float, ...] = (0.55, 0.9, 0.35, 0.8)
    marker_color: tuple[float, ...] = (1.0, 0.85, 0.1, 1.0)
    padding: float = 0.0
    tab_name: str = NAME


class Preferences(AddonPreferences):
    """Colors, defaults of new scenes, and the tab of the panels."""

    bl_idname = _PACKAGE

    free_color: FloatVectorProperty(
        name="Free Bounds",
        description="Color of bounds that are not in contact",
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=_Defaults.free_color,
        update=property_events.on_display_changed,
    )
    contact_color: FloatVectorProperty(
        name="Bounds in Contact",
        description="Color of bounds that are in contact at the current frame",
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=_Defaults.contact_color,
        update=property_events.on_display_changed,
    )
    swept_color: FloatVectorProperty(
        name="Swept Bounds",
        description="Color of bounds of a whole animation",
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=_Defaults.swept_color,
        update=property_events.on_display_changed,
    )
    marker_color: FloatVectorProperty(
        name="Contact Point",
        description="Color of the cross and the arrow at the active contact",
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=_Defaults.marker_color,
        update=property_events.on_display_changed,
    )
    padding: FloatProperty(
        **{
            **PADDING,
            "name": "Default Padding",
            "description": "Default padding for new scenes",
        }
    )
    tab_name: StringProperty(
        name="Sidebar Tab",
        description="Tab of the 3D viewport's sidebar that holds the panels",
        default=_Defaults.tab_name,
        update=property_events.on_tab_renamed,
    )

    def draw(self, _context: Context) -> None:
        """Draw the preferences."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column()
        column.prop(self, "free_color")
        column.prop(self, "contact_color")
        column.prop(self, "swept_color")
        column.prop(self, "marker_color")
        layout.prop(self, "padding")
        layout.prop(self, "tab_name")


def preferences() -> Preferences | _Defaults:
    """Return the preferences, or their defaults where Blender keeps none of the extension."""
    entry: Any = bpy.context.preferences.addons.get(_PACKAGE)
    return entry.preferences if entry is not None and entry.preferences is not None else _Defaults()


CLASSES = (Preferences,)
