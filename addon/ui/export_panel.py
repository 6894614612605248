"""The Export panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from .collider_operators import MakeColliders, RemoveColliders, draw_options
from .collider_settings import COLLIDER_OPTIONS
from .export_operators import ExportCsv, ExportGltf, ExportJson, ExportTiles, ExportUnity, ExportUnreal
from .properties import has_objects, settings_of
from .tab import Tab, folded


class ExportPanel(Tab, Panel):
    """Write files."""

    bl_idname = "COLLISION_BOUNDS_PT_export"
    bl_label = "Export"

    def draw(self, context: Context) -> None:
        """The document, which has everything; what holds a part of it; objects for Blender's exporters."""
        self.layout.operator(ExportJson.bl_idname, icon="EXPORT")
        row = self.layout.row(align=True)
        row.operator(ExportCsv.bl_idname, text="CSV")
        row.operator(ExportTiles.bl_idname, text="3D Tiles")
        row.operator(ExportGltf.bl_idname, text="glTF")
        row = self.layout.row(align=True)
        row.operator(ExportUnity.bl_idname, text="Unity")
        row.operator(ExportUnreal.bl_idname, text="Unreal")
        body = folded(self.layout, "collision_bounds_colliders", "Collider Objects")
        if body is None:
            return
        body.use_property_split, body.use_property_decorate = True, False
        row = body.row(align=True)
        make = row.row(align=True)
        make.enabled = has_objects(context)
        make.operator(MakeColliders.bl_idname, icon="MESH_CUBE")
        row.operator(RemoveColliders.bl_idname, text="", icon="X")
        settings = settings_of(context)
        body.prop(settings, "scope")
        draw_options(body, settings.colliders, COLLIDER_OPTIONS)


CLASSES = (ExportPanel,)
