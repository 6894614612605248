"""Nodes of the tree of a mesh: spheres and boxes around the triangles below them.

The nodes of a tree are built once. Where corners move, nodes of many triangles are fitted again from the
boxes of clusters of triangles; nodes of few triangles are measured when a search comes to them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import (
    CHUNK_ROWS,
    Floats,
    Ints,
    concatenated_ranges,
    cross,
    dot,
    is_run_start,
    length,
    transform_vectors,
    unit_or_zero,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..progress import pause
from ..trees.builder import TrianglePartition
from ..trees.sphere_tree import inner_nodes_upward

CLUSTER = 32
"""Triangles of a node, at most, that are measured one by one."""
_FACING = 0.5
"""Part of the area of triangles that faces one way, from which on a box lies along them."""

_THIN = 1e-6
"""Area of a triangle, relative to the square of its radius, from which on its normal is exact enough."""


class MeshNodes(NamedTuple):
    """The m nodes of the tree of a mesh, down to single triangles: what they consist of, wherever these lie.

    first_child : (m,) int64. The first of the children, which are consecutive nodes.
    child_count : (m,) int64. The number of children; 0 for a triangle.
    first_triangle, triangle_count : (m,) int64. Range of the triangles in the order of the tree.
    clusters : (c,) int64. Nodes of at most `CLUSTER` triangles, in their order, below nodes of more.
    vertices : (k,) int64. Vertices of the triangles of the clusters, each once in a cluster.
    first_vertex : (c,) int64. Where those of each cluster begin.
    levels : Nodes above clusters with both children, level by level from below.
    """

    first_child: Ints
    child_count: Ints
    first_triangle: Ints
    triangle_count: Ints
    clusters: Ints
    vertices: Ints
    first_vertex: Ints
    levels: list[tuple[Ints, Ints, Ints]]

    @classmethod
    def of(cls, tree: TrianglePartition, triangles: Ints) -> MeshNodes:
        """Take the nodes of a tree of triangles, as the vertices (t, 3) of each in its order."""
        nodes, begin, count = len(tree.children), tree.parts[:, 0], np.diff(tree.parts)[:, 0]
        # Triangles with one centroid are not split: each is another node.
        shared = np.flatnonzero((tree.children[:, 0] < 0) & (count > 1))
        sizes = count[shared]
        first, children = tree.children[:, 0].copy(), np.where(tree.children[:, 0] < 0, 0, 2)
        first[shared], children[shared] = nodes + np.cumsum(sizes) - sizes, sizes
        first[children == 0] = 0
        single = concatenated_ranges(begin[shared], sizes)
        none = np.zeros(len(single), dtype=np.int64)
        is_above = (count > CLUSTER) & (tree.children[:, 0] >= 0)
        below = np.append(0, tree.children[is_above].ravel())
        clusters = below[~is_above[below]]
        clusters = clusters[np.argsort(begin[clusters])]
        cluster = np.arange(len(clusters)).repeat(3 * count[clusters])
        # The vertices of each cluster, sorted, without those that are there twice. Sorting them takes a fifth
        # of the time of `np.unique`.
        keys = np.sort(cluster * (int(triangles.max()) + 1) + triangles.ravel())
        cluster, vertices = np.divmod(keys[is_run_start(keys)], int(triangles.max()) + 1)
        levels = []
        for inner, left, right in inner_nodes_upward(tree.children):
            rows = np.flatnonzero(is_above[inner])
            if len(rows):
                levels.append((inner[rows], left[rows], right[rows]))
        return cls(
            np.append(first, none),
            np.append(children, none),
            np.append(begin, single),
            np.append(count, none + 1),
            clusters,
            vertices,
            np.searchsorted(cluster, np.arange(len(clusters))),
            levels,
        )


class FittedNodes(NamedTuple):
    """Nodes (m,) of a tree, as they lie around the corners of a mesh.

    center : (m, 3) float64. Centers of spheres around the triangles of each node.
    radius : (m,) float64. Radii of these spheres, rounded up.
    axes : (m, 3, 3) float64. Unit vectors, one in each row, that are the axes of a box.
    lowest, highest : (m, 3) float64. Range of the heights of the corners above the center along the axes.
    near_distance : (m,) float64. At least one triangle of the node is within this distance of the center.
    """

    center: Floats
    radius: Floats
    axes: Floats
    lowest: Floats
    highest: Floats
    near_distance: Floats

    @classmethod
    def large(cls, nodes: MeshNodes, points: Floats) -> tuple[Ints, FittedNodes]:
        """Fit the root, clusters, and the nodes above them, to vertices (v, 3): boxes along the axes.

        Returns these nodes (m,), of which the root is the first one.
        """
        columns = np.ascontiguousarray(points.T).take(nodes.vertices, axis=1)
        sides = []
        for least in (np.minimum, np.maximum):
            side = np.empty((len(nodes.first_child), 3))
            side[nodes.clusters] = least.reduceat(columns, nodes.first_vertex, axis=1).T
            for above, left, right in nodes.levels:
                side[above] = least(side[left], side[right])
            sides.append(side)
        rows = np.concatenate([*(above for above, _, _ in reversed(nodes.levels)), nodes.clusters])
        low, high = sides[0][rows], sides[1][rows]
        center = low * 0.5 + high * 0.5
        extent = length(high - low) / 2
        extent += DISTANCE_ROUNDING * extent
        axes = np.broadcast_to(np.eye(3), (len(rows), 3, 3))
        return rows, cls._rounded(center, extent, axes, low - center, high - center, extent)

    @classmethod
    def measured(cls, corners: Floats, sizes: Ints) -> FittedNodes:
        """Fit nodes (n,) to their triangles: boxes along these, and spheres about the center of the box.

        corners : (k, 3, 3) float64. The triangles, node by node.
        sizes : (n,) int64. Number of the triangles of each, >= 1.
        """
        starts = np.cumsum(sizes) - sizes
        low = np.minimum.reduceat(corners.min(axis=1), starts)
        center = low * 0.5 + np.maximum.reduceat(corners.max(axis=1), starts) * 0.5
        axes = _axes_of_triangles(corners, starts, sizes)
        offset = corners - center.repeat(sizes, axis=0)[:, None]
        radius = np.maximum.reduceat(length(offset).max(axis=1), starts)
        near = np.minimum.reduceat(length(offset.sum(axis=1)) / 3, starts)
        heights = transform_vectors(axes.repeat(sizes, axis=0)[:, None], offset)
        lowest = np.minimum.reduceat(heights.min(axis=1), starts)
        highest = np.maximum.reduceat(heights.max(axis=1), starts)
        return cls._rounded(center, radius, axes, lowest, highest, near)

    @classmethod
    def _rounded(
        cls, center: Floats, radius: Floats, axes: Floats, lowest: Floats, highest: Floats, near: Floats
    ) -> FittedNodes:
        """Make nodes (n,) whose bounds are rounded up."""
        more = DISTANCE_ROUNDING * radius
        return cls(center, radius + more, axes, lowest - more[:, None], highest + more[:, None], near + more)


class ClusterSpheres(NamedTuple):
    """Spheres around the triangles of a mesh (t,) and around its clusters (c,).

    center, radius : (c, 3) and (c,) float64. Of the clusters.
    triangle_center, triangle_radius : (t, 3) and (t,) float64. In the order of the tree.
    triangle_normal : (t, 3) float64. Unit vectors; zero for triangles of which these would be rounding.
    """

    center: Floats
    radius: Floats
    triangle_center: Floats
    triangle_radius: Floats
    triangle_normal: Floats

    @classmethod
    def of(cls, nodes: MeshNodes, corners: Floats) -> ClusterSpheres:
        """Measure triangles (t, 3, 3) in the order of the tree."""
        starts, sizes = nodes.first_triangle[nodes.clusters], nodes.triangle_count[nodes.clusters]
        middle, normal = np.empty((2, len(corners), 3))
        reach = np.empty(len(corners))
        # In parts, because all would take several times the memory of a large mesh, and longer.
        for begin in range(0, len(corners), CHUNK_ROWS):
            pause()
            part = slice(begin, begin + CHUNK_ROWS)
            middle[part], reach[part], normal[part] = _measured_triangles(corners[part])
        center = np.minimum.reduceat(middle, starts) / 2 + np.maximum.reduceat(middle, starts) / 2
        radius = np.maximum.reduceat(length(middle - center.repeat(sizes, axis=0)) + reach, starts)
        return cls(center, radius * (1 + DISTANCE_ROUNDING), middle, reach, normal)


class ClusterBoxes(NamedTuple):
    """Boxes around the clusters of a mesh and the nodes above them (k,): the root, then level by level.

    center, half : (k, 3) float64. Centers and half extents.
    reach : (k,) float64. A triangle is within this distance of the center.
    first_child : (k,) int64. The first of two consecutive children; -1 - c for cluster c.
    """

    center: Floats
    half: Floats
    reach: Floats
    first_child: Ints

    @classmethod
    def of(cls, nodes: MeshNodes, fitted: FittedNodes) -> ClusterBoxes:
        """Take the boxes of nodes that `FittedNodes.large` has fitted.

        fitted : FittedNodes, (k,)
        """
        above = [np.stack(level, axis=1) for level in reversed(nodes.levels)]
        node, left, right = np.concatenate([*above, np.empty((0, 3), dtype=np.int64)]).T
        # Siblings follow each other; the root is first.
        order = np.append(node[:1], np.stack([left, right], axis=1).ravel())
        lookup = np.empty(len(nodes.first_child), dtype=np.int64)
        lookup[np.concatenate([node, nodes.clusters])] = np.arange(len(fitted.radius))
        fitted = FittedNodes._make(column[lookup[order]] for column in fitted)
        first_child = np.empty(len(nodes.first_child), dtype=np.int64)
        first_child[node] = 1 + 2 * np.arange(len(node))
        first_child[nodes.clusters] = -1 - np.arange(len(nodes.clusters))
        half = np.maximum(fitted.highest, -fitted.lowest)
        return cls(fitted.center, half, fitted.near_distance, first_child[order])


def _measured_triangles(corners: Floats) -> tuple[Floats, Floats, Floats]:
    """Centers, radii around these and normals of triangles (t, 3, 3): see `ClusterSpheres`."""
    middle = corners.mean(axis=1)
    reach = length(corners - middle[:, None]).max(axis=1) * (1 + DISTANCE_ROUNDING)
    area = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return middle, reach, unit_or_zero(np.where((length(area) > _THIN * reach**2)[:, None], area, 0.0))


def _axes_of_triangles(corners: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Choose axes (n, 3, 3) of boxes around triangles from `starts` (n,) on: the first faces as they do."""
    faces = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums, areas = np.add.reduceat(faces, starts), np.add.reduceat(length(faces), starts)
    size = length(sums)
    axes = np.tile(np.eye(3), (len(starts), 1, 1))
    facing = np.flatnonzero(size > _FACING * areas)
    normal = sums[facing] / size[facing, None]
    # Along the axis to which the normal is most nearly perpendicular.
    other = np.eye(3)[np.abs(normal).argmin(axis=1)]
    second = other - dot(other, normal)[:, None] * normal
    second /= length(second)[:, None]
    axes[facing] = np.stack([normal, second, cross(normal, second)], axis=1)
    return axes
