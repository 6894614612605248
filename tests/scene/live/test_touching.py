"""Pairs that touch now, compared with a loop over all pairs, and with known depths."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

from addon.core import Aabb, Meshes, Obb, Sphere, separation
from addon.core.scan.candidates import PairFilter
from addon.scene.live import contact_state
from addon.scene.live.contact_state import OwnedShapes
from addon.scene.live.touching import find_touching_pairs, separating_translation, touching_meshes
from tests.core import meshes
from tests.core.mesh.solids import FAMILIES, Body, bodies_overlap, surfaces_cross
from tests.tiers import times

EVERYTHING = {"group_a": None, "group_b": None, "ignored": (), "separate": None}


def unit_spheres(xs, owners=None):
    centers = np.zeros((len(xs), 3))
    centers[:, 0] = xs
    owners = np.arange(len(xs)) if owners is None else np.array(owners)
    return OwnedShapes(Sphere(centers, np.ones(len(xs))), owners)


def test_deepest_pair_is_first_with_its_depth():
    found = find_touching_pairs(unit_spheres([0, 1.5, 2.0, 9]), PairFilter(4, **EVERYTHING))
    assert found.pairs.tolist() == [[1, 2], [0, 1], [0, 2]]
    np.testing.assert_allclose(found.depths, [1.5, 0.5, 0.0], atol=1e-12)


def test_deepest_of_several_shapes_of_a_pair_counts_and_a_subject_does_not_touch_itself():
    spheres = unit_spheres([0, 0.5, 2.2, 1.4], owners=[0, 0, 1, 1])
    found = find_touching_pairs(spheres, PairFilter(2, **EVERYTHING))
    assert found.pairs.tolist() == [[0, 1]]
    np.testing.assert_allclose(found.depths, [1.1])  # 0.5 and 1.4


def test_ignored_pairs_are_not_found():
    everything = {**EVERYTHING, "ignored": [(2, 1)]}
    found = find_touching_pairs(unit_spheres([0, 1.5, 2.0]), PairFilter(3, **everything))
    assert found.pairs.tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("count", [0, 1])
def test_less_than_two_shapes_have_no_pair(count):
    found = find_touching_pairs(unit_spheres(range(count)), PairFilter(count, **EVERYTHING))
    assert found.pairs.shape == (0, 2) and found.depths.shape == (0,)


def test_boxes_agree_with_a_loop_over_all_pairs():
    rng = np.random.default_rng(5)
    low = rng.uniform(0, 4, (60, 3))
    boxes = Aabb(low, low + rng.uniform(0.2, 1, (60, 3)))
    found = find_touching_pairs(OwnedShapes(boxes, np.arange(60)), PairFilter(60, **EVERYTHING))
    gaps = {pair: float(separation(boxes[pair[0]], boxes[pair[1]])) for pair in combinations(range(60), 2)}
    wanted = {pair: -gap for pair, gap in gaps.items() if gap <= 0}
    assert len(wanted) > 20
    assert dict(zip(map(tuple, found.pairs.tolist()), found.depths.tolist(), strict=True)) == wanted
    assert (np.diff(found.depths) <= 0).all()


def test_spheres_are_separated_along_the_line_of_their_centers():
    moved = separating_translation(unit_spheres([0, 1.5]), 1, 0)
    np.testing.assert_allclose(moved, [0.5, 0, 0], atol=1e-5)
    assert moved[0] > 0.5
    np.testing.assert_allclose(separating_translation(unit_spheres([0, 1.5]), 0, 1), -moved)


def test_subjects_apart_need_no_translation():
    assert not separating_translation(unit_spheres([0, 2.5]), 0, 1).any()


def test_subjects_that_only_touch_are_separated_by_a_hair():
    moved = separating_translation(unit_spheres([0, 2.0]), 0, 1)
    assert 0 < -moved[0] < 1e-4


@pytest.mark.parametrize("kind", ["aabb", "obb", "concentric", "tree", "parts"])
def test_translated_subjects_do_not_overlap_and_no_shorter_push_along_an_axis_does(kind):
    rng = np.random.default_rng(3)
    for _ in range(20):
        if kind == "aabb":
            low = rng.uniform(-0.5, 0.5, (2, 3))
            shape, owners = Aabb(low, low + rng.uniform(0.5, 1.5, (2, 3))), np.arange(2)
        elif kind == "obb":
            turn, _ = np.linalg.qr(rng.normal(size=(2, 3, 3)))
            turn *= np.linalg.det(turn)[:, None, None]
            shape, owners = (
                Obb(rng.uniform(-0.3, 0.3, (2, 3)), rng.uniform(0.3, 1, (2, 3)), turn),
                np.arange(2),
            )
        elif kind == "concentric":
            shape, owners = Sphere(np.zeros((2, 3)), np.ones(2)), np.arange(2)
        elif kind == "parts":
            turn, _ = np.linalg.qr(rng.normal(size=(8, 3, 3)))
            turn *= np.linalg.det(turn)[:, None, None]
            shape = Obb(rng.uniform(-1, 1, (8, 3)), rng.uniform(0.3, 0.8, (8, 3)), turn)
            owners = np.repeat([0, 1], 4)
        else:
            shape = Sphere(rng.uniform(-1, 1, (12, 3)), rng.uniform(0.3, 0.8, 12))
            owners = np.repeat([0, 1], 6)
        owned = OwnedShapes(shape, owners)
        translation = separating_translation(owned, 0, 1)

        def gap(by, shape=shape, owners=owners):
            matrix = np.eye(4)
            matrix[:3, 3] = by
            a, b = shape[owners == 0].transformed(matrix), shape[owners == 1]
            return min(float(separation(a[i], b[j])) for i in range(a.shape[0]) for j in range(b.shape[0]))

        assert gap(translation) > 0
        assert gap(translation * (1 - 1e-5 / np.linalg.norm(translation))) <= 0
        if kind not in ("tree", "parts"):
            shorter = 0.99 * np.linalg.norm(translation)
            for axis in np.vstack([np.eye(3), -np.eye(3)]):
                assert gap(shorter * axis) <= 1e-9


# --- meshes ------------------------------------------------------------------------------------------------

TORUS = Body(meshes.torus(16, 8, 1.0, 0.3).round(12))


def rings_and_balls(count):
    """Rings and balls, half of each, in random poses in a small space."""
    poses = meshes.random_poses(count, 1.2, 3)
    bodies = [(TORUS, FAMILIES["ball"])[index % 2] for index in range(count)]
    return bodies, OwnedShapes(Meshes([each.mesh for each in bodies], poses), np.arange(count))


def test_touching_meshes_agree_with_edges_and_winding_numbers_of_all_pairs():
    count = 24
    bodies, owned = rings_and_balls(count)
    *_, found = touching_meshes(owned, PairFilter(count, **EVERYTHING))
    poses = owned.shape.matrix
    wanted = {
        (i, j)
        for i, j in combinations(range(count), 2)
        if bodies_overlap(bodies[i], poses[[i]], bodies[j], poses[[j]])[0]
    }
    assert 20 < len(wanted) < count * (count - 1) / 4
    assert set(map(tuple, found.pairs.tolist())) == wanted
    assert found.untested == 0 and (np.diff(found.depths) <= 0).all()
    for (i, j), kind in zip(found.pairs.tolist(), found.overlaps.tolist(), strict=True):
        is_crossing = surfaces_cross(bodies[i].posed(poses[[i]]), bodies[j].posed(poses[[j]]))[0]
        assert kind == ("crosses" if is_crossing else "inside")


def test_search_of_meshes_finds_the_deepest_first_and_can_stop(monkeypatch):
    monkeypatch.setattr(contact_state, "TRIANGLES_AT_ONCE", 1)
    _, owned = rings_and_balls(12)
    states = list(touching_meshes(owned, PairFilter(12, **EVERYTHING)))
    left = [state.untested for state in states]
    assert len(left) > 10 and left == sorted(left, reverse=True) and left[-1] == 0
    for before, after in pairwise(states):
        assert set(map(tuple, before.pairs.tolist())) <= set(map(tuple, after.pairs.tolist()))
    assert len(states[len(states) // 2].pairs) > len(states[-1].pairs) / 2


def test_open_meshes_that_cross_have_no_depth_and_meshes_apart_are_no_pair():
    sheet = Body(meshes.plate(2, 2.0) - [1, 1, 0], is_closed=False)
    upright = np.eye(4)
    upright[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    upright[:3, 3] = 0.1, 0.2, 0.3
    away = np.eye(4)
    away[0, 3] = 2.5
    owned = OwnedShapes(Meshes([sheet.mesh] * 3, np.array([np.eye(4), upright, away])), np.arange(3))
    *_, found = touching_meshes(owned, PairFilter(3, **EVERYTHING))
    assert found.pairs.tolist() == [[0, 1]] and found.overlaps.tolist() == ["crosses"]
    assert np.isnan(found.depths).all()
    apart = OwnedShapes(owned.shape[[0, 2]], np.arange(2))
    assert [len(state.pairs) for state in touching_meshes(apart, PairFilter(2, **EVERYTHING))] == [0]


@pytest.mark.parametrize("seed", range(times(6, 2)))
def test_translated_meshes_do_not_overlap_and_no_shorter_push_along_an_axis_does(seed):
    pose = meshes.random_poses(2, 0.4, seed)
    bodies = [TORUS, (FAMILIES["ball"], FAMILIES["box"], TORUS)[seed % 3]]
    translation = separating_translation(
        OwnedShapes(Meshes([each.mesh for each in bodies], pose), np.arange(2)), 0, 1
    )

    def overlap(by):
        moved = pose[[0]].copy()
        moved[0, :3, 3] += by
        return bodies_overlap(bodies[0], moved, bodies[1], pose[[1]])[0]

    assert overlap(0) and not overlap(translation)
    assert overlap(translation * 0.99), "it goes no farther than it has to along its direction"
    # The six axes are among the directions that are tried, but for a few degrees.
    size = float(np.linalg.norm(translation))
    assert all(overlap(sign * axis * 0.9 * size) for axis in np.eye(3) for sign in (-1, 1))
