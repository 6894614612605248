"""Distances of very many points from one centre, a chunk at a time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import CHUNK_ROWS, Floats, Ints, dot, length

SMALLEST_SAFE_SQUARE, LARGEST_SAFE_SQUARE = 1e-270, 1e290
"""Squares between these lost nothing to over- or underflow."""

_SLACK = 1e-13
"""Covers the few float64 roundings of a radius or a shift; points this near to the surface count as on it."""


class FarPoints:
    """The points of (n, 3) that are at least `least` away from a centre, ready to answer for others nearby.

    Computed in `dtype`; with float32 the centre is rounded to float32 first. In float64 the squares are those
    that `Sphere.contains` compares, rounding for rounding.
    """

    largest: float
    """The largest squared distance; NaN or infinite if any coordinate is, or where squares overflow."""

    def __init__(self, points: NDArray[Any], center: Floats, least: float, dtype: type[Any]) -> None:
        rounded = center.astype(dtype)[:, None]
        self.center = rounded[:, 0].astype(np.float64)
        self.least = least
        # Three subtractions, three squares and two sums: five roundings deep, all of them relative.
        self._margin = 1 - 8 * float(np.finfo(dtype).eps)
        limit = dtype(least * least * self._margin)
        rows = CHUNK_ROWS * 4 // np.dtype(dtype).itemsize
        buffer = np.empty((3, min(rows, len(points))), dtype)
        found: list[Ints] = []
        kept: list[NDArray[Any]] = []
        self.largest = 0.0
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start in range(0, len(points), rows):
                chunk = points[start : start + rows]
                offset = buffer[:, : len(chunk)]
                if points.dtype == dtype:
                    np.subtract(chunk.T, rounded, out=offset)
                else:
                    # A cast on the way costs more than a cast before.
                    np.copyto(offset, chunk.T)
                    np.subtract(offset, rounded, out=offset)
                np.multiply(offset, offset, out=offset)
                squared = np.add(offset[0], offset[1], out=offset[0])
                np.add(squared, offset[2], out=squared)
                # A comparison with NaN is false: what is not less is kept.
                far = (~(squared < limit)).nonzero()[0]
                found.append(far + start)
                kept.append(squared[far])
        self._indices = np.concatenate(found)
        self._squared = np.concatenate(kept)
        if len(self._squared):
            self.largest = float(self._squared.max())

    def beyond(self, center: Floats, radius: float) -> Ints | None:
        """Indices of all points that can lie on or outside a sphere, and of some just inside.

        A point of the sphere is at least radius - |shift| away from this centre; None if that is too near.
        """
        shift = float(length(center - self.center))
        reach = radius * (1 - _SLACK) - shift * (1 + _SLACK)
        if reach < self.least:
            return None
        indices: Ints = self._indices[self._squared >= reach * reach * self._margin]
        return indices


def largest_distance(points: NDArray[Any], center: Floats) -> float:
    """The largest float64 distance from `center` (3,) to finite points, as `Sphere.contains` has it."""
    farthest = 0.0
    buffer = np.empty((3, min(CHUNK_ROWS, len(points))))
    for start in range(0, len(points), CHUNK_ROWS):
        chunk = points[start : start + CHUNK_ROWS]
        offset = buffer[:, : len(chunk)]
        np.copyto(offset, chunk.T)
        offset -= center[:, None]
        with np.errstate(over="ignore", under="ignore"):
            squared = float(dot(offset.T, offset.T).max())
        # One root instead of many: it keeps the order.
        safe = SMALLEST_SAFE_SQUARE < squared < LARGEST_SAFE_SQUARE
        farthest = max(farthest, math.sqrt(squared) if safe else float(length(offset.T).max()))
    return farthest


def farthest_point(points: NDArray[Any], center: Floats) -> tuple[Floats, float]:
    """Of (n, 3) points the one farthest from `center`, to their own precision, and how far it is.

    For points whose squared distances neither over- nor underflow there.
    """
    dtype = points.dtype
    rounded = center.astype(dtype)[:, None]
    buffer = np.empty((3, min(CHUNK_ROWS, len(points))), dtype)
    best, most = 0, -1.0
    for start in range(0, len(points), CHUNK_ROWS):
        chunk = points[start : start + CHUNK_ROWS]
        offset = np.subtract(chunk.T, rounded, out=buffer[:, : len(chunk)])
        np.multiply(offset, offset, out=offset)
        squared = np.add(offset[0], offset[1], out=offset[0])
        np.add(squared, offset[2], out=squared)
        index = int(squared.argmax())
        if squared[index] > most:
            best, most = start + index, float(squared[index])
    point = points[best].astype(np.float64)
    return point, float(length(point - center))
