"""Distance bounds for the nodes of a sphere tree around a mesh.

From both sides they bound the separation between a sphere and the nearest triangle of a node. The normals of
a node's triangles are bounded by boxes, so that nodes that face away from a sphere are culled on one-sided
meshes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints, dot, length
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Sphere, Triangle
from ..shapes.primitives import closest_on_triangle
from ..trees.builder import sphere_tree_from_triangles
from ..trees.sphere_tree import SphereTree, concatenated_ranges, inner_nodes_upward, leaves_in_order
from ..trees.traversal import SINGLE_NODE, NodePairBounds, NodePairs, find_candidate_leaf_pairs

LEAF_TRIANGLES = 8
"""Triangles in a leaf: measuring this many costs as much as traversing the levels that would split them."""


class MeshParts(NamedTuple):
    """A sphere tree of m nodes around a mesh, with distance bounds for each node.

    tree : SphereTree
    one_sided : Spheres behind a triangle are infinitely far away from it.
    near_distance : (m,) float64. At least one triangle of the node is within this distance of the center of
        its sphere.
    min_normal, max_normal : (m, 3) float64. Box around the unit normals of the node's triangles.
    min_height, max_height : (m,) float64. Range of the signed heights of the sphere's center above the
        planes of the triangles.
    """

    tree: SphereTree
    one_sided: bool
    near_distance: Floats
    min_normal: Floats
    max_normal: Floats
    min_height: Floats
    max_height: Floats

    @classmethod
    def of(cls, triangles: Triangle) -> MeshParts:
        """Build the tree and its bounds for triangles (t,)."""
        tree = sphere_tree_from_triangles(triangles, depth=len(triangles.a), leaf_triangles=LEAF_TRIANGLES)
        nodes = len(tree.children)
        leaves, starts, sizes = leaves_in_order(tree.children, tree.parts)
        center = tree.center[leaves].repeat(sizes, axis=0)
        ordered = triangles[tree.order]
        normal = ordered.normal
        near = np.empty(nodes)
        near[leaves] = np.minimum.reduceat(length(closest_on_triangle(center, ordered) - center), starts)
        normals, heights = np.empty((2, nodes, 3)), np.empty((2, nodes))
        for values, of_leaves in ((normals, normal), (heights, dot(center - ordered.a, normal))):
            for least, side in zip((np.minimum, np.maximum), values, strict=True):
                side[leaves] = least.reduceat(of_leaves, starts, axis=0)
        for node, *both in inner_nodes_upward(tree.children):
            children = np.stack(both, axis=1)
            offset = tree.center[node][:, None] - tree.center[children]
            near[node] = (near[children] + length(offset)).min(axis=1)
            lift = _height_range(offset, normals[0][children], normals[1][children])
            for k, least in enumerate((np.minimum, np.maximum)):
                normals[k, node] = least.reduce(normals[k][children], axis=1)
                heights[k, node] = least.reduce(heights[k][children] + lift[k], axis=1)
        return cls(tree, triangles.one_sided, near, *normals, *heights)

    @property
    def two_sided(self) -> MeshParts:
        """Return the same bounds for two-sided triangles."""
        return self._replace(one_sided=False)

    def candidates(self, elements: Ints, bounds: NodePairBounds) -> tuple[Ints, Ints]:
        """Elements and triangles (k,), the pairs of which may have the smallest value of their element."""
        rows, _ = find_candidate_leaf_pairs(elements, SINGLE_NODE, self.tree.children, bounds)
        first, last = self.tree.parts[rows.b].T
        sizes = last - first
        return rows.element.repeat(sizes), self.tree.order[concatenated_ranges(first, sizes)]

    def bounds(self, sphere: Sphere) -> NodePairBounds:
        """Return traversal bounds of the separation between spheres (n,) and their nearest triangle.

        The second node of a pair is one of this tree; the first stands for the sphere. Lower bounds allow
        for the rounding of the separation.
        """
        tree = self.tree
        size = np.abs(tree.center[0]).max() + tree.radius[0]
        slack = DISTANCE_ROUNDING * (size + np.abs(sphere.center).max(axis=-1) + sphere.radius)

        def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
            i, node = rows.element, rows.b
            offset = sphere.center[i] - tree.center[node]
            distance, rounding = length(offset), slack[i]
            low = distance - tree.radius[node] - sphere.radius[i] - rounding
            high = distance + self.near_distance[node] - sphere.radius[i]
            if self.one_sided:
                lowest, highest = _height_range(offset, self.min_normal[node], self.max_normal[node])
                low = np.where(highest + self.max_height[node] < -rounding, np.inf, low)
                high = np.where(lowest + self.min_height[node] < rounding, np.inf, high)
            return low, high

        return bounds


def _height_range(offset: Floats, min_normal: Floats, max_normal: Floats) -> tuple[Floats, Floats]:
    """Range (...) of the dot products of vectors (..., 3) with all normals in a box (..., 3)."""
    one, other = offset * min_normal, offset * max_normal
    return np.minimum(one, other).sum(axis=-1), np.maximum(one, other).sum(axis=-1)
