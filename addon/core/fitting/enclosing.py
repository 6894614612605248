"""Spheres and axis-aligned boxes around points, one set at a time or many groups at once.

Every shape encloses every point it was fitted to, in float64, exactly as its `contains` computes it. Ritter's
bounding sphere (1990) is around two far points, grown point by point; 5 to 20 % larger than the smallest.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import EmptyGeometryError, InvalidShapeError
from ..numeric.arguments import as_flag, require_choice, require_type
from ..numeric.arrays import CHUNK_ROWS, Floats, Ints, as_array, as_point_sets, length, require_finite
from ..numeric.tolerances import LENGTH_ROUNDING
from ..shapes import Aabb, Sphere, stacked
from .farthest_point import farthest_point, largest_distance, offset_chunks
from .minimal_sphere import minimal_sphere
from .minimal_sphere_batch import PointGroups, minimal_spheres

SphereMethod = Literal["minimal", "ritter", "centroid", "box"]
SPHERE_METHODS: tuple[SphereMethod, ...] = get_args(SphereMethod)

_MANY = 64
"""In a batch of sets of fewer points, the minima and maxima of all sets are found together."""
_MAX_PIVOTS = 1000
_NO_GROWTH = 1e-3
"""Points outside by less than this, in radii, do not move the center: the sphere is approximate anyway."""


def aabb_from_points(points: ArrayLike) -> Aabb:
    """Fit the smallest axis-aligned boxes to sets of points. Exact.

    Parameters
    ----------
    points : (..., n, 3) array_like, n >= 1
        In any space and unit, which are those of the boxes.

    Returns
    -------
    boxes : Aabb, batch (...)

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    return Aabb.unchecked(*_min_max(as_point_sets(points)))


def sphere_from_points(points: ArrayLike, method: SphereMethod = "minimal") -> Sphere:
    """Fit enclosing spheres to sets of points.

    The radius is the largest float64 distance from the center to a point, so no point is outside, not
    even by a single rounding. Computed in float64 for any type of points. The methods differ in the center:

    minimal   of the smallest enclosing sphere, to 1e-12 of its radius (farthest-point pivoting with an exact
              support set, after Welzl and Gaertner)
    ritter    of a sphere around two far points, then grown point by point; 5-20 % larger (Ritter 1990)
    centroid  the mean of the points
    box       the center of the bounding box

    Parameters
    ----------
    points : (..., n, 3) array_like, n >= 1
        In any space and unit, which are those of the spheres.
    method : {"minimal", "ritter", "centroid", "box"}
        Choice of the center.

    Returns
    -------
    spheres : Sphere, batch (...)

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    require_choice(method, SPHERE_METHODS, "sphere method")
    p = as_point_sets(points)
    if p.ndim > 2:
        require_finite(p, "points")
        *batch, count, _ = p.shape
        sets = p.reshape(math.prod(batch), count, 3)
        if not len(sets):
            return Sphere.unchecked(np.empty((*batch, 3)), np.empty(batch))
        spheres = spheres_from_groups(sets.reshape(-1, 3), np.arange(len(sets) + 1) * count, method)
        return spheres.reshaped(tuple(batch))
    if method == "minimal":
        return Sphere.unchecked(*minimal_sphere(p))
    low, high = _min_max(p)
    center = low * 0.5 + high * 0.5
    if method == "centroid":
        offsets = offset_chunks(p, center, np.float64)
        # Divided before they are added, so that the sum does not overflow.
        center = center + sum((offset / len(p)).sum(axis=1) for _, offset in offsets)
    elif method == "ritter":
        center = _ritter_center(p, center, float((high * 0.5 - low * 0.5).max()))
    radius = largest_distance(p, center)
    require_finite(np.array(radius), "sphere radius")
    return Sphere.unchecked(center, radius)


def aabbs_from_groups(points: ArrayLike, offsets: ArrayLike) -> Aabb:
    """Fit the smallest axis-aligned box to each group of points. Exact.

    Parameters
    ----------
    points : (n, 3) array_like
        Points of all groups, concatenated.
    offsets : (g + 1,) array_like of int
        Group k is `points[offsets[k]:offsets[k + 1]]`; from 0 to n, strictly increasing.

    Returns
    -------
    boxes : Aabb, batch (g,)

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    p, bounds = _groups(points, offsets)
    counts = np.diff(bounds)
    if len(counts) and counts.min() >= CHUNK_ROWS:
        # Fit large groups one by one, because they do not fit the cache together.
        return stacked(aabb_from_points(p[begin:end]) for begin, end in pairwise(bounds.tolist()))
    columns = np.ascontiguousarray(p[: bounds[-1]].T)
    low, high = (reduce.reduceat(columns, bounds[:-1], axis=1).T for reduce in (np.minimum, np.maximum))
    return Aabb.unchecked(low, high)


def spheres_from_groups(
    points: ArrayLike, offsets: ArrayLike, method: SphereMethod = "minimal", is_sorted: bool = False
) -> Sphere:
    """Fit one enclosing sphere to each group of points, without a loop over the groups.

    Exact like `sphere_from_points` of each group, to 1e-12 of the radius; no point is outside of its sphere.

    Parameters
    ----------
    points : (n, 3) array_like
        Points of all groups, concatenated, in the caller's unit.
    offsets : (g + 1,) array_like of int
        Group k is `points[offsets[k]:offsets[k + 1]]`; from 0 to n, strictly increasing.
    method : {"minimal", "ritter", "centroid", "box"}
        Of `sphere_from_points`.
    is_sorted : bool
        Whether the points that determine the smallest sphere of a group are likely to be in its first
        quarter, so that it is found sooner. The result is as exact in any order.

    Returns
    -------
    spheres : Sphere, batch (g,)

    Raises
    ------
    EmptyGeometryError
        For a group without points.
    NonFiniteGeometryError
    InvalidShapeError
        For offsets that do not fit the points.
    """
    require_choice(method, SPHERE_METHODS, "sphere method")
    is_sorted = as_flag(is_sorted, "is_sorted")
    p, bounds = _groups(points, offsets)
    if len(bounds) < 2:
        return Sphere.unchecked(np.empty((0, 3)), np.empty(0))
    if method != "minimal":
        return stacked(sphere_from_points(p[begin:end], method) for begin, end in pairwise(bounds.tolist()))
    centers, radii = minimal_spheres(p, bounds, is_sorted)
    require_finite(radii, "sphere radius")
    return Sphere.unchecked(centers, radii)


def enclosing_radii(points: ArrayLike, offsets: ArrayLike, centers: Floats) -> Floats:
    """Return the largest distance (g,) from each of `centers` (g, 3) to its group of points.

    Computed as in `Sphere.contains`: a sphere with this radius contains its group. Groups and errors are as
    those of `spheres_from_groups`.
    """
    p, bounds = _groups(points, offsets)
    if len(centers) == 1:
        return np.array([largest_distance(p[bounds[0] : bounds[1]], centers[0])])
    columns = np.array(p[bounds[0] : bounds[-1]].T, dtype=np.float64, order="C")
    return PointGroups(columns, np.diff(bounds)).largest_distances(centers)


def _groups(points: ArrayLike, offsets: ArrayLike) -> tuple[NDArray[Any], Ints]:
    """Check points (n, 3) and offsets (g + 1,) of their groups, and raise as `spheres_from_groups`."""
    p = as_point_sets(points)
    if p.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {p.shape}")
    require_finite(p, "points")
    bounds = as_array(offsets, "group offsets")
    if bounds.ndim != 1 or len(bounds) < 1 or bounds.dtype.kind not in "iu":
        raise InvalidShapeError("group offsets: whole numbers of shape (g + 1,) are needed")
    bounds = bounds.astype(np.int64)
    if bounds[0] < 0 or bounds[-1] > len(p):
        raise InvalidShapeError(f"group offsets: they must lie between 0 and {len(p)}")
    counts = np.diff(bounds)
    if (counts < 0).any():
        number = int((counts < 0).argmax()) + 1
        raise InvalidShapeError(f"group offsets: element {number} is less than the one before")
    if (counts == 0).any():
        raise EmptyGeometryError(f"group {int((counts == 0).argmax())} has no points")
    return p, bounds


def sphere_from_aabb(box: Aabb) -> Sphere:
    """Return the smallest spheres around boxes.

    Conservative: the radius is half the diagonal, rounded up so that every corner is inside.

    Parameters
    ----------
    box : Aabb, batch (...)
        In any space and unit, which are those of the spheres.

    Returns
    -------
    spheres : Sphere, batch (...)

    Raises
    ------
    NonFiniteGeometryError
        If half a diagonal is beyond the largest float64.
    """
    require_type(box, Aabb, "box")
    center = box.center
    reach = np.maximum(np.abs(box.max - center), np.abs(center - box.min))
    return Sphere(center, length(reach) * (1 + LENGTH_ROUNDING))


def _min_max(points: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the least and greatest coordinates (..., 3) of finite point sets (..., n, 3).

    Raises NonFiniteGeometryError. Only the results are tested, because minima and maxima propagate NaN and
    infinity.
    """
    *batch, count, _ = points.shape
    if not points.size or (batch and count < _MANY):
        # Reduce along the first axis, because NumPy then works on long rows.
        rows = np.ascontiguousarray(np.moveaxis(points, -2, 0))
        low, high = np.minimum.reduce(rows, axis=0), np.maximum.reduce(rows, axis=0)
    else:
        low = high = points[..., 0, :]
        for start in range(0, count, CHUNK_ROWS):
            columns = np.ascontiguousarray(points[..., start : start + CHUNK_ROWS, :].swapaxes(-1, -2))
            low = np.minimum(low, np.minimum.reduce(columns, axis=-1))
            high = np.maximum(high, np.maximum.reduce(columns, axis=-1))
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        require_finite(points, "points")
    return low.astype(np.float64), high.astype(np.float64)


def _ritter_center(points: NDArray[Any], middle: Floats, extent: float) -> Floats:
    """Center of Ritter's sphere around finite points (n, 3): between two far ones, then moved to others.

    middle, extent : Of their bounding box, (3,) and half of its longest side.
    """
    if extent == 0:
        return middle
    if not 1e-15 < extent < 1e15:
        # Scale to unit size, where squares neither over- nor underflow, not even in float32.
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
