"""Pairs of overlapping boxes: the broad phase.

Exact: the same pairs as brute force, boxes that only touch included. The cost grows with the number of boxes
and pairs, not with its square, also for flat, thin and clustered layouts and for sizes of many scales; see
`sweep_and_prune.py`.
"""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShapeError
from ..numeric.arguments import require_type
from ..numeric.arrays import Ints
from ..shapes import Aabb
from .grid import Boxes
from .sweep_and_prune import PairList, find_pairs


def overlapping_pairs(boxes: Aabb) -> Ints:
    """Find all pairs of overlapping boxes; touching counts.

    Exact: the same pairs as brute force. Memory is bounded by the boxes and the result.

    Parameters
    ----------
    boxes : Aabb, batch (n,)
        In one space and unit.

    Returns
    -------
    pairs : (m, 2) int64
        Indices i < j, sorted by i, then j.

    Raises
    ------
    InvalidShapeError
        For a batch with other axes.
    """
    by_axis = _by_axis(boxes, "boxes")
    pairs = PairList(len(by_axis.ids), is_unordered=True)
    find_pairs(by_axis, None, pairs)
    return pairs.sorted_pairs()


def overlapping_pairs_between(a: Aabb, b: Aabb) -> Ints:
    """Find all overlapping pairs of one box of `a` and one of `b`; touching counts.

    Exact and bounded in memory like `overlapping_pairs`. Overlaps within a group cost nothing.

    Parameters
    ----------
    a, b : Aabb, batches (n,) and (k,)
        In one space and unit.

    Returns
    -------
    pairs : (m, 2) int64
        Indices into a and into b, sorted by the first, then the second.

    Raises
    ------
    InvalidShapeError
        For a batch with other axes, naming it.
    """
    boxes_a, boxes_b = _by_axis(a, "a"), _by_axis(b, "b")
    pairs = PairList(len(boxes_b.ids), is_unordered=False)
    find_pairs(boxes_a, boxes_b, pairs)
    return pairs.sorted_pairs()


def _by_axis(boxes: Aabb, name: str) -> Boxes:
    """Boxes (n,) with the axis first and their indices as ids; errors name the parameter `name`."""
    require_type(boxes, Aabb, name)
    if len(boxes.shape) != 1:
        raise InvalidShapeError(f"{name}: the batch must be (n,), not {boxes.shape}")
    low, high = (np.ascontiguousarray(corner.T) for corner in (boxes.min, boxes.max))
    return Boxes(np.arange(boxes.shape[0], dtype=np.int64), low, high)
