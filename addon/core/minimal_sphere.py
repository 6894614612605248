"""The smallest sphere around points: exact, and about as fast as looking at each point once.

Farthest-point pivoting with the support kept exact, after Welzl (1991) and Gaertner (1999); sets of points
that are large are solved on a sample, of which few points turn out to stick out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import CHUNK_ROWS, Floats, Ints, dot, require_finite
from .distances import FarPoints, largest_distance
from .sphere_lanes import Groups, minimal_centers
from .sphere_support import Point, Support, pivoted, smallest_of_few, widest

_FEW = 28
"""Up to here plain Python beats NumPy."""

_MANY = 8192
"""From here on a sample pays: of 4 sqrt(n) points, as then about sqrt(n) of all stick out of its sphere."""

_LARGE_GROUP, _BLOCK = 4096, 1 << 16

_ENOUGH = 1e-13
"""A sphere that no point exceeds by more than this, relative to the radius, is as good as the smallest."""

_DOZEN, _SHELL = 12, 80

_MAX_PASSES, _MAX_ROUNDS = 4, 20


def minimal_sphere(points: NDArray[Any]) -> tuple[Floats, float]:
    """Centre (3,) and radius of the smallest sphere around float32 or float64 points (n, 3), n >= 1.

    The radius is within 1e-12 of the smallest there is, plus what rounding the centre to float64 costs. It
    is the largest float64 distance of a point, so that `Sphere.contains` holds for every one. Raises
    NonFiniteGeometryError.
    """
    center, radius, _ = _solved(points)
    return center, radius


def minimal_spheres(points: NDArray[Any], bounds: Ints) -> tuple[Floats, Floats]:
    """Centres (g, 3) and radii (g,) of `minimal_sphere` for each points[bounds[k]:bounds[k + 1]].

    Without a loop over the groups, each of which has a point. All points must be finite.
    """
    counts = np.diff(bounds)
    centers, radii = np.empty((len(counts), 3)), np.empty(len(counts))
    # A group that is large alone needs no company; the others are worked on in blocks that fit the cache.
    for large in (counts > _LARGE_GROUP).nonzero()[0]:
        centers[large], radii[large] = minimal_sphere(points[bounds[large] : bounds[large + 1]])
    small = (counts <= _LARGE_GROUP).nonzero()[0]
    block = np.cumsum(counts[small]) // _BLOCK
    for lanes in np.split(small, np.diff(block).nonzero()[0] + 1):
        if len(lanes):
            lengths = counts[lanes]
            rows = np.arange(lengths.sum()) + np.repeat(bounds[lanes] - np.cumsum(lengths) + lengths, lengths)
            columns = np.array(points.take(rows, axis=0).T, dtype=np.float64, order="C")
            groups = Groups(columns, lengths)
            centers[lanes] = minimal_centers(groups)
            radii[lanes] = groups.largest_distances(centers[lanes])
    return centers, radii


def _solved(points: NDArray[Any], start: Support | None = None) -> tuple[Floats, float, Support | None]:
    """The same, from the smallest sphere of a part of the points if there is one, and with the one found."""
    if len(points) > _MANY:
        found = _smallest_of_many(points)
        if found is not None:
            return (*found, None)
    few = len(points) <= _FEW and start is None
    sphere = smallest_of_few(points.tolist()) if few else _smallest_of_several(points, start)
    if sphere.trustworthy:
        return np.array(sphere.center), math.sqrt(sphere.squared), sphere
    return (*_normalised(points), None)


def _normalised(points: NDArray[Any]) -> tuple[Floats, float]:
    """The same with every point moved and scaled into the unit cube on the way, where nothing overflows."""
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
    """The same pivots as for few points, with NumPy to find the farthest."""
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
        # Two ends of an axis to begin with. Among the ends are all NaNs and infinities, if there are any.
        ends = columns.argmin(axis=1).tolist() + columns.argmax(axis=1).tolist()
        start = widest(points.take(ends, axis=0).tolist())
        if not start.trustworthy:
            return start
    return pivoted(farthest, start)


def _smallest_of_many(points: NDArray[Any]) -> tuple[Floats, float] | None:
    """From the sphere of a sample: the few points that stick out of it, or can, are the next sample.

    One pass over all points serves every round, as the centre hardly moves. None where this gains nothing or
    the numbers are too large or small for it.
    """
    steps = np.arange(int(4 * math.sqrt(len(points))))
    # Evenly, but jittered by the golden ratio, against grids in the order of the points.
    places = (steps + steps * 0.6180339887498949 % 1) * (len(points) / len(steps))
    sample = points.take(places.astype(np.int64), axis=0)
    if not np.isfinite(sample).all():
        return None
    center, radius, sphere = _solved(sample)
    if not 1e-130 < radius < 1e130:
        return None
    for _ in range(_MAX_PASSES):
        least = _least_distance(sample - center, radius)
        single = (
            points.dtype == np.float32 and least < radius * (1 - 1e-6) and least > 1e-15 and radius < 1e17
        )
        far = FarPoints(points, center, least, np.float32 if single else np.float64)
        if not far.largest < math.inf:
            return None
        if not single and far.largest <= (radius * (1 + _ENOUGH)) ** 2:
            return center, math.sqrt(far.largest)
        for _ in range(_MAX_ROUNDS):
            near = far.beyond(center, radius)
            if near is None or len(near) > len(points) // 2:
                break
            some = points.take(near, axis=0)
            reached = largest_distance(some, center)
            if reached <= radius * (1 + _ENOUGH):
                return center, reached
            center, radius, sphere = _solved(some, sphere)
    return None


def _least_distance(sample: Floats, radius: float) -> float:
    """How far out points are of interest: about as far as a dozen of the sample are, seen from its centre.

    The centre of all is likely to move farther than that where the outermost of the sample lie close to its
    sphere: then down to eighty of them.
    """
    squared = np.partition(dot(sample, sample), (-_SHELL, -_DOZEN))
    few, many = math.sqrt(squared[-_DOZEN]), math.sqrt(squared[-_SHELL])
    return min(few, max(many, radius * 0.985)) * (1 - 4 * _ENOUGH)
