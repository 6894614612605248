"""Rounding that keeps bounds bounds, outward: to decimals, and to numbers of double precision.

A number that already has few enough decimals is left as it is, so rounding twice changes nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Aabb, ConvexHull, InvalidShapeError, Obb, Sphere, hull_from_points
from ..core.arrays import require_finite, transform_vectors
from ..core.exact_arithmetic import difference

Floats = NDArray[np.float64]


def rounded(values: ArrayLike, decimals: int) -> Floats:
    """To the nearest."""
    x: Floats = np.asarray(values, dtype=np.float64)
    return np.around(x, decimals)


def rounded_up(values: ArrayLike, decimals: int) -> Floats:
    """To the smallest number of `decimals` that is not less; unchanged where none are left."""
    x = np.asarray(values, dtype=np.float64)
    grid = 10.0**decimals
    result = x.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.ceil(x * grid)
        # The product was rounded, so the right step may be one to either side.
        for offset in (1, 0, -1):
            candidate = (steps + offset) / grid
            result = np.where(np.isfinite(candidate) & (candidate >= x), candidate, result)
    return result


def rounded_down(values: ArrayLike, decimals: int) -> Floats:
    """To the largest number of `decimals` that is not more."""
    return -rounded_up(-np.asarray(values, dtype=np.float64), decimals)


def rounded_sphere(sphere: Sphere, decimals: int) -> Sphere:
    """Spheres with a rounded centre, and a radius that reaches as far from there as before, rounded up."""
    center = rounded(sphere.center, decimals)
    shift = np.sqrt(((center - sphere.center) ** 2).sum(axis=-1))
    # Three roundings (shift, sum, the reader's own distance) may each lose an ulp of what they work on.
    slack = 4 * np.finfo(np.float64).eps * (sphere.radius + shift)
    reach = sphere.radius + np.where(shift > 0, shift + slack, 0)
    return Sphere(center, rounded_up(reach, decimals))


def rounded_aabb(box: Aabb, decimals: int) -> Aabb:
    """Boxes whose min is rounded down and whose max is rounded up."""
    return Aabb(rounded_down(box.min, decimals), rounded_up(box.max, decimals))


def rounded_obb(box: Obb, rotation: ArrayLike, decimals: int) -> Obb:
    """Oriented boxes along the axes of `rotation` (..., 3, 3), nearly their own, around these.

    Centres are rounded. Half extents reach as far as the box does, seen from there, rounded up.
    """
    center = rounded(box.center, decimals)
    axes = np.asarray(rotation, dtype=np.float64)
    turned = axes.swapaxes(-1, -2)
    moved = transform_vectors(turned, box.center - center)
    # Rows of the product are where its axes are, seen along the new ones.
    across = np.abs(transform_vectors(turned[..., None, :, :], box.rotation.swapaxes(-1, -2))).swapaxes(
        -1, -2
    )
    reach = np.abs(moved) + transform_vectors(across, box.half_extents)
    # Products of matrices whose columns are unit vectors to a few ulps, as are those of the reader.
    slack = 16 * np.finfo(np.float64).eps * reach.max(axis=-1, keepdims=True)
    same = (moved == 0).all(axis=-1) & (axes == box.rotation).all(axis=(-2, -1))
    half = rounded_up(np.where(same[..., None], box.half_extents, reach + slack), decimals)
    require_finite(center, "center")
    require_finite(half, "half_extents")
    return Obb.trusted(center, half, axes)


def middle_and_half(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Centers and half extents (..., 3) that reach from `low` to `high`, exactly or a little further."""
    center = low / 2 + high / 2
    return center, reach_from(center, low, high)


def reach_from(center: Floats, low: Floats, high: Floats) -> Floats:
    """Half extents (..., 3) that reach from `center` to `low` and `high`, the next number where needed."""
    above, more = difference(high, center)
    below, less = difference(center, low)
    above = np.where(more > 0, np.nextafter(above, np.inf), above)
    below = np.where(less > 0, np.nextafter(below, np.inf), below)
    return np.maximum(above, below)


def ends_of(center: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """What reaches from `center` by `reach` (..., 3) both ways, low and high, or a little further."""
    low, lost_below = difference(center, reach)
    high, lost_above = difference(center, -reach)
    low = np.where(lost_below < 0, np.nextafter(low, -np.inf), low)
    return low, np.where(lost_above > 0, np.nextafter(high, np.inf), high)


def rounded_hull(hull: ConvexHull, decimals: int) -> ConvexHull:
    """A hull with rounded vertices, below all faces of which are all vertices of the given one.

    Nearly the same, but for what is as thin as numbers so rough can tell, which gets a box.
    """
    if np.array_equal(rounded(hull.vertices, decimals), hull.vertices):
        return hull
    try:
        return hull_from_points(hull.vertices, max(len(hull.vertices), 8), decimals)
    except InvalidShapeError:
        step = 10.0**-decimals
        low = rounded_down(hull.vertices.min(axis=0) - step / 2, decimals)
        high = rounded_up(hull.vertices.max(axis=0) + step / 2, decimals)
        corners = np.where(np.arange(8)[:, None] >> np.arange(3) & 1, high, low)
        return ConvexHull(corners, np.array(_BOX_FACES))


_BOX_FACES = [
    *((0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4)),
    *((2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6), (1, 3, 5), (3, 7, 5)),
]
"""Of corners whose first, second and third bit tell of x, y and z; counter-clockwise from outside."""


def plain(values: ArrayLike) -> Any:
    """An array as (nested) lists of floats, with 0.0 for -0.0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).tolist()


def json_number(value: float) -> float:
    """A number as JSON should show it: 24 instead of 24.0, 0 instead of -0.0."""
    return int(value) if is_whole(value) and abs(value) < 2**53 else float(value)


def is_whole(value: float) -> bool:
    """Whether a finite number has no fraction."""
    return math.isfinite(value) and value == int(value)
