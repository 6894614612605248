"""Consistency of a surface of triangles as the surface of a convex hull, in bounded memory."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, Ints, cross, dot, length
from .quickhull import max_height_above

_BULGE = 1e-5
"""Largest height of a vertex above a face, relative to the hull's size, because vertices are rounded."""


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
    if not _is_closed_surface(faces, len(vertices)):
        return "faces: are not a closed surface"
    if _count_pieces(faces, len(vertices)) > 1:
        return "faces: are several surfaces"
    # By Euler's formula for a closed surface in one piece, without tunnels, whose vertices have one fan of
    # faces each.
    if len(faces) != 2 * len(vertices) - 4:
        return "faces: are not a surface like that of a ball"
    # Centered and scaled to unit size, so that no product overflows or underflows.
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = float((high / 2 - low / 2).max()) or 1.0
    return _convexity_defect((vertices - (low / 2 + high / 2)) / size, faces)


def _convexity_defect(points: Floats, faces: Ints) -> str:
    """Describe what is wrong with a closed surface in one piece, with vertices (v, 3) around the origin.

    If no vertex is above any face, all faces lie in the surface of the convex hull of the vertices and face
    outward. The surface then covers that of the hull a whole number of times. The number is that of full
    solid angles that the faces fill as seen from inside.
    """
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    if float(dot(a, cross(b, c)).sum()) <= 0:
        return "faces: are clockwise as seen from outside"
    # The normals of slivers are uncertain, so these are shorter than the others.
    normals /= np.maximum(length(normals), _BULGE)[:, None]
    if (max_height_above(points, normals, dot(normals, a)) > _BULGE).any():
        return "faces: are not convex"
    a, b, c = (corner - points.mean(axis=0) for corner in (a, b, c))
    # Solid angle of a triangle (Van Oosterom and Strackee 1983).
    sizes = [length(corner) for corner in (a, b, c)]
    below = sizes[0] * sizes[1] * sizes[2]
    below += dot(a, b) * sizes[2] + dot(b, c) * sizes[0] + dot(c, a) * sizes[1]
    angle = float(2 * np.arctan2(dot(a, cross(b, c)), below).sum())
    return f"faces: cover the hull {round(angle / (4 * np.pi))} times" if angle > 6 * np.pi else ""


def _is_closed_surface(faces: Ints, count: int) -> bool:
    """Return whether each edge of faces (f, 3) has one face in each direction."""
    start, end = faces.reshape(-1), np.roll(faces, -1, axis=1).reshape(-1)
    there, back = np.sort(start * count + end), np.sort(end * count + start)
    return bool((there[1:] != there[:-1]).all() and (start != end).all() and np.array_equal(there, back))


def _count_pieces(faces: Ints, count: int) -> int:
    """Return the number of connected pieces of faces (f, 3).

    Each vertex takes the lowest number among its faces, and that of the vertex with this number, until
    nothing changes: numbers spread twice as far in each round.
    """
    lowest = np.arange(count)
    while True:
        before = lowest.copy()
        for corner in range(3):
            np.minimum.at(lowest, faces[:, corner], before[faces].min(axis=1))
        lowest = np.minimum(lowest, lowest[lowest])
        if np.array_equal(lowest, before):
            return len(np.unique(lowest))
