"""Witness points: the closest points of two shapes, shared by separation, minimum translation and sweeps."""

from __future__ import annotations

from typing import NamedTuple

from ..numeric.arrays import Floats


class WitnessPoints(NamedTuple):
    """Closest points of two shapes, or of their surfaces at the deepest overlap.

    `on_b - on_a` is `normal` times the separation, to rounding: moving the first shape by it makes the two
    touch.

    Attributes
    ----------
    on_a, on_b : (..., 3) float64
        Points on the surfaces, in the space of the shapes.
    normal : (..., 3) float64
        Unit vector from the first shape to the second.
    """

    on_a: Floats
    on_b: Floats
    normal: Floats

    @property
    def middle(self) -> Floats:
        """Midpoints (..., 3) of the two points."""
        middle: Floats = self.on_a * 0.5 + self.on_b * 0.5
        return middle

    def swapped(self) -> WitnessPoints:
        """Return the result for the two shapes in the other order. Exact.

        Returns
        -------
        witness : WitnessPoints
            With the points exchanged and the normal negated.
        """
        return WitnessPoints(self.on_b, self.on_a, -self.normal)
