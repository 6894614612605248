"""Nodes of the tree of a mesh: spheres and boxes around the triangles below them.

The nodes of a sphere tree are built once. Where corners move, spheres and boxes are fitted again: exactly
around a few triangles, and from those of both children above.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints, concatenated_ranges, cross, dot, length, transform_vectors
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..trees.builder import TrianglePartition
from ..trees.sphere_tree import inner_nodes_upward, leaves_in_order

MEASURED = 16
"""Triangles of nodes, at most, whose boxes have axes of their own and whose spheres are the smallest."""
_FACING = 0.5
"""Part of the area of triangles that faces one way, from which on a box lies along them."""


class NodeChildren(NamedTuple):
    """Children of the m nodes of a tree, of which the last ones are triangles of one centroid.

    first : (m,) int64. The first of the children, which are consecutive nodes.
    number : (m,) int64. The number of children; 0 for a triangle.
    slot : (m,) int64. The place of a triangle in the order of the tree; -1 for others.
    """

    first: Ints
    number: Ints
    slot: Ints

    @classmethod
    def of(cls, tree: TrianglePartition) -> NodeChildren:
        """Find the children of all nodes."""
        nodes = len(tree.children)
        first, count = tree.children[:, 0].copy(), np.full(nodes, 2)
        slot = np.full(nodes, -1)
        leaves, starts, sizes = leaves_in_order(tree.children, tree.parts)
        slot[leaves] = np.where(sizes == 1, starts, -1)
        first[leaves] = count[leaves] = 0
        # Triangles with one centroid are not split: each is another node.
        shared, sizes = leaves[sizes > 1], sizes[sizes > 1]
        first[shared], count[shared] = nodes + np.cumsum(sizes) - sizes, sizes
        more = concatenated_ranges(tree.parts[shared, 0], sizes)
        none = np.zeros(len(more), dtype=np.int64)
        return cls(np.append(first, none), np.append(count, none), np.append(slot, more))


class FittedNodes(NamedTuple):
    """The m nodes of a tree, as they lie around the corners of a mesh.

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
    def of(cls, tree: TrianglePartition, slots: Ints, corners: Floats, measured: int) -> FittedNodes:
        """Fit the nodes of a tree to corners (t, 3, 3) in its order.

        slots : (m,) int64. As in `NodeChildren`.
        measured : Triangles of nodes, at most, that are measured exactly; others have boxes along the axes.
        """
        axes = np.tile(np.eye(3), (len(slots), 1, 1))
        parts = np.concatenate([tree.parts, slots[len(tree.parts) :, None] + [0, 1]])
        sizes = np.diff(parts)[:, 0]
        low, high = _node_boxes(tree, corners, parts)
        center = low * 0.5 + high * 0.5
        lowest, highest = low - center, high - center
        extent = length(high - low) / 2
        radius, near = extent.copy(), extent.copy()
        few = np.flatnonzero(sizes <= measured)
        if len(few):
            axes[few] = _axes_of_parts(corners, parts[few, 0], sizes[few])
            columns = _measured(corners, center[few], axes[few], parts[few, 0], sizes[few])
            radius[few], near[few], lowest[few], highest[few] = columns
        for inner, left, right in inner_nodes_upward(tree.children):
            is_above = sizes[inner] > measured
            above, children = inner[is_above], np.stack([left, right], axis=1)[is_above]
            offset = length(center[children] - center[above, None])
            radius[above] = np.minimum((offset + radius[children]).max(axis=1), extent[above])
            near[above] = (offset + near[children]).min(axis=1)
        more = DISTANCE_ROUNDING * radius
        return cls(center, radius + more, axes, lowest - more[:, None], highest + more[:, None], near + more)


def _node_boxes(tree: TrianglePartition, corners: Floats, parts: Ints) -> tuple[Floats, Floats]:
    """Low and high corners (m, 3) of the boxes of nodes around corners (t, 3, 3) in the order of the tree.

    parts : (m, 2) int64. Ranges of the triangles of all nodes, those after the nodes of the tree too.
    """
    leaves, starts, _ = leaves_in_order(tree.children, tree.parts)
    sides = []
    for least in (np.minimum, np.maximum):
        of_triangles, side = least.reduce(corners, axis=1), np.empty((len(parts), 3))
        side[leaves] = least.reduceat(of_triangles, starts)
        side[len(tree.parts) :] = of_triangles[parts[len(tree.parts) :, 0]]
        for nodes, left, right in inner_nodes_upward(tree.children):
            side[nodes] = least(side[left], side[right])
        sides.append(side)
    return sides[0], sides[1]


def _axes_of_parts(corners: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Choose axes (n, 3, 3) of boxes around triangles from `starts` (n,) on: the first faces as they do."""
    faces = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rows = concatenated_ranges(starts, sizes)
    firsts = np.cumsum(sizes) - sizes
    sums = np.add.reduceat(faces[rows], firsts)
    areas = np.add.reduceat(length(faces)[rows], firsts)
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


def _measured(
    corners: Floats, center: Floats, axes: Floats, starts: Ints, sizes: Ints
) -> tuple[Floats, Floats, Floats, Floats]:
    """Measure triangles from `starts` (n,) on, of nodes with a center and axes: see `FittedNodes`.

    Returns the distances (n,) of the farthest corner and of the nearest centroid, and the ranges (n, 3) of
    heights.
    """
    rows, firsts = concatenated_ranges(starts, sizes), np.cumsum(sizes) - sizes
    offset = corners[rows] - center.repeat(sizes, axis=0)[:, None]
    farthest = np.maximum.reduceat(length(offset).max(axis=1), firsts)
    near = np.minimum.reduceat(length(offset.sum(axis=1)) / 3, firsts)
    heights = transform_vectors(axes.repeat(sizes, axis=0)[:, None], offset)
    lowest = np.minimum.reduceat(heights.min(axis=1), firsts)
    return farthest, near, lowest, np.maximum.reduceat(heights.max(axis=1), firsts)
