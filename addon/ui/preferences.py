"""Preferences of the extension: for all files, on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
from bpy.props import FloatProperty, FloatVectorProperty, StringProperty
from bpy.types import AddonPreferences, Context

from . import tab
from .options import PADDING

# The package of the extension, whatever the repository that it was installed from is called.
_PACKAGE = __package__.rpartition(".")[0]


@dataclass(frozen=True)
class _Defaults:
    """What counts while Blender keeps no preferences for us, as in a script."""

    free_color: tuple[float, ...] = (0.16, 0.52, 1.0, 1.0)
    contact_color: tuple[float, ...] = (1.0, 0.16, 0.1, 1.0)
    padding: float = 0.0
    tab_name: str = tab.NAME


def _look_again(_self: AddonPreferences, context: Context) -> None:
    from . import overlay  # which reads these preferences

    overlay.refresh(context)


def _rename(self: Preferences, _context: Context) -> None:
    tab.rename(self.tab_name)


class Preferences(AddonPreferences):
    """Colours, what new scenes begin with, and where the panels are."""

    bl_idname = _PACKAGE

    free_color: FloatVectorProperty(
        name="Free Bounds",
        description="Color of bounds that touch nothing",
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=_Defaults.free_color,
        update=_look_again,
    )
    contact_color: FloatVectorProperty(
        name="Bounds in Contact",
        description="Color of bounds that touch something at this frame",
        subtype="COLOR_GAMMA",
        size=4,
        min=0.0,
        max=1.0,
        default=_Defaults.contact_color,
        update=_look_again,
    )
    padding: FloatProperty(
        **{
            **PADDING,
            "name": "Padding of New Scenes",
            "description": "Padding of scenes in which none has been set yet, from their first bounds on",
        }
    )
    tab_name: StringProperty(
        name="Sidebar Tab",
        description="Tab of the 3D viewport's sidebar that holds the panels",
        default=_Defaults.tab_name,
        update=_rename,
    )

    def draw(self, _context: Context) -> None:
        """All of them."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        column = layout.column()
        column.prop(self, "free_color")
        column.prop(self, "contact_color")
        layout.prop(self, "padding")
        layout.prop(self, "tab_name")


def preferences() -> Preferences | _Defaults:
    """The preferences, or the same with their defaults where Blender keeps none for us."""
    entry: Any = bpy.context.preferences.addons.get(_PACKAGE)
    return entry.preferences if entry is not None and entry.preferences is not None else _Defaults()


def attach() -> None:
    """Put the panels into the tab that was chosen."""
    tab.rename(preferences().tab_name)


def detach() -> None:
    """The next registration begins with the default."""
    tab.forget_name()


CLASSES = (Preferences,)
