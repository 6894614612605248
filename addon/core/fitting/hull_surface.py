"""Surfaces of convex hulls: their consistency, in bounded memory, and hulls that are moved far away.

So far away that few numbers are left within their size, rounding bends faces, and vertices coincide.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShapeError
from ..numeric.arrays import Floats, Ints, cross, dot, length
from ..numeric.components import connected_components
from ..shapes import Aabb
from .convex_hull import ConvexHull, hull_from_points
from .quickhull import is_closed_surface, max_height_above

_BULGE = 1e-5
"""Largest height of a vertex above a face, relative to the hull's size, because vertices are rounded."""
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


def hull_defect(vertices: Floats, faces: Ints) -> str:
    """Describe why triangles are not the surface of a convex hull; empty for a correct hull.

    Vertices can be above faces by a hundred-thousandth of the size. The time grows as the product of the
    numbers of vertices and faces, the memory as their sum.

    vertices : (v, 3) float64. Finite, v >= 4.
    faces : (f, 3) int64. Indices of vertices, counter-clockwise from outside, f >= 4.
    Returns defect : str. Such as "faces: are not a closed surface".
    """
    used = np.bincount(faces.reshape(-1), minlength=len(vertices)) > 0
    if not used.all():
        return f"vertices: vertex {int(used.argmin())} is in no face"
    if not is_closed_surface(faces, len(vertices)):
        return "faces: are not a closed surface"
    sides = np.concatenate([faces[:, :2], faces[:, 1:]])
    if connected_components(len(vertices), sides).any():
        return "faces: are several surfaces"
    # By Euler's formula for a closed surface in one piece, without tunnels, whose vertices have one fan of
    # faces each.
    if len(faces) != 2 * len(vertices) - 4:
        return "faces: are not a surface like that of a ball"
    # Centered and scaled to unit size, so that no product overflows or underflows.
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = float((high / 2 - low / 2).max()) or 1.0
    points = (vertices - (low / 2 + high / 2)) / size
    # If no vertex is above any face, all faces lie in the surface of the convex hull and face outward. The
    # surface then covers that of the hull a whole number of times.
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    if float(dot(a, cross(b, c)).sum()) <= 0:
        return "faces: are clockwise as seen from outside"
    # The normals of slivers are uncertain, so these are shorter than the others.
    normals /= np.maximum(length(normals), _BULGE)[:, None]
    if (max_height_above(points, normals, dot(normals, a)) > _BULGE).any():
        return "faces: are not convex"
    a, b, c = (corner - points.mean(axis=0) for corner in (a, b, c))
    # That number is the number of full solid angles that the faces fill as seen from inside (Van Oosterom and
    # Strackee 1983).
    sizes = [length(corner) for corner in (a, b, c)]
    below = sizes[0] * sizes[1] * sizes[2]
    below += dot(a, b) * sizes[2] + dot(b, c) * sizes[0] + dot(c, a) * sizes[1]
    angle = float(2 * np.arctan2(dot(a, cross(b, c)), below).sum())
    return f"faces: cover the hull {round(angle / (4 * np.pi))} times" if angle > 6 * np.pi else ""


def moved_hull(hull: ConvexHull, offset: Floats) -> ConvexHull:
    """Move a hull. Conservative: what a hull of `hull_from_points` encloses, moved exactly, stays inside.

    It gets other vertices and faces if it is far away, where rounding would bend the faces.
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
    return ConvexHull(Aabb.unchecked(low, high).corners(), np.array(_BOX_FACES))
