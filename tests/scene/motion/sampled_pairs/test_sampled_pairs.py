"""First contacts of pairs moved by drivers, constraints, bones and shape keys, against dense samples.

The motion is smooth on a quarter of a frame. The full tier tries 500 pairs.
"""

from __future__ import annotations

import pytest

from addon.scene.settings import Selection
from tests.scene.motion.keyed_pairs.building import Pair
from tests.scene.motion.keyed_pairs.truth import Array, Sampled, check, gaps_of_boxes, gaps_of_vertices
from tests.scene.motion.sampled_pairs.building import FIRST, LAST, add_pairs
from tests.scene.sampling import scan_scene
from tests.tiers import is_full

SCENES, PAIRS = (10, 50) if is_full() else (1, 12)
SHAPES = ("aabb", "sphere", "aabb", "obb", "aabb")


def scan_of_pair(pair: Pair, shape: str) -> object:
    """Return the contact of a pair, or None, by a scan of it alone: samples for other pairs would help it."""
    contacts = scan_scene(shape=shape, static_pairs=True, selection=Selection(pair.names)).report.contacts
    return contacts[0] if contacts else None


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", range(SCENES))
def test_no_contact_is_missed_invented_or_late(seed):
    shape = SHAPES[seed % len(SHAPES)]
    pairs = add_pairs(seed, PAIRS, shape)
    claims = [scan_of_pair(pair, shape) for pair in pairs]

    def gaps_at(times: Array) -> Array:
        return gaps_of_vertices(pairs, times) if shape == "aabb" else gaps_of_boxes(pairs, shape, times)

    check(pairs, claims, Sampled.of(pairs, gaps_at, (FIRST, LAST)))
