"""Bounding spheres. Results enclose the spheres they are made from, after rounding too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..numeric.arguments import require_type
from ..numeric.arrays import Bools, Floats, length
from ..numeric.batch import common_batch
from ..numeric.floating_point import largest_singular_value, raised_by_ulps, transformed_centers
from .boxes import Aabb, BoundingVolume, box_around


@dataclass(frozen=True, eq=False)
class Sphere(BoundingVolume):
    """Spheres.

    Attributes
    ----------
    center : (..., 3) float64
    radius : (...) float64, >= 0

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        With the index of the first bad element.
    """

    center: Floats
    radius: Floats
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {"center": (3,), "radius": ()}
    name: ClassVar[str] = "sphere"
    grown_by_padding: ClassVar[dict[str, int]] = {"radius": 1}

    def __init__(self, center: ArrayLike, radius: ArrayLike) -> None:
        self._fill("sphere", center, radius)

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) are inside or on the sphere. Exact for the float64 distance."""
        # Compare lengths, not squares: a radius that is the rounded distance of a point must include that
        # point.
        return np.asarray(length(self._broadcastable(points, "points", (3,)) - self.center) <= self.radius)

    def merged(self, other: Sphere) -> Sphere:
        """Return the smallest spheres around pairs. Conservative: rounded up by a few float64 ulps."""
        require_type(other, Sphere, "other")
        common_batch("other", self.shape, other.shape)
        offset = other.center - self.center
        distance = length(offset)
        radius = np.maximum(
            (distance + self.radius + other.radius) / 2, np.maximum(self.radius, other.radius)
        )
        along = np.divide(radius - self.radius, distance, out=np.zeros_like(distance), where=distance > 0)
        along = np.where(distance + self.radius <= other.radius, 1.0, np.minimum(along, 1.0))
        center = self.center + offset * along[..., None]
        # Measure the radius from the rounded center, because both spheres must stay inside.
        reach = np.maximum(
            length(self.center - center) + self.radius, length(other.center - center) + other.radius
        )
        return Sphere(center, raised_by_ulps(np.where(distance > 0, reach, radius)))

    def transformed(self, matrix: ArrayLike) -> Sphere:
        """Return spheres that enclose the images of these under affine maps (..., 4, 4).

        Conservative under any scale and shear: the radius is scaled by the largest singular value, because
        the longest column understates the stretch of a sheared matrix. Rounded outward.
        """
        m = self._broadcastable(matrix, "matrix", (4, 4))
        with np.errstate(over="ignore", invalid="ignore"):  # the constructor finds infinity
            stretch = largest_singular_value(m[..., :3, :3])
            center, lost = transformed_centers(m, self.center)
            return Sphere(center, self.radius * stretch + lost)

    def aabb(self) -> Aabb:
        """Return the boxes around the spheres, rounded outward by an ulp or two."""
        return box_around(self.center, self.radius[..., None])
