"""Random shapes for the tables of pairs, and the same shapes as objects of the peer libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import Aabb, Obb, Segment, Shape, Sphere, Triangle

Floats = NDArray[np.float64]

PEER_PAIRS = 1000
"""Number of pairs that peers are measured on, one call per pair. This project takes 10,000 pairs per call."""


def random_rotations(count: int, rng: np.random.Generator) -> Floats:
    """Return uniformly distributed rotations (count, 3, 3)."""
    return rotations_from_quaternions(rng.normal(size=(count, 4)))


def rotations_from_quaternions(quaternions: Floats) -> Floats:
    """Convert quaternions (n, 4) of any length, w first, to rotations (n, 3, 3)."""
    w, x, y, z = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def random_shapes(
    kind: type, centers: Floats, rng: np.random.Generator, rotation: Floats | None = None
) -> Any:
    """Return shapes of about unit size at `centers` (n, 3).

    The sizes depend on the state of `rng` only, not on the centers.
    """
    count = len(centers)
    half = rng.uniform(0.2, 0.8, (count, 3))
    if kind is Sphere:
        return Sphere(centers, half[:, 0])
    if kind is Aabb:
        return Aabb(centers - half, centers + half)
    if kind is Obb:
        return Obb(centers, half, random_rotations(count, rng) if rotation is None else rotation)
    a, b, c = (centers + rng.uniform(-0.8, 0.8, (count, 3)) for _ in range(3))
    return Segment(a, b) if kind is Segment else Triangle(a, b, c)


def peer_shapes(shape: Shape) -> list[tuple[tuple[float, ...], Floats, Floats]] | None:
    """Return (size, rotation, center) of spheres and boxes; None for other kinds of shapes.

    The size is (radius,) for a sphere and three side lengths for a box.
    """
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
    """Return collision objects of fcl. Raises ImportError if fcl is not installed."""
    import fcl

    return [
        fcl.CollisionObject(
            fcl.Box(*size) if len(size) == 3 else fcl.Sphere(*size), fcl.Transform(rotation, center)
        )
        for size, rotation, center in peer_shapes(shape) or ()
    ]
