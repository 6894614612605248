from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, InvalidShapeError, Sphere, overlapping_pairs, overlapping_pairs_brute_force


def expected_pairs(low: np.ndarray, high: np.ndarray) -> list[tuple[int, int]]:
    """Each box against each, in plain Python: not the package's own reference."""
    lows, highs = low.tolist(), high.tolist()
    return [
        (i, j)
        for i in range(len(lows))
        for j in range(i + 1, len(lows))
        if all(lows[i][k] <= highs[j][k] and lows[j][k] <= highs[i][k] for k in range(3))
    ]


def arrangements() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(20)

    def around(center: np.ndarray, size) -> tuple[np.ndarray, np.ndarray]:
        return center - size, center + size

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
        "a hair apart": (grid, np.nextafter(grid + 1, 0)),
        "identical": around(np.zeros((60, 3)), 1.0),
        "far from the origin": around(rng.random((200, 3)) * 10 + 1e9, 0.4),
    }


@pytest.mark.parametrize("name", list(arrangements()))
def test_pairs_are_those_of_comparing_each_with_each(name):
    low, high = arrangements()[name]
    expected = expected_pairs(low, high)
    pairs = overlapping_pairs(Aabb(low, high))
    assert pairs.dtype == np.int64
    assert pairs.shape == (len(expected), 2)
    assert [tuple(pair) for pair in pairs.tolist()] == expected  # i < j, sorted, each once
    reference = overlapping_pairs_brute_force(Aabb(low, high))
    assert [tuple(pair) for pair in reference.tolist()] == expected


def test_the_arrangements_are_worth_testing():
    counts = {name: len(expected_pairs(*boxes)) for name, boxes in arrangements().items()}
    assert counts["none"] == counts["one"] == counts["two apart"] == counts["a hair apart"] == 0
    # Each of the 27 inner boxes of a 5 x 5 x 5 grid touches 26; in all (13^3 - 125) / 2 pairs.
    assert counts["touching at faces, edges and corners"] == (13**3 - 125) // 2
    assert counts["identical"] == 60 * 59 // 2
    assert all(counts[name] > 20 for name in ("random", "clusters", "flat", "giants among small ones"))


def test_more_pairs_than_one_chunk_holds():
    # 400 identical boxes: 79 800 pairs, in chunks of at most 32 768; and one row of 40 thousand candidates.
    count = 400
    identical = overlapping_pairs(Aabb(np.zeros((count, 3)), np.ones((count, 3))))
    assert np.array_equal(identical, np.argwhere(np.triu(np.ones((count, count)), k=1)))

    small = np.arange(40_000.0)[:, None] * 2 + np.zeros(3)
    low = np.concatenate([small, [[-10.0] * 3]])
    high = np.concatenate([small + 1, [[1e6] * 3]])
    pairs = overlapping_pairs(Aabb(low, high))
    assert np.array_equal(pairs, np.stack([np.arange(40_000), np.full(40_000, 40_000)], axis=1))


def test_order_of_the_boxes_does_not_change_who_overlaps():
    low, high = arrangements()["random of all sizes"]
    expected = set(expected_pairs(low, high))
    shuffle = np.random.default_rng(3).permutation(len(low))
    pairs = overlapping_pairs(Aabb(low[shuffle], high[shuffle]))
    assert {tuple(sorted(pair)) for pair in shuffle[pairs].tolist()} == expected


@pytest.mark.parametrize("boxes", [Aabb([0, 0, 0], [1, 1, 1]), Sphere(np.zeros((2, 2, 3)), 1).aabb()])
def test_only_a_flat_batch_has_pairs(boxes):
    with pytest.raises(InvalidShapeError, match=r"\(n,\)"):
        overlapping_pairs(boxes)
