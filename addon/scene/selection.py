"""Which of the visible things are meant: by their names, their collection, or what is selected."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

import bpy

from .errors import SceneError
from .walk import Key


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


def matches(pattern: str, *names: str) -> bool:
    """Whether a shell pattern fits any of `names`, upper and lower case told apart.

    A name that reads the same as the pattern fits too, whatever brackets it has.
    """
    return any(name == pattern or fnmatchcase(name, pattern) for name in names)


def accepted(scene: bpy.types.Scene, selection: Selection) -> Callable[[Key], bool]:
    """Tells by its key whether the selection would take a thing that was not there to be found."""
    wanted = owner_filter(scene, selection)

    def is_accepted(key: Key) -> bool:
        owner, name, indices = key
        return wanted(owner) and is_named(selection, f"{owner}/{name}.0" if indices else name, owner)

    return is_accepted


def owner_filter(scene: bpy.types.Scene, selection: Selection) -> Callable[[str], bool]:
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


def is_named(selection: Selection, *names: str) -> bool:
    """Whether patterns of the selection, if it has any, fit any of `names`."""
    return not selection.patterns or any(matches(pattern, *names) for pattern in selection.patterns)
