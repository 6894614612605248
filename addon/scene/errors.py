"""What is wrong with a scene, or with what was asked of it."""

from __future__ import annotations

from ..core import CollisionBoundsError, NonFiniteGeometryError


class SceneError(CollisionBoundsError):
    """A file, object, collection or frame range that cannot be worked with; the message names it."""


def reason_of(error: CollisionBoundsError) -> str:
    """Why a thing has no shapes, for who made it: the core names elements of arrays, for who called it."""
    if isinstance(error, NonFiniteGeometryError):
        return "the place of a vertex is not a finite number"
    return str(error)
