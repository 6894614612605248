"""Triangles near points: the nearest one of all is among them, and bounds of its distance hold."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.mesh.mesh_bvh import MeshBvh
from addon.core.mesh.near_triangles import near_triangles
from tests.core.mesh.solids import icosphere

_POINTS = 40


def loose_triangles(count: int, seed: int) -> np.ndarray:
    """Corners of small triangles at random places, some of which are needles or have no area."""
    rng = np.random.default_rng(seed)
    corners = rng.normal(size=(count, 1, 3)) + rng.normal(size=(count, 3, 3)) * 0.1
    corners[::5, 2] = corners[::5, 1] + (corners[::5, 0] - corners[::5, 1]) * 1e-9
    corners[::7, 2] = corners[::7, 0]
    return corners


def distances(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Distances (n, t) of points from triangles, by the textbook: the foot on the plane, else the edges."""
    p, (a, b, c) = points[:, None], corners.swapaxes(0, 1)
    least = np.full((len(points), len(corners)), np.inf)
    for start, end in ((a, b), (b, c), (c, a)):
        along = end - start
        squared = (along**2).sum(axis=-1)
        part = np.divide(
            ((p - start) * along).sum(axis=-1), squared, where=squared > 0, out=np.zeros_like(least)
        )
        foot = start + np.clip(part, 0, 1)[..., None] * along
        least = np.minimum(least, np.linalg.norm(p - foot, axis=-1))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=-1)
    unit = np.divide(normal, size[:, None], where=size[:, None] > 1e-12, out=np.zeros_like(normal))
    height = ((p - a) * unit).sum(axis=-1)
    foot = p - height[..., None] * unit
    sides = [
        (np.cross(end - start, foot - start) * unit).sum(axis=-1) >= 0
        for start, end in ((a, b), (b, c), (c, a))
    ]
    is_above = np.logical_and.reduce(sides) & (size > 1e-12)
    return np.where(is_above, np.minimum(least, np.abs(height)), least)


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (1.0, 3.0, 0.2)])
@pytest.mark.parametrize(
    "corners",
    [icosphere(1), icosphere(3), loose_triangles(1, 0), loose_triangles(40, 1), loose_triangles(3000, 2)],
    ids=["ball", "fine ball", "one", "loose", "many"],
)
def test_the_nearest_triangle_is_among_those_found(corners, scale):
    mesh = MeshBvh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))
    points = np.random.default_rng(3).normal(size=(_POINTS, 3)) * 1.2
    truth = distances(points * scale, mesh.corners * scale)
    least, ratio = truth.min(axis=1), np.full(len(points), max(scale) / min(scale))
    for within in (np.full(len(points), np.inf), least / min(scale) * (1 + 1e-6)):
        place, triangle, bound = near_triangles(mesh, points, within, ratio)
        assert (np.diff(place) >= 0).all()
        found = np.full(len(points), np.inf)
        np.minimum.at(found, place, truth[place, triangle])
        np.testing.assert_array_equal(found, least)
        assert (bound * max(scale) >= least * (1 - 1e-12)).all()
        assert (bound <= within * (1 + 1e-8)).all()
    # Few of many triangles remain.
    assert max(scale) > 1 or len(corners) < 1000 or len(place) < 0.01 * truth.size
