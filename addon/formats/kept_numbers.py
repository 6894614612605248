"""A document's own numbers beside what was read of it, so that it is written again as it was.

Taken to Blender's unit and back, a number may be off by its last bit; and rounded outward, then by a step of
the last decimal. So whatever goes back to the space that it was read from goes with the numbers it had there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .contents import Kept, ObjectBounds, Track
from .spaces import Space, space_for

_Entry = TypeVar("_Entry", ObjectBounds, Track)

_PARTS = {
    ObjectBounds: ("translation", "rotation", "scale", "local", "world", "envelope"),
    Track: ("frames", "sphere", "aabb"),
}

AS_THEY_ARE = space_for("blender")
"""A space that changes no number."""


def keeping(here: _Entry, there: _Entry, space: Space) -> _Entry:
    """What was read, in Blender's numbers, that knows what it is in those of `space`, exactly."""
    return replace(here, kept=Kept(space, _fixed_parts(here), _fixed_parts(there)))


def kept_in(entry: _Entry, space: Space) -> _Entry | None:
    """It in the numbers that it had in `space`; None for what was not read from there, or was changed since.

    That is seen by the parts being the very ones that were read: none of them can be changed itself.
    """
    kept = entry.kept
    if kept is None or not _are_alike(kept.space, space):
        return None
    if any(getattr(entry, name) is not part for name, part in kept.here.items()):
        return None
    return replace(entry, **kept.there)


def _fixed_parts(entry: ObjectBounds | Track) -> dict[str, Any]:
    """The parts by name, which cannot be changed from now on."""
    parts = {name: getattr(entry, name) for name in _PARTS[type(entry)]}
    _fix(tuple(parts.values()))
    return parts


def _fix(part: Any) -> None:
    """For arrays, those of hulls too; other shapes cannot be changed anyway."""
    if isinstance(part, np.ndarray):
        part.setflags(write=False)
    elif isinstance(part, tuple):
        for own in part:
            _fix(own)


def _are_alike(a: Space, b: Space) -> bool:
    return a.scale == b.scale and np.array_equal(a.axes, b.axes)
