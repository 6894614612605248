"""Directions spread evenly over the sphere, and how far from the nearest of them any other can be."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, cross, dot, unit


class Directions(NamedTuple):
    """Unit vectors that are the corners of a geodesic sphere.

    vectors : (k, 3); with each its opposite is there too
    triangles : (t, 3) indices of neighbours, whose cones cover all of space
    nearness : the cosine of the largest angle from any direction to the nearest of `vectors`
    """

    vectors: Floats
    triangles: Ints
    nearness: float


@cache
def geodesic(frequency: int) -> Directions:
    """10 f^2 + 2 directions: an icosahedron whose edges are cut into `frequency` parts, blown up."""
    golden = (1 + 5**0.5) / 2
    corners = np.array(
        [np.roll((0, one, two * golden), k) for k in range(3) for one in (-1, 1) for two in (-1, 1)]
    )
    near = np.abs(((corners[:, None] - corners) ** 2).sum(axis=2) - 4) < 1e-9
    faces = [
        (a, b, c)
        for a in range(12)
        for b in range(a + 1, 12)
        for c in range(b + 1, 12)
        if near[a, b] and near[b, c] and near[a, c]
    ]
    index: dict[tuple[float, ...], int] = {}
    points: list[Floats] = []

    def corner(face: Floats, i: int, j: int) -> int:
        """The number of a point of the grid on a face, which the next face may have as well."""
        point = (face[0] * (frequency - i - j) + face[1] * i + face[2] * j) / frequency
        key = tuple((np.round(point, 6) + 0.0).tolist())
        if key not in index:
            index[key] = len(points)
            points.append(point)
        return index[key]

    triangles = []
    for face in corners[np.array(faces)]:
        for i in range(frequency):
            for j in range(frequency - i):
                a, b, c = corner(face, i, j), corner(face, i + 1, j), corner(face, i, j + 1)
                triangles.append((a, b, c))
                if i + j < frequency - 1:
                    triangles.append((b, corner(face, i + 1, j + 1), c))
    vectors, numbers = unit(np.array(points)), np.array(triangles, dtype=np.int64)
    # In a triangle without a wide angle the middle of the circle through its corners is farthest from them.
    a, b, c = (vectors[column] for column in numbers.T)
    nearness = np.abs(dot(unit(cross(b - a, c - a)), a)).min()
    return Directions(vectors, numbers, float(nearness))
