"""Ritter's bounding sphere (1990): a sphere around two far points, grown point by point.

Only the center is computed here; the radius is measured afterwards. Approximate: 5-20 % larger than the
smallest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Floats
from .farthest_point import farthest_point
from .minimal_sphere_batch import PointGroups

_MAX_PIVOTS = 1000
_NO_GROWTH = 1e-3
"""Points outside by less than this, in radii, do not move the center: the sphere is approximate anyway."""


def ritter_center(points: NDArray[Any], middle: Floats, extent: float) -> Floats:
    """Compute the center of Ritter's sphere: between two distant points, then moved toward those outside.

    points : (n, 3) float32 or float64. Finite.
    middle : (3,) float64. Center of their bounding box.
    extent : Half of the longest side of that box.
    Returns center : (3,) float64. Approximate: the sphere is often 5 to 20 % too large.
    """
    if extent == 0:
        return middle
    if not 1e-15 < extent < 1e15:
        # Scale to unit size, where squares neither over- nor underflow, not even in float32.
        local = (points.astype(np.float64) - middle) / extent
        return middle + ritter_center(local, np.zeros(3), 1.0) * extent
    first, _ = farthest_point(points, points[0].astype(np.float64))
    second, distance = farthest_point(points, first)
    center, radius = first * 0.5 + second * 0.5, distance * 0.5
    for _ in range(_MAX_PIVOTS):
        point, distance = farthest_point(points, center)
        if distance <= radius * (1 + _NO_GROWTH):
            break
        radius = (radius + distance) / 2
        center = point + (center - point) * (radius / distance)
    return center


def ritter_centers(groups: PointGroups) -> Floats:
    """Return Ritter's centers (3, g) of groups of points of unit size."""
    first, _ = groups.farthest(groups.columns[:, groups.starts])
    second, squared = groups.farthest(groups.columns[:, first])
    centers: Floats = (groups.columns[:, first] + groups.columns[:, second]) * 0.5
    radii = np.sqrt(squared) * 0.5
    for _ in range(_MAX_PIVOTS):
        index, squared = groups.farthest(centers)
        distances = np.sqrt(squared)
        outside = distances > radii * (1 + _NO_GROWTH)
        if not outside.any():
            break
        point = groups.columns[:, index[outside]]
        radii[outside] = (radii[outside] + distances[outside]) / 2
        moved = point + (centers[:, outside] - point) * (radii[outside] / distances[outside])
        centers[:, outside] = moved
    return centers
