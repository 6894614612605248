"""Volumes of documents in Bullet, Blender's physics engine: overlaps and first contacts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.engines.checks import (
    CUT_OFF,
    NO_ROTATION,
    Volume,
    assert_first_contacts,
    assert_overlaps_match,
    convert_vertices,
    distance_in_bullet,
    in_bullet,
    volume_of,
)
from tests.engines.from_blender import AnimatedExport

MARGIN = 1e-3
"""By which Bullet rounds corners and edges."""
MIN_SIZE = 1e-6
"""Replaces sizes of zero."""


def bodies(bullet: Any, volumes: list[Volume], at_origin: bool = False) -> list[int]:
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
        shape = bullet.createCollisionShape(**parameters)
        position, rotation = ((0, 0, 0), NO_ROTATION) if at_origin else (volume.position, volume.rotation)
        body = bullet.createMultiBody(0, shape, -1, position, rotation)
        created.append(body)
    return created


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule"])
def test_overlapping_pairs_match_document(difficult, bullet, shape):
    objects = difficult.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    body_ids = bodies(bullet, volumes)
    assert_overlaps_match(
        [entry["id"] for entry in objects],
        difficult.document(f"{shape}_contacts.json")["contacts"],
        lambda a, b: distance_in_bullet(bullet, body_ids[a], body_ids[b], 1e6),
        lambda a, b: CUT_OFF + 1e-6 * (max(volumes[a].sizes) + max(volumes[b].sizes)),
    )


@pytest.mark.parametrize("shape", ["obb", "sphere", "capsule"])
def test_first_contacts_match_document(animated, bullet, shape):
    tolerance = CUT_OFF if shape == "obb" else 1e-6
    assert_first_contacts(animated, shape, *moved_volumes(bullet, animated, shape), tolerance)


def moved_volumes(
    bullet: Any, animated: AnimatedExport, shape: str
) -> tuple[Callable[..., None], Callable[..., float]]:
    """Return functions that move the volume of an object to a pose, and that measure the distance of two."""
    local = {"obb": "aabb"}.get(shape, shape)
    volumes = [volume_of(entry["local"], local) for entry in animated.bounds.values()]
    body_of = dict(zip(animated.bounds, bodies(bullet, volumes, at_origin=True), strict=True))
    return in_bullet(bullet, body_of)


@pytest.mark.parametrize("space", ["unity", "gltf"])
@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule", "cylinder"])
def test_aabbs_of_bullet_enclose_all_vertices(difficult, bullet, space, shape):
    objects = difficult.document(f"{space}.json")["objects"]
    body_ids = bodies(bullet, [volume_of(entry["world"], shape) for entry in objects])
    for body, entry in zip(body_ids, objects, strict=True):
        low, high = bullet.getAABB(body)
        points = convert_vertices(space, difficult.vertices_of(entry))
        assert (points >= low).all() and (points <= high).all(), entry["name"]


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb", "capsule", "cylinder"])
def test_no_vertex_is_outside_and_one_is_on_the_surface(difficult, bullet, shape):
    # Bullet's distance of a small ball around each vertex, without the radius of the ball.
    objects = difficult.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    has_corners = shape not in ("sphere", "capsule")
    measured = 0
    for entry, volume, body in zip(objects, volumes, bodies(bullet, volumes), strict=True):
        size = max(volume.sizes)
        points = difficult.vertices_of(entry)
        if min(volume.sizes) < 20 * MARGIN or np.abs(points).max() > 1e3:
            continue  # its margin is not small, or its numbers are not exact enough
        measured += 1
        (ball,) = bodies(bullet, [Volume("sphere", (0.01 * size,), (0.0, 0.0, 0.0))])
        outside = []
        for point in points.tolist():
            bullet.resetBasePositionAndOrientation(ball, point, NO_ROTATION)
            outside.append(distance_in_bullet(bullet, body, ball, 1e6) + 0.01 * size)
        bullet.removeBody(ball)
        near = (CUT_OFF if has_corners else 0) + 2e-5 * size
        assert -near <= max(outside) <= near, entry["name"]
    assert measured >= 10
