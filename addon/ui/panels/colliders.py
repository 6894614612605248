"""The Colliders panel."""

from __future__ import annotations

from typing import ClassVar

from bpy.types import Context, Panel

from ..operators.colliders import (
    COLLISION_BOUNDS_OT_create_colliders,
    COLLISION_BOUNDS_OT_remove_colliders,
    draw_options,
)
from ..properties.colliders import COLLIDER_OPTIONS
from ..properties.scene import settings_of
from .sidebar import Tab, with_button


class COLLISION_BOUNDS_PT_colliders(Tab, Panel):
    """Panel to create collider objects."""

    bl_idname = "COLLISION_BOUNDS_PT_colliders"
    bl_label = "Colliders"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the button to create colliders, that to remove them, and the options."""
        layout = with_button(
            self.layout,
            COLLISION_BOUNDS_OT_create_colliders,
            "MESH_CUBE",
            COLLISION_BOUNDS_OT_remove_colliders,
        )
        settings = settings_of(context)
        draw_options(layout, settings.colliders, COLLIDER_OPTIONS)
        row = layout.row()
        row.active = settings.display.show_overlay
        row.prop(settings.colliders, "show_surfaces")


CLASSES = (COLLISION_BOUNDS_PT_colliders,)
