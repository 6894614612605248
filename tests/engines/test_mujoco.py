"""MuJoCo is given the document's volumes, and asked how far vertices and volumes are from each other."""

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
# MuJoCo has no sides of nothing.
LEAST = 1e-9


class World:
    """Volumes that can be put anywhere, and a point."""

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
        """Move a body to a place, turned by w, x, y, z."""
        self.data.mocap_pos[body] = place
        if turn is not None:
            self.data.mocap_quat[body] = turn

    def moved(self) -> None:
        mujoco.mj_kinematics(self.model, self.data)

    def distance(self, a: int, b: int, most: float = 1e9) -> float:
        return mujoco.mj_geomDistance(self.model, self.data, a, b, most, None)

    def outside(self, k: int, points: np.ndarray) -> np.ndarray:
        """How far each of the points (n, 3) is outside of a volume, negative within."""
        told = []
        for point in points:
            self.put(self.point, point)
            self.moved()
            told.append(self.distance(k, self.point) + LEAST)
        return np.array(told)


@pytest.mark.parametrize("space", ["blender", "unreal"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_vertex_is_in_its_volume_and_one_is_at_its_surface(hurting, space, shape):
    objects = hurting.document(f"{space}.json")["objects"]
    world = World([volume_of(entry["world"], shape) for entry in objects])
    assert len(objects) >= 20
    for k, entry in enumerate(objects):
        points = vertices_in(space, hurting.vertices_of(entry))
        outside = world.outside(k, points)
        # What double precision tells of places so far away.
        exact = 16 * np.finfo(float).eps * np.abs(points).max() + LEAST
        assert outside.max() <= exact, entry["name"]
        assert outside.max() >= -1e-8 * (1 + np.abs(points).max()), entry["name"]


@pytest.mark.parametrize("shape", SHAPES)
def test_pairs_that_overlap_are_those_of_the_document(hurting, shape):
    objects = hurting.document("blender.json")["objects"]
    volumes = [volume_of(entry["world"], shape) for entry in objects]
    world = World(volumes)
    overlaps_agree(
        [entry["id"] for entry in objects],
        hurting.document(f"{shape}_contacts.json")["contacts"],
        world.distance,
        lambda a, b: 1e-6 * (max(volumes[a].sizes) + max(volumes[b].sizes) + 1),
    )


def test_spheres_overlap_by_the_depth_of_the_document(hurting):
    objects = hurting.document("blender.json")["objects"]
    world = World([volume_of(entry["world"], "sphere") for entry in objects])
    index = {entry["id"]: k for k, entry in enumerate(objects)}
    contacts = hurting.document("sphere_contacts.json")["contacts"]
    assert len(contacts) > 20
    for contact in contacts:
        gap = world.distance(index[contact["a"]], index[contact["b"]])
        assert contact["deepest"]["depth"] == pytest.approx(-gap, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("shape", ["obb", "sphere"])
def test_things_first_touch_when_the_document_says(moving, shape):
    document = moving.documents[shape]
    names = [entry["id"] for entry in document["objects"]]
    local = {"obb": "aabb", "sphere": "sphere"}[shape]
    world = World([volume_of(entry["local"], local) for entry in document["objects"]])
    pairs = list(combinations(range(len(names)), 2))
    gaps = np.empty((len(pairs), len(moving.times)))
    for t in range(len(moving.times)):
        for k, name in enumerate(names):
            world.put(k, moving.places[name][t], moving.turns[name][t])
        world.moved()
        # Further apart than that is all the same here, and soon known.
        gaps[:, t] = [world.distance(a, b, 0.05) for a, b in pairs]
    told = {frozenset((names[a], names[b])): gap for (a, b), gap in zip(pairs, gaps, strict=True)}
    first_contacts_agree(document, moving.times, told, tolerance=2e-6, slack=5e-5)
