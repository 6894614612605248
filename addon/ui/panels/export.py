"""The Export panel."""

from __future__ import annotations

from bpy.types import Context, Panel

from ..operators import export
from ..properties.scene import settings_of
from ..translation import iface_
from .sidebar import Tab

_BUTTONS_IN_ROW, _WIDE_BUTTONS_IN_ROW = 3, 2


class COLLISION_BOUNDS_PT_export(Tab, Panel):
    """Panel to export files."""

    bl_label = "Export"

    def draw(self, context: Context) -> None:
        """Draw the buttons of all file formats, and the option to keep results in the blend file."""
        document, *partial = export.EXPORTS
        text = iface_(document.button_text)
        self.layout.operator(document.bl_idname, text=text, translate=False, icon="EXPORT")
        for is_wide, count in ((False, _BUTTONS_IN_ROW), (True, _WIDE_BUTTONS_IN_ROW)):
            buttons = [operator for operator in partial if operator.is_wide == is_wide]
            for start in range(0, len(buttons), count):
                row = self.layout.row(align=True)
                for operator in buttons[start : start + count]:
                    text = iface_(operator.button_text)
                    row.operator(operator.bl_idname, text=text, translate=False)
        self.layout.prop(settings_of(context), "keep_results")
