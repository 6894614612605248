"""Arrays of shapes of one kind that are changed in place: one class for each kind of volume.

Shapes lie around the origins of their subjects, without padding. `ShapeArrays.at` makes immutable shapes of
them, at the subjects' positions.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np

from ...core import Obb, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints, length, transform_vectors
from ..settings import ShapeName, shape_kind
from .rigid_motion import rotated

Rows: TypeAlias = Ints | slice

_Self = TypeVar("_Self", bound="MovedArrays")


class ShapeArrays(ABC):
    """Numbers of N shapes of one kind; the fields are those of the shape."""

    @abstractmethod
    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge shapes that are smaller than a half size (N,) on any side, and return which these were."""

    @abstractmethod
    def at(self, offset: Floats) -> Shape:
        """Shapes (N,) moved by offsets (N, 3)."""


class MovedArrays(ShapeArrays):
    """Shapes that follow a rotation without a new fit.

    Attributes
    ----------
    has_rotation : bool
        Whether the shapes have axes that rotate with a subject.
    """

    has_rotation: ClassVar[bool] = False

    def take(self: _Self, rows: Ints) -> _Self:
        """Copy the shapes at rows (k,)."""
        return type(self)(**{name: values[rows] for name, values in vars(self).items()})

    def put(self, rows: Ints, shape: Shape) -> None:
        """Replace the shapes at rows (k,) with a batch (k,)."""
        for name, values in vars(self).items():
            values[rows] = getattr(shape, name)

    @abstractmethod
    def apply_motion(self, rows: Rows, motion: Floats, scale: Floats, residual: Floats) -> None:
        """Rotate and scale the shapes at rows (k,) by linear maps (k, 3, 3) that nearly are similarities.

        The shapes grow by what the maps lack of a similarity, so that all points stay inside.

        scale, residual : (k,), see `rigid_motion.uniform_scale_and_residual`
        """


@dataclass
class SphereArrays(MovedArrays):
    """Spheres: center (N, 3), radius (N,)."""

    center: Floats
    radius: Floats

    def apply_motion(self, rows: Rows, motion: Floats, scale: Floats, residual: Floats) -> None:
        """Rotate and scale the spheres at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        slack = 1e-15 * length(self.center[rows])
        self.radius[rows] = self.radius[rows] * _largest_stretch(scale, residual) + slack

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge spheres that are smaller than a radius (N,), and return which these were."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Sphere:
        """Spheres (N,) moved by offsets (N, 3)."""
        return Sphere.unchecked(self.center + offset, self.radius)


@dataclass
class ObbArrays(MovedArrays):
    """Oriented boxes: center (N, 3), half_extents (N, 3), rotation (N, 3, 3)."""

    center: Floats
    half_extents: Floats
    rotation: Floats

    has_rotation: ClassVar[bool] = True

    def apply_motion(self, rows: Rows, motion: Floats, scale: Floats, residual: Floats) -> None:
        """Rotate and scale the boxes at rows (k,); see `MovedArrays`."""
        self.center[rows] = transform_vectors(motion, self.center[rows])
        half = self.half_extents[rows]
        self.rotation[rows] = rotated(motion, scale, self.rotation[rows])
        slack = 2 * residual * length(half) + 1e-14 * length(self.center[rows])
        stretch = _largest_stretch(scale, residual)
        self.half_extents[rows] = half * stretch[:, None] + (slack * scale)[:, None]

    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge boxes that are smaller than a half size (N,), and return which these were."""
        sides = room[:, None]
        is_smaller = (self.half_extents < sides).any(axis=1)
        self.half_extents[is_smaller] = sides[is_smaller]
        return np.asarray(is_smaller)

    def at(self, offset: Floats) -> Obb:
        """Boxes (N,) moved by offsets (N, 3)."""
        return Obb.unchecked(self.center + offset, self.half_extents, self.rotation)


def _largest_stretch(scale: Floats, residual: Floats) -> Floats:
    """Factors (k,) by which maps with a uniform scale and a residual lengthen vectors at most."""
    stretch: Floats = scale * np.sqrt(1 + residual) * (1 + 1e-14)
    return stretch


def moved_arrays(shape: ShapeName, count: int) -> MovedArrays:
    """Arrays for `count` shapes of one kind; a sphere tree is one sphere per leaf.

    Raises ValueError for a kind of shape that is unknown, or that a scan does not test as a sphere or an
    oriented box.
    """
    tested_as = shape_kind(shape).tested_as
    if tested_as is Sphere:
        return SphereArrays(np.zeros((count, 3)), np.zeros(count))
    if tested_as is Obb:
        return ObbArrays(np.zeros((count, 3)), np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)))
    raise ValueError(f"shape {shape!r} cannot be moved: a scan does not test it, or fits it again")
