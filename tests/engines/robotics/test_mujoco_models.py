"""MJCF in MuJoCo: geoms enclose the vertices, overlap as the document says, and touch when it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.engines.checks import assert_first_contacts, assert_overlaps_match
from tests.engines.robotics.axial import outside_axial
from tests.engines.robotics.conftest import SHAPES
from tests.formats.export.robotics.robot_files import Part, document_of_parts, text_of
from tests.tiers import times

mujoco = pytest.importorskip("mujoco")


class Model:
    """A model from a file, at its initial pose."""

    def __init__(self, path) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        self.is_moved = False

    def body(self, name: str) -> int:
        """Index of a body."""
        return mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)

    def geoms(self, name: str) -> range:
        """Return the indices of the geoms of a body."""
        body = self.body(name)
        start = self.model.body_geomadr[body]
        return range(start, start + self.model.body_geomnum[body])

    def distance(self, a: str, b: str, limit: float = 1e9) -> float:
        """Signed distance of two bodies, or the limit if it is larger."""
        return min(
            mujoco.mj_geomDistance(self.model, self.data, i, j, limit, None)
            for i in self.geoms(a)
            for j in self.geoms(b)
        )

    def outside(self, geom: int, points: np.ndarray) -> np.ndarray:
        """Distance (n,) by which points (n, 3) are outside a geom, from MuJoCo's pose, sizes and vertices."""
        local = (points - self.data.geom_xpos[geom]) @ self.data.geom_xmat[geom].reshape(3, 3)
        size, kind = self.model.geom_size[geom], mujoco.mjtGeom(self.model.geom_type[geom])
        if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
            return np.linalg.norm(local, axis=1) - size[0]
        if kind == mujoco.mjtGeom.mjGEOM_BOX:
            return (np.abs(local) - size).max(axis=1)
        if kind in (mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_CYLINDER):
            return outside_axial(local, size[0], size[1], kind == mujoco.mjtGeom.mjGEOM_CAPSULE)
        assert kind == mujoco.mjtGeom.mjGEOM_MESH
        mesh = self.model.geom_dataid[geom]
        start, count = self.model.mesh_vertadr[mesh], self.model.mesh_vertnum[mesh]
        vertices = self.model.mesh_vert[start : start + count].astype(np.float64)
        start, count = self.model.mesh_faceadr[mesh], self.model.mesh_facenum[mesh]
        a, b, c = vertices[self.model.mesh_face[start : start + count].T]
        normals = np.cross(b - a, c - a)
        lengths = np.linalg.norm(normals, axis=1)
        # Faces without area have no plane.
        wide = lengths > 1e-12 * np.ptp(vertices, axis=0).max() ** 2
        normals = normals[wide] / lengths[wide, None]
        return (local @ normals.T - (normals * a[wide]).sum(axis=1)).max(axis=1)


@pytest.mark.parametrize("shape", SHAPES)
def test_geoms_enclose_vertices(robots, shape):
    model = Model(robots.folder / f"{shape}.xml")
    links = robots.links()
    assert model.model.nbody == len(links) + 1 >= 20
    for name, entry in links.items():
        points = robots.vertices_of(entry)
        outside = np.min([model.outside(geom, points) for geom in model.geoms(name)], axis=0)
        size = float(np.ptp(points, axis=0).max())
        far = float(np.abs(points).max())
        assert outside.max() <= 16 * np.finfo(float).eps * (far + size), (name, outside.max())
        if shape != "spheres":
            # Hulls are larger by few millionths of their size, and flat ones have a thickness.
            looseness = (
                5e-6 * (far + size) if shape not in ("hull", "compound") else 1e-5 * far + 1e-3 * size + 1e-6
            )
            assert outside.max() >= -looseness - 5e-4, (name, outside.max())


@pytest.mark.parametrize("shape", SHAPES)
def test_bodies_are_below_those_of_their_parents(robots, shape):
    model, links = Model(robots.folder / f"{shape}.xml"), robots.links()
    names = {entry["id"]: name for name, entry in links.items()}
    for name, entry in links.items():
        parent = names[entry["parent"]] if entry["parent"] else "world"
        assert model.model.body_parentid[model.body(name)] == model.body(parent)
        np.testing.assert_allclose(
            model.data.xpos[model.body(name)], entry["transform"]["translation"], rtol=1e-12, atol=1e-9
        )
    assert any(entry["parent"] for entry in links.values())
    assert model.model.nv == 0


@pytest.mark.parametrize("shape", ["sphere", "obb", "spheres"])
def test_overlapping_pairs_match_document(robots, shape):
    model, links = Model(robots.folder / f"{shape}.xml"), robots.links()
    names = list(links)
    sizes = [max(model.model.geom_rbound[geom] for geom in model.geoms(name)) for name in names]
    assert_overlaps_match(
        [entry["id"] for entry in links.values()],
        robots.document(f"{shape}_contacts.json")["contacts"],
        lambda a, b: model.distance(names[a], names[b]),
        lambda a, b: 1e-6 * (sizes[a] + sizes[b] + 1),
    )


@pytest.mark.parametrize("shape", ["obb", "sphere", "capsule"])
def test_first_contacts_of_free_bodies_match_document(animated, free_bodies, shape):
    model = Model(free_bodies / f"{shape}.xml")
    assert model.model.nv == 6 * len(animated.bounds)
    assert_first_contacts(animated, shape, *moved_bodies(model), tolerance=2e-6)


def moved_bodies(model: Model) -> tuple[Callable[..., None], Callable[..., float]]:
    """Return functions that move a free body to a pose, and that measure the distance of two."""

    def move(name: str, position: Any, rotation: Any) -> None:
        model.data.joint(name).qpos[:] = (*position, *rotation)
        model.is_moved = True

    def distance(a: str, b: str) -> float:
        if model.is_moved:
            mujoco.mj_kinematics(model.model, model.data)
            model.is_moved = False
        return model.distance(a, b, 0.05)

    return move, distance


def test_free_bodies_fall(free_bodies):
    model = Model(free_bodies / "sphere.xml")
    height = model.data.body("Bullet").xpos[2]
    model.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    for _ in range(100):
        mujoco.mj_step(model.model, model.data)
    # 0.2 s of free fall.
    assert model.data.body("Bullet").xpos[2] == pytest.approx(height - 9.81 / 2 * 0.2**2, abs=0.01)


@pytest.mark.parametrize("seed", range(times(30)))
def test_meshes_have_room_for_the_single_precision_of_mujoco(tmp_path, seed):
    random = np.random.default_rng(seed)
    quaternion = random.normal(size=4)
    # Thin, with most of its mass far from the middle, so that MuJoCo moves and rotates it most.
    points = random.uniform(-1, 1, (60, 3)) ** 3 * (1, 0.02, 0.003)
    part = Part("A", None, np.zeros(3), quaternion / np.linalg.norm(quaternion), points)
    document = document_of_parts([part], "hull", decimals=9)
    path = tmp_path / "model.xml"
    path.write_text(text_of(document, "mjcf"), "utf-8")
    model = Model(path)
    (geom,) = model.geoms("A")
    vertices = np.array(document["objects"][0]["world"]["hull"]["vertices"])
    size = np.linalg.norm(np.ptp(vertices, axis=0))
    # MuJoCo may change positions by 1.8e-6 m and rotations by 3.5e-6, and vertices by 1e-7 of the size.
    assert -2e-5 < model.outside(geom, vertices).max() <= -1.8e-6 - 3.7e-6 * size
