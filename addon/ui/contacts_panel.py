"""The Contacts panel: options of the scan, the list of what it found, details of one row."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Panel, UILayout

from ..scene import session
from . import running_scan
from .bounds_operators import ClearResults
from .contact_list import ContactList, draw_headings
from .contact_rows import ContactRow, active_row
from .markers import ContactMarkers, has_markers
from .messages import stopped_text
from .pair_selection import why_unseen
from .properties import SceneSettings, contact_settings, has_objects, has_spheres, settings_of
from .report_loading import LoadReport
from .results_operators import CopyContacts, FramePair, GoToContact, ShowHiddenRows
from .scan_operator import FindContacts, StopScan
from .tab import Tab, folded, greyed, with_button

_LINE = 32
"""Letters that a line of the sidebar has room for, as wide as it is at first."""


class ContactsPanel(Tab, Panel):
    """Find contacts and read them."""

    bl_idname = "COLLISION_BOUNDS_PT_contacts"
    bl_label = "Contacts"

    def draw(self, context: Context) -> None:
        """Button, settings, results; while a scan runs, how far it is above it all."""
        if (scan := running_scan.running()) and scan.keeps_part:
            # The bar is where the button was: a second click on that stops nothing.
            column = self.layout.column()
            bar = column.row()
            bar.scale_y = 1.4
            scan.draw(bar)
            column.operator(StopScan.bl_idname, text="Stop", icon="CANCEL")
            layout = self.layout.column()
            layout.enabled = False
            _draw_results(layout, context, settings_of(context))
            return
        settings = settings_of(context)
        layout = with_button(self.layout, FindContacts, "MOD_PHYSICS", has_objects(context))
        instant = _is_instant(context, settings)
        layout.prop(settings, "shape")
        _draw_scan(layout, settings, instant)
        _draw_pairs(layout, context, settings, instant)
        _draw_results(self.layout, context, settings)


def _draw_results(layout: UILayout, context: Context, settings: SceneSettings) -> None:
    """What was found, and what to make of it."""
    results = session.get(settings.result_id)
    if results.contacts is None:
        layout.operator(LoadReport.bl_idname, icon="IMPORT")
        return
    layout.separator()
    for caution in _cautions(settings, results):
        column = layout.column(align=True)
        for number, text in enumerate(caution.split(": ")):
            column.label(text=text[0].upper() + text[1:], icon="BLANK1" if number else "ERROR")
    if results.source:
        layout.label(text=f"From {results.source}", icon="FILE_TICK")
    if not settings.rows:
        layout.label(text="No contacts", icon="CHECKMARK")
        line = layout.row(align=True)
        line.operator(LoadReport.bl_idname, icon="IMPORT")
        line.operator(ClearResults.bl_idname, text="", icon="X")
        return
    column = layout.column(align=True)
    draw_headings(column, settings)
    column.template_list(
        ContactList.bl_idname, "", settings, "rows", settings, "active_row", rows=5, sort_lock=True
    )
    row = active_row(settings)
    _draw_buttons(layout.row(), context, row)
    if row is not None:
        _draw_details(layout, context, settings, row)


def _cautions(settings: SceneSettings, results: session.Results) -> list[str]:
    """What keeps the results from being the whole truth about the scene as it is."""
    assert results.contacts is not None, "asked about contacts only"
    texts = [stopped_text(results.contacts)] if results.contacts.partial else []
    if results.stale:
        texts.append("The scene changed: find contacts again")
    elif results.asked is not None and contact_settings(settings) != results.asked:
        texts.append("Found with other settings")
    return texts


def _draw_buttons(line: UILayout, context: Context, row: ContactRow | None) -> None:
    """Below the list: what can be done with it, and with the row that was clicked."""
    part = line.row(align=True)
    part.operator(GoToContact.bl_idname, text="", icon="PREV_KEYFRAME").direction = "PREVIOUS"
    part.operator(GoToContact.bl_idname, text="", icon="NEXT_KEYFRAME").direction = "NEXT"
    part.operator(FramePair.bl_idname, text="", icon="ZOOM_SELECTED")
    part = line.row(align=True)
    if row is not None:
        part.prop(row, "hidden", text="", icon="HIDE_ON" if row.hidden else "HIDE_OFF")
    else:  # its place is kept, or a click on a row would move all buttons to the right of it
        place = part.row(align=True)
        place.enabled = False
        place.label(text="", icon="HIDE_OFF")
    part.operator(ShowHiddenRows.bl_idname, text="", icon="LOOP_BACK")
    part = line.row(align=True)
    part.operator(ContactMarkers.bl_idname, text="", icon="MARKER_HLT", depress=has_markers(context.scene))
    part.operator(CopyContacts.bl_idname, text="", icon="COPYDOWN")
    part.operator(LoadReport.bl_idname, text="", icon="IMPORT")
    line.operator(ClearResults.bl_idname, text="", icon="X")


def _is_instant(context: Context, settings: SceneSettings) -> bool:
    """Whether a scan would look at one frame only."""
    span: Any = context.scene if settings.use_scene_range else settings
    return span.frame_start == span.frame_end


def _draw_scan(layout: UILayout, settings: SceneSettings, instant: bool) -> None:
    """How to look, folded away: what is set suits most scans."""
    body = folded(layout, "collision_bounds_scan", "Scan")
    if body is None:
        return
    greyed(body, settings, "motion", "A single frame: nothing moves" if instant else "")
    body.prop(settings, "clearance")
    body.prop(settings, "confirm")
    body.prop(settings, "use_scene_range")
    if not settings.use_scene_range:
        column = body.column(align=True)
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")
        column.prop(settings, "frame_step")


def _draw_pairs(layout: UILayout, context: Context, settings: SceneSettings, instant: bool) -> None:
    """Which pairs matter, folded away: most scans want all of them."""
    body = folded(layout, "collision_bounds_pairs", "Pairs")
    if body is None:
        return
    for option in ("group_a", "group_b", "ignored", "ignore_parents"):
        body.prop(settings, option)
    greyed(body, settings, "obstacles", "" if has_spheres(settings) else "Only spheres bump into meshes")
    row = body.row()
    row.enabled = has_spheres(settings) and bool(settings.obstacles)
    row.prop(settings, "one_sided")
    without = "" if context.scene.collection.children else "This scene has no collections"
    greyed(body, settings, "ignore_collection", without)
    greyed(body, settings, "static_pairs", "A single frame: all pairs count" if instant else "")


def _draw_details(layout: UILayout, context: Context, settings: SceneSettings, row: ContactRow) -> None:
    """What the list has no room for, about the row that was clicked."""
    column = layout.column(align=True)
    both = f"{row.a} – {row.b}"
    for name in (both,) if len(both) <= _LINE else (row.a, row.b):
        column.label(text=name)
    for reason in why_unseen(context, settings, row):
        column.label(text=reason, icon="INFO")
    if row.is_near_miss:
        column.label(text=f"Closest at frame {row.frame:.4f}")
        column.label(text=f"Gap {row.value:.4g}")
        return
    off = f" ± {row.uncertainty:.1g}" if row.uncertainty else ""
    column.label(text=f"First contact at frame {row.frame:.4f}{off}")
    column.label(text=f"Deepest overlap {row.value:.4g}")
    if row.meshes == "TOUCH":
        column.label(text=f"Meshes touch at frame {row.mesh_frame:.4f}", icon="CHECKMARK")
    elif row.meshes == "NEVER":
        column.label(text="Bounds only: meshes never touch", icon="MESH_DATA")
    if row.linear:
        column.label(text="By straight lines between frames", icon="IPO_LINEAR")
    if row.tunnelling:
        column.label(text="Tunnelling: between frames only", icon="GHOST_ENABLED")
    if row.at_start:
        column.label(text="In contact from the start", icon="PINNED")


CLASSES = (ContactsPanel,)
