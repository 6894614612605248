"""The parts of a sphere tree, as groups of vertices that are fitted again wherever they go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..core import sphere_tree_from_triangles
from .fitting import Groups


def leaf_groups(points: NDArray[np.float32], triangles: NDArray[np.int32], depth: int = 4) -> Groups:
    """The vertices of each leaf of a sphere tree; of what has no triangles, all in one."""
    corners = points[triangles].astype(np.float64)
    if not len(triangles) or not np.isfinite(corners).all():
        return np.arange(len(points)), np.array([0, len(points)])
    tree = sphere_tree_from_triangles(corners, depth)
    leaves = [np.unique(triangles[tree.order[slice(*tree.parts[leaf])]]) for leaf in tree.leaves]
    # Vertices of no triangle belong to the first leaf: a bound holds them too.
    loose = np.setdiff1d(np.arange(len(points)), triangles)
    leaves[0] = np.concatenate([leaves[0], loose])
    return np.concatenate(leaves).astype(np.int64), np.cumsum([0, *map(len, leaves)])
