"""Colliders that users or other tools made: their names alone keep them from being subjects."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.blender.object_settings import collider_owner, is_collider
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, ColliderSettings
from tests.scene.building import CUBE, add_vertices
from tests.scene.colliders.creating import make_colliders
from tests.scene.sampling import key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

BOX = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
COLLIDERS = (
    "UCX_Crate_00",
    "UBX_Crate",
    "USP_Crate.001",
    "UCP_Crate_1",
    "Crate-colonly",
    "Crate-convcolonly",
)
UNITY = ("Crate_BoxCollider_00", "Crate_MeshCollider")
MESHES = ("Crate", "Crate-col", "Crate-convcol", "Bucket", "UCXl", "Ubx", "Stool_Box")


def add_box(name: str) -> bpy.types.Object:
    return add_vertices(name, CUBE, BOX)


@pytest.mark.parametrize("name", [*COLLIDERS, *UNITY])
def test_name_of_a_collider_belongs_to_its_mesh(name):
    crate, collider = add_box("Crate"), add_box(name)
    assert is_collider(collider)
    assert collider_owner(collider) == crate


@pytest.mark.parametrize("name", MESHES)
def test_name_of_a_visible_mesh_is_no_collider(name):
    assert not is_collider(add_box(name))


def test_name_with_a_defect_needs_a_mesh_that_it_belongs_to():
    wrong = add_box("UCXCrate")
    assert not is_collider(wrong)
    add_box("Crate")
    assert is_collider(wrong)


def test_mesh_does_not_touch_its_colliders_whoever_made_them():
    for name in ("Crate", *COLLIDERS, *UNITY):
        key(add_box(name), "location", [(1, (0, 0, 0)), (11, (5, 0, 0))])
    bpy.context.scene.frame_end = 11
    result = scan_scene()
    assert [subject.name for subject in result.subjects] == ["Crate"]
    assert not result.report.contacts
    assert {entry.name: entry.reason for entry in result.skipped} == dict.fromkeys(
        (*COLLIDERS, *UNITY), "is a collider of another object"
    )


def test_collider_without_a_mesh_is_skipped_with_its_own_reason():
    add_box("Floor-colonly")
    add_box("Wall")
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    assert [subject.name for subject in result.subjects] == ["Wall"]
    (skipped,) = result.skipped
    assert skipped.reason == "has the name of a collider: rename it to use it as a mesh"


def test_colliders_get_no_colliders():
    for name in ("Crate", *COLLIDERS, *UNITY):
        add_box(name)
    before = set(bpy.data.objects)
    make_colliders(bpy.context.scene, ColliderSettings())
    made = set(bpy.data.objects) - before
    assert {item.parent.name for item in made} == {"Crate"}
