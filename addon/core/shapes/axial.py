"""Capsules and cylinders: shapes around a piece of an axis. Results enclose the shapes they are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..numeric.arrays import (
    Bools,
    Floats,
    as_floats,
    cross,
    dot,
    first_index,
    length,
    normalized,
    perpendicular,
)
from ..numeric.floating_point import largest_singular_value, raised_by_ulps, transformed_centers
from ..numeric.tolerances import LENGTH_ROUNDING, SUM_ROUNDING
from .boxes import Aabb, BoundingVolume, box_around
from .primitives import Segment, closest_on_segment

_Self = TypeVar("_Self", bound="_Axial")

_UNIT_TOLERANCE = 1e-4
"""Largest accepted difference of an axis from length 1, as for rotations of boxes."""


@dataclass(frozen=True, eq=False, init=False)
class _Axial(BoundingVolume):
    """Base of the shapes around an axis; they have the same fields."""

    center: Floats
    axis: Floats
    half_length: Floats
    radius: Floats
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {
        "center": (3,),
        "axis": (3,),
        "half_length": (),
        "radius": (),
    }

    def __init__(self, center: ArrayLike, axis: ArrayLike, half_length: ArrayLike, radius: ArrayLike) -> None:
        axes = as_floats(axis, f"{self.name} axis", (3,))
        deviation = np.abs(length(axes) - 1)
        is_skewed = ~(deviation <= _UNIT_TOLERANCE)
        if is_skewed.any():
            raise InvalidShapeError(f"{self.name} axis: element {first_index(is_skewed)} is not of length 1")
        # Axes that are unit vectors already are kept, so that a shape made from another's fields is the same.
        axes = np.where((deviation > LENGTH_ROUNDING)[..., None], normalized(axes), axes)
        self._fill(self.name, center, axes, half_length, radius)

    @classmethod
    def between(cls: type[_Self], start: ArrayLike, end: ArrayLike, radius: ArrayLike) -> _Self:
        """Make shapes (...) around axes from `start` to `end` (..., 3). Exact up to float64 rounding.

        Where both ends are equal, the axis is +X.
        """
        first, last = (as_floats(values, f"{cls.name} end", (3,)) for values in (start, end))
        offset = last * 0.5 - first * 0.5
        return cls(first * 0.5 + last * 0.5, normalized(offset), length(offset), radius)

    @property
    def start(self) -> Floats:
        """First ends (..., 3) of the axes, to float64 rounding."""
        return self.center - self.axis * self.half_length[..., None]

    @property
    def end(self) -> Floats:
        """Last ends (..., 3) of the axes, to float64 rounding."""
        return self.center + self.axis * self.half_length[..., None]

    def balls(self) -> tuple[Floats, Floats, Floats]:
        """Centers (..., b, 3), radii (..., b) and normals (..., b, 3) of balls, with the shape as their hull.

        Those with a normal are discs. Exact up to float64 rounding.
        """
        ends = np.stack([self.start, self.end], axis=-2)
        return ends, np.stack([self.radius, self.radius], axis=-1), np.zeros_like(ends)


@dataclass(frozen=True, eq=False, init=False)
class Capsule(_Axial):
    """Capsules: all points within a radius of a segment; a ball where the segment has no length.

    Attributes
    ----------
    center : (..., 3) float64
        Middle of the segment.
    axis : (..., 3) float64
        Unit vectors along the segment; where it has no length, any.
    half_length : (...) float64, >= 0
        From the middle to an end of the segment. The capsule is longer by the radius.
    radius : (...) float64, >= 0

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        With the index of the first bad element.
    """

    grown_by_padding: ClassVar[dict[str, int]] = {"radius": 1}
    name: ClassVar[str] = "capsule"

    @property
    def arm(self) -> Floats:
        """Half lengths (...): the balls around the ends do not turn."""
        return self.half_length

    @property
    def segment(self) -> Segment:
        """Segments (...) from `start` to `end`."""
        return Segment.unchecked(self.start, self.end)

    @property
    def volume(self) -> Floats:
        """Volumes (...), to rounding; infinite beyond the largest float64."""
        with np.errstate(over="ignore"):
            return np.asarray(np.pi * self.radius**2 * (2 * self.half_length + 4 / 3 * self.radius))

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) are inside or on the capsule. Exact for the float64 distance."""
        p = self._broadcastable(points, "points", (3,))
        return np.asarray(distance_from_segment(self, p) <= self.radius)

    def transformed(self, matrix: ArrayLike) -> Capsule:
        """Return capsules that enclose the images of these under affine maps (..., 4, 4).

        The image itself, rounded outward, under rigid motion and uniform scale. Otherwise conservative: the
        radius is scaled by the largest singular value.
        """
        m = self._broadcastable(matrix, "matrix", (4, 4))
        with np.errstate(over="ignore", invalid="ignore"):  # the constructor finds infinity
            center, lost = transformed_centers(m, self.center)
            along = _applied(m, self.axis)
            stretch = largest_singular_value(m[..., :3, :3])
            radius = self.radius * stretch + lost + SUM_ROUNDING * self.half_length * stretch
            return Capsule(center, normalized(along), self.half_length * length(along), radius)

    def _around(self, points: Floats) -> Capsule:
        radius = distance_from_segment(self, points).max()
        return Capsule(self.center, self.axis, self.half_length, radius)

    def aabb(self) -> Aabb:
        """Return the boxes around the capsules, rounded outward by a few ulps."""
        reach = np.abs(self.axis) * self.half_length[..., None] + self.radius[..., None]
        return box_around(self.center, raised_by_ulps(reach))


@dataclass(frozen=True, eq=False, init=False)
class Cylinder(_Axial):
    """Solid cylinders.

    Attributes
    ----------
    center : (..., 3) float64
    axis : (..., 3) float64
        Unit vectors.
    half_length : (...) float64, >= 0
        From the center to the middle of an end.
    radius : (...) float64, >= 0

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        With the index of the first bad element.
    """

    grown_by_padding: ClassVar[dict[str, int]] = {"half_length": 1, "radius": 1}
    name: ClassVar[str] = "cylinder"

    @property
    def arm(self) -> Floats:
        """At least the distances (...) from the center to the rims."""
        return np.asarray(self.half_length + self.radius)

    @property
    def volume(self) -> Floats:
        """Volumes (...), to rounding; infinite beyond the largest float64."""
        with np.errstate(over="ignore"):
            return np.asarray(2 * np.pi * self.radius**2 * self.half_length)

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) are inside or on the cylinder. Exact for their float64 coordinates."""
        along, across = axial_coordinates(self, self._broadcastable(points, "points", (3,)))
        return np.asarray((np.abs(along) <= self.half_length) & (across <= self.radius))

    def transformed(self, matrix: ArrayLike) -> Cylinder:
        """Return cylinders that enclose the images of these under affine maps (..., 4, 4).

        The image itself, rounded outward, under rigid motion and uniform scale. Otherwise conservative: the
        axis keeps its direction, and the ends, which become ellipses, fit between two planes.
        """
        m = self._broadcastable(matrix, "matrix", (4, 4))
        with np.errstate(over="ignore", invalid="ignore"):  # the constructor finds infinity
            center, lost = transformed_centers(m, self.center)
            along = _applied(m, self.axis)
            axis = normalized(along)
            side = perpendicular(self.axis)
            spokes = np.stack([_applied(m, side), _applied(m, cross(self.axis, side))], axis=-2)
            leaning = dot(spokes, axis[..., None, :])
            flat = spokes - leaning[..., None] * axis[..., None, :]
            stretch = np.linalg.svd(flat, compute_uv=False)[..., 0]
            half = self.half_length * length(along) + self.radius * np.sqrt((leaning**2).sum(axis=-1))
            radius = self.radius * stretch
            slack = lost + SUM_ROUNDING * (half + self.radius * length(spokes).sum(axis=-1))
            return Cylinder(center, axis, half + slack, radius + slack)

    def _around(self, points: Floats) -> Cylinder:
        along, across = axial_coordinates(self, points)
        return Cylinder(self.center, self.axis, np.abs(along).max(), across.max())

    def balls(self) -> tuple[Floats, Floats, Floats]:
        """Both ends, as discs."""
        centers, radii, _ = super().balls()
        return centers, radii, np.repeat(self.axis[..., None, :], 2, axis=-2)

    def aabb(self) -> Aabb:
        """Return the boxes around the cylinders, rounded outward by a few ulps."""
        cosine = np.abs(self.axis)
        # The rounding of a cosine near 1 makes a sine of 1e-8 uncertain, so take it from the other two.
        sine = np.sqrt(
            np.stack([cosine[..., (k + 1) % 3] ** 2 + cosine[..., (k + 2) % 3] ** 2 for k in range(3)], -1)
        )
        reach = cosine * self.half_length[..., None] + sine * self.radius[..., None]
        return box_around(self.center, raised_by_ulps(reach))


def axial_coordinates(shape: Capsule | Cylinder, points: Floats) -> tuple[Floats, Floats]:
    """Compute coordinates of points (..., 3) along and across the axes of shapes (...), which broadcast.

    Exact up to float64 rounding.

    Returns along : (...) float64. From the center, in the direction of the axis.
    Returns across : (...) float64. Distance from the line of the axis.
    """
    offset = points - shape.center
    along = dot(offset, np.broadcast_to(shape.axis, offset.shape))
    return along, length(offset - along[..., None] * shape.axis)


def distance_from_segment(capsule: Capsule, points: Floats) -> Floats:
    """Compute the distance (...) of points (..., 3) from the segments of capsules. Exact up to rounding."""
    return length(closest_on_segment(points, capsule.segment) - points)


def _applied(matrix: Floats, vectors: Floats) -> Floats:
    """Images (..., 3) of vectors under the linear parts of matrices (..., 4, 4)."""
    return np.asarray(np.einsum("...ij,...j->...i", matrix[..., :3, :3], vectors))
