"""First contacts of spheres with triangles against dense samples of Blender's own evaluation.

Keyed spheres meet obstacles at rest, and driven ones meet obstacles that move. The full tier tries 400 pairs
of each.
"""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.settings import Selection
from tests.scene.motion.keyed_pairs import building as keyed_building
from tests.scene.motion.keyed_pairs.truth import Sampled, Verdict, check
from tests.scene.motion.obstacle_pairs.building import (
    OBSTACLES,
    ObstaclePair,
    add_moving_pairs,
    add_pairs_at_rest,
)
from tests.scene.motion.obstacle_pairs.truth import distances_to_triangles, gaps_to_obstacles
from tests.scene.motion.sampled_pairs import building as sampled_building
from tests.scene.sampling import contacts_by_names, scan_scene
from tests.tiers import is_full

SCENES = 10 if is_full() else 1
PAIRS_AT_REST, MOVING_PAIRS = (40, 40) if is_full() else (24, 8)


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", range(SCENES))
def test_no_contact_with_obstacle_at_rest_is_missed_invented_or_late(seed):
    pairs = add_pairs_at_rest(seed, PAIRS_AT_REST)
    found = contacts_by_names(scan_scene(shape="sphere", obstacles=(OBSTACLES,), static_pairs=True))
    claims = [found.get(frozenset(pair.names)) for pair in pairs]
    verdict = verdict_of(pairs, claims, (keyed_building.FIRST, keyed_building.LAST))
    assert verdict.motions["proven"] == verdict.contacts


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", range(SCENES))
def test_no_contact_with_moving_obstacle_is_missed_invented_or_late(seed):
    pairs = add_moving_pairs(seed, MOVING_PAIRS)
    claims = [contact_of_pair(pair) for pair in pairs]
    verdict_of(pairs, claims, (sampled_building.FIRST, sampled_building.LAST))


def contact_of_pair(pair: ObstaclePair) -> object:
    """Return the contact of a pair, or None, by a scan of it alone: samples for other pairs would help it."""
    selection = Selection(pair.names)
    scan = scan_scene(shape="sphere", obstacles=(OBSTACLES,), static_pairs=True, selection=selection)
    return scan.report.contacts[0] if scan.report.contacts else None


def verdict_of(pairs: list[ObstaclePair], claims: list[object], span: tuple[int, int]) -> Verdict:
    """Compare contacts with samples of the pairs, and check what all trials have in common."""
    sampled = Sampled.of(pairs, lambda times: gaps_to_obstacles(pairs, times), span)
    return check(pairs, claims, sampled, least=16)


def test_distance_to_triangle_above_it_and_past_its_edge_and_corner():
    triangle = np.array([[[0, 0, 0], [4, 0, 0], [0, 4, 0]]], dtype=float)
    points = np.array([[1, 1, -2], [2, -3, 4], [-2, -3, 6]], dtype=float)
    distances = distances_to_triangles(points, np.stack([triangle] * 3))
    np.testing.assert_allclose(distances, [2, 5, 7], rtol=1e-15)
