"""The parts of a sphere tree, as groups of vertices that are fitted again wherever they go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core import SphereTree, sphere_tree_from_triangles
from ..core.arrays import Floats, Ints
from .fitting import Groups


def leaf_groups(points: NDArray[np.float32], triangles: NDArray[np.int32], depth: int = 4) -> Groups:
    """The vertices of each leaf of a sphere tree; of what has no triangles, all in one."""
    corners = points[triangles].astype(np.float64)
    if not len(triangles) or not np.isfinite(corners).all():
        return np.arange(len(points)), np.array([0, len(points)])
    tree = sphere_tree_from_triangles(corners, depth)
    return _vertices(tree, tree.leaves, triangles, len(points))


def node_groups(points: Floats, triangles: NDArray[np.int32], depth: int) -> tuple[Ints, Groups]:
    """Children (m, 2) of the nodes of a sphere tree, and the vertices of each node; see `leaf_groups`."""
    if not len(triangles):
        return np.array([[-1, -1]]), (np.arange(len(points)), np.array([0, len(points)]))
    tree = sphere_tree_from_triangles(points[triangles], depth)
    return tree.children, _vertices(tree, np.arange(len(tree.children)), triangles, len(points))


def _vertices(tree: SphereTree, nodes: Ints, triangles: NDArray[np.int32], count: int) -> Groups:
    """Those of each of some nodes of a tree around triangles of `count` vertices."""
    groups = [np.unique(triangles[tree.order[slice(*tree.parts[node])]]) for node in nodes]
    # Vertices of no triangle belong to the first part, and to whatever that is in: a bound holds them too.
    loose = np.setdiff1d(np.arange(count), triangles)
    for place in np.flatnonzero(tree.parts[nodes, 0] == 0).tolist():
        groups[place] = np.concatenate([groups[place], loose])
    return np.concatenate(groups).astype(np.int64), np.cumsum([0, *map(len, groups)])
