"""Signed separation of posed meshes, compared with all pairs of triangles and with winding numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from addon.core import InvalidShapeError, Sphere, UnsupportedPairError
from addon.core.distance.dispatch import overlaps, separation, witness_points
from addon.core.mesh.meshes import Meshes
from tests.core import scenes
from tests.core.mesh.solids import FAMILIES, Body, bodies_overlap, box, distances, octahedron, shell
from tests.tiers import times

PAIRS = list(itertools.combinations_with_replacement(FAMILIES, 2))


def random_matrices(rng: np.random.Generator, count: int, spread: float) -> np.ndarray:
    """Matrices (count, 4, 4) with rotation and shear, half of which mirror."""
    matrices = np.tile(np.eye(4), (count, 1, 1))
    matrices[:, :3, :3] = scenes.random_rotations(rng, count)
    matrices[:, :3, :3] += rng.normal(size=(count, 3, 3)) * 0.2
    matrices[::2, :3, 0] *= -1
    matrices[:, :3, 3] = rng.normal(size=(count, 3)) * spread
    return matrices


def posed(body: Body, *offset: float, scale: float = 1.0) -> Meshes:
    return Meshes(body.mesh, scenes.affine(np.eye(3) * scale, offset or (0, 0, 0)))


def expected_sign_and_distance(a: Body, pose_a, b: Body, pose_b) -> tuple[np.ndarray, np.ndarray]:
    """Decide which bodies (k,) overlap, and compute the distances of their surfaces."""
    return bodies_overlap(a, pose_a, b, pose_b), distances(a.posed(pose_a), b.posed(pose_b))


@pytest.mark.parametrize(("first", "second"), PAIRS, ids="-".join)
def test_separation_agrees_with_all_pairs_of_triangles_and_winding_numbers(first, second):
    a, b, count = FAMILIES[first], FAMILIES[second], times(40, 10, full=200)
    rng = np.random.default_rng(1)
    pose_a, pose_b = (random_matrices(rng, count, 0.9) for _ in range(2))
    found = separation(Meshes(a.mesh, pose_a), Meshes(b.mesh, pose_b))
    overlap, distance = expected_sign_and_distance(a, pose_a, b, pose_b)
    assert np.array_equal(found <= 0, overlap)
    np.testing.assert_allclose(found[~overlap], distance[~overlap], rtol=0, atol=1e-13)
    swapped = separation(Meshes(b.mesh, pose_b), Meshes(a.mesh, pose_a))
    np.testing.assert_allclose(swapped[~overlap], found[~overlap], rtol=0, atol=1e-13)
    assert np.array_equal(swapped <= 0, overlap)


@pytest.mark.parametrize(("first", "second"), PAIRS, ids="-".join)
def test_bodies_moved_by_less_than_a_negative_separation_still_overlap(first, second):
    a, b, count = FAMILIES[first], FAMILIES[second], times(40, 10, full=200)
    rng = np.random.default_rng(2)
    pose_a, pose_b = (random_matrices(rng, count, 0.4) for _ in range(2))
    found = separation(Meshes(a.mesh, pose_a), Meshes(b.mesh, pose_b))
    rows = np.flatnonzero(found < 0)
    assert len(rows)
    # Surfaces in general position cross by more than rounding.
    assert np.array_equal(found < 0, bodies_overlap(a, pose_a, b, pose_b))
    for _ in range(times(10, 3)):
        moved = pose_b[rows]
        moved[:, :3, 3] += scenes.random_directions(rng, len(rows)) * -found[rows, None] * 0.999
        assert bodies_overlap(a, pose_a[rows], b, moved).all()


@pytest.mark.parametrize(("first", "second"), PAIRS[::3], ids="-".join)
def test_witness_points_are_on_both_surfaces_at_their_distance(first, second):
    a, b, count = FAMILIES[first], FAMILIES[second], times(20, 6, full=60)
    rng = np.random.default_rng(3)
    pose_a, pose_b = (random_matrices(rng, count, 1.5) for _ in range(2))
    on_a, on_b, normal = witness_points(Meshes(a.mesh, pose_a), Meshes(b.mesh, pose_b))
    distance = distances(a.posed(pose_a), b.posed(pose_b))
    np.testing.assert_allclose(on_b - on_a, normal * distance[:, None], rtol=0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, rtol=1e-14)
    for body, pose, points in ((a, pose_a, on_a), (b, pose_b, on_b)):
        # A triangle of size zero at the point.
        assert distances(body.posed(pose), np.repeat(points[:, None, None], 3, axis=2)).max() <= 1e-13


def test_each_mesh_of_a_batch_may_be_another():
    rng, names = np.random.default_rng(4), sorted(FAMILIES)
    count = times(100, 40)
    rows = [[names[k] for k in rng.integers(0, len(names), count)] for _ in range(2)]
    poses = [random_matrices(rng, count, 1.0) for _ in range(2)]
    first, second = (
        Meshes([FAMILIES[name].mesh for name in column], pose)
        for column, pose in zip(rows, poses, strict=True)
    )
    found = separation(first, second)
    for k in range(count):
        a, b = FAMILIES[rows[0][k]], FAMILIES[rows[1][k]]
        overlap, distance = expected_sign_and_distance(a, poses[0][k : k + 1], b, poses[1][k : k + 1])
        assert (found[k] <= 0) == overlap[0]
        if not overlap[0]:
            assert found[k] == pytest.approx(distance[0], abs=1e-13)


def test_batches_broadcast():
    rng = np.random.default_rng(5)
    a, b = FAMILIES["torus"], FAMILIES["pieces"]
    pose_a, pose_b = random_matrices(rng, 3, 1.0), random_matrices(rng, 4, 1.0)
    first, second = Meshes(a.mesh, pose_a), Meshes(b.mesh, pose_b)
    found = separation(first[:, None], second)
    witness = witness_points(first[:, None], second)
    assert found.shape == (3, 4)
    assert witness.on_a.shape == witness.normal.shape == (3, 4, 3)
    for i, j in itertools.product(range(3), range(4)):
        alone = separation(first[i], second[j])
        assert alone.shape == ()
        assert found[i, j] == pytest.approx(float(alone), abs=1e-13)
        np.testing.assert_allclose(witness.on_a[i, j], witness_points(first[i], second[j]).on_a, atol=1e-12)
    assert np.array_equal(overlaps(first[:, None], second), found <= 0)
    with pytest.raises(InvalidShapeError, match="do not broadcast"):
        separation(first, second)


def test_empty_batches_have_no_separations():
    none = Meshes(FAMILIES["ball"].mesh, np.zeros((0, 4, 4)))
    assert separation(none, none).shape == (0,)
    assert overlaps(none, posed(FAMILIES["ball"])).shape == (0,)


# --- known separations -----------------------------------------------------------------------------------

CUBE = Body(box(1, 1, 1))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    ("offset", "expected"),
    [((2.5, 0, 0), 0.5), ((5, 6, 0), 5.0), ((2, 0, 0), 0.0), ((2, 2, 2), 0.0), ((0, 3, 0.5), 1.0)],
)
def test_cubes_are_as_far_apart_as_their_faces_edges_and_corners(offset, expected, scale):
    first, second = posed(CUBE, scale=scale), posed(CUBE, *(x * scale for x in offset), scale=scale)
    assert separation(first, second) == pytest.approx(expected * scale, abs=1e-15 * scale)
    assert overlaps(first, second) == (expected == 0)


def test_cube_within_a_cube_is_at_the_negative_distance_of_the_surfaces_at_least():
    small = Body(box(0.1, 0.1, 0.1))
    for offset, depth in (((0.7, 0, 0), 0.2), ((0.5, -0.6, 0.1), 0.3)):
        found = float(separation(posed(CUBE), posed(small, *offset)))
        # Of concentric balls within both, the overlap may be larger: it proves as much.
        assert -(depth + 0.2) <= found <= -depth + 1e-15 or found == pytest.approx(-depth)
        assert float(separation(posed(small, *offset), posed(CUBE))) == pytest.approx(found)


def test_mesh_is_inside_only_where_the_other_is_solid():
    hollow, solid, small = Body(shell(3, 2)), Body(shell(3, 2)[:32]), Body(octahedron() * 0.2)
    open_shell = Body(shell(3, 2)[1:32], is_closed=False)
    assert separation(posed(hollow), posed(small)) > 1
    assert separation(posed(solid), posed(small)) < 0
    assert separation(posed(open_shell), posed(small)) > 1
    # Between both surfaces of the shell.
    assert separation(posed(hollow), posed(small, 2.3, 0.1, 0)) < 0
    assert separation(posed(hollow), posed(small, 4.0, 0, 0)) > 0
    # Around the whole shell.
    assert separation(posed(hollow), posed(CUBE, scale=5)) < 0
    # A piece of it is inside, the other is not.
    pieces = Body(np.concatenate([box(0.1, 0.1, 0.1), box(0.1, 0.1, 0.1) + np.array([7, 0, 0])]))
    assert separation(posed(solid), posed(pieces)) < 0
    assert separation(posed(hollow), posed(pieces)) > 0


def test_meshes_without_volume_are_at_the_distance_of_their_triangles():
    flat, upright = (
        Body([[[0, 0, 0], [4, 0, 0], [0, 4, 0]]], False),
        Body([[[1, 1, 0], [1, 1, 1], [2, 1, 1]]], False),
    )
    assert separation(posed(flat), posed(upright, 0, 0, 0.25)) == 0.25
    assert separation(posed(flat), posed(upright)) == 0
    assert separation(posed(flat), posed(upright, 0, 0, -0.5)) == pytest.approx(-0.5, abs=1e-13)


@pytest.mark.parametrize("name", ["ball", "torus", "sheet"])
def test_margins_reduce_separations(name):
    rng = np.random.default_rng(6)
    count = times(60, 20)
    poses = [random_matrices(rng, count, 1.0) for _ in range(2)]
    first, second = (
        Meshes(FAMILIES[kind].mesh, pose) for kind, pose in zip((name, "egg"), poses, strict=True)
    )
    plain, amounts = separation(first, second), rng.uniform(0, 0.5, (2, count))
    padded = first.padded(amounts[0]), second.padded(amounts[1])
    found = separation(*padded)
    assert np.array_equal(overlaps(*padded), found <= 0)
    rows = np.flatnonzero(plain > amounts.sum(axis=0))
    np.testing.assert_allclose(found[rows], (plain - amounts.sum(axis=0))[rows], rtol=0, atol=1e-14)
    assert (np.delete(found, rows) <= 0).all()
    rows = np.flatnonzero(plain > 0)
    (on_a, on_b, normal), witness = (
        witness_points(*(each[rows] for each in both)) for both in ((first, second), padded)
    )
    np.testing.assert_allclose(witness.on_a, on_a + normal * amounts[0, rows, None], rtol=0, atol=1e-14)
    np.testing.assert_allclose(witness.on_b, on_b - normal * amounts[1, rows, None], rtol=0, atol=1e-14)
    np.testing.assert_allclose(witness.normal, normal, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["ball", "torus", "sheet"])
def test_meshes_with_margins_moved_by_less_than_a_negative_separation_are_within_them(name):
    rng = np.random.default_rng(8)
    a, b, count = FAMILIES[name], FAMILIES["ball"], times(100, 30)
    pose_a, pose_b = (random_matrices(rng, count, 0.7) for _ in range(2))
    amounts = rng.uniform(0, 0.5, (2, count))
    padded = (
        Meshes(body.mesh, pose).padded(amount)
        for body, pose, amount in zip((a, b), (pose_a, pose_b), amounts, strict=True)
    )
    found = separation(*padded)
    rows = np.flatnonzero(found < 0)
    assert len(rows)
    # Away from the other.
    away = pose_b[rows, :3, 3] - pose_a[rows, :3, 3]
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    moved = pose_b[rows]
    moved[:, :3, 3] += away * -found[rows, None] * 0.999
    overlap, distance = expected_sign_and_distance(a, pose_a[rows], b, moved)
    assert (overlap | (distance <= amounts[:, rows].sum(axis=0))).all()


def test_scenes_far_from_the_origin_are_exact_to_rounding():
    away = np.array([1e7, -1e7, 1e6])
    for gap in (0.0, 1e-3, 2.0):
        found = separation(posed(CUBE, *away), posed(CUBE, *np.add(away, [2 + gap, 0, 0])))
        assert found == pytest.approx(gap, abs=8e-9)


def test_mesh_without_thickness_by_its_matrix_is_no_solid():
    # The ball in the plane z = 0, next to a triangle with a corner in the same plane.
    flat = Meshes(Body(octahedron()).mesh, np.diag([1.0, 1, 0, 1]))
    triangle = Body([[[0.8, 0.8, 0], [0.9, 0.9, 1], [1, 0.9, 1]]], is_closed=False)
    expected = 0.6 / np.sqrt(2)  # from the side x + y = 1
    assert separation(flat, posed(triangle)) == pytest.approx(expected, abs=1e-15)
    assert separation(posed(triangle), flat) == pytest.approx(expected, abs=1e-15)


def test_other_shapes_have_no_separation_from_meshes():
    with pytest.raises(UnsupportedPairError, match="no separation of Meshes and Sphere"):
        separation(posed(CUBE), Sphere([0, 0, 0], 1))
    with pytest.raises(UnsupportedPairError, match="no separation of TriangleMesh and Meshes"):
        separation(CUBE.mesh, posed(CUBE))
