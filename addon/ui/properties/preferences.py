"""Preferences of the extension, for all files on this machine, and its manual.

A right click (Online Manual) and F1 open the sections of the manual, in the extension's folder.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
from bpy.props import FloatVectorProperty, StringProperty
from bpy.types import AddonPreferences, Context

from .options import BOUNDS_OPTIONS, announces, display_changed, option_property, tab_renamed, with_properties

# The package of the extension, whatever the repository that it was installed from is called.
PACKAGE = __package__.removesuffix(".ui.properties")

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

_color = partial(
    FloatVectorProperty, subtype="COLOR_GAMMA", size=4, min=0.0, max=1.0, update=announces(display_changed)
)


@with_properties(
    **{
        key: _color(name=name, description=description, default=default)
        for key, (name, description, default) in _COLORS.items()
    }
)
class Preferences(AddonPreferences):
    """Colors, defaults of new scenes, and the tab of the panels."""

    bl_idname = PACKAGE

    padding: option_property("padding", name="Default Padding", description="Default padding for new scenes")
    tab_name: StringProperty(
        name="Sidebar Tab",
        description="Tab of the 3D viewport's sidebar that holds the panels",
        default=NAME,
        update=announces(tab_renamed),
    )

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
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
    entry: Any = bpy.context.preferences.addons.get(PACKAGE)
    return entry.preferences if entry is not None and entry.preferences is not None else _DEFAULTS


_OPERATORS, _TYPES = "bpy.ops.collision_bounds.", "bpy.types.collision_bounds_"
# The first pattern that matches the lower-case name of an operator or a property counts.
_SECTIONS = (
    (f"{_OPERATORS}*separation*", "separation-of-bounds"),
    (f"{_OPERATORS}export_*", "export"),
    (f"{_OPERATORS}*collider*", "colliders"),
    (f"{_OPERATORS}select_touching*", "touching-now"),
    (f"{_OPERATORS}compute_bounds*", "bounds"),
    (f"{_OPERATORS}compute_envelope*", "swept-bounds"),
    (f"{_OPERATORS}choose_vertex_group*", "fit-settings"),
    (f"{_OPERATORS}measure_fit*", "measurements"),
    (f"{_OPERATORS}copy_value*", "measurements"),
    (f"{_OPERATORS}copy_to_selected*", "object-settings"),
    (f"{_OPERATORS}override_from_*", "custom-shape"),
    (f"{_OPERATORS}*_custom_shape*", "custom-shape"),
    (f"{_OPERATORS}*baseline*", "compare-with-a-baseline"),
    (f"{_OPERATORS}*accept*", "compare-with-a-baseline"),
    (f"{_OPERATORS}move_apart*", "move-apart"),
    (f"{_OPERATORS}find_contacts*", "contacts"),
    (f"{_OPERATORS}*interval*", "details"),
    (f"{_OPERATORS}*", "the-list"),
    (f"{_TYPES}pg_colliders*", "colliders"),
    (f"{_TYPES}pg_display.show_overlap", "overlap-of-the-active-pair"),
    (f"{_TYPES}pg_display*", "display"),
    (f"{_TYPES}pg_gltf*", "export"),
    (f"{_TYPES}pg_object.response*", "collision-response"),
    (f"{_TYPES}pg_object.collision_*", "collision-response"),
    (f"{_TYPES}pg_object.physics_*", "collision-response"),
    (f"{_TYPES}pg_object*", "active-object"),
    (f"{_TYPES}pg_collection*", "active-object"),
    (f"{_TYPES}pg_contact*", "the-list"),
    (f"{_TYPES}pg_scene.scope", "the-sidebar-tab"),
    (f"{_TYPES}pg_scene.keep_results", "export"),
    *((f"{_TYPES}pg_scene.{name}", "fit-settings") for name in BOUNDS_OPTIONS),
    (f"{_TYPES}pg_scene*", "scan-settings"),
    (f"{_TYPES}pg_picker*", "scan-settings"),
    (f"{_TYPES}*", "the-sidebar-tab"),
)


def attach() -> None:
    """Add the sections of the manual to those that Blender opens."""
    bpy.utils.register_manual_map(_manual_map)


def detach() -> None:
    bpy.utils.unregister_manual_map(_manual_map)


def _manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    url = manual_url()
    return (f"{url}#", _SECTIONS) if url else ("", ())
