"""Pools of the nodes of meshes that are kept from one search to the next."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from addon.core.distance.mesh_mesh import closest_triangles
from addon.core.distance.triangle_triangle import separation_triangle_triangle
from addon.core.mesh import mesh_bvh, node_pool
from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.meshes import Meshes, moving_nodes
from addon.core.mesh.node_pool import object_array, pool_of


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(mesh_bvh, "_FEW_TRIANGLES", 20)
    monkeypatch.setattr(mesh_bvh, "_MANY_TRIANGLES", 40)


def mesh(seed: int, triangles: int) -> MeshBvh:
    points = np.random.default_rng(seed).normal(size=(3 * triangles, 3))
    return MeshBvh(points, np.arange(3 * triangles).reshape(-1, 3))


def corners_of(bvh: MeshBvh) -> np.ndarray:
    return np.asarray(bvh.vertices)[bvh.given]


def posed(kinds: list[MeshBvh], offset: float, scale: float = 1.0) -> Meshes:
    matrices = np.tile(np.diag([scale, scale, scale, 1.0]), (len(kinds), 1, 1))
    matrices[:, 0, 3] = offset
    return Meshes.unchecked(object_array(kinds), matrices, np.zeros(len(kinds)))


def test_pool_of_rigid_meshes_is_joined_once():
    large, small, other = mesh(0, 60), mesh(1, 10), mesh(2, 10)
    pool, places = pool_of([small, large])
    assert [pool.kinds[place] for place in places] == [small, large]
    again, places = pool_of([large])
    assert again.points is pool.points and again.known is pool.known
    assert [again.kinds[place] for place in places] == [large]
    more, places = pool_of([other, large])
    assert [more.kinds[place] for place in places] == [other, large]
    assert pool_of([small, large])[0].points is more.points


def test_meshes_that_deform_and_small_ones_are_not_kept():
    large, small = mesh(0, 60), mesh(1, 10)
    moved = large.moved(large.vertices + 1.0)
    for kinds in ([moved, small], [large, moved], [small]):
        first, second = pool_of(kinds)[0], pool_of(kinds)[0]
        assert first.known is not second.known


def test_kept_pools_end_with_their_meshes():
    large, small = mesh(0, 60), mesh(1, 10)
    a, b = posed([small], 0.0), posed([large], 2.0)
    closest_triangles(*moving_nodes((a, a), (b, b)), np.array([np.inf]))
    assert large in node_pool._kept
    end = weakref.ref(large)
    gone = weakref.ref(small)
    del small, a
    gc.collect()
    assert gone() is None
    # Another mesh takes its place.
    other = mesh(2, 10)
    pool, places = pool_of([large, other])
    assert len(pool.kinds) == 2 and [pool.kinds[place] for place in places] == [large, other]
    assert len(pool.points) == 3 * 70
    first = pool.points[pool.vertices[places[1]]]
    np.testing.assert_array_equal(first, other.vertices[0])
    known = weakref.ref(pool.known)
    del pool
    del large, b
    gc.collect()
    assert known() is None and end() is None


@pytest.mark.parametrize("most", [0, 1 << 19])
def test_distances_with_a_kept_pool_are_those_of_all_pairs_of_triangles(most, monkeypatch):
    monkeypatch.setattr(node_pool, "_MOST_KNOWN", most)
    kinds = [mesh(seed, count) for seed, count in enumerate((60, 45, 12))]
    for offset in (3.0, 6.0, 4.5):
        for first, second in ((0, 1), (1, 2), (0, 2), (1, 1)):
            a, b = posed([kinds[first]], 0.0), posed([kinds[second]], offset)
            found = closest_triangles(*moving_nodes((a, a), (b, b)), np.array([np.inf]))[0]
            shift = np.array([offset, 0, 0])
            one, other = corners_of(kinds[first]), corners_of(kinds[second]) + shift
            i, j = (each.ravel() for each in np.indices((len(one), len(other))))
            truth = separation_triangle_triangle(one[i], other[j]).min()
            np.testing.assert_allclose(found, max(truth, 0.0), rtol=1e-12, atol=1e-12)


def test_very_large_mesh_that_is_scaled_to_a_point_has_the_distance_of_that():
    kind = mesh(0, 60)
    a, b = posed([kind], 0.0), posed([kind], 9.0, scale=0.0)
    found = closest_triangles(*moving_nodes((a, a), (b, b)), np.array([np.inf]))[0]
    corners = corners_of(kind)
    truth = separation_triangle_triangle(corners, np.tile([9.0, 0.0, 0.0], (len(corners), 3, 1))).min()
    np.testing.assert_allclose(found, truth, rtol=1e-12)
