"""Distance bounds for the nodes of a sphere tree around a mesh.

From both sides they bound the separation between a sphere and the nearest triangle of a node. The normals of
a node's triangles are bounded by boxes, so that nodes that face away from a sphere are culled on one-sided
meshes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, dot, length
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Sphere, Triangle
from ..shapes.primitives import closest_on_triangle
from ..trees.builder import sphere_tree_from_triangles
from ..trees.sphere_tree import SphereTree, level_starts
from ..trees.traversal import NodePairBounds, NodePairs

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
        count = len(triangles.a)
        tree = sphere_tree_from_triangles(triangles, depth=count, leaf_triangles=LEAF_TRIANGLES)
        nodes = len(tree.children)
        near, min_height, max_height = (np.empty(nodes) for _ in range(3))
        min_normal, max_normal = np.empty((nodes, 3)), np.empty((nodes, 3))
        leaves = tree.leaves[np.argsort(tree.parts[tree.leaves, 0])]
        starts, ends = tree.parts[leaves].T
        center = tree.center[leaves].repeat(ends - starts, axis=0)
        ordered = triangles[tree.order]
        distance = length(closest_on_triangle(center, ordered) - center)
        near[leaves] = np.minimum.reduceat(distance, starts)
        normal = ordered.normal
        height = dot(center - ordered.a, normal)
        for low, high, values in (
            (min_normal, max_normal, normal),
            (min_height, max_height, height),
        ):
            low[leaves] = np.minimum.reduceat(values, starts, axis=0)
            high[leaves] = np.maximum.reduceat(values, starts, axis=0)
        levels = level_starts(tree.children)
        for start, end in zip(levels[-3::-1], levels[-2:0:-1], strict=True):
            node = start + np.flatnonzero(tree.children[start:end, 0] >= 0)
            children = tree.children[node]
            offset = tree.center[node][:, None] - tree.center[children]
            near[node] = (near[children] + length(offset)).min(axis=1)
            min_normal[node] = min_normal[children].min(axis=1)
            max_normal[node] = max_normal[children].max(axis=1)
            lift = _height_range(offset, min_normal[children], max_normal[children])
            min_height[node] = (min_height[children] + lift[0]).min(axis=1)
            max_height[node] = (max_height[children] + lift[1]).max(axis=1)
        return cls(tree, triangles.one_sided, near, min_normal, max_normal, min_height, max_height)

    @property
    def two_sided(self) -> MeshParts:
        """Return the same bounds for two-sided triangles."""
        return self._replace(one_sided=False)

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
