"""Points whose convex hull has a volume and holds the padding, for hulls of flat or small meshes."""

from __future__ import annotations

import numpy as np

from ...core import InvalidShapeError, hull_from_points
from ...core.messages import message
from ...core.numeric.arrays import UNIT_BOX_CORNERS, Floats
from ...formats.export.gltf_collider_nodes import minimum_thickness


def inflated_points(points: Floats, axes: Floats, lengths: Floats, padding: float) -> Floats:
    """Points whose hull has a volume, and encloses the hull of other points with the padding.

    Without padding, points whose hull is thick enough are returned as they are.

    points : (n, 3) float64. Points in any space.
    axes : (3, 3) float64. Columns one world unit long and orthogonal in the world, in the space of the
        points.
    lengths : (3,) float64. Lengths of the points' own units in the world.
    padding : Length in the world.
    Returns points : (m, 3) float64
    Raises InvalidShapeError: for a negative padding.
    """
    if padding < 0:
        raise InvalidShapeError(message("a hull cannot shrink: use a padding of 0 or more"))
    # Infinite for points that are too far away for float32. The caller refuses the result.
    with np.errstate(over="ignore"):
        spacing = float(np.spacing(np.float32(np.abs(points).max())))
    centered = np.linalg.solve(axes, (points - points.mean(axis=0)).T).T
    # Extents along the principal axes show how thick the points are in any direction.
    principal = np.linalg.eigh(np.einsum("ni,nj->ij", centered, centered))[1]
    sides = np.ptp(np.einsum("ni,ij->nj", centered, principal), axis=0)
    thickness = max(minimum_thickness(float(sides.max())), 16 * spacing * float(lengths.max()))
    if sides.min() < thickness:
        padding = max(padding, thickness / 2)
    elif padding:
        points = hull_from_points(points).vertices
    if not padding:
        return points
    return (points[:, None] + padding * UNIT_BOX_CORNERS @ axes.T).reshape(-1, 3)
