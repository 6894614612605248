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
    """Increase lengths by four ulps. Conservative: covers the rounding of one distance and one sum.

    lengths : (...) float64. >= 0, in any unit.
    Returns lengths : (...) float64
    """
    return lengths * (1 + LENGTH_ROUNDING)


def transformed_centers(matrix: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Transform centers, and bound the rounding error.

    matrix : (..., 4, 4) float64. Affine.
    centers : (..., 3) float64. Broadcast against the matrices.
    Returns centers : (..., 3) float64
    Returns error : (...) float64. Upper bound of the error of each coordinate. Conservative.
    """
    terms = transform_points(np.abs(matrix), np.abs(centers))
    return transform_points(matrix, centers), SUM_ROUNDING * terms.max(axis=-1)


def with_rounding_slack(half: Floats, lost: Floats) -> Floats:
    """Grow half extents by rounding errors. Conservative.

    half : (..., 3) float64. Computed by sums over the box.
    lost : (...) float64. Error of the center.
    Returns half : (..., 3) float64. Grown by the error of the center, and by that of sums over the box.
    """
    return np.asarray(half + (lost + SUM_ROUNDING * half.max(axis=-1))[..., None])


def largest_singular_value(linear: Floats) -> Floats:
    """Compute the largest singular value of matrices. Conservative: rounded up past its error.

    linear : (..., 3, 3) float64. Linear parts of affine maps.
    Returns value : (...) float64
    """
    singular = np.linalg.svd(linear, compute_uv=False)[..., 0]
    return np.asarray(singular * (1 + GAP_ROUNDING))


def smallest_singular_value(linear: Floats) -> Floats:
    """Compute the smallest singular value of matrices. Conservative: rounded down past its error.

    linear : (..., 3, 3) float64. Linear parts of affine maps.
    Returns value : (...) float64, >= 0
    """
    singular = np.linalg.svd(linear, compute_uv=False)
    return np.asarray(np.maximum(singular[..., 2] - singular[..., 0] * GAP_ROUNDING, 0.0))


class Exact(NamedTuple):
    """Numbers as unevaluated sums value + error, the result of an error-free transformation.

    value : (...) float64. The sum, rounded to float64.
    error : (...) float64 or float. Rounding error of `value`; 0 for numbers that are exact.
    """

    value: Floats
    error: Floats | float = 0.0


def two_difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Compute a difference and its exact rounding error (Knuth).

    a, b : (...) float64. Batches that broadcast.
    Returns difference : (...) float64. a - b, rounded.
    Returns error : (...) float64. Exact; the sum of both is a - b.
    """
    result = a - b
    subtracted = a - result
    return result, (a - (result + subtracted)) + (subtracted - b)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Compute a product and its exact rounding error (Dekker and Veltkamp).

    a, b : (...) float64. Batches that broadcast.
    Returns product : (...) float64. a * b, rounded.
    Returns error : (...) float64. Exact; the sum of both is a * b.
    """
    result = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    return result, ((a_high * b_high - result) + a_high * b_low + a_low * b_high) + a_low * b_low


def _high(a: Floats) -> Floats:
    """Return the upper half of the digits (Veltkamp's splitting, by 2^27 + 1)."""
    spread = a * 134217729.0
    return spread - (spread - a)


def lowest_bits(values: Floats) -> Floats:
    """Return the largest power of two that each number is a multiple of. Exact.

    values : (...) float64. Finite.
    Returns bits : (...) float64. Infinite for zero.
    """
    mantissa, exponent = np.frexp(np.abs(values))
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    bits: Floats = np.ldexp((digits & -digits).astype(np.float64), exponent - 53)
    return np.where(digits == 0, np.inf, bits)


def nearest_float32(values: ArrayLike) -> Floats:
    """Round to the nearest float32. Exact.

    values : (...) float64. Numbers to round.
    Returns rounded : (...) float64. Values that float32 has; infinite beyond the largest float32.
    """
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(np.float32).astype(np.float64)


def float32_at_least(values: ArrayLike) -> Floats:
    """Round up to float32. Exact.

    values : (...) float64. Numbers to round.
    Returns rounded : (...) float64. The smallest float32 values that are not less.
    """
    x = np.asarray(values, dtype=np.float64)
    near = nearest_float32(x)
    with np.errstate(over="ignore"):
        above = np.nextafter(near.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return np.where(near < x, above, near)


def float32_at_most(values: ArrayLike) -> Floats:
    """Round down to float32. Exact.

    values : (...) float64. Numbers to round.
    Returns rounded : (...) float64. The largest float32 values that are not greater.
    """
    return -float32_at_least(-np.asarray(values, dtype=np.float64))
