"""Order of the contact list: fill, sort, filter and group its rows. `panels.contact_list` writes their texts.

Rows stay in the order of the result, so that sorting the list does not change the active row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isnan
from types import SimpleNamespace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..core import Clearance, Contact, ContactReport
from ..core.numeric.arrays import Bools, Ints
from ..formats.wording import valid_text
from ..scene.blender.instances import full_name_of, name_of
from ..scene.blender.mesh_data import copied
from ..scene.jobs import result_store
from ..scene.jobs.result import Result
from .overlay.state import object_by_uid, subject_identities
from .properties.contact_list import ContactRow
from .properties.scene import SceneSettings, settings_on
from .row_groups import group_rows, open_groups
from .texts import shared_prefixes

_MANY_ROWS, _SHARE = 9, 0.25
"""Contacts from which on some may be meant, and the part of them that one object has then, at least."""
_FRAME_TOLERANCE = 1e-4


def fill_rows(settings: SceneSettings, result: Result) -> None:
    """Replace the rows by those of a result.

    Contacts come first, by time, those at the start after the others; near misses follow, by gap. No row
    becomes active, so the playhead stays.
    """
    are_open = open_groups(settings)
    settings.rows.clear()
    settings.active_row = -1
    names = [subject.name for subject in result.subjects]
    order, accepted = _contact_order(result.report), result.scanned.accepted
    for index, contact in zip(order.tolist(), result.report.contacts.take(order), strict=True):
        row = settings.rows.add()
        row.index, row.a, row.b = index, names[contact.a], names[contact.b]
        # Open meshes have no depth.
        row.frame, row.value = contact.first.frame, 0.0 if isnan(contact.depth) else contact.depth
        row.overlap = contact.overlap or ""
        row.tunnelling, row.at_start = contact.first.tunnelling, contact.first.at_start
        comment = accepted[index] if accepted else None
        row.accepted, row.comment = comment is not None, comment or ""
        row.uncertainty = contact.first.uncertainty
    for index, near in enumerate(result.report.clearances):
        row = settings.rows.add()
        row.index, row.a, row.b, row.is_near_miss = index, names[near.a], names[near.b], True
        row.frame, row.value, row.is_grazing = near.frame, near.gap, index in result.grazing
    group_rows(settings, _owners(result), are_open)


def regroup(scene: bpy.types.Scene) -> None:
    """Group the rows of a scene again, after a change of what they are grouped by."""
    settings = settings_on(scene)
    if has_rows(settings):
        group_rows(settings, columns_of(settings.result_id).owners, open_groups(settings))


def _sides(result: Result) -> list[list[int]]:
    """Return the indices of both subjects of each row, without headings."""
    contacts = result.report.contacts.pairs.take(_contact_order(result.report))
    near = result.report.clearances.pairs
    sides = np.stack([np.append(contacts.a, near.a), np.append(contacts.b, near.b)], axis=1)
    rows: list[list[int]] = sides.astype(np.int64).tolist()
    return rows


def _owners(result: Result) -> list[tuple[str, str]]:
    """Return the full names of both objects of each row, without headings."""
    return [(result.subjects[a].key[0], result.subjects[b].key[0]) for a, b in _sides(result)]


def _contact_order(report: ContactReport) -> Ints:
    """Return the indices of contacts in the order of rows: those at the start last."""
    return np.argsort(report.contacts.pairs.at_start, kind="stable")


@lru_cache(maxsize=1)
def columns_of(result_id: str) -> SimpleNamespace:
    """Return sort keys and names of the rows (n,) of a result, as arrays, without headings.

    Reading the properties of 10,000 rows one by one takes longer than drawing the list.
    """
    results = result_store.get(result_id)
    result, comparison = results.contacts, results.comparison
    contacts = result.report.contacts.pairs.take(_contact_order(result.report))
    near, subjects = result.report.clearances.pairs, list(result.subjects)
    sides, identities = _sides(result), subject_identities(result_id, result)
    pairs = [(subjects[a], subjects[b]) for a, b in sides]
    owners = _owners(result)
    names = [f"{a.name}\n{b.name}".casefold() for a, b in pairs]
    frame = np.concatenate([contacts.frame, near.frame])
    gap = np.concatenate([-np.nan_to_num(contacts.depth), near.gap])
    is_near = np.arange(len(pairs)) >= len(contacts.a)
    # Near misses are neither at the start nor between frames only.
    at_start = np.pad(contacts.at_start, (0, len(near.a)))
    tunnelling = np.pad(contacts.tunnelling, (0, len(near.a)))
    is_new = None
    if comparison is not None:
        new_pairs = {(entry.a, entry.b) for entry in comparison.new}
        is_new = np.array([tuple(sorted((a.id, b.id))) in new_pairs for a, b in pairs], dtype=bool) & ~is_near
    return SimpleNamespace(
        names=names,
        owners=owners,
        # Of the objects, which may have been renamed or deleted since; -1 for those of other files.
        uids=np.array([[identities[side].owner for side in row] for row in sides], dtype=np.int64).reshape(
            -1, 2
        ),
        by_name=np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64),
        by_frame=np.lexsort((frame, at_start, is_near)),
        by_value=np.lexsort((gap, is_near)),
        is_near=is_near,
        is_grazing=np.isin(np.arange(len(pairs)) - len(contacts.a), list(result.grazing)),
        tunnelling=tunnelling,
        prefixes=shared_prefixes({side.name for pair in pairs for side in pair}),
        is_new=is_new,
        frame=frame,
        gap=gap,
        # Gaps of near misses are often much larger.
        largest=float(np.abs(gap[~is_near] if not is_near.all() else gap).max(initial=0.0)),
        meant=_meant_to_touch(result, owners[: len(contacts.a)]),
    )


class MeantToTouch(NamedTuple):
    """Rows of contacts that are probably meant, where there are many.

    always : (k,) int64. Rows of pairs in contact from the first frame to the last.
    of_object : (m,) int64. Rows with the object that touches the most others, if it touches many.
    name : Name of that object; empty for none.
    """

    always: Ints
    of_object: Ints
    name: str


def rows_meant_to_touch(settings: SceneSettings) -> MeantToTouch:
    """Return rows of contacts that are probably meant; none where there are few contacts."""
    columns: SimpleNamespace = columns_of(settings.result_id)
    meant: MeantToTouch = columns.meant
    return meant


def _meant_to_touch(result: Result, owners: Sequence[tuple[str, str]]) -> MeantToTouch:
    """Find the rows that are probably meant, in the order of rows; `owners` (n,) are those of contacts."""
    if len(owners) < _MANY_ROWS:
        return MeantToTouch(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), "")
    contacts = result.report.contacts.take(_contact_order(result.report))
    last = np.cumsum(contacts.counts) - 1
    is_always = contacts.pairs.at_start & (contacts.counts == 1)
    is_always &= contacts.intervals.end[last] >= result.time.end - _FRAME_TOLERANCE
    counts = Counter(name for pair in owners for name in set(pair))
    name, count = counts.most_common(1)[0]
    rows = [row for row, pair in enumerate(owners) if name in pair] if count >= len(owners) * _SHARE else []
    return MeantToTouch(np.flatnonzero(is_always), np.array(rows, dtype=np.int64), name if rows else "")


def counts_of_rows(settings: SceneSettings) -> dict[str, int]:
    """Count the rows that each filter of the list is about, hidden ones included."""
    columns, exist = columns_of(settings.result_id), _exist(settings)
    return {
        "show_contacts": int((~columns.is_near & exist).sum()),
        "tunnelling_only": int((columns.tunnelling & exist).sum()),
        "show_near_misses": int((columns.is_near & exist).sum()),
        "show_hidden": int((copied(settings.rows, "hidden", np.bool_)[: len(exist)] & exist).sum()),
    }


def _exist(settings: SceneSettings) -> Bools:
    """Return whether no object of each row (n,), headings apart, was deleted since the scan."""
    uids = columns_of(settings.result_id).uids
    known = copied(bpy.data.objects, "session_uid", np.int32)
    return np.asarray(((uids < 0) | np.isin(uids, known)).all(axis=1))


def current_names(settings: SceneSettings, index: int) -> tuple[str, str]:
    """Return both names of a row, by its index, with the names that renamed objects have now."""
    row, columns = settings.rows[index], columns_of(settings.result_id)
    sides = zip((row.a, row.b), columns.owners[index], columns.uids[index].tolist(), strict=True)
    names = []
    for name, full_name, uid in sides:
        item, before = object_by_uid(uid) if uid >= 0 else None, valid_text(full_name)
        # What follows is the name of a part or of an instance.
        is_own = name == before or name.startswith(f"{before}/")
        names.append(name_of(item) + name[len(before) :] if item is not None and is_own else name)
    return names[0], names[1]


@dataclass(frozen=True)
class Group:
    """Contents of the heading of a group, about the rows that pass the filters.

    count, objects : Number of these rows, and of their objects.
    frame, gap : Earliest time, and least gap, negative for a depth.
    """

    count: int
    objects: int
    frame: float
    gap: float


class Listed(NamedTuple):
    """Rows that the list shows.

    order : (n,) int64. Indices of all rows but headings, in the order of the list.
    passes : (n,) bool. Whether each row passes the filters; rows of closed groups may.
    with_headings : (m,) int64. Indices of all rows, headings above the rows of their groups.
    is_visible : (m,) bool. Whether each row, by index, is in the list.
    """

    order: Ints
    passes: Bools
    with_headings: Ints
    is_visible: Bools


def listed_rows(settings: SceneSettings) -> Listed:
    """Sort, filter and group the rows."""
    columns, contact_list = columns_of(settings.result_id), settings.contact_list
    orders = {"NAME": columns.by_name, "FRAME": columns.by_frame, "VALUE": columns.by_value}
    order = orders[contact_list.sort_by]
    order, passes = order[::-1] if contact_list.reverse else order, passing_rows(settings)
    count, total = len(order), len(settings.rows)
    heading = copied(settings.rows, "heading", np.int32)[:count].astype(np.int64)
    if total == count:
        return Listed(order, passes, order, passes)
    # A group is where its first row is that passes.
    position = np.empty(count, dtype=np.int64)
    position[order] = np.arange(count)
    place = np.full(total, total)
    np.minimum.at(place, heading[passes], position[passes])
    is_open = copied(settings.rows, "is_open", np.bool_)
    is_open |= bool(contact_list.search)
    with_headings = np.lexsort(
        (np.append(position, np.full(total - count, -1)), np.append(place[heading], place[count:]))
    )
    is_visible = np.append(passes & is_open[heading], place[count:] < total)
    return Listed(with_headings[with_headings < count], passes, with_headings, is_visible)


def passing_rows(settings: SceneSettings) -> Bools:
    """Return whether each row (n,), headings apart, passes the filters."""
    columns, contact_list = columns_of(settings.result_id), settings.contact_list
    shown = np.where(columns.is_near, contact_list.show_near_misses, contact_list.show_contacts)
    # A landing without a gap is what users search for, on whichever side of 0 its rounding is.
    shown |= columns.is_grazing & contact_list.show_contacts
    if contact_list.tunnelling_only:
        shown &= columns.tunnelling | columns.is_near
    if not contact_list.show_hidden:
        shown &= ~copied(settings.rows, "hidden", np.bool_)[: len(shown)]
    if contact_list.new_only and columns.is_new is not None:
        shown &= columns.is_new
    shown &= _exist(settings)
    if text := contact_list.search.casefold():
        shown &= np.array([text in names for names in columns.names], dtype=bool)
    if contact_list.selected_only:
        selected = {full_name_of(item) for item in bpy.context.view_layer.objects.selected}
        shown &= np.array([not selected.isdisjoint(pair) for pair in columns.owners], dtype=bool)
    return shown


def grouped_rows(settings: SceneSettings, heading: int) -> Ints:
    """Return the indices of the rows that pass the filters in the group of a heading, by its index."""
    passes = passing_rows(settings)
    return np.flatnonzero(passes & (copied(settings.rows, "heading", np.int32)[: len(passes)] == heading))


def summary_of_group(settings: SceneSettings, heading: int) -> Group:
    """Return the contents of the heading of a group, by its index."""
    columns, rows = columns_of(settings.result_id), grouped_rows(settings, heading)
    names = {name for row in rows.tolist() for name in columns.owners[row]}
    frame, gap = columns.frame[rows], columns.gap[rows]
    return Group(len(rows), len(names), float(frame.min(initial=np.inf)), float(gap.min(initial=np.inf)))


def has_rows(settings: SceneSettings) -> bool:
    """Return whether the list has rows. Those of a file whose result this session lacks do not count."""
    return len(settings.rows) > 0 and settings.results.contacts is not None


def active_row(settings: SceneSettings) -> ContactRow | None:
    """Return the active row if it is one of a pair, of which no object was deleted."""
    row = _active(settings)
    if row is None or row.is_heading:
        return None
    uids = columns_of(settings.result_id).uids[settings.active_row].tolist()
    return row if all(uid < 0 or object_by_uid(uid) is not None for uid in uids) else None


def active_heading(settings: SceneSettings) -> ContactRow | None:
    """Return the active row if it is the heading of a group."""
    row = _active(settings)
    return row if row is not None and row.is_heading else None


def _active(settings: SceneSettings) -> ContactRow | None:
    is_valid = has_rows(settings) and 0 <= settings.active_row < len(settings.rows)
    return settings.rows[settings.active_row] if is_valid else None


def entry_of_row(settings: SceneSettings, row: ContactRow) -> Contact | Clearance:
    result: Any = settings.results.contacts
    entries: Sequence[Contact | Clearance] = (
        result.report.clearances if row.is_near_miss else result.report.contacts
    )
    return entries[row.index]


def active_entry(settings: SceneSettings) -> Contact | Clearance | None:
    row = active_row(settings)
    return None if row is None else entry_of_row(settings, row)
