"""Assertions about closed convex surfaces, in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.core.exact import cross, dot, subtract, vector, whole


def fan_triangles(faces: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Triangulate polygons as fans from their first and from their last corner: exporters may use either."""
    first_fans = [[(f[0], f[k], f[k + 1]) for k in range(1, len(f) - 1)] for f in faces]
    last_fans = [[(f[-1], f[k], f[k + 1]) for k in range(len(f) - 2)] for f in faces]
    return list({triangle for fan in (*first_fans, *last_fans) for triangle in fan})


def assert_closed(vertices: np.ndarray, faces: Sequence[Sequence[int]]) -> None:
    """Assert that two faces share every edge in opposite directions, and one component (Euler)."""
    directed = [(face[k - 1], face[k]) for face in faces for k in range(len(face))]
    assert len(set(directed)) == len(directed)
    assert all((b, a) in set(directed) for a, b in directed)
    assert len(vertices) - len(directed) // 2 + len(faces) == 2
    assert {index for face in faces for index in face} == set(range(len(vertices)))


def assert_encloses(vertices: np.ndarray, faces: Sequence[Sequence[int]], points: np.ndarray) -> None:
    """Assert that no point is outside of any face, for both fans of its polygon.

    Points near a face are tested exactly; float64 is accurate enough for points deep below it.
    """
    fans = fan_triangles(faces)
    a, b, c = (vertices[[triangle[k] for triangle in fans]] for k in range(3))
    normals = np.cross(b - a, c - a)
    heights = points @ normals.T - (normals * a).sum(axis=1)
    size = np.abs(points).max() + np.abs(vertices).max()
    deep = 1e-12 * size * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    rows, columns = np.nonzero(heights > -deep)
    near = np.unique(rows).tolist()
    exact, _ = whole(*map(vector, vertices), *(vector(points[row]) for row in near))
    exact_point = dict(zip(near, exact[len(vertices) :], strict=True))
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        first, second, third = (exact[index] for index in fans[column])
        normal = cross(subtract(second, first), subtract(third, first))
        assert dot(subtract(exact_point[row], first), normal) <= 0


def volume(vertices: np.ndarray, faces: Sequence[Sequence[int]]) -> float:
    """Volume: the sum of the tetrahedra from the mean vertex to each triangle of a fan."""
    middle = vertices.mean(axis=0)
    total = 0.0
    for face in faces:
        for k in range(1, len(face) - 1):
            a, b, c = (vertices[face[i]] - middle for i in (0, k, k + 1))
            total += float(np.cross(a, b) @ c) / 6
    return total
