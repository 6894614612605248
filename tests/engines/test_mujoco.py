"""Volumes of documents in MuJoCo: distances to vertices and to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.engines.checks import (
    Volume,
    assert_first_contacts,
    assert_overlaps_match,
    convert_vertices,
    volume_of,
)
from tests.engines.from_blender import AnimatedExport

mujoco = pytest.importorskip("mujoco")

SHAPES = ("sphere", "aabb", "obb", "capsule")
# MuJoCo requires positive sizes.
MIN_SIZE = 1e-9


class World:
    """Model with movable volumes and a movable point."""

    def __init__(self, volumes: list[Volume]) -> None:
        bodies = []
        for k, volume in enumerate(volumes):
            sizes = " ".join(repr(max(float(size), MIN_SIZE)) for size in volume.sizes)
            position = " ".join(repr(float(value)) for value in volume.position)
            quaternion = " ".join(repr(float(volume.rotation[i])) for i in (3, 0, 1, 2))
            bodies.append(
                f'<body name="b{k}" mocap="true"><geom name="g{k}" type="{volume.kind}" size="{sizes}"'
                f' pos="{position}" quat="{quaternion}"/></body>'
            )
        bodies.append(f'<body mocap="true"><geom name="point" type="sphere" size="{MIN_SIZE}"/></body>')
        xml = f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.point, self.is_moved = len(volumes), True

    def move(self, body: int, position: np.ndarray, rotation: np.ndarray | None = None) -> None:
        """Move a body to a position and rotation (w, x, y, z)."""
        self.data.mocap_pos[body] = position
        if rotation is not None:
            self.data.mocap_quat[body] = rotation
        self.is_moved = True

    def distance(self, a: int, b: int, limit: float = 1e9) -> float:
        """Signed distance of two volumes, or the limit if it is larger."""
        if self.is_moved:
            mujoco.mj_kinematics(self.model, self.data)
            self.is_moved = False
        return mujoco.mj_geomDistance(self.model, self.data, a, b, limit, None)

    def outside(self, k: int, points: np.ndarray) -> np.ndarray:
        """Distance of points (n, 3) from a volume; negative inside."""
        distances = []
        for point in points:
            self.move(self.point, point)
            distances.append(self.distance(k, self.point) + MIN_SIZE)
        return np.array(distances)


@pytest.mark.parametrize("space", ["blender", "unreal"])
@pytest.mark.parametrize("shape", (*SHAPES, "cylinder"))
def test_volumes_enclose_vertices_and_one_is_on_surface(difficult, space, shape):
    objects = difficult.document(f"{space}.json")["objects"]
    world = World([volume_of(entry["world"], shape) for entry in objects])
    assert len(objects) >= 20
    for k, entry in enumerate(objects):
        points = convert_vertices(space, difficult.vertices_of(entry))
        outside = world.outside(k, points)
        # The precision of float64 at such distances.
        exact = 16 * np.finfo(float).eps * np.abs(points).max() + MIN_SIZE
        assert outside.max() <= exact, entry["name"]
        assert outside.max() >= -1e-8 * (1 + np.abs(points).max()), entry["name"]


@pytest.mark.parametrize("shape", SHAPES)
def test_overlapping_pairs_match_document(difficult, shape):
    objects = difficult.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    world = World(volumes)
    assert_overlaps_match(
        [entry["id"] for entry in objects],
        difficult.document(f"{shape}_contacts.json")["contacts"],
        world.distance,
        lambda a, b: 1e-6 * (max(volumes[a].sizes) + max(volumes[b].sizes) + 1),
    )


def test_depth_of_spheres_matches_document(difficult):
    objects = difficult.document("blender.json")["objects"]
    world = World([volume_of(entry["world"], "sphere") for entry in objects])
    index = {entry["id"]: k for k, entry in enumerate(objects)}
    contacts = difficult.document("sphere_contacts.json")["contacts"]
    assert len(contacts) > 20
    for contact in contacts:
        gap = world.distance(index[contact["a"]], index[contact["b"]])
        assert contact["deepest"]["depth"] == pytest.approx(-gap, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("shape", ["obb", "sphere", "capsule"])
def test_first_contacts_match_document(animated, shape):
    assert_first_contacts(animated, shape, *moved_volumes(animated, shape), tolerance=2e-6)


def moved_volumes(animated: AnimatedExport, shape: str) -> tuple[Callable[..., None], Callable[..., float]]:
    """Return functions that move the volume of an object to a pose, and that measure the distance of two."""
    names = list(animated.bounds)
    local = {"obb": "aabb"}.get(shape, shape)
    world = World([volume_of(animated.bounds[name]["local"], local) for name in names])

    def move(name: str, position: Any, rotation: Any) -> None:
        world.move(names.index(name), np.array(position), np.array(rotation))

    # Larger distances do not matter here, and a limit is faster.
    return move, lambda a, b: world.distance(names.index(a), names.index(b), 0.05)
