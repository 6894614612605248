"""Farthest points and largest distances from a center, for very many points, in chunks that fit the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import CHUNK_ROWS, Floats, Ints, dot, length
from ..numeric.tolerances import SAME_DISTANCE

SMALLEST_SAFE_SQUARE, LARGEST_SAFE_SQUARE = 1e-270, 1e290
"""Sums of squares between these lost nothing to over- or underflow."""


def offset_chunks(
    points: NDArray[Any], center: Floats, dtype: type[Any]
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the first row of each chunk of points (n, 3), and their offsets (3, k) from a center (3,).

    The center is rounded to `dtype` first, which is that of the arithmetic and of the offsets. These are
    overwritten by the next chunk.
    """
    rounded = center.astype(dtype)[:, None]
    buffer = np.empty((3, min(CHUNK_ROWS, len(points))), dtype)
    for start in range(0, len(points), CHUNK_ROWS):
        chunk = points[start : start + CHUNK_ROWS].T
        offset = buffer[:, : chunk.shape[1]]
        if points.dtype != dtype:
            # Cast first, because a cast within the subtraction is slower.
            np.copyto(offset, chunk)
            chunk = offset
        yield start, np.subtract(chunk, rounded, out=offset)


def squared_lengths(vectors: NDArray[Any]) -> NDArray[Any]:
    """Compute the squared lengths (n,) of vectors (3, n), which are overwritten."""
    np.multiply(vectors, vectors, out=vectors)
    squared: NDArray[Any] = np.add(vectors[0], vectors[1], out=vectors[0])
    np.add(squared, vectors[2], out=squared)
    return squared


class FarPoints:
    """The points (n, 3) at least `least` away from a center, found once for spheres with centers near it.

    dtype : Of the arithmetic, to which the center is rounded first. In float64, squares are the same to the
        bit as in `Sphere.contains`.
    """

    largest: float
    """Largest squared distance; NaN or infinite if any coordinate is, or where squares overflow."""

    def __init__(self, points: NDArray[Any], center: Floats, least: float, dtype: type[Any]) -> None:
        self.center = center.astype(dtype).astype(np.float64)
        self.least = least
        # A difference, a square and two sums: at most five relative roundings.
        self._margin = 1 - 8 * float(np.finfo(dtype).eps)
        limit = dtype(least * least * self._margin)
        indices: list[Ints] = []
        squares: list[NDArray[Any]] = []
        self.largest = 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start, offset in offset_chunks(points, center, dtype):
                squared = squared_lengths(offset)
                # Keep all that are not less, because comparisons with NaN are false.
                far = (~(squared < limit)).nonzero()[0]
                indices.append(far + start)
                squares.append(squared[far])
        self._indices = np.concatenate(indices)
        self._squared = np.concatenate(squares)
        if len(self._squared):
            self.largest = float(self._squared.max())

    def beyond(self, center: Floats, radius: float) -> Ints | None:
        """Return indices (k,) of all points that can be on or outside a sphere, and of others just inside it.

        None if the sphere reaches closer to this center than `least`: its points are at least radius -
        |shift| away.
        """
        shift = float(length(center - self.center))
        reach = radius * (1 - SAME_DISTANCE) - shift * (1 + SAME_DISTANCE)
        if reach < self.least:
            return None
        indices: Ints = self._indices[self._squared >= reach * reach * self._margin]
        return indices


def largest_distance(points: NDArray[Any], center: Floats) -> float:
    """Find the largest distance of finite points (n, 3) from a center (3,). Exact for float64 distances.

    Computed as in `Sphere.contains`: a sphere with this radius contains all points.
    """
    farthest = 0.0
    for _, offset in offset_chunks(points, center, np.float64):
        with np.errstate(over="ignore", under="ignore"):
            squared = float(dot(offset.T, offset.T).max())
        # Take one root, of the largest square, because the root is monotonic.
        safe = SMALLEST_SAFE_SQUARE < squared < LARGEST_SAFE_SQUARE
        farthest = max(farthest, math.sqrt(squared) if safe else float(length(offset.T).max()))
    return farthest


def farthest_point(points: NDArray[Any], center: Floats) -> tuple[Floats, float]:
    """Find the point of (n, 3) that is farthest from a center (3,), and its distance, in float64.

    Points are compared in their own precision, in which squared distances must neither over- nor underflow.
    """
    best, largest = 0, -1.0
    for start, offset in offset_chunks(points, center, points.dtype.type):
        squared = squared_lengths(offset)
        index = int(squared.argmax())
        if squared[index] > largest:
            best, largest = start + index, float(squared[index])
    point = points[best].astype(np.float64)
    return point, float(length(point - center))
