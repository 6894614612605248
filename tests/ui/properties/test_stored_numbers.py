"""Numbers of the items of menus: Blender files store the number, so a changed one changes what files mean."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.settings import COLLIDER_NAME_PATTERNS

STORED = {
    "COLLISION_BOUNDS_PG_scene": {
        "scope": {"SELECTED": 0, "VISIBLE": 1},
        "box_axes": {"checked": 0, "world": 1, "object": 2, "smallest": 3},
        "added_shapes": {"capsule": 1, "cylinder": 2, "compound": 4},
        "part_shape": {"hull": 0, "box": 1, "sphere": 2, "capsule": 3},
        "shape": {"aabb": 0, "sphere": 1, "obb": 2, "spheres": 3, "capsule": 4, "compound": 5, "mesh": 6},
        "motion": {"adaptive": 0, "linear": 1},
    },
    "COLLISION_BOUNDS_PG_display": {"draw_as": {"WIRE": 0, "FACES": 1, "BOTH": 2}},
    "COLLISION_BOUNDS_PG_gltf": {"shape": {"obb": 0, "sphere": 1, "hull": 2}},
    "COLLISION_BOUNDS_PG_colliders": {
        "kind": {"box": 0, "sphere": 1, "capsule": 2, "hull": 3},
        "naming": {"unreal": 0, "godot": 1, "godot_concave": 2, "unity": 3, "custom": 4},
    },
    "COLLISION_BOUNDS_PG_contact_list": {
        "sort_by": {"NAME": 0, "FRAME": 1, "VALUE": 2},
        "group_by": {"AUTOMATIC": 0, "NONE": 1, "COLLECTION": 2, "PARENT": 3, "OBJECT": 4},
    },
    "COLLISION_BOUNDS_PG_object": {
        "bounds_for": {"object": 0, "loose_parts": 1, "bones": 2},
        "bone_frames": {"current": 0, "all": 1},
        "modifiers": {"evaluated": 0, "base": 1},
        "axes": {"checked": 0, "world": 1, "object": 2, "smallest": 3},
        "override": {"none": 0, "box": 1, "sphere": 2},
        "response": {"solid": 0, "trigger": 1, "none": 2},
    },
    "COLLISION_BOUNDS_PG_custom_shape": {"shape": {"box": 0, "sphere": 1}},
}
"""Numbers in the files that exist, by property group and property. Add to them, and change none."""


def stored_numbers(rna, found):
    """Collect the numbers of a property group and of all groups in it."""
    if rna.identifier in found:
        return
    found[rna.identifier] = {}
    for prop in rna.properties:
        if prop.type == "ENUM":
            numbers = {item.identifier: item.value for item in prop.enum_items_static}
            found[rna.identifier][prop.identifier] = numbers
        elif prop.type in ("POINTER", "COLLECTION") and "COLLISION_BOUNDS" in prop.fixed_type.identifier:
            stored_numbers(prop.fixed_type, found)


@pytest.mark.smoke
@pytest.mark.usefixtures("settings")
def test_items_keep_the_numbers_that_files_store():
    found = {}
    for owner in (bpy.types.Scene, bpy.types.Object, bpy.types.Collection):
        stored_numbers(owner.bl_rna.properties["collision_bounds"].fixed_type, found)
    assert {name: numbers for name, numbers in found.items() if numbers} == STORED


def test_each_naming_scheme_is_in_the_menu_and_has_a_pattern():
    assert set(STORED["COLLISION_BOUNDS_PG_colliders"]["naming"]) == {*COLLIDER_NAME_PATTERNS, "custom"}


@pytest.mark.usefixtures("settings")
@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        (bpy.types.Scene, []),
        (bpy.types.Object, ["COLLISION_BOUNDS_PG_object.padding"]),
        (bpy.types.Collection, []),
    ],
)
def test_only_the_padding_of_objects_can_be_keyframed(owner, expected):
    assert animatable_properties(owner.bl_rna.properties["collision_bounds"].fixed_type) == expected


def animatable_properties(group):
    """Names of the properties of a group, and of the groups in it, that can be keyframed."""
    found = []
    for prop in group.properties:
        if prop.type in ("POINTER", "COLLECTION") and "COLLISION_BOUNDS" in prop.fixed_type.identifier:
            found += animatable_properties(prop.fixed_type)
        elif prop.is_animatable and prop.identifier not in ("rna_type", "name"):
            found.append(f"{group.identifier}.{prop.identifier}")
    return found
