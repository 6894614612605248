"""Random shapes for the tables of pairs, and the same shapes as the peers take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import Aabb, Obb, Segment, Shape, Sphere, Triangle

Floats = NDArray[np.float64]

PEER_PAIRS = 1000
"""Pairs that a peer is asked for, one call each, where ours take ten thousand in one."""


def rotations(count: int, rng: np.random.Generator) -> Floats:
    """(count, 3, 3) rotations, each as likely as any other."""
    return turns(rng.normal(size=(count, 4)))


def turns(quaternions: Floats) -> Floats:
    """(n, 3, 3) rotations by (n, 4) quaternions of any length, w first."""
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def shapes(kind: type, centers: Floats, rng: np.random.Generator, rotation: Floats | None = None) -> Any:
    """Shapes about one unit large around `centers` (n, 3); a seed gives the same sizes for any centres."""
    count = len(centers)
    half = rng.uniform(0.2, 0.8, (count, 3))
    if kind is Sphere:
        return Sphere(centers, half[:, 0])
    if kind is Aabb:
        return Aabb(centers - half, centers + half)
    if kind is Obb:
        return Obb(centers, half, rotations(count, rng) if rotation is None else rotation)
    a, b, c = (centers + rng.uniform(-0.8, 0.8, (count, 3)) for _ in range(3))
    return Segment(a, b) if kind is Segment else Triangle(a, b, c)


def placed(shape: Shape) -> list[tuple[tuple[float, ...], Floats, Floats]] | None:
    """Sphere and box as peers see them: (radius,) or three sides, rotation, centre; None for other kinds."""
    if isinstance(shape, Sphere):
        sizes = shape.radius[:, None]
        return [(tuple(s), np.eye(3), c) for s, c in zip(sizes.tolist(), shape.center, strict=True)]
    if isinstance(shape, Aabb):
        shape = shape.oriented()
    if isinstance(shape, Obb):
        sizes = 2 * shape.half_extents
        return [
            (tuple(s), r, c) for s, r, c in zip(sizes.tolist(), shape.rotation, shape.center, strict=True)
        ]
    return None


def fcl_objects(shape: Shape) -> list[Any]:
    """Collision objects of fcl. Raises ImportError without it."""
    import fcl

    return [
        fcl.CollisionObject(
            fcl.Box(*size) if len(size) == 3 else fcl.Sphere(*size), fcl.Transform(rotation, center)
        )
        for size, rotation, center in placed(shape) or ()
    ]
