"""Sweeps of two meshes."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from addon.core import at, overlap_span, overlaps
from addon.core.mesh.meshes import Meshes, moving_nodes
from addon.core.mesh.triangle_mesh import TriangleMesh
from addon.core.numeric.arrays import transform_points
from addon.core.shapes.primitives import triangles_from_corners
from addon.core.sweep.mesh_mesh import first_impacts_of_meshes
from addon.core.sweep.triangle_triangle import MovingTriangles, first_impacts_of_triangles
from tests.core import meshes
from tests.tiers import times


class MovingMesh(NamedTuple):
    """One mesh at both ends of an interval, (1,) each."""

    start: Meshes
    end: Meshes

    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners (t, 3, 3) at both ends."""
        first, last = (transform_points(each.matrix[0], each.nodes[0].corners) for each in self)
        return first, last


class Impact(NamedTuple):
    """First impact of two meshes: the time, and the nodes of the triangles."""

    time: float
    i: int
    j: int


def first_impact(a: MovingMesh, b: MovingMesh, clearance: float = 0.0, begin: float = 0.0) -> Impact:
    """Find the first impact of two meshes."""
    time, nodes = first_impacts_of_meshes(
        *moving_nodes(a, b), *(np.array([each]) for each in (clearance, begin))
    )
    return Impact(float(time[0]), *nodes[:, 0].tolist())


def moving(start: np.ndarray, end: np.ndarray) -> MovingMesh:
    """Mesh in motion, from corners (t, 3, 3) at both ends."""
    first = TriangleMesh(triangles_from_corners(start))
    last = np.empty(1, dtype=object)
    last[0] = first.nodes.moved(end.reshape(-1, 3))
    return MovingMesh(Meshes(first, np.eye(4)[None]), Meshes.unchecked(last, np.eye(4)[None], np.zeros(1)))


def carried(corners: np.ndarray, start: np.ndarray, end: np.ndarray) -> MovingMesh:
    """Mesh in motion, from a matrix (4, 4) at each end."""
    mesh = TriangleMesh(triangles_from_corners(corners))
    return MovingMesh(Meshes(mesh, start[None]), Meshes(mesh, end[None]))


def brute_force(a: MovingMesh, b: MovingMesh, clearance: float = 0.0) -> float:
    """First time over all pairs of triangles, without bounding spheres."""
    (p0, p1), (q0, q1) = a.corners(), b.corners()
    i, j = (index.ravel() for index in np.indices((len(p0), len(q0))))
    times, _ = first_impacts_of_triangles(
        MovingTriangles(p0[i], p1[i]), MovingTriangles(q0[j], q1[j]), clearance
    )
    return float(np.fmin.reduce(times))


def assert_like_brute_force(a: MovingMesh, b: MovingMesh, clearance: float = 0.0) -> float:
    found, truth = first_impact(a, b, clearance), brute_force(a, b, clearance)
    np.testing.assert_allclose(found.time, truth, rtol=0, atol=1e-11)
    np.testing.assert_allclose(first_impact(b, a, clearance).time, truth, rtol=0, atol=1e-11)
    if not math.isnan(truth):
        slots = (mesh.start.nodes[0].nodes.first_triangle[k] for mesh, k in ((a, found.i), (b, found.j)))
        pair = (
            MovingTriangles(*(corners[[slot]] for corners in mesh.corners()))
            for mesh, slot in zip((a, b), slots, strict=True)
        )
        np.testing.assert_allclose(
            first_impacts_of_triangles(*pair, clearance)[0][0], truth, rtol=0, atol=1e-11
        )
    return truth


SHAPES = {
    "rings": (meshes.torus(8, 5), meshes.torus(7, 4)),
    "a ball and a thin plate": (meshes.ball_with_limbs()[::12] * 0.02, meshes.cube() * [3, 3, 0.001]),
    "loose triangles": (meshes.triangle_soup(60, size=0.6), meshes.triangle_soup(40, seed=1, size=0.2)),
    "needles": (
        meshes.triangle_soup(40, size=3.0) * [1, 1e-7, 1],
        meshes.triangle_soup(40, seed=1, size=3.0),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("clearance", [0.0, 0.05])
def test_first_impact_matches_brute_force(name, clearance):
    a, b = SHAPES[name]
    found = []
    for seed in (4, 1, 0, 2, 3)[: times(2, full=5)]:
        from_a, to_a, from_b, to_b = meshes.random_poses(4, 4.0, seed)
        if seed % 2:  # straight through one another, without a turn
            to_a[:3, :3], to_b[:3, :3] = from_a[:3, :3], from_b[:3, :3]
            from_a[:3, 3], to_a[:3, 3] = (
                from_a[:3, 3] + 40 * from_b[:3, 0],
                from_b[:3, 3] - 40 * from_b[:3, 0],
            )
        found.append(assert_like_brute_force(carried(a, from_a, to_a), carried(b, from_b, to_b), clearance))
    assert any(time > 0 for time in found)


def test_deforming_meshes_match_brute_force():
    rng = np.random.default_rng(0)
    found = []
    for seed in range(times(3, 2, full=5)):
        a, b = meshes.torus(8, 5), meshes.torus(7, 4)
        bent = a + 0.5 * np.sin(a[..., [1, 2, 0]] * 2 + seed)
        offset = rng.normal(size=3) * 2
        away = offset * 4 / np.linalg.norm(offset) * 2
        found.append(assert_like_brute_force(moving(a, bent), moving(b + away, b[:, :, [2, 0, 1]] - offset)))
    assert any(0 < time < 1 for time in found)


@pytest.mark.smoke
def test_begin_bounds_time():
    ball, sheet = SHAPES["a ball and a thin plate"]
    high, low = np.eye(4), np.eye(4)
    high[2, 3], low[2, 3] = 10, -10
    falling, plate = carried(ball, high, low), carried(sheet, np.eye(4), np.eye(4))
    exact = first_impact(falling, plate)
    assert first_impact(falling, plate, begin=exact.time * 0.999).time == pytest.approx(exact.time, abs=1e-12)
    never = first_impact(carried(ball, high, high), plate)
    assert math.isnan(never.time)
    assert (never.i, never.j) == (-1, -1)


def needle(tip: float, length: float = 1.0) -> np.ndarray:
    """Thin triangle (1, 3, 3) along X. Its tip at X = `tip` lies on its bounding sphere."""
    return np.array([[[tip, 0, 0], [tip + length, 2.0**-20, 0], [tip + length, -(2.0**-20), 0]]])


@pytest.mark.parametrize("gap", [2.0**-8, 1.0, 20.0])
@pytest.mark.parametrize("clearance", [0.0, 0.25])
@pytest.mark.parametrize("length", [1.0, 1 / 16])
def test_tips_of_facing_needles_touch_at_their_exact_time(gap, clearance, length):
    # Their bounding spheres touch at the same time, so bounds without a margin for rounding are late.
    left, right = needle(-clearance / 2, -1.0), needle(clearance / 2 + gap, length)
    for path in (gap, 2 * gap, 8 * gap):  # they touch at the end, in the middle, and early
        step = np.array([path / 2, 0, 0])
        found = first_impact(moving(left, left + step), moving(right, right - step), clearance)
        exact, rounding = gap / path, 4 * np.finfo(float).eps * (2 + gap) / path
        assert exact - 200 * rounding <= found.time <= min(exact + rounding, 1.0)
        if not clearance:
            assert found == first_impact(moving(left, left + step), moving(right, right - step))


@pytest.mark.parametrize("size", [2.0**-30, 1.0, 2.0**30])
@pytest.mark.parametrize("length", [1.0, 2.0**-20])
def test_tips_that_pass_one_another_touch_at_the_clearance(size, length):
    # They pass at distance 1/4. One moves along Y by 64 in all, and is level with the other at `level`.
    for level in (1.0, 10.0, 32.0, 63.0):
        left, right = needle(0.0, -length) * size, needle(0.25, length) * size
        start, end = (right + np.array([0, y, 0]) * size for y in (-level, 64 - level))
        hit = first_impact(moving(left, left), moving(start, end), 0.25 * size)
        # Near the tangent a rounding error of eps in the distance is one of its root in the time.
        assert hit.time == pytest.approx(level / 64, abs=1e-7)
        assert hit.time <= level / 64 + 1e-15
        for clearance in (0.0, 0.24):
            assert math.isnan(first_impact(moving(left, left), moving(start, end), clearance * size).time)


def test_needles_that_move_apart_or_stop_before_contact_never_touch():
    left, right = needle(0.0, -1.0), needle(1.0)
    for shift in (2.0, 0.0, -0.999):
        never = first_impact(moving(left, left), moving(right, right + np.array([shift, 0, 0])))
        assert math.isnan(never.time)


@pytest.mark.parametrize("width", [1e-15, 1e-13, 1e-11])
def test_tiny_triangle_hits_a_needle_whose_normal_is_a_rounding_error(width):
    rng = np.random.default_rng(0)
    for _ in range(times(6, 4, full=10)):
        tip, along, path = rng.normal(size=3), *unit_vectors(rng, 2)
        end = tip + along
        side = tip + along * rng.uniform(0.2, 0.8) + rng.normal(size=3) * width
        target = tip + along * rng.uniform()
        still, tiny = np.array([[tip, end, side]]), 1e-6 * (np.eye(3)[None] - 1 / 3)
        mesh, bullet = moving(still, still), moving(tiny + target - path, tiny + target + path)
        # The centers meet in the middle, and the path has length 2.
        assert 0.5 - 1e-6 <= assert_like_brute_force(mesh, bullet) <= 0.5 + 1e-12


def unit_vectors(rng: np.random.Generator, count: int) -> np.ndarray:
    vectors = rng.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def test_tiny_triangle_hits_a_large_one_whose_corners_move_apart():
    rng = np.random.default_rng(1)
    for _ in range(times(12, 8, full=20)):
        start, end = rng.normal(size=(2, 1, 3, 3))
        # A point of the triangle at half time, and a short path of the bullet through it.
        target = (rng.dirichlet(np.ones(3)) @ (start + end)[0]) / 2
        path, tiny = rng.normal(size=3) * 0.1, 1e-3 * (np.eye(3)[None] - 1 / 3)
        large, bullet = moving(start, end), moving(tiny + target - path, tiny + target + path)
        assert assert_like_brute_force(large, bullet) <= 0.5 + 1e-12


def test_tiny_triangle_that_moves_by_one_unit_hits_a_large_one():
    large, tiny = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]]), np.eye(3)[None] * 2.0**-10
    for z in (0.5, -0.5):
        start = tiny + np.array([0.25, 0.25, z])
        found = assert_like_brute_force(moving(large, large), moving(start, start - [0, 0, 2 * z]))
        assert found == pytest.approx(0.5, abs=2.0**-10)


def test_corner_that_moves_against_the_others_touches_at_its_time():
    # The tip moves back by 1.75 while the other corners move on by 1.25.
    start = np.array([[[0.0, 0, 0], [0.2, 1, 0], [0.2, -1, 0]]])
    end = start + np.array([[[-1.75, 0, 0], [1.25, 0, 0], [1.25, 0, 0]]])
    gate = np.array([[[-1.7, 0.01, 0.01], [-1.7, -0.01, 0.01], [-1.7, 0, -0.01]]])
    found = first_impact(moving(start, end), moving(gate, gate))
    assert found.time == pytest.approx(1.7 / 1.75, abs=1e-12)


# --- spans of overlap --------------------------------------------------------------------------------------


def placed(half: float, *offset: float) -> Meshes:
    """Cube with this half size at a place."""
    pose = np.diag([half, half, half, 1.0])
    pose[:3, 3] = offset
    return Meshes(CUBE, pose)


CUBE = TriangleMesh(triangles_from_corners(meshes.cube()))
STILL = placed(1, 0, 0, 0)


@pytest.mark.parametrize(
    ("start", "end", "clearance", "span"),
    [
        # Sides of half sizes 1 and 1/2 meet at a distance of 3/2 along x.
        ((4, 0, 0), (-4, 0, 0), 0.0, (2.5 / 8, 5.5 / 8)),
        ((4, 0, 0), (-4, 0, 0), 0.5, (2 / 8, 6 / 8)),
        ((4, 1.8, 0), (-4, 1.8, 0), 0.0, (np.nan, np.nan)),
        # Edges are 0.3 apart across, and 0.4 along at a distance of 0.5.
        ((4, 1.8, 0), (-4, 1.8, 0), 0.5, (2.1 / 8, 5.9 / 8)),
        # From inside to outside, and back.
        ((0, 0, 0), (8, 0, 0), 0.0, (0.0, 1.5 / 8)),
        ((8, 0, 0), (0, 0, 0), 0.0, (6.5 / 8, 1.0)),
        ((0.1, 0, 0), (0, 0.1, 0), 0.0, (0.0, 1.0)),
    ],
)
def test_span_of_cubes_lasts_from_the_first_to_the_last_touch(start, end, clearance, span):
    moving = placed(0.5, *start), placed(0.5, *end)
    np.testing.assert_allclose(overlap_span(STILL, STILL, *moving, clearance), span, rtol=0, atol=1e-12)
    np.testing.assert_allclose(overlap_span(*moving, STILL, STILL, clearance), span, rtol=0, atol=1e-12)
    back = overlap_span(STILL, STILL, *moving[::-1], clearance)
    np.testing.assert_allclose(back, 1 - np.array(span)[::-1], rtol=0, atol=1e-12)


def test_spans_of_a_batch_are_those_of_its_pairs_and_hold_all_sampled_overlaps():
    a, b = (TriangleMesh(triangles_from_corners(meshes.torus(*size))) for size in ((8, 5), (7, 4)))
    poses = [meshes.random_poses(6, 4.0, seed) for seed in (4, 7, 2, 3)]
    motion = [Meshes(mesh, pose) for mesh, pose in zip((a, a, b, b), poses, strict=True)]
    enter, leave = overlap_span(*motion)
    assert np.isnan(enter).any() and (leave > enter).any()
    alone = [overlap_span(*(each[k] for each in motion)) for k in range(6)]
    np.testing.assert_array_equal(np.transpose(alone), [enter, leave])
    for time in np.linspace(0, 1, times(41, 21, full=201)):
        found = overlaps(at(*motion[:2], time), at(*motion[2:], time))
        assert (~found | ((enter <= time) & (time <= leave))).all()


def test_meshes_may_part_within_the_span():
    # The corners of one that turns inside out move in straight lines through its middle.
    inside_out = Meshes(CUBE, -np.diag([1.0, 1, 1, -1]))
    still = placed(0.5, 1.25, 0, 0)
    assert [float(time) for time in overlap_span(STILL, inside_out, still, still)] == [0, 1]
    half = at(STILL, inside_out, [0.12, 0.13, 0.87, 0.88])
    # The half size |1 - 2 t| is 0.75 at 1/8 and 7/8.
    assert overlaps(half, still).tolist() == [True, False, False, True]
