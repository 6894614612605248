"""Entries in Blender's menus, which also makes operators available to its menu search."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu, UILayout

from ..operators import export
from ..operators.bounds import (
    COLLISION_BOUNDS_OT_clear_results,
    COLLISION_BOUNDS_OT_compute_bounds,
    COLLISION_BOUNDS_OT_compute_envelope,
)
from ..operators.colliders import (
    COLLISION_BOUNDS_OT_check_colliders,
    COLLISION_BOUNDS_OT_create_colliders,
    COLLISION_BOUNDS_OT_remove_colliders,
)
from ..operators.contacts.baseline import (
    COLLISION_BOUNDS_OT_accept_contacts,
    COLLISION_BOUNDS_OT_clear_baseline,
    COLLISION_BOUNDS_OT_load_baseline,
    COLLISION_BOUNDS_OT_revoke_acceptance,
)
from ..operators.contacts.find import COLLISION_BOUNDS_OT_find_contacts
from ..operators.contacts.ignored_pairs import (
    COLLISION_BOUNDS_OT_ignore_pair,
    COLLISION_BOUNDS_OT_restore_pairs,
)
from ..operators.contacts.load_report import COLLISION_BOUNDS_OT_load_report
from ..operators.contacts.markers import COLLISION_BOUNDS_OT_contact_markers
from ..operators.contacts.move_apart import COLLISION_BOUNDS_OT_move_apart
from ..operators.contacts.rows import (
    COLLISION_BOUNDS_OT_copy_contacts,
    COLLISION_BOUNDS_OT_frame_pair,
    COLLISION_BOUNDS_OT_go_to_contact,
    COLLISION_BOUNDS_OT_go_to_interval,
    COLLISION_BOUNDS_OT_show_hidden_rows,
)
from ..operators.contacts.separation import (
    COLLISION_BOUNDS_OT_compute_separation,
    COLLISION_BOUNDS_OT_export_separation,
    COLLISION_BOUNDS_OT_key_separation,
)
from ..operators.custom_shapes import (
    COLLISION_BOUNDS_OT_add_custom_shape,
    COLLISION_BOUNDS_OT_override_from_fit,
    COLLISION_BOUNDS_OT_override_from_group,
    COLLISION_BOUNDS_OT_override_from_selection,
)
from ..operators.object import (
    COLLISION_BOUNDS_OT_copy_to_selected,
    COLLISION_BOUNDS_OT_measure_fit,
)
from ..operators.vertex_colliders import (
    COLLISION_BOUNDS_OT_colliders_from_group,
    COLLISION_BOUNDS_OT_colliders_from_selection,
)
from ..properties.scene import settings_of
from ..translation import iface_


class COLLISION_BOUNDS_MT_export(Menu):
    """Export bounds and contacts"""

    bl_idname = "COLLISION_BOUNDS_MT_export"
    bl_label = "Export Bounds"

    def draw(self, _context: Context) -> None:
        """Draw one entry per file format."""
        for number, operator in enumerate(export.CLASSES):
            icon: Any = "NONE" if number else "EXPORT"
            # The dots are not part of the label, which is also that of the button in the file browser.
            text = iface_("{command}...", command=iface_(operator.bl_label))
            self.layout.operator(operator.bl_idname, text=text, translate=False, icon=icon)


class VIEW3D_MT_collision_bounds(Menu):
    """Compute bounds, find contacts, and create colliders"""

    bl_idname = "VIEW3D_MT_collision_bounds"
    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw an entry for each button of the sidebar, with the button's label."""
        layout = self.layout
        layout.operator(COLLISION_BOUNDS_OT_compute_bounds.bl_idname, icon="MESH_UVSPHERE")
        layout.operator(COLLISION_BOUNDS_OT_compute_envelope.bl_idname, icon="CON_FOLLOWPATH")
        layout.operator(COLLISION_BOUNDS_OT_find_contacts.bl_idname, icon="MOD_PHYSICS")
        layout.separator()
        go_to = COLLISION_BOUNDS_OT_go_to_contact.bl_idname
        layout.operator(go_to, text="Next Contact", icon="NEXT_KEYFRAME").direction = "NEXT"
        layout.operator(go_to, text="Previous Contact", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        interval = COLLISION_BOUNDS_OT_go_to_interval.bl_idname
        layout.operator(interval, text="Next Time of Pair", icon="TRIA_RIGHT").direction = "NEXT"
        layout.operator(interval, text="Previous Time of Pair", icon="TRIA_LEFT").direction = "PREVIOUS"
        layout.operator(COLLISION_BOUNDS_OT_frame_pair.bl_idname, icon="ZOOM_SELECTED")
        layout.operator(COLLISION_BOUNDS_OT_ignore_pair.bl_idname, icon="UNLINKED")
        layout.operator(COLLISION_BOUNDS_OT_restore_pairs.bl_idname)
        draw_rare_commands(layout)
        layout.separator()
        layout.operator(COLLISION_BOUNDS_OT_override_from_fit.bl_idname, icon="SHADING_BBOX")
        layout.operator(COLLISION_BOUNDS_OT_override_from_selection.bl_idname, icon="EDITMODE_HLT")
        layout.operator(COLLISION_BOUNDS_OT_override_from_group.bl_idname, icon="GROUP_VERTEX")
        layout.operator(COLLISION_BOUNDS_OT_add_custom_shape.bl_idname, icon="ADD")
        layout.operator(COLLISION_BOUNDS_OT_copy_to_selected.bl_idname, icon="COPYDOWN")
        layout.operator(COLLISION_BOUNDS_OT_measure_fit.bl_idname, icon="DRIVER_DISTANCE")
        layout.separator()
        layout.operator(COLLISION_BOUNDS_OT_create_colliders.bl_idname, icon="MESH_CUBE")
        layout.operator(COLLISION_BOUNDS_OT_colliders_from_selection.bl_idname, icon="EDITMODE_HLT")
        layout.operator(COLLISION_BOUNDS_OT_colliders_from_group.bl_idname, icon="GROUP_VERTEX")
        layout.operator(COLLISION_BOUNDS_OT_remove_colliders.bl_idname)
        layout.operator(COLLISION_BOUNDS_OT_check_colliders.bl_idname)
        layout.separator()
        layout.menu(COLLISION_BOUNDS_MT_export.bl_idname)
        layout.operator(COLLISION_BOUNDS_OT_clear_results.bl_idname, icon="X")


class COLLISION_BOUNDS_MT_contact_list(Menu):
    """More commands for the list of contacts"""

    bl_idname = "COLLISION_BOUNDS_MT_contact_list"
    bl_label = "Contact List"

    def draw(self, _context: Context) -> None:
        """Draw the commands that are used less often than the buttons of the list."""
        draw_rare_commands(self.layout)


class COLLISION_BOUNDS_MT_pie(Menu):
    """Frequent commands around the mouse. Assign a key to wm.call_menu_pie with this menu's name"""

    bl_idname = "COLLISION_BOUNDS_MT_pie"
    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw the commands: left and right step through the contacts."""
        pie, go_to = self.layout.menu_pie(), COLLISION_BOUNDS_OT_go_to_contact.bl_idname
        pie.operator(go_to, text="Previous Contact", icon="PREV_KEYFRAME").direction = "PREVIOUS"
        pie.operator(go_to, text="Next Contact", icon="NEXT_KEYFRAME").direction = "NEXT"
        pie.operator(COLLISION_BOUNDS_OT_compute_bounds.bl_idname, icon="MESH_UVSPHERE")
        pie.operator(COLLISION_BOUNDS_OT_find_contacts.bl_idname, icon="MOD_PHYSICS")
        pie.operator(COLLISION_BOUNDS_OT_frame_pair.bl_idname, icon="ZOOM_SELECTED")
        pie.operator(COLLISION_BOUNDS_OT_ignore_pair.bl_idname, icon="UNLINKED")


def draw_rare_commands(layout: UILayout) -> None:
    """Draw the commands of the contact list that have no button."""
    layout.prop(settings_of(bpy.context).contact_list, "selected_only")
    layout.operator(COLLISION_BOUNDS_OT_show_hidden_rows.bl_idname, icon="LOOP_BACK")
    markers = COLLISION_BOUNDS_OT_contact_markers.bl_idname
    layout.operator(markers, icon="MARKER_HLT")
    layout.operator(COLLISION_BOUNDS_OT_copy_contacts.bl_idname, icon="COPYDOWN")
    layout.operator(COLLISION_BOUNDS_OT_load_report.bl_idname, text="Load Report...", icon="IMPORT")
    layout.operator(COLLISION_BOUNDS_OT_load_baseline.bl_idname, text="Load Baseline...", icon="IMPORT")
    layout.operator(COLLISION_BOUNDS_OT_clear_baseline.bl_idname, icon="X")
    layout.operator(
        COLLISION_BOUNDS_OT_accept_contacts.bl_idname, text="Accept Contacts...", icon="CHECKMARK"
    )
    layout.operator(COLLISION_BOUNDS_OT_revoke_acceptance.bl_idname, icon="LOOP_BACK")
    layout.operator(COLLISION_BOUNDS_OT_move_apart.bl_idname, icon="ARROW_LEFTRIGHT")
    layout.operator(markers, text="Markers of All Intervals", icon="MARKER").all_intervals = True
    layout.operator(COLLISION_BOUNDS_OT_compute_separation.bl_idname, icon="FILE_REFRESH")
    layout.operator(
        COLLISION_BOUNDS_OT_export_separation.bl_idname, text="Export Separation...", icon="EXPORT"
    )
    layout.operator(COLLISION_BOUNDS_OT_key_separation.bl_idname, icon="KEYINGSET")


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


CLASSES = (
    COLLISION_BOUNDS_MT_export,
    COLLISION_BOUNDS_MT_contact_list,
    COLLISION_BOUNDS_MT_pie,
    VIEW3D_MT_collision_bounds,
)
