"""Linear maps between fits: how far they are from a rotation with uniform scale, which moves a fit."""

from __future__ import annotations

import numpy as np

from ...core.numeric.arrays import Bools, Floats
from ...core.numeric.table import Table

MAX_RESIDUAL = 1e-4
"""Largest residual of a motion for which a fit is moved instead of made again."""

_THIN = 0.2
"""Determinant, relative to the size, up to which a linear map counts as nearly flat."""


class Motions(Table):
    """Linear maps that move fits.

    Attributes
    ----------
    linear : (m, 3, 3) float64
    scale, residual : (m,) float64
        See `uniform_scale_and_residual`.
    error : (m,) float64
        Largest distance of an image from where a point should be, of nearly flat objects.
    """

    linear: Floats
    scale: Floats
    residual: Floats
    error: Floats

    @property
    def stretch(self) -> Floats:
        """Factors (m,) by which the maps lengthen vectors at most."""
        return np.asarray(self.scale * np.sqrt(1 + self.residual) * (1 + 1e-14))


def matrix_products(first: Floats, second: Floats) -> Floats:
    """Products (m, 3, 3) of two arrays of matrices (m, 3, 3)."""
    # On arrays (3, 3, m), because NumPy multiplies long rows many times faster than small matrices.
    product = np.einsum(
        "ijn,jkn->ikn",
        np.ascontiguousarray(first.transpose(1, 2, 0)),
        np.ascontiguousarray(second.transpose(1, 2, 0)),
    )
    return np.asarray(product.transpose(2, 0, 1))


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
    m = np.ascontiguousarray(linear.transpose(1, 2, 0))
    gram = np.einsum("kin,kjn->ijn", m, m)
    squared = (gram[0, 0] + gram[1, 1] + gram[2, 2]) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared - np.eye(3)[..., None]
    residual = np.sqrt(np.einsum("ijn,ijn->n", off, off))
    minors = [m[1, (k + 1) % 3] * m[2, (k + 2) % 3] - m[1, (k + 2) % 3] * m[2, (k + 1) % 3] for k in range(3)]
    determinant = m[0, 0] * minors[0] + m[0, 1] * minors[1] + m[0, 2] * minors[2]
    # Mirrored and singular maps are no rotations, so whatever they move is fitted again.
    is_proper = np.isfinite(residual) & (determinant > 0)
    return np.sqrt(squared), np.where(is_proper, residual, np.inf)


def nearest_rotation(linear: Floats) -> Floats:
    """Rotations nearest to maps (m, 3, 3) whose residual is below 1e-4 (Newton's method, polar factor)."""
    r = np.ascontiguousarray(linear.transpose(1, 2, 0))
    # Each step squares the error: 1e-4, then 1e-8, then below the rounding.
    for _ in range(2):
        r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
    return r.transpose(2, 0, 1)


def is_similarity(motion: Floats) -> bool:
    """Return whether a fit can be moved by a linear map (3, 3)."""
    return bool(uniform_scale_and_residual(motion[None])[1][0] < MAX_RESIDUAL)


def inverses_or_zeros(linear: Floats) -> Floats:
    """Inverses of linear maps (m, 3, 3); zeros for singular ones."""
    result = np.zeros_like(linear)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(linear)
        invertible = np.isfinite(determinant) & (determinant != 0)
        result[invertible] = np.linalg.inv(linear[invertible])
    result[~np.isfinite(result).all(axis=(1, 2))] = 0.0
    return result


def are_nearly_flat(linear: Floats) -> Bools:
    """Mask (m,) of linear maps (m, 3, 3) whose images are flat or thin."""
    size = np.sqrt((linear * linear).sum(axis=(1, 2)) / 3)
    with np.errstate(all="ignore"):
        return np.asarray(np.isfinite(size) & (np.abs(np.linalg.det(linear)) <= _THIN * size**3))


def rotations_of_flat(fitted: Floats, linear: Floats) -> tuple[Floats, Floats]:
    """Find the rotations (m, 3, 3) that carry nearly flat maps (m, 3, 3) to others (Kabsch's method).

    Also returns how far (m,) the images of points at a distance of 1 from the origin are from these; infinite
    where it is no rotation.
    """
    rotations, deviations = np.tile(np.eye(3), (len(linear), 1, 1)), np.full(len(linear), np.inf)
    size = np.sqrt((linear * linear).sum(axis=(1, 2)))
    rows = np.flatnonzero(np.isfinite(size))
    left, _, right = np.linalg.svd(linear[rows] @ fitted[rows].transpose(0, 2, 1))
    # Without a mirror image: a flat object does not show which of both it is.
    left[:, :, 2] *= np.where(np.linalg.det(left @ right) < 0, -1, 1)[:, None]
    rotations[rows] = left @ right
    difference = linear[rows] - rotations[rows] @ fitted[rows]
    of_unit = np.sqrt((difference * difference).sum(axis=(1, 2)))
    is_near = of_unit <= MAX_RESIDUAL * size[rows]
    deviations[rows[is_near]] = of_unit[is_near]
    return rotations, deviations
