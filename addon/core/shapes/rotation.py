"""Rotation matrices of oriented boxes: orthonormalization, and axes for the image of a box under a matrix."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidShapeError
from ..numeric.arrays import Floats, cross, dot, length, normalized, perpendicular
from ..numeric.batch import first_index
from ..numeric.tolerances import CHAIN_ROUNDING, LENGTH_ROUNDING

_ROTATION_TOLERANCE = 1e-4
"""Largest accepted deviation of R^T R from identity: float32 and long chains of matrices stay below it."""


def orthonormalized(rotation: Floats) -> Floats:
    """Make rotations orthonormal to float64.

    Newton's iteration for the orthogonal polar factor, at most two steps. Rotations that are orthonormal
    already are returned as they are.

    rotation : (..., 3, 3) float64. Orthonormal to float32 or better.
    Returns rotation : (..., 3, 3) float64
    Raises InvalidShapeError: for matrices that scale, shear or mirror, with the index of the first.
    """
    identity = np.eye(3)
    gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
    deviation = np.abs(gram - identity).max(axis=(-2, -1))
    skewed = ~(deviation <= _ROTATION_TOLERANCE)
    if skewed.any():
        raise InvalidShapeError(
            f"box rotation: element {first_index(skewed)} is not a rotation, its columns are not of length 1"
            " and at right angles"
        )
    mirrored = dot(cross(rotation[..., 0], rotation[..., 1]), rotation[..., 2]) < 0
    if mirrored.any():
        raise InvalidShapeError(f"box rotation: element {first_index(mirrored)} mirrors")
    # Each step squares the deviation: from 1e-4 to 1e-8 to rounding.
    for _ in range(2):
        if not (deviation > LENGTH_ROUNDING).any():
            break
        rotation = np.einsum("...ij,...jk->...ik", rotation, 1.5 * identity - 0.5 * gram)
        gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
        deviation = np.abs(gram - identity).max(axis=(-2, -1))
    return rotation


def axes_from_edges(edges: Floats, importance: Floats) -> Floats:
    """Fit rotations to the columns of `edges` by Gram-Schmidt, the most important column first.

    The most important column keeps its direction; each other one loses its components along those before it.
    Columns keep their positions. Where columns are parallel or zero, any perpendicular axis is taken.

    edges : (..., 3, 3) float64. Edge vectors of boxes as columns.
    importance : (..., 3) float64. Of each column, for instance its length.
    Returns rotation : (..., 3, 3) float64. Never mirrored.
    """
    order = np.argsort(-importance, axis=-1, kind="stable")
    first, second, third = np.moveaxis(np.take_along_axis(edges, order[..., None, :], axis=-1), -1, 0)
    x = normalized(first)
    in_plane = second - x * dot(x, second)[..., None]
    # Rounding errors are all that is left of parallel columns: they have no direction.
    flat = length(in_plane) <= CHAIN_ROUNDING * length(second)
    y = np.where(flat[..., None], perpendicular(x), normalized(in_plane))
    # Orthogonalize twice, because the first subtraction may have canceled.
    y = normalized(y - x * dot(x, y)[..., None])
    z = cross(x, y)
    z = np.where((dot(z, third) < 0)[..., None], -z, z)
    axes = np.empty(edges.shape)
    np.put_along_axis(axes, np.broadcast_to(order[..., None, :], edges.shape), np.stack([x, y, z], -1), -1)
    # A box is the same with an axis reversed: reverse the last one where the axes are mirrored.
    mirrored = dot(cross(axes[..., 0], axes[..., 1]), axes[..., 2]) < 0
    axes[..., 2] = np.where(mirrored[..., None], -axes[..., 2], axes[..., 2])
    return axes
