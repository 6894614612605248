"""Columns of fitted shapes that are moved and grown in place, and the linear maps that move them.

There is one class of columns for each class of shape.

`columns_of` is the dispatch of this room by the class of a shape. A class that is not in its table raises.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from ...core import Aabb, Capsule, Cylinder, Obb, Shape, Sphere
from ...core.numeric.arrays import Bools, Floats, Ints, length, normalized, transform_vectors

Rows: TypeAlias = Ints | slice
_Grown = TypeVar("_Grown", bound=Shape)

MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

_THIN = 0.2
"""Determinant, relative to the size, up to which a linear map counts as nearly flat."""

_AT_REST = {"rotation": np.eye(3), "axis": np.array([0.0, 0.0, 1.0])}
"""Values of columns before the first fit; zeros for the others."""


class Motions(NamedTuple):
    """Linear maps that move fits.

    linear : (m, 3, 3) float64
    scale, residual : (m,) float64. See `uniform_scale_and_residual`.
    stretch : (m,) float64. Factors by which the maps lengthen vectors at most.
    error : (m,) float64. Largest distance of an image from where a point should be, of nearly flat objects.
    """

    linear: Floats
    scale: Floats
    residual: Floats
    stretch: Floats
    error: Floats


class FitColumns(ABC):
    """Numbers of N shapes of one class; the columns are the fields of the shape, in their order.

    kind : Class of the shapes.
    has_rotation : Whether the shapes are boxes whose axes rotate with a subject.
    is_moved : Whether fits follow a rotation by `move`; otherwise they are made again.
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

    shape : Sphere, Aabb or Obb, batch (g,). Shapes that enclose the points alone.
    linear : (g, 3, 3) float64. Maps from object space to the space of the shapes, which make ellipsoids of
        the balls. Oriented boxes grow by the extents of the ellipsoids along their own axes.
    radii : (g,) float64. Radii of the balls in object space.

    Raises TypeError for other shapes.
    """
    if not radii.any():
        return shape
    grown: _Grown = columns_of(type(shape)).with_balls(shape, linear, radii)
    return grown


def matrix_products(first: Floats, second: Floats) -> Floats:
    """Products (m, 3, 3) of two arrays of matrices (m, 3, 3)."""
    # On arrays (3, 3, m), because NumPy multiplies long rows many times faster than small matrices.
    product = np.einsum(
        "ijn,jkn->ikn",
        np.ascontiguousarray(first.transpose(1, 2, 0)),
        np.ascontiguousarray(second.transpose(1, 2, 0)),
    )
    return np.asarray(product.transpose(2, 0, 1))


def uniform_scale_and_residual(linear: Floats) -> tuple[Floats, Floats]:
    """Find the best uniform scale of linear maps, and how far they are from a rotation with that scale.

    A map with a residual below 1e-4 is a rotation with uniform scale, up to the rounding of its matrix.

    linear : (m, 3, 3) float64. Linear maps, finite or not.
    Returns scale : (m,) float64
    Returns residual : (m,) float64. Frobenius norm of M M^T / scale^2 - I. It is infinite for mirrored and
        singular maps.
    """
    m = np.ascontiguousarray(linear.transpose(1, 2, 0))
    gram = np.einsum("kin,kjn->ijn", m, m)
    squared = (gram[0, 0] + gram[1, 1] + gram[2, 2]) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared - np.eye(3)[..., None]
    residual = np.sqrt(np.einsum("ijn,ijn->n", off, off))
    minors = [m[1, (k + 1) % 3] * m[2, (k + 2) % 3] - m[1, (k + 2) % 3] * m[2, (k + 1) % 3] for k in range(3)]
    determinant = m[0, 0] * minors[0] + m[0, 1] * minors[1] + m[0, 2] * minors[2]
    # Mirrored and singular maps are no rotations, so whatever they move is fitted again.
    is_proper = np.isfinite(residual) & (determinant > 0)
    return np.sqrt(squared), np.where(is_proper, residual, np.inf)


def nearest_rotation(linear: Floats) -> Floats:
    """Rotations nearest to maps (m, 3, 3) whose residual is below 1e-4 (Newton's method, polar factor)."""
    r = np.ascontiguousarray(linear.transpose(1, 2, 0))
    # Each step squares the error: 1e-4, then 1e-8, then below the rounding.
    for _ in range(2):
        r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
    return r.transpose(2, 0, 1)


def is_similarity(motion: Floats) -> bool:
    """Return whether a fit can be moved by a linear map (3, 3)."""
    return bool(uniform_scale_and_residual(motion[None])[1][0] < MAX_RESIDUAL)


def inverses_or_zeros(linear: Floats) -> Floats:
    """Inverses of linear maps (m, 3, 3); zeros for singular ones."""
    result = np.zeros_like(linear)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(linear)
        invertible = np.isfinite(determinant) & (determinant != 0)
        result[invertible] = np.linalg.inv(linear[invertible])
    result[~np.isfinite(result).all(axis=(1, 2))] = 0.0
    return result


def are_nearly_flat(linear: Floats) -> Bools:
    """Mask (m,) of linear maps (m, 3, 3) whose images are flat or thin."""
    size = np.sqrt((linear * linear).sum(axis=(1, 2)) / 3)
    with np.errstate(all="ignore"):
        return np.asarray(np.isfinite(size) & (np.abs(np.linalg.det(linear)) <= _THIN * size**3))


def rotations_of_flat(fitted: Floats, linear: Floats) -> tuple[Floats, Floats]:
    """Find the rotations (m, 3, 3) that carry nearly flat maps (m, 3, 3) to others (Kabsch's method).

    Also returns how far (m,) the images of points at a distance of 1 from the origin are from these; infinite
    where it is no rotation.
    """
    rotations, deviations = np.tile(np.eye(3), (len(linear), 1, 1)), np.full(len(linear), np.inf)
    size = np.sqrt((linear * linear).sum(axis=(1, 2)))
    rows = np.flatnonzero(np.isfinite(size))
    left, _, right = np.linalg.svd(linear[rows] @ fitted[rows].transpose(0, 2, 1))
    # Without a mirror image: a flat object does not show which of both it is.
    left[:, :, 2] *= np.where(np.linalg.det(left @ right) < 0, -1, 1)[:, None]
    rotations[rows] = left @ right
    difference = linear[rows] - rotations[rows] @ fitted[rows]
    of_unit = np.sqrt((difference * difference).sum(axis=(1, 2)))
    is_near = of_unit <= MAX_RESIDUAL * size[rows]
    deviations[rows[is_near]] = of_unit[is_near]
    return rotations, deviations
