"""Pairs that touch now, compared with a loop over all pairs, and with known depths."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from addon.core import Aabb, Sphere, separation
from addon.core.scan.pair_filter import PairFilter
from addon.scene.live.contact_state import OwnedShapes
from addon.scene.live.touching import find_touching_pairs

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
