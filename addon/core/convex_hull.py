"""The convex hull of a few hundred points, and a few hundred points that stand for many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Floats, Ints, cross, dot, length, unit

_FLAT = 1e-10
"""Points this close to a plane or line through others, in units of their extent, are on it."""
_CELLS = 8
_CUBE = 6 * _CELLS * _CELLS
"""Cells of a cube map, each a small range of directions."""


class Hull(NamedTuple):
    """A convex hull around points (n, 3) with a volume.

    vertices : (v,) indices of the corners
    faces : (f, 3) indices of triangles, counter-clockwise from outside
    normals : (f, 3) of the faces, unit length
    edges : (e, 2) indices; sides : (e, 2) the faces on both sides of each
    """

    vertices: Ints
    faces: Ints
    normals: Floats
    edges: Ints
    sides: Ints


def convex_hull(points: Floats) -> Hull | None:
    """The hull of (n, 3) points of about unit extent; None where they lie in one plane.

    Points within 1e-10 of a face count as on it, so that the hull is exact to that. Points are added one by
    one; each addition looks at all faces at once.
    """
    corners = _tetrahedron(points)
    if corners is None:
        return None
    a, b, c, d = corners
    faces = np.array([[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
    normals, offsets = _planes(points, faces)
    inside = points[corners].mean(axis=0)
    turned = normals @ inside > offsets
    faces[turned] = faces[turned][:, ::-1]
    normals, offsets = _planes(points, faces)
    waiting = np.ones(len(faces), dtype=bool)
    rest = np.arange(len(points))
    while waiting.any():
        # The farthest point above a face is a corner of the hull.
        face = int(waiting.argmax())
        heights = (points[rest] * normals[face]).sum(axis=1) - offsets[face]
        top = int(heights.argmax()) if len(rest) else 0
        if not len(rest) or heights[top] <= _FLAT:
            waiting[face] = False
            continue
        point = rest[top]
        rest = np.delete(rest, top)
        seen = (normals * points[point]).sum(axis=1) - offsets > _FLAT
        seen[face] = True
        # The border of what the point sees: edges whose other side it does not see.
        edges = np.concatenate([faces[seen][:, [0, 1]], faces[seen][:, [1, 2]], faces[seen][:, [2, 0]]])
        keys = edges[:, 0] * len(points) + edges[:, 1]
        border = edges[~np.isin(edges[:, 1] * len(points) + edges[:, 0], keys)]
        fresh = np.column_stack([border, np.full(len(border), point)])
        fresh_normals, fresh_offsets = _planes(points, fresh)
        faces = np.concatenate([faces[~seen], fresh])
        normals = np.concatenate([normals[~seen], fresh_normals])
        offsets = np.concatenate([offsets[~seen], fresh_offsets])
        waiting = np.concatenate([waiting[~seen], np.ones(len(fresh), dtype=bool)])
    return _with_edges(faces, normals, len(points))


def representatives(points: Floats) -> Floats:
    """A few hundred of (n, 3) points that reach about as far as all of them in every direction.

    Seen from the middle, with the spread made equal in all directions, the farthest point of each of 384
    directions is kept, and the extremes along the axes. Approximate: their hull lacks a little.
    """
    middle = points.mean(axis=0)
    offset = points - middle
    spread = np.einsum("ni,nj->ij", offset, offset) / len(points)
    values, axes = np.linalg.eigh(spread)
    # Flat directions stay flat instead of being blown up to noise.
    scale = 1 / np.sqrt(np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300)))
    best, farthest = np.zeros(_CUBE), np.full(_CUBE, -1)
    for start in range(0, len(points), CHUNK_ROWS):
        seen = np.einsum("ni,ij->nj", offset[start : start + CHUNK_ROWS], axes) * scale
        size = np.abs(seen)
        axis = size.argmax(axis=1)
        rows = np.arange(len(seen))
        largest = np.maximum(size[rows, axis], 1e-300)
        along = [seen[rows, (axis + k) % 3] / largest for k in (1, 2)]
        cells = [np.minimum(((x + 1) * (_CELLS / 2)).astype(np.int64), _CELLS - 1) for x in along]
        cell = ((axis * 2 + (seen[rows, axis] > 0)) * _CELLS + cells[0]) * _CELLS + cells[1]
        distance = (seen * seen).sum(axis=1)
        farther = np.flatnonzero(distance > best[cell])
        order = farther[np.lexsort((distance[farther], cell[farther]))]
        last = order[np.flatnonzero(np.diff(cell[order], append=-1))]
        best[cell[last]], farthest[cell[last]] = distance[last], start + last
    extremes = [*points.argmin(axis=0), *points.argmax(axis=0)]
    chosen = np.unique([*extremes, *farthest[farthest >= 0]])
    kept: Floats = points[chosen]
    return kept


def _tetrahedron(points: Floats) -> list[int] | None:
    """Four points that are far from each other's plane; None if there are none."""
    a = int(points[:, 0].argmin())
    b = int(length(points - points[a]).argmax())
    along = unit(points[b] - points[a])
    from_line = length(cross(points - points[a], np.broadcast_to(along, points.shape)))
    c = int(from_line.argmax())
    if from_line[c] <= _FLAT:
        return None
    normal = unit(cross(points[b] - points[a], points[c] - points[a]))
    heights = np.abs(dot(points - points[a], np.broadcast_to(normal, points.shape)))
    d = int(heights.argmax())
    return None if heights[d] <= _FLAT else [a, b, c, d]


def _planes(points: Floats, faces: Ints) -> tuple[Floats, Floats]:
    """Unit normals (f, 3) and offsets (f,) of faces."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals = unit(cross(b - a, c - a))
    return normals, dot(normals, a)


def _with_edges(faces: Ints, normals: Floats, count: int) -> Hull:
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    face = np.tile(np.arange(len(faces)), 3)
    keys = np.minimum(*directed.T) * count + np.maximum(*directed.T)
    order = np.argsort(keys, kind="stable")
    # Every edge has a face on both sides, so that equal keys come in pairs.
    pairs = order.reshape(-1, 2)
    return Hull(np.unique(faces), faces, normals, directed[pairs[:, 0]], face[pairs])
