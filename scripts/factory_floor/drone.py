"""Station 7: a drone flies close to a mast and does not touch it."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from .common import HOVER
from .keyframes import insert_keys, set_interpolation
from .meshes import box, mesh_object, prism

MAST_LOCATION = (4.25, 1.75)
MAST_RADIUS = 1 / 16
MAST_HEIGHT = 2.0
DRONE_HALF_WIDTH = 5 / 16
DRONE_HEIGHT = 1.5
DRONE_GAP = 1 / 32
DRONE_SWERVE = 0.5
DRONE_TRAVEL = 2.5
DRONE_FRAMES = (9, 33, 57)  # start, closest, end


class NearMiss(NamedTuple):
    """The minimum separation of two AABBs in meters, and its frame."""

    gap: float
    frame: float


def drone_near_miss() -> NearMiss:
    """Return the minimum separation of the drone's and the mast's AABB: exactly 0.03125 m at frame 33.

    The drone swerves towards the mast along Y and is closest at its middle key. Before and after that key,
    the gap along Y is wider by DRONE_SWERVE / 24 per frame.
    """
    center_distance = MAST_LOCATION[1] - drone_path()[1][1]
    return NearMiss(center_distance - MAST_RADIUS - DRONE_HALF_WIDTH, DRONE_FRAMES[1])


def drone_path() -> list[tuple[float, float, float]]:
    """Return the locations of the drone's origin at DRONE_FRAMES."""
    x, y = MAST_LOCATION
    closest = y - MAST_RADIUS - DRONE_GAP - DRONE_HALF_WIDTH
    return [
        (x - DRONE_TRAVEL / 2, closest - DRONE_SWERVE, DRONE_HEIGHT),
        (x, closest, DRONE_HEIGHT),
        (x + DRONE_TRAVEL / 2, closest - DRONE_SWERVE, DRONE_HEIGHT),
    ]


def build_drone() -> None:
    """Build `Drone`, which flies close to `Mast` and does not touch it.

    The drone flies 2.5 m along +X from frame 9 to frame 57. On the way it swerves 0.5 m towards the mast and
    back. drone_near_miss() returns the minimum separation of the two AABBs and its frame.
    """
    heights = [HOVER + (MAST_HEIGHT - HOVER) * step / 5 for step in range(6)]
    stripes = [
        prism([(low, MAST_RADIUS), (high, MAST_RADIUS)], "Target" if index % 2 == 0 else "White")
        for index, (low, high) in enumerate(pairwise(heights))
    ]
    mesh_object("Mast", stripes, (*MAST_LOCATION, 0))

    rotor_radius = 0.125
    offset = DRONE_HALF_WIDTH - rotor_radius
    body = box((0, 0, 0), (0.11, 0.11, 0.05), "Mover")
    beams = [box((0, side * offset, 0.02), (offset, 0.02, 0.015), "Dark") for side in (-1, 1)]
    cross = box((0, 0, 0.02), (0.02, offset, 0.015), "Dark")
    rotors = [
        prism([(0.035, rotor_radius), (0.06, rotor_radius)], "Mover Light", (sx * offset, sy * offset))
        for sx in (-1, 1)
        for sy in (-1, 1)
    ]
    drone = mesh_object("Drone", [body, cross, *beams, *rotors])
    insert_keys(drone, "location", zip(DRONE_FRAMES, drone_path(), strict=True))
    set_interpolation(drone, "LINEAR")
