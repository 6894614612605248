"""Linear maps that nearly are rotations with a uniform scale, as single-precision matrices leave them.

Arithmetic runs on arrays (3, 3, m), because NumPy multiplies long rows many times faster than small matrices.
"""

from __future__ import annotations

import numpy as np

from ...core.numeric.arrays import Floats


def uniform_scale_and_residual(linear: Floats) -> tuple[Floats, Floats]:
    """Find the best uniform scale of linear maps, and how far they are from a rotation with that scale.

    A map with a residual below 1e-4 is a rotation with uniform scale, up to the rounding of its matrix.

    Parameters
    ----------
    linear : (m, 3, 3) float64
        Linear maps, finite or not.

    Returns
    -------
    scale : (m,) float64
    residual : (m,) float64
        Frobenius norm of M M^T / scale^2 - I. It is infinite for mirrored and singular maps.
    """
    m = _entries_first(linear)
    gram = np.einsum("kin,kjn->ijn", m, m)
    squared = (gram[0, 0] + gram[1, 1] + gram[2, 2]) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared - np.eye(3)[..., None]
    residual = np.sqrt(np.einsum("ijn,ijn->n", off, off))
    # Mirrored and singular maps are no rotations, so whatever they move is fitted again.
    is_proper = np.isfinite(residual) & (_determinant(m) > 0)
    return np.sqrt(squared), np.where(is_proper, residual, np.inf)


def inverse_or_zero(linear: Floats) -> Floats:
    """Inverses of linear maps (m, 3, 3); zeros for singular ones."""
    result = np.zeros_like(linear)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(linear)
        invertible = np.isfinite(determinant) & (determinant != 0)
        result[invertible] = np.linalg.inv(linear[invertible])
    result[~np.isfinite(result).all(axis=(1, 2))] = 0.0
    return result


def matrix_product(first: Floats, second: Floats) -> Floats:
    """Products (m, 3, 3) of two arrays of matrices (m, 3, 3)."""
    product = np.einsum("ijn,jkn->ikn", _entries_first(first), _entries_first(second))
    return np.ascontiguousarray(product.transpose(2, 0, 1))


def rotated(linear: Floats, scale: Floats, rotation: Floats) -> Floats:
    """Rotations (m, 3, 3) after linear maps with a uniform scale (m,), orthonormalized."""
    r = np.einsum("ijn,jkn->ikn", _entries_first(linear), _entries_first(rotation))
    r /= scale
    return np.ascontiguousarray(_nearest_rotation(r).transpose(2, 0, 1))


def nearest_rotation(linear: Floats) -> Floats:
    """Rotations nearest to maps (m, 3, 3) whose residual is below 1e-4 (Newton's method, polar factor)."""
    return np.ascontiguousarray(_nearest_rotation(_entries_first(linear)).transpose(2, 0, 1))


def _nearest_rotation(r: Floats) -> Floats:
    """Rotations (3, 3, m) nearest to maps (3, 3, m)."""
    # Each step squares the error: 1e-4, then 1e-8, then below the rounding.
    for _ in range(2):
        r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
    return r


def _entries_first(matrices: Floats) -> Floats:
    """Matrices (m, 3, 3) as an array (3, 3, m)."""
    return np.ascontiguousarray(matrices.transpose(1, 2, 0))


def _determinant(m: Floats) -> Floats:
    """Compute the determinants (m,) of matrices (3, 3, m)."""
    minors = [m[1, (k + 1) % 3] * m[2, (k + 2) % 3] - m[1, (k + 2) % 3] * m[2, (k + 1) % 3] for k in range(3)]
    determinant: Floats = m[0, 0] * minors[0] + m[0, 1] * minors[1] + m[0, 2] * minors[2]
    return determinant
