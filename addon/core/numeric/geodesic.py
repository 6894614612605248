"""Directions spread evenly over the sphere: the vertices of a subdivided icosahedron (a geodesic sphere)."""

from __future__ import annotations

from functools import cache
from itertools import combinations
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

    Cached: callers must not write to the arrays.
    """
    golden = (1 + 5**0.5) / 2
    corners = np.array(
        [np.roll((0, one, two * golden), k) for k in range(3) for one in (-1, 1) for two in (-1, 1)]
    )
    near = np.abs(((corners[:, None] - corners) ** 2).sum(axis=2) - 4) < 1e-9
    faces = [face for face in combinations(range(12), 3) if near[np.ix_(face, face)].sum() == 6]
    # Triangles of the grid on a face, by steps along two of its edges, and their corners on all faces.
    grid = np.array(
        [
            triangle
            for i in range(frequency)
            for j in range(frequency - i)
            for triangle in (((i, j), (i + 1, j), (i, j + 1)), ((i + 1, j), (i + 1, j + 1), (i, j + 1)))
            if sum(triangle[1]) <= frequency
        ]
    )
    (i, j), (a, b, c) = np.moveaxis(grid, -1, 0)[..., None], corners[np.array(faces).T][:, :, None, None]
    points = ((a * (frequency - i - j) + b * i + c * j) / frequency).reshape(-1, 3)
    # Neighboring faces share the points of their edge; numbered in the order in which they occur.
    rounded = np.round(points, 6) + 0.0
    _, first, kind = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    order = first.argsort()
    vectors, numbers = normalized(points[first[order]]), order.argsort()[kind.reshape(-1, 3)]
    a, b, c = (vectors[column] for column in numbers.T)
    is_inward = dot(a, cross(b, c)) < 0
    numbers[is_inward] = numbers[is_inward][:, ::-1]
    # In a triangle without an obtuse angle, the circumcenter is farthest from the corners.
    covering_cosine = np.abs(dot(normalized(cross(b - a, c - a)), a)).min()
    return GeodesicDirections(vectors, numbers, float(covering_cosine))
