"""The Contacts panel: settings of the scan, the contact list, details of the active row."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Panel, UILayout

from ...formats.wording import valid_text
from ...scene.blender.frames import is_outside_scene
from ...scene.blender.object_settings import entries_of
from ...scene.jobs.result import Result
from .. import job_state
from ..properties.options import OPTIONS_WITH_PICKER, SCAN_OPTIONS
from ..properties.scene import SceneSettings, contact_settings, is_alone, selected_count, settings_of
from ..result_texts import input_warning_texts, notes_on_contacts, partial_result_text
from ..row_order import (
    active_heading,
    active_row,
    counts_of_rows,
    grouped_rows,
    passing_rows,
    rows_meant_to_touch,
)
from ..texts import draw_line, draw_note, frame_text, iface_, iface_count, meaning_, n_, translated
from . import sidebar
from .contact_list import draw_counts, draw_details, draw_headings, draw_small_graph, is_of_meshes

_LISTED = 20
"""Number of new contacts, of those that are gone, and of ignored pairs, that are listed."""


class COLLISION_BOUNDS_PT_contacts(sidebar.Tab, Panel):
    bl_label = "Contacts"

    def draw(self, context: Context) -> None:
        """Draw button, state, results and settings; while a scan runs, its progress instead of the button."""
        settings, scan = settings_of(context), sidebar.running_job("collision_bounds.find_contacts")
        text, icon = _button_text(context)
        layout = sidebar.with_button(self.layout, "collision_bounds.find_contacts", icon, job=scan, text=text)
        # Results before options, so that folding options does not move what is read.
        results = layout.column()
        results.use_property_split = False
        # Never greyed out: while a scan runs, it says what Esc does.
        _draw_state(results, settings, scan)
        if scan is None and (notes := notes_on_contacts(settings.results, context.scene)):
            sidebar.draw_note_button(results, "COLLISION_BOUNDS_PT_contact_notes", notes)
        if scan is None:
            # Results of before would look like those of the scan that runs.
            if settings.baseline:
                _draw_baseline(results, settings)
            _draw_results(results, context, settings)
        layout.separator()
        options = layout.column()
        options.enabled = scan is None
        span: Any = context.scene if settings.use_scene_range else settings
        instant = span.frame_start == span.frame_end
        options.prop(settings, "shape")
        if settings.shape == "compound":
            sidebar.draw_parts(options, settings)
        if settings.shape != "mesh":
            # A box around a whole character says little; meshes need no parts.
            options.operator_menu_enum("collision_bounds.split_objects", "bounds_for", icon="BONE_DATA")
        _draw_scan(options, context, settings, instant)
        _draw_pairs(options, context, settings, instant)


class COLLISION_BOUNDS_PT_contact_warnings(sidebar.Popover, Panel):
    """Why contacts may be incomplete or out of date"""

    bl_label = "Warnings"

    def draw(self, context: Context) -> None:
        sidebar.draw_warnings(self.layout, _warnings(settings_of(context)))


class COLLISION_BOUNDS_PT_contact_notes(sidebar.Popover, Panel):
    """Objects that were not checked, and why"""

    bl_label = "Notes"

    def draw(self, context: Context) -> None:
        results = settings_of(context).results
        sidebar.draw_warnings(
            self.layout, [note.text for note in notes_on_contacts(results, context.scene)], "INFO"
        )


def _button_text(context: Context) -> tuple[str, str]:
    """Return the text of Find Contacts, empty for its label, and its icon.

    The text has the number of selected objects: a click on a row selects its pair, and with the Bounds panel
    folded nothing else shows that the next scan is of these two alone.
    """
    count = selected_count(context)
    if count is None:
        return "", "MOD_PHYSICS"
    if count == 0 or is_alone(context):
        return iface_("{count} selected: nothing to check", count=count), "ERROR"
    return iface_("Find Contacts: {count} Selected", count=count), "MOD_PHYSICS"


def _draw_state(layout: UILayout, settings: SceneSettings, scan: job_state.RunningJob | None) -> None:
    """Draw a line that is always there: what Esc does, warnings, or what was found; then the frames."""
    results = settings.results
    if scan is not None:
        layout.label(text=scan.esc_text, translate=False, icon="INFO")
        return
    if results.contacts is None:
        layout.label(text="Not scanned yet", icon="INFO")
        return
    column = layout.column(align=True)
    warnings = _warnings(settings)
    if len(warnings) == 1 and warnings == _outdated(settings):
        line = column.row(align=True)
        line.label(text=warnings[0].split(": ", 1)[0], translate=False, icon="ERROR")
        # A click on a row selects its pair: the scan is to check the objects of the one before.
        again: Any = line.operator("collision_bounds.find_contacts", text="", icon="FILE_REFRESH")
        again.same_objects = True
    elif warnings:
        sidebar.draw_warning_button(column, "COLLISION_BOUNDS_PT_contact_warnings", warnings)
    elif source := results.source:
        draw_line(column, "From {source}", "FILE_TICK", source=translated(source))
    elif not results.contacts.has_pairs:
        column.label(text="Only one object was checked", icon="INFO")
    else:
        count = len(results.contacts.report.contacts)
        texts = n_("{count} contact of bounds"), n_("{count} contacts of bounds")
        if is_of_meshes(results.contacts):
            texts = n_("{count} contact of meshes"), n_("{count} contacts of meshes")
        text = iface_count(count, *texts)
        column.label(text=text if count else iface_("No contacts"), translate=False, icon="CHECKMARK")
    time, text = results.contacts.time, n_("Frames {start:g} to {end:g}, {fps} fps")
    if time.step != 1:
        text = n_("Frames {start:g} to {end:g}, step {step:g}, {fps} fps")
    fps = f"{time.fps:.5g}"
    draw_line(column, text, "BLANK1", start=time.start, end=time.end, step=time.step, fps=fps)


class COLLISION_BOUNDS_PT_baseline(sidebar.Popover, Panel):
    """Contacts that are new or gone, compared with the baseline"""

    bl_label = "Baseline"
    bl_ui_units_x = 24  # names in full, up to about 25 characters each

    def draw(self, context: Context) -> None:
        settings = settings_of(context)
        results, column = settings.results, self.layout.column(align=True)
        file = valid_text(bpy.path.basename(settings.baseline))
        column.label(text=file, translate=False, icon="FILE")
        if results.comparison is None or results.contacts is None:
            column.label(text="Find contacts to compare them", icon="INFO")
            return
        names = {subject.id: subject.name for subject in results.contacts.subjects}
        comparison = results.comparison
        new = iface_count(len(comparison.new), "New: {count} contact", "New: {count} contacts")
        gone = iface_count(len(comparison.gone), "Gone: {count} contact", "Gone: {count} contacts")
        for label, intervals in ((new, comparison.new), (gone, comparison.gone)):
            column.label(text=label, translate=False)
            for entry in intervals[:_LISTED]:
                a, b = (valid_text(names.get(side, side)) for side in (entry.a, entry.b))
                start, end = frame_text(entry.start, decimals=2), frame_text(entry.end, decimals=2)
                draw_line(column, "{a} and {b}: {start} to {end}", "BLANK1", a=a, b=b, start=start, end=end)
            if len(intervals) > _LISTED:
                draw_line(column, "and {count} more", "BLANK1", count=len(intervals) - _LISTED)


def _draw_baseline(layout: UILayout, settings: SceneSettings) -> None:
    comparison = settings.results.comparison
    line = layout.row(align=True)
    text = iface_("Not compared")
    if comparison is not None:
        text = iface_("{new} new, {gone} gone", new=len(comparison.new), gone=len(comparison.gone))
    line.popover("COLLISION_BOUNDS_PT_baseline", text=text, translate=False, icon="FILE_REFRESH")
    line.prop(settings.contact_list, "new_only", text="", icon="FILTER")
    line.operator("collision_bounds.clear_baseline", text="", icon="X")


def _draw_results(layout: UILayout, context: Context, settings: SceneSettings) -> None:
    results = settings.results
    if results.contacts is None or not settings.rows:
        if results.contacts is not None:
            _draw_static_overlaps(layout, results.contacts)
        line = layout.row(align=True)
        line.operator("collision_bounds.load_report", text="Load Report...", icon="IMPORT")
        if results.contacts is not None:
            line.operator("collision_bounds.clear_results", text="", icon="X")
        return
    column = layout.column(align=True)
    draw_counts(column, settings)
    draw_headings(column, context, settings)
    # As many as there are contacts: filters do not change the height.
    rows, name = min(max(counts_of_rows(settings)["show_contacts"], 4), 8), "COLLISION_BOUNDS_UL_contacts"
    options: dict[str, Any] = {"item_dyntip_propname": "tooltip", "rows": rows, "sort_lock": True}
    column.template_list(name, "", settings, "rows", settings, "active_row", **options)
    if not passing_rows(settings).any():
        column.label(text="The filters hide all rows", icon="INFO")
    _draw_buttons(layout.row(), settings)
    _draw_meant(layout, settings)
    _draw_static_overlaps(layout, results.contacts)
    draw_details(layout, context, settings)
    draw_small_graph(layout, context, settings)


def _draw_meant(layout: UILayout, settings: SceneSettings) -> None:
    """Draw a button for each set of pairs that are probably meant to touch, and for the active group."""
    meant, heading = rows_meant_to_touch(settings), active_heading(settings)
    of_group = 0 if heading is None else len(grouped_rows(settings, settings.active_row))
    choices = (
        ("GROUP", n_("Ignore {count} of this group"), of_group),
        ("ALWAYS", n_("Ignore {count} always in contact"), len(meant.always)),
        ("OBJECT", n_("Ignore {count} with {name}"), len(meant.of_object)),
    )
    column = layout.column(align=True)
    for which, text, count in choices:
        if count > (which != "GROUP"):
            label = iface_(text, count=count, name=valid_text(meant.name))
            ignore: Any = column.operator(
                "collision_bounds.ignore_pairs", text=label, translate=False, icon="UNLINKED"
            )
            ignore.which = which


def _draw_static_overlaps(layout: UILayout, result: Result) -> None:
    count = result.static_overlap_count
    if count:
        column = layout.column(align=True)
        one = n_("{count} overlap of objects that\nnever move: skipped")
        many = n_("{count} overlaps of objects that\nnever move: skipped")
        draw_note(column, iface_count(count, one, many))
        find, text = "collision_bounds.find_contacts", meaning_("Include")
        include = column.operator(find, text=text, translate=False)
        # A click on a row selects its pair: the scan is to check all objects of the one before.
        include.static_pairs = include.same_objects = True


def _warnings(settings: SceneSettings) -> list[str]:
    results = settings.results
    texts = [partial_result_text(results.contacts)] if results.contacts.partial else []
    return [*texts, *input_warning_texts(results.contacts), *_outdated(settings)]


def _outdated(settings: SceneSettings) -> list[str]:
    """Return why contacts are out of date, with the remedy, which is a scan."""
    results, texts = settings.results, []
    if results.stale:
        texts.append(iface_("The scene changed: find contacts again"))
    elif results.scan_settings is not None and contact_settings(settings) != results.scan_settings:
        texts.append(iface_("Found with other settings: find contacts again"))
    if results.lacks_restored_pairs:
        texts.append(iface_("Without restored pairs: find contacts again"))
    return texts


def _draw_buttons(line: UILayout, settings: SceneSettings) -> None:
    """Draw the buttons of the list and of its active row; the rare ones are in a menu."""
    row, go_to = active_row(settings), "collision_bounds.go_to_contact"
    part = line.row(align=True)
    part.operator(go_to, text="", icon="PREV_KEYFRAME").direction = "PREVIOUS"
    part.operator(go_to, text="", icon="NEXT_KEYFRAME").direction = "NEXT"
    part = line.row(align=True)
    part.operator("collision_bounds.frame_pair", text="", icon="ZOOM_SELECTED")
    part.prop(settings.contact_list, "view_follows", text="", icon="VIEW_CAMERA")
    part = line.row(align=True)
    if row is not None:
        part.prop(row, "hidden", text="", icon="HIDE_ON" if row.hidden else "HIDE_OFF")
    else:
        # A placeholder, so that the buttons to the right do not move when a row becomes active.
        placeholder = part.row(align=True)
        placeholder.enabled = False
        placeholder.label(text="", icon="HIDE_OFF")
    part.operator("collision_bounds.ignore_pair", text="", icon="UNLINKED")
    line.menu("COLLISION_BOUNDS_MT_contact_list", text="", icon="DOWNARROW_HLT")
    line.operator("collision_bounds.clear_results", text="", icon="X")


def _draw_scan(layout: UILayout, context: Context, settings: SceneSettings, instant: bool) -> None:
    """Draw scan settings, folded because the defaults suit most scans."""
    body = sidebar.folded(layout, "collision_bounds_scan", n_("Scan"))
    if body is None:
        return
    sidebar.greyed(body, settings, "motion", n_("Single frame: nothing moves") if instant else "")
    for option in (*SCAN_OPTIONS, "use_scene_range"):
        body.prop(settings, option)
    if not settings.use_scene_range:
        column, scene = body.column(align=True), context.scene
        for option in ("frame_start", "frame_end", "frame_step"):
            column.prop(settings, option)
        if is_outside_scene(scene, settings.frame_start, settings.frame_end):
            start, end = scene.frame_start, scene.frame_end
            draw_line(body, "The scene has {start} to {end}", "ERROR", start=start, end=end)


def _draw_pairs(layout: UILayout, context: Context, settings: SceneSettings, instant: bool) -> None:
    """Draw pair filters, folded because most scans need all pairs."""
    body = sidebar.folded(layout, "collision_bounds_pairs", n_("Pairs"))
    if body is None:
        return
    _draw_picker(body, settings, "group_a", n_("Group A"))
    _draw_picker(body, settings, "group_b", n_("Group B"))
    body.prop(settings, "ignore_parents")
    obstacles = body.column()
    obstacles.enabled = settings.takes_obstacles
    _draw_picker(obstacles, settings, "obstacles", n_("Obstacles"))
    if not settings.takes_obstacles:
        body.label(text="Needs Meshes, Spheres or Sphere Trees", icon="INFO")
    row = body.row()
    row.enabled = settings.takes_obstacles and bool(settings.names_of_option("obstacles"))
    row.prop(settings, "one_sided")
    reason = "" if context.scene.collection.children else n_("This scene has no collections")
    sidebar.greyed(body, settings, "ignore_collection", reason)
    sidebar.greyed(body, settings, "static_pairs", n_("Single frame: all pairs checked") if instant else "")
    # Folded, because pickers are enough for most.
    if (advanced := sidebar.folded(body, "collision_bounds_patterns", n_("Advanced"))) is not None:
        advanced.label(text="Patterns of names, such as Car*", icon="INFO")
        for option in (*OPTIONS_WITH_PICKER, "ignored"):
            part = advanced.row()
            part.enabled = option != "obstacles" or settings.takes_obstacles
            part.prop(settings, option)
    _draw_ignored(body)


def _draw_picker(layout: UILayout, settings: SceneSettings, option: str, label: str) -> None:
    """Draw the pickers of a group: collections or an object. Blender adds an eyedropper to each."""
    column, picker = layout.column(align=True), getattr(settings.pickers, option)
    line = column.row(align=True)
    line.prop(picker, "collection", text=iface_(label), translate=False)
    if picker.collection is not None:
        add: Any = line.operator("collision_bounds.add_collection", text="", icon="ADD")
        add.option = option
    for index, entry in enumerate(picker.more):
        line = column.row(align=True)
        line.prop(entry, "collection", text="and")
        remove: Any = line.operator("collision_bounds.remove_collection", text="", icon="X")
        remove.option, remove.index = option, index
    column.prop(picker, "object", text="or Object")


def _draw_ignored(layout: UILayout) -> None:
    pairs = entries_of("ignored")
    if not pairs:
        return
    column = layout.column(align=True)
    one, many = n_("{count} pair ignored in this file:"), n_("{count} pairs ignored in this file:")
    draw_line(column, one if len(pairs) == 1 else many, count=len(pairs))
    for name, other in pairs[:_LISTED]:
        a, b = valid_text(name), valid_text(other.name)
        line = column.row(align=True)
        names = line.split(factor=0.5)
        names.label(text=a, translate=False)
        names.label(text=b, translate=False)
        restore: Any = line.operator("collision_bounds.restore_pairs", text="", icon="X")
        restore.a, restore.b = a, b
    column.operator("collision_bounds.restore_pairs", text="Restore All")
