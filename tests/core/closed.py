"""What a closed convex surface must be, in exact fractions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.core.exact import cross, dot, minus, vector


def triangles(faces: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Polygons cut from their first corner, and from their last: exporters may do either."""
    fans = [[(f[0], f[k], f[k + 1]) for k in range(1, len(f) - 1)] for f in faces]
    others = [[(f[-1], f[k], f[k + 1]) for k in range(len(f) - 2)] for f in faces]
    return list({triangle for each in (*fans, *others) for triangle in each})


def assert_closed(vertices: np.ndarray, faces: Sequence[Sequence[int]]) -> None:
    """Every edge lies between two faces that run along it in opposite directions; one piece (Euler)."""
    directed = [(face[k - 1], face[k]) for face in faces for k in range(len(face))]
    assert len(set(directed)) == len(directed)
    assert all((b, a) in set(directed) for a, b in directed)
    assert len(vertices) - len(directed) // 2 + len(faces) == 2
    assert {index for face in faces for index in face} == set(range(len(vertices)))


def assert_holds(vertices: np.ndarray, faces: Sequence[Sequence[int]], points: np.ndarray) -> None:
    """No point is on the outer side of any face, however its polygon is cut into triangles.

    Exact where it is near: what float64 says lies deep below a face does.
    """
    corners = [vector(v) for v in vertices]
    cut = triangles(faces)
    a, b, c = (vertices[[triangle[k] for triangle in cut]] for k in range(3))
    normals = np.cross(b - a, c - a)
    heights = points @ normals.T - (normals * a).sum(axis=1)
    reach = np.abs(points).max() + np.abs(vertices).max()
    deep = 1e-12 * reach * np.linalg.norm(b - a, axis=1) * np.linalg.norm(c - a, axis=1)
    for row, column in np.argwhere(heights > -deep):
        first, second, third = (corners[index] for index in cut[column])
        normal = cross(minus(second, first), minus(third, first))
        assert dot(minus(vector(points[row]), first), normal) <= 0


def volume(vertices: np.ndarray, faces: Sequence[Sequence[int]]) -> float:
    """By the tetrahedra from the middle to each triangle of a fan."""
    middle = vertices.mean(axis=0)
    total = 0.0
    for face in faces:
        for k in range(1, len(face) - 1):
            a, b, c = (vertices[face[i]] - middle for i in (0, k, k + 1))
            total += float(np.cross(a, b) @ c) / 6
    return total
