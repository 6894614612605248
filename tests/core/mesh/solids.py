"""Small meshes for tests of pairs, and their contact from definitions: crossing edges and winding numbers."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from addon.core.mesh.triangle_mesh import TriangleMesh
from addon.core.shapes.primitives import triangles_from_corners
from tests.core import meshes
from tests.core.mesh.triangle_pairs import separation_triangle_triangle

_NEXT = [1, 2, 0]


class Body:
    """A mesh as corners (t, 3, 3), closed or not."""

    def __init__(self, corners: np.ndarray, is_closed: bool = True) -> None:
        """Keep the corners."""
        self.corners, self.is_closed = np.asarray(corners, dtype=float), is_closed

    @cached_property
    def mesh(self) -> TriangleMesh:
        """One mesh for all uses, so that batches share its tree."""
        return TriangleMesh(triangles_from_corners(self.corners))

    @property
    def reach(self) -> float:
        """Distance of the farthest corner from the origin."""
        return float(np.linalg.norm(self.corners, axis=-1).max())

    def posed(self, matrix: np.ndarray) -> np.ndarray:
        """World-space corners (..., t, 3, 3) for matrices (..., 4, 4)."""
        linear, offset = matrix[..., None, None, :3, :3], matrix[..., None, None, :3, 3]
        return (linear @ self.corners[..., None])[..., 0] + offset


def octahedron() -> np.ndarray:
    """Corners of an octahedron with its tips at distance 1, counter-clockwise seen from outside."""
    triangles = []
    for signs in np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, 8).T:
        tips = np.diag(signs)
        triangles.append(tips if signs.prod() > 0 else tips[::-1])
    return np.array(triangles)


def icosphere(halvings: int) -> np.ndarray:
    """Corners of an octahedron whose edges are halved and moved out to the unit sphere."""
    corners = octahedron()
    for _ in range(halvings):
        a, b, c = corners.swapaxes(0, 1)
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        parts = (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)
        corners = np.concatenate([np.stack(part, axis=1) for part in parts])
    return corners / np.linalg.norm(corners, axis=-1, keepdims=True)


def box(x: float, y: float, z: float) -> np.ndarray:
    """Corners of a box with these half extents."""
    return meshes.cube() * [x, y, z]


def shell(outer: float, inner: float) -> np.ndarray:
    """Corners of a ball with a ball-shaped cavity."""
    ball = icosphere(1)
    return np.concatenate([ball * outer, (ball * inner)[:, ::-1]])


FAMILIES = {
    "ball": Body(icosphere(1)),
    "egg": Body(icosphere(1) * [1.2, 0.5, 0.3]),
    "torus": Body(meshes.torus(8, 5, 0.8, 0.3)),
    "box": Body(box(0.7, 0.5, 0.4)),
    "plank": Body(box(1.2, 0.05, 0.6)),
    "sheet": Body(meshes.plate(2, 1.6) - [0.8, 0.8, 0], is_closed=False),
    "triangle": Body([[[1, 0, 0.2], [-0.6, 0.9, 0], [-0.5, -0.8, 0.1]]], is_closed=False),
    "pieces": Body(np.concatenate([box(0.3, 0.2, 0.2) - [0.7, 0, 0], octahedron() * 0.4 - [-0.7, 0, 0]])),
    "large box": Body(box(2.2, 2.2, 2.2)),
}


def surfaces_cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Decide for which of k cases an edge of one surface passes through a triangle of the other.

    a, b : (k, t, 3, 3) and (k, u, 3, 3). In general position: no four corners in a plane.
    """
    low_a, high_a, low_b, high_b = (each(side, axis=2) for side in (a, b) for each in (np.min, np.max))
    is_near = np.ones((len(a), a.shape[1], b.shape[1]), dtype=bool)
    for axis in range(3):
        is_near &= low_a[..., None, axis] <= high_b[:, None, :, axis]
        is_near &= low_b[:, None, :, axis] <= high_a[..., None, axis]
    case, i, j = np.nonzero(is_near)
    first, second = a[case, i], b[case, j]
    crossing = _edges_pass(first, second) | _edges_pass(second, first)
    return np.bincount(case[crossing], minlength=len(a)) > 0


def _edges_pass(edges: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Decide for which pairs (n,) an edge of the first triangle passes through the second."""
    start, end = edges, edges[:, _NEXT]
    height = _volumes(*(faces[:, None, k] - start for k in range(3)))
    is_through = height * height[:, _NEXT] < 0
    sides = [
        _volumes(end - start, faces[:, None, k] - start, faces[:, None, _NEXT[k]] - start) for k in range(3)
    ]
    is_through &= (np.min(sides, axis=0) > 0) | (np.max(sides, axis=0) < 0)
    return is_through.any(axis=1)


def _volumes(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    return (np.cross(u, v) * w).sum(axis=-1)


def winding_numbers(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Winding numbers (k, v) of surfaces with corners (k, t, 3, 3) around points (k, v, 3).

    Sums of solid angles (Van Oosterom and Strackee 1983).
    """
    a, b, c = np.moveaxis(corners[:, None] - points[:, :, None, None], -2, 0)
    x, y, z = (np.linalg.norm(each, axis=-1) for each in (a, b, c))
    cosines = x * y * z
    for u, v, w in ((a, b, z), (b, c, x), (c, a, y)):
        cosines += (u * v).sum(axis=-1) * w
    angles = 2 * np.arctan2(_volumes(a, b, c), cosines)
    return np.rint(angles.sum(axis=-1) / (4 * np.pi)).astype(int)


def bodies_overlap(a: Body, pose_a: np.ndarray, b: Body, pose_b: np.ndarray) -> np.ndarray:
    """Decide in which of k pairs of poses (k, 4, 4) surfaces cross or a body holds a corner of the other."""
    first, second = a.posed(pose_a), b.posed(pose_b)
    result = surfaces_cross(first, second)
    for inner, outer, body in ((first, second, b), (second, first, a)):
        if body.is_closed:
            low, high = outer.min(axis=(1, 2)), outer.max(axis=(1, 2))
            is_near = (inner.min(axis=(1, 2)) < high) & (inner.max(axis=(1, 2)) > low)
            for row in np.flatnonzero(is_near.all(axis=1) & ~result):
                points = np.unique(inner[row].reshape(-1, 3), axis=0)
                result[row] = (winding_numbers(points[None], outer[row][None]) != 0).any()
    return result


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distances (k,) of surfaces with corners (k, t, 3, 3) and (k, u, 3, 3), over all pairs of triangles."""
    gaps = np.zeros((len(a), a.shape[1], b.shape[1], 3))
    for one, other in ((a[:, :, None], b[:, None]), (b[:, None], a[:, :, None])):
        gaps = np.maximum(gaps, one.min(axis=-2) - other.max(axis=-2))
    # No pair is nearer than its boxes are, and one is as near as any two corners.
    least = np.linalg.norm(a[:, :, None, 0] - b[:, None, :, 0], axis=-1).min(axis=(1, 2))
    case, i, j = np.nonzero(np.linalg.norm(gaps, axis=-1) <= least[:, None, None])
    pairs = triangles_from_corners(a[case, i]), triangles_from_corners(b[case, j])
    result = np.full(len(a), np.inf)
    np.minimum.at(result, case, separation_triangle_triangle(*pairs))
    return result


def straight(start: np.ndarray, end: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Interpolate matrices (..., 4, 4) at times (...), entry by entry: corners move in straight lines."""
    part = np.asarray(times, dtype=float)[..., None, None]
    return start * (1 - part) + end * part
