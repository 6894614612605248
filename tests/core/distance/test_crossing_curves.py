"""Curves of crossing meshes agree with closed forms, pairs of triangles, and winding numbers."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.distance.crossing_curves import NearTriangles, are_inside_mesh, crossing_segments
from addon.core.mesh.meshes import Meshes
from tests.core.mesh.solids import FAMILIES, Body, box, icosphere, surfaces_cross
from tests.core.meshes import random_poses
from tests.tiers import times

UNIT = Body(box(0.5, 0.5, 0.5))


def posed(body: Body, *places: object) -> Meshes:
    matrix = np.eye(4)
    matrix[:3, 3] = places[0] if places else 0.0
    return Meshes(body.mesh, matrix[None])


def near_both(a: Meshes, b: Meshes) -> tuple[NearTriangles, NearTriangles]:
    return NearTriangles.of(a, b), NearTriangles.of(b, a)


def lengths(ends: np.ndarray) -> np.ndarray:
    return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)


@pytest.mark.parametrize("origin", [(0, 0, 0), (1e6, -1e6, 3e5)])
def test_corner_of_a_cube_in_another_has_a_hexagon(origin: tuple[float, ...]) -> None:
    """The common box is 0.5, 0.25 and 0.125 wide: two edges of each width are where the surfaces cross."""
    offset = np.array([0.5, 0.75, 0.875])
    a, b = posed(UNIT, origin), posed(UNIT, np.array(origin) + offset)
    found = crossing_segments(*near_both(a, b))
    assert lengths(found.ends).sum() == pytest.approx(2 * (0.5 + 0.25 + 0.125), abs=1e-8)
    low, high = offset - 0.5, np.full(3, 0.5)
    at = found.ends - origin
    assert (at > low - 1e-8).all() and (at < high + 1e-8).all()


def test_balls_cross_in_a_circle() -> None:
    ball = Body(icosphere(4))
    a, b = posed(ball), posed(ball, (1.0, 0.03, 0.05))
    found = crossing_segments(*near_both(a, b))
    middle, radius = 0.5 * np.array([1.0, 0.03, 0.05]), np.sqrt(1 - 0.25 * (1 + 0.0009 + 0.0025))
    assert lengths(found.ends).sum() == pytest.approx(2 * np.pi * radius, rel=0.01)
    np.testing.assert_allclose(np.linalg.norm(found.ends - middle, axis=2), radius, rtol=0.01)


@pytest.mark.parametrize("family", FAMILIES)
def test_segments_lie_in_both_triangles_and_exist_where_surfaces_cross(family: str) -> None:
    a, count = FAMILIES[family], 0
    for seed, name in enumerate(FAMILIES):
        b, poses = FAMILIES[name], random_poses(2, 0.6, seed)
        first, second = Meshes(a.mesh, poses[:1]), Meshes(b.mesh, poses[1:])
        near = near_both(first, second)
        found = crossing_segments(*near)
        assert bool(len(found.a)) == surfaces_cross(a.posed(poses[:1]), b.posed(poses[1:]))[0]
        for side, triangles in zip((found.a, found.b), near, strict=True):
            corners = triangles.corners[side]
            # Parts of the corners that add up to each end.
            system = np.concatenate([corners.transpose(0, 2, 1), np.ones((len(side), 1, 3))], axis=1)
            for end in found.ends.transpose(1, 0, 2):
                target = np.concatenate([end, np.ones((len(side), 1))], axis=1)[..., None]
                parts = np.linalg.pinv(system) @ target
                assert (parts > -1e-6).all()
                np.testing.assert_allclose(system @ parts, target, atol=1e-9)
        count += len(found.a)
    assert count


def test_curve_of_closed_surfaces_is_closed() -> None:
    ball = Body(icosphere(3))
    for pose in random_poses(times(20), 0.5):
        a, b = posed(ball), Meshes(ball.mesh, pose[None])
        ends = crossing_segments(*near_both(a, b)).ends.reshape(-1, 3)
        apart = np.linalg.norm(ends[:, None] - ends, axis=2)
        # Each end is that of exactly one other segment.
        assert ((apart < 1e-9).sum(axis=1) == 2).all()


def test_mesh_within_another_has_no_curve() -> None:
    small, large = posed(Body(icosphere(2) * 0.1), (0.2, 0.1, 0.0)), posed(UNIT)
    assert not len(crossing_segments(*near_both(small, large)).a)
    assert are_inside_mesh(large, NearTriangles.of(small, large).corners.mean(axis=1)).all()
    assert not are_inside_mesh(small, NearTriangles.of(large, small).corners.mean(axis=1)).any()
