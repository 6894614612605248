"""Objects with a surface below an armature, empty, camera or light that is named instead of them."""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape
from typing import Any

import bpy

from ...core.messages import Message, message
from ..blender.instances import MESH_LIKE
from ..blender.missing_inputs import missing_reason
from ..blender.names import full_name_of, name_of
from ..errors import SceneError
from .selection import matches_pattern

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

    Parameters
    ----------
    scene : bpy.types.Scene
        Scene of the objects.
    pattern : str
        Shell pattern of names.

    Returns
    -------
    objects : list of bpy.types.Object or Message or None
        The reason if no object is below. None if the pattern matches no object, or one that may have a
        surface or instances.
    """
    items = [item for item in scene.objects if matches_pattern(pattern, name_of(item), full_name_of(item))]
    if not items or not all(_is_without_surface(item) for item in items):
        return None
    below = {child for item in items for child in item.children_recursive}
    below |= {item for item in scene.objects if any(owner in items for owner in _deforming(item))}
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


def _is_without_surface(item: bpy.types.Object) -> bool:
    """Return whether an object has neither a surface nor instances."""
    return item.type in _REASONS and item.instance_type == "NONE" and missing_reason(item) is None


def _deforming(item: bpy.types.Object) -> list[bpy.types.Object | None]:
    """Return the objects that deform an object through modifiers."""
    modifiers: Any = item.modifiers
    return [modifier.object for modifier in modifiers if modifier.type in _DEFORMING]
