"""What is wrong with a scene, or with what was asked of it."""

from __future__ import annotations

from ..core import CollisionBoundsError


class SceneError(CollisionBoundsError):
    """A file, object, collection or frame range that cannot be worked with; the message names it."""
