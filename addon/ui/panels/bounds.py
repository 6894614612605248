"""The Bounds panel, and its subpanels with settings of the fit and swept bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from bpy.types import Context, Menu, Panel, UILayout

from ...scene.blender.instances import name_of
from ...scene.blender.object_settings import decimal_from_float32
from ...scene.settings import FitSettings
from ..overlay.state import deleted_subjects
from ..properties.scene import SceneSettings, envelopes_on, settings_of
from ..result_texts import count_of_bounds, input_warning_texts, notes_on_bounds, swept_count
from ..texts import iface_, iface_count, length_text
from . import sidebar
from .menus import COLLISION_BOUNDS_PT_presets


class COLLISION_BOUNDS_PT_bounds(sidebar.Tab, Panel):
    bl_label = "Bounds"

    def draw_header_preset(self, _context: Context) -> None:
        COLLISION_BOUNDS_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: Context) -> None:
        settings = settings_of(context)
        objects = self.layout.column()
        objects.use_property_split, objects.use_property_decorate = True, False
        objects.prop(settings, "scope")
        # A line in all cases: the buttons below stay in place when the selection changes.
        text = iface_("Hidden objects are skipped")
        if settings.scope == "SELECTED":
            text = iface_("Nothing selected: all visible")
            if count := len(context.view_layer.objects.selected):
                text = iface_("{count} selected", count=count)
        objects.label(text=text, translate=False, icon="INFO")
        # Progress of both buttons is here, where it is seen while the panel of swept bounds is folded.
        main, clear = "collision_bounds.compute_bounds", "collision_bounds.clear_results"
        job = sidebar.running_job(main, "collision_bounds.compute_envelope")
        results = sidebar.with_button(self.layout, main, "MESH_UVSPHERE", clear, job).column()
        results.use_property_split = False
        if job is not None:
            results.label(text=job.esc_text, translate=False, icon="INFO")
        else:
            _draw_state(results, settings)


class COLLISION_BOUNDS_PT_fit_settings(sidebar.BoundsTab, Panel):
    bl_label = "Fit Settings"

    def draw_header_preset(self, context: Context) -> None:
        """Draw what is not at its default, which is seen while the panel is folded.

        It is the first text and the number of others, or their number alone where the room is too small.
        """
        texts = _changed_texts(context)
        if not texts:
            return
        text = f"{texts[0]} +{len(texts) - 1}" if len(texts) > 1 else texts[0]
        title = iface_(COLLISION_BOUNDS_PT_fit_settings.bl_label)
        if not sidebar.fits_in_sidebar(context, sidebar.HEADER_SURROUNDINGS)(f"{title} {text}"):
            text = f"+{len(texts)}"
        self.layout.label(text=text, translate=False)

    def draw(self, context: Context) -> None:
        settings, layout = settings_of(context), self.layout
        layout.use_property_split, layout.use_property_decorate = True, False
        layout.prop(settings, "padding")
        layout.prop(settings, "box_axes")
        row = layout.row(align=True)
        row.prop(settings, "vertex_group")
        groups = row.row(align=True)
        groups.enabled = bool(_vertex_groups(context))
        groups.menu("COLLISION_BOUNDS_MT_vertex_groups", text="", icon="DOWNARROW_HLT")
        if settings.vertex_group:
            layout.prop(settings, "group_threshold")
        # Not in the column of values, which is too narrow for both names.
        added = layout.split(factor=0.25)
        added.use_property_split = False
        label = added.row()
        label.alignment = "RIGHT"
        label.label(text="Also Fit")
        added.column(align=True).prop(settings, "added_shapes")
        if "compound" in settings.added_shapes:
            sidebar.draw_parts(layout, settings)
            layout.prop(settings, "part_shape")


class COLLISION_BOUNDS_MT_vertex_groups(Menu):
    """Vertex groups of the active object"""

    bl_label = "Vertex Group"

    def draw(self, context: Context) -> None:
        for group in _vertex_groups(context):
            name = name_of(group)
            entry: Any = self.layout.operator(
                "collision_bounds.choose_vertex_group", text=name, translate=False
            )
            entry.group = name


class COLLISION_BOUNDS_PT_swept_bounds(sidebar.BoundsTab, Panel):
    bl_label = "Swept Bounds"

    def draw(self, context: Context) -> None:
        layout, settings = self.layout, settings_of(context)
        layout.operator("collision_bounds.compute_envelope", icon="CON_FOLLOWPATH")
        found = envelopes_on(settings)
        if found is not None:
            layout.label(text=swept_count(found, iface_count), translate=False, icon="CHECKMARK")
        elif settings.results.envelopes is None:
            layout.label(text="No swept bounds yet", icon="INFO")
        else:
            sidebar.draw_warning_button(
                layout, "COLLISION_BOUNDS_PT_bounds_warnings", _warnings(settings)[-1:]
            )


class COLLISION_BOUNDS_PT_bounds_warnings(sidebar.Popover, Panel):
    """Why bounds may be wrong or out of date"""

    bl_label = "Warnings"

    def draw(self, context: Context) -> None:
        sidebar.draw_warnings(self.layout, _warnings(settings_of(context)))


class COLLISION_BOUNDS_PT_bounds_notes(sidebar.Popover, Panel):
    """Objects that have no bounds, and why"""

    bl_label = "Notes"

    def draw(self, context: Context) -> None:
        results = settings_of(context).results
        sidebar.draw_warnings(self.layout, [note.text for note in notes_on_bounds(results)], "INFO")


def _vertex_groups(context: Context) -> Sequence[Any]:
    return () if context.object is None else context.object.vertex_groups  # type: ignore[return-value]


def _changed_texts(context: Context) -> list[str]:
    """Return a text for each fit setting that is not at its default, and for each shape that is added."""
    settings = settings_of(context)
    texts = []
    if settings.vertex_group:
        texts.append(iface_("Group {name}", name=settings.vertex_group))
    if settings.padding:
        length = length_text(decimal_from_float32(settings.padding), context.scene.unit_settings, digits=3)
        texts.append(iface_("Padding {length}", length=length))
    if settings.box_axes != FitSettings.axes:
        axes = UILayout.enum_item_name(settings, "box_axes", settings.box_axes)
        texts.append(iface_("Axes: {value}", value=axes))
    texts += (
        UILayout.enum_item_name(settings, "added_shapes", name)
        for name in settings.bound_shapes
        if name in settings.added_shapes
    )
    return texts


def _draw_state(layout: UILayout, settings: SceneSettings) -> None:
    """Draw a line that is always there: warnings, contacts to lose, or how many bounds; below it, notes."""
    results = settings.results
    result, contacts = results.bounds, results.contacts
    count = len(contacts.report.contacts) if contacts is not None and contacts.report is not None else 0
    if warnings := _warnings(settings):
        sidebar.draw_warning_button(layout, "COLLISION_BOUNDS_PT_bounds_warnings", warnings)
    elif result is None:
        layout.label(text="No bounds yet", icon="INFO")
    elif count:
        text = iface_count(count, "Computing clears {count} contact", "Computing clears {count} contacts")
        layout.label(text=text, translate=False, icon="INFO")
    else:
        deleted = deleted_subjects(settings.result_id, result)
        bounds, objects = len(result.objects), result.object_count
        if deleted.any():
            bounds -= int(deleted.sum())
            objects -= len({result.subjects[index].key for index in np.flatnonzero(deleted).tolist()})
        text = count_of_bounds(bounds, objects, iface_count)
        layout.label(text=text, translate=False, icon="CHECKMARK")
    # While there are contacts, the Contacts panel has the notes.
    if contacts is None and (notes := notes_on_bounds(results)):
        sidebar.draw_note_button(layout, "COLLISION_BOUNDS_PT_bounds_notes", notes)


def _warnings(settings: SceneSettings) -> list[str]:
    """Return warnings about the bounds that are not those of a scan."""
    results = settings.results
    texts = []
    if results.bounds is not None and results.contacts is None:
        texts += input_warning_texts(results.bounds)
    if results.envelopes is not None and envelopes_on(settings) is None:
        texts.append(iface_("Swept bounds out of date: compute them again"))
    return texts
