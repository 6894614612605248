"""The rows of the result list: how they are filled, which are shown, and in which order.

Rows stay in the order of the result, so that the active one stays the same row however they are sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ..core import Clearance, Contact
from ..core.arrays import Bools, Floats, Ints
from ..scene import session
from ..scene.result import Result

if TYPE_CHECKING:
    from .properties import SceneSettings


class ContactRow(PropertyGroup):
    """One line of the result list: a contact, or a near miss."""

    a: StringProperty(name="A", description="First object of the pair")
    b: StringProperty(name="B", description="Second object of the pair")
    frame: FloatProperty(name="Frame", description="First contact, or closest approach", precision=3)
    value: FloatProperty(name="Depth or Gap", description="Deepest overlap, or the gap of a near miss")
    is_near_miss: BoolProperty(name="Near Miss", description="The pair never touches")
    tunnelling: BoolProperty(name="Tunnelling", description="No whole frame shows this contact")
    at_start: BoolProperty(name="At Start", description="In contact when the scan begins")
    uncertainty: FloatProperty(name="Uncertainty", description="Frames by which the frame may be off")
    linear: BoolProperty(name="Linear", description="Found by straight lines between frames")
    meshes: EnumProperty(
        name="Meshes",
        description="What the meshes themselves do",
        items=(
            ("UNKNOWN", "Not Asked", "They were not asked, or cannot be"),
            ("TOUCH", "Touch", "They touch too"),
            ("NEVER", "Never", "Only the bounds touch"),
        ),
    )
    mesh_frame: FloatProperty(name="Mesh Frame", description="When the meshes first touch", precision=3)
    index: IntProperty(name="Index", description="Place among the contacts, or near misses, of the report")
    hidden: BoolProperty(name="Hide", description="Leave this row out of the list")


class ContactMarker(PropertyGroup):
    """A timeline marker that we made: markers themselves cannot carry a mark in every Blender."""

    frame: IntProperty(name="Frame", description="Where it was put")


class ListSettings(PropertyGroup):
    """How the result list shows its rows, and which timeline markers were made of them."""

    sort_by: EnumProperty(
        name="Sort by",
        description="What the rows are sorted by",
        items=(
            ("NAME", "Pair", "By the names of both"),
            ("FRAME", "Frame", "By time: contacts, those from the start, near misses"),
            ("VALUE", "Depth or Gap", "The deepest contact first, the widest gap of a near miss last"),
        ),
        default="FRAME",
    )
    reverse: BoolProperty(name="Reverse", description="Last row first")
    search: StringProperty(
        name="Search", description="Only pairs with this in a name", options={"TEXTEDIT_UPDATE"}
    )
    show_contacts: BoolProperty(name="Contacts", description="Show pairs that touch", default=True)
    show_near_misses: BoolProperty(
        name="Near Misses", description="Show pairs that come close and never touch", default=True
    )
    tunnelling_only: BoolProperty(
        name="Tunnelling Only", description="Of contacts, show only those that no whole frame shows"
    )
    show_hidden: BoolProperty(name="Hidden", description="Show rows that were hidden one by one, too")
    markers: CollectionProperty(type=ContactMarker)


def fill_rows(settings: SceneSettings, result: Result) -> None:
    """Contacts by time, those from the start after them, then near misses by gap.

    No row is active, so that the playhead stays.
    """
    assert result.report is not None, "rows are made from a report"
    settings.rows.clear()
    settings.active_row = -1
    names = [subject.name for subject in result.subjects]
    contacts, clearances = result.report.contacts, result.report.clearances
    for index in _contact_order(result):
        contact, row = contacts[index], settings.rows.add()
        row.index, row.a, row.b = index, names[contact.a], names[contact.b]
        row.frame, row.value = contact.first.frame, contact.depth
        row.tunnelling, row.at_start = contact.first.tunnelling, contact.first.at_start
        answer = result.confirmed[index] if result.confirmed else None
        if answer is not None:
            row.meshes = "NEVER" if answer.first is None else "TOUCH"
            row.mesh_frame = answer.first.time if answer.first else 0.0
        row.uncertainty, row.linear = contact.first.uncertainty, contact.first.motion == "linear"
    for index, near in enumerate(clearances):
        row = settings.rows.add()
        row.index, row.a, row.b, row.is_near_miss = index, names[near.a], names[near.b], True
        row.frame, row.value = near.frame, near.gap


def _contact_order(result: Result) -> list[int]:
    """Indices of contacts in the order of their rows."""
    assert result.report is not None, "rows are made from a report"
    contacts = result.report.contacts
    return sorted(range(len(contacts)), key=lambda index: contacts[index].first.at_start)


class _Columns(NamedTuple):
    """What rows (n,) are sorted and searched by. Blender takes longer to give it row by row than to draw."""

    names: list[str]
    by_name: Ints
    by_frame: Ints
    by_value: Ints
    is_near: Bools
    tunnelling: Bools

    @classmethod
    def of(cls, result: Result) -> _Columns:
        report = result.report
        assert report is not None, "rows are made from a report"
        contacts = [report.contacts[index] for index in _contact_order(result)]
        pairs: list[Contact | Clearance] = [*contacts, *report.clearances]
        spoken = [subject.name for subject in result.subjects]
        names = [f"{spoken[pair.a]}\n{spoken[pair.b]}".casefold() for pair in pairs]
        frame: Floats = np.array([c.first.frame for c in contacts] + [n.frame for n in report.clearances])
        gap: Floats = np.array([-c.depth for c in contacts] + [n.gap for n in report.clearances])
        is_near = np.arange(len(pairs)) >= len(contacts)
        at_start = np.zeros(len(pairs), dtype=bool)
        tunnelling = np.zeros(len(pairs), dtype=bool)
        at_start[: len(contacts)] = [c.first.at_start for c in contacts]
        tunnelling[: len(contacts)] = [c.first.tunnelling for c in contacts]
        by_name = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        by_frame = np.lexsort((frame, at_start, is_near))
        return cls(names, by_name, by_frame, np.lexsort((gap, is_near)), is_near, tunnelling)


class _Kept:
    """The columns of the result that was listed last."""

    identifier = ""
    columns: _Columns | None = None


def _columns(settings: SceneSettings) -> _Columns | None:
    """The columns of the rows; None when the result is not there any more."""
    result = session.get(settings.result_id).contacts
    if result is None or result.report is None:
        return None
    if _Kept.identifier != settings.result_id or _Kept.columns is None:
        _Kept.identifier, _Kept.columns = settings.result_id, _Columns.of(result)
    return _Kept.columns if len(_Kept.columns.names) == len(settings.rows) else None


def listed(settings: SceneSettings) -> tuple[Ints, Bools]:
    """All rows (n,) in the order of the list, and which of them (n,), by row, are shown."""
    rows: Any = settings.rows
    columns, listing = _columns(settings), settings.listing
    if columns is None:
        return np.arange(len(rows)), np.ones(len(rows), dtype=bool)
    order = {"NAME": columns.by_name, "FRAME": columns.by_frame, "VALUE": columns.by_value}[listing.sort_by]
    shown = np.where(columns.is_near, listing.show_near_misses, listing.show_contacts)
    if listing.tunnelling_only:
        shown &= columns.tunnelling | columns.is_near
    if not listing.show_hidden:
        hidden = np.empty(len(rows), dtype=bool)
        rows.foreach_get("hidden", hidden)
        shown &= ~hidden
    if wanted := listing.search.casefold():
        shown &= np.array([wanted in names for names in columns.names], dtype=bool)
    return (order[::-1] if listing.reverse else order), shown


def active_row(settings: SceneSettings) -> ContactRow | None:
    """The row that was clicked last."""
    return settings.rows[settings.active_row] if 0 <= settings.active_row < len(settings.rows) else None


CLASSES = (ContactRow, ContactMarker, ListSettings)
