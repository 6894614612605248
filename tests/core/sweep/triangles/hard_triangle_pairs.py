"""Pairs of triangles whose sweeps are hard.

They slide, graze, are coplanar or degenerate, or move little or far. Each family returns corners (2 times,
2 triangles, 3 corners, 3) about 1 in size. Most are multiples of 1/64, so that features meet exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.random import Generator

Pair = np.ndarray


def dyadic(rng: Generator, *shape: int, reach: float = 1.0, unit: int = 64) -> np.ndarray:
    """Random multiples of 1 / unit between -reach and reach."""
    limit = round(reach * unit)
    return rng.integers(-limit, limit + 1, shape) / unit


def small(rng: Generator) -> float:
    """Zero, or a number from 1e-17 to 1e-6 of either sign."""
    return float(rng.choice([0.0, -1.0, 1.0]) * 10.0 ** rng.uniform(-17, -6))


def _moved(rng: Generator, at: np.ndarray, change: np.ndarray) -> Pair:
    """Corners (2, 3, 3) at a random time within, and their changes, as corners at both ends."""
    part = rng.integers(1, 64) / 64
    return np.array([at - part * change, at + (1 - part) * change])


def sliding_edges(rng: Generator) -> Pair:
    """Nearly parallel edges pass each other along their direction."""
    along, across = rng.normal(size=(2, 3))
    across *= 10.0 ** rng.uniform(-12, -6)
    ends = np.array([[0 * along, along], [1.05 * along, 2 * along]])
    third = rng.normal(size=(2, 1, 3)) if rng.random() < 0.5 else ends[:, 1:]
    first = np.concatenate([ends, third], axis=1)
    pair = np.array([first, first])
    pair[1, 1] -= along * rng.uniform(0.02, 2.5)
    pair[:, 1] += across
    return pair + rng.normal(size=pair.shape) * 10.0 ** rng.uniform(-17, -4)


def grazing_corner(rng: Generator) -> Pair:
    """Let a corner pass a corner or an edge, at a distance of zero or little more."""
    at, change = dyadic(rng, 2, 3, 3), dyadic(rng, 2, 1, 3) + np.zeros((2, 3, 3))
    part = rng.choice([0.0, 0.25, 0.5, 1.0])
    at[1] += (1 - part) * at[0, 0] + part * at[0, 1] - at[1, 0]
    if rng.random() < 0.5:
        change += dyadic(rng, 2, 3, 3, reach=0.25)
    at[1] += small(rng) * dyadic(rng, 3)
    return _moved(rng, at, change)


def grazing_face(rng: Generator) -> Pair:
    """Let a corner come to a face that turns, and leave it on the same side."""
    # The face is z = s x. Of the corner, x = t + 1/4 and z - s x = k (t - u)^2, if s = m - k t.
    u, k, m = rng.integers(8, 56) / 64, rng.choice([0.25, 1.0, 2.0]), dyadic(rng)
    pair = np.zeros((2, 2, 3, 3))
    pair[:, 0] = [[-1, -2, 0], [3, -2, 0], [1, 4, 0]]
    for end in (0, 1):
        pair[end, 0, :, 2] = (m - k * end) * pair[end, 0, :, 0]
        # k (t - u)^2 + (m - k t) (t + 1/4) = k u u + m / 4 + t (m - k / 4 - 2 k u).
        pair[end, 1, 0] = end + 0.25, 0, k * u * u + m / 4 + end * (m - k / 4 - 2 * k * u)
        pair[end, 1, 1:] = pair[end, 1, 0] + [[0.25, 0, 4], [-0.5, 0.5, 5]]
    pair[:, 1] += small(rng) * np.array([0, 0, 1.0])
    return pair


def crossing_edges(rng: Generator) -> Pair:
    """Two edges touch at inner points, while all corners move in any direction."""
    at, change = dyadic(rng, 2, 3, 3), dyadic(rng, 2, 3, 3)
    at[1] += (at[0, 0] + at[0, 1]) / 2 - (at[1, 0] + at[1, 1]) / 2
    at[1] += small(rng) * dyadic(rng, 3)
    return _moved(rng, at, change)


def coplanar(rng: Generator) -> Pair:
    """Both triangles stay in one plane, which may move."""
    pair = dyadic(rng, 2, 2, 3, 3, reach=1.0, unit=int(rng.choice([2, 64])))
    pair[:, 1, :, 0] += dyadic(rng, 2, 1, reach=3.0)
    pair[..., 2] = dyadic(rng, 2, 1, 1)
    if rng.random() < 0.3:
        pair[:, 1, :, 2] += small(rng)
    return pair


def face_on_face(rng: Generator) -> Pair:
    """Parallel faces meet, or slide along each other at no or little distance."""
    pair = dyadic(rng, 2, 2, 3, 3)
    pair[..., 2] = 0
    pair[:, 1, :, :2] += dyadic(rng, 1, 1, 2, reach=2.0)
    pair[1, :, :, :2] = pair[0, :, :, :2] + dyadic(rng, 2, 1, 2)
    heights = [0.5, -0.5] if rng.random() < 0.5 else [0.0, 0.0]
    pair[:, 1, :, 2] = np.array(heights)[:, None] + small(rng)
    return pair


def degenerate(rng: Generator) -> Pair:
    """Triangles that are points or segments, or become so."""
    pair = dyadic(rng, 2, 2, 3, 3, unit=int(rng.choice([1, 2, 4])))
    for triangle in (0, 1):
        for end in (0, 1) if rng.random() < 0.7 else (0,):
            kind = rng.integers(4)
            if kind == 0:
                pair[end, triangle, 1:] = pair[end, triangle, :1]
            elif kind == 1:
                pair[end, triangle, 2] = pair[end, triangle, 1]
            elif kind == 2:
                pair[end, triangle, 2] = pair[end, triangle, :2].mean(axis=0)
    pair[rng.integers(2), 1] += dyadic(rng, 3, unit=4)
    return pair


def lattice(rng: Generator) -> Pair:
    """Corners with small whole coordinates: features coincide, and are in contact at either end."""
    return rng.integers(-1, 2, (2, 2, 3, 3)).astype(float)


def mirrored(rng: Generator) -> Pair:
    """Triangles that turn inside out, so that they are points or segments in between."""
    pair = dyadic(rng, 2, 2, 3, 3)
    center = dyadic(rng, 2, 1, 3)
    pair[1] = 2 * center - pair[0]
    pair[1, 1] += dyadic(rng, 3, unit=4)
    return pair


def _in_contact(rng: Generator) -> np.ndarray:
    """Triangles (2, 3, 3) of which corners, edges or faces share a point."""
    at = dyadic(rng, 2, 3, 3)
    weights = rng.choice([[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]], size=2)
    at[1] += weights[0] @ at[0] - weights[1] @ at[1]
    return at


def tiny_moves(rng: Generator) -> Pair:
    """Corners move by about 1e-12, while features are about as close."""
    change = rng.normal(size=(2, 3, 3)) * 1e-12
    at = _in_contact(rng) + rng.normal(size=(2, 1, 3)) * 10.0 ** rng.uniform(-16, -12)
    return np.array([at, at + change])


def far_moves(rng: Generator) -> Pair:
    """Move a triangle by about 1e6, so that it touches or grazes on the path."""
    at, change = _in_contact(rng), np.zeros((2, 3, 3))
    change[1] = dyadic(rng, 1, 3) * 2.0**20 + dyadic(rng, 3, 3) * (rng.random() < 0.5)
    at[1] += small(rng) * dyadic(rng, 3)
    return _moved(rng, at, change)


def far_corners(rng: Generator) -> Pair:
    """Move single corners by about 1e6, so that a triangle stretches while both touch or graze."""
    at, change = _in_contact(rng), np.zeros((2, 3, 3))
    change[1] = dyadic(rng, 3, 3) * 2.0**20 * rng.integers(0, 2, (3, 1)) + dyadic(rng, 3, 3)
    at[1] += small(rng) * dyadic(rng, 3)
    return _moved(rng, at, change)


def random(rng: Generator) -> Pair:
    """Corners at random."""
    pair = rng.normal(size=(2, 2, 3, 3))
    pair[:, 1] += rng.normal(size=(2, 1, 3)) * 1.5
    return pair


FAMILIES: list[Callable[[Generator], Pair]] = [
    sliding_edges,
    grazing_corner,
    grazing_face,
    crossing_edges,
    coplanar,
    face_on_face,
    degenerate,
    lattice,
    mirrored,
    tiny_moves,
    far_moves,
    random,
    far_corners,
]


def pairs(family: Callable[[Generator], Pair], count: int, seed: int) -> np.ndarray:
    """Pairs (count, 2 times, 2 triangles, 3 corners, 3) of a family; half of them turned and away from 0."""
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    found = np.array([family(rng) for _ in range(count)])
    turn = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    away = rng.normal(size=(count, 1, 1, 1, 3)) * 10.0 ** rng.uniform(-3, 1, (count, 1, 1, 1, 1))
    turned = np.einsum("nij,ntkcj->ntkci", turn, found) + away
    is_turned = rng.random(count) < 0.5
    swapped = rng.random(count) < 0.5
    found = np.where(is_turned[:, None, None, None, None], turned, found)
    found[swapped] = found[swapped][:, :, ::-1]
    return np.ascontiguousarray(found)
