"""Contacts of random keyed pairs that keys hide and show, against dense samples of what Blender shows.

The full tier tries 500 pairs, half of them in scans that skip frames.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.scene.motion.hidden_pairs.building import add_visibility
from tests.scene.motion.keyed_pairs.building import FIRST, LAST, Pair, add_pairs
from tests.scene.motion.keyed_pairs.truth import ROUNDING, Sampled, check, gaps_of_matrices
from tests.scene.sampling import Array, contacts_by_names, go_to, scan_scene
from tests.tiers import is_full

SCENES, PAIRS = (10, 50) if is_full() else (1, 12)
SHAPES = ("aabb", "obb", "sphere")
FAR = 1e3
"""Gap of a pair of which one is not shown."""
END_TOLERANCE = 5e-3
"""Frames by which the end of a contact, and the begin of a later one, may be off."""


def gaps_of_shown(pairs: list[Pair], shape: str, times: Array) -> Array:
    """Compute the gaps (p, t) of the boxes of objects that Blender shows."""
    names = [name for pair in pairs for name in pair.names]
    matrices = {name: np.tile(np.eye(4), (len(times), 1, 1)) for name in names}
    is_shown = {name: np.zeros(len(times), dtype=bool) for name in names}
    for row, time in enumerate(times):
        go_to(time)
        for instance in bpy.context.evaluated_depsgraph_get().object_instances:
            name = instance.object.name
            if name in is_shown:
                is_shown[name][row], matrices[name][row] = True, instance.matrix_world
    gaps = gaps_of_matrices(pairs, shape, matrices)
    are_both_shown = np.array([is_shown[pair.names[0]] & is_shown[pair.names[1]] for pair in pairs])
    return np.where(are_both_shown, gaps, FAR)


def wrong_times(times: Array, gaps: Array, contact: object) -> list[float]:
    """Return times (t,) in intervals of a contact while the pair is apart, and others while it overlaps."""
    spans = [] if contact is None else [(span.start, span.end) for span in contact.intervals]
    is_inside, may_be_inside = np.zeros((2, len(times)), dtype=bool)
    for start, end in spans:
        is_inside |= (times > start + END_TOLERANCE) & (times < end - END_TOLERANCE)
        may_be_inside |= (times > start - END_TOLERANCE) & (times < end + END_TOLERANCE)
    is_wrong = ((gaps < -ROUNDING) & ~may_be_inside) | ((gaps > ROUNDING) & is_inside)
    return times[is_wrong].tolist()


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", range(SCENES))
def test_no_contact_is_missed_invented_or_late(seed):
    shape = SHAPES[seed % len(SHAPES)]
    pairs = add_pairs(seed, PAIRS, shape)
    add_visibility(pairs, seed)
    found = contacts_by_names(
        scan_scene(shape=shape, static_pairs=True, frames=(FIRST, LAST, 1 + seed % 2 * 2))
    )
    claims = [found.get(frozenset(pair.names)) for pair in pairs]
    sampled = Sampled.of(pairs, lambda times: gaps_of_shown(pairs, shape, times), (FIRST, LAST))
    verdict = check(pairs, claims, sampled)
    assert verdict.motions["proven"] == verdict.contacts
    wrong = [wrong_times(sampled.times, *row) for row in zip(sampled.gaps, claims, strict=True)]
    assert wrong == [[]] * len(pairs)
