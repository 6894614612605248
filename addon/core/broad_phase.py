"""Many boxes in, the pairs that overlap out: the cheap filter before the exact test."""

from __future__ import annotations

import numpy as np

from .arrays import Ints
from .column_sweep import Boxes, PairList, compare_each, find_pairs
from .errors import InvalidShapeError
from .shapes import Aabb


def overlapping_pairs(boxes: Aabb) -> Ints:
    """x"""
    found = PairList(boxes.shape[0], either_way=True)
    find_pairs(_by_axis(boxes, "boxes"), None, found)
    return found.in_order()


def overlapping_pairs_between(a: Aabb, b: Aabb) -> Ints:
    """x"""
    found = PairList(b.shape[0], either_way=False)
    find_pairs(_by_axis(a, "a"), _by_axis(b, "b"), found)
    return found.in_order()


def overlapping_pairs_brute_force(boxes: Aabb) -> Ints:
    """The same answer by comparing each box with each: the reference for `overlapping_pairs`."""
    found = PairList(boxes.shape[0], either_way=True)
    compare_each(_by_axis(boxes, "boxes"), None, found)
    return found.in_order()


def overlapping_pairs_between_brute_force(a: Aabb, b: Aabb) -> Ints:
    """x"""
    found = PairList(b.shape[0], either_way=False)
    compare_each(_by_axis(a, "a"), _by_axis(b, "b"), found)
    return found.in_order()


def _by_axis(boxes: Aabb, what: str) -> Boxes:
    if len(boxes.shape) != 1:
        raise InvalidShapeError(f"{what}: the batch must be (n,), not {boxes.shape}")
    low, high = (np.ascontiguousarray(corner.T) for corner in (boxes.min, boxes.max))
    return Boxes(np.arange(boxes.shape[0]), low, high)
