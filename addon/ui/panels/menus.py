"""Entries in Blender's menus, which also makes operators available to its menu search."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu, UILayout

from ..operators import export
from ..properties.scene import settings_of
from ..translation import iface_


class COLLISION_BOUNDS_MT_export(Menu):
    """Export bounds and contacts"""

    bl_label = "Export Bounds"

    def draw(self, _context: Context) -> None:
        """Draw one entry per file format."""
        for number, operator in enumerate(export.EXPORTS):
            icon: Any = "NONE" if number else "EXPORT"
            # The dots are not part of the label, which is also that of the button in the file browser.
            text = iface_("{command}...", command=iface_(operator.bl_label))
            self.layout.operator(operator.bl_idname, text=text, translate=False, icon=icon)


class VIEW3D_MT_collision_bounds(Menu):
    """Compute bounds, find contacts, and create colliders"""

    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw an entry for each button of the sidebar, with the button's label."""
        layout = self.layout
        layout.operator("collision_bounds.compute_bounds", icon="MESH_UVSPHERE")
        layout.operator("collision_bounds.compute_envelope", icon="CON_FOLLOWPATH")
        layout.operator("collision_bounds.find_contacts", icon="MOD_PHYSICS")
        layout.separator()
        go_to = "collision_bounds.go_to_contact"
        layout.operator(go_to, text="Next Contact", icon="NEXT_KEYFRAME").direction = "NEXT"
        layout.operator(go_to, text="Previous Contact", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        interval = "collision_bounds.go_to_interval"
        layout.operator(interval, text="Next Time of Pair", icon="TRIA_RIGHT").direction = "NEXT"
        layout.operator(interval, text="Previous Time of Pair", icon="TRIA_LEFT").direction = "PREVIOUS"
        layout.operator("collision_bounds.frame_pair", icon="ZOOM_SELECTED")
        layout.operator("collision_bounds.ignore_pair", icon="UNLINKED")
        layout.operator("collision_bounds.restore_pairs")
        draw_rare_commands(layout)
        layout.separator()
        layout.operator("collision_bounds.override_from_fit", icon="SHADING_BBOX")
        layout.operator("collision_bounds.override_from_selection", icon="EDITMODE_HLT")
        layout.operator("collision_bounds.override_from_group", icon="GROUP_VERTEX")
        layout.operator("collision_bounds.add_custom_shape", icon="ADD")
        layout.operator("collision_bounds.copy_to_selected", icon="COPYDOWN")
        layout.operator("collision_bounds.measure_fit", icon="DRIVER_DISTANCE")
        layout.separator()
        layout.operator("collision_bounds.create_colliders", icon="MESH_CUBE")
        layout.operator("collision_bounds.colliders_from_selection", icon="EDITMODE_HLT")
        layout.operator("collision_bounds.colliders_from_group", icon="GROUP_VERTEX")
        layout.operator("collision_bounds.remove_colliders")
        layout.operator("collision_bounds.check_colliders")
        layout.separator()
        layout.menu("COLLISION_BOUNDS_MT_export")
        layout.operator("collision_bounds.clear_results", icon="X")


class COLLISION_BOUNDS_MT_contact_list(Menu):
    """More commands for the list of contacts"""

    bl_label = "Contact List"

    def draw(self, _context: Context) -> None:
        """Draw the commands that are used less often than the buttons of the list."""
        draw_rare_commands(self.layout)


class COLLISION_BOUNDS_MT_pie(Menu):
    """Frequent commands around the mouse. Assign a key to wm.call_menu_pie with this menu's name"""

    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw the commands: left and right step through the contacts."""
        pie, go_to = self.layout.menu_pie(), "collision_bounds.go_to_contact"
        pie.operator(go_to, text="Previous Contact", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        pie.operator(go_to, text="Next Contact", icon="NEXT_KEYFRAME").direction = "NEXT"
        pie.operator("collision_bounds.compute_bounds", icon="MESH_UVSPHERE")
        pie.operator("collision_bounds.find_contacts", icon="MOD_PHYSICS")
        pie.operator("collision_bounds.frame_pair", icon="ZOOM_SELECTED")
        pie.operator("collision_bounds.ignore_pair", icon="UNLINKED")


def draw_rare_commands(layout: UILayout) -> None:
    """Draw the commands of the contact list that have no button."""
    layout.prop(settings_of(bpy.context).contact_list, "selected_only")
    layout.operator("collision_bounds.show_hidden_rows", icon="LOOP_BACK")
    markers = "collision_bounds.contact_markers"
    layout.operator(markers, icon="MARKER_HLT")
    layout.operator("collision_bounds.copy_contacts", icon="COPYDOWN")
    layout.operator("collision_bounds.load_report", text="Load Report...", icon="IMPORT")
    layout.operator("collision_bounds.load_baseline", text="Load Baseline...", icon="IMPORT")
    layout.operator("collision_bounds.clear_baseline", icon="X")
    layout.operator("collision_bounds.accept_contacts", text="Accept Contacts...", icon="CHECKMARK")
    layout.operator("collision_bounds.revoke_acceptance", icon="LOOP_BACK")
    layout.operator("collision_bounds.move_apart", icon="ARROW_LEFTRIGHT")
    layout.operator(markers, text="Markers of All Intervals", icon="MARKER").all_intervals = True
    layout.operator("collision_bounds.compute_separation", icon="FILE_REFRESH")
    layout.operator("collision_bounds.export_separation", text="Export Separation...", icon="EXPORT")
    layout.operator("collision_bounds.key_separation", icon="KEYINGSET")


def draw_in_object(self: Any, _context: Context) -> None:
    """Draw the entry of the Object menu."""
    self.layout.separator()
    self.layout.menu("VIEW3D_MT_collision_bounds")


def draw_in_export(self: Any, _context: Context) -> None:
    """Draw the entry of the File > Export menu."""
    self.layout.menu("COLLISION_BOUNDS_MT_export", text="Collision Bounds")


def draw_in_import(self: Any, _context: Context) -> None:
    """Draw the entry of the File > Import menu."""
    self.layout.operator("collision_bounds.load_report", text="Collision Bounds Report (.json)")
