"""Triangles of collider surfaces in world space, with shading. NumPy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....core.numeric.arrays import Floats, Ints

_LIGHT = np.array((0.36, -0.48, 0.8))
"""Direction to the light, of length 1, which keeps a sphere from being seen as a disc."""
_DARKEST = 0.55
"""Brightness of faces that the light does not reach."""


class ColliderSurface(NamedTuple):
    """Surface of a collider: points (m, 3) in the space of its object, and triangles (t, 3) of them."""

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]


class JoinedSurfaces(NamedTuple):
    """Surfaces of several colliders in one.

    Attributes
    ----------
    points : (m, 3) float32
        Each in the space of its object.
    triangles : (t, 3) int32
    point_owner, triangle_owner : (m,) and (t,) int
        Number of the surface that a point or a triangle is of.
    """

    points: NDArray[np.float32]
    triangles: NDArray[np.int32]
    point_owner: Ints
    triangle_owner: Ints

    @classmethod
    def of(cls, surfaces: Sequence[ColliderSurface]) -> JoinedSurfaces:
        """Join surfaces, at least one."""
        point_counts = [len(surface.points) for surface in surfaces]
        triangle_counts = [len(surface.triangles) for surface in surfaces]
        offsets = np.cumsum([0, *point_counts[:-1]], dtype=np.int32)
        numbers = np.arange(len(surfaces))
        triangles = np.concatenate([surface.triangles for surface in surfaces])
        return cls(
            np.concatenate([surface.points for surface in surfaces]),
            triangles + offsets.repeat(triangle_counts)[:, None],
            numbers.repeat(point_counts),
            numbers.repeat(triangle_counts),
        )


class DrawnTriangles(NamedTuple):
    """Corners (3 t, 3) of triangles in world space, and a color (3 t, 4) for each corner."""

    corners: NDArray[np.float32]
    colors: NDArray[np.float32]


def shaded_triangles(surfaces: JoinedSurfaces, matrices: Floats, color: Sequence[float]) -> DrawnTriangles:
    """Return the triangles of surfaces in world space, counter-clockwise seen from outside, with shading.

    `matrices` (n, 4, 4) are those of the surfaces' objects.
    """
    axes = matrices[:, :3, :3]
    points = np.einsum("mij,mj->mi", axes[surfaces.point_owner], surfaces.points)
    points += matrices[:, :3, 3][surfaces.point_owner]
    # A mirrored object has its triangles clockwise.
    is_mirrored = (np.linalg.det(axes) < 0)[surfaces.triangle_owner]
    triangles = np.where(is_mirrored[:, None], surfaces.triangles[:, ::-1], surfaces.triangles)
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    lit = np.maximum(normals @ _LIGHT, 0) / np.where(sizes > 0, sizes, 1)
    colors = np.tile(np.array(color, dtype=np.float32), (len(corners), 1))
    colors[:, :3] *= (_DARKEST + (1 - _DARKEST) * lit)[:, None]
    return DrawnTriangles(corners.reshape(-1, 3).astype(np.float32), colors.repeat(3, axis=0))
