"""Levels of detail: recognized by their names, and one collider for all levels of an object."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.collider_names import base_name, collision_levels
from addon.scene.colliders.chosen_vertices import make_group_colliders
from addon.scene.settings import COLLIDER_NAME_PATTERNS, ColliderSettings, Selection
from tests.scene.building import open_empty_file
from tests.scene.colliders.checking import add_cube, check
from tests.scene.colliders.creating import colliders, create_colliders, skip_reasons

REASON = "is a level of detail: the most detailed one has the collider"
WITH_BASE = "{prefix}_{base}_{number}"


@pytest.fixture(autouse=True)
def _empty_file():
    open_empty_file()


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("Crate_LOD1", "Crate"),
        ("Crate.lod0", "Crate"),
        ("Crate-Lod_3", "Crate"),
        ("CrateLOD12", "Crate"),
        ("Crate_LOD_2", "Crate"),
        ("Crate_LOD1.001", "Crate.001"),
        ("Crate_02_LOD0", "Crate_02"),
        ("Crate", "Crate"),
        ("LOD1", "LOD1"),
        ("Crate_LOD1_old", "Crate_LOD1_old"),
        ("Melod2", "Melod2"),
        ("Crate_LOD", "Crate_LOD"),
    ],
)
def test_base_is_the_name_without_level_of_detail(name, base):
    assert base_name(name) == base


@pytest.mark.parametrize(
    ("names", "covered"),
    [
        (["A_LOD0", "A_LOD1", "A_LOD2"], {"A_LOD1": "A_LOD0", "A_LOD2": "A_LOD0"}),
        (["A_LOD2", "A_LOD10"], {"A_LOD10": "A_LOD2"}),
        (["A", "A_LOD1"], {"A_LOD1": "A"}),
        (["A", "A_LOD0", "A_LOD1"], {"A_LOD1": "A_LOD0"}),
        (["A_LOD1"], {}),
        (["A", "B_LOD0", "C_LOD1"], {}),
        (["A_LOD0", "A_LOD1", "A_LOD0.001", "A_LOD1.001"], {"A_LOD1": "A_LOD0", "A_LOD1.001": "A_LOD0.001"}),
        (["A_LOD0", "A.LOD0", "A_LOD1"], {"A_LOD1": "A.LOD0"}),
        ([], {}),
    ],
)
def test_most_detailed_level_has_the_collision(names, covered):
    assert collision_levels(names) == {name: name for name in names} | covered


@pytest.mark.parametrize("pattern", [*COLLIDER_NAME_PATTERNS.values(), WITH_BASE, "{base}-colonly"])
def test_only_the_most_detailed_level_gets_a_collider(pattern):
    for level in (2, 0, 1):
        add_cube(f"Crate_LOD{level}")
    add_cube("Barrel")
    result = create_colliders(pattern=pattern)
    assert {item.parent.name for item in colliders()} == {"Crate_LOD0", "Barrel"}
    assert skip_reasons(result) == {"Crate_LOD1": REASON, "Crate_LOD2": REASON}
    assert (result.colliders, result.sources) == (2, 2)


def test_collider_by_base_is_named_after_all_levels():
    for name in ("Crate_LOD0", "Crate_LOD1", "Crate_LOD0.001", "Crate_LOD1.001"):
        add_cube(name)
    create_colliders(pattern=WITH_BASE)
    assert {item.name for item in colliders()} == {"UBX_Crate_00", "UBX_Crate.001_00"}


def test_a_selected_level_gets_the_collider():
    for level in range(3):
        add_cube(f"Crate_LOD{level}")
    assert create_colliders(selection=Selection(("Crate_LOD2",))).skipped == []
    assert [item.parent.name for item in colliders()] == ["Crate_LOD2"]


def test_level_without_collision_response_leaves_the_collider_to_the_next_one(object_settings):
    for level in range(3):
        add_cube(f"Crate_LOD{level}")
    bpy.data.objects["Crate_LOD0"].collision_bounds.response = "none"
    result = create_colliders()
    assert [item.parent.name for item in colliders()] == ["Crate_LOD1"]
    assert set(skip_reasons(result)) == {"Crate_LOD0", "Crate_LOD2"}


def test_colliders_of_other_levels_are_replaced():
    for level in range(3):
        add_cube(f"Crate_LOD{level}")
        create_colliders(selection=Selection((f"Crate_LOD{level}",)))
    assert len(colliders()) == 3
    assert create_colliders().replaced == 3
    assert [item.name for item in colliders()] == ["UBX_Crate_LOD0_00"]


def test_loose_parts_of_the_most_detailed_level_each_get_a_collider(object_settings):
    for level in range(2):
        item = add_cube(f"Crate_LOD{level}")
        item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
        other = add_cube("Other")
        other.location = (9, 0, 0)
        bpy.context.view_layer.update()
        with bpy.context.temp_override(active_object=item, selected_editable_objects=[item, other]):
            bpy.ops.object.join()
    assert create_colliders().colliders == 2
    assert {item.parent.name for item in colliders()} == {"Crate_LOD0"}


def test_vertex_group_of_all_levels_gets_one_collider():
    for level in range(3):
        item = add_cube(f"Crate_LOD{level}")
        if level:
            item.vertex_groups.new(name="Arm").add(range(8), 1.0, "REPLACE")
    bpy.context.view_layer.update()
    result = make_group_colliders(bpy.context.scene, ColliderSettings(), "Arm")
    assert [item.parent.name for item in colliders()] == ["Crate_LOD1"]
    assert skip_reasons(result) == {
        "Crate_LOD0": "has no vertex group 'Arm'",
        "Crate_LOD2": REASON,
    }


def test_collider_of_another_tool_without_level_is_a_problem_that_names_the_right_name():
    # Unreal looks for a mesh of exactly this name, and levels of detail keep their names.
    for level in range(2):
        add_cube(f"Crate_LOD{level}")
    add_cube("UCX_Crate_00")
    (found,) = check().problems
    assert (found.name, found.kind) == ("UCX_Crate_00", "name")
    assert found.text.endswith("rename it to 'UCX_Crate_LOD0_00'")
