"""Triggers, collision filters and materials in Blender's glTF export, with the extension installed."""

from __future__ import annotations

import json

import pytest

from tests.node.node import errors_in

SCENE = """
scene = bpy.context.scene
items = {}
for number, name in enumerate(("Plain", "Zone", "Ghost", "Ice", "Rink")):
    bpy.ops.mesh.primitive_cube_add(location=(4 * number, 0, 0))
    bpy.context.object.name = name
    items[name] = bpy.context.object.collision_bounds
items["Zone"].response, items["Zone"].collision_group = "trigger", 3
items["Ghost"].response = "none"
for name in ("Ice", "Rink"):
    items[name].physics_material = "Ice"
    items[name].collision_mask = [group == 3 for group in range(1, 17)]
settings = scene.collision_bounds.gltf
settings.omi = settings.khr = True
settings.shape = SHAPE
bpy.ops.export_scene.gltf(filepath=folder + "/scene.gltf", export_format="GLTF_SEPARATE")
answer(None)
"""


@pytest.mark.parametrize("shape", [pytest.param("obb", marks=pytest.mark.smoke), "hull"])
def test_export_has_responses_of_objects(in_blender, tmp_path, shape):
    in_blender(SCENE.replace("SHAPE", repr(shape)))
    assert errors_in(tmp_path / "scene.gltf") == []
    file = json.loads((tmp_path / "scene.gltf").read_text("utf-8"))
    for extension in ("OMI_physics_body", "KHR_physics_rigid_bodies"):
        found = {}
        for node in file["nodes"]:
            body = node.get("extensions", {}).get(extension)
            if body is None:
                continue
            ((kind, content),) = body.items()
            assert {"shape", "geometry"} & content.keys()
            name = node["name"].removesuffix(" collider")
            found[name] = kind, content.get("collisionFilter"), content.get("physicsMaterial")
        lists = file["extensions"][extension]
        assert lists["physicsMaterials"] == [{"name": "Ice"}]
        filters = lists["collisionFilters"]
        assert {name: kind for name, (kind, *_) in found.items()} == {
            "Plain": "collider",
            "Zone": "trigger",
            "Ice": "collider",
            "Rink": "collider",
        }
        assert found["Plain"][1:] == (None, None)
        assert filters[found["Zone"][1]] == {"collisionSystems": ["Group 3"]} and found["Zone"][2] is None
        only_zone = {"collisionSystems": ["Group 1"], "collideWithSystems": ["Group 3"]}
        assert filters[found["Ice"][1]] == only_zone and found["Ice"][1:] == found["Rink"][1:]
        assert len(filters) == 2 and found["Ice"][2] == 0
