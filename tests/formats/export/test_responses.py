"""Collision responses in glTF files and in files for robots."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

from addon.formats import dumps, gltf, space_for
from addon.formats.document.model import CollisionResponse
from addon.formats.export.robotics.links import ROBOTICS_SPACE
from tests.formats import samples
from tests.formats.export.robotics.robot_files import box_part, text_of
from tests.node.node import errors_in

NAMES = ("Wall", "Zone", "Ghost", "Ice", "Plain")
RESPONSES = {
    "Wall": CollisionResponse("solid", 2, 0b111),
    "Zone": CollisionResponse("trigger", 3, 0b10, "Ice"),
    "Ghost": CollisionResponse("none", 4, 1, "Ice"),
    "Ice": CollisionResponse("solid", 1, 0xFFFF, "Ice, thin"),
}


def document(space=None, responses=RESPONSES) -> dict:
    objects = [box_part(name, at=(4 * k, 0, 0)).bounds(shapes=("aabb",)) for k, name in enumerate(NAMES)]
    return samples.document_of(objects, space or space_for(ROBOTICS_SPACE), responses=responses)


def resolved(file: dict, extension: str) -> dict[str, dict]:
    """Return what the extension of each collider's node says, with the entries of lists for their indices."""
    found = {}
    for node in file["nodes"]:
        if "extensions" not in node:
            continue
        ((kind, body),) = node["extensions"][extension].items()
        entries = {"kind": kind}
        for key, name in (("collisionFilter", "collisionFilters"), ("physicsMaterial", "physicsMaterials")):
            if key in body:
                entries[key] = file["extensions"][extension][name][body[key]]
        # OMI refers to a shape, and Khronos's draft to one in a geometry.
        assert body.get("geometry", body)["shape"] == 0, "all boxes are equal"
        found[node["name"].removesuffix(" collider")] = entries
    return found


@pytest.mark.parametrize("extension", ["OMI_physics_body", "KHR_physics_rigid_bodies"])
def test_gltf_has_triggers_filters_and_materials(extension, tmp_path):
    file = json.loads(dumps(gltf(document(space_for("gltf")))))
    first_three = ["Group 1", "Group 2", "Group 3"]
    assert resolved(file, extension) == {
        "Wall": {
            "kind": "collider",
            "collisionFilter": {"collisionSystems": ["Group 2"], "collideWithSystems": first_three},
        },
        "Zone": {
            "kind": "trigger",
            "collisionFilter": {"collisionSystems": ["Group 3"], "collideWithSystems": ["Group 2"]},
        },
        "Ice": {"kind": "collider", "physicsMaterial": {"name": "Ice, thin"}},
        "Plain": {"kind": "collider"},
    }
    path = tmp_path / "responses.gltf"
    path.write_text(json.dumps(file), "utf-8")
    assert errors_in(path) == []


def test_gltf_without_solid_objects_and_triggers_needs_no_extension():
    hidden = dict.fromkeys(NAMES, CollisionResponse("none"))
    file = json.loads(dumps(gltf(document(space_for("gltf"), hidden))))
    assert len(file["nodes"]) == len(NAMES)
    assert "extensionsUsed" not in file and "extensions" not in file


def test_urdf_has_collisions_of_solid_links_alone():
    model = ElementTree.fromstring(text_of(document(), "urdf"))
    solid = {link.get("name") for link in model.iter("link") if link.find("collision") is not None}
    assert solid == {"Wall", "Ice", "Plain"}


@pytest.mark.parametrize("format", ["urdf", "mjcf", "usd"])
def test_files_of_objects_without_responses_have_no_word_of_them(format):
    text = text_of(document(responses={}), format)
    assert not re.search("contype|Group|enabled|aterial|Response", text, re.IGNORECASE)


@pytest.mark.parametrize("format", ["urdf", "mjcf", "usd"])
def test_scene_in_which_nothing_collides_is_a_valid_file(format):
    text = text_of(document(responses=dict.fromkeys(NAMES, CollisionResponse("none"))), format)
    assert all(name in text for name in NAMES)
    assert not re.search("<geom|<collision|CollisionAPI", text)
