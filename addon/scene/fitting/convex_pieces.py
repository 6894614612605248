"""Subjects split into convex parts, once for all that have the same mesh."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import convex_parts
from ...core.numeric.arrays import length, require_finite
from ..subjects.geometry import SubjectGeometry


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
    # In object space, where scale makes notches at most as deep as in the world.
    scale = float(np.linalg.norm(piece.geometry.matrix[:3, :3], 2)) if tolerance else 0.0
    depth = tolerance / scale if scale > 0 else 0.0
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
    return [piece._replace(geometry=piece.geometry._replace(points=part)) for part in known[key]]
