"""First contacts of meshes that keyed bones bend, against dense samples of Blender's own evaluation.

Bones with curves of all interpolations, bumps within a 64th of a frame, turns and jumps, in chains. The full
tier tries 500 pairs.
"""

from __future__ import annotations

import pytest

from tests.scene.motion.bent_pairs.building import add_pairs
from tests.scene.motion.keyed_pairs.building import FIRST, LAST
from tests.scene.motion.keyed_pairs.truth import Sampled, check, gaps_of_vertices
from tests.scene.sampling import contacts_by_names, scan_scene
from tests.tiers import is_full

SCENES, PAIRS = (10, 50) if is_full() else (1, 12)


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", range(SCENES))
def test_no_contact_is_missed_invented_or_late(seed):
    pairs = add_pairs(seed, PAIRS)
    found = contacts_by_names(scan_scene(shape="aabb", static_pairs=True))
    sampled = Sampled.of(pairs, lambda times: gaps_of_vertices(pairs, times), (FIRST, LAST))
    verdict = check(pairs, [found.get(frozenset(pair.names)) for pair in pairs], sampled)
    assert verdict.motions["proven"] == verdict.contacts
