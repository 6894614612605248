"""Everything visible that could be a subject, with names and ids: instances of one object in arrays."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Ints
from ..blender.instance_table import InstanceTable, read_instance_table, used_indices
from ..blender.instances import InstanceKey, VisibleInstance, is_made_by_nodes
from ..blender.names import full_name_of, name_of
from ..blender.object_settings import (
    has_own_settings,
    is_collider,
    is_merged_collection,
    is_split_by_loose_parts,
    object_fit_settings,
    weight_of_bones,
)
from ..blender.overrides import OverrideShape, read_overrides
from ..blender.parts.mesh_parts import MeshPart, parts_of, parts_of_overrides
from ..settings import Axes, FitSettings, Selection
from .selection import matches_names

COLLECTION_KIND = "COLLECTION"


class SubjectCandidate(NamedTuple):
    """An object, instance, loose part or merged collection that could be a subject."""

    key: InstanceKey
    owner: str
    object_name: str
    owner_name: str
    kind: str
    axes: Axes = "checked"
    override: OverrideShape | None = None
    parts: tuple[MeshPart, ...] | None = None
    part: MeshPart | None = None
    members: tuple[InstanceKey, ...] = ()

    @classmethod
    def of(cls, item: VisibleInstance, bone_weight: float | None = None) -> SubjectCandidate:
        """Read a visible instance; `bone_weight` is the `weight_of_bones` of `Selection`."""
        key, owner, shown = item.key, item.owner, item.instance.object
        original = shown.original
        named = cls(key, full_name_of(owner), name_of(original), name_of(owner), original.type)
        if is_made_by_nodes(key) or not (has_own_settings(original) or bone_weight is not None):
            return named
        fit, overrides = object_fit_settings(original, _DEFAULT_FIT), read_overrides(original)
        if has_own_settings(original):
            bone_weight = weight_of_bones(original)
        parts = parts_of_overrides(overrides)
        if bone_weight is not None or is_split_by_loose_parts(original):
            parts = parts_of(shown, fit.modifiers, bone_weight)
        return named._replace(
            axes=fit.axes,
            override=overrides[0].shape if overrides else None,
            parts=None if parts is None else tuple(parts),
        )

    @property
    def owners(self) -> tuple[str, ...]:
        """Full names of the owners, one per member."""
        return tuple(key[0] for key in self.members) or (self.owner,)

    @property
    def instance_name(self) -> str:
        """Name of the instances of the object under this owner, without their numbers."""
        return f"{self.owner_name}/{self.object_name}"


_DEFAULT_FIT = FitSettings()


class SubjectCandidates:
    """All candidates: single ones, then the instances of each group.

    groups : list of (SubjectCandidate, (n, k) int64). First of the instances of one object under one owner,
        and the sorted persistent ids of all.
    names : Names to show of the single candidates, then of the instances.
    table : All that was visible.
    """

    def __init__(
        self,
        singles: list[SubjectCandidate],
        names: list[str],
        groups: list[tuple[SubjectCandidate, NDArray[np.int64]]],
        table: InstanceTable[Any],
    ) -> None:
        self.singles, self.names, self.groups, self.table = singles, names, groups, table
        ends = np.cumsum([len(singles), *(len(ids) for _, ids in self.groups)])
        # First row of each group: none is empty.
        self._starts, self._starts_list = ends[:-1], ends[:-1].tolist()
        for first, ids in self.groups:
            name = first.instance_name
            names += [f"{name}.{number}" for number in range(len(ids))]

    def group_of(self, rows: Ints) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Group (n,) of each row, -1 for a single candidate, and its number in the group."""
        group = np.searchsorted(self._starts, rows, side="right") - 1
        starts = np.append(self._starts, 0)  # the last is that of group -1
        return group.astype(np.int32), (rows - starts[group]).astype(np.int32)

    def _place(self, row: int) -> tuple[int, int]:
        """Group of a row, -1 for a single candidate, and its number in the group."""
        group = bisect_right(self._starts_list, row) - 1
        return group, row - self._starts_list[group] if group >= 0 else row

    def _entry(self, row: int) -> SubjectCandidate:
        """Single candidate of a row, or the first of its group."""
        group, number = self._place(row)
        return self.singles[number] if group < 0 else self.groups[group][0]

    def names_of(self, row: int) -> tuple[str, ...]:
        """Names that patterns are compared with: that of a candidate, and of its owners."""
        return self.names[row], *self._entry(row).owners

    def selected(self, selection: Selection, is_owner_selected: Callable[[str], bool]) -> Ints:
        """Rows (m,) of a selection."""
        chosen = [
            np.arange(start, start + len(ids))
            for start, (first, ids) in zip(self._starts_list, self.groups, strict=True)
            if is_owner_selected(first.owner)
        ]
        single = [row for row, entry in enumerate(self.singles) if any(map(is_owner_selected, entry.owners))]
        rows: Ints = np.concatenate([np.array(single, dtype=np.int64), *chosen])
        if not selection.patterns:
            return rows
        matches = [matches_names(selection, *self.names_of(row)) for row in rows.tolist()]
        matching: Ints = rows[np.array(matches, dtype=bool)]
        return matching

    def order_and_ids(self) -> tuple[list[int], dict[int, str]]:
        """Return all rows sorted by name, then by id, and the ids that are not the name.

        Where linked files have objects of one name, the later ones are numbered. All candidates get an id, so
        that ids do not depend on the selection.
        """
        names = self.names
        order = sorted(range(len(names)), key=names.__getitem__)
        if len(set(names)) == len(names):
            return order, {}
        used: set[str] = set()
        ids: dict[int, str] = {}
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and names[order[end]] == names[order[start]]:
                end += 1
            if end - start > 1:
                order[start:end] = sorted(order[start:end], key=self._precedence)
            for row in order[start:end]:
                id, number = names[row], 2
                while id in used:
                    id, number = f"{names[row]}#{number}", number + 1
                used.add(id)
                if id != names[row]:
                    ids[row] = id
            if end - start > 1:
                order[start:end] = sorted(order[start:end], key=lambda row: ids.get(row, names[row]))
            start = end
        return order, ids

    def _precedence(self, row: int) -> tuple[bool, InstanceKey]:
        """Sort key of candidates of one name: an object comes before a collection and keeps its id."""
        group, number = self._place(row)
        entry = self._entry(row)
        if group < 0:
            return bool(entry.members), entry.key
        return False, (*entry.key[:2], used_indices(self.groups[group][1][number]))


def find_subject_candidates(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, bone_weight: float | None = None
) -> Generator[int, None, SubjectCandidates]:
    """Everything visible that could be a subject; yields the number of instances seen."""
    collections = _merged_collections(scene)
    table = yield from read_instance_table(depsgraph, lambda item: _Role.of(item, collections, bone_weight))
    single: list[SubjectCandidate] = []
    merged: dict[tuple[str, str, str], list[SubjectCandidate]] = defaultdict(list)
    names: dict[tuple[str, str], int] = {}
    groups = np.full(len(table.kinds) + 1, -1, dtype=np.int64)
    is_alone = np.zeros(len(table.kinds) + 1, dtype=bool)
    for number in dict.fromkeys(table.kind_of.tolist()):
        kind = table.kinds[number]
        if kind.details is not None and kind.details.is_grouped:
            groups[number] = names.setdefault(kind.key[:2], len(names))
        is_alone[number] = kind.details is not None and not kind.details.is_grouped
    for row in np.flatnonzero(is_alone[table.kind_of]).tolist():
        role = table.kinds[table.kind_of[row]].details
        entry = role.entry._replace(key=table.key_of(row))
        (single if role.merged is None else merged[role.merged]).append(entry)
    instances = _instance_groups(table, groups[table.kind_of], len(names))
    return SubjectCandidates(*_with_parts_and_merged(single, merged), instances, table)


class _Role(NamedTuple):
    """Role of the instances of a kind: `merged` names the merged collection that they are members of."""

    entry: SubjectCandidate
    merged: tuple[str, str, str] | None

    @classmethod
    def of(
        cls, item: VisibleInstance, collections: Mapping[str, tuple[str, str]], bone_weight: float | None
    ) -> _Role | None:
        """Read the first instance of a kind; None for a collider."""
        if is_collider(item.instance.object.original):
            return None
        entry, owner = SubjectCandidate.of(item, bone_weight), item.owner
        if entry.owner in collections:
            return cls(entry, (COLLECTION_KIND, *collections[entry.owner]))
        is_collection = item.key[2] and owner.instance_type == "COLLECTION"
        if is_collection and is_merged_collection(owner.instance_collection):
            return cls(entry, (full_name_of(owner), "", name_of(owner)))
        return cls(entry, None)

    @property
    def is_grouped(self) -> bool:
        """Return whether these are subjects that differ in their persistent ids alone."""
        return bool(self.entry.key[2]) and self.merged is None and self.entry.parts is None


def _instance_groups(
    table: InstanceTable[_Role | None], group_of: Ints, count: int
) -> list[tuple[SubjectCandidate, NDArray[np.int64]]]:
    """First instance of each group, and the persistent ids of all, sorted.

    group_of : (n,) group of each row of the table, below `count`; -1 for none
    """
    rows = np.flatnonzero(group_of >= 0)
    order = table.sorted_rows(rows, group_of[rows])
    # The first in the dependency graph's order gives its properties.
    firsts = rows[np.unique(group_of[rows], return_index=True)[1]].tolist()
    ids = np.split(table.indices[order], np.cumsum(np.bincount(group_of[rows], minlength=count))[:-1])
    groups = []
    for row, indices in zip(firsts, ids, strict=True) if count else ():
        role = table.kinds[table.kind_of[row]].details
        assert role is not None
        groups.append((role.entry, indices))
    return groups


def _with_parts_and_merged(
    single: list[SubjectCandidate], merged: Mapping[tuple[str, str, str], list[SubjectCandidate]]
) -> tuple[list[SubjectCandidate], list[str]]:
    """SubjectCandidates split into their parts, and merged collections, with the names to show."""
    candidates: list[SubjectCandidate] = []
    names: list[str] = []
    for entry, name in zip(single, _names(single), strict=True):
        if entry.parts is None:
            candidates.append(entry)
            names.append(name)
            continue
        candidates += [entry._replace(part=part) for part in entry.parts]
        names += [f"{name}/{part.name}" for part in entry.parts]
    for (*_, name), entries in merged.items():
        first = min(entries, key=lambda entry: entry.key)
        members = tuple(sorted(entry.key for entry in entries))
        first = first._replace(kind=COLLECTION_KIND, axes="checked", override=None, parts=None)
        candidates.append(first._replace(members=members))
        names.append(name)
    return candidates, names


def _merged_collections(scene: bpy.types.Scene) -> dict[str, tuple[str, str]]:
    """Full name and name of the merged collection that each object is in, by the object's full name.

    Of nested collections this is the outermost, of others the first one in the outliner.
    """
    collection_of: dict[str, tuple[str, str]] = {}

    def visit(collection: bpy.types.Collection) -> None:
        if is_merged_collection(collection):
            for item in collection.all_objects:
                collection_of.setdefault(full_name_of(item), (full_name_of(collection), name_of(collection)))
            return
        for child in collection.children:
            visit(child)

    visit(scene.collection)
    return collection_of


def _names(candidates: Sequence[SubjectCandidate]) -> list[str]:
    """Names to show; instances of one object under one owner are numbered in the order of their ids."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    names = [entry.object_name for entry in candidates]
    for row, entry in enumerate(candidates):
        if entry.key[2]:
            groups[entry.key[:2]].append(row)
    for rows in groups.values():
        for number, row in enumerate(sorted(rows, key=lambda row: candidates[row].key[2])):
            names[row] = f"{candidates[row].instance_name}.{number}"
    return names
