"""Values of animated properties that were changed without a key, such as a pose: playing would reset them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..blender.animated.paths import animated_paths

_ITEM = re.compile(r'(?s)(.*)\["((?:[^"\\]|\\.)*)"\]')
"""Path of a custom property: its owner, and its name with escapes."""


@contextmanager
def preserve_unkeyed_values() -> Iterator[None]:
    """Set animated properties at the end of the block to their values at its beginning.

    Properties that were removed are passed over. The end of the block has to be at the same frame.
    """
    values = {
        block.session_uid: {path: _value(block, path) for path in set(animated_paths(block))}
        for block in _animated_blocks()
    }
    try:
        yield
    finally:
        is_changed = False
        for block in _animated_blocks():
            for path, value in values.get(block.session_uid, {}).items():
                if value is not None and _value(block, path) != value:
                    _set_value(block, path, value)
                    is_changed = True
        if is_changed:
            bpy.context.view_layer.update()


def _animated_blocks() -> list[Any]:
    """Data-blocks with animation, the shape keys, materials and nodes that objects use among them."""
    collections = (getattr(bpy.data, each.identifier) for each in bpy.data.bl_rna.properties)
    return [
        block
        for collection in collections
        if isinstance(collection, bpy.types.bpy_prop_collection)
        for block in collection
        if getattr(block, "animation_data", None) is not None
    ]


def _value(block: Any, path: str) -> object:
    """Copy the value of a property; None if it does not exist."""
    try:
        value = block.path_resolve(path)
    except ValueError:
        return None
    return value if isinstance(value, (bool, int, float, str)) else _items(value)


def _items(value: Any) -> object:
    """Copy a vector, or another array; None for any other value."""
    try:
        return tuple(value)
    except TypeError:
        return None


def _set_value(block: Any, path: str, value: object) -> None:
    item = _ITEM.fullmatch(path)
    try:
        if item is not None:
            owner = block.path_resolve(item[1]) if item[1] else block
            owner[bpy.utils.unescape_identifier(item[2])] = value
        else:
            place, _, name = path.rpartition(".")
            setattr(block.path_resolve(place) if place else block, name, value)
    except (AttributeError, TypeError, ValueError):
        # A property that scripts cannot set, of a linked data-block for example.
        return
