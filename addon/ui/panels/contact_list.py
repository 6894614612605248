"""List of contacts and near misses, with headings to sort by and filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, UILayout, UIList

from ..contact_rows import counts_of_rows, prefixes_of_names, sorted_and_filtered
from ..properties.contact_list import ContactRow
from ..properties.scene import SceneSettings, settings_of
from ..texts import frame_text, shortened_pair
from ..translation import iface_, iface_count, meaning_
from .sidebar import measure_texts, sidebar_width

_UNIT = 20
"""Pixels of a unit of Blender's layouts, and of an icon."""
_FRAME_UNITS, _VALUE_UNITS = 2.4, 2.3
"""Widths of the columns of numbers, in units: these are never cut."""
_HEADING_UNITS = 4.3
"""Width of their headings, which have an arrow."""
_UP, _DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"
_SURROUNDINGS = 66
"""Pixels of a sidebar that are left and right of the list: tabs, margins, and its scroll bar."""
_NAME_MARGIN = 10
"""Pixels around the text of a name."""
_NARROWEST_NAME = 50
"""Pixels of a name below which the list shows one number: that by which it is sorted, or the frame."""


class COLLISION_BOUNDS_UL_contacts(UIList):
    """One row per pair: its objects, the frame, and the depth or gap."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: SceneSettings,
        item: ContactRow,
        _icon: int,
        _active_data: SceneSettings,
        _active_property: str,
        _index: int = 0,
        _filter_flag: int = 0,
    ) -> None:
        """Draw both names, frame, and depth or gap; the icon shows which."""
        line = layout.row(align=True)
        line.active = not item.hidden
        width, has_room = _widths(context)
        fits, prefixes = measure_texts(context, width), prefixes_of_names(data)
        a, b = shortened_pair(item.a, item.b, prefixes, fits)
        names = line.split(factor=0.5, align=True)
        icon: Any = "PINNED" if item.at_start else "RADIOBUT_ON"
        if item.is_near_miss:
            icon = "DRIVER_DISTANCE"
        elif item.tunnelling:
            icon = "GHOST_ENABLED"
        elif item.accepted:
            icon = "CHECKMARK"
        names.row(align=True).label(text=a, translate=False, icon=icon)
        names.row(align=True).label(text=b, translate=False)
        # At most six characters, up to a million, as far as the frame is certain.
        decimals = 2 if abs(item.frame) < 100 else 1 if abs(item.frame) < 1000 else 0
        frame = frame_text(item.frame, item.uncertainty, decimals).split(" ")[0]
        numbers = [iface_("start") if item.at_start else frame, _value_text(abs(item.value))]
        if not has_room:
            # It is the one that the list is sorted by.
            numbers = numbers[1:] if data.contact_list.sort_by == "VALUE" else numbers[:1]
        for text, units in zip(numbers, (_FRAME_UNITS, _VALUE_UNITS), strict=False):
            cell = line.row(align=True)
            cell.ui_units_x = units
            cell.label(text=text, translate=False)

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Draw the search field."""
        contact_list, line = settings_of(context).contact_list, layout.row(align=True)
        line.prop(contact_list, "search", text="", icon="VIEWZOOM")
        line.prop(contact_list, "selected_only", text="", icon="RESTRICT_SELECT_OFF")

    def filter_items(
        self, _context: Context, data: SceneSettings, _property_name: str
    ) -> tuple[list[int], list[int]]:
        """Return the filter flag and the position of each row; the active index refers to unsorted rows."""
        order, shown = sorted_and_filtered(data)
        positions = np.empty(len(order), dtype=np.int64)
        positions[order] = np.arange(len(order))
        return np.where(shown, self.bitflag_filter_item, 0).tolist(), positions.tolist()


def draw_counts(layout: UILayout, settings: SceneSettings) -> None:
    """Draw how many rows of each kind there are; each count is a filter."""
    counts, contact_list = counts_of_rows(settings), settings.contact_list
    grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    grid.use_property_split = False
    near_misses = iface_count(counts.near_misses, "{count} near miss", "{count} near misses")
    contacts = iface_count(counts.contacts, "{count} contact", "{count} contacts")
    hidden = iface_count(counts.hidden, "{count} hidden row", "{count} hidden rows")
    tunnelling = iface_("{count} tunnelling", count=counts.tunnelling)
    for name, text, count in (
        ("show_contacts", contacts, counts.contacts),
        ("tunnelling_only", tunnelling, counts.tunnelling),
        ("show_near_misses", near_misses, counts.near_misses),
        ("show_hidden", hidden, counts.hidden),
    ):
        part = grid.row(align=True)
        part.enabled = count > 0
        part.prop(contact_list, name, text=text, translate=False, toggle=True)


def draw_headings(layout: UILayout, settings: SceneSettings) -> None:
    """Draw column headings above the list; clicking one sorts by it, and again reverses the order.

    Above those of the numbers is a line that says what they are of.
    """
    contact_list = settings.contact_list
    line = layout.row(align=True)
    line.row(align=True).label(text="")
    numbers = line.row(align=True)
    numbers.ui_units_x, numbers.alignment = 2 * _HEADING_UNITS, "CENTER"
    numbers.label(text=iface_("Of bounds:"), translate=False)
    line = layout.row(align=True)
    line.use_property_split = False
    columns = (
        ("NAME", iface_("Pair"), 0.0),
        ("FRAME", meaning_("Frame"), _HEADING_UNITS),
        ("VALUE", iface_("Depth"), _HEADING_UNITS),
    )
    for name, text, units in columns:
        part = line.row(align=True)
        if units:
            part.ui_units_x = units
        is_active = contact_list.sort_by == name
        if is_active:
            # In the text, because an icon leaves no room for it.
            text = f"{text} {_UP if contact_list.reverse else _DOWN}"
        sort = "collision_bounds.sort_contacts"
        part.operator(sort, text=text, translate=False, depress=is_active).column = name


def _widths(context: Context) -> tuple[float, bool]:
    """Return the pixels of a name, and whether there is room for both numbers."""
    scale = context.preferences.system.ui_scale
    inside = sidebar_width(context) - _SURROUNDINGS - _UNIT * _FRAME_UNITS
    # The icon takes a part of the first column alone.
    with_value = (inside - _UNIT * _VALUE_UNITS) / 2 - _UNIT - _NAME_MARGIN
    if with_value >= _NARROWEST_NAME:
        return with_value * scale, True
    return max(inside / 2 - _UNIT - _NAME_MARGIN, 1.0) * scale, False


def _value_text(value: float) -> str:
    """Format a depth or gap in at most five characters. The details have more digits."""
    limits = ((1, ".3f"), (10, ".2f"), (999.5, ".3g"), (99999.5, ".0f"))
    return format(value, next((form for limit, form in limits if value < limit), ".0e"))
