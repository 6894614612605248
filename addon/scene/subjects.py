"""Which things get bounds, what they are called, and which cannot have any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import bpy

from ..formats import Skipped
from .errors import SceneError
from .fitting import Axes, FitSettings
from .loose_parts import part_count
from .overrides import OverrideShape, override_of
from .own_settings import fit_of, is_collider, is_in_parts, is_one, says_something
from .selection import Selection, is_named, matches, owner_filter
from .walk import MESH_LIKE, UNSUPPORTED, Key, Visible, is_made_by_nodes, visible

HIDDEN = "hidden in the viewport"
STANDS_FOR_ANOTHER = "is a collider object, and stands for another"
TAKEN_AS_ONE = "COLLECTION"


@dataclass(frozen=True)
class Subject:
    """One thing that gets bounds. Holds names, never a bpy object.

    key : how to find it again in any frame; of several taken as one, how to find the first of them
    id : unique among the subjects, the same in every export of the same file
    name : the object's, or "Owner/Object.index" for an instance, with "/part.index" for a loose part of
        either; or the collection's
    kind : Blender's object type, or "COLLECTION" for several taken as one
    parent : id of the nearest ancestor that is a subject as well, of one in loose parts the first part's
    part : number of the loose part that it is; None: all of it
    members : keys of those taken as one; empty for what is one by itself
    axes : of its box, by the object's own settings
    override : the shape set by hand that stands for its vertices, None: there is none
    """

    key: Key
    id: str
    name: str
    kind: str
    parent: str | None
    part: int | None = None
    members: tuple[Key, ...] = ()
    axes: Axes = "checked"
    override: OverrideShape | None = None


def find_subjects(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> tuple[list[Subject], list[Skipped]]:
    """The subjects of `selection` at the current frame, sorted by name then id, and what was left out.

    Several that are one subject are taken if any of them is. Raises SceneError for a collection that does
    not exist, or a pattern that fits nothing; with nothing to choose from the list is empty.
    """
    wanted = owner_filter(scene, selection)
    found, names = _found(scene, depsgraph)
    taken = [
        entry
        for entry in found
        if any(map(wanted, entry.owners)) and is_named(selection, names[entry.place], *entry.owners)
    ]
    shown = {key[1] for entry in found for key in entry.members or (entry.key,) if not key[2]}
    hidden = _hidden(scene, shown, selection, wanted)
    for pattern in selection.patterns:
        if not any(matches(pattern, names[entry.place], *entry.owners) for entry in taken):
            left_out = {entry.reason for entry in hidden if matches(pattern, entry.name)}
            if left_out == {STANDS_FOR_ANOTHER}:
                raise SceneError(f"object {pattern!r}: {STANDS_FOR_ANOTHER}, which has the bounds")
            if left_out:
                raise SceneError(
                    f"object {pattern!r}: is hidden or has no surface, show it to give it bounds"
                )
            raise SceneError(f"object {pattern!r}: nothing in scene {scene.name!r} has that name")
    return _subjects(taken, _ids(found, names), names, scene), hidden


_Place: TypeAlias = tuple[Key, int | None]
"""What tells one subject from another: its key, and its part."""


class _Found(NamedTuple):
    key: Key
    owner: str
    object_name: str
    owner_name: str
    kind: str
    axes: Axes = "checked"
    override: OverrideShape | None = None
    parts: int | None = None
    part: int | None = None
    members: tuple[Key, ...] = ()

    @classmethod
    def of(cls, item: Visible) -> _Found:
        key, owner, shown = item.key, item.owner, item.instance.object
        original = shown.original
        named = cls(key, owner.name_full, original.name, owner.name, original.type)
        if not says_something(original) or is_made_by_nodes(key):
            return named
        fit, override = fit_of(original, _PLAIN), override_of(original)
        return named._replace(
            axes=fit.axes,
            override=None if override is None else override.shape,
            parts=part_count(shown, fit.modifiers) if is_in_parts(original) else None,
        )

    @property
    def place(self) -> _Place:
        return self.key, self.part

    @property
    def owners(self) -> tuple[str, ...]:
        return tuple(key[0] for key in self.members) or (self.owner,)


_PLAIN = FitSettings()


def _found(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> tuple[list[_Found], dict[_Place, str]]:
    """All that could be a subject, with the names to show."""
    collections = _taken_as_one(scene)
    alone: list[_Found] = []
    together: dict[tuple[str, str, str], list[_Found]] = defaultdict(list)
    for item in visible(depsgraph):
        if is_collider(item.instance.object.original):
            continue
        entry, owner = _Found.of(item), item.owner
        if entry.owner in collections:
            together[TAKEN_AS_ONE, *collections[entry.owner]].append(entry)
        elif item.key[2] and owner.instance_type == "COLLECTION" and is_one(owner.instance_collection):
            together[owner.name_full, "", owner.name].append(entry)
        else:
            alone.append(entry)
    names = _names(alone)
    found = []
    for entry in alone:
        if entry.parts is None:
            found.append(entry)
            continue
        for part in range(entry.parts):
            found.append(entry._replace(part=part))
            names[entry.key, part] = f"{names[entry.place]}/part.{part}"
    for (*_, name), entries in together.items():
        first = min(entries, key=lambda entry: entry.key)
        members = tuple(sorted(entry.key for entry in entries))
        first = first._replace(kind=TAKEN_AS_ONE, axes="checked", override=None, parts=None)
        found.append(first._replace(members=members))
        names[first.place] = name
    return found, names


def _taken_as_one(scene: bpy.types.Scene) -> dict[str, tuple[str, str]]:
    """The collection that each object is part of, by full name, where that is taken as one: both its names.

    The outermost of those within each other, and the first in the outliner of others.
    """
    homes: dict[str, tuple[str, str]] = {}

    def enter(collection: bpy.types.Collection) -> None:
        if is_one(collection):
            for item in collection.all_objects:
                homes.setdefault(item.name_full, (collection.name_full, collection.name))
            return
        for child in collection.children:
            enter(child)

    enter(scene.collection)
    return homes


def _names(found: Iterable[_Found]) -> dict[_Place, str]:
    """Names to show. Instances of one object under one owner are counted in the order of their ids."""
    groups: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    names = {}
    for entry in found:
        if entry.key[2]:
            groups[entry.key[:2]].append(entry)
        else:
            names[entry.place] = entry.object_name
    for group in groups.values():
        for index, entry in enumerate(sorted(group, key=lambda entry: entry.key[2])):
            names[entry.place] = f"{entry.owner_name}/{entry.object_name}.{index}"
    return names


def _ids(found: list[_Found], names: dict[_Place, str]) -> dict[_Place, str]:
    """Ids are names; where linked files bring the same name twice, the later ones are numbered.

    Given to everything that is there, so that they do not depend on the selection.
    """
    ids: dict[_Place, str] = {}
    used: set[str] = set()
    # A collection comes after an object of its name, so that the object keeps that.
    for entry in sorted(found, key=lambda entry: (names[entry.place], bool(entry.members), entry.key)):
        candidate, number = names[entry.place], 2
        while candidate in used:
            candidate, number = f"{names[entry.place]}#{number}", number + 1
        used.add(candidate)
        ids[entry.place] = candidate
    return ids


def _subjects(
    taken: list[_Found], every_id: dict[_Place, str], names: dict[_Place, str], scene: bpy.types.Scene
) -> list[Subject]:
    # Of an object in loose parts, the first part that is taken stands for all.
    ids: dict[Key, str] = {}
    for entry in taken:
        for key in entry.members or (entry.key,):
            ids.setdefault(key, every_id[entry.place])
    ancestors = {item.name_full: item.parent.name_full for item in scene.objects if item.parent}
    subjects = []
    for entry in taken:
        ancestor: str | None = entry.owner if entry.key[2] else ancestors.get(entry.owner)
        if entry.members and not entry.key[2]:
            ancestor = None  # its members may have different ones
        while ancestor is not None and (ancestor, ancestor, ()) not in ids:
            ancestor = ancestors.get(ancestor)
        parent = ids[(ancestor, ancestor, ())] if ancestor is not None else None
        if parent == every_id[entry.place]:
            parent = None  # one of its own members
        own = entry.part, entry.members, entry.axes, entry.override
        name = names[entry.place]
        subjects.append(Subject(entry.key, every_id[entry.place], name, entry.kind, parent, *own))
    return sorted(subjects, key=lambda subject: (subject.name, subject.id))


def _hidden(
    scene: bpy.types.Scene, shown: Collection[str], selection: Selection, wanted: Callable[[str], bool]
) -> list[Skipped]:
    """Objects of the selection that the viewport does not show, or that have no surface."""
    left_out = []
    for item in scene.objects:
        if item.name_full in shown or not wanted(item.name_full):
            continue
        if not is_named(selection, item.name, item.name_full):
            continue
        if is_collider(item):
            left_out.append(Skipped(item.name, STANDS_FOR_ANOTHER))
        elif item.type in MESH_LIKE:
            left_out.append(Skipped(item.name, HIDDEN))
        elif item.type in UNSUPPORTED:
            left_out.append(Skipped(item.name, UNSUPPORTED[item.type]))
    return left_out
