"""Bones in MuJoCo and Bullet: their first contacts are those of the document."""

from __future__ import annotations

import pytest

from tests.engines.checks import CUT_OFF, assert_first_contacts
from tests.engines.test_pybullet import moved_volumes as moved_volumes_in_bullet

SHAPES = ["obb", "sphere", "capsule"]
OTHER_CAPSULE = 1e-3
"""The scan and the document fit capsules separately: both enclose the vertices and have nearly the smallest
volume, but their radii differ by a few thousandths of them."""


def test_bones_touch_plates_that_only_they_reach(bones):
    for shape in SHAPES:
        pairs = [{each["a"], each["b"]} for each in bones.documents[shape]["contacts"]]
        touching = {name for pair in pairs for name in pair if bones.bounds[name].get("bone")}
        assert {bones.bounds[name]["bone"] for name in touching} == {"Upper", "Fore"}


@pytest.mark.parametrize("shape", SHAPES)
def test_first_contacts_of_bones_in_mujoco_match_document(bones, shape):
    pytest.importorskip("mujoco")
    from tests.engines.test_mujoco import moved_volumes

    tolerance = OTHER_CAPSULE if shape == "capsule" else 5e-6
    assert_first_contacts(bones, shape, *moved_volumes(bones, shape), tolerance, slack=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_first_contacts_of_bones_in_bullet_match_document(bones, bullet, shape):
    tolerance = {"obb": CUT_OFF, "capsule": OTHER_CAPSULE}.get(shape, 5e-6)
    assert_first_contacts(bones, shape, *moved_volumes_in_bullet(bullet, bones, shape), tolerance, slack=1e-4)
