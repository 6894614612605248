"""Triangles minus convex shapes, with exact fractions: nothing is left of a triangle in their union."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from tests.core.exact import Vector, cross, dot, point_along, subtract, vector

Polygon = list[Vector]


class HalfSpaces:
    """A convex polyhedron as the planes of its faces, which point outward."""

    def __init__(self, vertices: np.ndarray, faces: Iterable[Sequence[int]]) -> None:
        corners = [vector(each) for each in np.asarray(vertices).tolist()]
        self.planes: list[tuple[Vector, Fraction]] = []
        for a, b, c in faces:
            normal = cross(subtract(corners[b], corners[a]), subtract(corners[c], corners[a]))
            self.planes.append((normal, dot(normal, corners[a])))

    def subtracted_from(self, polygon: Polygon) -> list[Polygon]:
        """Return the convex pieces of a polygon that are above any plane."""
        outside = []
        for normal, offset in self.planes:
            heights = [dot(normal, point) - offset for point in polygon]
            if max(heights) <= 0:
                continue
            outside.append(_clipped(polygon, heights))
            if min(heights) >= 0:
                return outside
            polygon = _clipped(polygon, [-height for height in heights])
        return outside


def _clipped(polygon: Polygon, heights: list[Fraction]) -> Polygon:
    """Return the piece of a convex polygon where heights, of its corners, are not negative."""
    kept = []
    for index, (point, height) in enumerate(zip(polygon, heights, strict=True)):
        if height >= 0:
            kept.append(point)
        after = (index + 1) % len(polygon)
        if height * heights[after] < 0:
            step = subtract(polygon[after], point)
            kept.append(point_along(point, step, height / (height - heights[after])))
    return kept


def uncovered(triangle: np.ndarray, shapes: Iterable[HalfSpaces]) -> list[Polygon]:
    """Return what is left of a triangle (3, 3) outside of all shapes."""
    pieces = [[vector(corner) for corner in np.asarray(triangle).tolist()]]
    for shape in shapes:
        pieces = [rest for piece in pieces for rest in shape.subtracted_from(piece)]
    return pieces
