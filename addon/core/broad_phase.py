"""Many boxes in, the pairs that overlap out: the cheap filter before the exact test.

Exact: always the pairs that comparing each with each would give, boxes that only touch included. The cost
grows with the number of boxes and of pairs, not with the square, for flat, thin and clustered layouts and for
sizes of many scales alike; `column_sweep` says how.
"""

from __future__ import annotations

import numpy as np

from .arrays import Ints
from .box_columns import Boxes
from .column_sweep import PairList, compare_each, find_pairs
from .errors import InvalidShapeError
from .shapes import Aabb


def overlapping_pairs(boxes: Aabb) -> Ints:
    """All pairs of overlapping boxes; touching counts.

    Exact: the same pairs as comparing each with each. Memory is bounded by the boxes and the answer.

    Parameters
    ----------
    boxes : Aabb
        Batch (n,).

    Returns
    -------
    pairs : (m, 2) int64
        Indices i < j, sorted by i, then j. Raises InvalidShapeError when the batch is not (n,).
    """
    by_axis = _by_axis(boxes, "boxes")
    found = PairList(len(by_axis.names), either_way=True)
    find_pairs(by_axis, None, found)
    return found.in_order()


def overlapping_pairs_between(a: Aabb, b: Aabb) -> Ints:
    """All overlapping pairs of one box of a and one of b; touching counts.

    Exact and bounded in memory like `overlapping_pairs`. How the boxes of one group overlap each other costs
    nothing.

    Parameters
    ----------
    a, b : Aabb
        Batches (n,) and (k,).

    Returns
    -------
    pairs : (m, 2) int64
        Indices into a and into b, sorted by the first, then the second. Raises InvalidShapeError when a batch
        is not (n,), naming it.
    """
    boxes_a, boxes_b = _by_axis(a, "a"), _by_axis(b, "b")
    found = PairList(len(boxes_b.names), either_way=False)
    find_pairs(boxes_a, boxes_b, found)
    return found.in_order()


def overlapping_pairs_brute_force(boxes: Aabb) -> Ints:
    """The answer of `overlapping_pairs`, (m, 2), by comparing each box with each: its reference. Exact.

    Raises as that does.
    """
    by_axis = _by_axis(boxes, "boxes")
    found = PairList(len(by_axis.names), either_way=True)
    compare_each(by_axis, None, found)
    return found.in_order()


def overlapping_pairs_between_brute_force(a: Aabb, b: Aabb) -> Ints:
    """The answer of `overlapping_pairs_between`, (m, 2), by comparing each with each: its reference. Exact.

    Raises as that does.
    """
    boxes_a, boxes_b = _by_axis(a, "a"), _by_axis(b, "b")
    found = PairList(len(boxes_b.names), either_way=False)
    compare_each(boxes_a, boxes_b, found)
    return found.in_order()


def _by_axis(boxes: Aabb, what: str) -> Boxes:
    """Boxes as the search reads them, named by their places in the batch."""
    if len(boxes.shape) != 1:
        raise InvalidShapeError(f"{what}: the batch must be (n,), not {boxes.shape}")
    low, high = (np.ascontiguousarray(corner.T) for corner in (boxes.min, boxes.max))
    return Boxes(np.arange(boxes.shape[0], dtype=np.int64), low, high)
