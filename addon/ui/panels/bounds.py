"""The Bounds panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from ...scene.jobs import result_store
from .. import job_state
from ..operators.bounds import (
    COLLISION_BOUNDS_OT_clear_results,
    COLLISION_BOUNDS_OT_compute_bounds,
    COLLISION_BOUNDS_OT_compute_envelope,
)
from ..operators.contacts import COLLISION_BOUNDS_OT_stop_scan
from ..operators.messages import input_warning_texts
from ..properties.scene import envelopes_on, settings_of
from .presets import COLLISION_BOUNDS_PT_presets
from .sidebar import Tab, draw_warning, with_button


class COLLISION_BOUNDS_PT_bounds(Tab, Panel):
    """Panel to fit bounds."""

    bl_idname = "COLLISION_BOUNDS_PT_bounds"
    bl_label = "Bounds"

    def draw_header_preset(self, _context: Context) -> None:
        """Draw the presets button."""
        COLLISION_BOUNDS_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: Context) -> None:
        """Draw the objects of all panels, Compute Bounds and its settings, and Compute Swept Bounds."""
        settings = settings_of(context)
        objects = self.layout.column()
        objects.use_property_split, objects.use_property_decorate = True, False
        objects.prop(settings, "scope")
        if settings.scope == "SELECTED":
            # A line in both cases: the buttons below stay in place when the selection changes.
            count = len(context.view_layer.objects.selected)
            objects.label(text=f"{count} selected" if count else "Nothing selected: all visible", icon="INFO")
        layout = with_button(
            self.layout,
            COLLISION_BOUNDS_OT_compute_bounds,
            "MESH_UVSPHERE",
            COLLISION_BOUNDS_OT_clear_results,
        )
        layout.prop(settings, "method")
        layout.prop(settings, "padding")
        results = result_store.get(settings.result_id)
        if results.bounds is not None and results.contacts is None:
            for text in input_warning_texts(results.bounds):
                draw_warning(layout, text)
        scan = job_state.running()
        if scan is not None and not scan.has_partial_result:
            column = layout.column()
            scan.draw(column.row())
            column.operator(COLLISION_BOUNDS_OT_stop_scan.bl_idname, text="Stop", icon="CANCEL")
            return
        layout.operator(COLLISION_BOUNDS_OT_compute_envelope.bl_idname, icon="CON_FOLLOWPATH")
        if results.envelopes is not None and envelopes_on(settings) is None:
            layout.label(text="Swept bounds are out of date", icon="ERROR")


CLASSES = (COLLISION_BOUNDS_PT_bounds,)
