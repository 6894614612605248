"""Distances of points beyond the shapes of a document. Shares no code with the extension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_POINTS_AT_ONCE = 1 << 13


def aabb_excess(shape: Any, points: Floats) -> float:
    """Return the largest distance of points (n, 3) beyond a face of a box, negative inside."""
    low, high = np.array(shape["min"]), np.array(shape["max"])
    return float(max((low - points.min(axis=0)).max(), (points.max(axis=0) - high).max()))


def sphere_excess(shape: Any, points: Floats) -> float:
    """Return the largest distance of points (n, 3) from the surface of a sphere, negative inside."""
    return float(_distances(points, shape["center"]).max() - shape["radius"])


def obb_excess(shape: Any, points: Floats) -> float:
    """Return the largest distance of points (n, 3) beyond a face of an oriented box, negative inside."""
    local = (points - np.array(shape["center"])) @ rotation_matrix(shape["rotation"])
    return float((np.abs(local) - np.array(shape["halfExtents"])).max())


def spheres_excess(nodes: Any, points: Floats) -> float:
    """Return the largest distance of points (n, 3) from the union of the leaves of a sphere tree."""
    leaves = [node for node in nodes if not node["children"]]
    excess = np.full(len(points), np.inf)
    for leaf in leaves:
        excess = np.minimum(excess, _distances(points, leaf["center"]) - leaf["radius"])
    return float(excess.max())


def hull_excess(shape: Any, points: Floats) -> float:
    """Return the largest height of points (n, 3) above a face of a hull, negative inside."""
    corners = np.array(shape["vertices"])[np.array(shape["faces"], dtype=np.int64)]
    first = corners[:, 0]
    normals = np.cross(corners[:, 1] - first, corners[:, 2] - first)
    area = np.sqrt((normals**2).sum(axis=1))
    normals, first = normals[area > 0] / area[area > 0, None], first[area > 0]
    heights = [((part @ normals.T) - (normals * first).sum(axis=1)).max() for part in _parts(points)]
    return float(max(heights))


EXCESS: dict[str, Callable[[Any, Floats], float]] = {
    "aabb": aabb_excess,
    "sphere": sphere_excess,
    "obb": obb_excess,
    "spheres": spheres_excess,
    "hull": hull_excess,
}
"""Function for each shape of a document: the distance of the farthest point beyond it."""


def rotation_matrix(quaternion: Any) -> Floats:
    """Return the rotation matrix of a quaternion (x, y, z, w)."""
    x, y, z, w = np.asarray(quaternion, dtype=np.float64) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _distances(points: Floats, center: Any) -> Floats:
    offsets = points - np.array(center)
    return np.asarray(np.sqrt((offsets**2).sum(axis=1)))


def _parts(points: Floats) -> Iterator[Floats]:
    for start in range(0, len(points), _POINTS_AT_ONCE):
        yield points[start : start + _POINTS_AT_ONCE]
