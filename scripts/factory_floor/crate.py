"""Station 4: a crate falls on a pallet, simulated by rigid body physics."""

from __future__ import annotations

from math import radians

import bpy
from mathutils import Euler

from .common import FRAME_END, FRAME_START, HOVER
from .meshes import Part, box, mesh_object

CRATE_LOCATION = (-1.75, 1.25, 2.05)
CRATE_TILT = (12.0, 7.0, 12.0)
CRATE_SIZE = 0.625


def build_crate() -> None:
    """Build `Crate`, which falls on `Pallet`, lands at frame 15 and comes to rest.

    The simulation is baked into the .blend, so frames can be evaluated in any order.
    """
    crate = mesh_object("Crate", crate_parts(CRATE_SIZE / 2), CRATE_LOCATION)
    crate.rotation_euler = Euler([radians(angle) for angle in CRATE_TILT])
    pallet = mesh_object("Pallet", pallet_parts(), (*CRATE_LOCATION[:2], HOVER + 0.07))

    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    scene.rigidbody_world.collection = bpy.data.collections.new("Physics")
    for body in (crate, pallet):
        scene.rigidbody_world.collection.objects.link(body)  # makes the object a rigid body
        body.rigid_body.collision_shape = "BOX"
        body.rigid_body.friction = 0.8
        body.rigid_body.restitution = 0.0
    pallet.rigid_body.type = "PASSIVE"
    cache = scene.rigidbody_world.point_cache
    cache.frame_start, cache.frame_end = FRAME_START, FRAME_END


def crate_parts(half: float) -> list[Part]:
    """Return a cube of twelve beams around a slightly smaller cube."""
    beam = 0.045
    inset = half - 0.02
    parts = [box((0, 0, 0), (inset, inset, inset), "Mover Light")]
    near = half - beam
    for first in (-near, near):
        for second in (-near, near):
            parts.append(box((0, first, second), (half, beam, beam), "Mover"))
            parts.append(box((first, 0, second), (beam, half, beam), "Mover"))
            parts.append(box((first, second, 0), (beam, beam, half), "Mover"))
    return parts


def pallet_parts() -> list[Part]:
    """Return five boards on three runners, 0.15 m high.

    Physics centers the collision box on the origin. The boards protrude from it by 5 mm, so that the crate at
    rest clearly overlaps the pallet. Without that, the sign of the separation would depend on rounding.
    """
    runners = [box((0, y, -0.02), (0.6, 0.06, 0.05), "Target") for y in (-0.5, 0, 0.5)]
    boards = [box((x, 0, 0.055), (0.1, 0.56, 0.025), "Target Light") for x in (-0.5, -0.25, 0, 0.25, 0.5)]
    return runners + boards
