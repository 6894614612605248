"""Kinds of overlaps of meshes agree with edges through triangles, winding numbers, and known cases."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from addon.core.distance.mesh_depth import deepest_vertices
from addon.core.distance.overlap_kinds import OVERLAPS, overlap_kinds
from addon.core.mesh.meshes import Meshes
from tests.core import meshes
from tests.core.mesh.solids import FAMILIES, Body, bodies_overlap, box, octahedron, surfaces_cross
from tests.core.meshes import random_poses
from tests.tiers import times

CUBE = Body(box(0.5, 0.5, 0.5))
SHEET = Body(meshes.plate(2, 4.0) - [2, 2, 0], is_closed=False)
POST = Body(box(0.15, 0.15, 1.5))
GRAIN = Body(octahedron() * 1e-4)


def kinds(a: Body, pose_a: np.ndarray, b: Body, pose_b: np.ndarray) -> list[str]:
    """Kinds of overlaps in poses (k, 4, 4), equal in either order."""
    first, second = Meshes(a.mesh, pose_a), Meshes(b.mesh, pose_b)
    depth = deepest_vertices(first, second, np.zeros(len(pose_a))).depth
    found = overlap_kinds(first, second, depth)
    np.testing.assert_array_equal(overlap_kinds(second, first, depth), found)
    return [OVERLAPS[kind] for kind in found]


def at(*places: object) -> np.ndarray:
    matrices = np.tile(np.eye(4), (len(places), 1, 1))
    matrices[:, :3, 3] = places
    return matrices


@pytest.mark.parametrize(
    ("scenario", "a", "b", "place", "expected"),
    [
        ("faces side by side", CUBE, CUBE, (1, 0, 0), "touches"),
        ("parts of faces", CUBE, CUBE, (1, 0.5, 0.2), "touches"),
        ("a common edge", CUBE, CUBE, (1, 1, 0.3), "touches"),
        ("a common corner", CUBE, CUBE, (1, 1, 1), "touches"),
        ("a corner on a face", CUBE, Body(octahedron()), (1.5, 0.1, 0.2), "touches"),
        ("lying on a sheet", CUBE, SHEET, (0.1, 0.2, -0.5), "touches"),
        ("sheets in one plane", SHEET, SHEET, (0.3, 0.1, 0), "touches"),
        ("rounding of single precision", CUBE, CUBE, (1 - 1e-8, 0.3, 0.2), "touches"),
        ("more than rounding", CUBE, CUBE, (1 - 1e-5, 0.3, 0.2), "crosses"),
        ("corners inside", CUBE, CUBE, (0.5, 0.2, 0.3), "crosses"),
        ("aligned sides", CUBE, CUBE, (0.5, 0, 0), "crosses"),
        ("aligned sides on two axes", CUBE, CUBE, (0.5, 0.3, 0), "crosses"),
        ("aligned sides, and one is smaller", CUBE, Body(box(0.3, 0.5, 0.3)), (0.5, 0, 0.1), "crosses"),
        ("edges alone", POST, Body(box(1.5, 0.15, 0.15)), (0.1, 0.02, 0.03), "crosses"),
        ("through a sheet", CUBE, SHEET, (0.1, 0.2, 0.3), "crosses"),
        ("a cube with a cut corner", CUBE, GRAIN, (0.5, 0.5, 0.5), "crosses"),
        ("a cube inside", CUBE, Body(box(0.2, 0.2, 0.2)), (0.1, 0, 0), "inside"),
        ("a cube inside, at a wall", CUBE, Body(box(0.2, 0.2, 0.2)), (0.3, 0.1, 0), "inside"),
        ("a sheet inside", Body(box(3, 3, 3)), SHEET, (0.1, 0.2, 0.3), "inside"),
        ("a grain inside", CUBE, GRAIN, (0.4, 0.1, 0.2), "inside"),
        ("equal cubes at one place", CUBE, CUBE, (0, 0, 0), "inside"),
    ],
)
@pytest.mark.parametrize("is_turned", [False, True])
def test_overlap_is_of_the_kind_that_follows_from_the_places(scenario, a, b, place, expected, is_turned):
    pose_a, pose_b = at((0, 0, 0)), at(place)
    if is_turned:
        # Planes that were common are then so up to rounding.
        turned = random_poses(1, 3.0)[0]
        pose_a, pose_b = turned @ pose_a, turned @ pose_b
    assert kinds(a, pose_a, b, pose_b) == [expected], scenario


@pytest.mark.parametrize(("one", "other"), [*combinations_with_replacement(FAMILIES, 2)])
def test_kind_of_random_overlaps_follows_from_edges_and_winding_numbers(one, other):
    a, b = FAMILIES[one], FAMILIES[other]
    count, spread = times(60, 20), (a.reach + b.reach) / 5
    pose_a, pose_b = (random_poses(count, spread, len(one) + side * len(other)) for side in range(2))
    rows = np.flatnonzero(bodies_overlap(a, pose_a, b, pose_b))
    pose_a, pose_b = pose_a[rows], pose_b[rows]
    is_crossing = surfaces_cross(a.posed(pose_a), b.posed(pose_b))
    expected = np.where(is_crossing, "crosses", "inside").tolist()
    assert kinds(a, pose_a, b, pose_b) == expected
