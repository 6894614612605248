"""Collision groups, triggers and materials in MuJoCo and in Pixar's USD."""

from __future__ import annotations

from itertools import combinations

import pytest

from addon.formats import ExportOptions, space_for
from addon.formats.document.model import CollisionResponse
from addon.formats.export.robotics.links import ROBOTICS_SPACE
from tests.formats import samples
from tests.formats.export.robotics.robot_files import box_part, text_of

RESPONSES = {
    "Walls": CollisionResponse("solid", 2, 0b1110),
    "Debris": CollisionResponse("solid", 3, 0b0010, "Stone"),
    "Player": CollisionResponse("solid", 4, 0b1011, "Ice, thin"),
    "Player_2": CollisionResponse("solid", 4, 0b1011),
    "Zone": CollisionResponse("trigger", 2, 0xFFFF, "Ice, thin"),
    "Ghost": CollisionResponse("none", 2, 0xFFFF),
    "Last": CollisionResponse("solid", 16, 0xFFFF),
}
"""Objects of the same group have the same mask."""
NAMES = (*RESPONSES, "Plain")


def collides(a: str, b: str) -> bool:
    """Return whether two objects collide by the rule of the document."""
    first, second = (RESPONSES.get(name, CollisionResponse()) for name in (a, b))
    if {first.response, second.response} != {"solid"}:
        return False
    return bool(first.mask >> second.group - 1 & 1 and second.mask >> first.group - 1 & 1)


EXPECTED = {frozenset(pair) for pair in combinations(NAMES, 2) if collides(*pair)}


@pytest.fixture
def document() -> dict:
    """Cubes of side 2 that all overlap."""
    objects = [box_part(name, at=(k / 10, 0, 0)).bounds(shapes=("aabb",)) for k, name in enumerate(NAMES)]
    return samples.document_of(objects, space_for(ROBOTICS_SPACE), responses=RESPONSES)


def test_rule_separates_some_pairs_and_not_all():
    assert 0 < len(EXPECTED) < 15


def test_mujoco_finds_contacts_of_the_pairs_that_collide(document):
    mujoco = pytest.importorskip("mujoco")
    text = text_of(document, "mjcf", options=ExportOptions(free_joints=True))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = {
        frozenset(model.geom(int(geom)).name for geom in (contact.geom1, contact.geom2))
        for contact in data.contact
    }
    assert found == EXPECTED
    assert {model.geom(k).name for k in range(model.ngeom)} == {*NAMES} - {"Ghost"}


def test_mujoco_keeps_its_contacts_where_no_object_has_a_response(document):
    mujoco = pytest.importorskip("mujoco")
    for entry in document["objects"]:
        entry.pop("collision", None)
    text = text_of(document, "mjcf", options=ExportOptions(free_joints=True))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    pairs = {frozenset((int(contact.geom1), int(contact.geom2))) for contact in data.contact}
    assert len(pairs) == len(NAMES) * (len(NAMES) - 1) // 2


def test_usd_finds_groups_triggers_and_materials(document, tmp_path):
    Usd = pytest.importorskip("pxr.Usd")
    UsdPhysics = pytest.importorskip("pxr.UsdPhysics")
    UsdShade = pytest.importorskip("pxr.UsdShade")
    path = tmp_path / "responses.usda"
    path.write_text(text_of(document, "usd"), "utf-8")
    stage = Usd.Stage.Open(str(path))
    colliders = {name: stage.GetPrimAtPath(f"/Scene/{name}/collision") for name in NAMES}
    assert {name for name, prim in colliders.items() if not prim} == {"Ghost"}
    enabled = {
        name: UsdPhysics.CollisionAPI(prim).GetCollisionEnabledAttr().Get()
        for name, prim in colliders.items()
        if prim
    }
    assert enabled == {name: name != "Zone" for name in enabled}
    groups = {
        prim.GetPath(): UsdPhysics.CollisionGroup(prim)
        for prim in stage.Traverse()
        if prim.IsA(UsdPhysics.CollisionGroup)
    }
    group_of = {}
    for group_path, group in groups.items():
        query = group.GetCollidersCollectionAPI().ComputeMembershipQuery()
        for name, prim in colliders.items():
            if prim and query.IsPathIncluded(prim.GetPath()):
                assert name not in group_of
                group_of[name] = group_path
    solid = [name for name in NAMES if name not in ("Zone", "Ghost")]
    assert {*group_of} == {*solid}
    table = UsdPhysics.CollisionGroup.ComputeCollisionGroupTable(stage)
    found = {
        frozenset((a, b))
        for a, b in combinations(solid, 2)
        if table.IsCollisionEnabled(group_of[a], group_of[b])
    }
    assert found == EXPECTED
    materials = {}
    for name in enabled:
        material, _ = UsdShade.MaterialBindingAPI(colliders[name]).ComputeBoundMaterial("physics")
        if material:
            assert material.GetPrim().HasAPI(UsdPhysics.MaterialAPI)
            materials[name] = material.GetPrim().GetDisplayName()
    assert materials == {"Debris": "Stone", "Player": "Ice, thin"}
