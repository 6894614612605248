"""Volumes of documents in Bullet, Blender's physics engine: overlaps and first contacts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.engines.in_engines import (
    NO_TURN,
    Volume,
    first_contacts_agree,
    overlaps_agree,
    vertices_in,
    volume_of,
)

bullet = pytest.importorskip("pybullet")

# Bullet rounds corners and edges of boxes by a margin, which pybullet sets to a thousandth. Each of two
# corners loses the diagonal of a cube of that side, less the side.
MARGIN = 1e-3
CUT_OFF = 2 * MARGIN * (3**0.5 - 1)
# Replaces sides of length zero.
LEAST = 1e-6


@pytest.fixture
def world():
    """Physics client for one test."""
    client = bullet.connect(bullet.DIRECT)
    yield client
    bullet.disconnect(client)


def bodies(client: int, volumes: list[Volume], at_origin: bool = False) -> list[int]:
    """Create a body for each volume, at its pose, or at the origin to be moved later."""
    made = []
    for volume in volumes:
        if volume.kind == "sphere":
            parameters = {"shapeType": bullet.GEOM_SPHERE, "radius": max(volume.sizes[0], LEAST)}
        else:
            parameters = {
                "shapeType": bullet.GEOM_BOX,
                "halfExtents": [max(size, LEAST) for size in volume.sizes],
            }
        if at_origin:
            parameters |= {"collisionFramePosition": volume.place, "collisionFrameOrientation": volume.turn}
        shape = bullet.createCollisionShape(**parameters, physicsClientId=client)
        place, turn = ((0, 0, 0), NO_TURN) if at_origin else (volume.place, volume.turn)
        made.append(bullet.createMultiBody(0, shape, -1, place, turn, physicsClientId=client))
    return made


def distance(client: int, a: int, b: int, most: float) -> float:
    found = bullet.getClosestPoints(a, b, most, physicsClientId=client)
    return min((each[8] for each in found), default=most)


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb"])
def test_overlapping_pairs_match_document(hurting, world, shape):
    objects = hurting.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    made = bodies(world, volumes)
    overlaps_agree(
        [entry["id"] for entry in objects],
        hurting.document(f"{shape}_contacts.json")["contacts"],
        lambda a, b: distance(world, made[a], made[b], 1e6),
        lambda a, b: CUT_OFF + 1e-6 * (max(volumes[a].sizes) + max(volumes[b].sizes)),
    )


@pytest.mark.parametrize("shape", ["obb", "sphere"])
def test_first_contacts_match_document(moving, world, shape):
    document = moving.documents[shape]
    names = [entry["id"] for entry in document["objects"]]
    local = {"obb": "aabb", "sphere": "sphere"}[shape]
    volumes = [volume_of(entry["local"], local) for entry in document["objects"]]
    made = bodies(world, volumes, at_origin=True)
    pairs = list(combinations(range(len(names)), 2))
    gaps = np.empty((len(pairs), len(moving.times)))
    for t in range(len(moving.times)):
        for body, name in zip(made, names, strict=True):
            w, *xyz = moving.turns[name][t]
            place = moving.positions[name][t]
            bullet.resetBasePositionAndOrientation(body, place, (*xyz, w), physicsClientId=world)
        gaps[:, t] = [distance(world, made[a], made[b], 0.05) for a, b in pairs]
    distances = {frozenset((names[a], names[b])): gap for (a, b), gap in zip(pairs, gaps, strict=True)}
    tolerance = CUT_OFF if shape == "obb" else 1e-6
    first_contacts_agree(document, moving.times, distances, tolerance, slack=5e-5)


@pytest.mark.parametrize("space", ["unity", "gltf"])
@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb"])
def test_aabbs_of_bullet_enclose_all_vertices(hurting, world, space, shape):
    objects = hurting.document(f"{space}.json")["objects"]
    made = bodies(world, [volume_of(entry["world"], shape) for entry in objects])
    for body, entry in zip(made, objects, strict=True):
        low, high = bullet.getAABB(body, physicsClientId=world)
        points = vertices_in(space, hurting.vertices_of(entry))
        assert (points >= low).all() and (points <= high).all(), entry["name"]
