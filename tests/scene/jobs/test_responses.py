"""Collision responses of objects in results and documents, and in colliders that are created."""

from __future__ import annotations

import bpy
import pytest

from addon.formats.document.model import CollisionResponse
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings
from tests.scene.building import add_instance, add_vertices, hidden_collection, merged_collection
from tests.scene.colliders.creating import colliders, create_colliders

pytestmark = pytest.mark.usefixtures("object_settings")

CUBE = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]


def responses() -> dict:
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    entries = {entry["id"]: entry.get("collision") for entry in result.document()["objects"]}
    assert result.responses == {
        id: CollisionResponse(**value) for id, value in entries.items() if value is not None
    }
    return entries


@pytest.mark.smoke
def test_document_has_responses_that_differ_from_the_default():
    zone, _, ice = (add_vertices(name).collision_bounds for name in ("Zone", "Wall", "Ice"))
    assert responses() == {"Zone": None, "Wall": None, "Ice": None}
    zone.response, zone.collision_group = "trigger", 16
    zone.collision_mask = [group in (1, 16) for group in range(1, 17)]
    ice.physics_material = " Ice "
    assert responses() == {
        "Zone": {"response": "trigger", "group": 16, "mask": 1 + (1 << 15), "material": None},
        "Wall": None,
        "Ice": {"response": "solid", "group": 1, "mask": 65535, "material": "Ice"},
    }


def test_instances_and_loose_parts_have_the_response_of_their_object():
    part = add_vertices("Part")
    part.collision_bounds.response = "trigger"
    collection = hidden_collection("Kit", part)
    add_instance("Empty", collection)
    bpy.context.view_layer.update()
    (value,) = responses().values()
    assert value["response"] == "trigger"


def test_merged_collection_has_the_default():
    collection = merged_collection("Group")
    for name in ("A", "B"):
        item = add_vertices(name)
        item.collision_bounds.response = "none"
        collection.objects.link(item)
    assert responses() == {"Group": None}


def test_create_colliders_skips_objects_that_collide_with_nothing():
    for name, response in (("Ghost", "none"), ("Wall", "solid"), ("Zone", "trigger")):
        add_vertices(name, CUBE).collision_bounds.response = response
    bpy.context.view_layer.update()
    created = create_colliders()
    assert [(entry.name, entry.reason) for entry in created.skipped] == [
        ("Ghost", "its collision response is None")
    ]
    assert {item.parent.name for item in colliders()} == {"Wall", "Zone"}
