"""Points in, bounding shape out. Every shape holds every point it was made from."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import CHUNK_ROWS, Floats, Ints, as_point_sets, length, require_finite
from .distances import farthest_point, largest_distance
from .errors import EmptyGeometryError, InvalidShapeError
from .minimal_sphere import minimal_sphere, minimal_spheres
from .shapes import Aabb, Sphere
from .sphere_lanes import Groups

__all__ = [
    "SPHERE_METHODS",
    "SphereMethod",
    "aabb_from_points",
    "aabbs_from_groups",
    "enclosing_radii",
    "sphere_from_aabb",
    "sphere_from_points",
    "spheres_from_groups",
]

SphereMethod = Literal["minimal", "ritter", "centroid", "box"]
SPHERE_METHODS: tuple[SphereMethod, ...] = get_args(SphereMethod)

_FOLD = 512
_FOLD_FROM = 2048
_MAX_PIVOTS = 1000

# Ritter's sphere is not the smallest anyhow: points this little outside, in radii, need not move its centre.
_NO_GROWTH = 1e-3


def aabb_from_points(points: ArrayLike) -> Aabb:
    """The smallest axis-aligned boxes around sets of points: (..., n, 3) -> a batch (...). Exact.

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError.
    """
    return Aabb.trusted(*_extremes(as_point_sets(points)))


def sphere_from_points(points: ArrayLike, method: SphereMethod = "minimal") -> Sphere:
    """Spheres around sets of points, (..., n, 3) -> a batch (...), in float64 whatever the points are.

    A radius is the largest float64 distance from the centre to a point, so no point is outside by as much as
    one rounding. The methods differ in where the centre is:

    minimal   of the smallest enclosing sphere, to 1e-12 of its radius (farthest-point pivoting with the
              support kept exact, after Welzl and Gaertner)
    ritter    a pair of far points, then grown point by point; 5-20 % larger (Ritter 1990)
    centroid  the mean of the points
    box       the middle of the bounding box

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError.
    """
    _require_method(method)
    p = as_point_sets(points)
    if p.ndim > 2:
        return _spheres_of_sets(p, method)
    if method == "minimal":
        return Sphere.trusted(*minimal_sphere(p))
    low, high = _extremes(p)
    center = low * 0.5 + high * 0.5
    if method == "centroid":
        center = center + _mean_offset(p, center)
    elif method == "ritter":
        center = _ritter_center(p, center, float((high * 0.5 - low * 0.5).max()))
    radius = largest_distance(p, center)
    require_finite(np.array(radius), "sphere radius")
    return Sphere.trusted(center, radius)


def aabbs_from_groups(points: ArrayLike, offsets: ArrayLike) -> Aabb:
    """The smallest axis-aligned boxes around groups of points (n, 3), a batch (g,). Exact.

    Groups are told by `offsets` (g + 1,), and errors raised, as by `spheres_from_groups`: raises
    EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError.
    """
    p, bounds = _groups(points, offsets)
    counts = np.diff(bounds)
    if counts.min(initial=_FOLD_FROM) >= _FOLD_FROM:
        # Groups so large gain nothing from company.
        boxes = [aabb_from_points(p[begin:end]) for begin, end in pairwise(bounds.tolist())]
        low, high = np.empty((len(boxes), 3)), np.empty((len(boxes), 3))
        for k, box in enumerate(boxes):
            low[k], high[k] = box.min, box.max
        return Aabb.trusted(low, high)
    columns = np.ascontiguousarray(p[: bounds[-1]].T)
    low, high = (reduce.reduceat(columns, bounds[:-1], axis=1).T for reduce in (np.minimum, np.maximum))
    return Aabb.trusted(low, high)


def spheres_from_groups(points: ArrayLike, offsets: ArrayLike, method: SphereMethod = "minimal") -> Sphere:
    """Spheres around groups of points, a batch (g,): group k is points[offsets[k]:offsets[k+1]].

    Exact like `sphere_from_points` of each group, to 1e-12 of the radius, and no point is outside;
    without a loop over the groups.

    Parameters
    ----------
    points : (n, 3), in the caller's unit
    offsets : (g + 1,) whole numbers from 0 to n that increase: every group has a point

    Raises EmptyGeometryError for a group without points, NonFiniteGeometryError, and InvalidShapeError for
    offsets that do not fit.
    """
    _require_method(method)
    p, bounds = _groups(points, offsets)
    if len(bounds) < 2:
        return Sphere.trusted(np.empty((0, 3)), np.empty(0))
    if method == "minimal":
        centers, radii = minimal_spheres(p, bounds)
    else:
        columns = np.array(p[bounds[0] : bounds[-1]].T, dtype=np.float64, order="C")
        groups = Groups(columns, np.diff(bounds))
        local, middle, extent = groups.normalised()
        offset = np.zeros_like(middle)
        if method == "centroid":
            offset = np.add.reduceat(local.columns, local.starts, axis=1) / local.counts
        elif method == "ritter":
            offset = _ritter_centers(local)
        centers = (middle + offset * extent).T
        radii = groups.largest_distances(centers)
    require_finite(radii, "sphere radius")
    return Sphere.trusted(centers, radii)


def enclosing_radii(points: ArrayLike, offsets: ArrayLike, centers: Floats) -> Floats:
    """The largest distances (g,) from centres (g, 3) to groups of points, as `Sphere.contains` has them.

    Groups are told, and errors raised, as by `spheres_from_groups`.
    """
    p, bounds = _groups(points, offsets)
    if len(centers) == 1:
        return np.array([largest_distance(p[bounds[0] : bounds[1]], centers[0])])
    columns = np.array(p[bounds[0] : bounds[-1]].T, dtype=np.float64, order="C")
    return Groups(columns, np.diff(bounds)).largest_distances(centers)


def _groups(points: ArrayLike, offsets: ArrayLike) -> tuple[NDArray[Any], Ints]:
    """Finite points and the bounds of their groups; see `spheres_from_groups` for what it raises."""
    p = as_point_sets(points)
    if p.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {p.shape}")
    require_finite(p, "points")
    bounds = np.asarray(offsets)
    if bounds.ndim != 1 or len(bounds) < 1 or bounds.dtype.kind not in "iu":
        raise InvalidShapeError("group offsets: whole numbers of shape (g + 1,) are needed")
    bounds = bounds.astype(np.int64)
    if bounds[0] < 0 or bounds[-1] > len(p):
        raise InvalidShapeError(f"group offsets: they must lie between 0 and {len(p)}")
    counts = np.diff(bounds)
    if (counts < 0).any():
        raise InvalidShapeError(
            f"group offsets: element {int((counts < 0).argmax()) + 1} is less than the one before"
        )
    if (counts == 0).any():
        raise EmptyGeometryError(f"group {int((counts == 0).argmax())} has no points")
    return p, bounds


def _require_method(method: str) -> None:
    if method not in SPHERE_METHODS:
        raise InvalidShapeError(f"sphere method {method!r}: choose from {', '.join(SPHERE_METHODS)}")


def _spheres_of_sets(points: NDArray[Any], method: SphereMethod) -> Sphere:
    """`sphere_from_points` for a batch of sets, (..., n, 3), all sets at once."""
    *batch, count, _ = points.shape
    require_finite(points, "points")
    sets = math.prod(batch)
    if sets and count >= _FOLD_FROM:
        # Sets so large gain nothing from company.
        spheres = [sphere_from_points(one, method) for one in points.reshape(-1, count, 3)]
        centers, radii = np.stack([s.center for s in spheres]), np.stack([s.radius for s in spheres])
        return Sphere.trusted(centers, radii).reshaped(tuple(batch))
    if sets == 0:
        return Sphere.trusted(np.empty((*batch, 3)), np.empty(batch))
    rows = points.reshape(-1, 3)
    return spheres_from_groups(rows, np.arange(sets + 1) * count, method).reshaped(tuple(batch))


def sphere_from_aabb(box: Aabb) -> Sphere:
    """The smallest spheres (...) around boxes (...): half the diagonal, rounded up to reach every corner.

    Raises NonFiniteGeometryError where half a diagonal is beyond the largest float64.
    """
    center = box.center
    reach = np.maximum(np.abs(box.max - center), np.abs(center - box.min))
    return Sphere(center, length(reach) * (1 + 4 * np.finfo(np.float64).eps))


def _extremes(points: NDArray[Any]) -> tuple[Floats, Floats]:
    """Least and greatest coordinates (..., 3) of finite point sets (..., n, 3).

    Raises NonFiniteGeometryError: minima and maxima pass on NaN and infinity, so they alone are looked at.
    """
    *batch, count, _ = points.shape
    if count >= _FOLD_FROM:
        each = [_extremes_folded(one) for one in points.reshape(-1, count, 3)]
        low, high = (np.array(ends, points.dtype).reshape(*batch, 3) for ends in zip(*each, strict=True))
    elif batch:
        # Along the first axis NumPy reduces in long rows.
        rows = np.ascontiguousarray(np.moveaxis(points, -2, 0))
        low, high = np.minimum.reduce(rows, axis=0), np.maximum.reduce(rows, axis=0)
    else:
        columns = np.ascontiguousarray(points.T)
        low, high = np.minimum.reduce(columns, axis=1), np.maximum.reduce(columns, axis=1)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        require_finite(points, "points")
    return low.astype(np.float64), high.astype(np.float64)


def _extremes_folded(points: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same of (n, 3), n >= 512, folded into wide rows that NumPy reduces many times faster."""
    low = high = points[:_FOLD].reshape(-1)
    for start in range(0, len(points), CHUNK_ROWS):
        chunk = points[start : start + CHUNK_ROWS]
        # What does not fill a row overlaps with the one before.
        if len(chunk) % _FOLD:
            last = points[len(points) - _FOLD :].reshape(-1)
            low, high = np.minimum(low, last), np.maximum(high, last)
            chunk = chunk[: len(chunk) - len(chunk) % _FOLD]
        if len(chunk):
            rows = chunk.reshape(-1, 3 * _FOLD)
            low = np.minimum(low, np.minimum.reduce(rows, axis=0))
            high = np.maximum(high, np.maximum.reduce(rows, axis=0))
    return low.reshape(_FOLD, 3).min(axis=0), high.reshape(_FOLD, 3).max(axis=0)


def _mean_offset(points: NDArray[Any], center: Floats) -> Floats:
    """The mean of (n, 3) points as seen from a centre (3,) among them, free of overflow."""
    total = np.zeros(3)
    buffer = np.empty((3, min(CHUNK_ROWS, len(points))))
    for start in range(0, len(points), CHUNK_ROWS):
        chunk = points[start : start + CHUNK_ROWS]
        offset = buffer[:, : len(chunk)]
        np.copyto(offset, chunk.T)
        offset -= center[:, None]
        offset /= len(points)
        total += offset.sum(axis=1)
    return total


def _ritter_center(points: NDArray[Any], middle: Floats, extent: float) -> Floats:
    """Ritter's centre of (n, 3) points: halfway between two far ones, then moved towards those left out."""
    if extent == 0:
        return middle
    if not 1e-15 < extent < 1e15:
        # At unit size nothing over- or underflows when it is squared, in single precision neither.
        local = (points.astype(np.float64) - middle) / extent
        return middle + _ritter_center(local, np.zeros(3), 1.0) * extent
    first, _ = farthest_point(points, points[0].astype(np.float64))
    second, distance = farthest_point(points, first)
    center, radius = first * 0.5 + second * 0.5, distance * 0.5
    for _ in range(_MAX_PIVOTS):
        point, distance = farthest_point(points, center)
        if distance <= radius * (1 + _NO_GROWTH):
            break
        radius = (radius + distance) / 2
        center = point + (center - point) * (radius / distance)
    return center


def _ritter_centers(groups: Groups) -> Floats:
    """Ritter's centres (3, g) of groups of points of unit size."""
    first, _ = groups.farthest(groups.columns[:, groups.starts])
    second, squared = groups.farthest(groups.columns[:, first])
    centers: Floats = (groups.columns[:, first] + groups.columns[:, second]) * 0.5
    radii = np.sqrt(squared) * 0.5
    for _ in range(_MAX_PIVOTS):
        index, squared = groups.farthest(centers)
        distances = np.sqrt(squared)
        outside = distances > radii * (1 + _NO_GROWTH)
        if not outside.any():
            break
        point = groups.columns[:, index[outside]]
        radii[outside] = (radii[outside] + distances[outside]) / 2
        moved = point + (centers[:, outside] - point) * (radii[outside] / distances[outside])
        centers[:, outside] = moved
    return centers
