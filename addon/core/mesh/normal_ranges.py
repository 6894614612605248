"""Ranges of the normals below the nodes of a mesh, to find points behind all triangles of a node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints, dot
from ..shapes.primitives import triangles_from_corners
from .mesh_bvh import MeshBvh


class NormalRanges(NamedTuple):
    """Ranges of the planes of the triangles below nodes (m,).

    origin : (3,) float64. A point in the middle of the mesh.
    least, most : (m, 4) float64. Ranges of the unit normals, and of the heights of the origin above planes.
    """

    origin: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, mesh: MeshBvh) -> NormalRanges:
        """Measure the nodes of a mesh."""
        origin, corners = mesh.sphere[0], mesh.corners
        normal = triangles_from_corners(corners).normal
        planes = np.column_stack([normal, dot(origin - corners[:, 0], normal)])
        begin, count = mesh.nodes.first_triangle, mesh.nodes.triangle_count
        # Parents before their children and left before right, so that no range begins after the one before
        # it ends: reduceat then has nothing to reduce in between.
        order = np.lexsort((-count, begin))
        ranges = np.stack([begin, begin + count], axis=1)[order].ravel()
        padded = np.concatenate([planes, planes[-1:]])
        sides = np.empty((2, len(order), 4))
        for side, least in zip(sides, (np.minimum, np.maximum), strict=True):
            side[order] = least.reduceat(padded, ranges)[::2]
        return cls(origin, *sides)

    def heights(self, node: Ints, points: Floats) -> tuple[Floats, Floats]:
        """Bound the signed heights of points (k, 3) above the planes of all triangles of nodes (k,)."""
        factors = np.ones((len(node), 4))
        factors[:, :3] = points - self.origin
        one, other = factors * self.least[node], factors * self.most[node]
        return np.minimum(one, other).sum(axis=1), np.maximum(one, other).sum(axis=1)
