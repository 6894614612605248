"""Shapes in the frames of their subjects: the fits of a cache without the rotation and place of the subjects.

A subject's frame is that of `local` shapes in documents: its world matrix without scale and shear.
"""

from __future__ import annotations

import numpy as np

from ...core import CollisionBoundsError, Shape
from ...core.numeric.arrays import Bools, Floats, Ints, rotation_matrix
from ..blender.mesh_data import decompose_matrices
from ..curves.skin_poses import SkinBoxes
from .fit_cache import FitCache

_STEP = 2.0**-40
"""Linear maps are rounded to this part of their largest number.

Removing a rotation leaves rounding errors, which would differ at each frame, and each subject would be fitted
again.
"""


class FitsInOwnFrames:
    """The fits of a cache, in the frames of the subjects."""

    def __init__(self, fits: FitCache) -> None:
        self._fits = fits

    @property
    def owners(self) -> Ints:
        """See `FitCache`."""
        return self._fits.owners

    @property
    def is_fitted(self) -> Bools:
        """See `FitCache`."""
        return self._fits.is_fitted

    def shapes_at(
        self, subjects: Ints, matrices: Floats, replaced: SkinBoxes | None = None
    ) -> tuple[Shape, dict[int, CollisionBoundsError]]:
        """Scale the fits of subjects (m,) as their world matrices (m, 4, 4) do; see `FitCache.shapes_at`.

        All vertices are inside, but for rounding errors of 1e-12 of their distance from the origin.
        """
        assert replaced is None, "boxes of bent meshes are along the world's axes"
        return self._fits.shapes_at(subjects, _without_pose(matrices))


def _without_pose(matrices: Floats) -> Floats:
    """World matrices (m, 4, 4) without their rotation and translation."""
    placements, _ = decompose_matrices(matrices)
    turns = rotation_matrix(placements.rotation)
    linear = np.einsum("mji,mjk->mik", turns, matrices[:, :3, :3])
    size = np.abs(linear).max(axis=(1, 2), initial=0.0)[:, None, None]
    step = _STEP * np.exp2(np.ceil(np.log2(np.where(size > 0, size, 1.0))))
    result = np.tile(np.eye(4), (len(matrices), 1, 1))
    result[:, :3, :3] = np.rint(linear / step) * step
    return result
