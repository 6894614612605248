"""Where two shapes are closest: the answer that separation, minimum translation and sweeps share."""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Floats


class WitnessPoints(NamedTuple):
    """Closest points of two shapes, or of their surfaces where they are deepest in one another.

    on_a, on_b : (..., 3)
    normal : (..., 3) unit vector from the first shape to the second

    `on_b - on_a` is `normal` times the separation, to rounding: moving the first shape by that much makes the
    two touch.
    """

    on_a: Floats
    on_b: Floats
    normal: Floats

    @property
    def middle(self) -> Floats:
        """(..., 3) halfway between the two points."""
        middle: Floats = self.on_a * 0.5 + self.on_b * 0.5
        return middle

    def swapped(self) -> WitnessPoints:
        """The answer for the same two shapes named in the other order."""
        return WitnessPoints(self.on_b, self.on_a, -self.normal)
