"""Bones in MuJoCo and Bullet: their first contacts are those of the document."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.checks import volume_of
from tests.engines.robotics.test_first_contacts import assert_first_contacts

CUT_OFF = 2e-3 * (3**0.5 - 1)
"""Bullet rounds corners of boxes by a thousandth, see `test_pybullet.py`."""
SHAPES = ["obb", "sphere", "capsule"]
OTHER_CAPSULE = 1e-3
"""The scan and the document fit capsules separately: both enclose the vertices and have nearly the smallest
volume, but their radii differ by a few thousandths of them."""


def local_name(shape: str) -> str:
    """Return the shape in the frame of a bone or object that is this shape in the world."""
    return {"obb": "aabb"}.get(shape, shape)


def test_bones_touch_plates_that_only_they_reach(bones):
    for shape in SHAPES:
        pairs = [{each["a"], each["b"]} for each in bones.documents[shape]["contacts"]]
        touching = {name for pair in pairs for name in pair if bones.bounds[name].get("bone")}
        assert {bones.bounds[name]["bone"] for name in touching} == {"Upper", "Fore"}


@pytest.mark.parametrize("shape", SHAPES)
def test_first_contacts_of_bones_in_mujoco_match_document(bones, shape):
    pytest.importorskip("mujoco")
    from tests.engines.test_mujoco import World

    names = list(bones.bounds)
    world = World([volume_of(bones.bounds[name]["local"], local_name(shape)) for name in names])

    def move(name, position, rotation):
        world.move(names.index(name), np.array(position), np.array(rotation))
        if name == names[-1]:
            world.update()

    def distance(a, b):
        return world.distance(names.index(a), names.index(b), 0.05)

    tolerance = OTHER_CAPSULE if shape == "capsule" else 5e-6
    assert_first_contacts(bones, shape, move, distance, tolerance, slack=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_first_contacts_of_bones_in_bullet_match_document(bones, shape):
    bullet = pytest.importorskip("pybullet")
    from tests.engines import test_pybullet

    client = bullet.connect(bullet.DIRECT)
    volumes = [volume_of(entry["local"], local_name(shape)) for entry in bones.bounds.values()]
    bodies = dict(zip(bones.bounds, test_pybullet.bodies(client, volumes, at_origin=True), strict=True))

    def move(name, position, rotation):
        w, *xyz = rotation
        bullet.resetBasePositionAndOrientation(bodies[name], position, (*xyz, w), physicsClientId=client)

    def distance(a, b):
        return test_pybullet.distance(client, bodies[a], bodies[b], 0.05)

    tolerance = {"obb": CUT_OFF, "capsule": OTHER_CAPSULE}.get(shape, 5e-6)
    assert_first_contacts(bones, shape, move, distance, tolerance, slack=1e-4)
    bullet.disconnect(client)
