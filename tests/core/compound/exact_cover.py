"""Triangles minus convex shapes, in exact integers: nothing is left of a triangle in their union."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd

import numpy as np

from tests.core.exact import Whole, cross, dot, subtract, vector, whole

Polygon = list[Whole]
"""Corners (x, y, z, w) with w > 0: the points (x, y, z) / w."""


class HalfSpaces:
    """A convex polyhedron as the planes of its faces, which point outward."""

    def __init__(self, vertices: np.ndarray, faces: Iterable[Sequence[int]]) -> None:
        corners, unit = whole(*(vector(each) for each in np.asarray(vertices).tolist()))
        self.planes: list[Whole] = []
        for a, b, c in faces:
            normal = cross(subtract(corners[b], corners[a]), subtract(corners[c], corners[a]))
            self.planes.append((*(x * unit for x in normal), -dot(normal, corners[a])))

    def subtracted_from(self, polygon: Polygon) -> list[Polygon]:
        """Return the convex pieces of a polygon that are above any plane."""
        outside = []
        for p, q, r, s in self.planes:
            # Heights times a positive number, w times the length of the normal.
            heights = [p * x + q * y + r * z + s * w for x, y, z, w in polygon]
            if max(heights) <= 0:
                continue
            outside.append(_clipped(polygon, heights))
            if min(heights) >= 0:
                return outside
            polygon = _clipped(polygon, [-height for height in heights])
        return outside


def _clipped(polygon: Polygon, heights: list[int]) -> Polygon:
    """Return the piece of a convex polygon where heights, of its corners, are not negative."""
    kept = []
    for index, (point, height) in enumerate(zip(polygon, heights, strict=True)):
        if height >= 0:
            kept.append(point)
        after = (index + 1) % len(polygon)
        if height * heights[after] < 0:
            # The sum with these two positive factors has height 0.
            ahead, behind = abs(heights[after]), abs(height)
            corner = [ahead * x + behind * y for x, y in zip(point, polygon[after], strict=True)]
            common = gcd(*corner)
            kept.append(tuple(x // common for x in corner))
    return kept


def uncovered(triangle: np.ndarray, shapes: Iterable[HalfSpaces]) -> list[Polygon]:
    """Return what is left of a triangle (3, 3) outside of all shapes."""
    corners, unit = whole(*(vector(corner) for corner in np.asarray(triangle).tolist()))
    pieces: list[Polygon] = [[(*corner, unit) for corner in corners]]
    for shape in shapes:
        pieces = [rest for piece in pieces for rest in shape.subtracted_from(piece)]
    return pieces
