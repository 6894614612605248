# SPDX-License-Identifier: GPL-3.0-or-later
"""Minimal spheres, and distances of points to the surfaces of written shapes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np


def _circumcenter(points: np.ndarray) -> np.ndarray:
    """Center of the smallest sphere through at most four points."""
    edges = points[1:] - points[0]
    if not len(edges):
        return points[0]
    return points[0] + np.linalg.lstsq(edges, 0.5 * (edges**2).sum(axis=1), rcond=None)[0]


def _minimal_sphere_of_few(points: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """Exact minimal sphere of at most five points: center, radius and support points. Tries every subset."""
    best: tuple[np.ndarray, float, np.ndarray] | None = None
    for size in range(1, min(4, len(points)) + 1):
        for subset in itertools.combinations(range(len(points)), size):
            support = points[list(subset)]
            center = _circumcenter(support)
            radius = float(np.sqrt(((points - center) ** 2).sum(axis=1).max()))
            if best is None or radius < best[1]:
                best = center, radius, support
    assert best is not None
    return best


def minimal_sphere(points: np.ndarray) -> tuple[np.ndarray, float]:
    """Minimal enclosing sphere: center, and the distance from it to the farthest point.

    In each step the farthest point outside joins the support points, at most four, of the last sphere. The
    exact minimal sphere of these points has a radius that is a lower limit. The returned radius is an upper
    limit. Both must agree within 1e-8.
    """
    origin = points.mean(axis=0)
    offsets = points - origin
    center, lower, support = offsets[0], 0.0, offsets[:1]
    best_center, best = center, np.inf
    for _ in range(100):
        distances = np.sqrt(((offsets - center) ** 2).sum(axis=1))
        farthest = int(distances.argmax())
        if distances[farthest] < best:
            best_center, best = center, float(distances[farthest])
        if best <= lower * (1.0 + 1e-12):
            break
        center, lower, support = _minimal_sphere_of_few(np.vstack([support, offsets[farthest]]))
    assert best <= lower * (1.0 + 1e-8), "the minimal sphere of the test did not converge"
    return best_center + origin, best


def rotation_matrix(quaternion: Iterable[float]) -> np.ndarray:
    """Rotation matrix of a quaternion (x, y, z, w) of any length."""
    x, y, z, w = np.asarray(quaternion, dtype=np.float64) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def sphere_excess(shape: dict, points: np.ndarray) -> float:
    """Greatest signed distance of a point from the surface of a written sphere, negative inside."""
    offsets = points - np.array(shape["center"], dtype=np.float64)
    return float(np.sqrt((offsets**2).sum(axis=1)).max()) - shape["radius"]


def aabb_excess(shape: dict, points: np.ndarray) -> float:
    """Greatest signed distance of a point from a face of a written box, along its axis, negative inside."""
    low, high = np.array(shape["min"]), np.array(shape["max"])
    return float(max((low - points.min(axis=0)).max(), (points.max(axis=0) - high).max()))


def obb_local_points(shape: dict, points: np.ndarray) -> np.ndarray:
    """Points in the frame of a written oriented box, relative to its center."""
    return (points - np.array(shape["center"])) @ rotation_matrix(shape["rotation"])


def obb_excess(shape: dict, points: np.ndarray) -> float:
    """Greatest signed distance of a point from a face of a written oriented box, negative inside."""
    return float((np.abs(obb_local_points(shape, points)) - np.array(shape["halfExtents"])).max())


def obb_looseness(shape: dict, points: np.ndarray) -> float:
    """Greatest distance between a face of a written oriented box and the outermost point on its side."""
    local, half = obb_local_points(shape, points), np.array(shape["halfExtents"])
    return float(max((half - local.max(axis=0)).max(), (local.min(axis=0) + half).max()))


def aabb_looseness(shape: dict, points: np.ndarray) -> float:
    """Greatest distance between a face of a written box and that of the box of the points."""
    low, high = np.array(shape["min"]), np.array(shape["max"])
    return float(max(np.abs(low - points.min(axis=0)).max(), np.abs(points.max(axis=0) - high).max()))
