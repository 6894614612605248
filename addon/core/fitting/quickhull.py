"""Convex hulls by Quickhull (Barber, Dobkin and Huhdanpaa 1996), and a few hundred extreme points of many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import CHUNK_ROWS, Floats, Ints, cross, dot, length, normalized

COPLANAR_TOLERANCE = 1e-10
"""Points this close to a plane or line through others, in units of their extent, count as on it."""
_HEIGHTS_PER_CHUNK = 1 << 18
"""Heights of points over planes per chunk."""
_CELLS = 8
_CUBE = 6 * _CELLS * _CELLS
"""Cells of a cube map of directions: 8 x 8 on each side."""


class IndexedHull(NamedTuple):
    """A convex hull with a volume, as indices of the points (n, 3) it was made from.

    vertices : (v,) int64. Indices of points, ascending.
    faces : (f, 3) int64. Indices of points; triangles, counter-clockwise from outside.
    normals : (f, 3) float64. Unit normals of the faces, outward.
    edges : (e, 2) int64. Indices of points.
    sides : (e, 2) int64. Indices of the faces on both sides of each edge.
    """

    vertices: Ints
    faces: Ints
    normals: Floats
    edges: Ints
    sides: Ints


def quickhull(
    points: Floats, tolerance: float = COPLANAR_TOLERANCE, max_vertices: int | None = None
) -> IndexedHull | None:
    """Build the convex hull of points.

    The point farthest above any face becomes a vertex, connected to the horizon: the border of the faces
    that it sees. Only points above removed faces are assigned to faces again. Approximate: points are above
    faces by no more than `tolerance`, where faces do not fold and vertices are not limited.

    points : (n, 3) float64. Of about unit extent, around the origin.
    tolerance : Points this close to a face, or less above it, count as on it.
    max_vertices : Stop after this many vertices, those farthest outside first; points are outside of the
        hull then.
    Returns hull : IndexedHull or None. None for points in one plane. Also None, rarely, where points are
        rougher than `tolerance` and the faces make no closed surface.
    """
    faces = first_faces(points, tolerance)
    if faces is None:
        return None
    inside = points[faces].mean(axis=(0, 1))
    normals, offsets = face_planes(points, faces)
    outside, face_of, height = _above(points, np.arange(len(points)), normals, offsets, tolerance)
    # A closed surface of f triangles has f / 2 + 2 vertices.
    while len(outside) and (max_vertices is None or len(faces) // 2 + 2 < max_vertices):
        face = face_of[height.argmax()]
        rows = np.flatnonzero(face_of == face)
        point = outside[rows[_farthest_out(points[outside[rows]] - inside, height[rows], tolerance)]]
        is_visible = (normals * points[point]).sum(axis=1) - offsets > tolerance
        is_visible[face] = True
        horizon = _horizon(faces[is_visible], len(points))
        if not len(horizon) or len(faces) > 2 * len(points):  # faces that fold would multiply
            return None
        new_faces = np.column_stack([horizon, np.full(len(horizon), point)])
        new_normals, new_offsets = face_planes(points, new_faces)
        new_index = np.cumsum(~is_visible) - 1
        faces = np.concatenate([faces[~is_visible], new_faces])
        normals = np.concatenate([normals[~is_visible], new_normals])
        offsets = np.concatenate([offsets[~is_visible], new_offsets])
        is_kept = ~is_visible[face_of]
        orphans = outside[~is_kept & (outside != point)]
        orphans, orphans_face, orphans_height = _above(points, orphans, new_normals, new_offsets, tolerance)
        outside = np.concatenate([outside[is_kept], orphans])
        face_of = np.concatenate([new_index[face_of[is_kept]], orphans_face + len(faces) - len(new_faces)])
        height = np.concatenate([height[is_kept], orphans_height])
    return _with_edges(faces, normals, len(points)) if is_closed(faces, len(points)) else None


def _above(
    points: Floats, rows: Ints, normals: Floats, offsets: Floats, tolerance: float
) -> tuple[Ints, Ints, Floats]:
    """Find which points at rows (k,) are above a face, the face each is farthest above, and the height."""
    face_of, height = _highest_faces(points[rows], normals, offsets)
    is_above = height > tolerance
    return rows[is_above], face_of[is_above], height[is_above]


def first_faces(points: Floats, tolerance: float) -> Ints | None:
    """Return the faces of a tetrahedron of four of some points, far from each other.

    points : (n, 3) float64. As those of `quickhull`.
    tolerance : Points this close to a plane or line through others count as on it.
    Returns faces : (4, 3) int64 or None. Indices of points, counter-clockwise from outside. None for points
        in one plane.
    """
    corners = _tetrahedron(points, tolerance)
    if corners is None:
        return None
    a, b, c, d = corners
    faces = np.array([[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
    normals, offsets = face_planes(points, faces)
    is_inward = normals @ points[corners].mean(axis=0) > offsets
    faces[is_inward] = faces[is_inward][:, ::-1]
    return faces


def _horizon(visible: Ints, count: int) -> Ints:
    """Directed edges (h, 2) between visible faces (f, 3) and the others; `count` points."""
    edges = np.concatenate([visible[:, [0, 1]], visible[:, [1, 2]], visible[:, [2, 0]]])
    keys = edges[:, 0] * count + edges[:, 1]
    # A set, because as a rule there are few faces, for which np.isin takes a hundred times as long.
    present = set(keys.tolist())
    horizon: Ints = edges[[key not in present for key in (edges[:, 1] * count + edges[:, 0]).tolist()]]
    return horizon


def max_height_above(points: Floats, normals: Floats, offsets: Floats) -> Floats:
    """Compute the height of points over the plane that each is farthest above. Exact up to float64 rounding.

    points : (n, 3) float64. In any space and unit.
    normals : (f, 3) float64. Of the planes.
    offsets : (f,) float64. Of the planes, as from `face_planes`.
    Returns heights : (n,) float64. In multiples of the lengths of the normals; negative below all planes.
    """
    return _highest_faces(points, normals, offsets)[1]


def extreme_points(points: Floats) -> Floats:
    """Return a few hundred of points (n, 3), whose hull is about that of all.

    Points are scaled to equal variance in all directions. The farthest from the mean is kept in each of 384
    cells of a cube map, and the extremes along the axes. Approximate: points are a little outside of the
    hull of these.
    """
    middle = points.mean(axis=0)
    offset = points - middle
    spread = np.einsum("ni,nj->ij", offset, offset) / len(points)
    values, axes = np.linalg.eigh(spread)
    # Flat directions stay flat, because scaling them up would make noise of them.
    scale = 1 / np.sqrt(np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300)))
    best, farthest = np.zeros(_CUBE), np.full(_CUBE, -1)
    for start in range(0, len(points), CHUNK_ROWS):
        scaled = np.einsum("ni,ij->nj", offset[start : start + CHUNK_ROWS], axes) * scale
        cell = _cells_of_cube(scaled)
        distance = (scaled * scaled).sum(axis=1)
        farther = np.flatnonzero(distance > best[cell])
        order = farther[np.lexsort((distance[farther], cell[farther]))]
        last = order[np.flatnonzero(np.diff(cell[order], append=-1))]
        best[cell[last]], farthest[cell[last]] = distance[last], start + last
    extremes = [*points.argmin(axis=0), *points.argmax(axis=0)]
    selected: Floats = points[np.unique([*extremes, *farthest[farthest >= 0]])]
    return selected


def _cells_of_cube(vectors: Floats) -> Ints:
    """Return the number (n,) of the cell of a cube map in which each of vectors (n, 3) points."""
    size = np.abs(vectors)
    axis = size.argmax(axis=1)
    rows = np.arange(len(vectors))
    largest = np.maximum(size[rows, axis], 1e-300)
    along = [vectors[rows, (axis + k) % 3] / largest for k in (1, 2)]
    cells = [np.minimum(((x + 1) * (_CELLS / 2)).astype(np.int64), _CELLS - 1) for x in along]
    return np.asarray(((axis * 2 + (vectors[rows, axis] > 0)) * _CELLS + cells[0]) * _CELLS + cells[1])


def _tetrahedron(points: Floats, tolerance: float) -> list[int] | None:
    """Find four points, each far from the plane of the others; None for points in one plane."""
    # The point farthest from any other is a vertex of the hull.
    a = int(length(points - points.mean(axis=0)).argmax())
    b = int(length(points - points[a]).argmax())
    along = normalized(points[b] - points[a])
    from_line = length(cross(points - points[a], np.broadcast_to(along, points.shape)))
    c = _farthest_out(points, from_line, tolerance)
    if from_line[c] <= tolerance:
        return None
    normal = normalized(cross(points[b] - points[a], points[c] - points[a]))
    heights = np.abs(dot(points - points[a], np.broadcast_to(normal, points.shape)))
    d = _farthest_out(points, heights, tolerance)
    return None if heights[d] <= tolerance else [a, b, c, d]


def _farthest_out(points: Floats, height: Floats, tolerance: float) -> int:
    """Index of the highest of points (n, 3); of several at that height, the one farthest from the origin.

    That one is a vertex of the face at that height, while others may lie between its vertices.
    """
    level = np.flatnonzero(height >= height.max() - tolerance)
    return int(level[0] if len(level) == 1 else level[length(points[level]).argmax()])


def _highest_faces(points: Floats, normals: Floats, offsets: Floats) -> tuple[Ints, Floats]:
    """Find the face (n,) that each point is farthest above, and the height (n,)."""
    face_of, height = np.zeros(len(points), dtype=np.int64), np.full(len(points), -np.inf)
    rows = max(1, _HEIGHTS_PER_CHUNK // max(len(normals), 1))
    x, y, z = np.ascontiguousarray(normals.T)
    for start in range(0, len(points), rows):
        chunk = slice(start, start + rows)
        # Add long rows, because a sum over an axis of three is a loop of three for each height.
        heights = points[chunk, 0:1] * x
        heights -= offsets
        heights += points[chunk, 1:2] * y
        heights += points[chunk, 2:3] * z
        face_of[chunk] = heights.argmax(axis=1)
        height[chunk] = heights[np.arange(len(heights)), face_of[chunk]]
    return face_of, height


def face_planes(points: Floats, faces: Ints) -> tuple[Floats, Floats]:
    """Compute the planes of faces. Exact up to float64 rounding.

    points : (n, 3) float64. In any space and unit.
    faces : (f, 3) int64. Indices of points.
    Returns normals : (f, 3) float64. Unit vectors; outward for faces that are counter-clockwise from
        outside.
    Returns offsets : (f,) float64. Dot product of the normal and any point of the plane.
    """
    a, b, c = (points[faces[:, k]] for k in range(3))
    normals = normalized(cross(b - a, c - a))
    return normals, dot(normals, a)


def is_closed(faces: Ints, count: int) -> bool:
    """Return whether faces (f, 3) of `count` points are a closed surface in one piece, by Euler's formula."""
    return is_closed_surface(faces, count) and len(faces) == 2 * len(np.unique(faces)) - 4


def is_closed_surface(faces: NDArray[np.integer], count: int) -> bool:
    """Return whether each edge of faces (f, 3) of `count` points has one face in each direction."""
    start, end = faces.reshape(-1).astype(np.int64), np.roll(faces, -1, axis=1).reshape(-1).astype(np.int64)
    there, back = np.sort(start * count + end), np.sort(end * count + start)
    return bool((there[1:] != there[:-1]).all() and (start != end).all() and np.array_equal(there, back))


def _with_edges(faces: Ints, normals: Floats, count: int) -> IndexedHull:
    """Add the edges, and the faces on both sides of each, to faces (f, 3) of a closed surface."""
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    face = np.tile(np.arange(len(faces)), 3)
    keys = np.minimum(*directed.T) * count + np.maximum(*directed.T)
    order = np.argsort(keys, kind="stable")
    # Equal keys come in pairs, because every edge has a face on both sides.
    pairs = order.reshape(-1, 2)
    return IndexedHull(np.unique(faces), faces, normals, directed[pairs[:, 0]], face[pairs])
