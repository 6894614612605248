"""Simultaneous (dual-tree) traversal of two trees by branch and bound, for many elements of a batch at once.

A frontier of node pairs descends level by level in array operations: pairs with a lower bound above the best
upper bound of their element are culled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..numeric.arrays import Floats, Ints, Table


class NodePairs(Table):
    """Pairs of nodes of two trees, sorted by element.

    element : (n,) int64. The element of the batch that a pair belongs to.
    a, b : (n,) int64. Nodes of the first and the second tree.
    """

    element: Ints
    a: Ints
    b: Ints


NodePairBounds: TypeAlias = Callable[[NodePairs], tuple[Floats, Floats]]
"""Bounds of the value of leaf pairs below node pairs (n,).

Returns a lower bound for all leaf pairs below, and an upper bound for at least one of them, (n,) each. For a
pair of leaves the upper bound is its value; infinity means no value. Pairs with an infinite lower bound are
culled.
"""


def find_candidate_leaf_pairs(
    elements: Ints, children_a: Ints, children_b: Ints, bounds: NodePairBounds
) -> tuple[NodePairs, Floats]:
    """Find all pairs of leaves (n,) that can have the smallest value of their element, and upper bounds (n,).

    elements : (k,) int64. Consecutive indices, ascending.
    children_a, children_b : (m, 2) int64. Children of the nodes of each tree, as in `SphereTree`.
    bounds : Bounds of the values of leaf pairs below node pairs.
    """
    root = np.zeros(len(elements), dtype=np.int64)
    rows = NodePairs(elements, root, root)
    best = np.full(len(elements), np.inf)
    finished: list[tuple[NodePairs, Floats, Floats]] = []
    offset = int(elements[0]) if len(elements) else 0
    while len(rows.element):
        low, high = bounds(rows)
        local = rows.element - offset
        starts = np.flatnonzero(np.diff(local, prepend=-1))
        best[local[starts]] = np.minimum(best[local[starts]], np.minimum.reduceat(high, starts))
        kept = np.flatnonzero((low <= best[local]) & (low < np.inf))
        rows = rows.take(kept)
        pair_children = children_a[rows.a], children_b[rows.b]
        ends = np.flatnonzero((pair_children[0][:, 0] < 0) & (pair_children[1][:, 0] < 0))
        finished.append((rows.take(ends), low[kept[ends]], high[kept[ends]]))
        rows = _child_pairs(rows, *pair_children)
    leaves = NodePairs.concatenate([part for part, _, _ in finished])
    low, high = (np.concatenate([part[k] for part in finished]) for k in (1, 2))
    close = np.flatnonzero(low <= best[leaves.element - offset])
    return leaves.take(close), high[close]


def _child_pairs(rows: NodePairs, children_a: Ints, children_b: Ints) -> NodePairs:
    """Replace pairs (n,) by those of their children (n, 2), in the same order; pairs of leaves are dropped.

    Of two inner nodes the one with the smaller index is split, because it is nearer to its root.
    """
    has_a, has_b = children_a[:, 0] >= 0, children_b[:, 0] >= 0
    splits_a = has_a & ~(has_b & (rows.b < rows.a))
    inner = np.flatnonzero(splits_a | has_b)
    is_a = splits_a[inner, None]
    return NodePairs(
        rows.element[inner].repeat(2),
        np.where(is_a, children_a[inner], rows.a[inner, None]).ravel(),
        np.where(is_a, rows.b[inner, None], children_b[inner]).ravel(),
    )
