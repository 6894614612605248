"""Connected components of meshes, and containment in closed ones, by winding numbers.

The winding number of a closed surface around a point is counted along the ray from the point straight up, or
along another axis if rays cross far fewer triangles there: each triangle that the ray crosses adds 1 or -1,
by its orientation. A ray through an edge or a corner crosses exactly one of the triangles that meet there,
because both triangles of an edge decide by the same arithmetic.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..broad_phase.overlapping_pairs import overlapping_pairs_between
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    chunks_by_cost,
    concatenated_ranges,
    distinct_rows,
    is_run_start,
)
from ..numeric.components import connected_components
from ..progress import pause
from ..shapes import Aabb
from ..shapes.primitives import triangles_from_corners

_NEXT = [1, 2, 0]
_RAYS, _BOXES = 64, 1 << 13
"""Rays and boxes that are compared, about, to choose the axis of rays."""
_CROSSINGS_AT_ONCE = 1 << 13
"""Rays and triangles that are solved at once: larger batches take longer, because of the memory."""
_ENTRIES = 8
"""Columns that a triangle reaches into, at most, on average."""
_FEWER = 4
"""Factor by which rays along another axis cross fewer boxes."""


class ConnectedComponents(NamedTuple):
    """The p components of a mesh of t triangles that are connected by shared corners.

    of_triangle : (t,) int64. The component of each triangle.
    corner : (p,) int64. One corner of each component, an index into the 3 t corners of the mesh.
    is_closed : (p,) bool. Each edge belongs to an even number of triangles.
    is_oriented : (p,) bool. Each edge is used as often in one direction as in the other.
    """

    of_triangle: Ints
    corner: Ints
    is_closed: Bools
    is_oriented: Bools

    @classmethod
    def of(cls, points: Floats, triangles: Ints) -> ConnectedComponents:
        """Find the components of triangles (t, 3) of vertices (v, 3), which are one where exactly equal."""
        # Adding zero turns negative zeros into positive ones.
        vertices = distinct_rows(points + 0.0)[1][triangles]
        count = int(vertices.max()) + 1
        # Edges with their directions, in order; without sides of length zero, which are no edges.
        sides = np.empty(vertices.shape, dtype=np.int64)
        for column, after in enumerate(_NEXT):
            start, end = vertices[:, column], vertices[:, after]
            low, high = np.minimum(start, end), np.maximum(start, end)
            sides[:, column] = np.where(low < high, (low * count + high) * 2 + (start < end), -1)
        sides = np.sort(sides, axis=None)
        sides = sides[np.searchsorted(sides, 0) :]
        starts = np.flatnonzero(is_run_start(sides >> 1))
        edges = np.stack(np.divmod(sides[starts] >> 1, count), axis=1)
        component = connected_components(count, edges)
        is_used = np.zeros(count, dtype=bool)
        is_used[component[vertices[:, 0]]] = True
        component = (np.cumsum(is_used) - 1)[component]
        of_triangle = component[vertices[:, 0]]
        corner = np.empty(np.count_nonzero(is_used), dtype=np.int64)
        # Of several triangles of a component, the first one, which is assigned last.
        corner[of_triangle[::-1]] = 3 * np.arange(len(vertices))[::-1]
        is_closed, is_oriented = np.ones((2, len(corner)), dtype=bool)
        if len(edges):
            uses, forward = np.diff(starts, append=len(sides)), np.add.reduceat(sides & 1, starts)
            of_edge = component[edges[:, 0]]
            is_closed[of_edge[uses % 2 != 0]] = False
            is_oriented[of_edge[2 * forward != uses]] = False
        return cls(of_triangle, corner, is_closed, is_oriented)


class ClosedSurface(NamedTuple):
    """The t triangles of a mesh that belong to closed components.

    axes : (3,) int64. The axes of the mesh that coordinates are along here; rays are along the last.
    corners : (t, 3, 3) float64
    component : (t,) int64. The component of each triangle.
    is_oriented : (p,) bool. Of all components of the mesh, closed or not: see `ConnectedComponents`.
    boxes : Aabb, (t,). Around the triangles.
    """

    axes: Ints
    corners: Floats
    component: Ints
    is_oriented: Bools
    boxes: Aabb

    @classmethod
    def of(cls, corners: Floats, components: ConnectedComponents, axes: Ints | None = None) -> ClosedSurface:
        """Select the triangles of closed components from corners (t, 3, 3), with rays along the last axis."""
        is_closed = components.is_closed[components.of_triangle]
        kept = corners[is_closed]
        axes = _axes_of_rays(kept) if axes is None else axes
        kept = np.ascontiguousarray(kept[..., axes])
        boxes = triangles_from_corners(kept).aabb()
        return cls(axes, kept, components.of_triangle[is_closed], components.is_oriented, boxes)

    def contains(self, points: Floats, columns: RayColumns | None = None) -> Bools:
        """Decide which points (n, 3) are inside the surface, (n,).

        A point is inside where the oriented components wind around it, or where its ray crosses a component
        of mixed orientation an odd number of times. Exact except for points within float64 rounding of a
        triangle.

        columns : RayColumns. Of this surface, if it is kept for many calls.
        """
        if not (len(self.corners) and len(points)):
            return np.zeros(len(points), dtype=bool)
        points = points[:, self.axes]
        i, t = self._near_rays(points) if columns is None else columns.near_rays(points, self.boxes)
        crossings = np.zeros(len(i))
        for chunk in chunks_by_cost(np.ones(len(i)), _CROSSINGS_AT_ONCE) if len(i) else ():
            pause()
            crossings[chunk] = _signed_crossings(points[i[chunk]], self.corners[t[chunk]])
        count = len(self.is_oriented)
        is_signed = self.is_oriented[self.component[t]]
        inside = np.bincount(i[is_signed], crossings[is_signed], len(points)) != 0
        # Components of mixed orientation have no winding number: each one counts by the parity of crossings.
        keys = i[~is_signed] * count + self.component[t[~is_signed]]
        key, row = np.unique(keys, return_inverse=True)
        is_odd = np.bincount(row.ravel(), np.abs(crossings[~is_signed]), len(key)) % 2 == 1
        inside[key[is_odd] // count] = True
        return np.asarray(inside)

    def _near_rays(self, points: Floats) -> tuple[Ints, Ints]:
        """Find the boxes (k,) of triangles that rays from points (n, 3) pass through, and these points."""
        boxes = self.boxes
        top = np.maximum(points[:, 2], boxes.max[:, 2].max())
        rays = Aabb.unchecked(points, np.stack([points[:, 0], points[:, 1], top], axis=1))
        low, high = rays.min.min(axis=0), rays.max.max(axis=0)
        near = np.flatnonzero(((boxes.min <= high) & (boxes.max >= low)).all(axis=1))
        i, t = overlapping_pairs_between(rays, boxes[near]).T
        return i, near[t]


class RayColumns(NamedTuple):
    """Columns of a grid along the rays of a closed surface, and the triangles whose boxes reach into each.

    low : (2,) float64. Low corner of the grid, and side : (2,) float64. Sides of a column.
    across : Number of columns along each of both axes.
    starts : (across**2 + 1,) int64. Where the triangles of each column begin.
    triangles : (k,) int64
    """

    low: Floats
    side: Floats
    across: int
    starts: Ints
    triangles: Ints

    @classmethod
    def of(cls, surface: ClosedSurface) -> RayColumns:
        """Sort the triangles of a surface, at least one, into columns."""
        low, high = surface.boxes.min[:, :2], surface.boxes.max[:, :2]
        corner = low.min(axis=0)
        extent = high.max(axis=0) - corner
        across = 1 << (len(low).bit_length() // 2)
        while True:
            side = np.where(extent > 0, extent, 1.0) / across
            first, last = (_clipped((each - corner) / side, across) for each in (low, high))
            sizes = last - first + 1
            entries = sizes.prod(axis=1)
            if across == 1 or entries.sum() <= _ENTRIES * len(low):
                break
            across //= 2
        triangles = np.arange(len(low)).repeat(entries)
        x, y = np.divmod(
            concatenated_ranges(np.zeros(len(low), dtype=np.int64), entries), sizes[triangles, 1]
        )
        columns = (first[triangles, 0] + x) * across + first[triangles, 1] + y
        order = np.argsort(columns, kind="stable")
        starts = np.searchsorted(columns[order], np.arange(across * across + 1))
        return cls(corner, side, across, starts, triangles[order])

    def near_rays(self, points: Floats, boxes: Aabb) -> tuple[Ints, Ints]:
        """Find the boxes (k,) that rays from points (n, 3) pass through, and these points."""
        x, y = _clipped((points[:, :2] - self.low) / self.side, self.across).T
        column = x * self.across + y
        sizes = self.starts[column + 1] - self.starts[column]
        row, place = np.arange(len(points)).repeat(sizes), concatenated_ranges(self.starts[column], sizes)
        triangle = self.triangles[place]
        is_near = np.ones(len(row), dtype=bool)
        for axis in range(3):
            along = points[row, axis]
            is_near &= boxes.max[triangle, axis] >= along
            if axis < 2:
                is_near &= boxes.min[triangle, axis] <= along
        return row[is_near], triangle[is_near]


def _clipped(places: Floats, count: int) -> Ints:
    """Return the cells of places along axes that have some number of them."""
    return np.clip(np.floor(places), 0, count - 1).astype(np.int64)


def _axes_of_rays(corners: Floats) -> Ints:
    """Choose the order (3,) of axes of triangles (t, 3, 3) in which rays along the last one cross few boxes.

    By rays from samples of the triangles: of walls along a ray, it crosses all.
    """
    boxes = triangles_from_corners(corners[:: 1 + len(corners) // _BOXES]).aabb()
    points = corners[:: 1 + len(corners) // _RAYS].mean(axis=1)
    is_within = (boxes.min <= points[:, None]) & (boxes.max >= points[:, None])
    counts = [np.count_nonzero(is_within[..., axis - 1] & is_within[..., axis - 2]) for axis in (2, 0, 1)]
    # Straight up, unless others cross far fewer.
    first = int(np.argmin(counts)) if min(counts) * _FEWER < counts[0] else 0
    return np.array([(0, 1, 2), (1, 2, 0), (2, 0, 1)][first])


def _signed_crossings(points: Floats, corners: Floats) -> Floats:
    """(n,) 1 or -1 where the ray up from points (n, 3) crosses triangles with corners (n, 3, 3), else 0.

    The sign is the orientation of the triangle as seen from above.
    """
    start, end = corners, corners[:, _NEXT]
    x, y = points.T[:2, :, None]
    is_up, is_down = (start[..., 1] <= y) & (end[..., 1] > y), (end[..., 1] <= y) & (start[..., 1] > y)
    crosses = is_up | is_down
    # Interpolate from the lower end to the upper one, so that both triangles of an edge get the same numbers.
    low, high = np.where(is_up[..., None], start, end), np.where(is_up[..., None], end, start)
    rise = high - low
    part = np.divide(y - low[..., 1], rise[..., 1], out=np.zeros(crosses.shape), where=crosses)[..., None]
    point = np.clip(low + part * rise, np.minimum(low, high), np.maximum(low, high))
    is_beyond = crosses & (x < point[..., 0])
    turn = (is_beyond & is_up).sum(axis=1) - (is_beyond & is_down).sum(axis=1)
    rows = np.flatnonzero(turn)
    # The ray passes between two edges of the triangle. Interpolate the height of the crossing between them.
    right = point[rows, is_beyond[rows].argmax(axis=1)]
    left = point[rows, (crosses & ~is_beyond)[rows].argmax(axis=1)]
    between = (points[rows, 0] - left[:, 0]) / (right[:, 0] - left[:, 0])
    height = left[:, 2] + between * (right[:, 2] - left[:, 2])
    crossings = np.zeros(len(points))
    crossings[rows] = np.where(height > points[rows, 2], turn[rows], 0)
    return crossings
