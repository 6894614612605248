"""Pickers of the objects that a group or the obstacles consist of: a collection, or a single object."""

from __future__ import annotations

import re
from typing import Any

import bpy
from bpy.props import PointerProperty
from bpy.types import Context, PropertyGroup

from ...formats.wording import valid_text
from ...scene.blender.names import name_of
from ...scene.subjects.scan_settings import COLLECTION_PREFIX

OPTIONS_WITH_PICKER = ("group_a", "group_b", "obstacles")
"""Options that have a picker, and a pattern of the same name for everything else."""


def _is_in_scene(self: Any, item: bpy.types.Object | bpy.types.Collection) -> bool:
    """Return whether the scene of the settings contains a collection or an object."""
    scene = self.id_data
    if isinstance(item, bpy.types.Object):
        return item.name in scene.objects
    return item in scene.collection.children_recursive


def _clear_others(chosen: str, other: str) -> Any:
    """Make the function that clears the alternatives to what was chosen."""

    def update(self: Any, _context: Context) -> None:
        if getattr(self, chosen) is not None:
            setattr(self, other, None)
            _clear_pattern(self)

    return update


def _clear_pattern(picker: Any) -> None:
    """Clear the pattern of the option that a picker belongs to."""
    settings = picker.id_data.collision_bounds
    name = picker.path_from_id().rsplit(".", 1)[-1]
    if getattr(settings, name):
        setattr(settings, name, "")


def clear_picker(name: str) -> Any:
    """Make the function that clears the picker of an option when its pattern is set."""

    def update(self: Any, _context: Context) -> None:
        picker = getattr(self.pickers, name)
        if getattr(self, name):
            picker.collection = picker.object = None

    return update


class COLLISION_BOUNDS_PG_picker(PropertyGroup):
    """A collection, an object, or neither."""

    collection: PointerProperty(
        type=bpy.types.Collection,
        name="Collection",
        description="All objects of this collection",
        poll=_is_in_scene,
        update=_clear_others("collection", "object"),
    )
    object: PointerProperty(
        type=bpy.types.Object,
        name="Object",
        description="This object alone",
        poll=_is_in_scene,
        update=_clear_others("object", "collection"),
    )

    def pattern(self) -> str | None:
        """Return the pattern of names that what was chosen has; None if nothing was."""
        if self.collection is not None:
            return COLLECTION_PREFIX + _escaped(name_of(self.collection))
        return None if self.object is None else _escaped(name_of(self.object))


class COLLISION_BOUNDS_PG_pickers(PropertyGroup):
    """Pickers of all options that have one."""

    group_a: PointerProperty(type=COLLISION_BOUNDS_PG_picker)
    group_b: PointerProperty(type=COLLISION_BOUNDS_PG_picker)
    obstacles: PointerProperty(type=COLLISION_BOUNDS_PG_picker)


def _escaped(name: str) -> str:
    """Return a pattern that a name alone matches."""
    pattern = re.sub(r"([*?\[])", r"[\1]", valid_text(name))
    # An object can have a name that begins as the patterns of collections do.
    return f"[{pattern[0]}]{pattern[1:]}" if pattern.startswith(COLLECTION_PREFIX) else pattern
