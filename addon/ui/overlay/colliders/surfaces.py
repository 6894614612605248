"""Triangles of collider surfaces in world space, with shading. NumPy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core.numeric.arrays import Floats

_LIGHT = np.array((0.36, -0.48, 0.8))
"""Direction to the light, of length 1, which keeps a sphere from being seen as a disc."""
_DARKEST = 0.55
"""Brightness of faces that the light does not reach."""


class ColliderSurface(NamedTuple):
    """Surface of a collider: points (m, 3) in the space of its object, and triangles (t, 3) of them."""

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]


class DrawnTriangles(NamedTuple):
    """Corners (3 t, 3) of triangles in world space, and a color (3 t, 4) for each corner."""

    corners: NDArray[np.float32]
    colors: NDArray[np.float32]


def shaded_triangles(
    surfaces: Sequence[ColliderSurface], matrices: Floats, color: Sequence[float]
) -> DrawnTriangles:
    """Return the triangles of surfaces in world space, counter-clockwise seen from outside, with shading.

    `matrices` (n, 4, 4) are those of the surfaces' objects.
    """
    corners = [
        # A mirrored object has its triangles clockwise.
        (surface.points @ matrix[:3, :3].T + matrix[:3, 3])[
            surface.triangles if np.linalg.det(matrix[:3, :3]) >= 0 else surface.triangles[:, ::-1]
        ]
        for surface, matrix in zip(surfaces, matrices, strict=True)
    ]
    joined = np.concatenate([np.empty((0, 3, 3)), *corners])
    normals = np.cross(joined[:, 1] - joined[:, 0], joined[:, 2] - joined[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    lit = np.maximum(normals @ _LIGHT, 0) / np.where(sizes > 0, sizes, 1)
    colors = np.tile(np.array(color), (len(joined), 1))
    colors[:, :3] *= (_DARKEST + (1 - _DARKEST) * lit)[:, None]
    return DrawnTriangles(
        joined.reshape(-1, 3).astype(np.float32), colors.repeat(3, axis=0).astype(np.float32)
    )
