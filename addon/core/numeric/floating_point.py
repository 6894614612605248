"""Bounds of rounding errors, error-free arithmetic, and directed rounding to float32.

Volumes that are transformed, merged or grown must still enclose what they enclosed: they grow by the bounds
given here. Error-free transformations (`two_difference`, `two_product`) return a rounded result and its
exact error, after Dekker (1971) and Knuth, The Art of Computer Programming 2, section 4.2.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, transform_points

ROUNDING_LOSS = 8 * float(np.finfo(np.float64).eps)
"""Bound of the rounding error of a few products and sums, relative to the largest of their terms."""


def raised_by_ulps(lengths: Floats) -> Floats:
    """Return lengths increased by four ulps, which covers the rounding of one distance and one sum."""
    result: Floats = lengths * (1 + 4 * np.finfo(np.float64).eps)
    return result


def transformed_centers(matrix: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Transform centers (..., 3) by matrices (..., 4, 4); also return a bound (...) of their error."""
    terms = transform_points(np.abs(matrix), np.abs(centers))
    return transform_points(matrix, centers), ROUNDING_LOSS * terms.max(axis=-1)


def with_rounding_slack(half: Floats, lost: Floats) -> Floats:
    """Return half extents (..., 3) plus the error (...) of the center and that of sums over the box."""
    result: Floats = half + (lost + ROUNDING_LOSS * half.max(axis=-1))[..., None]
    return result


def largest_singular_value(linear: Floats) -> Floats:
    """Return the largest singular value (...) of matrices (..., 3, 3), rounded up past its error."""
    singular = np.linalg.svd(linear, compute_uv=False)[..., 0]
    result: Floats = singular * (1 + 16 * np.finfo(np.float64).eps)
    return result


class Exact(NamedTuple):
    """Numbers as unevaluated sums value + error, the result of an error-free transformation.

    Attributes
    ----------
    value : (...) float64
        The sum, rounded to float64.
    error : (...) float64 or float
        Rounding error of `value`; 0 for numbers that are exact.
    """

    value: Floats
    error: Floats | float = 0.0


def two_difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a - b rounded, and its exact rounding error (Knuth)."""
    result = a - b
    subtracted = a - result
    return result, (a - (result + subtracted)) + (subtracted - b)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return a * b rounded, and its exact rounding error (Dekker and Veltkamp)."""
    result = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    return result, ((a_high * b_high - result) + a_high * b_low + a_low * b_high) + a_low * b_low


def _high(a: Floats) -> Floats:
    """Return the upper half of the digits (Veltkamp's splitting, by 2^27 + 1)."""
    spread = a * 134217729.0
    result: Floats = spread - (spread - a)
    return result


def nearest_float32(values: ArrayLike) -> Floats:
    """Return the nearest float32 values, as float64; infinite beyond the largest float32."""
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(np.float32).astype(np.float64)


def float32_at_least(values: ArrayLike) -> Floats:
    """Return the smallest float32 values that are not less, as float64."""
    x = np.asarray(values, dtype=np.float64)
    near = nearest_float32(x)
    with np.errstate(over="ignore"):
        above = np.nextafter(near.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return np.where(near < x, above, near)


def float32_at_most(values: ArrayLike) -> Floats:
    """Return the largest float32 values that are not greater, as float64."""
    return -float32_at_least(-np.asarray(values, dtype=np.float64))


def power_of_two_scale(size: Floats) -> Floats:
    """Return a power of two above each size, to scale by without rounding; 2 for size 0."""
    return np.asarray(np.ldexp(1.0, np.frexp(np.where(size > 0, size, 1.0))[1]))
