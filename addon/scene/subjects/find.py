"""Subjects of a scene, with their ids and names, and objects that are skipped."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import bpy

from ...formats import Skipped
from ..blender.instances import (
    MESH_LIKE,
    UNSUPPORTED_REASONS,
    InstanceKey,
    VisibleInstance,
    is_made_by_nodes,
    visible_instances,
)
from ..blender.loose_parts import count_loose_parts
from ..blender.missing_inputs import missing_reason
from ..blender.object_settings import (
    has_own_settings,
    is_collider,
    is_merged_collection,
    is_split_by_loose_parts,
    object_fit_settings,
)
from ..blender.overrides import OverrideShape, read_override
from ..errors import SceneError
from ..settings import Axes, FitSettings, Selection
from .selection import matches_names, matches_pattern, owner_filter

HIDDEN = "hidden in the viewport"
IS_COLLIDER = "is a collider of another object"
COLLECTION_KIND = "COLLECTION"

_OTHER_REASONS = {HIDDEN, IS_COLLIDER, *UNSUPPORTED_REASONS.values()}
"""Reasons to skip an object of which nothing is missing."""


@dataclass(frozen=True)
class Subject:
    """One object, instance, loose part or merged collection that gets bounds. Holds no bpy object.

    Attributes
    ----------
    key : InstanceKey
        Key that finds it in any frame; of a merged collection, the key of its first member.
    id : str
        Unique among the subjects, and the same in every export of a file.
    name : str
        Name of the object, or "Owner/Object.index" for an instance, each with "/part.index" for a loose part;
        or name of the collection.
    kind : str
        Blender's object type, or "COLLECTION" for a merged collection.
    parent : str or None
        Id of the nearest ancestor that is a subject; of one split by loose parts, the id of its first part.
    part : int or None
        Number of the loose part; None for a whole object.
    members : tuple of InstanceKey
        Keys of the members of a merged collection; empty for any other subject.
    axes : Axes
        Axes of its box, by the object's own settings.
    override : OverrideShape or None
        Kind of the override that replaces its vertices.
    """

    key: InstanceKey
    id: str
    name: str
    kind: str
    parent: str | None
    part: int | None = None
    members: tuple[InstanceKey, ...] = ()
    axes: Axes = "checked"
    override: OverrideShape | None = None


def find_subjects(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> tuple[list[Subject], list[Skipped]]:
    """Find the subjects of a selection at the current frame, and the objects that are skipped.

    A merged collection is selected if any of its members is.

    Parameters
    ----------
    scene : bpy.types.Scene
        Scene of the dependency graph.
    depsgraph : bpy.types.Depsgraph
        Evaluated at the current frame.
    selection : Selection
        Filter of the visible objects.

    Returns
    -------
    subjects : list of Subject
        Sorted by name, then by id. Empty if the scene has none and the selection names none.
    skipped : list of Skipped
        Selected objects that are hidden, are colliders, or have no surface.

    Raises
    ------
    SceneError
        For a collection that does not exist, or a pattern that matches no subject.
    """
    is_owner_selected = owner_filter(scene, selection)
    candidates, names = _candidates(scene, depsgraph)
    selected = [
        entry
        for entry in candidates
        if any(map(is_owner_selected, entry.owners))
        and matches_names(selection, names[entry.subject_key], *entry.owners)
    ]
    shown = {key[1] for entry in candidates for key in entry.members or (entry.key,) if not key[2]}
    skipped = _skipped(scene, shown, selection, is_owner_selected)
    for pattern in selection.patterns:
        if not any(matches_pattern(pattern, names[entry.subject_key], *entry.owners) for entry in selected):
            reasons = {entry.reason for entry in skipped if matches_pattern(pattern, entry.name)}
            if reasons == {IS_COLLIDER}:
                raise SceneError(f"object {pattern!r}: {IS_COLLIDER}, which has the bounds")
            if missing := sorted(reasons - _OTHER_REASONS):
                raise SceneError(f"object {pattern!r}: {missing[0]}")
            if reasons:
                raise SceneError(
                    f"object {pattern!r}: is hidden or has no surface; only visible surfaces get bounds"
                )
            raise SceneError(f"object {pattern!r}: no object in scene {scene.name!r} has this name")
    return _subjects(selected, _ids(candidates, names), names, scene), skipped


_SubjectKey: TypeAlias = tuple[InstanceKey, int | None]
"""Key of an instance, and number of the loose part: unique among all candidates."""


class _Candidate(NamedTuple):
    """An object, instance, loose part or merged collection that could be a subject."""

    key: InstanceKey
    owner: str
    object_name: str
    owner_name: str
    kind: str
    axes: Axes = "checked"
    override: OverrideShape | None = None
    parts: int | None = None
    part: int | None = None
    members: tuple[InstanceKey, ...] = ()

    @classmethod
    def of(cls, item: VisibleInstance) -> _Candidate:
        """Read a visible instance as a whole."""
        key, owner, shown = item.key, item.owner, item.instance.object
        original = shown.original
        named = cls(key, owner.name_full, original.name, owner.name, original.type)
        if not has_own_settings(original) or is_made_by_nodes(key):
            return named
        fit, override = object_fit_settings(original, _DEFAULT_FIT), read_override(original)
        return named._replace(
            axes=fit.axes,
            override=None if override is None else override.shape,
            parts=count_loose_parts(shown, fit.modifiers) if is_split_by_loose_parts(original) else None,
        )

    @property
    def subject_key(self) -> _SubjectKey:
        """Key that is unique among all candidates."""
        return self.key, self.part

    @property
    def owners(self) -> tuple[str, ...]:
        """Full names of the owners, one per member."""
        return tuple(key[0] for key in self.members) or (self.owner,)


_DEFAULT_FIT = FitSettings()


def _candidates(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph
) -> tuple[list[_Candidate], dict[_SubjectKey, str]]:
    """Everything visible that could be a subject, with the names to show."""
    collections = _merged_collections(scene)
    single: list[_Candidate] = []
    merged: dict[tuple[str, str, str], list[_Candidate]] = defaultdict(list)
    for item in visible_instances(depsgraph):
        if is_collider(item.instance.object.original):
            continue
        entry, owner = _Candidate.of(item), item.owner
        if entry.owner in collections:
            merged[COLLECTION_KIND, *collections[entry.owner]].append(entry)
        elif (
            item.key[2]
            and owner.instance_type == "COLLECTION"
            and is_merged_collection(owner.instance_collection)
        ):
            merged[owner.name_full, "", owner.name].append(entry)
        else:
            single.append(entry)
    names = _names(single)
    candidates = []
    for entry in single:
        if entry.parts is None:
            candidates.append(entry)
            continue
        for part in range(entry.parts):
            candidates.append(entry._replace(part=part))
            names[entry.key, part] = f"{names[entry.subject_key]}/part.{part}"
    for (*_, name), entries in merged.items():
        first = min(entries, key=lambda entry: entry.key)
        members = tuple(sorted(entry.key for entry in entries))
        first = first._replace(kind=COLLECTION_KIND, axes="checked", override=None, parts=None)
        candidates.append(first._replace(members=members))
        names[first.subject_key] = name
    return candidates, names


def _merged_collections(scene: bpy.types.Scene) -> dict[str, tuple[str, str]]:
    """Full name and name of the merged collection that each object is in, by the object's full name.

    Of nested collections this is the outermost, of others the first one in the outliner.
    """
    collection_of: dict[str, tuple[str, str]] = {}

    def visit(collection: bpy.types.Collection) -> None:
        if is_merged_collection(collection):
            for item in collection.all_objects:
                collection_of.setdefault(item.name_full, (collection.name_full, collection.name))
            return
        for child in collection.children:
            visit(child)

    visit(scene.collection)
    return collection_of


def _names(candidates: Iterable[_Candidate]) -> dict[_SubjectKey, str]:
    """Names to show; instances of one object under one owner are numbered in the order of their ids."""
    groups: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    names = {}
    for entry in candidates:
        if entry.key[2]:
            groups[entry.key[:2]].append(entry)
        else:
            names[entry.subject_key] = entry.object_name
    for group in groups.values():
        for index, entry in enumerate(sorted(group, key=lambda entry: entry.key[2])):
            names[entry.subject_key] = f"{entry.owner_name}/{entry.object_name}.{index}"
    return names


def _ids(candidates: list[_Candidate], names: dict[_SubjectKey, str]) -> dict[_SubjectKey, str]:
    """Ids from names; where linked files have objects of one name, the later ones are numbered.

    All candidates get one, so that ids do not depend on the selection.
    """
    ids: dict[_SubjectKey, str] = {}
    used: set[str] = set()
    # A collection comes after an object of the same name, so that the object keeps its name as id.
    for entry in sorted(
        candidates, key=lambda entry: (names[entry.subject_key], bool(entry.members), entry.key)
    ):
        candidate, number = names[entry.subject_key], 2
        while candidate in used:
            candidate, number = f"{names[entry.subject_key]}#{number}", number + 1
        used.add(candidate)
        ids[entry.subject_key] = candidate
    return ids


def _subjects(
    selected: list[_Candidate],
    every_id: dict[_SubjectKey, str],
    names: dict[_SubjectKey, str],
    scene: bpy.types.Scene,
) -> list[Subject]:
    """Subjects of the selected candidates, with their parents, sorted by name then id."""
    # The first selected part of an object that is split by loose parts represents it as a parent.
    ids: dict[InstanceKey, str] = {}
    for entry in selected:
        for key in entry.members or (entry.key,):
            ids.setdefault(key, every_id[entry.subject_key])
    ancestors = {item.name_full: item.parent.name_full for item in scene.objects if item.parent}
    subjects = []
    for entry in selected:
        ancestor: str | None = entry.owner if entry.key[2] else ancestors.get(entry.owner)
        if entry.members and not entry.key[2]:
            ancestor = None  # its members may have different parents
        while ancestor is not None and (ancestor, ancestor, ()) not in ids:
            ancestor = ancestors.get(ancestor)
        parent = ids[(ancestor, ancestor, ())] if ancestor is not None else None
        if parent == every_id[entry.subject_key]:
            parent = None  # a member of the subject itself
        properties = entry.part, entry.members, entry.axes, entry.override
        name = names[entry.subject_key]
        subjects.append(
            Subject(entry.key, every_id[entry.subject_key], name, entry.kind, parent, *properties)
        )
    return sorted(subjects, key=lambda subject: (subject.name, subject.id))


def _skipped(
    scene: bpy.types.Scene,
    shown: Collection[str],
    selection: Selection,
    is_owner_selected: Callable[[str], bool],
) -> list[Skipped]:
    """Return the selected objects that are hidden, are colliders, or have no surface."""
    skipped = []
    for item in scene.objects:
        if item.name_full in shown or not is_owner_selected(item.name_full):
            continue
        if not matches_names(selection, item.name, item.name_full):
            continue
        if is_collider(item):
            skipped.append(Skipped(item.name, IS_COLLIDER))
        elif missing := missing_reason(item):
            skipped.append(Skipped(item.name, missing))
        elif item.type in MESH_LIKE:
            skipped.append(Skipped(item.name, HIDDEN))
        elif item.type in UNSUPPORTED_REASONS:
            skipped.append(Skipped(item.name, UNSUPPORTED_REASONS[item.type]))
    return skipped
