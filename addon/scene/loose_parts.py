"""The loose parts of a mesh: what hangs together by edges."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Ints
from .extraction import Modifiers, edges_of, points_of


def part_count(evaluated: bpy.types.Object, modifiers: Modifiers) -> int:
    """How many loose parts an evaluated object has; see `part_numbers`. One, if it has no vertices."""
    return int(part_numbers(evaluated, modifiers).max(initial=0)) + 1


def part_numbers(evaluated: bpy.types.Object, modifiers: Modifiers) -> Ints:
    """The loose part (n,) that each vertex of an evaluated object is in, counted by their first vertices."""
    return connected(len(points_of(evaluated, modifiers)), edges_of(evaluated, modifiers))


def rows_by_part(numbers: Ints, count: int = 0) -> list[Ints]:
    """Where each part is in (n,) numbers of parts, in order; of as many parts as there are, or `count`."""
    sizes = np.bincount(numbers, minlength=count)
    return np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1]) if len(sizes) else []


def connected(count: int, edges: NDArray[np.int32]) -> Ints:
    """The component (count,) of each vertex of a graph, counted from 0 in the order of their first vertices.

    edges : (e, 2) indices of vertices
    """
    least = np.arange(count)
    a, b = edges.astype(np.int64).T
    while True:
        # Each edge hooks the root of one side to that of the other, the lesser, and all paths are shortened.
        low, high = np.minimum(least[a], least[b]), np.maximum(least[a], least[b])
        apart = low != high
        if not apart.any():
            break
        np.minimum.at(least, high[apart], low[apart])
        shorter = least[least]
        while not np.array_equal(shorter, least):
            least, shorter = shorter, shorter[shorter]
        a, b = a[apart], b[apart]
    components: Ints = np.unique(least, return_inverse=True)[1].reshape(-1)
    return components
