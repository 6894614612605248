"""Meshes as triangles (t, 3, 3), whose volumes are known: prisms, boxes, a ring."""

from __future__ import annotations

import numpy as np

L_OUTLINE = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)]
L_TRIANGLES = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
U_OUTLINE = [(0, 0), (3, 0), (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)]
U_TRIANGLES = [(0, 1, 4), (1, 2, 3), (1, 3, 4), (0, 4, 5), (0, 5, 7), (5, 6, 7)]


def prism(outline, triangles, height: float = 1.0) -> np.ndarray:
    """Make a closed prism over an outline that is counter-clockwise from above."""
    flat = np.array(outline, dtype=float)
    low = np.column_stack([flat, np.zeros(len(flat))])
    high = low + np.array([0, 0, height])
    faces = [high[list(each)] for each in triangles] + [low[list(each)[::-1]] for each in triangles]
    for i in range(len(flat)):
        j = (i + 1) % len(flat)
        faces += [[*low[[i, j]].tolist(), high[j]], [low[i], high[j], high[i]]]
    return np.array([np.array(face, dtype=float) for face in faces])


def box(low, high) -> np.ndarray:
    """Make a closed box."""
    (x0, y0, z0), (x1, y1, z1) = low, high
    outline = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
    return prism(outline, [(0, 1, 2), (0, 2, 3)], z1 - z0) + np.array([0, 0, z0])


def ring(large: float = 1.0, small: float = 0.35, around: int = 48, across: int = 24) -> np.ndarray:
    """Make a closed torus about the Z axis."""
    u = np.arange(around)[:, None] * (2 * np.pi / around)
    v = np.arange(across) * (2 * np.pi / across)
    out = large + small * np.cos(v)
    points = np.stack([out * np.cos(u), out * np.sin(u), small * np.sin(v) + 0 * u], axis=-1)
    next_u, next_v = np.roll(points, -1, axis=0), np.roll(points, -1, axis=1)
    both = np.roll(next_u, -1, axis=1)
    faces = [np.stack(each, axis=2) for each in ((points, next_u, both), (points, both, next_v))]
    return np.concatenate([face.reshape(-1, 3, 3) for face in faces])


def volume(triangles: np.ndarray) -> float:
    """Volume of a closed mesh, by the divergence theorem."""
    a, b, c = np.moveaxis(triangles, 1, 0)
    return float(np.einsum("ti,ti->t", a, np.cross(b, c)).sum() / 6)


def random_solid(rng: np.random.Generator) -> np.ndarray:
    """Boxes that overlap, or a crumpled ring, anywhere and of any size."""
    if rng.integers(2):
        lows = rng.uniform(-2, 2, (rng.integers(2, 4), 3))
        triangles = np.concatenate([box(low, low + rng.uniform(0.1, 2, 3)) for low in lows])
        triangles = triangles @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    else:
        triangles = ring(1, rng.uniform(0.2, 0.6), 6, 4)
        triangles = triangles + np.sin(3 * triangles @ (rng.normal(size=(3, 3)) * 0.4)) * 0.3
    return triangles * 10.0 ** rng.integers(-3, 4) + rng.normal(size=3) * 10.0 ** rng.integers(-3, 2)
