"""Directions spread evenly over the sphere: the vertices of a subdivided icosahedron (a geodesic sphere)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from .arrays import Floats, Ints, cross, dot, normalized


class GeodesicDirections(NamedTuple):
    """Unit vectors at the vertices of a geodesic sphere.

    vectors : (k, 3) float64. With each vector, its opposite is there too.
    triangles : (t, 3) int64. Indices of neighbors, counter-clockwise from outside; the cones of the triangles
        cover all of space.
    covering_cosine : Cosine of the largest angle between any direction and the nearest of `vectors`.
    """

    vectors: Floats
    triangles: Ints
    covering_cosine: float


@cache
def geodesic_directions(frequency: int) -> GeodesicDirections:
    """Compute 10 f^2 + 2 directions: an icosahedron with edges cut into f parts, projected to the sphere.

    frequency : The f above.
    Returns directions : GeodesicDirections. Cached: callers must not write to the arrays.
    """
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
        """Return the index of a grid point of a face; neighboring faces share the points of their edge."""
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
    vectors, numbers = normalized(np.array(points)), np.array(triangles, dtype=np.int64)
    a, b, c = (vectors[column] for column in numbers.T)
    is_inward = dot(a, cross(b, c)) < 0
    numbers[is_inward] = numbers[is_inward][:, ::-1]
    # In a triangle without an obtuse angle, the circumcenter is farthest from the corners.
    covering_cosine = np.abs(dot(normalized(cross(b - a, c - a)), a)).min()
    return GeodesicDirections(vectors, numbers, float(covering_cosine))
