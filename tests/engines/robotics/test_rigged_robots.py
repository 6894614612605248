"""Robots rigged by parenting meshes to bones keep their tree in MuJoCo, Bullet and USD."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.engines.from_blender import EMPTY_ANIMATION, SETUP, in_blender
from tests.engines.rigged_robot import PARENTS, ROBOT

_FILES = """
bounds = ("bounds", "--frame", "1", "--shapes", "obb", "--decimals", "9")
export_document("robot.json", *bounds)
for suffix in (".urdf", ".xml", ".usda"):
    export_document("robot" + suffix, *bounds)
export_document("free.xml", *bounds, "--free-joints")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Folder with `robot.json`, `.urdf`, `.xml` and `.usda`, and with a free joint `free.xml`."""
    folder = tmp_path_factory.mktemp("rigged")
    in_blender(EMPTY_ANIMATION + "HAS_FOOT = False\n" + ROBOT + SETUP + _FILES, folder)
    return folder


@pytest.fixture(scope="module")
def entries(folder) -> dict[str, dict]:
    """Objects of the document by name."""
    objects = json.loads((folder / "robot.json").read_text("utf-8"))["objects"]
    return {entry["name"]: entry for entry in objects}


def test_bodies_of_mujoco_follow_bones(folder, entries):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    for name, parent in PARENTS.items():
        body = model.body(name)
        assert model.body(body.parentid[0]).name == (parent or "world")
        np.testing.assert_allclose(data.body(name).xpos, entries[name]["transform"]["translation"], atol=1e-6)
    # Geoms of a body and of its parent do not collide, so joints that touch are no contacts.
    touching = {
        frozenset(model.body(model.geom_bodyid[geom]).name for geom in contact.geom)
        for contact in data.contact
    }
    assert not touching & {frozenset((name, parent)) for name, parent in PARENTS.items()}


def test_robot_with_free_joint_stays_in_one_piece(folder, entries):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(folder / "free.xml"))
    assert [model.joint(number).name for number in range(model.njnt)] == ["Pedestal"]
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)

    def distances() -> np.ndarray:
        """Distances between all bodies."""
        places = np.array([data.body(name).xpos for name in PARENTS])
        return np.linalg.norm(places[:, None] - places, axis=-1)

    before, height = distances(), data.body("Tool").xpos[2]
    for _ in range(200):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(distances(), before, atol=1e-6)
    assert data.body("Tool").xpos[2] < height - 0.5


def test_links_of_bullet_follow_bones(folder, entries, bullet):
    body = bullet.loadURDF(str(folder / "robot.urdf"), useFixedBase=True)
    infos = [bullet.getJointInfo(body, joint) for joint in range(bullet.getNumJoints(body))]
    names = {info[0]: info[12].decode() for info in infos}
    assert {names[info[0]]: names.get(info[16]) for info in infos} == PARENTS
    for number, name in names.items():
        place = bullet.getLinkState(body, number)[4]
        np.testing.assert_allclose(place, entries[name]["transform"]["translation"], atol=1e-6)


def test_prims_of_usd_follow_bones(folder, entries):
    Usd = pytest.importorskip("pxr.Usd")
    UsdGeom = pytest.importorskip("pxr.UsdGeom")
    stage = Usd.Stage.Open(str(folder / "robot.usda"))
    found = {prim.GetName(): prim for prim in stage.Traverse() if prim.GetName() in PARENTS}
    root = stage.GetDefaultPrim().GetName()
    above = {name: prim.GetParent().GetName() for name, prim in found.items()}
    assert above == {name: parent or root for name, parent in PARENTS.items()}
    for name, prim in found.items():
        place = UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(0).ExtractTranslation()
        np.testing.assert_allclose(place, entries[name]["transform"]["translation"], atol=1e-6)
