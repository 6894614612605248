"""Error of wrong arguments."""

from __future__ import annotations

from ..core import CollisionBoundsError


class UsageError(CollisionBoundsError):
    """An argument that is unknown or invalid, or a combination of options that is not possible."""
