"""Sides of boxes over an interval: distance from the chord where another point becomes the outermost."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats

_OUTWARD = np.array([[-1.0], [1.0]])
"""Signs of minima and maxima, by which a coordinate says how far out it is."""


def kinks_between(begin: Floats, end: Floats) -> Floats:
    """Bound how far the sides of boxes are from linear motion, by the points that are outermost at both ends.

    At the end, the point that is outermost at the begin falls short of the side by some length `a`, and at
    the begin the other one by `b`. So on the way, at a share `s` of the interval, the side is at most the
    smaller one of `s * a` and `(1 - s) * b` below its chord: `a * b / (a + b)`. If one point stays outermost,
    both are 0. Other points can only raise the side, which is convex.

    Parameters
    ----------
    begin, end : (q, 2, k) float64
        How far out two points are for each of k sides: those that are outermost at the begin, and those that
        are at the end.

    Returns
    -------
    deviations : (q,) float64
        The largest of all sides. Conservative for points in linear motion, up to rounding.
    """
    after = np.maximum(end[:, 1] - end[:, 0], 0.0)
    before = np.maximum(begin[:, 0] - begin[:, 1], 0.0)
    both = after + before
    parts = np.divide(before, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray((after * parts).max(axis=1))


def kinks_of_points(points: Floats, begin: Floats, end: Floats) -> Floats:
    """Bound how far the sides of boxes around points are from linear motion between two linear maps.

    Parameters
    ----------
    points : (q, 3, p) float64
        In columns, finite. Each is in linear motion.
    begin, end : (q, 3, 3) float64
        Maps for column vectors at both ends of an interval.

    Returns
    -------
    deviations : (q,) float64
        As `kinks_between`, of all six sides.
    """
    count, world = len(points), np.empty(points.shape)
    outermost = []
    for linear in (begin, end):
        # One array for both ends: memory that is new takes longer than the product.
        np.matmul(linear, points, out=world)
        outermost.append(np.stack([world.argmin(axis=2), world.argmax(axis=2)], axis=2))
    # By axis, minimum and maximum, and end at which they are outermost.
    of_sides = np.take_along_axis(points, np.stack(outermost, axis=3).reshape(count, 1, 12), axis=2)
    axes = np.arange(3)
    at_begin, at_end = (
        (linear @ of_sides).reshape(count, 3, 3, 2, 2)[:, axes, axes] * _OUTWARD for linear in (begin, end)
    )
    return kinks_between(*(at.reshape(count, 6, 2).swapaxes(1, 2) for at in (at_begin, at_end)))
