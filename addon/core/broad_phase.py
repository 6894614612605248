"""Many boxes in, the pairs that overlap out: the cheap filter before the exact test."""

from __future__ import annotations

import numpy as np

from .arrays import Ints
from .errors import InvalidShapeError
from .shapes import Aabb

_CHUNK_PAIRS = 32_768


def overlapping_pairs(boxes: Aabb) -> Ints:
    """All pairs of overlapping boxes; touching counts.

    Exact: the same pairs as comparing each with each. Sorts along the axis on which the fewest pairs
    overlap, then tests those pairs on the other two.

    Parameters
    ----------
    boxes : Aabb
        Batch (n,).

    Returns
    -------
    pairs : (m, 2) int64
        Indices i < j, sorted. Raises InvalidShapeError when the batch is not (n,).
    """
    if len(boxes.shape) != 1:
        raise InvalidShapeError(f"boxes: the batch must be (n,), not {boxes.shape}")
    count = boxes.shape[0]
    if count < 2:
        return np.empty((0, 2), dtype=np.int64)
    orders = [np.argsort(boxes.min[:, axis], kind="stable") for axis in range(3)]
    reaches = [
        np.searchsorted(boxes.min[order, axis], boxes.max[order, axis], side="right")
        for axis, order in enumerate(orders)
    ]
    axis = int(np.argmin([reach.sum() for reach in reaches]))
    order, reach = orders[axis], reaches[axis]
    others = [k for k in range(3) if k != axis]
    low, high = boxes.min[order][:, others], boxes.max[order][:, others]

    first_partner = np.arange(1, count + 1)
    partners = reach - first_partner
    ends = np.cumsum(partners)
    found = []
    start = 0
    while start < count:
        # As many rows as fit a chunk, at least one.
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + _CHUNK_PAIRS, side="right")))
        rows = np.repeat(np.arange(start, stop), partners[start:stop])
        offsets = np.arange(len(rows)) - np.repeat(
            ends[start:stop] - partners[start:stop] - done, partners[start:stop]
        )
        columns = rows + 1 + offsets
        overlap = ((low[rows] <= high[columns]) & (low[columns] <= high[rows])).all(axis=1)
        found.append(np.column_stack([order[rows[overlap]], order[columns[overlap]]]))
        start = stop
    return _in_order(np.concatenate(found))


def overlapping_pairs_brute_force(boxes: Aabb) -> Ints:
    """The same answer by comparing each box with each: the reference for `overlapping_pairs`."""
    apart = (boxes.min[:, None] > boxes.max[None]).any(axis=2)
    return np.argwhere(np.triu(~(apart | apart.T), k=1)).astype(np.int64)


def _in_order(pairs: Ints) -> Ints:
    """Pairs with the smaller index first, sorted by first, then second."""
    ordered = np.sort(pairs, axis=1)
    result: Ints = ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))].astype(np.int64)
    return result
