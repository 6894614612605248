"""Convex hulls moved so far that float64 has only a few numbers within their size."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShapeError
from ..numeric.arrays import Floats
from .convex_hull import ConvexHull, hull_from_points

_FAR = 1e-8
"""Vertices are far if the distance of neighboring numbers is more than this fraction of the hull's size. The
vertices of a hull are farther outside than that."""
_MARGIN = 3.0
"""Least distance of far vertices below the faces, in distances of neighboring numbers."""
_BOX_FACES = [
    *((0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4)),
    *((2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)),
]
"""Triangles of a box, counter-clockwise from outside; bits 0, 1 and 2 of a corner's index are x, y and z."""


def moved_hull(hull: ConvexHull, offset: Floats) -> ConvexHull:
    """Move a hull. Conservative: what a hull of `hull_from_points` encloses, moved exactly, stays inside.

    hull : In any space and unit.
    offset : (3,) float64. In the same space and unit.
    Returns moved : ConvexHull. With other vertices and faces if it is far away, where rounding would bend
        the faces.
    """
    moved = ConvexHull(hull.vertices + offset, hull.faces)
    return hull_around_far(moved.vertices) if are_far(moved.vertices) else moved


def are_far(vertices: Floats) -> bool:
    """Return whether rounding at the place of vertices (v, 3) can bend the faces of their hull."""
    spacing = float(np.spacing(np.abs(vertices).max()))
    return spacing > _FAR * float(np.ptp(vertices, axis=0).max())


def hull_around_far(vertices: Floats) -> ConvexHull:
    """Fit a hull around vertices (v, 3), each of which can be off by the distance of neighboring numbers.

    The hull is fitted in multiples of that distance, so the vertices of the result are not rounded. A hull
    that is too small for that becomes a box.
    """
    spacing = float(2 * np.spacing(np.abs(vertices).max()))
    # A multiple of a power of two, so that sums of it and of other multiples are exact.
    origin = np.rint(vertices.mean(axis=0) / spacing) * spacing
    steps = (vertices - origin) / spacing
    try:
        inner = hull_from_points(steps, max(len(vertices), 8), 0, _MARGIN)
    except InvalidShapeError:
        low, high = np.floor(steps.min(axis=0) - _MARGIN), np.ceil(steps.max(axis=0) + _MARGIN)
        inner = box_hull(low, high)
    return ConvexHull(origin + inner.vertices * spacing, inner.faces)


def box_hull(low: Floats, high: Floats) -> ConvexHull:
    """Return the box from `low` (3,) to `high` (3,) as a hull."""
    corners = np.where(np.arange(8)[:, None] >> np.arange(3) & 1, high, low)
    return ConvexHull(corners, np.array(_BOX_FACES))
