"""Triangle meshes from formulas, (t, 3, 3) each, and random poses for them."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from addon.core.mesh.containment import ConnectedComponents
from addon.core.numeric.arrays import rotation_matrix


def grid_surface(nu: int, nv: int, point: Callable) -> np.ndarray:
    """Parametric surface: two triangles for each cell of a grid over the unit square, mapped by `point`."""
    u, v = np.meshgrid(np.arange(nu + 1) / nu, np.arange(nv + 1) / nv, indexing="ij")
    p = np.stack(np.broadcast_arrays(*point(u, v)), axis=-1)
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    return np.concatenate(
        [np.stack(corners, axis=-2).reshape(-1, 3, 3) for corners in ((a, b, c), (a, c, d))]
    )


def torus(nu: int = 24, nv: int = 12, major: float = 3.0, minor: float = 1.0) -> np.ndarray:
    """Torus around the z axis, counter-clockwise seen from outside."""

    def point(u, v):
        around, across = 2 * np.pi * u, 2 * np.pi * v
        radius = major + minor * np.cos(across)
        return radius * np.cos(around), radius * np.sin(around), minor * np.sin(across)

    return grid_surface(nu, nv, point)


def plate(n: int = 12, size: float = 10.0) -> np.ndarray:
    """Square without thickness in the plane z = 0, counter-clockwise seen from above."""
    return grid_surface(n, n, lambda u, v: (size * u, size * v, 0 * u))


def ball_with_limbs() -> np.ndarray:
    """Ball of many triangles with thin limbs of few: an uneven triangle density."""

    def ball(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)

    def limb(u, v):
        return 8 * u, 0.2 * np.cos(2 * np.pi * v), 0.2 * np.sin(2 * np.pi * v)

    limbs = [grid_surface(5, 4, limb) @ rotation.T for rotation in random_poses(5, 0.0)[:, :3, :3]]
    return np.concatenate([grid_surface(24, 16, ball), *limbs])


def triangle_soup(count: int, seed: int = 0, size: float = 0.1) -> np.ndarray:
    """Random triangles that share no vertices."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-5, 5, (count, 1, 3)) + rng.normal(size=(count, 3, 3)) * size


def components_of(corners: np.ndarray) -> ConnectedComponents:
    """Find the components of triangles with corners (t, 3, 3)."""
    return ConnectedComponents.of(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def cube() -> np.ndarray:
    """Cube from -1 to 1 in 12 triangles, counter-clockwise seen from outside."""
    triangles = []
    for axis, side in itertools.product(range(3), (-1.0, 1.0)):
        corners = np.full((4, 3), side)
        corners[:, (axis + 1) % 3] = [-1, 1, 1, -1]
        corners[:, (axis + 2) % 3] = [-1, -1, 1, 1]
        if side < 0:
            corners = corners[::-1]
        triangles += [corners[[0, 1, 2]], corners[[0, 2, 3]]]
    return np.array(triangles)


def random_poses(count: int, spread: float, seed: int = 0) -> np.ndarray:
    """Random rotations (count, 4, 4), translated by about `spread`."""
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    matrices[:, :3, :3] = [rotation_matrix(quaternion) for quaternion in rng.normal(size=(count, 4))]
    matrices[:, :3, 3] = rng.normal(size=(count, 3)) * spread
    return matrices
