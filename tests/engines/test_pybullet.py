"""Volumes of documents in Bullet, Blender's physics engine: overlaps and first contacts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.engines.checks import (
    NO_ROTATION,
    Volume,
    assert_first_contacts_match,
    assert_overlaps_match,
    convert_vertices,
    volume_of,
)

bullet = pytest.importorskip("pybullet")

# Bullet rounds corners and edges of boxes by a margin, which pybullet sets to a thousandth. At each of two
# corners, the rounding removes the diagonal of a cube with that side, minus the side.
MARGIN = 1e-3
CUT_OFF = 2 * MARGIN * (3**0.5 - 1)
# Replaces sizes of zero.
MIN_SIZE = 1e-6


@pytest.fixture
def world():
    """Physics client for one test."""
    client = bullet.connect(bullet.DIRECT)
    yield client
    bullet.disconnect(client)


def bodies(client: int, volumes: list[Volume], at_origin: bool = False) -> list[int]:
    """Create a body for each volume, at its pose, or at the origin to be moved later."""
    created = []
    for volume in volumes:
        if volume.kind == "sphere":
            parameters = {"shapeType": bullet.GEOM_SPHERE, "radius": max(volume.sizes[0], MIN_SIZE)}
        elif volume.kind in ("capsule", "cylinder"):
            kind = bullet.GEOM_CAPSULE if volume.kind == "capsule" else bullet.GEOM_CYLINDER
            radius, half = (max(size, MIN_SIZE) for size in volume.sizes)
            parameters = {"shapeType": kind, "radius": radius, "height": 2 * half}
        else:
            parameters = {
                "shapeType": bullet.GEOM_BOX,
                "halfExtents": [max(size, MIN_SIZE) for size in volume.sizes],
            }
        if at_origin:
            parameters |= {
                "collisionFramePosition": volume.position,
                "collisionFrameOrientation": volume.rotation,
            }
        shape = bullet.createCollisionShape(**parameters, physicsClientId=client)
        position, rotation = ((0, 0, 0), NO_ROTATION) if at_origin else (volume.position, volume.rotation)
        body = bullet.createMultiBody(0, shape, -1, position, rotation, physicsClientId=client)
        created.append(body)
    return created


def distance(client: int, a: int, b: int, limit: float) -> float:
    """Signed distance of two bodies, or the limit if it is larger."""
    points = bullet.getClosestPoints(a, b, limit, physicsClientId=client)
    return min((point[8] for point in points), default=limit)


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule"])
def test_overlapping_pairs_match_document(difficult, world, shape):
    objects = difficult.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    body_ids = bodies(world, volumes)
    assert_overlaps_match(
        [entry["id"] for entry in objects],
        difficult.document(f"{shape}_contacts.json")["contacts"],
        lambda a, b: distance(world, body_ids[a], body_ids[b], 1e6),
        lambda a, b: CUT_OFF + 1e-6 * (max(volumes[a].sizes) + max(volumes[b].sizes)),
    )


@pytest.mark.parametrize("shape", ["obb", "sphere", "capsule"])
def test_first_contacts_match_document(animated, world, shape):
    document = animated.documents[shape]
    names = [entry["id"] for entry in document["objects"]]
    local = {"obb": "aabb"}.get(shape, shape)
    volumes = [volume_of(animated.bounds[name]["local"], local) for name in names]
    body_ids = bodies(world, volumes, at_origin=True)
    pairs = list(combinations(range(len(names)), 2))
    gaps = np.empty((len(pairs), len(animated.times)))
    for t in range(len(animated.times)):
        for body, name in zip(body_ids, names, strict=True):
            w, *xyz = animated.rotations[name][t]
            position = animated.positions[name][t]
            bullet.resetBasePositionAndOrientation(body, position, (*xyz, w), physicsClientId=world)
        gaps[:, t] = [distance(world, body_ids[a], body_ids[b], 0.05) for a, b in pairs]
    distances = {frozenset((names[a], names[b])): gap for (a, b), gap in zip(pairs, gaps, strict=True)}
    tolerance = CUT_OFF if shape == "obb" else 1e-6
    assert_first_contacts_match(document, animated.times, distances, tolerance, slack=5e-5)


@pytest.mark.parametrize("space", ["unity", "gltf"])
@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule", "cylinder"])
def test_aabbs_of_bullet_enclose_all_vertices(difficult, world, space, shape):
    objects = difficult.document(f"{space}.json")["objects"]
    body_ids = bodies(world, [volume_of(entry["world"], shape) for entry in objects])
    for body, entry in zip(body_ids, objects, strict=True):
        low, high = bullet.getAABB(body, physicsClientId=world)
        points = convert_vertices(space, difficult.vertices_of(entry))
        assert (points >= low).all() and (points <= high).all(), entry["name"]


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule", "cylinder"])
def test_no_vertex_is_outside_and_one_is_on_the_surface(difficult, world, shape):
    # Bullet's distance of a small ball around each vertex, without the radius of the ball.
    objects = difficult.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    has_corners = shape not in ("sphere", "capsule")
    measured = 0
    for entry, volume, body in zip(objects, volumes, bodies(world, volumes), strict=True):
        size = max(volume.sizes)
        points = difficult.vertices_of(entry)
        if min(volume.sizes) < 20 * MARGIN or np.abs(points).max() > 1e3:
            continue  # its margin is not small, or its numbers are not exact enough
        measured += 1
        (ball,) = bodies(world, [Volume("sphere", (0.01 * size,), (0.0, 0.0, 0.0))])
        outside = []
        for point in points.tolist():
            bullet.resetBasePositionAndOrientation(ball, point, NO_ROTATION, physicsClientId=world)
            outside.append(distance(world, body, ball, 1e6) + 0.01 * size)
        bullet.removeBody(ball, physicsClientId=world)
        near = (CUT_OFF if has_corners else 0) + 2e-5 * size
        assert -near <= max(outside) <= near, entry["name"]
    assert measured >= 10
