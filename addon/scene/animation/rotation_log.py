"""Log of the subjects that rotate during a scan."""

from __future__ import annotations

import numpy as np

from ...core.numeric.arrays import Bools, Floats, Ints

_TURN = 1e-3
"""Change of the direction of an axis, about in radians, from which on a subject rotates."""


class RotationLog:
    """Subjects that rotate, by their matrices.

    Attributes
    ----------
    is_rotating : (n,) bool
    """

    def __init__(self, count: int) -> None:
        self.is_rotating: Bools = np.zeros(count, dtype=bool)
        self._first: Floats | None = None

    def log(self, matrices: Floats, moved: Ints) -> None:
        """Compare the axes of moved subjects (m,) in matrices (t, n, 4, 4) with the first ones."""
        if self._first is None:
            self._first = matrices[0, :, :3, :3].copy()
        rows = moved[~self.is_rotating[moved]]
        if len(rows):
            change = np.abs(_axes(matrices[:, rows, :3, :3]) - _axes(self._first[rows]))
            self.is_rotating[rows] = (change > _TURN).any(axis=(0, 2, 3))


def _axes(linear: Floats) -> Floats:
    """Return the unit vectors along the axes of linear maps (..., 3, 3), NaN for those that are collapsed."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(linear / np.linalg.norm(linear, axis=-2, keepdims=True))
