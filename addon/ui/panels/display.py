"""The Display panel."""

from __future__ import annotations

from typing import ClassVar

from bpy.types import Context, Panel

from ..properties.display import SWITCHES
from ..properties.scene import settings_of
from ..translation import n_
from .sidebar import Tab, folded


class COLLISION_BOUNDS_PT_display(Tab, Panel):
    """Panel of the overlay."""

    bl_label = "Display"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        """Draw the switch of the overlay."""
        self.layout.prop(settings_of(context).display, "show_overlay", text="")

    def draw(self, context: Context) -> None:
        """Draw shapes, style and the options of the active contact."""
        layout, settings = self.layout, settings_of(context)
        display = settings.display
        layout.use_property_split = True
        layout.use_property_decorate = False
        body = layout.column()
        body.active = display.show_overlay
        shapes = body.grid_flow(columns=2, even_columns=True, align=True)
        shapes.use_property_split = False  # names are long and need the whole width
        for switch in SWITCHES.values():
            shapes.prop(display, switch, toggle=True)
        shapes.prop(display, "show_envelopes", toggle=True)
        body.row().prop(display, "draw_as", expand=True)
        for option in ("in_front", "only_selected", "show_names", "show_timeline", "show_separation"):
            body.prop(display, option)
        # Folded, because few change them.
        if (style := folded(layout, "collision_bounds_style", n_("Style"))) is not None:
            style.active = display.show_overlay
            lines = style.column(align=True)
            lines.enabled = display.draw_as != "FACES"
            lines.prop(display, "line_width")
            lines.prop(display, "line_opacity", text="Opacity")
            faces = style.row()
            faces.enabled = display.draw_as != "WIRE"
            faces.prop(display, "face_opacity")
        contact = folded(layout, "collision_bounds_active_contact", n_("Active Contact"))
        if contact is not None:
            contact.active = display.show_overlay
            column = contact.column()
            column.enabled = bool(settings.rows)
            column.prop(display, "show_contact")
            column.prop(display, "show_ghosts")
            if not settings.rows:
                contact.label(text="Find contacts, then click a row", icon="INFO")
