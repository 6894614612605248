"""Linear maps that nearly are turns, as single precision leaves them."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Floats


def evenness(motion: Floats) -> tuple[Floats, Floats]:
    """The even scale (m,) of linear maps (m, 3, 3), and how much squared lengths differ from it beside."""
    m = _by_entry(motion)
    gram = np.einsum("kin,kjn->ijn", m, m)
    squared = (gram[0, 0] + gram[1, 1] + gram[2, 2]) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared - np.eye(3)[..., None]
    bent = np.sqrt(np.einsum("ijn,ijn->n", off, off))
    # A mirrored or vanished thing is fitted again.
    good = np.isfinite(bent) & (_determinant(m) > 0)
    return np.sqrt(squared), np.where(good, bent, np.inf)


def inverses(linear: Floats) -> Floats:
    """The inverses of linear maps (m, 3, 3); nothing but zeros for those that have none."""
    result = np.zeros_like(linear)
    with np.errstate(all="ignore"):
        determinant = np.linalg.det(linear)
        invertible = np.isfinite(determinant) & (determinant != 0)
        result[invertible] = np.linalg.inv(linear[invertible])
    result[~np.isfinite(result).all(axis=(1, 2))] = 0.0
    return result


def products(first: Floats, second: Floats) -> Floats:
    """The products (m, 3, 3) of matrices."""
    product = np.einsum("ijn,jkn->ikn", _by_entry(first), _by_entry(second))
    return np.ascontiguousarray(product.transpose(2, 0, 1))


def turned(motion: Floats, scale: Floats, rotation: Floats) -> Floats:
    """Rotations (m, 3, 3) turned by linear maps of a scale (m,), to orthonormal ones; see `orthonormal`."""
    r = np.einsum("ijn,jkn->ikn", _by_entry(motion), _by_entry(rotation))
    r /= scale
    return np.ascontiguousarray(_nearest_turn(r).transpose(2, 0, 1))


def orthonormal(rotation: Floats) -> Floats:
    """The turns (m, 3, 3) nearest to matrices that bend by less than 1e-4 (Newton for the polar factor)."""
    return np.ascontiguousarray(_nearest_turn(_by_entry(rotation)).transpose(2, 0, 1))


def _nearest_turn(r: Floats) -> Floats:
    """The same of (3, 3, m)."""
    # Each step squares what is missing: 1e-4, then 1e-8, then nothing.
    for _ in range(2):
        r = 1.5 * r - 0.5 * np.einsum("ijn,jkn->ikn", np.einsum("ijn,kjn->ikn", r, r), r)
    return r


def _by_entry(matrices: Floats) -> Floats:
    """(3, 3, m): NumPy multiplies long rows many times faster than small matrices."""
    return np.ascontiguousarray(matrices.transpose(1, 2, 0))


def _determinant(m: Floats) -> Floats:
    """(m,) of matrices (3, 3, m)."""
    minors = [m[1, (k + 1) % 3] * m[2, (k + 2) % 3] - m[1, (k + 2) % 3] * m[2, (k + 1) % 3] for k in range(3)]
    determinant: Floats = m[0, 0] * minors[0] + m[0, 1] * minors[1] + m[0, 2] * minors[2]
    return determinant
