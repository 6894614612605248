"""Names of colliders: patterns of engines, numbers, limits, and names that are in use."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.colliders.make import SceneError
from addon.scene.colliders.objects import ColliderNames
from addon.scene.settings import (
    COLLIDER_NAME_PATTERNS,
)
from tests.scene.colliders.creating import (
    KINDS,
    colliders,
    create_colliders,
    object_names,
    skip_reasons,
)


@pytest.mark.parametrize("kind", KINDS)
def test_names_follow_convention_of_each_engine(add_mesh, kind):
    add_mesh("SM_Crate.001")
    component = {"box": "Box", "sphere": "Sphere", "capsule": "Capsule", "hull": "Mesh"}[kind]
    expected = {
        "unreal": f"{KINDS[kind]}_SM_Crate.001_00",
        "godot": "SM_Crate.001_00-convcolonly",
        "godot_concave": "SM_Crate.001_00-colonly",
        "unity": f"SM_Crate.001_{component}Collider_00",
    }
    for preset, name in expected.items():
        assert create_colliders(kind=kind, pattern=COLLIDER_NAME_PATTERNS[preset]).colliders == 1
        assert [item.name for item in colliders()] == [name]
        assert colliders()[0].data.name == name


def test_copy_of_object_with_collider_gets_another_name(add_mesh):
    crate = add_mesh("Crate")
    create_colliders()
    copy, collider_copy = crate.copy(), colliders()[0].copy()
    collider_copy.parent = copy
    for item in (copy, collider_copy):
        bpy.context.scene.collection.objects.link(item)
    assert {copy.name, collider_copy.name} == {"Crate.001", "UBX_Crate_00.001"}
    create_colliders()
    assert object_names() == {"Crate", "Crate.001", "UBX_Crate_00", "UBX_Crate.001_00"}


def test_next_number_is_used_if_name_is_in_use(add_mesh):
    add_mesh("Crate")
    add_mesh("UBX_Crate_00", hide_viewport=True)
    for _ in range(2):
        create_colliders()
        assert [item.name for item in colliders()] == ["UBX_Crate_01"]
    assert "UBX_Crate_00" in object_names()


def test_name_in_use_without_number_skips_and_names_conflicting_object(add_mesh):
    add_mesh("Crate")
    create_colliders(pattern="{name}-colonly")
    other = add_mesh("Barrel-colonly", hide_viewport=True)
    add_mesh("Barrel")
    result = create_colliders(pattern="{name}-colonly")
    assert {item.name for item in colliders()} == {"Crate-colonly"}
    assert "Barrel-colonly" in skip_reasons(result)["Barrel"]
    assert other.name == "Barrel-colonly"


@pytest.mark.smoke
def test_name_that_is_too_long_skips_and_keeps_existing_collider(add_mesh):
    longest = 63 if bpy.app.version < (5, 0) else 255
    crate = add_mesh("Crate")
    create_colliders()
    crate.name = "ä" * ((longest - 7) // 2)  # UBX_..._00 is 7 bytes longer
    result = create_colliders()
    assert not result.skipped and len(colliders()[0].name.encode()) == longest
    crate.name = crate.name + "xx"
    result = create_colliders()
    assert f"Blender allows {longest}" in skip_reasons(result)[crate.name]
    assert len(colliders()) == 1, "the existing collider stays"


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("collider", "has no {name}"),
        ("{name}_{size}", "allowed fields are"),
        ("{name:>9}", "allowed fields are"),
        ("{name", "a brace is missing"),
        ("{name}{}", "allowed fields are"),
    ],
)
def test_invalid_pattern_is_rejected_and_nothing_changes(add_mesh, pattern, problem):
    add_mesh("Crate")
    create_colliders()
    before = object_names()
    with pytest.raises(SceneError) as error:
        create_colliders(pattern=pattern)
    assert problem in str(error.value)
    assert object_names() == before


def test_custom_pattern_with_literal_braces(add_mesh):
    add_mesh("Crate")
    create_colliders(pattern="{{c}} {name} {kind}", kind="hull")
    assert [item.name for item in colliders()] == ["{c} Crate hull"]


def test_loose_parts_are_numbered_in_order(add_mesh, object_settings):
    item = add_mesh("Parts", [(x, y, 0) for x in range(12) for y in (0.0, 0.5)])
    item.data.edges.add(12)
    item.data.edges.foreach_set("vertices", list(range(24)))
    item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
    create_colliders()
    assert create_colliders().colliders == 12
    for number in range(12):
        points = np.array([v.co for v in bpy.data.objects[f"UBX_Parts_{number:02}"].data.vertices])
        assert points[:, 0].mean() == pytest.approx(number)
    result = create_colliders(pattern="{name}_collider")
    assert "{number}" in skip_reasons(result)["Parts"]
    assert len(colliders()) == 12


def test_two_thousand_loose_parts_are_numbered_without_gap(empty_file):
    used_names = ["UBX_A_07", "USP_A_1500"]
    kinds = ["box", "sphere"] * 2000
    assigned = ColliderNames(COLLIDER_NAME_PATTERNS["unreal"], used_names).assign("A", kinds)
    boxes = [f"UBX_A_{number:02}" for number in range(2001) if number != 7]
    spheres = [f"USP_A_{number:02}" for number in range(2001) if number != 1500]
    assert assigned == [name for pair in zip(boxes, spheres, strict=True) for name in pair]


def test_swapped_names_are_restored(add_mesh):
    for name in "AB":
        add_mesh(name)
    create_colliders()
    a, b = (bpy.data.objects[f"UBX_{name}_00"] for name in "AB")
    for datablock_of in (lambda item: item, lambda item: item.data):
        datablock_of(a).name = "Between"
        datablock_of(b).name = "UBX_A_00"
        datablock_of(a).name = "UBX_B_00"
    create_colliders()
    found = {item.parent.name: (item.name, item.data.name) for item in colliders()}
    assert found == {name: (f"UBX_{name}_00",) * 2 for name in "AB"}


def test_new_mesh_has_name_of_previous_one(add_mesh):
    add_mesh("Crate")
    create_colliders()
    colliders()[0].shape_key_add(name="Basis")
    for _ in range(2):
        create_colliders()
        assert [(item.name, item.data.name) for item in colliders()] == [("UBX_Crate_00",) * 2]


def test_meshes_that_users_assigned_to_colliders_keep_their_names(add_mesh):
    for name in "AB":
        add_mesh(name)
    create_colliders()
    user_mesh = bpy.data.meshes.new("Mine")
    bpy.data.objects["UBX_A_00"].data = user_mesh
    a, b = bpy.data.objects["A"], bpy.data.objects["B"]
    a.name, b.name, a.name = "Between", "A", "B"
    create_colliders(replace_edited=True)
    assert user_mesh.name == "Mine"
    assert {item.parent.name: (item.name, item.data.name) for item in colliders()} == {
        name: (f"UBX_{name}_00",) * 2 for name in "AB"
    }
