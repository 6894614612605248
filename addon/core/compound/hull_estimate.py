"""Volumes of convex hulls: estimated from the extreme points in fixed directions; areas of flat ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..fitting.oriented_box import hull_of_flat
from ..numeric.arrays import Floats, Ints, cross_first, dot_first, length_first
from ..numeric.geodesic import geodesic_directions

COARSE, FINE, FINEST = 2, 3, 6
"""Frequencies of the geodesic spheres: 42, 92 and 362 directions."""
_FEW = 4096
"""Points up to which the finest directions are used: hulls of few points have corners that others miss."""

_CHUNK = 80_000
"""Numbers in a chunk of a product. Up to about 87,000, OpenBLAS computes it in the calling thread."""

THICKNESS = 0.003
"""Thickness of the layer around hulls that counts as volume, so that flat hulls have a measure, too."""

_FLAT = 1e-6
"""Distance from a plane within which all points count as in it."""


def inner_products(a: Floats, b: Floats) -> Floats:
    """Compute the products (n, k) of vectors (n, 3) with others (k, 3). Exact up to rounding.

    In chunks, which stay in the cache, and for which NumPy's matrix library starts no threads: these wait for
    each other in a loop, and take several times as long if another program uses a processor core.
    """
    products, across = np.empty((len(a), len(b))), b.T
    for chunk in _chunks(len(a), len(b)):
        np.matmul(a[chunk], across, out=products[chunk])
    return products


def _chunks(rows: int, columns: int) -> Iterator[slice]:
    """Yield slices of the rows of a table that have about `_CHUNK` numbers each."""
    step = max(8, _CHUNK // max(1, columns))
    for start in range(0, rows, step):
        yield slice(start, start + step)


def hull_measure(points: Floats) -> float:
    """Estimate the volume of the convex hull of points (n, 3), with a layer around it.

    The points are at least one, of a mesh of about unit size. Approximate: rarely more than a few percent
    below the real measure, and never above it by more than rounding.
    """
    frequency = FINEST if len(points) <= _FEW else FINE
    return float(measure_between(points_in_directions(points, frequency)[None], frequency)[0])


def flat_hull_area(points: Floats) -> float | None:
    """Area of the convex hull of points (n, 3) in one plane, of about unit extent or less; else None."""
    points = points - points.mean(axis=0)
    axes = np.linalg.eigh(points.T @ points)[1]
    if float(np.abs(points @ axes[:, 0]).max()) > _FLAT:
        return None
    x, y = hull_of_flat(points @ axes[:, 1:]).T
    return abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2


def points_in_directions(points: Floats, frequency: int) -> Floats:
    """Select the points of (n, 3) that are extreme in directions (k,), at least one: (k, 3).

    The directions are those of a geodesic sphere. Approximate: to single precision.
    """
    # Single precision takes half the time, and finds points that are as good. Long rows are scanned fastest.
    directions = geodesic_directions(frequency).vectors.astype(np.float32)
    across = np.ascontiguousarray(points.T, dtype=np.float32)
    rows = [(directions[chunk] @ across).argmax(axis=1) for chunk in _chunks(len(directions), len(points))]
    return np.asarray(points[np.concatenate(rows)])


def measure_between(extremes: Floats, frequency: int) -> Floats:
    """Estimate volumes (m,) of convex hulls with a layer around them. Approximate: see `hull_measure`.

    The surface has a triangle of extreme points (m, k, 3) for each triangle of directions (k,), which are
    those of a geodesic sphere. Extreme points of neighboring directions are neighbors on a convex hull.
    """
    # Axis first, so that each coordinate is contiguous.
    offsets = np.ascontiguousarray(np.moveaxis(extremes - extremes.mean(axis=1, keepdims=True), -1, 0))
    a, b, c = (offsets[:, :, corner] for corner in geodesic_directions(frequency).triangles.T)
    normal = cross_first(b - a, c - a)
    volume = dot_first(a, normal).sum(axis=1) / 6
    return np.asarray(np.maximum(volume, 0.0) + THICKNESS * length_first(normal).sum(axis=1) / 2)


def prefix_extremes(heights: Floats, counts: Ints) -> Ints:
    """Find the points that are extreme among the first few points. Exact.

    heights : (n, k) float64. Coordinates of points along directions.
    counts : (m,) int. Numbers of first points, each from 1 to n.
    Returns extremes : (m, k) int64. Indices of points.
    """
    # First the extreme points between successive counts, the last of equal ones.
    ends, position = np.unique(counts, return_inverse=True)
    begins = np.concatenate([[0], ends[:-1]])
    heights = heights[: ends[-1]]
    highest = np.maximum.reduceat(heights, begins, axis=0)
    is_highest = heights == np.repeat(highest, ends - begins, axis=0)
    index = np.maximum.reduceat(np.where(is_highest, np.arange(len(heights))[:, None], 0), begins, axis=0)
    of_first = np.maximum.accumulate(highest, axis=0)
    return np.maximum.accumulate(np.where(highest == of_first, index, 0), axis=0)[position]
