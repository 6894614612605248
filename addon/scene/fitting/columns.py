"""Columns of fitted shapes that are moved and grown in place: one class for each class of shape.

`columns_of` is the dispatch of this room by the class of a shape. A class that is not in its table raises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias, TypeVar

import numpy as np

from ...core import Aabb, Capsule, Cylinder, Obb, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints, length, normalized, transform_vectors
from .motions import Motions, matrix_products, nearest_rotation

Rows: TypeAlias = Ints | slice
_Grown = TypeVar("_Grown", bound=Shape)

_AT_REST = {"rotation": np.eye(3), "axis": np.array([0.0, 0.0, 1.0])}
"""Values of columns before the first fit; zeros for the others."""


class FitColumns(ABC):
    """Numbers of N shapes of one class; the columns are the fields of the shape, in their order.

    Attributes
    ----------
    kind : type
        Class of the shapes.
    has_rotation : bool
        Whether the shapes are boxes whose axes rotate with a subject.
    is_moved : bool
        Whether fits follow a rotation by `move`; otherwise they are made again.
    """

    kind: ClassVar[type[Any]]
    has_rotation: ClassVar[bool] = False
    is_moved: ClassVar[bool] = True

    @classmethod
    def room(cls, count: int) -> Self:
        """Make room for `count` shapes."""
        fields = cls.kind.field_shapes.items()
        values = (np.broadcast_to(_AT_REST.get(name, 0.0), (count, *tail)) for name, tail in fields)
        return cls(*map(np.array, values))

    def take(self, rows: Ints) -> Self:
        """Copy the shapes at rows (m,)."""
        return type(self)(*(column[rows] for column in vars(self).values()))

    def put(self, rows: Rows, shape: Shape) -> None:
        """Replace the shapes at rows (k,) by a batch (k,)."""
        for name, column in vars(self).items():
            column[rows] = getattr(shape, name)

    def at(self, offset: Floats) -> Any:
        """Shapes (N,) moved by offsets (N, 3)."""
        center, *remaining = vars(self).values()
        return self.kind.unchecked(center + offset, *remaining)

    @abstractmethod
    def enlarge_to(self, room: Floats) -> Bools:
        """Enlarge shapes that are smaller than a half size (N,) on any side, and return which these were."""

    def move(self, rows: Rows, motions: Motions) -> None:
        """Rotate and scale the shapes at rows (k,) by motions (k,) that nearly are similarities.

        The shapes grow by what the maps lack of a similarity, so that all points stay inside.
        """
        raise TypeError(f"{self.kind.__name__} is fitted again, not moved")

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """Move all surfaces of the shapes at rows (k,) outward by amounts (k,)."""
        raise TypeError(f"{self.kind.__name__} is fitted again, not moved")

    @staticmethod
    def with_balls(shape: Any, linear: Floats, radii: Floats) -> Any:
        """See `grown_by_point_radii`."""
        raise TypeError(f"cannot grow {type(shape).__name__}")


@dataclass
class AabbColumns(FitColumns):
    """Boxes along the world's axes: min (N, 3), max (N, 3). They are fitted again, not moved."""

    kind: ClassVar[type[Any]] = Aabb
    is_moved = False
    min: Floats
    max: Floats

    def at(self, offset: Floats) -> Aabb:
        """See `FitColumns`."""
        return Aabb.unchecked(self.min + offset, self.max + offset)

    def enlarge_to(self, room: Floats) -> Bools:
        """See `FitColumns`."""
        sides = room[:, None]
        is_smaller = ((self.max - self.min) / 2 < sides).any(axis=1)
        self.min[is_smaller], self.max[is_smaller] = -2 * sides[is_smaller], 2 * sides[is_smaller]
        return np.asarray(is_smaller)

    @staticmethod
    def with_balls(shape: Aabb, linear: Floats, radii: Floats) -> Aabb:
        """See `grown_by_point_radii`."""
        extent = radii[:, None] * length(linear)
        return Aabb(shape.min - extent, shape.max + extent)


@dataclass
class SphereColumns(FitColumns):
    """Spheres: center (N, 3), radius (N,)."""

    kind: ClassVar[type[Any]] = Sphere
    center: Floats
    radius: Floats

    def move(self, rows: Rows, motions: Motions) -> None:
        """See `FitColumns`."""
        self.center[rows] = transform_vectors(motions.linear, self.center[rows])
        slack = 1e-15 * length(self.center[rows])
        self.radius[rows] = self.radius[rows] * motions.stretch + slack

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """See `FitColumns`."""
        self.radius[rows] += amounts

    def enlarge_to(self, room: Floats) -> Bools:
        """See `FitColumns`."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)

    @staticmethod
    def with_balls(shape: Sphere, linear: Floats, radii: Floats) -> Sphere:
        """See `grown_by_point_radii`."""
        return Sphere(shape.center, shape.radius + radii * np.linalg.norm(linear, 2, axis=(1, 2)))


@dataclass
class ObbColumns(FitColumns):
    """Oriented boxes: center (N, 3), half_extents (N, 3), rotation (N, 3, 3)."""

    kind: ClassVar[type[Any]] = Obb
    has_rotation = True
    center: Floats
    half_extents: Floats
    rotation: Floats

    def move(self, rows: Rows, motions: Motions) -> None:
        """See `FitColumns`."""
        motion, scale = motions.linear, motions.scale
        self.center[rows] = transform_vectors(motion, self.center[rows])
        half = self.half_extents[rows]
        turned = matrix_products(motion, self.rotation[rows]) / scale[:, None, None]
        self.rotation[rows] = nearest_rotation(turned)
        slack = 2 * motions.residual * length(half) + 1e-14 * length(self.center[rows])
        self.half_extents[rows] = half * motions.stretch[:, None] + (slack * scale)[:, None]

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """See `FitColumns`."""
        self.half_extents[rows] += amounts[:, None]

    def enlarge_to(self, room: Floats) -> Bools:
        """See `FitColumns`."""
        sides = room[:, None]
        is_smaller = (self.half_extents < sides).any(axis=1)
        self.half_extents[is_smaller] = sides[is_smaller]
        return np.asarray(is_smaller)

    @staticmethod
    def with_balls(shape: Obb, linear: Floats, radii: Floats) -> Obb:
        """See `grown_by_point_radii`."""
        extent = radii[:, None] * length(np.swapaxes(shape.rotation, 1, 2) @ linear)
        return Obb(shape.center, shape.half_extents + extent, shape.rotation)


@dataclass
class CapsuleColumns(FitColumns):
    """Capsules: center (N, 3), axis (N, 3), half_length (N,), radius (N,)."""

    kind: ClassVar[type[Any]] = Capsule
    center: Floats
    axis: Floats
    half_length: Floats
    radius: Floats

    def move(self, rows: Rows, motions: Motions) -> None:
        """See `FitColumns`."""
        self.center[rows] = transform_vectors(motions.linear, self.center[rows])
        self.axis[rows] = normalized(transform_vectors(motions.linear, self.axis[rows]))
        half, radius = self.half_length[rows], self.radius[rows]
        # What is perpendicular to an axis is not quite perpendicular to its image.
        slack = 2 * motions.residual * (half + radius) * motions.scale + 1e-14 * length(self.center[rows])
        self.half_length[rows] = half * motions.stretch + slack
        self.radius[rows] = radius * motions.stretch + slack

    def grow(self, rows: Rows, amounts: Floats) -> None:
        """See `FitColumns`."""
        self.radius[rows] += amounts
        self.half_length[rows] += amounts

    def enlarge_to(self, room: Floats) -> Bools:
        """See `FitColumns`; the radius alone counts."""
        is_smaller = self.radius < room
        self.radius[is_smaller] = room[is_smaller]
        return np.asarray(is_smaller)


class CylinderColumns(CapsuleColumns):
    """Cylinders, with the columns of capsules."""

    kind: ClassVar[type[Any]] = Cylinder

    def enlarge_to(self, room: Floats) -> Bools:
        """See `FitColumns`."""
        is_smaller = np.minimum(self.radius, self.half_length) < room
        for values in (self.radius, self.half_length):
            values[is_smaller] = np.maximum(values, room)[is_smaller]
        return np.asarray(is_smaller)


_COLUMNS: dict[type[Shape], type[FitColumns]] = {
    columns.kind: columns
    for columns in (AabbColumns, SphereColumns, ObbColumns, CapsuleColumns, CylinderColumns)
}


def columns_of(kind: type[Any]) -> type[FitColumns]:
    """Return the columns for shapes of a class. Raises TypeError for a class without."""
    if kind not in _COLUMNS:
        raise TypeError(f"fits cannot be {kind.__name__}")
    return _COLUMNS[kind]


def grown_by_point_radii(shape: _Grown, linear: Floats, radii: Floats) -> _Grown:
    """Shapes around points, grown to enclose a ball around each point.

    Parameters
    ----------
    shape : Sphere, Aabb or Obb, batch (g,)
        Shapes that enclose the points alone.
    linear : (g, 3, 3) float64
        Maps from object space to the space of the shapes, which make ellipsoids of the balls. Oriented boxes
        grow by the extents of the ellipsoids along their own axes.
    radii : (g,) float64
        Radii of the balls in object space.

    Raises TypeError for other shapes.
    """
    if not radii.any():
        return shape
    grown: _Grown = columns_of(type(shape)).with_balls(shape, linear, radii)
    return grown
