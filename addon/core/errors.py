"""What this package raises for input it cannot work with.

Every error is a ``ValueError`` whose message names the offending element. "No contact" is a value, never
an error.
"""

from __future__ import annotations


class CollisionBoundsError(ValueError):
    """Base of everything the package raises on purpose: bad input, said in one sentence."""


class EmptyGeometryError(CollisionBoundsError):
    """There are no points to bound."""


class NonFiniteGeometryError(CollisionBoundsError):
    """A coordinate or length is NaN or infinite."""


class InvalidShapeError(CollisionBoundsError):
    """An array has the wrong shape, or the numbers describe no volume (negative radius, min > max)."""
