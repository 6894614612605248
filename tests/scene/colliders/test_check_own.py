"""Colliders that this project creates pass the check: all kinds, patterns, parents, scales and sources."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.settings import COLLIDER_NAME_PATTERNS, FitSettings
from tests.scene.building import add_object, add_vertices, merged_collection
from tests.scene.colliders.checking import check
from tests.scene.colliders.creating import colliders, create_colliders
from tests.scene.colliders.test_meshes import KINDS, MESHES, POSES
from tests.scene.enclosing import add_two_cubes

pytestmark = pytest.mark.usefixtures("object_settings")

PATTERNS = {
    **COLLIDER_NAME_PATTERNS,
    "custom": "{name} {kind} {number}",
    "like Unreal's": "{prefix}-{name}-{number}",
}


def assert_right(count: int) -> None:
    """Assert that so many colliders are checked, and that they have no problem."""
    found = check()
    assert found.problems == ()
    assert len(found.colliders) == count
    assert all(entry.mesh is not None for entry in found.colliders)


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("kind", KINDS)
def test_colliders_of_all_meshes_and_poses_are_right(kind, pose):
    for name, points in MESHES.items():
        add_vertices(name, points, **POSES[pose])
    assert create_colliders(kind=kind).skipped == []
    assert_right(len(MESHES))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", KINDS)
def test_colliders_of_all_patterns_and_poses_are_right(kind, pattern):
    for pose, attributes in POSES.items():
        add_vertices(f"Cloud {pose}", MESHES["cloud"], **attributes)
    assert create_colliders(kind=kind, pattern=PATTERNS[pattern]).skipped == []
    assert_right(len(POSES))


def add_family() -> None:
    """Add a sheared object, a mirrored one, copies, loose parts, custom shapes, and a merged collection."""
    cloud = MESHES["cloud"]
    parent = add_vertices("Parent", cloud, scale=(3, 1, 1), location=(10, 2, 3))
    add_vertices("Child", cloud, rotation_euler=(0.2, 0.3, 0.7), parent=parent)
    add_vertices("Child.001", cloud, rotation_euler=(0.2, 0.3, 0.7), parent=parent, scale=(-2, 1, 1))
    parts = add_two_cubes("Two_01", scale=(1, 2, 1)).collision_bounds
    parts.use_object_settings, parts.bounds_for = True, "loose_parts"
    add_vertices("Two", cloud)
    ball = add_vertices("Ball", cloud, scale=(1, 2, 1)).collision_bounds
    ball.override, ball.radius = "sphere", 0.1
    add_vertices("Block", cloud, scale=(1, 2, 1)).collision_bounds.override = "box"
    members = [add_vertices(f"Member {k}", cloud, location=(7 * k, 0, 0)) for k in range(2)]
    merged_collection("Merged", *members)
    empty = add_object("Empty")
    row = add_vertices("Row", cloud, parent=empty)
    row.modifiers.new("Array", "ARRAY").count = 3


FAMILY_COLLIDERS = 10


# Blenders do not differ in names: one pattern is enough on each of them.
@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param("unreal", marks=pytest.mark.smoke),
        *(pytest.param(name, marks=pytest.mark.long) for name in ("unity", "godot", "custom")),
    ],
)
def test_colliders_of_parents_parts_and_collections_are_right(pattern):
    add_family()
    for kind in KINDS:
        assert create_colliders(kind=kind, pattern=PATTERNS[pattern]).skipped == []
        assert_right(FAMILY_COLLIDERS)


def test_colliders_with_padding_and_base_meshes_are_right():
    add_family()
    fit = FitSettings(parts=1, padding=0.1, modifiers="base")
    create_colliders(kind="hull", fit=fit)
    assert check(fit=fit).problems == ()
    # The evaluated mesh of the row is three times as long.
    assert [entry.name for entry in check().problems] == ["Row"]


@pytest.mark.parametrize("how", ["eye", "collection", "both with source"])
def test_hidden_colliders_are_checked_and_stay_hidden(how):
    add_family()
    create_colliders(kind="sphere")
    if how == "collection":
        bpy.context.view_layer.layer_collection.children["Colliders"].exclude = True
    for item in colliders() if how != "collection" else ():
        item.hide_set(True)
        if how == "both with source" and item.parent is not None:
            item.parent.hide_set(True)
    assert_right(FAMILY_COLLIDERS)
    # A vertex is moved out of a hidden collider.
    bpy.data.objects["Two"].data.vertices[0].co[0] = 50
    (found,) = check().problems
    assert (found.name, found.kind) == ("Two", "outside")
    assert len(bpy.data.scenes) == 1


def test_collider_of_renamed_or_deleted_source_is_a_problem():
    item = add_vertices("Crate", MESHES["cloud"])
    create_colliders(kind="box")
    create_colliders(kind="box", pattern="{name} {number}")
    assert_right(1)
    # A custom pattern is not checked, because its engine is not known.
    item.name = "Box"
    assert_right(1)
    create_colliders(kind="box")
    item.name = "Crate"
    (found,) = check().problems
    assert (found.name, found.kind) == ("UBX_Box_00", "name")
    bpy.data.objects.remove(item)
    (found,) = check().problems
    assert (found.name, found.kind) == ("UBX_Box_00", "mesh")
    bpy.data.objects["UBX_Box_00"].name = "Shape"
    (found,) = check().problems
    assert found.text == "belongs to no object: its object was deleted or renamed"


def test_collection_and_mesh_of_same_name_have_separate_colliders():
    add_family()
    add_vertices("Merged", MESHES["line"], location=(0, 0, 90))
    create_colliders(kind="hull")
    assert_right(FAMILY_COLLIDERS + 1)


def test_disabled_collider_is_a_problem_because_it_cannot_be_checked():
    add_vertices("Crate", MESHES["cloud"])
    create_colliders(kind="box")
    bpy.data.objects["UBX_Crate_00"].hide_viewport = True
    (found,) = check().problems
    assert (found.name, found.kind) == ("UBX_Crate_00", "unreadable")
    bpy.data.objects["UBX_Crate_00"].hide_viewport = False
    bpy.data.objects["Crate"].hide_viewport = True
    (found,) = check().problems
    assert (found.name, found.kind) == ("Crate", "unreadable")


def test_animated_objects_are_checked_at_current_frame():
    item = add_vertices("Crate", MESHES["cloud"])
    create_colliders(kind="box")
    item.shape_key_add(name="Basis")
    key = item.shape_key_add(name="Grown")
    for point in key.data:
        point.co *= 2
    for frame, value in ((1, 0.0), (11, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for is_hidden in (False, True):
        bpy.data.objects["UBX_Crate_00"].hide_set(is_hidden)
        bpy.context.scene.frame_set(1)
        assert check().problems == ()
        bpy.context.scene.frame_set(11)
        assert [entry.kind for entry in check().problems] == ["outside"]


def test_nothing_in_the_file_changes():
    add_family()
    create_colliders(kind="hull")
    bpy.data.objects["UCX_Row_00"].hide_set(True)
    bpy.context.view_layer.update()

    def state() -> list[object]:
        collections = [getattr(bpy.data, name) for name in ("objects", "meshes", "scenes", "collections")]
        names = [[item.name for item in collection] for collection in collections]
        matrices = [[tuple(row) for row in item.matrix_world] for item in bpy.data.objects]
        hidden = [item.hide_get() for item in bpy.context.view_layer.objects]
        return [names, matrices, hidden, bpy.context.scene.frame_current, bpy.context.scene.name]

    before = state()
    assert check().problems == ()
    assert state() == before
