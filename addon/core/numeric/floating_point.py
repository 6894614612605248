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
from .tolerances import GAP_ROUNDING, LENGTH_ROUNDING, SUM_ROUNDING


def raised_by_ulps(lengths: Floats) -> Floats:
    """Raise lengths >= 0 by four ulps. Conservative: covers the rounding of one distance and one sum."""
    return lengths * (1 + LENGTH_ROUNDING)


def transformed_centers(matrix: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Transform centers (..., 3) by affine matrices (..., 4, 4), and bound the rounding error.

    Returns error : (...) float64. Upper bound of the error of each coordinate. Conservative.
    """
    terms = transform_points(np.abs(matrix), np.abs(centers))
    return transform_points(matrix, centers), SUM_ROUNDING * terms.max(axis=-1)


def with_rounding_slack(half: Floats, lost: Floats) -> Floats:
    """Grow half extents (..., 3) by the error (...) of their center, and by that of sums over the box.

    Conservative.
    """
    return np.asarray(half + (lost + SUM_ROUNDING * half.max(axis=-1))[..., None])


def largest_singular_value(linear: Floats) -> Floats:
    """Largest singular values (...) of matrices (..., 3, 3). Conservative: rounded up past their error."""
    singular = np.linalg.svd(linear, compute_uv=False)[..., 0]
    return np.asarray(singular * (1 + GAP_ROUNDING))


def singular_value_range(linear: Floats) -> tuple[Floats, Floats]:
    """Smallest and largest singular values (...) of matrices (..., 3, 3). Conservative, and none negative."""
    singular = np.linalg.svd(linear, compute_uv=False)
    least, largest = singular[..., 2], singular[..., 0]
    return np.maximum(least - largest * GAP_ROUNDING, 0.0), np.asarray(largest * (1 + GAP_ROUNDING))


class Exact(NamedTuple):
    """Numbers as unevaluated sums value + error, the result of an error-free transformation.

    value : (...) float64. The sum, rounded to float64.
    error : (...) float64 or float. Rounding error of `value`; 0 for numbers that are exact.
    """

    value: Floats
    error: Floats | float = 0.0


def two_difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Compute a - b, rounded, and the exact rounding error (Knuth): the sum of both is a - b."""
    result = a - b
    subtracted = a - result
    return result, (a - (result + subtracted)) + (subtracted - b)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Compute a * b, rounded, and the exact rounding error (Dekker, Veltkamp): the sum of both is a * b."""
    result = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    return result, ((a_high * b_high - result) + a_high * b_low + a_low * b_high) + a_low * b_low


def _high(a: Floats) -> Floats:
    """Return the upper half of the digits (Veltkamp's splitting, by 2^27 + 1)."""
    spread = a * 134217729.0
    return spread - (spread - a)


def lowest_bits(values: Floats) -> Floats:
    """Return the largest power of two that each finite number is a multiple of; inf for zero. Exact."""
    mantissa, exponent = np.frexp(np.abs(values))
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    bits: Floats = np.ldexp((digits & -digits).astype(np.float64), exponent - 53)
    return np.where(digits == 0, np.inf, bits)


def nearest_float32(values: ArrayLike) -> Floats:
    """Round to the nearest float32, as float64; infinite beyond the largest one. Exact."""
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(np.float32).astype(np.float64)


def float32_at_least(values: ArrayLike) -> Floats:
    """Round up: to the smallest float32 values, as float64, that are not less. Exact."""
    x = np.asarray(values, dtype=np.float64)
    near = nearest_float32(x)
    with np.errstate(over="ignore"):
        above = np.nextafter(near.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return np.where(near < x, above, near)


def float32_at_most(values: ArrayLike) -> Floats:
    """Round down: to the largest float32 values, as float64, that are not greater. Exact."""
    return -float32_at_least(-np.asarray(values, dtype=np.float64))
