"""The Export panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from ..operators.colliders import (
    COLLISION_BOUNDS_OT_create_colliders,
    COLLISION_BOUNDS_OT_remove_colliders,
    draw_options,
)
from ..operators.export import (
    COLLISION_BOUNDS_OT_export_csv,
    COLLISION_BOUNDS_OT_export_gltf,
    COLLISION_BOUNDS_OT_export_json,
    COLLISION_BOUNDS_OT_export_tiles,
    COLLISION_BOUNDS_OT_export_unity,
    COLLISION_BOUNDS_OT_export_unreal,
)
from ..properties.collider import COLLIDER_OPTIONS
from ..properties.scene import has_objects, settings_of
from .sidebar import Tab, folded


class COLLISION_BOUNDS_PT_export(Tab, Panel):
    """Panel to export files and create collider objects."""

    bl_idname = "COLLISION_BOUNDS_PT_export"
    bl_label = "Export"

    def draw(self, context: Context) -> None:
        """Draw the complete JSON export, the partial formats, and collider objects for Blender's
        exporters.
        """
        self.layout.operator(COLLISION_BOUNDS_OT_export_json.bl_idname, icon="EXPORT")
        row = self.layout.row(align=True)
        row.operator(COLLISION_BOUNDS_OT_export_csv.bl_idname, text="CSV")
        row.operator(COLLISION_BOUNDS_OT_export_tiles.bl_idname, text="3D Tiles")
        row.operator(COLLISION_BOUNDS_OT_export_gltf.bl_idname, text="glTF")
        row = self.layout.row(align=True)
        row.operator(COLLISION_BOUNDS_OT_export_unity.bl_idname, text="Unity")
        row.operator(COLLISION_BOUNDS_OT_export_unreal.bl_idname, text="Unreal")
        body = folded(self.layout, "collision_bounds_colliders", "Collider Objects")
        if body is None:
            return
        body.use_property_split, body.use_property_decorate = True, False
        row = body.row(align=True)
        button = row.row(align=True)
        button.enabled = has_objects(context)
        button.operator(COLLISION_BOUNDS_OT_create_colliders.bl_idname, icon="MESH_CUBE")
        row.operator(COLLISION_BOUNDS_OT_remove_colliders.bl_idname, text="", icon="X")
        settings = settings_of(context)
        body.prop(settings, "scope")
        draw_options(body, settings.colliders, COLLIDER_OPTIONS)


CLASSES = (COLLISION_BOUNDS_PT_export,)
