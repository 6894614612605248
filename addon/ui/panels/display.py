"""The Display panel."""

from __future__ import annotations

from typing import ClassVar

from bpy.types import Context, Panel, UILayout

from ..properties.display import SWITCHES, COLLISION_BOUNDS_PG_display
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
        _draw_style(layout, display)
        _draw_contact(layout, display, bool(settings.rows))


def _draw_style(layout: UILayout, display: COLLISION_BOUNDS_PG_display) -> None:
    """Draw style settings, folded because few change them."""
    body = folded(layout, "collision_bounds_style", n_("Style"))
    if body is None:
        return
    body.active = display.show_overlay
    lines = body.column(align=True)
    lines.enabled = display.draw_as != "FACES"
    lines.prop(display, "line_width")
    lines.prop(display, "line_opacity", text="Opacity")
    faces = body.row()
    faces.enabled = display.draw_as != "WIRE"
    faces.prop(display, "face_opacity")


def _draw_contact(layout: UILayout, display: COLLISION_BOUNDS_PG_display, has_rows: bool) -> None:
    """Draw the options of the active contact, folded."""
    body = folded(layout, "collision_bounds_active_contact", n_("Active Contact"))
    if body is None:
        return
    body.active = display.show_overlay
    column = body.column()
    column.enabled = has_rows
    column.prop(display, "show_contact")
    column.prop(display, "show_ghosts")
    if not has_rows:
        body.label(text="Find contacts, then click a row", icon="INFO")
