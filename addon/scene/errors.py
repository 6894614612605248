"""Errors of scenes and of settings that do not fit them, in the words of the user."""

from __future__ import annotations

from ..core import CollisionBoundsError, NonFiniteGeometryError
from ..core.messages import message


class SceneError(CollisionBoundsError):
    """A file, object, collection or frame range cannot be used; the message names it."""


def describe_error(error: CollisionBoundsError) -> str:
    """Explain in user terms why a subject could not be bounded.

    Messages of `core` name elements of arrays, which mean nothing to the user of a scene.
    """
    if isinstance(error, NonFiniteGeometryError):
        return message("has a vertex with non-finite coordinates")
    return error.message
