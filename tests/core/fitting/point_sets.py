"""Point sets for tests of fitting, and the distance of points outside of a sphere."""

from __future__ import annotations

import numpy as np

from tests.core.scenes import random_rotations

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def outside(sphere, points) -> np.ndarray:
    """Distance of points outside of a sphere, in plain float64; all <= 0 for a bound."""
    offset = np.asarray(points, dtype=np.float64) - sphere.center
    # Scale by a power of two near the largest offset: exact, and squares neither over- nor underflow.
    scale = 2.0 ** np.floor(np.log2(np.abs(offset).max() or 1.0))
    return np.sqrt(((offset / scale) ** 2).sum(axis=1)) * scale - sphere.radius


def random_mesh(seed: int) -> np.ndarray:
    """Vertices of one of six kinds: clouds, boxes, tubes, ellipsoids, and lopsided ones."""
    rng = np.random.default_rng(seed)
    kind, count, scale = seed % 6, int(rng.integers(8, 300)), rng.uniform(0.1, 2, 3)
    if kind == 0:
        points = rng.normal(size=(count, 3)) * scale
    elif kind == 1:
        points = rng.uniform(-1, 1, (count, 3)) * scale
    elif kind == 2:
        points = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T * scale
    elif kind == 3:
        angle = rng.uniform(0, 2 * np.pi, count)
        points = np.stack([np.cos(angle), np.sin(angle), rng.uniform(-1, 1, count) * scale[0] * 2], axis=1)
    elif kind == 4:
        points = rng.normal(size=(count, 3))
        points *= scale / np.linalg.norm(points, axis=1, keepdims=True)
    else:
        points = rng.exponential(size=(count, 3)) * scale
        points = np.concatenate([points, -points[: count // 3] * 0.5])
    return points @ random_rotations(rng, 1)[0].T
