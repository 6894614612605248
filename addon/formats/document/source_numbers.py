"""Numbers of the document that an object was read from, so that it is written again to the byte.

A conversion to Blender's unit and back can change the last bit of a number, and outward rounding then adds a
step of the last decimal. So an object that is written in the space it was read from is written with the
numbers that it had there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from ..spaces import Space, space_for
from .model import ObjectBounds, SourceNumbers, Track

Entry = TypeVar("Entry", ObjectBounds, Track)

_PARTS = {
    ObjectBounds: ("translation", "rotation", "scale", "local", "world", "envelope", "local_envelope"),
    Track: ("frames", "sphere", "aabb"),
}

IDENTITY_SPACE = space_for("blender")
"""A space that changes no number."""


def with_source_numbers(in_blender: Entry, in_document: Entry, space: Space) -> Entry:
    """Attach the numbers of the document, whose space is `space`, to an object or track in Blender's units.

    All arrays become read-only, because `restore_source_numbers` detects changes by identity.
    """
    source = SourceNumbers(space, _read_only_parts(in_blender), _read_only_parts(in_document))
    return replace(in_blender, source_numbers=source)


def restore_source_numbers(entry: Entry, space: Space) -> Entry | None:
    """Return an object or track in the numbers that it had in a document of `space`.

    None when it was not read from a document of that space, or was changed since. A change is detected by
    identity: the parts are read-only, so an unchanged entry has the very parts that were read.
    """
    source = entry.source_numbers
    if source is None or source.space.scale != space.scale:
        return None
    if not np.array_equal(source.space.axes, space.axes):
        return None
    if any(getattr(entry, name) is not part for name, part in source.in_blender.items()):
        return None
    return replace(entry, **source.in_document)


def _read_only_parts(entry: ObjectBounds | Track) -> dict[str, Any]:
    """Parts by name; their arrays become read-only."""
    parts = {name: getattr(entry, name) for name in _PARTS[type(entry)]}
    _make_read_only(tuple(parts.values()))
    return parts


def _make_read_only(part: Any) -> None:
    """Make arrays read-only, also those of hulls, which are tuples; other shapes are immutable."""
    if isinstance(part, np.ndarray):
        part.setflags(write=False)
    elif isinstance(part, tuple):
        for item in part:
            _make_read_only(item)
