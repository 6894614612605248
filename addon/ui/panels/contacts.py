"""The Contacts panel: settings of the scan, the contact list, details of the active row."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Panel, UILayout

from ...formats.wording import pluralized
from ...scene.jobs import result_store
from ...scene.jobs.result import Result
from .. import job_state
from ..contact_rows import active_row, counts_of_rows
from ..operators.bounds import COLLISION_BOUNDS_OT_clear_results
from ..operators.contact_list import (
    COLLISION_BOUNDS_OT_copy_contacts,
    COLLISION_BOUNDS_OT_frame_pair,
    COLLISION_BOUNDS_OT_go_to_contact,
    COLLISION_BOUNDS_OT_show_hidden_rows,
)
from ..operators.contacts import COLLISION_BOUNDS_OT_find_contacts, COLLISION_BOUNDS_OT_stop_scan
from ..operators.load_report import COLLISION_BOUNDS_OT_load_report
from ..operators.markers import COLLISION_BOUNDS_OT_contact_markers, has_markers
from ..operators.messages import input_warning_texts, partial_result_text
from ..operators.pair_selection import selection_problems
from ..properties.contact_list import COLLISION_BOUNDS_PG_contact_row
from ..properties.scene import (
    COLLISION_BOUNDS_PG_scene,
    contact_settings,
    has_spheres,
    settings_of,
)
from .contact_list import COLLISION_BOUNDS_UL_contacts, draw_counts, draw_headings
from .sidebar import Tab, draw_warning, folded, greyed, with_button

_CHARACTERS_PER_LINE = 32
"""Number of characters that fit into a line of the sidebar at its default width."""


class COLLISION_BOUNDS_PT_contacts(Tab, Panel):
    """Panel to find contacts and read them."""

    bl_idname = "COLLISION_BOUNDS_PT_contacts"
    bl_label = "Contacts"

    def draw(self, context: Context) -> None:
        """Draw button, results and settings; while a job runs, its progress instead of the button."""
        if (scan := job_state.running()) and scan.has_partial_result:
            # The bar takes the place of the button, so that a double click does not hit Stop.
            column = self.layout.column()
            bar = column.row()
            bar.scale_y = 1.4
            scan.draw(bar)
            column.operator(COLLISION_BOUNDS_OT_stop_scan.bl_idname, text="Stop", icon="CANCEL")
            column.label(text=scan.esc_text)
            layout = self.layout.column()
            layout.enabled = False
            _draw_results(layout, context, settings_of(context))
            return
        settings = settings_of(context)
        layout = with_button(self.layout, COLLISION_BOUNDS_OT_find_contacts, "MOD_PHYSICS")
        # Results before options, so that folding options does not move what is read.
        results = layout.column()
        results.use_property_split = False
        _draw_results(results, context, settings)
        layout.separator()
        instant = _has_single_frame(context, settings)
        layout.prop(settings, "shape")
        _draw_scan(layout, settings, instant)
        _draw_pairs(layout, context, settings, instant)


def _draw_results(layout: UILayout, context: Context, settings: COLLISION_BOUNDS_PG_scene) -> None:
    """Draw warnings, the list, its buttons and the details."""
    results = result_store.get(settings.result_id)
    if results.contacts is None:
        layout.operator(COLLISION_BOUNDS_OT_load_report.bl_idname, icon="IMPORT")
        return
    warnings = _warnings(settings, results)
    for warning in warnings:
        draw_warning(layout, warning)
    if results.source:
        layout.label(text=f"From {results.source}", icon="FILE_TICK")
    assert results.contacts.report is not None, "contacts have a report"
    if not results.contacts.report.contacts:
        # A tick would contradict a warning.
        layout.label(text="No contacts", icon="BLANK1" if warnings else "CHECKMARK")
    if not settings.rows:
        _draw_static_overlaps(layout, results.contacts)
        line = layout.row(align=True)
        line.operator(COLLISION_BOUNDS_OT_load_report.bl_idname, icon="IMPORT")
        line.operator(COLLISION_BOUNDS_OT_clear_results.bl_idname, text="", icon="X")
        return
    column = layout.column(align=True)
    draw_counts(column, settings)
    draw_headings(column, settings)
    column.template_list(
        COLLISION_BOUNDS_UL_contacts.bl_idname,
        "",
        settings,
        "rows",
        settings,
        "active_row",
        item_dyntip_propname="tooltip",
        # As many as there are contacts: filters do not change the height.
        rows=min(max(counts_of_rows(settings).contacts, 4), 8),
        sort_lock=True,
    )
    row = active_row(settings)
    _draw_buttons(layout.row(), context, row)
    _draw_static_overlaps(layout, results.contacts)
    if row is not None:
        _draw_details(layout, context, settings, row)


def _draw_static_overlaps(layout: UILayout, result: Result) -> None:
    """Draw how many overlaps are not listed, and a button to include them."""
    count = result.static_overlap_count
    if count:
        column = layout.column(align=True)
        column.label(text=f"{pluralized(count, 'overlap')} of objects that", icon="INFO")
        column.label(text="never move: skipped", icon="BLANK1")
        include = column.operator(COLLISION_BOUNDS_OT_find_contacts.bl_idname, text="Include")
        include.static_pairs = True


def _warnings(settings: COLLISION_BOUNDS_PG_scene, results: result_store.Results) -> list[str]:
    """Return warnings about partial or outdated results."""
    assert results.contacts is not None, "only called with contacts"
    texts = [partial_result_text(results.contacts)] if results.contacts.partial else []
    texts += input_warning_texts(results.contacts)
    if results.stale:
        texts.append("The scene changed: find contacts again")
    elif results.scan_settings is not None and contact_settings(settings) != results.scan_settings:
        texts.append("Found with other settings")
    return texts


def _draw_buttons(line: UILayout, context: Context, row: COLLISION_BOUNDS_PG_contact_row | None) -> None:
    """Draw the buttons of the list and of its active row."""
    part = line.row(align=True)
    part.operator(
        COLLISION_BOUNDS_OT_go_to_contact.bl_idname, text="", icon="PREV_KEYFRAME"
    ).direction = "PREVIOUS"
    part.operator(
        COLLISION_BOUNDS_OT_go_to_contact.bl_idname, text="", icon="NEXT_KEYFRAME"
    ).direction = "NEXT"
    part.operator(COLLISION_BOUNDS_OT_frame_pair.bl_idname, text="", icon="ZOOM_SELECTED")
    part = line.row(align=True)
    if row is not None:
        part.prop(row, "hidden", text="", icon="HIDE_ON" if row.hidden else "HIDE_OFF")
    else:
        # A placeholder, so that the buttons to the right do not move when a row becomes active.
        placeholder = part.row(align=True)
        placeholder.enabled = False
        placeholder.label(text="", icon="HIDE_OFF")
    part.operator(COLLISION_BOUNDS_OT_show_hidden_rows.bl_idname, text="", icon="LOOP_BACK")
    part = line.row(align=True)
    part.operator(
        COLLISION_BOUNDS_OT_contact_markers.bl_idname,
        text="",
        icon="MARKER_HLT",
        depress=has_markers(context.scene),
    )
    part.operator(COLLISION_BOUNDS_OT_copy_contacts.bl_idname, text="", icon="COPYDOWN")
    part.operator(COLLISION_BOUNDS_OT_load_report.bl_idname, text="", icon="IMPORT")
    line.operator(COLLISION_BOUNDS_OT_clear_results.bl_idname, text="", icon="X")


def _has_single_frame(context: Context, settings: COLLISION_BOUNDS_PG_scene) -> bool:
    """Return whether the frame range is a single frame."""
    span: Any = context.scene if settings.use_scene_range else settings
    return span.frame_start == span.frame_end


def _draw_scan(layout: UILayout, settings: COLLISION_BOUNDS_PG_scene, instant: bool) -> None:
    """Draw scan settings, folded because the defaults suit most scans."""
    body = folded(layout, "collision_bounds_scan", "Scan")
    if body is None:
        return
    greyed(body, settings, "motion", "Single frame: nothing moves" if instant else "")
    body.prop(settings, "clearance")
    body.prop(settings, "confirm")
    body.prop(settings, "use_scene_range")
    if not settings.use_scene_range:
        column = body.column(align=True)
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")
        column.prop(settings, "frame_step")


def _draw_pairs(
    layout: UILayout, context: Context, settings: COLLISION_BOUNDS_PG_scene, instant: bool
) -> None:
    """Draw pair filters, folded because most scans need all pairs."""
    body = folded(layout, "collision_bounds_pairs", "Pairs")
    if body is None:
        return
    for option in ("group_a", "group_b", "ignored", "ignore_parents"):
        body.prop(settings, option)
    greyed(
        body,
        settings,
        "obstacles",
        "" if has_spheres(settings) else "Needs Spheres or Sphere Trees",
    )
    row = body.row()
    row.enabled = has_spheres(settings) and bool(settings.obstacles)
    row.prop(settings, "one_sided")
    reason = "" if context.scene.collection.children else "This scene has no collections"
    greyed(body, settings, "ignore_collection", reason)
    greyed(body, settings, "static_pairs", "Single frame: all pairs checked" if instant else "")


def _draw_details(
    layout: UILayout,
    context: Context,
    settings: COLLISION_BOUNDS_PG_scene,
    row: COLLISION_BOUNDS_PG_contact_row,
) -> None:
    """Draw details of the active row that do not fit into the list."""
    column = layout.column(align=True)
    both = f"{row.a} – {row.b}"
    for name in (both,) if len(both) <= _CHARACTERS_PER_LINE else (row.a, row.b):
        column.label(text=name)
    for reason in selection_problems(context, settings, row):
        column.label(text=reason, icon="INFO")
    if row.is_near_miss:
        column.label(text=f"Closest at frame {row.frame:.4f}")
        column.label(text=f"Gap {row.value:.4g}")
        return
    uncertainty = f" ± {row.uncertainty:.1g}" if row.uncertainty else ""
    column.label(text=f"First contact at frame {row.frame:.4f}{uncertainty}")
    column.label(text=f"Deepest overlap {row.value:.4g}")
    if row.meshes == "TOUCH":
        column.label(text=f"Meshes touch at frame {row.mesh_frame:.4f}", icon="CHECKMARK")
    elif row.meshes == "NEVER":
        column.label(text="Bounds only: meshes never touch", icon="MESH_DATA")
    if row.linear:
        column.label(text="Linear motion between frames", icon="IPO_LINEAR")
    if row.tunnelling:
        column.label(text="Tunnelling: between frames only", icon="GHOST_ENABLED")
    if row.at_start:
        column.label(text="In contact at the first frame", icon="PINNED")


CLASSES = (COLLISION_BOUNDS_PT_contacts,)
