"""First contacts of random keyed pairs against dense samples of Blender's own evaluation.

Curves of all interpolations, all rotation modes, parents, up to three turns a frame, bumps within
a 64th of a frame, and jumps. The full tier tries 2,000 pairs.
"""

from __future__ import annotations

import pytest

from tests.scene.animation.keyed_pairs.building import add_pairs
from tests.scene.animation.keyed_pairs.truth import Sampled, judge
from tests.scene.sampling import contacts_by_names, scan_scene
from tests.tiers import is_full

SCENES, PAIRS = (40, 50) if is_full() else (1, 12)
SHAPES = ("aabb", "obb", "aabb", "sphere")


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", range(SCENES))
def test_no_contact_is_missed_invented_or_late(seed):
    shape = SHAPES[seed % len(SHAPES)]
    pairs = add_pairs(seed, PAIRS, shape)
    found = contacts_by_names(scan_scene(shape=shape, static_pairs=True))
    verdict = judge(Sampled.of(pairs, shape), found)
    assert (verdict.missed, verdict.invented, verdict.late, verdict.early) == ([], [], [], [])
    assert verdict.proven == verdict.contacts > PAIRS / 8
    assert verdict.grazing <= PAIRS / 10
    assert verdict.largest_uncertainty < 1e-3
