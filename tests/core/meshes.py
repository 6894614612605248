"""Triangle meshes from formulas, (t, 3, 3) each, and poses to put them in."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from addon.core.arrays import rotation_matrix


def surface(nu: int, nv: int, point: Callable) -> np.ndarray:
    """Two triangles for each cell of a grid over the unit square, mapped by `point`."""
    u, v = np.meshgrid(np.arange(nu + 1) / nu, np.arange(nv + 1) / nv, indexing="ij")
    p = np.stack(np.broadcast_arrays(*point(u, v)), axis=-1)
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[1:, 1:], p[:-1, 1:]
    return np.concatenate(
        [np.stack(corners, axis=-2).reshape(-1, 3, 3) for corners in ((a, b, c), (a, c, d))]
    )


def torus(nu: int = 24, nv: int = 12, major: float = 3.0, minor: float = 1.0) -> np.ndarray:
    """Around the z axis, seen counter-clockwise from outside."""

    def point(u, v):
        around, across = 2 * np.pi * u, 2 * np.pi * v
        reach = major + minor * np.cos(across)
        return reach * np.cos(around), reach * np.sin(around), minor * np.sin(across)

    return surface(nu, nv, point)


def plate(n: int = 12, size: float = 10.0) -> np.ndarray:
    """A square without thickness in the plane z = 0, seen counter-clockwise from above."""
    return surface(n, n, lambda u, v: (size * u, size * v, 0 * u))


def uneven() -> np.ndarray:
    """A dense ball with thin limbs of few triangles."""

    def ball(u, v):
        around, down = 2 * np.pi * u, np.pi * v
        return np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)

    def limb(u, v):
        return 8 * u, 0.2 * np.cos(2 * np.pi * v), 0.2 * np.sin(2 * np.pi * v)

    limbs = [surface(5, 4, limb) @ turn.T for turn in poses(5, 0.0)[:, :3, :3]]
    return np.concatenate([surface(24, 16, ball), *limbs])


def soup(count: int, seed: int = 0, size: float = 0.1) -> np.ndarray:
    """Loose triangles that share nothing."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-5, 5, (count, 1, 3)) + rng.normal(size=(count, 3, 3)) * size


def box() -> np.ndarray:
    """The cube from -1 to 1 in 12 triangles, seen counter-clockwise from outside."""
    triangles = []
    for axis, side in itertools.product(range(3), (-1.0, 1.0)):
        corners = np.full((4, 3), side)
        corners[:, (axis + 1) % 3] = [-1, 1, 1, -1]
        corners[:, (axis + 2) % 3] = [-1, -1, 1, 1]
        if side < 0:
            corners = corners[::-1]
        triangles += [corners[[0, 1, 2]], corners[[0, 2, 3]]]
    return np.array(triangles)


def poses(count: int, spread: float, seed: int = 0) -> np.ndarray:
    """(count, 4, 4) turns about random axes, moved by about `spread`."""
    rng = np.random.default_rng(seed)
    matrices = np.tile(np.eye(4), (count, 1, 1))
    matrices[:, :3, :3] = [rotation_matrix(quaternion) for quaternion in rng.normal(size=(count, 4))]
    matrices[:, :3, 3] = rng.normal(size=(count, 3)) * spread
    return matrices
