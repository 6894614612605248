"""Groups of the contact list: rows whose objects are of the same two collections, parents or objects.

Each group has a heading, a row after all those of contacts and near misses. `row_order` puts it above the
rows of its group.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import bpy
import numpy as np

from ..core.numeric.arrays import Ints
from ..formats.wording import valid_text
from ..scene.blender.instances import full_name_of, name_of
from ..scene.blender.mesh_data import copied
from .properties.scene import SceneSettings

_GROUPED_FROM, _LEAST_ROWS = 20, 3
"""Rows from which on a list has groups by itself, and how many rows these have at least, on average."""


class Groups(NamedTuple):
    """Groups of rows.

    names : Both names of each group.
    of_rows : (n,) int64. Index of the group of each row.
    """

    names: list[tuple[str, str]]
    of_rows: Ints


def open_groups(settings: SceneSettings) -> set[tuple[str, str]]:
    """Return the names of the groups that are open."""
    is_open = copied(settings.rows, "is_open", np.bool_)
    rows = [settings.rows[index] for index in np.flatnonzero(is_open).tolist()]
    return {(row.a, row.b) for row in rows}


def group_rows(
    settings: SceneSettings, owners: Sequence[tuple[str, str]], are_open: set[tuple[str, str]]
) -> None:
    """Replace the groups of the list, and their headings. Those of the names in `are_open` are open.

    owners : Full names of both objects of each row.
    """
    rows, count = settings.rows, len(owners)
    for index in reversed(range(count, len(rows))):
        rows.remove(index)
    groups = _groups(settings, owners)
    headings = np.full(count, -1) if groups is None else count + groups.of_rows
    rows.foreach_set("heading", headings.astype(np.int32))
    for names in () if groups is None else groups.names:
        heading = rows.add()
        heading.is_heading, heading.index, heading.heading = True, -1, -1
        heading.a, heading.b = names
        heading.is_open = names in are_open


def _groups(settings: SceneSettings, owners: Sequence[tuple[str, str]]) -> Groups | None:
    """Make the groups that the list is to have; None for none."""
    by, scene = settings.contact_list.group_by, cast(bpy.types.Scene, settings.id_data)
    if by == "NONE" or not owners or (by == "AUTOMATIC" and len(owners) < _GROUPED_FROM):
        return None
    if by != "AUTOMATIC":
        return _KINDS[by](scene, owners)
    for make in _KINDS.values():
        groups = make(scene, owners)
        if 1 < len(groups.names) <= len(owners) / _LEAST_ROWS:
            return groups
    return None


def _by_collection(scene: Any, owners: Sequence[tuple[str, str]]) -> Groups:
    """Group rows by the collections of both objects: the first one, if an object is in several."""
    names: dict[str, str] = {}
    for collection in [*scene.collection.children_recursive, scene.collection]:
        for item in collection.objects:
            names.setdefault(full_name_of(item), name_of(collection))
    return _by_names(owners, names)


def _by_parent(scene: Any, owners: Sequence[tuple[str, str]]) -> Groups:
    """Group rows by the topmost parents of both objects. Instances belong to the object that creates them."""
    names: dict[str, str] = {}
    for item in scene.objects:
        top = item
        while top.parent is not None:
            top = top.parent
        names[full_name_of(item)] = name_of(top)
    return _by_names(owners, names)


def _by_names(owners: Sequence[tuple[str, str]], names: dict[str, str]) -> Groups:
    """Group rows whose objects have the same names in `names`, in either order; others keep their own."""
    pairs = [(names.get(a, valid_text(a)), names.get(b, valid_text(b))) for a, b in owners]
    return _numbered([pair if pair[0] <= pair[1] else pair[::-1] for pair in pairs])


def _by_object(_scene: Any, owners: Sequence[tuple[str, str]]) -> Groups:
    """Group rows by the one of both objects that has more rows; its group has no second name."""
    counts = Counter(name for pair in owners for name in set(pair))
    return _numbered([(valid_text(a if counts[a] >= counts[b] else b), "") for a, b in owners])


def _numbered(pairs: Sequence[tuple[str, str]]) -> Groups:
    numbers = {pair: number for number, pair in enumerate(dict.fromkeys(pairs))}
    return Groups(list(numbers), np.array([numbers[pair] for pair in pairs], dtype=np.int64))


_KINDS: dict[str, Callable[[bpy.types.Scene, Sequence[tuple[str, str]]], Groups]] = {
    "COLLECTION": _by_collection,
    "PARENT": _by_parent,
    "OBJECT": _by_object,
}
"""Functions that group rows, the coarsest first."""
