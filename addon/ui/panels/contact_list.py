"""List of contacts and near misses, with headings to sort by and filters."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, UILayout, UIList

from ..contact_rows import sorted_and_filtered
from ..properties.contact_list import COLLISION_BOUNDS_PG_contact_row
from ..properties.scene import COLLISION_BOUNDS_PG_scene

_ROW_SPLIT, _HEADING_SPLIT = (0.57, 0.47), (0.54, 0.4)
"""Split factors of rows and headings: of the pair column, then of the frame column in the remainder.

They differ because a scroll bar insets the rows.
"""


class COLLISION_BOUNDS_UL_contacts(UIList):
    """One row per pair: its objects, the frame, and the depth or gap."""

    bl_idname = "COLLISION_BOUNDS_UL_contacts"

    def draw_item(
        self,
        _context: Context,
        layout: UILayout,
        _data: COLLISION_BOUNDS_PG_scene,
        item: COLLISION_BOUNDS_PG_contact_row,
        _icon: int,
        _active_data: COLLISION_BOUNDS_PG_scene,
        _active_property: str,
        _index: int = 0,
        _filter_flag: int = 0,
    ) -> None:
        """Draw pair, frame, and depth or gap; the icon shows which."""
        line = layout.row(align=True)
        line.active = not item.hidden
        pair, frame, value = _split_columns(line, _ROW_SPLIT)
        pair.label(text=f"{item.a} – {item.b}", icon=_icon_of(item))
        frame.label(text="start" if item.at_start else f"{item.frame:.2f}")
        # The sidebar has no room for more digits; the details below the list have them.
        value.label(text=f"{item.value:.3f}" if item.value < 10 else f"{item.value:.3g}")

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Draw the search field and the filters."""
        contact_list = context.scene.collision_bounds.contact_list  # type: ignore[attr-defined]
        row = layout.row(align=True)
        row.prop(contact_list, "search", text="", icon="VIEWZOOM")
        row.prop(contact_list, "show_contacts", text="", icon="RADIOBUT_ON")
        row.prop(contact_list, "show_near_misses", text="", icon="DRIVER_DISTANCE")
        row.prop(contact_list, "tunnelling_only", text="", icon="GHOST_ENABLED")
        row.prop(contact_list, "show_hidden", text="", icon="HIDE_ON")
        row.prop(contact_list, "reverse", text="", icon="SORT_DESC" if contact_list.reverse else "SORT_ASC")

    def filter_items(
        self, _context: Context, data: COLLISION_BOUNDS_PG_scene, _property_name: str
    ) -> tuple[list[int], list[int]]:
        """Return the filter flag and the position of each row; the active index refers to unsorted rows."""
        order, shown = sorted_and_filtered(data)
        positions = np.empty(len(order), dtype=np.int64)
        positions[order] = np.arange(len(order))
        return np.where(shown, self.bitflag_filter_item, 0).tolist(), positions.tolist()


def draw_headings(layout: UILayout, settings: COLLISION_BOUNDS_PG_scene) -> None:
    """Draw column headings, aligned with the list; clicking one sorts by it."""
    contact_list = settings.contact_list
    line = layout.row(align=True)
    line.use_property_split = False
    for part, name, text in zip(
        _split_columns(line, _HEADING_SPLIT),
        ("NAME", "FRAME", "VALUE"),
        ("Pair", "Frame", "Depth/Gap"),
        strict=True,
    ):
        part.prop_enum(contact_list, "sort_by", name, text=text)


def _split_columns(line: UILayout, parts: tuple[float, float]) -> tuple[UILayout, UILayout, UILayout]:
    split = line.split(factor=parts[0], align=True)
    pair = split.row(align=True)
    rest = split.split(factor=parts[1], align=True)
    return pair, rest.row(align=True), rest.row(align=True)


def _icon_of(row: COLLISION_BOUNDS_PG_contact_row) -> Any:
    """Return the icon of a row."""
    if row.is_near_miss:
        return "DRIVER_DISTANCE"
    if row.tunnelling:
        return "GHOST_ENABLED"
    return "PINNED" if row.at_start else "RADIOBUT_ON"


CLASSES = (COLLISION_BOUNDS_UL_contacts,)
