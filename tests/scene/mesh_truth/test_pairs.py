"""Contacts that scans of meshes find, and first touches of all shapes of bounds, compared with the truth."""

from __future__ import annotations

import pytest

from tests.scene.mesh_truth.comparison import (
    SHAPES,
    build,
    find_truth,
    find_whole_truth,
    first_answer,
    scan,
    whole_answer,
    wrong,
    wrong_bounds,
)
from tests.scene.mesh_truth.evaluation import Sampler
from tests.scene.mesh_truth.families import FAMILIES
from tests.scene.mesh_truth.whole import wrong_wholes
from tests.tiers import is_full, times

_SEEDS = {
    "thin_plates": 1,
    "shape_keys": 1,
    "torus_through_torus": 1,
    "geometry_nodes": 2,
    "out_and_back": 2,
    "lattices": 5,
    "ball_in_shell": 2,
    "nut_on_bolt": 1,
    "half_frame_keys": 1,
    "needles": 2,
    "propellers": 1,
    "stepping_drivers": 1,
    "keyed_bones": 3,
    "inverse_kinematics": 1,
    "two_armatures": 1,
    "shape_keys_below_bones": 2,
    "moving_armature": 2,
    "many_triangles": 3,
    "hundred_thousand_triangles": 6,
    "fast_bones": 1,
    "baked_cloth": 1,
    "baked_soft_body": 1,
    "cloth_not_baked": 9,
    "changing_vertices": 4,
}
"""First seeds of families whose seed 0 is a scene without a touch after the start."""
_QUICK = {
    "thin_plates",
    "single_triangles",
    "coplanar_faces",
    "edges_crossing",
    "geometry_nodes",
    "changing_vertices",
}
"""Families of which a pair takes less than a second."""
_CHECKED = (
    "gears",
    "chain_links",
    "hook_through_ring",
    "nut_on_bolt",
    "ball_in_shell",
    "torus_through_torus",
    "thin_plates",
    "single_triangles",
    "many_triangles",
    "hundred_thousand_triangles",
    "coplanar_faces",
    "edges_crossing",
    "keyed_bones",
    "folding_bones",
    "inverse_kinematics",
    "two_armatures",
    "shape_keys_below_bones",
    "moving_armature",
    "fast_bones",
    "on_and_off_ten_times",
    "half_frame_keys",
    "needles",
    "out_and_back",
    "jumps_over_walls",
    "propellers",
    "stepping_drivers",
    "stepped_curves",
    "cycling_curves",
    "quaternions",
    "switched_parents",
    "strips",
    "spins_that_are_evaluated",
    "mirrored",
    "sheared",
    "lattices",
    "hooks",
    "shape_keys",
    "fast_shape_keys",
    "geometry_nodes",
    "collection_instances",
    "instances_of_nodes",
    "drivers",
    "constraints",
    "baked_cloth",
    "baked_soft_body",
    "cloth_not_baked",
)
_LONGEST = {"nut_on_bolt", "ball_in_shell", "hundred_thousand_triangles"}
"""Families of which only the full tier tests pairs."""
_SLOWEST = {"hundred_thousand_triangles": 3}
"""Families of which a pair takes most of a minute, with the number of pairs in the full tier."""
_MANY_SAMPLES = {
    "gears",
    "many_triangles",
    "folding_bones",
    "fast_bones",
    "quaternions",
    "strips",
    "fast_shape_keys",
    "geometry_nodes",
}
"""Families of which only the full tier compares whole answers, because that takes several seconds."""
_PROVEN = {"keyed_bones", "folding_bones", "moving_armature", "fast_bones"}
"""Families of meshes that keyed bones bend, whose contacts are proven."""
WIDE = 0.01
"""Frames that the `+/-` of a first touch stays below, unless motion is linear."""


def _shapes(family: str) -> tuple[str, ...]:
    """Shapes of bounds to scan with: all, but before the full tier one in turn."""
    return SHAPES if is_full() else (SHAPES[_CHECKED.index(family) % len(SHAPES)],)


@pytest.mark.parametrize(
    "family",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name not in _QUICK))
        for name in _CHECKED
        if is_full() or name not in _LONGEST
    ],
)
def test_scan_finds_the_touches_depths_and_gaps_of_the_meshes_and_bounds_touch_no_later(family):
    assert family in FAMILIES
    begin = _SEEDS.get(family, 0)
    for seed in range(begin, begin + times(1, full=_SLOWEST.get(family, 20))):
        pair, sampler = build(family, seed), Sampler(("A", "B"))
        truth = find_truth(pair, sampler)
        document = scan("mesh")
        answer = first_answer(document)
        assert not wrong(answer, truth, pair), (seed, wrong(answer, truth, pair), answer, truth)
        assert pair.is_linear or answer.uncertainty < WIDE, (seed, answer)
        assert not answer.touches or (answer.motion == "linear") == pair.is_linear, (seed, answer)
        assert answer.motion in ("", "proven") or family not in _PROVEN, (seed, answer)
        bounds = {shape: first_answer(scan(shape)) for shape in _shapes(family)}
        found = {shape: wrong_bounds(each, truth, pair) for shape, each in bounds.items()}
        assert not any(found.values()), (seed, found, bounds, truth)
        if family in _MANY_SAMPLES and not is_full():
            continue
        whole = whole_answer(document)
        assert not wrong_wholes(whole, find_whole_truth(pair, sampler), pair), (seed, whole)
