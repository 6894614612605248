"""What a look at subjects tells: their shapes, and what it has read for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import Shape
from ..core.arrays import Bools, Floats, Ints
from .fitting import FitSettings, ShapeName


class Parts(NamedTuple):
    """Shapes (m,), and the index of the subject that each belongs to."""

    shape: Shape
    owners: Ints


class LiveShapes(NamedTuple):
    """What is there now of n subjects.

    shapes : for each name that was asked for, of those subjects that are there. Boxes are oriented ones where
        any subject's lies along its own axes
    in_contact, selected, visible : (n,)
    moved : whether anything is elsewhere, or has other vertices, than at the look before
    """

    shapes: Mapping[ShapeName, Parts]
    in_contact: Bools
    selected: Bools
    visible: Bools
    moved: bool = False


class Seen(NamedTuple):
    """What a look has read of n subjects: world matrices, vertices by index, settings, radii of balls."""

    matrices: Floats
    points: Mapping[int, NDArray[np.float32]]
    fits: Sequence[FitSettings]
    radii: Floats

    def is_same(self, other: Seen) -> bool:
        """Whether nothing is elsewhere, or other than it was."""
        return (
            np.array_equal(self.matrices, other.matrices)
            and np.array_equal(self.radii, other.radii)
            and list(self.fits) == list(other.fits)
            and self.points.keys() == other.points.keys()
            and all(
                points is other.points[index] or np.array_equal(points, other.points[index])
                for index, points in self.points.items()
            )
        )
