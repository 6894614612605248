"""Connected components of graphs, by hooking and pointer jumping over arrays (Shiloach and Vishkin 1982)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import Ints


def connected_components(count: int, edges: NDArray[np.integer]) -> Ints:
    """Label the connected components of a graph. Exact.

    count : Number of vertices, >= 0.
    edges : (e, 2) int. Pairs of vertex indices, each below `count`.
    Returns component : (count,) int64. Numbered from 0 in the order of their first vertices.
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
    # A root is the first vertex of its component.
    return np.asarray((np.cumsum(root == np.arange(count)) - 1)[root])
