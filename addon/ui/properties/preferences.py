"""Preferences of the extension, for all files on this machine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, StringProperty
from bpy.types import AddonPreferences, Context

from .. import property_events
from .options import option_property, with_properties

# The package of the extension, whatever the repository that it was installed from is called.
_PACKAGE = __package__.removesuffix(".ui.properties")


NAME = "Collision Bounds"
"""The tab of the sidebar, unless it is renamed."""


_COLORS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "free_color": ("Free Bounds", "Color of bounds that are not in contact", (0.16, 0.52, 1.0, 1.0)),
    "contact_color": (
        "Bounds in Contact",
        "Color of bounds that are in contact at the current frame",
        (1.0, 0.16, 0.1, 1.0),
    ),
    "swept_color": ("Swept Bounds", "Color of bounds of a whole animation", (0.55, 0.9, 0.35, 0.8)),
    "marker_color": (
        "Contact Point",
        "Color of the cross and the arrow at the active contact",
        (1.0, 0.85, 0.1, 1.0),
    ),
    "collider_color": ("Colliders", "Color of the surfaces of collider objects", (0.75, 0.4, 1.0, 0.35)),
}
"""Name, tooltip and default of each color."""

_DEFAULTS = SimpleNamespace(
    **{name: default for name, (_, _, default) in _COLORS.items()}, padding=0.0, tab_name=NAME
)
"""Values where Blender keeps no preferences of the extension, for example in a script."""


def _color(name: str, description: str, default: tuple[float, ...]) -> Any:
    return FloatVectorProperty(
        name=name,
        description=description,
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=default,
        update=property_events.on_display_changed,
    )


@with_properties(**{name: _color(*entry) for name, entry in _COLORS.items()})
class Preferences(AddonPreferences):
    """Colors, defaults of new scenes, and the tab of the panels."""

    bl_idname = _PACKAGE

    padding: option_property("padding", name="Default Padding", description="Default padding for new scenes")
    tab_name: StringProperty(
        name="Sidebar Tab",
        description="Tab of the 3D viewport's sidebar that holds the panels",
        default=NAME,
        update=property_events.on_tab_renamed,
    )

    def draw(self, _context: Context) -> None:
        """Draw the preferences."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column()
        for name in _COLORS:
            column.prop(self, name)
        layout.prop(self, "padding")
        layout.prop(self, "tab_name")
        if url := manual_url():
            layout.operator("wm.url_open", text="Manual", icon="HELP").url = url


def manual_url() -> str | None:
    """Return the address of the manual. None in a checkout, because the build writes the page."""
    page = Path(__file__).parents[2] / "manual.html"
    return page.as_uri() if page.is_file() else None


def preferences() -> Any:
    """Return the preferences, or their defaults where Blender keeps none of the extension."""
    entry: Any = bpy.context.preferences.addons.get(_PACKAGE)
    return entry.preferences if entry is not None and entry.preferences is not None else _DEFAULTS
