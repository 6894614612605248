"""Which things get bounds, what they are called, and which cannot have any."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import bpy

from ..formats import Skipped
from .errors import SceneError
from .walk import MESH_LIKE, UNSUPPORTED, Key, visible

HIDDEN = "hidden in the viewport"


@dataclass(frozen=True)
class Selection:
    """Which of the visible things to take; everything when nothing is set.

    patterns : shell patterns; a subject is taken when its name, or its owner's, matches any
    collection : name of a collection, its children included
    selected_only : only what is selected in the viewport
    """

    patterns: tuple[str, ...] = ()
    collection: str | None = None
    selected_only: bool = False


@dataclass(frozen=True)
class Subject:
    """One thing that gets bounds. Holds names, never a bpy object.

    key : how to find it again in any frame
    id : unique among the subjects, the same in every export of the same file
    name : the object's, or "Owner/Object.index" for an instance
    kind : Blender's object type
    parent : id of the nearest ancestor that is a subject as well
    """

    key: Key
    id: str
    name: str
    kind: str
    parent: str | None


def matches(pattern: str, *names: str) -> bool:
    """Whether a shell pattern fits any of `names`, upper and lower case told apart.

    A name that reads the same as the pattern fits too, whatever brackets it has.
    """
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def find_subjects(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> tuple[list[Subject], list[Skipped]]:
    """The subjects of `selection` at the current frame, sorted by name then id, and what was left out.

    Raises SceneError for a collection that does not exist, or a pattern that fits nothing; with nothing to
    choose from the list is empty.
    """
    wanted = _owner_filter(scene, selection)
    found = [_Found.of(item.key, item.owner, item.instance.object.original) for item in visible(depsgraph)]
    names = _names(found)
    taken = [
        entry
        for entry in found
        if wanted(entry.owner) and _is_named(selection, names[entry.key], entry.owner)
    ]
    hidden = _hidden(scene, {entry.key[1] for entry in found if not entry.key[2]}, selection, wanted)
    for pattern in selection.patterns:
        if not any(matches(pattern, names[entry.key], entry.owner) for entry in taken):
            if any(matches(pattern, entry.name) for entry in hidden):
                raise SceneError(
                    f"object {pattern!r}: is hidden or has no surface, show it to give it bounds"
                )
            raise SceneError(f"object {pattern!r}: nothing in scene {scene.name!r} has that name")
    return _subjects(taken, _ids(found, names), names, scene), hidden


def accepted(scene: bpy.types.Scene, selection: Selection) -> Callable[[Key], bool]:
    """Tells by its key whether the selection would take a thing that was not there to be found."""
    wanted = _owner_filter(scene, selection)

    def is_accepted(key: Key) -> bool:
        owner, name, indices = key
        return wanted(owner) and _is_named(selection, f"{owner}/{name}.0" if indices else name, owner)

    return is_accepted


@dataclass(frozen=True)
class _Found:
    key: Key
    owner: str
    object_name: str
    owner_name: str
    kind: str

    @classmethod
    def of(cls, key: Key, owner: bpy.types.Object, original: bpy.types.Object) -> _Found:
        return cls(key, owner.name_full, original.name, owner.name, original.type)


def _owner_filter(scene: bpy.types.Scene, selection: Selection) -> Callable[[str], bool]:
    """Tells by the owner's full name whether the selection takes it."""
    accepted: list[Collection[str]] = []
    if selection.collection is not None:
        collections = [scene.collection, *scene.collection.children_recursive]
        chosen = [entry for entry in collections if entry.name == selection.collection]
        if not chosen:
            raise SceneError(
                f"collection {selection.collection!r}: scene {scene.name!r} has none of that name"
            )
        accepted.append({item.name_full for entry in chosen for item in entry.all_objects})
    if selection.selected_only:
        layer = bpy.context.view_layer
        accepted.append({item.name_full for item in layer.objects if item.select_get(view_layer=layer)})
    return lambda owner: all(owner in names for names in accepted)


def _is_named(selection: Selection, name: str, owner: str) -> bool:
    return not selection.patterns or any(matches(pattern, name, owner) for pattern in selection.patterns)


def _names(found: Iterable[_Found]) -> dict[Key, str]:
    """Names to show. Instances of one object under one owner are counted in the order of their ids."""
    groups: dict[tuple[str, str], list[_Found]] = defaultdict(list)
    names = {}
    for entry in found:
        if entry.key[2]:
            groups[entry.key[:2]].append(entry)
        else:
            names[entry.key] = entry.object_name
    for group in groups.values():
        for index, entry in enumerate(sorted(group, key=lambda entry: entry.key[2])):
            names[entry.key] = f"{entry.owner_name}/{entry.object_name}.{index}"
    return names


def _ids(found: list[_Found], names: dict[Key, str]) -> dict[Key, str]:
    """Ids are names; where linked files bring the same name twice, the later ones are numbered.

    Given to everything that is there, so that they do not depend on the selection.
    """
    ids: dict[Key, str] = {}
    used: set[str] = set()
    for entry in sorted(found, key=lambda entry: (names[entry.key], entry.key)):
        candidate, number = names[entry.key], 2
        while candidate in used:
            candidate, number = f"{names[entry.key]}#{number}", number + 1
        used.add(candidate)
        ids[entry.key] = candidate
    return ids


def _subjects(
    taken: list[_Found], every_id: dict[Key, str], names: dict[Key, str], scene: bpy.types.Scene
) -> list[Subject]:
    ids = {entry.key: every_id[entry.key] for entry in taken}
    ancestors = {item.name_full: item.parent.name_full for item in scene.objects if item.parent}
    subjects = []
    for entry in taken:
        ancestor: str | None = entry.owner if entry.key[2] else ancestors.get(entry.owner)
        while ancestor is not None and (ancestor, ancestor, ()) not in ids:
            ancestor = ancestors.get(ancestor)
        parent = ids[(ancestor, ancestor, ())] if ancestor is not None else None
        subjects.append(Subject(entry.key, ids[entry.key], names[entry.key], entry.kind, parent))
    return sorted(subjects, key=lambda subject: (subject.name, subject.id))


def _hidden(
    scene: bpy.types.Scene, shown: Collection[str], selection: Selection, wanted: Callable[[str], bool]
) -> list[Skipped]:
    """Objects of the selection that the viewport does not show, or that have no surface."""
    left_out = []
    for item in scene.objects:
        if item.name_full in shown or not wanted(item.name_full):
            continue
        if not _is_named(selection, item.name, item.name_full):
            continue
        if item.type in MESH_LIKE:
            left_out.append(Skipped(item.name, HIDDEN))
        elif item.type in UNSUPPORTED:
            left_out.append(Skipped(item.name, UNSUPPORTED[item.type]))
    return left_out
