"""The list of contacts and near misses, with headings to sort by, and filters under its triangle."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, UILayout, UIList

from .contact_rows import ContactRow, listed
from .properties import SceneSettings

_LINE, _HEADINGS = (0.57, 0.47), (0.54, 0.4)
"""Parts of each: the pair of the whole, then the frame of what is left. Lines are inset, by a scroll bar."""


class ContactList(UIList):
    """One row a pair: who, when, how deep or how far apart."""

    bl_idname = "COLLISION_BOUNDS_UL_contacts"

    def draw_item(
        self,
        _context: Context,
        layout: UILayout,
        _data: SceneSettings,
        item: ContactRow,
        _icon: int,
        _active_data: SceneSettings,
        _active_property: str,
        _index: int = 0,
        _filter_flag: int = 0,
    ) -> None:
        """Pair, frame, depth or gap; the sign tells which of the two."""
        line = layout.row(align=True)
        line.active = not item.hidden
        pair, frame, value = _columns(line, _LINE)
        pair.label(text=f"{item.a} – {item.b}", icon=_sign(item))
        frame.label(text="start" if item.at_start else f"{item.frame:.2f}")
        # All that a sidebar has room for; more is below the list.
        value.label(text=f"{item.value:.3f}" if item.value < 10 else f"{item.value:.3g}")

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """Search, and what to show."""
        listing = context.scene.collision_bounds.listing  # type: ignore[attr-defined]
        row = layout.row(align=True)
        row.prop(listing, "search", text="", icon="VIEWZOOM")
        row.prop(listing, "show_contacts", text="", icon="RADIOBUT_ON")
        row.prop(listing, "show_near_misses", text="", icon="DRIVER_DISTANCE")
        row.prop(listing, "tunnelling_only", text="", icon="GHOST_ENABLED")
        row.prop(listing, "show_hidden", text="", icon="HIDE_ON")
        row.prop(listing, "reverse", text="", icon="SORT_DESC" if listing.reverse else "SORT_ASC")

    def filter_items(
        self, _context: Context, data: SceneSettings, _property_name: str
    ) -> tuple[list[int], list[int]]:
        """Which rows are shown, and where: Blender keeps the active one by its place in the data."""
        order, shown = listed(data)
        places = np.empty(len(order), dtype=np.int64)
        places[order] = np.arange(len(order))
        return np.where(shown, self.bitflag_filter_item, 0).tolist(), places.tolist()


def draw_headings(layout: UILayout, settings: SceneSettings) -> None:
    """What the columns are, to sort by: above the list, and in line with it."""
    listing = settings.listing
    line = layout.row(align=True)
    line.use_property_split = False
    for part, name, text in zip(
        _columns(line, _HEADINGS), ("NAME", "FRAME", "VALUE"), ("Pair", "Frame", "Depth/Gap"), strict=True
    ):
        part.prop_enum(listing, "sort_by", name, text=text)


def _columns(line: UILayout, parts: tuple[float, float]) -> tuple[UILayout, UILayout, UILayout]:
    split = line.split(factor=parts[0], align=True)
    pair = split.row(align=True)
    rest = split.split(factor=parts[1], align=True)
    return pair, rest.row(align=True), rest.row(align=True)


def _sign(row: ContactRow) -> Any:
    """The icon of a row."""
    if row.is_near_miss:
        return "DRIVER_DISTANCE"
    if row.tunnelling:
        return "GHOST_ENABLED"
    return "PINNED" if row.at_start else "RADIOBUT_ON"


CLASSES = (ContactList,)
