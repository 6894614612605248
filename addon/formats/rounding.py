"""Rounding that keeps bounds bounds, outward: to decimals, and to numbers of double and single precision.

A number that already has few enough decimals is left as it is, so rounding twice changes nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Aabb, Obb, Sphere
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
    """An oriented box along the axes of `rotation` (3, 3), nearly its own, with a rounded centre around it.

    Half extents reach as far as the box does, seen from there, rounded up.
    """
    center = rounded(box.center, decimals)
    turned = np.asarray(rotation, dtype=np.float64).T
    moved = turned @ (box.center - center)
    reach = np.abs(moved) + np.abs(turned @ box.rotation) @ box.half_extents
    # Products of matrices whose columns are unit vectors to a few ulps, as are those of the reader.
    slack = 16 * np.finfo(np.float64).eps * reach.max()
    same = bool((moved == 0).all() and np.array_equal(turned.T, box.rotation))
    return Obb(center, rounded_up(box.half_extents if same else reach + slack, decimals), rotation)


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


def single(values: ArrayLike) -> Floats:
    """The nearest single-precision numbers, infinite where there are none so large."""
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(np.float32).astype(np.float64)


def single_up(values: Floats) -> Floats:
    """The least single-precision numbers that are not less."""
    near = single(values)
    with np.errstate(over="ignore"):
        above = np.nextafter(near.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return np.where(near < values, above, near)


def plain(values: ArrayLike) -> Any:
    """An array as (nested) lists of floats, with 0.0 for -0.0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).tolist()


def is_whole(value: float) -> bool:
    """Whether a finite number has no fraction."""
    return math.isfinite(value) and value == int(value)
