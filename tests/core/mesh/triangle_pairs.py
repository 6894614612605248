"""Distances of batches of triangles that broadcast, from those of pairs."""

from __future__ import annotations

import numpy as np

from addon.core.distance import triangle_triangle
from addon.core.distance.separating_axis import WitnessPoints
from addon.core.shapes import Triangle
from addon.core.shapes.primitives import triangle_corners


def separation_triangle_triangle(a: Triangle, b: Triangle) -> np.ndarray:
    """Distances (...) of triangles whose batches broadcast."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    return triangle_triangle.separation_triangle_triangle(*_corners(a, b, batch)).reshape(batch)


def closest_points_triangle_triangle(a: Triangle, b: Triangle) -> WitnessPoints:
    """Closest points (..., 3) of triangles whose batches broadcast."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    found = triangle_triangle.closest_points_triangle_triangle(*_corners(a, b, batch))
    return WitnessPoints(*(points.reshape(*batch, 3) for points in found))


def _corners(a: Triangle, b: Triangle, batch: tuple[int, ...]) -> list[np.ndarray]:
    return [triangle_corners(each.broadcast_to(batch)).reshape(-1, 3, 3) for each in (a, b)]
