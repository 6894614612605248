"""The Export panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from ..operators import export
from ..operators.colliders import (
    COLLISION_BOUNDS_OT_create_colliders,
    COLLISION_BOUNDS_OT_remove_colliders,
    draw_options,
)
from ..properties.colliders import COLLIDER_OPTIONS
from ..properties.scene import settings_of
from .sidebar import Tab, folded

_BUTTONS_IN_ROW = 3


class COLLISION_BOUNDS_PT_export(Tab, Panel):
    """Panel to export files and create collider objects."""

    bl_idname = "COLLISION_BOUNDS_PT_export"
    bl_label = "Export"

    def draw(self, context: Context) -> None:
        """Draw the buttons of all file formats, and the collider objects."""
        document, *partial = export.CLASSES
        self.layout.operator(document.bl_idname, text=document.button_text, icon="EXPORT")
        for start in range(0, len(partial), _BUTTONS_IN_ROW):
            row = self.layout.row(align=True)
            for operator in partial[start : start + _BUTTONS_IN_ROW]:
                row.operator(operator.bl_idname, text=operator.button_text)
        body = folded(self.layout, "collision_bounds_colliders", "Collider Objects")
        if body is None:
            return
        body.use_property_split, body.use_property_decorate = True, False
        row = body.row(align=True)
        row.operator(COLLISION_BOUNDS_OT_create_colliders.bl_idname, icon="MESH_CUBE")
        row.operator(COLLISION_BOUNDS_OT_remove_colliders.bl_idname, text="", icon="X")
        draw_options(body, settings_of(context).colliders, COLLIDER_OPTIONS)


CLASSES = (COLLISION_BOUNDS_PT_export,)
