"""Balls and surfaces of triangles as one batch of meshes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from addon.core import Meshes, Sphere, Triangle, TriangleMesh
from addon.core.numeric.batch import concatenated

Array = np.ndarray


def balls_and_surfaces(
    balls: Sphere, surfaces: Sequence[TriangleMesh], matrices: Array | None = None
) -> Meshes:
    """Return balls (n,), then surfaces (k,) posed by matrices (k, 4, 4), by default the identity."""
    if matrices is None:
        matrices = np.tile(np.eye(4), (len(surfaces), 1, 1))
    return concatenated(Meshes.balls(balls), Meshes(surfaces, matrices, is_solid=False))


def surfaces_apart(balls: int, surfaces: int) -> Array:
    """Labels of balls, then surfaces, by which two surfaces are no pair."""
    return np.append(np.full(balls, -1), np.zeros(surfaces, dtype=int))


def mesh_of(corners: Array, one_sided: bool = False) -> TriangleMesh:
    """Make a mesh of triangles (t, 3, 3)."""
    return TriangleMesh(Triangle(corners[:, 0], corners[:, 1], corners[:, 2], one_sided=one_sided))


def pose_at(*offset: float, turn: float = 0.0) -> Array:
    """Matrix (4, 4) that turns about the Z axis by an angle, then moves by an offset."""
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    pose[:3, 3] = offset
    return pose
