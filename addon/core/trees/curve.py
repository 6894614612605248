"""Trees of very many triangles, from their order along a space-filling curve (Lauterbach 2009)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Ints
from .builder import TrianglePartition

_BITS = 20
"""Bits of each coordinate of the cells that the curve goes through."""
_SPREAD = (
    (32, 0x1F00000000FFFF),
    (16, 0x1F0000FF0000FF),
    (8, 0x100F00F00F00F00F),
    (4, 0x10C30C30C30C30C3),
    (2, 0x1249249249249249),
)
"""Shifts and masks that leave room for two bits between those of a number."""


def partition_along_curve(
    points: NDArray[np.floating], triangles: Ints, leaf_triangles: int
) -> TrianglePartition:
    """Split triangles by the cells of grids, at a tenth of the time of `partition_triangles`.

    A cube around the mesh is halved along one axis after the other (Morton 1966).

    points : (v, 3) float. Vertices.
    triangles : (t, 3) int64. Vertices of each triangle, t >= 1.
    leaf_triangles : Parts of at most this many triangles are not split.
    """
    codes = _codes(points, triangles)
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    low, high = np.zeros(1, dtype=np.int64), np.full(1, len(order))
    all_children, all_parts, count = [], [], 0
    while len(low):
        count += len(low)
        split = np.flatnonzero(high - low > leaf_triangles)
        children = np.full((len(low), 2), -1)
        children[split] = count + np.arange(2 * len(split)).reshape(-1, 2)
        all_children.append(children)
        all_parts.append(np.stack([low, high], axis=1))
        middle = _middles(codes, low[split], high[split])
        low = np.stack([low[split], middle], axis=1).ravel()
        high = np.stack([middle, high[split]], axis=1).ravel()
    return TrianglePartition(np.concatenate(all_children), np.concatenate(all_parts), order)


def _codes(points: NDArray[np.floating], triangles: Ints) -> NDArray[np.uint64]:
    """Numbers (t,) of the cells of the centroids of triangles along the curve."""
    corners = triangles.T
    # An eighth, so that no sum overflows.
    columns = [(column * 0.125).astype(np.float64) for column in points.T]
    centroids = [column[corners[0]] + column[corners[1]] + column[corners[2]] for column in columns]
    size = max(float(column.max() - column.min()) for column in centroids)
    codes = np.zeros(len(triangles), dtype=np.uint64)
    for axis, column in enumerate(centroids):
        part = (column - column.min()) / (size if size > 0 else 1.0)
        cells = np.minimum((part * (1 << _BITS)).astype(np.uint64), np.uint64((1 << _BITS) - 1))
        for shift, mask in _SPREAD:
            cells = (cells | (cells << np.uint64(shift))) & np.uint64(mask)
        codes |= cells << np.uint64(2 - axis)
    return codes


def _middles(codes: NDArray[np.uint64], low: Ints, high: Ints) -> Ints:
    """Places (p,) at which to split ranges (p,) of increasing numbers: at the highest bit that differs.

    Ranges of equal numbers are halved.
    """
    first, last = codes[low], codes[high - 1]
    below = first ^ last
    for shift in (1, 2, 4, 8, 16, 32):
        below |= below >> np.uint64(shift)
    # The first number that has the bit.
    middle = np.searchsorted(codes, last & ~(below >> np.uint64(1)))
    return np.where(below > 0, middle, (low + high) // 2)
