"""The axes of oriented boxes: made orthonormal, and those of what a matrix makes of a box."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, cross, dot, length, perpendicular, unit
from .batch import first_index
from .errors import InvalidShapeError

_ROTATION_TOLERANCE = 1e-4
"""How far from orthonormal a rotation may be: what single precision and long chains of matrices leave."""


def orthonormal(rotation: Floats) -> Floats:
    """Rotations (..., 3, 3), orthonormal to single precision or better, made so to double precision."""
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
    # Newton's iteration for the nearest orthogonal matrix: the deviation is squared each time.
    for _ in range(2):
        if not (deviation > 4 * np.finfo(np.float64).eps).any():
            break
        rotation = np.einsum("...ij,...jk->...ik", rotation, 1.5 * identity - 0.5 * gram)
        gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
        deviation = np.abs(gram - identity).max(axis=(-2, -1))
    return rotation


def axes_of(edges: Floats, importance: Floats) -> Floats:
    """Rotations (..., 3, 3) whose columns follow those of `edges`, the more important ones more closely.

    The direction of the most important column is kept, the next gives up what it has along that one. Columns
    come back in their own places; a flat image gets axes that serve.
    """
    order = np.argsort(-importance, axis=-1, kind="stable")
    first, second, third = np.moveaxis(np.take_along_axis(edges, order[..., None, :], axis=-1), -1, 0)
    x = unit(first)
    in_plane = second - x * dot(x, second)[..., None]
    # What rounding leaves of parallel columns says nothing about a direction.
    flat = length(in_plane) <= 1e-12 * length(second)
    y = np.where(flat[..., None], perpendicular(x), unit(in_plane))
    # Once more, as the first subtraction may have cancelled.
    y = unit(y - x * dot(x, y)[..., None])
    z = cross(x, y)
    z = np.where((dot(z, third) < 0)[..., None], -z, z)
    axes = np.empty(edges.shape)
    np.put_along_axis(axes, np.broadcast_to(order[..., None, :], edges.shape), np.stack([x, y, z], -1), -1)
    # Any three axes make the same box as their opposites: a mirror is undone on the last one.
    mirrored = dot(cross(axes[..., 0], axes[..., 1]), axes[..., 2]) < 0
    axes[..., 2] = np.where(mirrored[..., None], -axes[..., 2], axes[..., 2])
    return axes
