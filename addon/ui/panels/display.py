"""The Display panel, and Touching Now: pairs that touch at the playhead, while one works."""

from __future__ import annotations

from typing import Any, ClassVar

from bpy.types import Context, Panel, UILayout

from ...formats.wording import valid_text
from ...scene.blender.frames import playhead
from ...scene.errors import SceneError
from ...scene.live.touching import TouchingPairs
from .. import texts
from ..operators.pairs import pairs_now
from ..properties.scene import SWITCHES, settings_of
from ..row_order import has_rows
from ..texts import draw_line, error_text, iface_, iface_count, length_text, n_, playhead_text
from .sidebar import Tab, folded, measure_texts, sidebar_width

_LINES = 8
"""Lines of the list. It has as many during playback and where pairs touch, so that nothing below moves."""
_NAMES = 0.74
"""Part of the width for both names."""
_SURROUNDINGS = 90
"""Pixels left and right of the list, and between its columns."""


class COLLISION_BOUNDS_PT_touching(Tab, Panel):
    bl_label = "Touching Now"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the number of pairs, and a line for each of the deepest of them: click to select it.

        Blender does not draw a closed panel.
        """
        column = self.layout.column(align=True)
        try:
            subjects, touching = pairs_now(context)
        except SceneError as error:
            column.label(text=error_text(error), translate=False, icon="INFO")
            return
        count = len(touching.pairs)
        _draw_summary(column, context, touching)
        is_playing = context.screen and context.screen.is_animation_playing
        if not (count or touching.untested or is_playing):
            return
        pairs = touching.pairs[:_LINES].tolist()
        names = {side: valid_text(subjects[side].name) for pair in pairs for side in pair}
        prefixes = texts.shared_prefixes(names.values())
        kinds = touching.overlaps.tolist()
        for (a, b), depth, kind in zip(pairs, touching.depths.tolist(), kinds, strict=False):
            line = column.split(factor=_NAMES, align=True)
            _draw_names(line, context, {a: names[a], b: names[b]}, prefixes)
            text = length_text(depth, context.scene.unit_settings, digits=3)
            if kind and not depth > 0:
                text = iface_(n_("touch") if kind == "touches" else n_("cross"))
            line.label(text=text, translate=False)
        for _ in range(len(pairs), _LINES):
            column.label(text="")
        remaining = count - len(pairs)
        rest = iface_count(remaining, "and {count} other pair", "and {count} other pairs")
        column.label(text=rest if remaining else "", translate=False)


def _draw_names(line: UILayout, context: Context, names: dict[int, str], prefixes: dict[str, str]) -> None:
    """Draw both names of a pair of subjects: a click on either selects both."""
    room = max(_NAMES * (sidebar_width(context) - _SURROUNDINGS), 1.0)
    one, other = names.values()
    *shown, first = texts.shortened_pair(one, other, prefixes, measure_texts(context), room)
    both = line.split(factor=first / room, align=True)
    for name in shown:
        cell, operator = both.row(align=True), "collision_bounds.select_touching"
        cell.alignment = "LEFT"
        select: Any = cell.operator(operator, text=name, translate=False, emboss=False)
        select.a, select.b = names


def _draw_summary(column: UILayout, context: Context, touching: TouchingPairs) -> None:
    """Draw the number of pairs, and how long a search of meshes has taken; if it is not over, draw again."""
    count, frame = len(touching.pairs), playhead_text(playhead(context.scene), 2)
    is_of_meshes = settings_of(context).shape == "mesh"
    if count:
        one = n_("{count} pair of bounds at frame {frame}")
        many = n_("{count} pairs of bounds at frame {frame}")
        if is_of_meshes:
            one = n_("{count} pair of meshes at frame {frame}")
            many = n_("{count} pairs of meshes at frame {frame}")
        draw_line(column, one if count == 1 else many, "RADIOBUT_ON", count=count, frame=frame)
    elif not touching.untested:
        draw_line(column, "Nothing touches at frame {frame}", "CHECKMARK", frame=frame)
    if not is_of_meshes:
        return
    milliseconds = f"{1000 * touching.seconds:.0f}"
    if not touching.untested:
        draw_line(column, "Tested in {time} ms", "TIME", time=milliseconds)
        return
    text = n_("{count} near pairs are left after {time} ms")
    draw_line(column, text, "TIME", count=touching.untested, time=milliseconds)
    if context.region is not None:
        context.region.tag_redraw()


class COLLISION_BOUNDS_PT_display(Tab, Panel):
    bl_label = "Display"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        self.layout.prop(settings_of(context).display, "show_overlay", text="")

    def draw(self, context: Context) -> None:
        layout, settings = self.layout, settings_of(context)
        display = settings.display
        layout.use_property_split, layout.use_property_decorate = True, False
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
            column.enabled = has_rows(settings)
            column.prop(display, "show_overlap")
            column.prop(display, "show_contact")
            column.prop(display, "show_ghosts")
            if not has_rows(settings):
                contact.label(text="Find contacts, then click a row", icon="INFO")
