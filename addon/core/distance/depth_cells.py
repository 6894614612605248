"""Upper bounds of the depths of many points in one large mesh, by grids of cells around it.

The center of each cell has its distance from the surface, negative outside. A point is no deeper than that
and its offset from the center together. Where this is too much, smaller cells follow. Each is measured when
it is first needed, and once for a mesh, whatever moves through it later.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..mesh.mesh_bvh import MeshBvh
from ..mesh.near_triangles import least_distances, near_triangles
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
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
_CLUSTERS = 32
"""Clusters that are compared together first."""
_CELLS, _PARTS = 1 << 10, (1, 2, 4)
"""Largest cells in the box around a mesh, about, and parts of their sides that are sides of smaller ones."""
_ROUNDING = 1e-7
"""Part of a distance that is added to it where it bounds a search."""
_SLACK = 1 / 32
"""Part of the side of a cell by which its distance may be too large, so that few triangles are compared."""
_POINTS_AT_ONCE = 1 << 17


class DepthCells:
    """Grids of cells in the box around a closed mesh that keeps its shape, in the space before its matrix."""

    def __init__(self, mesh: MeshBvh) -> None:
        """Divide the box into cells, without measuring them."""
        self._low, high = mesh.box
        extent = high - self._low
        largest = float(extent.max()) or 1.0
        # Relative to the largest one, because the product of all three may overflow or vanish.
        parts = np.maximum(extent / largest, 1 / _CELLS)
        side = float(np.cbrt(parts.prod() / _CELLS))
        self._side = side * largest
        self._counts = np.ceil(parts / side).astype(np.int64)
        sizes = [int(self._counts.prod()) * parts**3 for parts in _PARTS]
        self._depths = [np.full(size, np.nan) for size in sizes]
        self._triangles = [np.zeros(size, dtype=np.int32) for size in sizes]

    def deeper_points(
        self, mesh: MeshBvh, points: Floats, least: Floats, radius: Floats
    ) -> tuple[Ints, Floats, Bools, Ints]:
        """Find points around which any other one may be deeper in the mesh.

        points : (3, n) float64. In the space of the mesh.
        least : (n,) float64. Depths; those outside are negative.
        radius : (n,) float64. Distances from each up to which another one counts.
        Returns rows : (k,) int64. The points.
        Returns most : (k,) float64. Upper bounds of the depths around them.
        Returns are_inside : (k,) bool. Those that are inside for certain.
        Returns triangles : (k,) int64. Triangles near the points.
        """
        low, high = mesh.box[..., None]
        most = np.minimum(points - low, high - points).min(axis=0) + radius
        parts, rows = [], np.flatnonzero(most > least)
        for chunk in np.array_split(rows, 1 + len(rows) // _POINTS_AT_ONCE):
            place, *found = self._deeper_points(mesh, points[:, chunk], least[chunk], radius[chunk])
            parts.append((chunk[place], *found))
        rows, most, are_inside, triangles = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return rows, most, are_inside, triangles

    def _deeper_points(
        self, mesh: MeshBvh, points: Floats, least: Floats, radius: Floats
    ) -> tuple[Ints, Floats, Bools, Ints]:
        """Find points within the box as `deeper_points`, or beyond it by their radius."""
        rows, place, done = np.arange(len(least)), (points - self._low[:, None]) / self._side, []
        for level, parts in enumerate(_PARTS):
            cell = np.clip(np.floor(place * parts), 0, self._counts[:, None] * parts - 1)
            apart = length_first(place - (cell + 0.5) / parts) * self._side + self._slack(parts)
            cells = self._numbers(cell.astype(np.int64), parts)
            self._measure(mesh, level, cells)
            depth = self._depths[level][cells]
            most = apart + depth + radius
            is_left = most > least
            # Smaller cells do not bound the depth of what is much larger.
            is_last = is_left & ((radius * parts > self._side) | (parts == _PARTS[-1]))
            last = np.flatnonzero(is_last)
            triangles = self._triangles[level][cells[last]].astype(np.int64)
            done.append((rows[last], most[last], (depth > apart)[last], triangles))
            left = np.flatnonzero(is_left & ~is_last)
            rows, least, radius = rows[left], least[left], radius[left]
            place = place[:, left]
        rows, most, are_inside, triangles = (np.concatenate(columns) for columns in zip(*done, strict=True))
        return rows, most, are_inside, triangles

    def _slack(self, parts: int) -> float:
        """Return by how much less than it is given for a cell the distance from its center may be."""
        return _SLACK * self._side / parts

    def _numbers(self, cell: Ints, parts: int) -> Ints:
        """Numbers (n,) of cells (3, n) by axes."""
        _, y, z = (self._counts * parts).tolist()
        return np.asarray((cell[0] * y + cell[1]) * z + cell[2])

    def _measure(self, mesh: MeshBvh, level: int, cells: Ints) -> None:
        """Measure the depths of the centers of cells (n,) that are not known."""
        parts, depths = _PARTS[level], self._depths[level]
        new = np.unique(cells[np.isnan(depths[cells])])
        if not len(new):
            return
        cell = np.array(np.unravel_index(new, self._counts * parts))
        centers = np.ascontiguousarray((self._low[:, None] + (cell + 0.5) * (self._side / parts)).T)
        slack = self._slack(parts)
        if level:
            ratio = parts // _PARTS[level - 1]
            above = self._numbers(cell // ratio, _PARTS[level - 1])
            middle = (cell // ratio + 0.5) * ratio
            apart = length_first(cell + 0.5 - middle) * (self._side / parts)
            depth, near = self._depths[level - 1][above], self._triangles[level - 1][above].astype(np.int64)
        else:
            apart, depth, near = np.full(len(new), np.inf), np.zeros(len(new)), _near_clusters(mesh, centers)
        distance, self._triangles[level][new] = _nearest(mesh, centers, near, slack)
        is_inside = depth > 0
        # What no surface is between is on one side.
        unknown = np.flatnonzero(apart + 2 * slack >= np.maximum(distance, np.abs(depth)))
        is_inside[unknown] = mesh.contains(centers[unknown])
        depths[new] = np.where(is_inside, distance, -distance)


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
    """Return the number of clusters, or of vertices where all of them are compared with cells."""
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
        stretch = singular_value_range(matrix[:, :3, :3])[1]
        groups, (vertices, begins) = _groups(a), a.vertices_once
        row, vertex = row.repeat(len(groups[1])), np.tile(np.arange(len(groups[1])), len(row))
        for center, radius, starts in (groups, (a.spheres.center, a.spheres.radius, begins)):
            points = _posed(matrix, row, center[vertex])
            near = cells.deeper_points(b, points, least[row], stretch[row] * radius[vertex])[0]
            sizes = np.diff(starts)[vertex[near]]
            row, vertex = row[near].repeat(sizes), concatenated_ranges(starts[vertex[near]], sizes)
        vertex = vertices[vertex]
    points = _posed(matrix, row, a.points[vertex])
    near, most, are_inside, triangle = cells.deeper_points(b, points, least[row], np.zeros(len(row)))
    row, local = row[near], np.ascontiguousarray(points[:, near].T)
    most = np.minimum(most, _distances_from_triangles(b, local, triangle))
    found = DeeperVertices(row, vertex[near], local, most, are_inside)
    return found.take(np.flatnonzero(most > least[row]))


def _groups(mesh: MeshBvh) -> tuple[Floats, Floats, Ints]:
    """Centers (g, 3) and radii (g,) of groups of consecutive clusters, and where they begin (g + 1,)."""
    center, radius = mesh.spheres.center, mesh.spheres.radius
    starts = np.arange(0, len(center), _CLUSTERS)
    middle = np.minimum.reduceat(center, starts) / 2 + np.maximum.reduceat(center, starts) / 2
    starts = np.append(starts, len(center))
    apart = length(center - middle.repeat(np.diff(starts), axis=0)) + radius
    return middle, np.maximum.reduceat(apart, starts[:-1]) * (1 + _ROUNDING), starts


def _posed(matrix: Floats, row: Ints, points: Floats) -> Floats:
    """Transform points (n, 3) by matrices (m, 4, 4) in rows (n,), to columns (3, n)."""
    linear = np.ascontiguousarray(np.moveaxis(matrix[:, :3], 0, -1))[..., row]
    return transform_columns(linear[:, :3], np.ascontiguousarray(points.T)) + linear[:, 3]


def _near_clusters(mesh: MeshBvh, points: Floats) -> Ints:
    """Find a triangle (n,) of the cluster of a mesh whose center is the nearest one to points (n, 3)."""
    centers = mesh.spheres.center
    nearest = [
        length(part[:, None] - centers).argmin(axis=1)
        for part in np.array_split(points, 1 + len(points) * len(centers) // _POINTS_AT_ONCE)
    ]
    clusters = mesh.nodes.clusters[np.concatenate(nearest)]
    return np.asarray(mesh.nodes.first_triangle[clusters])


def _distances_from_triangles(mesh: MeshBvh, points: Floats, triangles: Ints) -> Floats:
    """Compute the distances (n,) of points (n, 3) from triangles (n,) in the order of the tree of a mesh."""
    corners = np.asarray(mesh.vertices[mesh.triangles[triangles]], dtype=np.float64)
    return length(closest_on_triangle(points, triangles_from_corners(corners)) - points)


def _nearest(mesh: MeshBvh, points: Floats, near: Ints, slack: float) -> tuple[Floats, Ints]:
    """Find the distances (n,) of points (n, 3) from a mesh, too large by a slack at most, and near triangles.

    near : (n,) int64. Triangles that are not far.
    """
    distance, triangle = _distances_from_triangles(mesh, points, near), near.copy()
    place, near, _ = near_triangles(mesh, points, distance * (1 + _ROUNDING), np.ones(len(near)))
    to_center = length(points[place] - mesh.spheres.triangle_center[near])
    low = least_distances(mesh, points[place], near, to_center)
    # The one with the nearest center first, because it leaves few that may be nearer by more than the slack.
    order = np.lexsort((to_center, place))
    is_first = is_run_start(place[order])
    for tried in (order[is_first], order[~is_first]):
        tried = tried[low[tried] < distance[place[tried]] - slack]
        apart = _distances_from_triangles(mesh, points[place[tried]], near[tried])
        tried, apart = tried[nearest := np.lexsort((apart, place[tried]))], apart[nearest]
        is_nearer = is_run_start(place[tried]) & (apart < distance[place[tried]])
        row = place[tried[is_nearer]]
        distance[row], triangle[row] = apart[is_nearer], near[tried[is_nearer]]
    return distance, triangle
