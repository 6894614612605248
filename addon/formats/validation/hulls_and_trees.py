"""Consistency of hulls (closed, convex, counter-clockwise) and of sphere trees (each node has one parent)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.fitting.quickhull import max_height_above
from ...core.numeric.arrays import Floats, Ints, cross, dot, length

_BULGE = 1e-5
"""Largest height of a vertex above a face, relative to the hull's size, because vertices are rounded."""


def detailed_problems(shapes: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the problems of the hull and the tree of a group of shapes that is correct by the schema."""
    if hull := shapes.get("hull"):
        yield from _hull_problems(hull, f"{path}.hull")
    if tree := shapes.get("spheres"):
        yield from _tree_problems(tree, f"{path}.spheres")


def _hull_problems(hull: dict[str, Any], path: str) -> Iterator[str]:
    vertices = np.array(hull["vertices"], dtype=np.float64)
    numbers = np.array(hull["faces"], dtype=np.float64)  # because JSON allows 1e30 and 1.0 as integers
    if numbers.max() >= len(vertices):
        yield f"{path}.faces: refer to vertex {numbers.max():.15g} of {len(vertices)}"
        return
    faces = numbers.astype(np.int64)
    used = np.bincount(faces.reshape(-1), minlength=len(vertices)) > 0
    if not used.all():
        yield f"{path}.vertices: vertex {int(used.argmin())} is in no face"
        return
    if not _is_closed_surface(faces, len(vertices)):
        yield f"{path}.faces: are not a closed surface"
        return
    if _count_pieces(faces, len(vertices)) > 1:
        yield f"{path}.faces: are several surfaces"
        return
    # By Euler's formula for a closed surface in one piece, without tunnels, whose vertices have one fan of
    # faces each.
    if len(faces) != 2 * len(vertices) - 4:
        yield f"{path}.faces: are not a surface like that of a ball"
        return
    # Centered and scaled to unit size, so that no product overflows or underflows.
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = float((high / 2 - low / 2).max()) or 1.0
    yield from _convexity_problems((vertices / size) - (low / 2 / size + high / 2 / size), faces, path)


def _convexity_problems(points: Floats, faces: Ints, path: str) -> Iterator[str]:
    """Problems of a closed surface in one piece, whose vertices (v, 3) are around the origin.

    If no vertex is above any face, all faces lie in the surface of the convex hull of the vertices and face
    outward. The surface then covers that of the hull a whole number of times, which is once if the volume
    is the hull's: as seen from inside, the faces fill the full solid angle just once.
    """
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    if float(dot(a, cross(b, c)).sum()) <= 0:
        yield f"{path}.faces: are clockwise as seen from outside"
        return
    # The normals of slivers are uncertain, so these are shorter than the others.
    normals /= np.maximum(length(normals), _BULGE)[:, None]
    if (max_height_above(points, normals, dot(normals, a)) > _BULGE).any():
        yield f"{path}: is not convex"
        return
    a, b, c = (corner - points.mean(axis=0) for corner in (a, b, c))
    # Solid angle of a triangle (Van Oosterom and Strackee 1983).
    sizes = [length(corner) for corner in (a, b, c)]
    below = sizes[0] * sizes[1] * sizes[2]
    below += dot(a, b) * sizes[2] + dot(b, c) * sizes[0] + dot(c, a) * sizes[1]
    angle = float(2 * np.arctan2(dot(a, cross(b, c)), below).sum())
    if angle > 6 * np.pi:
        yield f"{path}.faces: cover the surface of the hull {round(angle / (4 * np.pi))} times"


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


def _tree_problems(tree: list[dict[str, Any]], path: str) -> Iterator[str]:
    parents = [0] * len(tree)
    listed: list[int] = []
    for index, node in enumerate(tree):
        if len(node["children"]) == 1:
            yield f"{path}[{index}].children: must be two, or none"
        for child in node["children"]:
            if not index < child < len(tree):
                yield f"{path}[{index}].children: {child} is not the index of a later node"
            else:
                parents[int(child)] += 1
                listed.append(int(child))
    if any(count != 1 for count in parents[1:]):
        yield f"{path}: each node except the root must be the child of exactly one node"
    elif listed != list(range(1, len(tree))):
        yield f"{path}: nodes are not breadth-first, level by level and in the order of their parents"
