"""What rounding may lose where volumes are moved, merged and grown: they grow by it."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, transform_points

LOSS = 8 * float(np.finfo(np.float64).eps)
"""What a few products and sums may lose, of the largest of their terms."""


def raised(lengths: Floats) -> Floats:
    """Lengths raised by four ulps, which covers the rounding of one distance and one sum."""
    result: Floats = lengths * (1 + 4 * np.finfo(np.float64).eps)
    return result


def moved_centers(matrix: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Centres under affine matrices, and (...) how far rounding may have put them off, at most."""
    terms = transform_points(np.abs(matrix), np.abs(centers))
    return transform_points(matrix, centers), LOSS * terms.max(axis=-1)


def with_slack(half: Floats, lost: Floats) -> Floats:
    """Half extents raised by what was lost of the centre, and in sums over the box."""
    result: Floats = half + (lost + LOSS * half.max(axis=-1))[..., None]
    return result


def largest_stretch(linear: Floats) -> Floats:
    """Largest stretch of a 3x3 matrix, rounded up past what the factorisation may lose."""
    singular = np.linalg.svd(linear, compute_uv=False)[..., 0]
    result: Floats = singular * (1 + 16 * np.finfo(np.float64).eps)
    return result
