"""Everything visible that could be a subject, with the names to show: instances of one object in arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.numeric.arrays import Ints
from ..blender.instance_table import InstanceTable, read_instance_table
from ..blender.instances import VisibleInstance, is_made_by_nodes
from ..blender.names import full_name_of, name_of
from ..blender.object_settings import (
    has_own_settings,
    is_collider,
    is_merged_collection,
    is_split_by_loose_parts,
    object_fit_settings,
    weight_of_bones,
)
from ..blender.overrides import read_overrides
from ..blender.parts.mesh_parts import MeshPart, parts_of
from ..settings import FitSettings
from .subject import Subject
from .subject_list import InstanceGroup

_DEFAULT_FIT = FitSettings()


class SubjectCandidates(NamedTuple):
    """Everything visible that could be a subject, without ids and parents, in no order.

    singles : Objects, their parts, and merged collections.
    groups : Instances of one object under one owner that are no parts.
    table : All that was visible.
    """

    singles: list[Subject]
    groups: list[InstanceGroup]
    table: InstanceTable[Any]


def find_subject_candidates(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, bone_weight: float | None = None
) -> Generator[int, None, SubjectCandidates]:
    """Everything visible that could be a subject; yields the number of instances seen."""
    collections = _merged_collections(scene)
    table = yield from read_instance_table(depsgraph, lambda item: _Role.of(item, collections, bone_weight))
    alone: list[tuple[Subject, Sequence[MeshPart] | None]] = []
    merged: dict[tuple[str, str, str], list[Subject]] = defaultdict(list)
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
        subject = role.subject._replace(key=table.key_of(row))
        if role.merged is None:
            alone.append((subject, role.parts))
        else:
            merged[role.merged].append(subject)
    singles = _with_parts(alone)
    for (*_, name), members in merged.items():
        # The members' own settings do not count.
        keys = tuple(sorted(member.key for member in members))
        singles.append(Subject(keys[0], "", name, "COLLECTION", None, members=keys))
    return SubjectCandidates(singles, _instance_groups(table, groups[table.kind_of]), table)


class _Role(NamedTuple):
    """Role of the instances of a kind.

    subject : The first of them, as a whole. Its name is that of the object, of an instance "Owner/Object".
    parts : Parts that it is split into.
    merged : Names the merged collection that they are members of.
    """

    subject: Subject
    parts: Sequence[MeshPart] | None
    merged: tuple[str, str, str] | None

    @classmethod
    def of(
        cls, item: VisibleInstance, collections: Mapping[str, tuple[str, str]], bone_weight: float | None
    ) -> _Role | None:
        """Read the first instance of a kind; None for a collider.

        bone_weight : The `weight_of_bones` of `Selection`.
        """
        key, owner, shown = item.key, item.owner, item.instance.object
        original = shown.original
        if is_collider(original):
            return None
        merged = None
        if key[0] in collections:
            merged = "COLLECTION", *collections[key[0]]
        elif (
            key[2] and owner.instance_type == "COLLECTION" and is_merged_collection(owner.instance_collection)
        ):
            merged = key[0], "", name_of(owner)
        name = f"{name_of(owner)}/{name_of(original)}" if key[2] else name_of(original)
        subject = Subject(key, "", name, original.type, None)
        has_settings = has_own_settings(original)
        if merged or is_made_by_nodes(key) or not (has_settings or bone_weight is not None):
            return cls(subject, None, merged)
        fit, overrides = object_fit_settings(original, _DEFAULT_FIT), read_overrides(original)
        if has_settings:
            bone_weight = weight_of_bones(original)
        parts = None
        if bone_weight is not None or is_split_by_loose_parts(original):
            parts = parts_of(shown, fit.modifiers, bone_weight)
        elif len(overrides) > 1:
            of_each = enumerate(overrides)
            parts = [MeshPart(number, f"shape.{number}", override=each.shape) for number, each in of_each]
        override = overrides[0].shape if overrides else None
        return cls(subject._replace(axes=fit.axes, override=override), parts, merged)

    @property
    def is_grouped(self) -> bool:
        """Return whether these are subjects that differ in their persistent ids alone."""
        return bool(self.subject.key[2]) and self.merged is None and self.parts is None


def _instance_groups(table: InstanceTable[_Role | None], group_of: Ints) -> list[InstanceGroup]:
    """Instances of each group, the first in the dependency graph's order as the template.

    group_of : (n,) group of each row of the table; -1 for none
    """
    rows = np.flatnonzero(group_of >= 0)
    order = table.sorted_rows(rows, group_of[rows])
    _, firsts, sizes = np.unique(group_of[rows], return_index=True, return_counts=True)
    ids = np.split(table.indices[order], np.cumsum(sizes)[:-1])
    roles = [table.kinds[table.kind_of[row]].details for row in rows[firsts].tolist()]
    return [
        InstanceGroup(role.subject, each) for role, each in zip(roles, ids, strict=False) if role is not None
    ]


def _with_parts(alone: Sequence[tuple[Subject, Sequence[MeshPart] | None]]) -> list[Subject]:
    """Split subjects into their parts. Instances of one object are numbered in the order of their ids."""
    numbers: dict[tuple[str, str], Iterator[int]] = defaultdict(count)
    names = [subject.name for subject, _ in alone]
    for row in sorted(range(len(alone)), key=lambda row: alone[row][0].key[2]):
        key = alone[row][0].key
        if key[2]:
            names[row] += f".{next(numbers[key[:2]])}"
    found: list[Subject] = []
    for (subject, parts), name in zip(alone, names, strict=True):
        if parts is None:
            found.append(subject._replace(name=name))
            continue
        for part in parts:
            of_part = subject._replace(name=f"{name}/{part.name}", part=part.number, override=part.override)
            found.append(of_part._replace(bone=part.bone, bone_weight=part.bone_weight))
    return found


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
