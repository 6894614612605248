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


def revolved(profile: np.ndarray, count: int) -> np.ndarray:
    """Points (n, 3) of a profile (k, 2), radius and height, at equal angles around the Z axis."""
    angle = np.linspace(0, 2 * np.pi, count, endpoint=False)[:, None]
    radius, height = profile.T
    rings = np.stack([radius * np.cos(angle), radius * np.sin(angle), height + 0 * angle], axis=-1)
    return rings.reshape(-1, 3)


def random_wheel(seed: int) -> tuple[np.ndarray, float, float]:
    """Vertices of a wheel around the Z axis, its radius, and its length along the axis.

    Of four kinds: a rim and flat sides alone, with a long axle, with a hub of thousands of vertices, or with
    a valve at the rim.
    """
    rng = np.random.default_rng(seed)
    count = int(rng.choice([6, 8, 10, 12, 16, 20, 32, 64, 128, 256]))
    half = float(rng.choice([0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1]))
    heights = np.linspace(-half, half, int(rng.integers(2, 96)))
    rim = 1 - rng.choice([0, 0.02, 0.2]) * np.abs(heights / half) ** 4
    parts = [revolved(np.stack([rim, heights], axis=1), count)]
    for size in np.linspace(0.2, 1, int(rng.integers(1, 8))):
        parts.append(revolved(np.array([[size * rim[0], -half], [size * rim[0], half]]), count))
    if seed % 4 == 1:
        ends = half * np.array([-rng.choice([1, 2, 5]), rng.choice([1.5, 3, 8])])
        parts.append(revolved(np.stack([[0.08, 0.08], ends], axis=1), 12))
    elif seed % 4 == 2:
        hub = rng.normal(size=(8000, 3))
        parts.append(hub * 0.1 / np.linalg.norm(hub, axis=1, keepdims=True))
    elif seed % 4 == 3:
        valve = np.array([[1.1, 0, 0], [0, 1.15, 0.1], [1.2, 0.1, half / 2]])
        parts.append(valve * rng.choice([1, 1.3, 2]))
    points = np.concatenate(parts)
    radius = float(np.sqrt((points[:, :2] ** 2).sum(axis=1).max()))
    return points, radius, float(np.ptp(points[:, 2]))
