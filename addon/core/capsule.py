"""Capsules along an axis: a cylinder with half a ball at each end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, as_floats, length
from .errors import EmptyGeometryError, InvalidShapeError
from .fitting import sphere_from_points


class Capsule(NamedTuple):
    """All that is within `radius` of the segment from `start` (3,) to `end` (3,), which lies along `axis`.

    axis : 0, 1 or 2 for X, Y or Z, in which `end` is not less than `start`; a ball where they are equal
    """

    start: Floats
    end: Floats
    radius: float
    axis: int

    @property
    def volume(self) -> float:
        """Of the cylinder and the ball that both ends make."""
        long = float(self.end[self.axis] - self.start[self.axis])
        return float(np.pi * self.radius**2 * (long + 4 / 3 * self.radius))


def capsule_from_points(points: ArrayLike) -> Capsule:
    """The capsule along X, Y or Z around points (n, 3), in their unit, that has the least volume.

    Along each axis, the radius is that of the smallest circle around the points seen along it, and the
    capsule as short as it then can be. Exact for that; one that is wider and shorter may have a little less
    volume.
    No point is farther than `radius` from the segment, to rounding: it is the largest distance found.

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError.
    """
    p = as_floats(points, "points", (3,))
    if p.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {p.shape}")
    if not len(p):
        raise EmptyGeometryError("no points")
    return min((_along(p, axis) for axis in (2, 0, 1)), key=lambda capsule: capsule.volume)


def _along(points: Floats, axis: int) -> Capsule:
    flat = points.copy()
    flat[:, axis] = 0
    circle = sphere_from_points(flat)
    beside = length(flat - circle.center)
    # A point beside the axis is within reach of an end that is this far along it.
    reach = np.sqrt(np.maximum(float(circle.radius) ** 2 - beside**2, 0))
    low, high = float((points[:, axis] + reach).min()), float((points[:, axis] - reach).max())
    if low > high:
        low = high = low / 2 + high / 2
    start, end = circle.center.copy(), circle.center.copy()
    start[axis], end[axis] = low, high
    past = points[:, axis] - np.clip(points[:, axis], low, high)
    radius = float(np.hypot(beside, past).max())
    return Capsule(start, end, radius, axis)
