"""The Export panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from .export_operators import ExportCsv, ExportGltf, ExportJson, ExportTiles, ExportUnity, ExportUnreal
from .tab import Tab


class ExportPanel(Tab, Panel):
    """Write files."""

    bl_idname = "COLLISION_BOUNDS_PT_export"
    bl_label = "Export"

    def draw(self, _context: Context) -> None:
        """The document, which has everything, and what holds a part of it."""
        self.layout.operator(ExportJson.bl_idname, icon="EXPORT")
        row = self.layout.row(align=True)
        row.operator(ExportCsv.bl_idname, text="CSV")
        row.operator(ExportTiles.bl_idname, text="3D Tiles")
        row.operator(ExportGltf.bl_idname, text="glTF")
        row = self.layout.row(align=True)
        row.operator(ExportUnity.bl_idname, text="Unity")
        row.operator(ExportUnreal.bl_idname, text="Unreal")


CLASSES = (ExportPanel,)
