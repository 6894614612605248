"""The smallest enclosing sphere of points: exact, in about the time of one pass over the points.

Farthest-point pivoting with an exact support set, after Welzl (1991) and Gaertner (1999). Of many points, a
sample is solved first, because few points are outside of the sphere of a sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import CHUNK_ROWS, Floats, dot, require_finite
from ..numeric.tolerances import SAME_DISTANCE
from .farthest_point import FarPoints, largest_distance
from .minimal_sphere_few import Point, Support, pivot_to_smallest, smallest_of_few, widest_span

_FEW = 28
"""Up to this many points, plain Python is faster than NumPy."""

_MANY = 8192
"""Above this, a sample of 4 sqrt(n) points is faster: about sqrt(n) of all are outside its sphere."""

_DOZEN, _SHELL = 12, 80
"""Ranks of sample points, from the outermost, that bound the shell of points to keep; see `_shell_radius`."""

_MAX_PASSES, _MAX_ROUNDS = 4, 20


def minimal_sphere(points: NDArray[Any]) -> tuple[Floats, float]:
    """Find the smallest enclosing sphere.

    Exact: the radius is within 1e-12 of the smallest, plus the error of rounding the center to float64. It
    is the largest float64 distance of a point, so that `Sphere.contains` is true for every point.

    points : (n, 3) float32 or float64, n >= 1. In any space and unit, which are those of the sphere.
    Returns center : (3,) float64
    Raises NonFiniteGeometryError
    """
    center, radius, _ = _solved(points)
    return center, radius


def _solved(points: NDArray[Any], start: Support | None = None) -> tuple[Floats, float, Support | None]:
    """Solve points (n, 3), starting from the sphere of a part of them; also return the support."""
    if len(points) > _MANY:
        sampled = _smallest_of_many(points)
        if sampled is not None:
            return (*sampled, None)
    few = len(points) <= _FEW and start is None
    sphere = smallest_of_few(points.tolist()) if few else _smallest_of_several(points, start)
    if sphere.is_accurate:
        return np.array(sphere.center), math.sqrt(sphere.squared), sphere
    return (*_smallest_at_unit_scale(points), None)


def _smallest_at_unit_scale(points: NDArray[Any]) -> tuple[Floats, float]:
    """Solve points (n, 3) moved and scaled to the cube from -1 to 1, where nothing over- or underflows."""
    require_finite(points, "points")
    low = points.min(axis=0).astype(np.float64)
    high = points.max(axis=0).astype(np.float64)
    center = low * 0.5 + high * 0.5
    extent = float((high * 0.5 - low * 0.5).max())
    if extent > 0:
        local = np.empty(points.shape)
        for start in range(0, len(points), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            local[chunk] = (points[chunk] - center) / extent
        center = center + minimal_sphere(local)[0] * extent
    radius = largest_distance(points, center)
    require_finite(np.array(radius), "sphere radius")
    return center, radius


def _smallest_of_several(points: NDArray[Any], start: Support | None) -> Support:
    """Solve points (n, 3) by the pivots of `minimal_sphere_few`, with NumPy to find the farthest point."""
    columns = np.array(points.T, dtype=np.float64, order="C")
    x, y, z = columns
    work = np.empty((4, len(points)))
    dx, dy, dz, squares = work
    offset = work[:3]

    def farthest(center: Sequence[float]) -> tuple[float, Point]:
        a, b, c = center
        np.subtract(x, a, dx)
        np.subtract(y, b, dy)
        np.subtract(z, c, dz)
        np.multiply(offset, offset, offset)
        np.add(dx, dy, squares)
        np.add(squares, dz, squares)
        index = squares.argmax()
        return squares.item(index), points[index].tolist()

    if start is None:
        # Start between the extremes of an axis. If any point is NaN or infinite, one of the extremes is.
        ends = columns.argmin(axis=1).tolist() + columns.argmax(axis=1).tolist()
        start = widest_span(points.take(ends, axis=0).tolist())
        if not start.is_accurate:
            return start
    return pivot_to_smallest(farthest, start)


def _smallest_of_many(points: NDArray[Any]) -> tuple[Floats, float] | None:
    """Solve points (n, 3) by samples: the points on or outside of the sphere of a sample are the next sample.

    One pass over all points serves many rounds, because the center hardly moves. None where this is not
    faster, or where coordinates are too large or too small.
    """
    steps = np.arange(int(4 * math.sqrt(len(points))))
    # Sample evenly, but jittered by the golden ratio, because points can be in the order of a grid.
    positions = (steps + steps * 0.6180339887498949 % 1) * (len(points) / len(steps))
    sample = points.take(positions.astype(np.int64), axis=0)
    if not np.isfinite(sample).all():
        return None
    center, radius, sphere = _solved(sample)
    if not 1e-130 < radius < 1e130:
        return None
    for _ in range(_MAX_PASSES):
        least = _shell_radius(sample - center, radius)
        use_float32 = (
            points.dtype == np.float32 and least < radius * (1 - 1e-6) and least > 1e-15 and radius < 1e17
        )
        far = FarPoints(points, center, least, np.float32 if use_float32 else np.float64)
        if not far.largest < math.inf:
            return None
        if not use_float32 and far.largest <= (radius * (1 + SAME_DISTANCE)) ** 2:
            return center, math.sqrt(far.largest)
        for _ in range(_MAX_ROUNDS):
            near = far.beyond(center, radius)
            if near is None or len(near) > len(points) // 2:
                break
            candidates = points.take(near, axis=0)
            largest = largest_distance(candidates, center)
            if largest <= radius * (1 + SAME_DISTANCE):
                return center, largest
            center, radius, sphere = _solved(candidates, sphere)
    return None


def _shell_radius(sample: Floats, radius: float) -> float:
    """Return the distance from which on points are kept: about that of the twelfth farthest of the sample
    (n, 3).

    Where the outermost of the sample lie close to its sphere, the final center is likely to move farther than
    that: then down to the eightieth.
    """
    squared = np.partition(dot(sample, sample), (-_SHELL, -_DOZEN))
    few, many = math.sqrt(squared[-_DOZEN]), math.sqrt(squared[-_SHELL])
    return min(few, max(many, radius * 0.985)) * (1 - 4 * SAME_DISTANCE)
