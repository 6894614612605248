"""Volumes of documents in MuJoCo: distances to vertices and to each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from tests.engines.in_engines import (
    Volume,
    first_contacts_agree,
    overlaps_agree,
    vertices_in,
    volume_of,
)

mujoco = pytest.importorskip("mujoco")

SHAPES = ("sphere", "aabb", "obb")
# MuJoCo needs sides above zero.
LEAST = 1e-9


class World:
    """Movable volumes, and a point."""

    def __init__(self, volumes: list[Volume]) -> None:
        bodies = []
        for k, volume in enumerate(volumes):
            sizes = " ".join(repr(max(float(size), LEAST)) for size in volume.sizes)
            place = " ".join(repr(float(value)) for value in volume.place)
            turn = " ".join(repr(float(volume.turn[i])) for i in (3, 0, 1, 2))
            bodies.append(
                f'<body name="b{k}" mocap="true"><geom name="g{k}" type="{volume.kind}" size="{sizes}"'
                f' pos="{place}" quat="{turn}"/></body>'
            )
        bodies.append(f'<body mocap="true"><geom name="point" type="sphere" size="{LEAST}"/></body>')
        xml = f"<mujoco><worldbody>{''.join(bodies)}</worldbody></mujoco>"
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.point = len(volumes)
        mujoco.mj_kinematics(self.model, self.data)

    def put(self, body: int, place: np.ndarray, turn: np.ndarray | None = None) -> None:
        """Move a body to a position and rotation (w, x, y, z)."""
        self.data.mocap_pos[body] = place
        if turn is not None:
            self.data.mocap_quat[body] = turn

    def moved(self) -> None:
        mujoco.mj_kinematics(self.model, self.data)

    def distance(self, a: int, b: int, most: float = 1e9) -> float:
        return mujoco.mj_geomDistance(self.model, self.data, a, b, most, None)

    def outside(self, k: int, points: np.ndarray) -> np.ndarray:
        """Distance of points (n, 3) from a volume; negative inside."""
        distances = []
        for point in points:
            self.put(self.point, point)
            self.moved()
            distances.append(self.distance(k, self.point) + LEAST)
        return np.array(distances)


@pytest.mark.parametrize("space", ["blender", "unreal"])
@pytest.mark.parametrize("shape", SHAPES)
def test_volumes_enclose_vertices_and_one_is_on_surface(hurting, space, shape):
    objects = hurting.document(f"{space}.json")["objects"]
    world = World([volume_of(entry["world"], shape) for entry in objects])
    assert len(objects) >= 20
    for k, entry in enumerate(objects):
        points = vertices_in(space, hurting.vertices_of(entry))
        outside = world.outside(k, points)
        # The precision of float64 at such distances.
        exact = 16 * np.finfo(float).eps * np.abs(points).max() + LEAST
        assert outside.max() <= exact, entry["name"]
        assert outside.max() >= -1e-8 * (1 + np.abs(points).max()), entry["name"]


@pytest.mark.parametrize("shape", SHAPES)
def test_overlapping_pairs_match_document(hurting, shape):
    objects = hurting.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    world = World(volumes)
    overlaps_agree(
        [entry["id"] for entry in objects],
        hurting.document(f"{shape}_contacts.json")["contacts"],
        world.distance,
        lambda a, b: 1e-6 * (max(volumes[a].sizes) + max(volumes[b].sizes) + 1),
    )


def test_depth_of_spheres_matches_document(hurting):
    objects = hurting.document("blender.json")["objects"]
    world = World([volume_of(entry["world"], "sphere") for entry in objects])
    index = {entry["id"]: k for k, entry in enumerate(objects)}
    contacts = hurting.document("sphere_contacts.json")["contacts"]
    assert len(contacts) > 20
    for contact in contacts:
        gap = world.distance(index[contact["a"]], index[contact["b"]])
        assert contact["deepest"]["depth"] == pytest.approx(-gap, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("shape", ["obb", "sphere"])
def test_first_contacts_match_document(moving, shape):
    document = moving.documents[shape]
    names = [entry["id"] for entry in document["objects"]]
    local = {"obb": "aabb", "sphere": "sphere"}[shape]
    world = World([volume_of(entry["local"], local) for entry in document["objects"]])
    pairs = list(combinations(range(len(names)), 2))
    gaps = np.empty((len(pairs), len(moving.times)))
    for t in range(len(moving.times)):
        for k, name in enumerate(names):
            world.put(k, moving.positions[name][t], moving.turns[name][t])
        world.moved()
        # Larger distances do not matter here, and a limit is faster.
        gaps[:, t] = [world.distance(a, b, 0.05) for a, b in pairs]
    distances = {frozenset((names[a], names[b])): gap for (a, b), gap in zip(pairs, gaps, strict=True)}
    first_contacts_agree(document, moving.times, distances, tolerance=2e-6, slack=5e-5)
