"""Trees of triangles in their order along a curve."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.trees.curve import partition_along_curve
from tests.core import meshes

LEAF = 4


def random_mesh(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    points = random.normal(size=(count, 3)) * 10.0 ** random.integers(-3, 4, 3)
    return points, random.integers(0, count, (2 * count, 3))


CASES = {
    "random": random_mesh(0, 300),
    "one triangle": (np.eye(3), np.array([[0, 1, 2]])),
    "equal": (np.ones((3, 3)), np.tile([0, 1, 2], (50, 1))),
    "flat": (random_mesh(1, 200)[0] * [1, 0, 1], random_mesh(1, 200)[1]),
    "large": (random_mesh(2, 200)[0] * 1e300, random_mesh(2, 200)[1]),
    "single": (random_mesh(3, 100)[0].astype(np.float32), random_mesh(3, 100)[1]),
}


@pytest.mark.parametrize("name", CASES)
def test_both_children_of_a_node_have_its_triangles(name):
    points, triangles = CASES[name]
    children, parts, order = partition_along_curve(points, triangles, LEAF)
    assert sorted(order.tolist()) == list(range(len(triangles)))
    assert parts[0].tolist() == [0, len(triangles)]
    is_inner = children[:, 0] >= 0
    # From the root on, level by level.
    assert children[is_inner].ravel().tolist() == list(range(1, len(children)))
    first, second = parts[children[is_inner, 0]], parts[children[is_inner, 1]]
    np.testing.assert_array_equal(np.column_stack([first[:, 0], second[:, 1]]), parts[is_inner])
    np.testing.assert_array_equal(first[:, 1], second[:, 0])
    sizes = np.diff(parts)[:, 0]
    assert sizes.min() >= 1
    np.testing.assert_array_equal(is_inner, sizes > LEAF)


def test_leaves_of_a_surface_are_small():
    # Of a grid of 64 x 64 cells, four triangles are those of two cells.
    corners = meshes.grid_surface(64, 64, lambda u, v: (u, v, 0 * u))
    corners = corners[np.random.default_rng(0).permutation(len(corners))]
    points, triangles = corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3)
    children, parts, order = partition_along_curve(points, triangles, LEAF)
    cell = np.ptp(points[:, 0]) / 64
    for begin, end in parts[children[:, 0] < 0].tolist():
        held = corners[order[begin:end]].reshape(-1, 3)
        assert np.ptp(held, axis=0).max() <= 2.001 * cell
