"""The parts of a mesh, as a sphere tree has them, and between what bounds each may be away from something."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, dot, length
from .closest_points import closest_on_triangle
from .shapes import Sphere, Triangle
from .sphere_tree import SphereTree, level_starts
from .sphere_tree_fitting import sphere_tree_from_triangles
from .tree_descent import Bounds, Rows

_LEAF_TRIANGLES = 8
"""Measuring so many triangles costs about as much as going down the levels that would tell them apart."""

_ROUNDING = 64 * np.finfo(np.float64).eps


class MeshParts(NamedTuple):
    """A sphere tree around a mesh, and what bounds the distances of its parts.

    near : (m,) a triangle of the part comes that close to the centre of its sphere
    least_normal, most_normal : (m, 3) between these are the normals of all of its triangles
    least_height, most_height : (m,) and between these the heights of the centre above their planes
    """

    tree: SphereTree
    one_sided: bool
    near: Floats
    least_normal: Floats
    most_normal: Floats
    least_height: Floats
    most_height: Floats

    @classmethod
    def of(cls, triangles: Triangle) -> MeshParts:
        """The parts of triangles (t,)."""
        count = len(triangles.a)
        tree = sphere_tree_from_triangles(triangles, depth=count, leaf_triangles=_LEAF_TRIANGLES)
        nodes = len(tree.children)
        near, least_height, most_height = (np.empty(nodes) for _ in range(3))
        least_normal, most_normal = np.empty((nodes, 3)), np.empty((nodes, 3))
        leaves = tree.leaves[np.argsort(tree.parts[tree.leaves, 0])]
        starts, ends = tree.parts[leaves].T
        center = tree.center[leaves].repeat(ends - starts, axis=0)
        ordered = triangles[tree.order]
        distance = length(closest_on_triangle(center, ordered) - center)
        near[leaves] = np.minimum.reduceat(distance, starts)
        normal = ordered.normal
        height = dot(center - ordered.a, normal)
        for low, high, values in (
            (least_normal, most_normal, normal),
            (least_height, most_height, height),
        ):
            low[leaves] = np.minimum.reduceat(values, starts, axis=0)
            high[leaves] = np.maximum.reduceat(values, starts, axis=0)
        levels = level_starts(tree.children)
        for start, end in zip(levels[-3::-1], levels[-2:0:-1], strict=True):
            node = start + np.flatnonzero(tree.children[start:end, 0] >= 0)
            below = tree.children[node]
            offset = tree.center[node][:, None] - tree.center[below]
            near[node] = (near[below] + length(offset)).min(axis=1)
            least_normal[node] = least_normal[below].min(axis=1)
            most_normal[node] = most_normal[below].max(axis=1)
            lift = _heights(offset, least_normal[below], most_normal[below])
            least_height[node] = (least_height[below] + lift[0]).min(axis=1)
            most_height[node] = (most_height[below] + lift[1]).max(axis=1)
        return cls(tree, triangles.one_sided, near, least_normal, most_normal, least_height, most_height)

    @property
    def two_sided(self) -> MeshParts:
        """The same parts, seen from behind too."""
        return self._replace(one_sided=False)

    def bounds(self, sphere: Sphere) -> Bounds:
        """Of spheres (n,): bounds of the separation from the nearest triangle of parts, see tree_descent."""
        tree = self.tree
        size = np.abs(tree.center[0]).max() + tree.radius[0]
        slack = _ROUNDING * (size + np.abs(sphere.center).max(axis=-1) + sphere.radius)

        def bounds(rows: Rows) -> tuple[Floats, Floats]:
            i, node = rows.element, rows.b
            offset = sphere.center[i] - tree.center[node]
            distance, loose = length(offset), slack[i]
            low = distance - tree.radius[node] - sphere.radius[i] - loose
            high = distance + self.near[node] - sphere.radius[i]
            if self.one_sided:
                least, most = _heights(offset, self.least_normal[node], self.most_normal[node])
                low = np.where(most + self.most_height[node] < -loose, np.inf, low)
                high = np.where(least + self.least_height[node] < loose, np.inf, high)
            return low, high

        return bounds


def _heights(offset: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """Bounds (...) of the products of vectors (..., 3) with all normals between two (..., 3)."""
    one, other = offset * least, offset * most
    return np.minimum(one, other).sum(axis=-1), np.maximum(one, other).sum(axis=-1)
