"""World matrices of objects from their location, rotation and scale channels, and those of their parents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints
from .bezier import Singles
from .keyframes import Curves
from .rotation import rotation_matrices

LOCATION, ROTATION, SCALE = slice(0, 3), slice(3, 7), slice(7, 10)
DELTA_LOCATION, DELTA_ROTATION, DELTA_SCALE = slice(10, 13), slice(13, 17), slice(17, 20)
CHANNELS = 20
"""Numbers of an object's transform; rotations have three or four, depending on their mode."""


class Transforms(NamedTuple):
    """Objects (n,), parents before their children, whose transforms follow curves.

    Attributes
    ----------
    rest : (n, CHANNELS) float32
        Values of channels without a curve.
    curve_of : (n, CHANNELS) int64
        Curve of each channel; -1 for none.
    modes : (n,) int64
        Rotation mode of each object: see `rotation.rotation_matrices`.
    parent : (n,) int64
        Index of the parent; -1 for none.
    parent_inverse : (n, 4, 4) float32
    curves : Curves
    """

    rest: Singles
    curve_of: Ints
    modes: Ints
    parent: Ints
    parent_inverse: Singles
    curves: Curves

    def world_matrices(self, times: Floats) -> Singles:
        """Compute the world matrices of all objects at times.

        Parameters
        ----------
        times : (t,) float64
            In frames; rounded to float32.

        Returns
        -------
        matrices : (t, n, 4, 4) float32
            Equal to those of Blender except for the last bit of a few numbers.
        """
        count = len(times)
        channels = np.repeat(self.rest[:, :, None], count, axis=2)
        item, channel = np.nonzero(self.curve_of >= 0)
        values = self.curves.values_at(times)
        channels[item, channel] = values[self.curve_of[item, channel]]
        basis = self._basis(channels)
        world = np.empty_like(basis)
        for rows in self._generations():
            parents = self.parent[rows]
            if parents[0] < 0:
                world[:, rows] = basis[:, rows]
            else:
                above = _product(world[:, parents], self.parent_inverse[rows])
                world[:, rows] = _product(above, basis[:, rows])
        return world

    def _basis(self, channels: Singles) -> Singles:
        """Matrices (t, n, 4, 4) of channels (n, CHANNELS, t), without parents."""
        objects, _, count = channels.shape
        modes = np.repeat(self.modes, count)
        by_time = np.moveaxis(channels, 1, 2).reshape(-1, CHANNELS)
        linear = rotation_matrices(modes, by_time[:, ROTATION])
        linear = _product(rotation_matrices(modes, by_time[:, DELTA_ROTATION]), linear)
        result = np.zeros((objects * count, 4, 4), dtype=np.float32)
        scale = by_time[:, SCALE] * by_time[:, DELTA_SCALE]
        result[:, :3, :3] = linear * scale[:, None, :]
        result[:, :3, 3] = by_time[:, LOCATION] + by_time[:, DELTA_LOCATION]
        result[:, 3, 3] = 1
        return np.ascontiguousarray(np.swapaxes(result.reshape(objects, count, 4, 4), 0, 1))

    def _generations(self) -> list[Ints]:
        """Rows of objects without parents, then of their children, and so on."""
        depth = np.zeros(len(self.parent), dtype=np.int64)
        for row, parent in enumerate(self.parent.tolist()):
            depth[row] = 0 if parent < 0 else depth[parent] + 1
        return [np.flatnonzero(depth == level) for level in range(int(depth.max(initial=-1)) + 1)]


def _product(a: Singles, b: Singles) -> Singles:
    """Multiply matrices (..., 3, 3) or (..., 4, 4), with the sums in Blender's order."""
    terms = [a[..., :, k, None] * b[..., k, None, :] for k in range(a.shape[-1])]
    first = terms[0] + terms[1]
    return np.asarray(first + terms[2] if len(terms) == 3 else first + (terms[2] + terms[3]))
