"""The corners and faces of a convex hull, and a few hundred points that stand for many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Floats, Ints, cross, dot, length, unit

FLAT = 1e-10
"""Points this close to a plane or line through others, in units of their extent, are on it."""
_AT_ONCE = 1 << 18
"""Heights of points over planes that are worked on at a time."""
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


def convex_hull(points: Floats, flat: float = FLAT, most: int | None = None) -> Hull | None:
    """The hull of (n, 3) points of about unit extent around the origin; None where they lie in one plane.

    Also None, very seldom, where `flat` is less than how rough the points are and no closed surface comes of
    it.

    flat : points this close to a face, or this little above it, count as on it
    most : no more corners than these, those that stick out farthest; the hull then lacks what the others add

    The farthest point above any face is a corner: it is joined to the border of what it sees, and only points
    that were above that look for their face again.
    """
    corners = _tetrahedron(points, flat)
    if corners is None:
        return None
    a, b, c, d = corners
    faces = np.array([[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
    normals, offsets = planes(points, faces)
    inside = points[corners].mean(axis=0)
    turned = normals @ inside > offsets
    faces[turned] = faces[turned][:, ::-1]
    normals, offsets = planes(points, faces)
    rest = np.arange(len(points))
    owner, height = _above(points, normals, offsets)
    above = height > flat
    rest, owner, height = rest[above], owner[above], height[above]
    # A closed surface of f triangles has f / 2 + 2 corners.
    while len(rest) and (most is None or len(faces) // 2 + 2 < most):
        face = owner[height.argmax()]
        own = np.flatnonzero(owner == face)
        point = rest[own[_farthest_out(points[rest[own]] - inside, height[own], flat)]]
        seen = (normals * points[point]).sum(axis=1) - offsets > flat
        seen[face] = True
        # The border of what the point sees: edges whose other side it does not see.
        edges = np.concatenate([faces[seen][:, [0, 1]], faces[seen][:, [1, 2]], faces[seen][:, [2, 0]]])
        keys = edges[:, 0] * len(points) + edges[:, 1]
        border = edges[~np.isin(edges[:, 1] * len(points) + edges[:, 0], keys)]
        if not len(border):
            return None
        fresh = np.column_stack([border, np.full(len(border), point)])
        fresh_normals, fresh_offsets = planes(points, fresh)
        kept = np.cumsum(~seen) - 1
        faces = np.concatenate([faces[~seen], fresh])
        normals = np.concatenate([normals[~seen], fresh_normals])
        offsets = np.concatenate([offsets[~seen], fresh_offsets])
        lost = seen[owner]
        anew, others = rest[lost], ~lost
        anew_owner, anew_height = _above(points[anew], fresh_normals, fresh_offsets)
        above = (anew_height > flat) & (anew != point)
        rest = np.concatenate([rest[others], anew[above]])
        first = len(faces) - len(fresh)
        owner = np.concatenate([kept[owner[others]], anew_owner[above] + first])
        height = np.concatenate([height[others], anew_height[above]])
    return _with_edges(faces, normals, len(points)) if _is_closed(faces, len(points)) else None


def excess(points: Floats, normals: Floats, offsets: Floats) -> Floats:
    """(n,) how far points are above the plane that they are farthest above; negative: below all."""
    return _above(points, normals, offsets)[1]


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


def _tetrahedron(points: Floats, flat: float) -> list[int] | None:
    """Four points that are far from each other's plane; None if there are none."""
    # What is farthest from a point is a corner.
    a = int(length(points - points.mean(axis=0)).argmax())
    b = int(length(points - points[a]).argmax())
    along = unit(points[b] - points[a])
    from_line = length(cross(points - points[a], np.broadcast_to(along, points.shape)))
    c = _farthest_out(points, from_line, flat)
    if from_line[c] <= flat:
        return None
    normal = unit(cross(points[b] - points[a], points[c] - points[a]))
    heights = np.abs(dot(points - points[a], np.broadcast_to(normal, points.shape)))
    d = _farthest_out(points, heights, flat)
    return None if heights[d] <= flat else [a, b, c, d]


def _farthest_out(points: Floats, height: Floats, flat: float) -> int:
    """The highest of some points; of several that are equally high, the one farthest from the origin.

    That one is a corner of what is at that height, and the others may lie between corners.
    """
    level = np.flatnonzero(height >= height.max() - flat)
    return int(level[0] if len(level) == 1 else level[length(points[level]).argmax()])


def _above(points: Floats, normals: Floats, offsets: Floats) -> tuple[Ints, Floats]:
    """The plane (n,) that each of some points is farthest above, and how far (n,)."""
    owner, height = np.zeros(len(points), dtype=np.int64), np.full(len(points), -np.inf)
    rows = max(1, _AT_ONCE // max(len(normals), 1))
    x, y, z = np.ascontiguousarray(normals.T)
    for start in range(0, len(points), rows):
        some = slice(start, start + rows)
        # Long rows at a time; a sum over three would be a loop of three for each height.
        heights = points[some, 0:1] * x
        heights -= offsets
        heights += points[some, 1:2] * y
        heights += points[some, 2:3] * z
        owner[some] = heights.argmax(axis=1)
        height[some] = heights[np.arange(len(heights)), owner[some]]
    return owner, height


def planes(points: Floats, faces: Ints) -> tuple[Floats, Floats]:
    """Unit normals (f, 3) and offsets (f,) of faces."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals = unit(cross(b - a, c - a))
    return normals, dot(normals, a)


def _is_closed(faces: Ints, count: int) -> bool:
    """Whether each edge is run along once in each direction, and there is one piece without holes (Euler)."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    once = len(np.unique(there)) == len(there)
    return (
        once and np.array_equal(np.sort(there), np.sort(back)) and len(faces) == 2 * len(np.unique(faces)) - 4
    )


def _with_edges(faces: Ints, normals: Floats, count: int) -> Hull:
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    face = np.tile(np.arange(len(faces)), 3)
    keys = np.minimum(*directed.T) * count + np.maximum(*directed.T)
    order = np.argsort(keys, kind="stable")
    # Every edge has a face on both sides, so that equal keys come in pairs.
    pairs = order.reshape(-1, 2)
    return Hull(np.unique(faces), faces, normals, directed[pairs[:, 0]], face[pairs])
