"""Filters of subjects by their names, by collection, and by the selection in the viewport.

An armature, empty, camera or light that is named stands for the objects with a surface below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from glob import escape
from typing import Any

import bpy

from ...core.messages import Message, message
from ...formats.wording import valid_text
from ..blender.instances import MESH_LIKE, InstanceKey, full_name_of, name_of
from ..blender.missing_inputs import missing_reason
from ..blender.object_settings import collider_owner
from ..errors import SceneError
from ..settings import Selection

_WILDCARD = re.compile(r"[*?\[]")


def matches_pattern(pattern: str, *names: str) -> bool:
    """Return whether a shell pattern matches any of the names, case-sensitively.

    A name that is equal to the pattern matches too, whatever brackets it contains. Bytes that are not UTF-8
    are those that `valid_text` shows.
    """
    return any(name == pattern or fnmatchcase(name, pattern) for name in map(valid_text, names))


def selection_filter(scene: bpy.types.Scene, selection: Selection) -> Callable[[InstanceKey], bool]:
    """Make a filter that returns by its key whether an instance that is not there yet would be selected.

    Raises SceneError for a collection that does not exist.
    """
    is_owner_selected = owner_filter(scene, selection)

    def is_selected(key: InstanceKey) -> bool:
        owner, name, indices = key
        shown_name = f"{owner}/{name}.0" if indices else name
        return is_owner_selected(owner) and matches_names(selection, shown_name, owner)

    return is_selected


def instance_owner_filter(scene: bpy.types.Scene, selection: Selection) -> Callable[[str], bool]:
    """Make a filter that returns by the full name of an object whether instances of it may be selected.

    Raises SceneError for a collection that does not exist.
    """
    is_owner_selected = owner_filter(scene, selection)
    starts = [_WILDCARD.split(pattern)[0] for pattern in selection.patterns]

    def may_be_selected(owner: str) -> bool:
        name = f"{valid_text(owner)}/"
        may_match = not starts or any(name.startswith(start) or start.startswith(name) for start in starts)
        return may_match and is_owner_selected(owner)

    return may_be_selected


def owner_filter(scene: bpy.types.Scene, selection: Selection) -> Callable[[str], bool]:
    """Make a filter that returns by the full name of an owner whether it is selected, names aside.

    Raises SceneError for a collection that does not exist.
    """
    allowed: list[Collection[str]] = []
    if selection.collection is not None:
        collections = [scene.collection, *scene.collection.children_recursive]
        chosen = [entry for entry in collections if name_of(entry) == selection.collection]
        if not chosen:
            raise SceneError(
                f"collection {selection.collection!r}: "
                f"scene {name_of(scene)!r} has no collection of this name"
            )
        allowed.append({full_name_of(item) for entry in chosen for item in entry.all_objects})
    if selection.selected_only:
        allowed.append(set(map(full_name_of, selected_objects())))
    if selection.owners is not None:
        allowed.append(selection.owners)
    return lambda owner: all(owner in names for names in allowed)


def selected_objects() -> list[bpy.types.Object]:
    """Return the objects that are selected in the viewport, and the objects of selected colliders."""
    layer = bpy.context.view_layer
    selected = [item for item in layer.objects if item.select_get(view_layer=layer)]
    # A click in front of a mesh selects its collider.
    owners = [owner for item in selected if (owner := collider_owner(item)) is not None]
    return [*selected, *owners]


def selection_of_uids(scene: bpy.types.Scene, uids: Collection[int]) -> Selection:
    """Return the selection of the objects of a scene with these session_uids, whatever is selected now."""
    return Selection(
        owners=frozenset(full_name_of(item) for item in scene.objects if item.session_uid in uids)
    )


def matches_names(selection: Selection, *names: str) -> bool:
    """Return whether any pattern of the selection matches any of the names; True without patterns."""
    return not selection.patterns or any(matches_pattern(pattern, *names) for pattern in selection.patterns)


_REASONS = {
    "ARMATURE": message("is an armature, which has no surface, and nothing below it has one"),
    "CAMERA": message("is a camera, which has no surface, and nothing below it has one"),
    "EMPTY": message("is an empty, which has no surface, and nothing below it has one"),
    "LATTICE": message("is a lattice, which has no surface, and nothing below it has one"),
    "LIGHT": message("is a light, which has no surface, and nothing below it has one"),
    "LIGHT_PROBE": message("is a light probe, which has no surface, and nothing below it has one"),
    "SPEAKER": message("is a speaker, which has no surface, and nothing below it has one"),
}
"""Reason why nothing stands for an object, by its type, which has no surface."""

_DEFORMING = ("ARMATURE", "LATTICE")
"""Types of modifiers, by which an object is below the armature or lattice that deforms it."""


def objects_below(scene: bpy.types.Scene, pattern: str) -> list[bpy.types.Object] | Message | None:
    """Find the objects with a surface below the objects that a pattern matches, if these have none.

    Below an object are its children, their children, and objects that it deforms.

    Returns objects : The reason if no object is below. None if the pattern matches no object, or one that may
        have a surface or instances.
    """
    items = [item for item in scene.objects if matches_pattern(pattern, name_of(item), full_name_of(item))]
    if not items or not all(
        item.type in _REASONS and item.instance_type == "NONE" and missing_reason(item) is None
        for item in items
    ):
        return None
    below = {child for item in items for child in item.children_recursive}
    for item in scene.objects:
        modifiers: Any = item.modifiers
        if any(each.object in items for each in modifiers if each.type in _DEFORMING):
            below.add(item)
    found = [item for item in below if item.type in MESH_LIKE or item.instance_type != "NONE"]
    return sorted(found, key=full_name_of) or _REASONS[items[0].type]


def patterns_with_objects_below(scene: bpy.types.Scene, patterns: Iterable[str]) -> tuple[str, ...]:
    """Replace each pattern of objects without a surface by patterns of the objects below them.

    Raises SceneError if no object is below them.
    """
    replaced: list[str] = []
    for pattern in patterns:
        below = objects_below(scene, pattern)
        if isinstance(below, Message):
            raise SceneError(f"object {pattern!r}: {below}")
        replaced += [pattern] if below is None else [escape(full_name_of(item)) for item in below]
    return tuple(replaced)
