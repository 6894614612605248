"""Upper bounds of the depths of many points in one large mesh, by an octree that grows where it is needed.

The center of each cell has its distance from the surface, and a side of it. A point is no deeper than that
distance and its offset from the center together, and outside wherever the surface is farther from a center
outside. Centers are measured once for a mesh, whatever moves through it later.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..mesh.mesh_bvh import MeshBvh
from ..mesh.near_triangles import near_triangles
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    chunks_by_cost,
    concatenated_ranges,
    is_run_start,
    length,
    length_first,
    transform_columns,
)
from ..numeric.floating_point import singular_value_range
from ..shapes.primitives import closest_on_triangle, triangles_from_corners

_MANY_TRIANGLES, _FEW_VERTICES = 1 << 12, 1 << 12
"""Triangles from which on a mesh has cells, and vertices up to which all are compared with these at once."""
_LEVELS = 7
"""Times that the cell around the mesh is halved, at most."""
_ROUNDING = 1e-7
"""Part of the size of the mesh within which neither a side nor a bound is certain."""
_POINTS_AT_ONCE = 1 << 14


class DepthCells:
    """Cells (n,) of the octree of a closed mesh, in its space before a matrix; the first one is the root."""

    def __init__(self, mesh: MeshBvh) -> None:
        """Measure the cell around a mesh that does not deform."""
        low, high = mesh.box
        self._half, self._count = float((high - low).max()) / 2, 0
        self._centers, self._distances = np.empty((3, 0)), np.empty(0)
        self._triangles, self._are_inside = np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
        self._children = np.empty(0, dtype=np.int64)
        self._add(mesh, (low / 2 + high / 2)[None], np.zeros(1, dtype=np.int64))

    def deeper_points(
        self, mesh: MeshBvh, points: Floats, least: Floats, radius: Floats
    ) -> tuple[Ints, Floats, Bools, Ints]:
        """Find points around which there may be others that are deeper in the mesh.

        points : (3, n) float64. In the space of the mesh.
        least : (n,) float64. Depths; those outside are negative.
        radius : (n,) float64. Distances of the others.
        Returns rows : (k,) int64. The points.
        Returns most : (k,) float64. Upper bounds of the depths around them.
        Returns are_inside : (k,) bool. Those that are inside for certain.
        Returns triangles : (k,) int64. Triangles near the points.
        """
        parts = []
        for chunk in chunks_by_cost(np.ones(points.shape[1]), _POINTS_AT_ONCE):
            rows, *found = self._deeper_points(mesh, points[:, chunk], least[chunk], radius[chunk])
            parts.append((rows + chunk.start, *found))
        rows, most, are_inside, triangles = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return rows, most, are_inside, triangles

    def _deeper_points(
        self, mesh: MeshBvh, points: Floats, least: Floats, radius: Floats
    ) -> tuple[Ints, Floats, Bools, Ints]:
        low, high = mesh.box[..., None]
        rows = np.flatnonzero(np.minimum(points - low, high - points).min(axis=0) + radius > least)
        node, half, done = np.zeros(len(rows), dtype=np.int64), self._half, []
        for level in range(_LEVELS + 1):
            offset = points[:, rows] - self._centers[:, node]
            apart, distance = length_first(offset) + _ROUNDING * self._half, self._distances[node]
            is_inside = self._are_inside[node]
            most = apart + np.where(is_inside, distance, -distance) + radius[rows]
            kept = np.flatnonzero(most > least[rows])
            rows, node, offset, most = rows[kept], node[kept], offset[:, kept], most[kept]
            is_inside = is_inside[kept] & (apart < distance)[kept]
            # Smaller cells do not bound the depth of what is much larger.
            is_last = radius[rows] > half if level < _LEVELS else np.ones(len(rows), dtype=bool)
            last = np.flatnonzero(is_last)
            done.append((rows[last], most[last], is_inside[last], self._triangles[node[last]]))
            left = np.flatnonzero(~is_last)
            if not len(left):
                break
            rows, half = rows[left], half / 2
            octant = np.array([1, 2, 4]) @ (offset[:, left] > 0)
            node = self._child(mesh, node[left], octant, half)
        rows, most, is_inside, triangles = (np.concatenate(columns) for columns in zip(*done, strict=True))
        return rows, most, is_inside, triangles

    def _child(self, mesh: MeshBvh, node: Ints, octant: Ints, half: float) -> Ints:
        """Return the children (n,) of cells (n,) in octants (n,), and measure new ones."""
        place = 8 * node + octant
        child: Ints = self._children[place]
        new = np.unique(place[child < 0])
        if not len(new):
            return child
        parent, octant = np.divmod(new, 8)
        side = np.where(octant & np.array([[1], [2], [4]]), half, -half)
        centers = np.ascontiguousarray((self._centers[:, parent] + side).T)
        self._children[new] = np.arange(self._count, self._count + len(new))
        self._add(mesh, centers, self._triangles[parent], parent)
        child = self._children[place]
        return child

    def _add(self, mesh: MeshBvh, centers: Floats, near: Ints, parent: Ints | None = None) -> None:
        """Add cells with centers (n, 3) near triangles (n,), whose parents (n,) are known."""
        distance, triangle = _nearest(mesh, centers, near)
        is_inside = np.zeros(len(near), dtype=bool)
        unknown = np.arange(len(near))
        if parent is not None:
            is_inside[:] = self._are_inside[parent]
            apart = length(centers - self._centers[:, parent].T) + _ROUNDING * self._half
            # What no surface is between is on one side.
            unknown = np.flatnonzero(apart >= np.maximum(distance, self._distances[parent]))
        is_inside[unknown] = mesh.surface.contains(centers[unknown])
        begin, self._count = self._count, self._count + len(near)
        new = slice(begin, self._count)
        if self._count > len(self._distances):
            more = 2 * self._count
            self._centers, self._distances = _longer(self._centers, more), _longer(self._distances, more)
            self._triangles = _longer(self._triangles, more)
            self._are_inside = _longer(self._are_inside, more)
            self._children = _longer(self._children, 8 * more)
        self._centers[:, new], self._distances[new] = centers.T, distance
        self._triangles[new], self._are_inside[new] = triangle, is_inside
        self._children[8 * begin : 8 * self._count] = -1


_kept: WeakKeyDictionary[MeshBvh, DepthCells] = WeakKeyDictionary()
"""Cells of meshes that are in use, as far as they have been needed."""


class DeeperVertices(Table):
    """Vertices (n,) of meshes that may be deeper in another one than some depths.

    row, vertex : (n,) int64. Mesh of each, and its index in that.
    points : (n, 3) float64. In the space of the other one.
    most : (n,) float64. Upper bounds of the depths.
    are_inside : (n,) bool. Those that are inside for certain.
    """

    row: Ints
    vertex: Ints
    points: Floats
    most: Floats
    are_inside: Bools


def has_depth_cells(mesh: MeshBvh) -> bool:
    """Return whether a mesh is large, and keeps its shape, so that cells are worth their time."""
    return not mesh.deforms and len(mesh.given) > _MANY_TRIANGLES


def cluster_count(mesh: MeshBvh) -> int:
    """Return the number of clusters that are compared with cells before vertices, or else of vertices."""
    is_small = mesh.deforms or mesh.vertex_count <= _FEW_VERTICES
    return mesh.vertex_count if is_small else len(mesh.nodes.clusters)


def deeper_vertices(a: MeshBvh, b: MeshBvh, matrix: Floats, least: Floats) -> DeeperVertices:
    """Find vertices of one mesh, posed by matrices (m, 4, 4), that may be deeper in another one.

    The other one has cells: see `has_depth_cells`.

    least : (m,) float64. Depths in the space of the other one.
    """
    if b not in _kept:
        _kept[b] = DepthCells(b)
    cells = _kept[b]
    row = np.arange(len(matrix))
    if cluster_count(a) == a.vertex_count:
        row, vertex = row.repeat(a.vertex_count), np.tile(np.arange(a.vertex_count), len(row))
    else:
        center, radius = a.spheres.center, a.spheres.radius
        row, cluster = row.repeat(len(center)), np.tile(np.arange(len(center)), len(row))
        reach = singular_value_range(matrix[:, :3, :3])[1][row] * radius[cluster]
        near = cells.deeper_points(b, _posed(matrix, row, center[cluster]), least[row], reach)[0]
        (vertices, begins), row, cluster = a.vertices_once, row[near], cluster[near]
        sizes = np.diff(begins)[cluster]
        row, vertex = row.repeat(sizes), vertices[concatenated_ranges(begins[cluster], sizes)]
    points = _posed(matrix, row, a.points[vertex])
    near, most, are_inside, triangle = cells.deeper_points(b, points, least[row], np.zeros(len(row)))
    row, local = row[near], np.ascontiguousarray(points[:, near].T)
    most = np.minimum(most, _distances_from_triangles(b, local, triangle))
    found = DeeperVertices(row, vertex[near], local, most, are_inside)
    return found.take(np.flatnonzero(most > least[row]))


def _posed(matrix: Floats, row: Ints, points: Floats) -> Floats:
    """Transform points (n, 3) by matrices (m, 4, 4) in rows (n,), to columns (3, n)."""
    linear = np.ascontiguousarray(np.moveaxis(matrix[:, :3], 0, -1))[..., row]
    return transform_columns(linear[:, :3], np.ascontiguousarray(points.T)) + linear[:, 3]


def _longer(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return values (..., n) with room for more along the last axis."""
    result = np.empty((*values.shape[:-1], size), values.dtype)
    result[..., : values.shape[-1]] = values
    return result


def _distances_from_triangles(mesh: MeshBvh, points: Floats, triangles: Ints) -> Floats:
    """Compute the distances (n,) of points (n, 3) from triangles (n,) in the order of the tree of a mesh."""
    corners = np.asarray(mesh.vertices[mesh.triangles[triangles]], dtype=np.float64)
    return length(closest_on_triangle(points, triangles_from_corners(corners)) - points)


def _nearest(mesh: MeshBvh, points: Floats, near: Ints) -> tuple[Floats, Ints]:
    """Find the distances (n,) of points (n, 3) from a mesh, and the nearest triangles (n,).

    near : (n,) int64. Triangles that are not far.
    """
    distance, triangle = _distances_from_triangles(mesh, points, near), near.copy()
    place, others, _ = near_triangles(mesh, points, distance * (1 + _ROUNDING), np.ones(len(near)))
    apart = _distances_from_triangles(mesh, points[place], others)
    order = np.lexsort((apart, place))
    order = order[is_run_start(place[order])]
    place, others, apart = place[order], others[order], apart[order]
    nearer = apart < distance[place]
    distance[place[nearer]], triangle[place[nearer]] = apart[nearer], others[nearer]
    return distance, triangle
