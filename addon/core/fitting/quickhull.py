"""Convex hulls by Quickhull (Barber, Dobkin and Huhdanpaa 1996), and a few hundred extreme points of many.

Many hulls are built at the same time: each step adds a vertex to every hull. A step of a single hull is some
forty operations on short arrays, which take as long as their calls. Here, all hulls share the calls. Nearly
all hulls have two faces more after a step, so these are dense arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints, cross, dot, length, normalized

COPLANAR_TOLERANCE = 1e-10
"""Points this close to a plane or line through others, in units of their extent, count as on it."""
_HEIGHTS_PER_CHUNK = 1 << 18
"""Heights of points over planes per chunk."""
_CELLS = 8
_CUBE = 6 * _CELLS * _CELLS
"""Cells of a cube map of directions: 8 x 8 on each side."""
_MOST_HULLS = 64
"""Hulls that are built at the same time: more would not fit into the processor's cache."""
_MOST_POINTS = 1 << 17
"""Points of hulls that are built at the same time."""


def quickhull(
    points: Floats, tolerance: float = COPLANAR_TOLERANCE, max_vertices: int | None = None
) -> Ints | None:
    """Build the convex hull of points.

    The point farthest above any face becomes a vertex, connected to the horizon: the border of the faces
    that it sees. Only points above removed faces are assigned to faces again. Approximate: points are above
    faces by no more than `tolerance`, where faces do not fold and vertices are not limited.

    points : (n, 3) float64. Of about unit extent, around the origin.
    tolerance : Points this close to a face, or less above it, count as on it.
    max_vertices : Stop after this many vertices, those farthest outside first; points are outside of the
        hull then.
    Returns faces : (f, 3) int64 or None. Indices of points; triangles, counter-clockwise from outside. None
        for points in one plane. Also None, rarely, where points are rougher than `tolerance` and the faces
        make no closed surface.
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
    return faces if is_closed(faces, len(points)) else None


def _above(
    points: Floats, rows: Ints, normals: Floats, offsets: Floats, tolerance: float
) -> tuple[Ints, Ints, Floats]:
    """Find which points at rows (k,) are above a face, the face each is farthest above, and the height."""
    face_of, height = _highest_faces(points[rows], normals, offsets)
    is_above = height > tolerance
    return rows[is_above], face_of[is_above], height[is_above]


def first_faces(points: Floats, tolerance: float) -> Ints | None:
    """Return the faces (4, 3) of a tetrahedron of four of some points (n, 3), far from each other.

    They are counter-clockwise from outside. None for points in one plane: points within `tolerance` of a
    plane or line through others count as on it.
    """
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
    if heights[d] <= tolerance:
        return None
    corners, faces = [a, b, c, d], np.array([[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
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
    """Compute the heights (n,) of points (n, 3) over the plane that each is farthest above.

    In multiples of the lengths of the normals; negative below all planes. Exact up to float64 rounding.
    """
    return _highest_faces(points, normals, offsets)[1]


def extreme_points(points: Floats) -> Floats:
    """Return a few hundred of points (n, 3), whose hull is about that of all.

    Points are scaled to equal variance in all directions. The farthest from the mean is kept in each of 384
    cells of a cube map, and the extremes along the axes. Approximate: points are a little outside of the
    hull of these.
    """
    offset = points - points.mean(axis=0)
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
    """Compute the unit normals (f, 3) of faces (f, 3), and their dot products (f,) with points of the planes.

    Outward for faces that are counter-clockwise from outside. Exact up to float64 rounding.
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


def edges_of_surface(faces: Ints, count: int) -> tuple[Ints, Ints]:
    """Return the edges (e, 2) of faces (f, 3) of a closed surface, and the two faces (e, 2) at each.

    count : Number of points.
    """
    directed = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    face = np.tile(np.arange(len(faces)), 3)
    keys = np.minimum(*directed.T) * count + np.maximum(*directed.T)
    order = np.argsort(keys, kind="stable")
    # Equal keys come in pairs, because every edge has a face on both sides.
    pairs = order.reshape(-1, 2)
    return directed[pairs[:, 0]], face[pairs]


def quickhulls(
    groups: Sequence[Floats], tolerance: float, max_vertices: int | None = None
) -> list[Ints | None]:
    """Build the convex hulls of several point sets (n, 3), each as `quickhull` does."""
    found: list[Ints | None] = [None] * len(groups)
    # Hulls of about equal numbers of vertices end at about the same step.
    limit = max(map(len, groups), default=0) if max_vertices is None else max_vertices
    order = sorted(range(len(groups)), key=lambda k: len(groups[k]))
    while order:
        sizes = np.cumsum([len(groups[k]) for k in order[:_MOST_HULLS]])
        count = max(1, int(np.count_nonzero(sizes <= _MOST_POINTS)))
        rows, order = order[:count], order[count:]
        if count == 1:
            found[rows[0]] = quickhull(groups[rows[0]], tolerance, limit)
            continue
        first = {k: faces for k in rows if (faces := first_faces(groups[k], tolerance)) is not None}
        if first:
            hulls = _Hulls([groups[k] for k in first], list(first.values()), tolerance, limit)
            for k, faces in zip(first, hulls.built(), strict=True):
                found[k] = faces
    return found


class _Hulls:
    """Hulls (h) of point sets, and their outside points with the faces that these are above."""

    def __init__(
        self, groups: Sequence[Floats], first: Sequence[Ints], tolerance: float, max_vertices: int
    ) -> None:
        sizes = np.array([len(points) for points in groups])
        self._tolerance, self._max_vertices, self._sizes = tolerance, max_vertices, sizes
        self._points: Floats = np.concatenate(groups)
        self._first_point: Ints = np.cumsum(sizes) - sizes
        capacity = 2 * min(int(sizes.max()), max_vertices)
        self._faces: Ints = np.zeros((len(groups), capacity, 3), dtype=np.int64)
        # Normals and offsets; unused faces are above all points.
        self._planes: Floats = np.zeros((4, len(groups), capacity))
        self._planes[3] = np.inf
        self._count = 4
        self._counts: Ints = np.full(len(groups), 4)
        self._is_folded: Bools = np.zeros(len(groups), dtype=bool)
        corners = np.array(first) + self._first_point[:, None, None]
        hull, slot = np.indices((len(groups), 4)).reshape(2, -1)
        self._set_faces(hull, slot, corners.reshape(-1, 3))
        self._inside: Floats = self._points[corners.reshape(len(groups), -1)].mean(axis=1)
        # Outside points: index, hull, face and height; a hull without any keeps one of negative height.
        self._outside: Ints = np.arange(len(self._points))
        self._hull_of: Ints = np.repeat(np.arange(len(groups)), sizes)
        self._face_of, self._height = self._highest(self._outside, self._hull_of, self._planes[:, :, :4])
        self._height[self._height <= tolerance] = -np.inf
        self._starts = self._first_point

    def built(self) -> list[Ints | None]:
        """Add vertices until no point is outside, and return the faces of each hull."""
        while self._step():
            pass
        found: list[Ints | None] = []
        for hull, start in enumerate(self._first_point.tolist()):
            faces: Ints = self._faces[hull, np.isfinite(self._planes[3, hull])] - start
            is_hull = not self._is_folded[hull] and is_closed(faces, int(faces.max()) + 1)
            found.append(faces if is_hull else None)
        return found

    def _set_faces(self, hull: Ints, slot: Ints, corners: Ints) -> None:
        """Set faces (m) at slots of hulls (m) to corners (m, 3)."""
        self._faces[hull, slot] = corners
        normals, offsets = face_planes(self._points, corners)
        self._planes[:3, hull, slot] = normals.T
        self._planes[3, hull, slot] = offsets

    def _highest(self, points: Ints, hull: Ints, planes: Floats) -> tuple[Ints, Floats]:
        """Return which of the planes (4, h, p) of hulls (m) points (m) are farthest above, and heights."""
        position = self._points[points]
        heights = position[:, 0:1] * planes[0, hull]
        heights += position[:, 1:2] * planes[1, hull]
        heights += position[:, 2:3] * planes[2, hull]
        heights -= planes[3, hull]
        face = heights.argmax(axis=1)
        return face, heights[np.arange(len(face)), face]

    def _step(self) -> bool:
        """Add the farthest outside point to each hull that has one; return False if none has."""
        best = np.maximum.reduceat(self._height, self._starts)
        vertices = self._counts // 2 + 2
        is_active = (best > self._tolerance) & (vertices < self._max_vertices)
        # Faces that fold would multiply.
        self._is_folded |= is_active & (np.maximum(vertices, self._count // 2 - 2) >= self._sizes)
        is_active &= ~self._is_folded
        if not is_active.any():
            return False
        tip, face = self._farthest(best, is_active)
        is_visible = self._visible(tip, face) & is_active[:, None]
        hull, slot = np.nonzero(is_visible)
        edges, edge_hull = _horizons(self._faces[hull, slot], hull, len(self._points))
        # A hole has two edges more than it had triangles, and two less for each vertex that is inside now.
        removed = np.bincount(hull, minlength=len(best))
        added = np.bincount(edge_hull, minlength=len(best))
        is_folded = is_active & ((added > removed + 2) | ((added - removed) % 2 == 1))
        if is_folded.any():
            self._is_folded |= is_folded
            return True
        # New faces take the slots of the removed ones, and up to two more.
        self._planes[3, hull, slot] = np.inf
        number = np.arange(len(edge_hull)) - (np.cumsum(added) - added)[edge_hull]
        reused = np.minimum((np.cumsum(removed) - removed)[edge_hull] + number, len(slot) - 1)
        unused = self._count + number - removed[edge_hull]
        if self._count + 2 > self._planes.shape[2]:
            # There are more steps than capacity if vertices came to be inside.
            no_planes = np.zeros_like(self._planes)
            no_planes[3] = np.inf
            self._planes = np.concatenate([self._planes, no_planes], axis=2)
            self._faces = np.concatenate([self._faces, np.zeros_like(self._faces)], axis=1)
        new_slot = np.where(number < removed[edge_hull], slot[reused], unused)
        self._set_faces(edge_hull, new_slot, np.column_stack([edges, tip[edge_hull]]))
        self._counts += added - removed
        self._count += 2
        self._assign_orphans(is_visible, tip, edge_hull, number, new_slot)
        return True

    def _visible(self, tip: Ints, face: Ints) -> Bools:
        """Return which faces (h, f) of each hull a point (h) sees, at least one face (h)."""
        x, y, z = self._points[tip].T[:, :, None]
        planes = self._planes[:, :, : self._count]
        heights = x * planes[0]
        heights += y * planes[1]
        heights += z * planes[2]
        heights -= planes[3]
        is_visible: Bools = heights > self._tolerance
        is_visible[np.arange(len(face)), face] = True
        return is_visible

    def _farthest(self, best: Floats, is_active: Bools) -> tuple[Ints, Ints]:
        """Return the point of each hull that is farthest outside, and its face; see `quickhull`.

        Of several points at that height above the face, it is the one that is farthest from the inside.
        """
        level = best[self._hull_of]
        rows = np.flatnonzero((self._height >= level) & is_active[self._hull_of])[::-1]
        chosen = np.zeros(len(best), dtype=np.int64)
        chosen[self._hull_of[rows]] = rows
        face = self._face_of[chosen]
        is_near = (self._height >= level - self._tolerance) & (self._face_of == face[self._hull_of])
        rows = np.flatnonzero(is_near & is_active[self._hull_of])
        if len(rows) > np.count_nonzero(is_active):
            offset = self._points[self._outside[rows]] - self._inside[self._hull_of[rows]]
            rows = rows[np.argsort((offset * offset).sum(axis=1), kind="stable")]
            chosen[self._hull_of[rows]] = rows
        return self._outside[chosen], face

    def _assign_orphans(self, is_removed: Bools, tip: Ints, hull: Ints, number: Ints, slot: Ints) -> None:
        """Assign points above removed faces (h, f) to new faces (m), of numbers and slots in their hulls."""
        orphans = np.flatnonzero(is_removed[self._hull_of, self._face_of] & (self._height > 0))
        width = int(number.max()) + 1
        planes = np.zeros((4, len(tip), width))
        planes[3] = np.inf
        planes[:, hull, number] = self._planes[:, hull, slot]
        slots = np.zeros((len(tip), width), dtype=np.int64)
        slots[hull, number] = slot
        owner = self._hull_of[orphans]
        face, height = self._highest(self._outside[orphans], owner, planes)
        is_outside = (height > self._tolerance) & (self._outside[orphans] != tip[owner])
        self._face_of[orphans] = slots[owner, face]
        self._height[orphans] = np.where(is_outside, height, -np.inf)
        is_kept = self._height > 0
        if 2 * np.count_nonzero(is_kept) < len(is_kept) - 2 * len(tip):
            # Drop points that are inside, but one of each hull.
            is_kept[self._starts] = True
            for name in ("_outside", "_hull_of", "_face_of", "_height"):
                setattr(self, name, getattr(self, name)[is_kept])
            counts = np.bincount(self._hull_of, minlength=len(tip))
            self._starts = np.cumsum(counts) - counts


def _horizons(faces: Ints, hull: Ints, count: int) -> tuple[Ints, Ints]:
    """Directed edges (e, 2) between visible faces (m, 3) and the others, and their hulls; `count` points."""
    start, end = faces.reshape(-1), faces[:, [1, 2, 0]].reshape(-1)
    keys, reverse = start * count + end, end * count + start
    ordered = np.sort(keys)
    position = np.minimum(np.searchsorted(ordered, reverse), len(ordered) - 1)
    is_horizon = ordered[position] != reverse
    return np.column_stack([start, end])[is_horizon], np.repeat(hull, 3)[is_horizon]
