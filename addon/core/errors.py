"""Errors that this package raises for invalid input.

Every error is a ``ValueError`` with a message that names the invalid element. "No contact" is a value, never
an error.
"""

from __future__ import annotations


class CollisionBoundsError(ValueError):
    """Base of all errors of this package: invalid input, described in one sentence."""

    @property
    def message(self) -> str:
        """The sentence, as the `Message` that was raised if it can be translated."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class EmptyGeometryError(CollisionBoundsError):
    """There are no points to fit a shape to."""


class NonFiniteGeometryError(CollisionBoundsError):
    """A coordinate or length is NaN or infinite."""


class InvalidShapeError(CollisionBoundsError):
    """An argument has the wrong type or shape, or its numbers describe no volume (radius < 0, min > max)."""


class UnsupportedPairError(InvalidShapeError):
    """A function has no method for this pair of kinds of shapes, for instance two segments."""
