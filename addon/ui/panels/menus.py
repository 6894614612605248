"""Entries in Blender's menus, which also makes operators available to its menu search."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu

from ..operators import export
from ..operators.bounds import (
    COLLISION_BOUNDS_OT_clear_results,
    COLLISION_BOUNDS_OT_compute_bounds,
    COLLISION_BOUNDS_OT_compute_envelope,
)
from ..operators.colliders import COLLISION_BOUNDS_OT_create_colliders, COLLISION_BOUNDS_OT_remove_colliders
from ..operators.contact_list import (
    COLLISION_BOUNDS_OT_copy_contacts,
    COLLISION_BOUNDS_OT_frame_pair,
    COLLISION_BOUNDS_OT_go_to_contact,
    COLLISION_BOUNDS_OT_show_hidden_rows,
)
from ..operators.contacts import COLLISION_BOUNDS_OT_find_contacts
from ..operators.load_report import COLLISION_BOUNDS_OT_load_report
from ..operators.markers import COLLISION_BOUNDS_OT_contact_markers
from ..operators.object import (
    COLLISION_BOUNDS_OT_copy_to_selected,
    COLLISION_BOUNDS_OT_measure_fit,
    COLLISION_BOUNDS_OT_override_from_fit,
)


class COLLISION_BOUNDS_MT_export(Menu):
    """Menu of exports."""

    bl_idname = "COLLISION_BOUNDS_MT_export"
    bl_label = "Export Bounds"

    def draw(self, _context: Context) -> None:
        """Draw one entry per file format."""
        document, *partial = export.CLASSES
        self.layout.operator(document.bl_idname, text=document.menu_text, icon="EXPORT")
        for operator in partial:
            self.layout.operator(operator.bl_idname, text=operator.menu_text)


class VIEW3D_MT_collision_bounds(Menu):
    """The menu Object > Collision Bounds.

    Its entries contain synonyms, because Blender's menu search matches their text. Blender 4 lists the
    shortest match first, even if it cannot run: so the word "contacts" is only in "Find Contacts".
    """

    bl_idname = "VIEW3D_MT_collision_bounds"
    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw an entry for each button of the sidebar."""
        layout = self.layout
        layout.operator(
            COLLISION_BOUNDS_OT_compute_bounds.bl_idname,
            text="Compute Bounding Spheres and Boxes",
            icon="MESH_UVSPHERE",
        )
        layout.operator(
            COLLISION_BOUNDS_OT_compute_envelope.bl_idname,
            text="Compute Swept Bounds, Envelope of Animation",
            icon="CON_FOLLOWPATH",
        )
        layout.operator(
            COLLISION_BOUNDS_OT_find_contacts.bl_idname,
            text="Find Contacts, Collisions and Overlaps",
            icon="MOD_PHYSICS",
        )
        layout.operator(COLLISION_BOUNDS_OT_go_to_contact.bl_idname, text="Next Contact").direction = "NEXT"
        layout.operator(
            COLLISION_BOUNDS_OT_go_to_contact.bl_idname, text="Previous Contact"
        ).direction = "PREVIOUS"
        layout.operator(
            COLLISION_BOUNDS_OT_frame_pair.bl_idname, text="View Touching Pair", icon="ZOOM_SELECTED"
        )
        layout.operator(
            COLLISION_BOUNDS_OT_show_hidden_rows.bl_idname, text="Show Hidden Rows of Result List"
        )
        layout.operator(
            COLLISION_BOUNDS_OT_contact_markers.bl_idname,
            text="Mark Each Contact in the Timeline",
            icon="MARKER_HLT",
        )
        layout.operator(COLLISION_BOUNDS_OT_copy_contacts.bl_idname, text="Copy Contact List as Text")
        layout.separator()
        layout.operator(
            COLLISION_BOUNDS_OT_override_from_fit.bl_idname,
            text="Set Custom Collision Shape",
            icon="SHADING_BBOX",
        )
        layout.operator(
            COLLISION_BOUNDS_OT_copy_to_selected.bl_idname,
            text="Copy Bounds Settings to Selected",
            icon="COPYDOWN",
        )
        layout.operator(
            COLLISION_BOUNDS_OT_measure_fit.bl_idname, text="Measure Fit of Bounds", icon="DRIVER_DISTANCE"
        )
        layout.separator()
        layout.operator(
            COLLISION_BOUNDS_OT_create_colliders.bl_idname,
            text="Create Collider Objects, Convex Hulls, UCX",
            icon="MESH_CUBE",
        )
        layout.operator(COLLISION_BOUNDS_OT_remove_colliders.bl_idname, text="Remove Collider Objects")
        layout.separator()
        layout.operator(COLLISION_BOUNDS_OT_load_report.bl_idname, text="Load Scan Report", icon="IMPORT")
        layout.menu(COLLISION_BOUNDS_MT_export.bl_idname)
        layout.operator(COLLISION_BOUNDS_OT_clear_results.bl_idname, text="Clear Results")


def _draw_in_object(self: Any, _context: Context) -> None:
    self.layout.separator()
    self.layout.menu(VIEW3D_MT_collision_bounds.bl_idname)


def _draw_in_export(self: Any, _context: Context) -> None:
    self.layout.menu(COLLISION_BOUNDS_MT_export.bl_idname, text="Collision Bounds")


def _draw_in_import(self: Any, _context: Context) -> None:
    self.layout.operator(COLLISION_BOUNDS_OT_load_report.bl_idname, text="Collision Bounds Report (.json)")


def attach() -> None:
    """Add the entries to Blender's menus."""
    bpy.types.VIEW3D_MT_object.append(_draw_in_object)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.append(_draw_in_export)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_import.append(_draw_in_import)  # type: ignore[arg-type]


def detach() -> None:
    """Remove the entries."""
    bpy.types.TOPBAR_MT_file_import.remove(_draw_in_import)  # type: ignore[arg-type]
    bpy.types.TOPBAR_MT_file_export.remove(_draw_in_export)  # type: ignore[arg-type]
    bpy.types.VIEW3D_MT_object.remove(_draw_in_object)  # type: ignore[arg-type]


CLASSES = (COLLISION_BOUNDS_MT_export, VIEW3D_MT_collision_bounds)
