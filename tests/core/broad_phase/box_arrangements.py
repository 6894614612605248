"""Arrangements of boxes, and their overlapping pairs by brute force, independent of the code under test."""

from __future__ import annotations

from functools import cache

import numpy as np

Corners = tuple[np.ndarray, np.ndarray]


def expected_pairs(low: np.ndarray, high: np.ndarray) -> list[tuple[int, int]]:
    """Find overlapping pairs by brute force in plain Python, independent of the package."""
    lows, highs = low.tolist(), high.tolist()
    return [
        (i, j)
        for i in range(len(lows))
        for j in range(i + 1, len(lows))
        if all(lows[i][k] <= highs[j][k] and lows[j][k] <= highs[i][k] for k in range(3))
    ]


def pairs_by_matrix(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Find overlapping pairs of many boxes by brute force, in a single matrix."""
    overlap = np.triu(np.ones((len(low), len(low)), dtype=bool), k=1)
    for k in range(3):
        overlap &= (low[:, None, k] <= high[None, :, k]) & (low[None, :, k] <= high[:, None, k])
    return np.argwhere(overlap)


def around(center: np.ndarray, size) -> Corners:
    return center - size, center + size


def arrangements() -> dict[str, Corners]:
    rng = np.random.default_rng(20)
    clusters = rng.normal(size=(8, 3))[rng.integers(8, size=300)] * 20 + rng.normal(size=(300, 3))
    sizes = np.where(rng.random((200, 1)) < 0.02, 30.0, 0.2)
    grid = np.stack(np.meshgrid(*[np.arange(5)] * 3), axis=-1).reshape(-1, 3).astype(float)
    rows = np.stack([np.arange(200.0), np.zeros(200), np.zeros(200)], axis=1)
    return {
        "none": (np.empty((0, 3)), np.empty((0, 3))),
        "one": around(np.zeros((1, 3)), 1.0),
        "two apart": around(np.array([[0.0, 0, 0], [0, 0, 5]]), 1.0),
        "two together": around(np.array([[0.0, 0, 0], [0, 0, 1]]), 1.0),
        "random": around(rng.random((250, 3)) * 20, 0.8),
        "random of all sizes": around(rng.random((250, 3)) * 20, 10 ** rng.uniform(-3, 1, (250, 3))),
        "clusters": around(clusters, 0.3),
        "flat": around(rng.random((250, 3)) * [50, 50, 0], np.array([1.0, 1.0, 0.0])),
        "points in a plane": around(rng.integers(0, 6, (150, 3)) * np.array([1.0, 1.0, 0.0]), 0.0),
        "on a line": around(rows, 0.75),
        "standing behind each other": around(rows[:, ::-1].copy(), 0.75),
        "giants among small ones": around(rng.random((200, 3)) * 100, sizes),
        "touching at faces, edges and corners": (grid, grid + 1),
        "just apart": (grid, np.nextafter(grid + 1, 0)),
        "identical": around(np.zeros((60, 3)), 1.0),
        "far from the origin": around(rng.random((200, 3)) * 10 + 1e9, 0.4),
    }


@cache
def crowds() -> dict[str, Corners]:
    """Arrangements of so many boxes that they are searched in columns."""
    rng = np.random.default_rng(4)
    n = 1500
    positions = rng.random((n, 3))
    rods = np.where(rng.integers(0, 3, n)[:, None] == np.arange(3), 3.0, 0.1)
    # Sizes of 1, 4, 16, ... and the floating-point neighbors of these on both sides.
    steps = (
        4.0 ** rng.integers(0, 6, (n, 1)) * np.array([1 - 2**-52, 1, 1 + 2**-52])[rng.integers(0, 3, (n, 1))]
    )
    lattice = np.stack(np.meshgrid(*[np.arange(11)] * 3), axis=-1).reshape(-1, 3).astype(float)
    lost = positions * np.where(rng.random((n, 1)) < 0.01, 1e12, 10.0)
    return {
        "uniform": around(positions * 10, 0.5),
        "long": around(positions * [1000, 1, 1], 0.5),
        "flat": around(positions * [30, 30, 0], 0.5),
        "thin slab": around(positions * [30, 30, 0.2], 0.5),
        "on a line": around(positions * [1000, 0, 0], 0.5),
        "on a diagonal": around(np.repeat(positions[:, :1], 3, axis=1) * 500, 0.5),
        "clusters": around(positions[:20][rng.integers(20, size=n)] * 500 + rng.normal(size=(n, 3)), 0.3),
        "all sizes, lognormal": around(positions * 40, np.exp(rng.normal(size=(n, 1)))),
        "all sizes, wider": around(positions * 400, np.exp(2 * rng.normal(size=(n, 1)))),
        "all sizes, heavy tail": around(positions * 60, rng.pareto(1.2, (n, 1)) + 0.5),
        "all sizes on each axis": around(positions * 100, 10 ** rng.uniform(-3, 1.5, (n, 3))),
        "sizes of twelve decades": around(positions * 100, 10 ** rng.uniform(-10, 2, (n, 1))),
        "sizes in steps of four": around(positions * 3000, steps / 2),
        "giants": around(positions * 10, np.where(positions[:, :1] < 0.01, 30.0, 0.4)),
        "more giants than are compared one by one": around(
            positions * 99, np.where(positions[:, :1] < 0.2, 50.0, 0.4)
        ),
        "rods": around(positions * 8, rods),
        "plates": around(positions * 20, np.array([10.0, 10.0, 0.01])),
        "touching": (lattice, lattice + 1),
        "just apart": (lattice, np.nextafter(lattice + 1, 0)),
        "points, many in one place": around(rng.integers(0, 9, (n, 3)) * 1.0, 0.0),
        "all in one spot": around(np.full((700, 3), 3.5), 1.0),
        "points in one spot": around(np.full((700, 3), -3.5), 0.0),
        "some lost far away": around(lost, 0.5),
        "far from the origin": around(positions * 10 + 1e6, 0.5),
        "so far that coordinates are coarse": around(positions * 10 + 2.0**52, 1.0),
        "huge": around(positions * 1e151, 1e150),
        "largest": around((positions * 2 - 1) * 1.6e308, 1e307),
        "tiny": around(positions * 1e-149, 1e-150),
        "smallest": around(positions * 1e-307, 1e-308),
        "denormal": around(np.round(positions * 20) * 5e-324, 5e-324),
    }


@cache
def pairs_of_crowd(name: str) -> np.ndarray:
    """Return the expected pairs of a crowd, cached because several tests use them and the matrix is slow."""
    return pairs_by_matrix(*crowds()[name])
