"""Sides of boxes over an interval: distance from the chord where another point becomes the outermost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Floats

_ROUNDING = 2.0**-20
"""Part of the size by which points that are outermost in single precision may fall short of the sides.

With u = 2^-24, a coordinate is off by at most 6 u of the size: three roundings of factors and products, and
three of their sum. The difference of two coordinates is off by twice that.
"""
BLOCK_POINTS = 1 << 14
"""Points of one body that are multiplied together.

Larger blocks do not fit the cache, and BLAS would use threads, which are slow while other programs run.
"""
_AXES = np.tile(np.arange(3), 2)
_SMALLEST, _LARGEST = 1e-30, 1e37
"""Sizes between which single precision neither loses digits nor overflows."""


def kinks_between(begin: Floats, end: Floats) -> Floats:
    """Bound how far the sides of boxes are from linear motion, by the points that are outermost at both ends.

    At the end, the point that is outermost at the begin falls short of the side by some length `a`, and at
    the begin the other one by `b`. So on the way, at a share `s` of the interval, the side is at most the
    smaller one of `s * a` and `(1 - s) * b` below its chord: `a * b / (a + b)`. If one point stays outermost,
    both are 0. Other points can only raise the side, which is convex.

    begin, end : (q, 2, k) float64. How far out two points are for each of k sides: those that are outermost
        at the begin, and those that are at the end.
    Returns deviations : (q,) float64. The largest of all sides. Conservative for points in linear motion,
        up to rounding.
    """
    after = np.maximum(end[:, 1] - end[:, 0], 0.0)
    before = np.maximum(begin[:, 0] - begin[:, 1], 0.0)
    both = after + before
    parts = np.divide(before, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray((after * parts).max(axis=1))


def outermost_points(points: NDArray[np.float32], linear: Floats) -> Floats:
    """Find the points that are outermost on each side of the boxes around points under linear maps.

    In single precision, which `kinks_of_outermost` includes.

    points : (q, 3, p) float32. In columns, finite.
    linear : (q, 3, 3) float64. For column vectors.
    Returns outermost : (q, 3, 6) float64. Points in columns: those of the minima along the axes, then those
        of the maxima.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        world = linear.astype(np.float32) @ points
    places = np.concatenate([world.argmin(axis=2), world.argmax(axis=2)], axis=1)
    return np.take_along_axis(points, places[:, None], axis=2).astype(np.float64)


def outermost_of_one(points: NDArray[np.float32], linear: Floats) -> Floats:
    """Find those of the many points (3, p) of one body that are outermost under linear maps (q, 3, 3).

    The result (q, 3, 6) is that of `outermost_points`.
    """
    singles = linear.astype(np.float32)
    farthest = np.full((len(linear), 6), -np.inf, dtype=np.float32)
    places = np.zeros((len(linear), 6), dtype=np.int64)
    for start in range(0, points.shape[1], BLOCK_POINTS):
        block = np.ascontiguousarray(points[:, start : start + BLOCK_POINTS])
        world, found, values = np.empty_like(block), np.empty_like(places), np.empty_like(farthest)
        # One array for all maps: memory that is new takes longer than the product.
        with np.errstate(over="ignore", invalid="ignore"):
            for row, each in enumerate(singles):
                np.matmul(each, block, out=world)
                found[row, :3], found[row, 3:] = world.argmin(axis=1), world.argmax(axis=1)
                values[row] = world[_AXES, found[row]]
        values[:, :3] *= -1
        is_farther = values > farthest
        farthest[is_farther], places[is_farther] = values[is_farther], start + found[is_farther]
    return points[:, places].swapaxes(0, 1).astype(np.float64)


def kinks_of_outermost(outermost: tuple[Floats, Floats], begin: Floats, end: Floats, reach: Floats) -> Floats:
    """Bound how far the sides of boxes around points are from linear motion between two linear maps.

    outermost : (q, 3, 6) float64 twice. As `outermost_points` finds them at the begin, and at the end.
    begin, end : (q, 3, 3) float64. Maps for column vectors at both ends of an interval. Each point is in
        linear motion.
    reach : (q,) float64. Largest distance of the points from the origin.
    Returns deviations : (q,) float64. As `kinks_between`, of all six sides.
    """
    sides = [
        np.stack([_coordinates(linear, points) for points in outermost], axis=1) for linear in (begin, end)
    ]
    largest, change = (
        np.sqrt((each**2).sum(axis=(1, 2))) for each in (np.maximum(np.abs(begin), np.abs(end)), end - begin)
    )
    kinks = kinks_between(*sides) + _ROUNDING * largest * reach
    # A quarter of the difference of any two points' changes, which is at most twice what one changes.
    size = largest * reach
    return np.where((size > _SMALLEST) & (size < _LARGEST), kinks, change * reach / 2)


def _coordinates(linear: Floats, outermost: Floats) -> Floats:
    """Compute how far out points (q, 3, 6) are under maps (q, 3, 3), each toward its side (q, 6)."""
    rows = np.concatenate([-linear, linear], axis=1)
    x, y, z = (rows[..., axis] * outermost[:, axis] for axis in range(3))
    return np.asarray(x + y + z)
