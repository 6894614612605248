"""First contacts of random keyed pairs against dense samples of Blender's own evaluation.

Curves of all interpolations, all rotation modes, parents, up to three turns a frame, bumps within
a 64th of a frame, and jumps. The full tier tries 2,000 pairs.
"""

from __future__ import annotations

import pytest

from addon.scene.settings import Selection
from tests.scene.motion.keyed_pairs.building import FIRST, LAST, add_pairs
from tests.scene.motion.keyed_pairs.truth import Sampled, check, gaps_of_boxes
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
    sampled = Sampled.of(pairs, lambda times: gaps_of_boxes(pairs, shape, times), (FIRST, LAST))
    verdict = check(pairs, [found.get(frozenset(pair.names)) for pair in pairs], sampled)
    assert verdict.motions["proven"] == verdict.contacts


@pytest.mark.usefixtures("empty_file")
def test_way_past_an_object_to_a_key_that_blender_shows_early_is_no_contact():
    # A box jumps past another one at a distance of 0.00125 while it swings along it, so that times within
    # 0.0001 frames before the key matter. The gap is positive at all times: see `Sampled`.
    pair = add_pairs(5, 50, "obb", with_drivers=False)[33]
    scan = scan_scene(shape="obb", static_pairs=True, selection=Selection(pair.names))
    assert len(scan.subjects) == 2
    assert not scan.report.contacts
