"""Connected components of graphs and triangle meshes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.numeric.components import connected_components
from tests.core import meshes

CUBE = meshes.cube()


def test_components_are_numbered_by_their_first_vertices():
    # The reference is a depth-first search over the vertices.
    for seed in range(30):
        random = np.random.default_rng(seed)
        count = int(random.integers(1, 60))
        edges = random.integers(0, count, (int(random.integers(0, 60)), 2))
        label = [-1] * count
        for start in range(count):
            if label[start] >= 0:
                continue
            number, waiting = max(label) + 1, [start]
            while waiting:
                at = waiting.pop()
                if label[at] >= 0:
                    continue
                label[at] = number
                waiting += [int(b) for a, b in (*edges, *edges[:, ::-1]) if a == at]
        assert connected_components(count, edges.astype(np.int32)).tolist() == label


@pytest.mark.smoke
def test_triangles_that_share_corners_are_one_component():
    apart = np.concatenate([CUBE, CUBE * 0.5 + np.array([5, 0, 0]), CUBE[4:6] * 0.5 - np.array([5, 0, 0])])
    components = meshes.components_of(apart)
    first, second, third = components.of_triangle[[0, 12, 24]]
    assert components.of_triangle.tolist() == [first] * 12 + [second] * 12 + [third] * 2
    assert sorted(components.is_closed.tolist()) == [False, True, True]
    assert len(components.corner) == 3
    # Two cubes that share one corner are connected.
    assert len(meshes.components_of(np.concatenate([CUBE, CUBE + 2.0])).corner) == 1
    # A long strip whose triangles are shuffled.
    strip = meshes.grid_surface(900, 1, lambda u, v: (u, v, 0 * u))
    strip = strip[np.random.default_rng(0).permutation(1800)]
    assert len(meshes.components_of(strip).corner) == 1
    assert not meshes.components_of(strip).is_closed.any()


@pytest.mark.smoke
def test_closed_and_oriented_are_decided_by_edges():
    assert meshes.components_of(CUBE).is_closed.all()
    assert meshes.components_of(CUBE).is_oriented.all()
    assert not meshes.components_of(CUBE[1:]).is_closed.any()
    with_flipped_triangle = CUBE.copy()
    with_flipped_triangle[3] = with_flipped_triangle[3, ::-1]
    assert meshes.components_of(with_flipped_triangle).is_closed.all()
    assert not meshes.components_of(with_flipped_triangle).is_oriented.any()
    # Negative zeros equal zeros. Triangles degenerated to an edge or a point leave the surface closed.
    degenerate = np.concatenate([CUBE + 1, [[[0, 0, 0], [2, 2, 2], [0, 0, 0]], [[2.0, 2, 2]] * 3]])
    degenerate[3] = np.where(degenerate[3] == 0, -0.0, degenerate[3])
    assert meshes.components_of(degenerate).is_closed.all()
