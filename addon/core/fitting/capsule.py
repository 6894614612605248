"""Capsules along a coordinate axis: a cylinder with a half ball at each end. The type and its fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import EmptyGeometryError, InvalidShapeError
from ..numeric.arrays import Floats, as_floats, length, require_finite
from .enclosing import sphere_from_points


class Capsule(NamedTuple):
    """All points within `radius` of the segment from `start` to `end`; a ball where these are equal.

    Attributes
    ----------
    start, end : (3,) float64
        Equal but along `axis`, where `end` is not less than `start`.
    radius : float
    axis : int
        0, 1 or 2 for X, Y or Z.
    """

    start: Floats
    end: Floats
    radius: float
    axis: int

    @property
    def volume(self) -> float:
        """Volume of the cylinder and of the ball that both ends make; infinite beyond the largest float64."""
        long = float(self.end[self.axis] - self.start[self.axis])
        return float(np.pi) * self.radius * self.radius * (long + 4 / 3 * self.radius)


def capsule_from_points(points: ArrayLike) -> Capsule:
    """Fit a capsule along X, Y or Z, whichever has the least volume, to points.

    Along each axis, the radius is that of the smallest circle around the projected points, and the capsule
    is the shortest with that radius. Exact for that; a wider and shorter one may have slightly less volume.
    No point is farther than `radius` from the segment, to rounding: the radius is the largest computed
    distance.

    Parameters
    ----------
    points : (n, 3) array_like
        In the caller's unit.

    Returns
    -------
    capsule : Capsule

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    p = as_floats(points, "points", (3,))
    if p.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {p.shape}")
    if not len(p):
        raise EmptyGeometryError("no points")
    # Scaled by a power of two, which is exact, because squares of huge or tiny lengths are infinite or zero.
    exponent = int(np.frexp(np.abs(p).max())[1])
    unit = np.ldexp(p, -exponent)
    best = min((_capsule_along(unit, axis) for axis in (2, 0, 1)), key=lambda capsule: capsule.volume)
    with np.errstate(over="ignore"):
        start, end, radius = (np.ldexp(value, exponent) for value in (best.start, best.end, best.radius))
    require_finite(np.array([*start, *end, radius]), "points: their capsule")
    return Capsule(start, end, float(radius), best.axis)


def _capsule_along(points: Floats, axis: int) -> Capsule:
    """Fit the narrowest capsule along an axis to points (n, 3), as short as possible."""
    flat = points.copy()
    flat[:, axis] = 0
    circle = sphere_from_points(flat)
    from_axis = length(flat - circle.center)
    # A point is inside the half ball of an end that is at most this far from it along the axis.
    reach = np.sqrt(np.maximum(float(circle.radius) ** 2 - from_axis**2, 0))
    low, high = float((points[:, axis] + reach).min()), float((points[:, axis] - reach).max())
    if low > high:
        low = high = low / 2 + high / 2
    start, end = circle.center.copy(), circle.center.copy()
    start[axis], end[axis] = low, high
    past = points[:, axis] - np.clip(points[:, axis], low, high)
    radius = float(np.hypot(from_axis, past).max())
    return Capsule(start, end, radius, axis)
