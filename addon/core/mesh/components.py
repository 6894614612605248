"""Connected components of graphs and of triangle meshes.

Components are found by hooking and pointer jumping over arrays (Shiloach and Vishkin 1982).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Bools, Floats, Ints

_NEXT = [1, 2, 0]


def connected_components(count: int, edges: NDArray[np.integer]) -> Ints:
    """Label the connected components of a graph. Exact.

    count : Number of vertices, >= 0.
    edges : (e, 2) int. Pairs of vertex indices, each below `count`.
    Returns component : (count,) int64. The component of each vertex, numbered from 0 in the order of their
        first vertices.
    """
    root = np.arange(count)
    a, b = edges.astype(np.int64).T
    while True:
        # Hook the higher root of each edge to the lower one, then shorten all paths.
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        is_open = low != high
        if not is_open.any():
            break
        np.minimum.at(root, high[is_open], low[is_open])
        shorter = root[root]
        while not np.array_equal(shorter, root):
            root, shorter = shorter, shorter[shorter]
        a, b = a[is_open], b[is_open]
    component: Ints = np.unique(root, return_inverse=True)[1].reshape(-1)
    return component


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
    def of(cls, corners: Floats) -> ConnectedComponents:
        """Find the components of triangles with corners (t, 3, 3), shared where exactly equal."""
        vertices = _vertex_indices(corners.reshape(-1, 3)).reshape(-1, 3)
        count = int(vertices.max()) + 1
        start, end = vertices.ravel(), vertices[:, _NEXT].ravel()
        component = connected_components(count, np.stack([start, end], axis=1))
        _, corner, of_corner = np.unique(component[vertices.ravel()], return_index=True, return_inverse=True)
        of_triangle = of_corner.reshape(-1, 3)[:, 0]
        low, high = np.minimum(start, end), np.maximum(start, end)
        # Skip sides of length zero, because they are no edges.
        sides = np.flatnonzero(low < high)
        _, edge = np.unique(low[sides] * count + high[sides], return_inverse=True)
        edge = edge.ravel()
        uses = np.bincount(edge)
        balance = np.bincount(edge, np.where(start < end, 1.0, -1.0)[sides])
        of_side = np.repeat(of_triangle, 3)[sides]
        is_closed, is_oriented = np.ones(len(corner), dtype=bool), np.ones(len(corner), dtype=bool)
        is_closed[of_side[(uses % 2 != 0)[edge]]] = False
        is_oriented[of_side[(balance != 0)[edge]]] = False
        return cls(of_triangle, corner, is_closed, is_oriented)


def _vertex_indices(points: Floats) -> Ints:
    """(n,) an index for each of points (n, 3), the same for points that are exactly equal."""
    points = points + 0.0  # turns negative zeros into positive ones
    order = np.lexsort(points.T)
    ordered = points[order]
    is_new = np.concatenate([[False], (ordered[1:] != ordered[:-1]).any(axis=1)])
    indices = np.empty(len(points), dtype=np.int64)
    indices[order] = is_new.cumsum()
    return indices
