"""Preferences of the extension, for all files on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, StringProperty
from bpy.types import AddonPreferences, Context

from .. import property_events
from .options import option_property

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
    collider_color: tuple[float, ...] = (0.75, 0.4, 1.0, 0.35)
    padding: float = 0.0
    tab_name: str = NAME


def _color(name: str, description: str, default: tuple[float, ...]) -> dict[str, Any]:
    """Return the options of a color."""
    return {
        "name": name,
        "description": description,
        "subtype": "COLOR_GAMMA",
        "size": 4,
        "min": 0.0,
        "max": 1.0,
        "default": default,
        "update": property_events.on_display_changed,
    }


class Preferences(AddonPreferences):
    """Colors, defaults of new scenes, and the tab of the panels."""

    bl_idname = _PACKAGE

    free_color: FloatVectorProperty(
        **_color("Free Bounds", "Color of bounds that are not in contact", _Defaults.free_color)
    )
    contact_color: FloatVectorProperty(
        **_color(
            "Bounds in Contact",
            "Color of bounds that are in contact at the current frame",
            _Defaults.contact_color,
        )
    )
    swept_color: FloatVectorProperty(
        **_color("Swept Bounds", "Color of bounds of a whole animation", _Defaults.swept_color)
    )
    marker_color: FloatVectorProperty(
        **_color(
            "Contact Point", "Color of the cross and the arrow at the active contact", _Defaults.marker_color
        )
    )
    collider_color: FloatVectorProperty(
        **_color("Colliders", "Color of the surfaces of collider objects", _Defaults.collider_color)
    )
    padding: option_property("padding", name="Default Padding", description="Default padding for new scenes")
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
        column.prop(self, "collider_color")
        layout.prop(self, "padding")
        layout.prop(self, "tab_name")
        if url := manual_url():
            layout.operator("wm.url_open", text="Manual", icon="HELP").url = url


def manual_url() -> str | None:
    """Return the address of the manual. None in a checkout, because the build writes the page."""
    page = Path(__file__).parents[2] / "manual.html"
    return page.as_uri() if page.is_file() else None


def preferences() -> Preferences | _Defaults:
    """Return the preferences, or their defaults where Blender keeps none of the extension."""
    entry: Any = bpy.context.preferences.addons.get(_PACKAGE)
    return entry.preferences if entry is not None and entry.preferences is not None else _Defaults()
