"""Points in, bounding shape out. Every shape holds every point it was made from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import CHUNK_ROWS, Floats, as_points, cross, length
from .errors import InvalidShapeError
from .shapes import Aabb, Sphere

SphereMethod = Literal["minimal", "ritter", "centroid", "box"]
SPHERE_METHODS: tuple[SphereMethod, ...] = get_args(SphereMethod)

_FOLD = 512
_FOLD_FROM = 20_000

# Radii that grow by less than this no longer change the answer; it stands well above the rounding of one
# squared distance in units of the point set's own extent.
_NO_GROWTH = 1e-14
_MAX_PIVOTS = 1000


def aabb_from_points(points: ArrayLike) -> Aabb:
    """The smallest axis-aligned box around (n, 3) points. Exact.

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError.
    """
    p = as_points(points)
    return Aabb(_reduced(np.minimum, p), _reduced(np.maximum, p))


def sphere_from_points(points: ArrayLike, method: SphereMethod = "minimal") -> Sphere:
    """A sphere around (n, 3) points, in float64 whatever the dtype of the points.

    The radius is the largest float64 distance from the centre to a point, so no point is outside by as much
    as one rounding. The methods differ in where the centre is:

    minimal   of the smallest enclosing sphere, to about 1e-12 of its radius (farthest-point pivoting with
              the support kept exact, after Welzl and Gaertner)
    ritter    a pair of far points, then grown point by point; 5-20 % larger (Ritter 1990)
    centroid  the mean of the points
    box       the middle of the bounding box

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError.
    """
    if method not in SPHERE_METHODS:
        raise InvalidShapeError(f"sphere method {method!r}: choose from {', '.join(SPHERE_METHODS)}")
    p = as_points(points)
    low, high = _reduced(np.minimum, p).astype(np.float64), _reduced(np.maximum, p).astype(np.float64)
    middle = low * 0.5 + high * 0.5
    if method == "box":
        center = middle
    elif method == "centroid":
        center = p.mean(axis=0, dtype=np.float64)
    else:
        # Around the middle and at unit size nothing over- or underflows when it is squared.
        extent = float((high * 0.5 - low * 0.5).max())
        if extent == 0.0:
            return Sphere(middle, enclosing_radius(p, middle))  # 0, unless halving underflowed
        columns = _normalised_columns(p, middle, extent)
        local = _ritter_center(columns) if method == "ritter" else _minimal_center(columns)
        center = middle + local * extent
    return Sphere(center, enclosing_radius(p, center))


def sphere_from_aabb(box: Aabb) -> Sphere:
    """The smallest spheres around boxes: half the diagonal, rounded up to reach every corner."""
    center = box.center
    reach = np.maximum(np.abs(box.max - center), np.abs(center - box.min))
    return Sphere(center, length(reach) * (1 + 4 * np.finfo(np.float64).eps))


def enclosing_radius(points: ArrayLike, center: ArrayLike) -> float:
    """The largest float64 distance from `center` (3,) to `points` (n, 3)."""
    p = as_points(points)
    c = np.asarray(center, dtype=np.float64)
    farthest = 0.0
    for chunk in _chunks(p):
        offset = np.abs(chunk.astype(np.float64) - c)
        largest = float(offset.max())
        if largest == 0.0:
            continue
        # Squares over- or underflow far from 1; a power of two takes them there without a rounding.
        scale = 1.0 if 1e-140 < largest < 1e140 else math.ldexp(1.0, math.frexp(largest)[1] - 1)
        if scale != 1.0:
            offset /= scale
        squared = np.einsum("ij,ij->i", offset, offset)
        # einsum may sum in another order than the caller's check: take the few that could be the farthest
        # by either order, and keep whichever is larger.
        near = offset[squared >= squared.max() * (1 - 8 * np.finfo(np.float64).eps)]
        farthest = max(farthest, scale * float(np.sqrt(squared.max())), scale * float(length(near).max()))
    return farthest


def _reduced(operation: np.ufunc, points: NDArray[Any]) -> NDArray[Any]:
    """`operation` over axis 0 of (n, 3): folded into wide rows, which NumPy reduces 80 times faster."""
    count = len(points)
    if count < _FOLD_FROM:
        result = operation.reduce(np.ascontiguousarray(points.T), axis=1)
    else:
        whole = count - count % _FOLD
        folded = operation.reduce(np.ascontiguousarray(points[:whole]).reshape(-1, 3 * _FOLD), axis=0)
        result = operation.reduce(np.concatenate([folded.reshape(_FOLD, 3), points[whole:]]), axis=0)
    reduced: NDArray[Any] = result
    return reduced


def _chunks(points: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for start in range(0, len(points), CHUNK_ROWS):
        yield points[start : start + CHUNK_ROWS]


def _normalised_columns(points: NDArray[Any], middle: Floats, extent: float) -> Floats:
    """(3, n) float64 coordinates around `middle` in units of `extent`; every value is within [-1, 1]."""
    columns = np.empty((3, len(points)))
    for start in range(0, len(points), CHUNK_ROWS):
        chunk = points[start : start + CHUNK_ROWS]
        columns[:, start : start + len(chunk)] = ((chunk.astype(np.float64) - middle) / extent).T
    return columns


def _farthest(columns: Floats, center: Floats) -> tuple[int, float]:
    """Index and squared distance of the point of (3, n) `columns` farthest from `center`."""
    best, best_squared = 0, -1.0
    for start in range(0, columns.shape[1], CHUNK_ROWS):
        offset = columns[:, start : start + CHUNK_ROWS] - center[:, None]
        np.multiply(offset, offset, out=offset)
        squared = offset.sum(axis=0)
        index = int(squared.argmax())
        if squared[index] > best_squared:
            best, best_squared = start + index, float(squared[index])
    return best, best_squared


def _minimal_center(columns: Floats) -> Floats:
    """Centre of the smallest sphere around (3, n) points of unit size.

    Each round takes the farthest point and keeps, of all spheres through it and a part of the support, the
    one that comes closest to holding the support. The radius grows every round, so no support comes twice.
    """
    first, _ = _farthest(columns, np.zeros(3))
    support = columns[:, first : first + 1].T
    center: Floats = support[0]
    radius_squared = 0.0
    for _ in range(_MAX_PIVOTS):
        index, squared = _farthest(columns, center)
        if squared <= radius_squared * (1 + _NO_GROWTH):
            break
        next_support, next_center, next_squared = _smallest_through(columns[:, index], support)
        if next_squared <= radius_squared * (1 + _NO_GROWTH):
            break
        support, center, radius_squared = next_support, next_center, next_squared
    return center


def _smallest_through(point: Floats, support: Floats) -> tuple[Floats, Floats, float]:
    """The smallest sphere around `support` (k, 3) and `point` that passes through `point`.

    Returns the new support, its circumcentre, and the squared radius that holds all the points given.
    """
    edges = support - point
    best: tuple[tuple[int, ...], Floats, float] | None = None
    for size in range(1, min(len(support), 3) + 1):
        subsets = list(combinations(range(len(support)), size))
        offsets = _circumcenters(edges[np.array(subsets)])
        # Distances of the point (the origin here) and of the whole support from each candidate.
        to_support = ((edges[None] - offsets[:, None]) ** 2).sum(axis=2).max(axis=1)
        reach = np.maximum(to_support, (offsets**2).sum(axis=1))
        reach[np.isnan(reach)] = np.inf
        index = int(reach.argmin())
        if best is None or reach[index] < best[2]:
            best = subsets[index], offsets[index], float(reach[index])
    assert best is not None, "the support is never empty"
    members, offset, squared = best
    return np.vstack([point, support[list(members)]]), point + offset, squared


def _circumcenters(edges: Floats) -> Floats:
    """Circumcentres, seen from the origin, of simplices {origin, edges}: (m, k, 3) -> (m, 3), k in 1..3.

    NaN for a simplex without one (collinear or coplanar corners).
    """
    size = edges.shape[1]
    if size == 1:
        return edges[:, 0] * 0.5
    squared = (edges * edges).sum(axis=2)
    a, b = edges[:, 0], edges[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        if size == 2:
            normal = cross(a, b)
            numerator = cross(squared[:, :1] * b - squared[:, 1:2] * a, normal)
            return np.asarray(numerator / (2 * (normal * normal).sum(axis=1))[:, None])
        c = edges[:, 2]
        bc = cross(b, c)
        numerator = squared[:, :1] * bc + squared[:, 1:2] * cross(c, a) + squared[:, 2:] * cross(a, b)
        return np.asarray(numerator / (2 * (a * bc).sum(axis=1))[:, None])


def _ritter_center(columns: Floats) -> Floats:
    """Ritter's centre: halfway between two far points, then moved towards the farthest point left out."""
    first, _ = _farthest(columns, columns[:, 0])
    second, squared = _farthest(columns, columns[:, first])
    center = (columns[:, first] + columns[:, second]) / 2
    radius = np.sqrt(squared) / 2
    for _ in range(_MAX_PIVOTS):
        index, squared = _farthest(columns, center)
        distance = np.sqrt(squared)
        if distance <= radius * (1 + _NO_GROWTH):
            break
        radius = (radius + distance) / 2
        center = columns[:, index] + (center - columns[:, index]) * (radius / distance)
    return center
