"""Heights of points above the planes below nodes of a mesh, compared with all of these planes."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.normal_ranges import NormalRanges
from tests.core import meshes


@pytest.mark.parametrize("corners", [meshes.torus(10, 6), meshes.cube(), meshes.triangle_soup(50, size=1.0)])
def test_heights_above_all_planes_of_a_node_are_within_its_range(corners):
    mesh = MeshBvh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    rng, nodes = np.random.default_rng(0), np.arange(len(mesh.nodes.first_child))
    a, b, c = np.moveaxis(mesh.corners, 1, 0)
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    for point in rng.normal(size=(20, 3)) * 4:
        heights = ((point - a) * normal).sum(axis=1)
        low, high = NormalRanges.of(mesh).heights(nodes, np.broadcast_to(point, (len(nodes), 3)))
        for node, first, count in zip(
            nodes, mesh.nodes.first_triangle, mesh.nodes.triangle_count, strict=True
        ):
            below = heights[first : first + count]
            assert low[node] <= below.min() + 1e-12
            assert high[node] >= below.max() - 1e-12
            if count == 1:
                assert low[node] == pytest.approx(below[0], abs=1e-12)
                assert high[node] == pytest.approx(below[0], abs=1e-12)
