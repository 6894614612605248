"""The Bounds panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from ..scene import session
from . import running_scan
from .bounds_operators import ClearResults, ComputeBounds, ComputeEnvelope
from .presets import COLLISION_BOUNDS_PT_presets
from .properties import has_objects, settings_of
from .scan_operator import StopScan
from .scene_settings import envelopes_on
from .tab import Tab, with_button


class BoundsPanel(Tab, Panel):
    """Fit bounds."""

    bl_idname = "COLLISION_BOUNDS_PT_bounds"
    bl_label = "Bounds"

    def draw_header_preset(self, _context: Context) -> None:
        """Settings under names."""
        COLLISION_BOUNDS_PT_presets.draw_panel_header(self.layout)

    def draw(self, context: Context) -> None:
        """The first button, and what it goes by."""
        settings, enabled = settings_of(context), has_objects(context)
        layout = with_button(self.layout, ComputeBounds, "MESH_UVSPHERE", enabled, ClearResults)
        layout.prop(settings, "scope")
        layout.prop(settings, "method")
        layout.prop(settings, "padding")
        results = session.get(settings.result_id)
        scan = running_scan.running()
        if scan is not None and not scan.keeps_part:
            column = layout.column()
            scan.draw(column.row())
            column.operator(StopScan.bl_idname, text="Stop", icon="CANCEL")
            return
        row = layout.row()
        row.enabled = enabled
        row.operator(ComputeEnvelope.bl_idname, icon="CON_FOLLOWPATH")
        if results.envelopes is not None and envelopes_on(settings) is None:
            layout.label(text="Envelopes are out of date", icon="ERROR")


CLASSES = (BoundsPanel,)
