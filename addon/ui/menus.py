"""Entries in Blender's own menus, which is also where its search finds operators."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu

from .bounds_operators import ClearResults, ComputeBounds, ComputeEnvelope
from .collider_operators import MakeColliders, RemoveColliders
from .export_operators import ExportCsv, ExportGltf, ExportJson, ExportTiles, ExportUnity, ExportUnreal
from .markers import ContactMarkers
from .object_operators import CopySettings, MeasureFit, OverrideFromFit
from .report_loading import LoadReport
from .results_operators import CopyContacts, FramePair, GoToContact, ShowHiddenRows
from .scan_operator import FindContacts


class ExportMenu(Menu):
    """Write bounds and contacts into files."""

    bl_idname = "COLLISION_BOUNDS_MT_export"
    bl_label = "Export Bounds"

    def draw(self, _context: Context) -> None:
        """By what reads them."""
        layout = self.layout
        layout.operator(ExportJson.bl_idname, text="Export as JSON", icon="EXPORT")
        layout.operator(ExportCsv.bl_idname, text="Export as CSV")
        layout.operator(ExportTiles.bl_idname, text="Export as 3D Tiles")
        layout.operator(ExportGltf.bl_idname, text="Export Colliders as glTF")
        layout.operator(ExportUnity.bl_idname, text="Export Bounds for Unity")
        layout.operator(ExportUnreal.bl_idname, text="Export Bounds for Unreal")


class ObjectMenu(Menu):
    """Object > Collision Bounds. Entries say what people look for: searching goes by their text.

    Blender 4 lists the shortest match first, one that cannot run as well: only "Find" says "contacts".
    """

    bl_idname = "VIEW3D_MT_collision_bounds"
    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """What the tab has as buttons."""
        layout = self.layout
        layout.operator(
            ComputeBounds.bl_idname, text="Compute Bounding Spheres and Boxes", icon="MESH_UVSPHERE"
        )
        layout.operator(
            ComputeEnvelope.bl_idname,
            text="Compute Envelope of Animation, Swept Bounds",
            icon="CON_FOLLOWPATH",
        )
        layout.operator(
            FindContacts.bl_idname, text="Find Contacts, Collisions and Overlaps", icon="MOD_PHYSICS"
        )
        layout.operator(GoToContact.bl_idname, text="Next Contact").direction = "NEXT"
        layout.operator(GoToContact.bl_idname, text="Previous Contact").direction = "PREVIOUS"
        layout.operator(FramePair.bl_idname, text="View Touching Pair", icon="ZOOM_SELECTED")
        layout.operator(ShowHiddenRows.bl_idname, text="Show Hidden Rows of Result List")
        layout.operator(ContactMarkers.bl_idname, text="Mark Each Contact in the Timeline", icon="MARKER_HLT")
        layout.operator(CopyContacts.bl_idname, text="Copy Contact List as Text")
        layout.separator()
        layout.operator(OverrideFromFit.bl_idname, text="Set Collision Shape by Hand", icon="SHADING_BBOX")
        layout.operator(CopySettings.bl_idname, text="Copy Bounds Settings to Selected", icon="COPYDOWN")
        layout.operator(MeasureFit.bl_idname, text="Measure Fit of Bounds", icon="DRIVER_DISTANCE")
        layout.separator()
        layout.operator(
            MakeColliders.bl_idname, text="Make Collider Objects, Convex Hulls, UCX", icon="MESH_CUBE"
        )
        layout.operator(RemoveColliders.bl_idname, text="Remove Collider Objects")
        layout.separator()
        layout.operator(LoadReport.bl_idname, text="Load Scan Report", icon="IMPORT")
        layout.menu(ExportMenu.bl_idname)
        layout.operator(ClearResults.bl_idname, text="Clear Results")


def _draw_in_object(self: Any, _context: Context) -> None:
    self.layout.separator()
    self.layout.menu(ObjectMenu.bl_idname)


def _draw_in_export(self: Any, _context: Context) -> None:
    self.layout.menu(ExportMenu.bl_idname, text="Collision Bounds")


def _draw_in_import(self: Any, _context: Context) -> None:
    self.layout.operator(LoadReport.bl_idname, text="Collision Bounds Report (.json)")


def attach() -> None:
    """Add the entries."""
    bpy.types.VIEW3D_MT_object.append(_draw_in_object)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.append(_draw_in_export)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.append(_draw_in_import)  # type: ignore[arg-type]


def detach() -> None:
    """Take them away again."""
    bpy.types.TOPBAR_MT_file_import.remove(_draw_in_import)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(_draw_in_export)  # type: ignore[arg-type]
    bpy.types.VIEW3D_MT_object.remove(_draw_in_object)  # type: ignore[arg-type]


CLASSES = (ExportMenu, ObjectMenu)
