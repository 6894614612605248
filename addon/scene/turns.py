"""Linear maps that nearly are turns, as single precision leaves them."""

from __future__ import annotations

import numpy as np

from ..core.arrays import Floats


def evenness(motion: Floats) -> tuple[Floats, Floats]:
    """The even scale (m,) of linear maps (m, 3, 3), and how much squared lengths differ from it beside."""
    gram = np.swapaxes(motion, 1, 2) @ motion
    squared = np.trace(gram, axis1=1, axis2=2) / 3
    with np.errstate(divide="ignore", invalid="ignore"):
        off = gram / squared[:, None, None] - np.eye(3)
    bent = np.sqrt((off * off).sum(axis=(1, 2)))
    # A mirrored or vanished thing is fitted again.
    good = np.isfinite(bent) & (np.linalg.det(motion) > 0)
    return np.sqrt(squared), np.where(good, bent, np.inf)


def orthonormal(rotation: Floats) -> Floats:
    """The turns (m, 3, 3) nearest to matrices that nearly are (Newton's iteration for the polar factor)."""
    for _ in range(3):
        rotation = 1.5 * rotation - 0.5 * rotation @ np.swapaxes(rotation, 1, 2) @ rotation
    return rotation
