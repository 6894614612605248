"""Subjects split into convex parts, once for all that have the same mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import convex_parts
from ...core.numeric.arrays import Floats, length, require_finite
from ..subjects.geometry import SubjectGeometry

_CUT_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Largest error of a point of a cut, as a part of the largest coordinate of the mesh."""


def convex_pieces(
    known: dict[object, list[Any]], piece: SubjectGeometry, count: int, tolerance: float = 0.0
) -> list[SubjectGeometry]:
    """Split a subject into convex parts, each with the vertices of its own hull.

    The hulls of the parts together hold every triangle of the subject. Subjects without triangles, such as
    custom shapes, stay whole.

    Parameters
    ----------
    known : dict
        Points of the parts of meshes that are split already, which gets those of this one.
    piece : SubjectGeometry
        Geometry of the subject, with triangles.
    count : int
        Largest number of parts.
    tolerance : float
        Length in world units. Parts are not split further if no notch is deeper than this.

    Returns
    -------
    pieces : list of SubjectGeometry

    Raises
    ------
    CollisionBoundsError
        If vertices are not finite.
    """
    points, triangles = piece.geometry.points, piece.triangles
    if count == 1 or not len(triangles):
        return [piece]
    depth = depth_in_object(tolerance, piece.geometry.matrix[:3, :3])
    parts = split_points(known, points, triangles, count, depth)
    return [piece._replace(geometry=piece.geometry._replace(points=part)) for part in parts]


def split_points(
    known: dict[object, list[Any]], points: NDArray[Any], triangles: NDArray[Any], count: int, depth: float
) -> list[NDArray[Any]]:
    """Split a mesh into convex parts, each with the points of its own hull.

    Parameters
    ----------
    known : dict
        See `convex_pieces`.
    points : (n, 3) float32 or float64
        Vertices of the mesh.
    triangles : (t, 3) int
        Indices of points, t >= 1.
    count : int
        Largest number of parts.
    depth : float
        In the unit of the points. Parts are not split further if no notch is deeper than this.

    Returns
    -------
    parts : list of (k, 3) float32 or float64

    Raises
    ------
    CollisionBoundsError
        If points are not finite.
    """
    key = points.tobytes(), triangles.tobytes(), count, depth
    if key not in known:
        require_finite(points, "vertices")
        parts = convex_parts(points.astype(np.float64)[triangles], count, depth)
        loose = np.setdiff1d(np.arange(len(points)), triangles)
        if len(loose):
            # Vertices of no triangle are in the part whose middle is nearest.
            far = [length(points[loose] - part.mean(axis=0)) for part in parts]
            nearest = np.argmin(far, axis=0)
            parts = [np.concatenate([part, points[loose[nearest == k]]]) for k, part in enumerate(parts)]
        # Points of cuts are float64, as those of merged collections.
        known[key] = list(parts)
    return known[key]


def depth_in_object(tolerance: float, linear: Floats) -> float:
    """Convert a depth of notches from world units to those of an object with this linear part (3, 3).

    Scale makes notches at most as deep in the world.
    """
    scale = float(np.linalg.norm(linear, 2)) if tolerance else 0.0
    return tolerance / scale if scale > 0 else 0.0


def cut_rounding(points: NDArray[Any], linear: Floats) -> float:
    """Return the largest error of points of cuts, in the world: they can be on either side of a triangle.

    Parameters
    ----------
    points : (n, 3) float32 or float64
        Of the mesh.
    linear : (3, 3) float64
        Linear part of its world matrix.
    """
    return _CUT_ROUNDING * float(np.abs(points).max()) * float(np.linalg.norm(linear, 2))
