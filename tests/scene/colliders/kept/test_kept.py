"""Colliders that users have edited, and kinds of colliders, which a later run keeps."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.scene.colliders.records import RECORD_PROPERTY, is_edited
from tests.scene.building import CUBE, select_objects
from tests.scene.colliders.creating import KINDS, colliders, create_colliders, world_matrix


@pytest.fixture
def kit(add_mesh):
    """Return four props with colliders of the four kinds."""
    props = [add_mesh(f"Prop {kind}", location=(5 * n, 0, 0)) for n, kind in enumerate(KINDS)]
    for item, kind in zip(props, KINDS, strict=True):
        select_objects(item)
        create_colliders(kind=kind, kept_kinds="unselected")
    select_objects()
    return props


def names() -> set[str]:
    return {item.name for item in colliders()}


OF_KINDS = {f"{prefix}_Prop {kind}_00" for kind, prefix in KINDS.items()}


@pytest.mark.smoke
def test_objects_that_are_not_selected_keep_their_kinds(kit, add_mesh):
    assert names() == OF_KINDS
    assert create_colliders(kind="sphere", kept_kinds="unselected").replaced == 4
    assert names() == OF_KINDS
    select_objects(kit[0])
    create_colliders(kind="sphere", kept_kinds="unselected")
    assert names() == OF_KINDS - {"UBX_Prop box_00"} | {"USP_Prop box_00"}
    add_mesh("New")
    select_objects()
    create_colliders(kind="capsule", kept_kinds="unselected")
    assert names() >= {"UCP_New_00", "USP_Prop box_00", "UCX_Prop hull_00"}, "only new objects get the kind"


def test_selected_collider_stands_for_its_object(kit):
    select_objects(bpy.data.objects["UBX_Prop box_00"])
    create_colliders(kind="hull", kept_kinds="unselected")
    assert names() == OF_KINDS - {"UBX_Prop box_00"} | {"UCX_Prop box_00"}


def test_without_keeping_all_get_the_kind(kit):
    create_colliders(kind="hull")
    assert {name[:3] for name in names()} == {"UCX"}


def test_kind_of_a_pattern_without_it_is_kept(add_mesh):
    add_mesh("Crate", scale=(1, 2, 3))
    create_colliders(kind="sphere", pattern="{name}_{number}-convcolonly")
    count = len(colliders()[0].data.vertices)
    create_colliders(kind="box", pattern="{name}_{number}-convcolonly", kept_kinds="unselected")
    assert len(colliders()[0].data.vertices) == count != 8


def test_colliders_of_earlier_versions_have_the_kind_of_their_name_and_are_replaced(kit):
    for item in colliders():
        del item[RECORD_PROPERTY]
        item.location.z = 5
    result = create_colliders(kind="box", kept_kinds="unselected")
    assert (result.replaced, result.edited) == (4, 0) and names() == OF_KINDS
    assert all(item.location.z == 0 for item in colliders())


def move_vertex(item: bpy.types.Object) -> None:
    item.data.vertices[0].co.x += 0.01


def delete_face(item: bpy.types.Object) -> None:
    mesh = bmesh.new()
    mesh.from_mesh(item.data)
    bmesh.ops.delete(mesh, geom=mesh.faces[:1], context="FACES_ONLY")
    mesh.to_mesh(item.data)
    mesh.free()


def assign_mesh(item: bpy.types.Object) -> None:
    item.data = item.data.copy()
    item.data.transform(Matrix.Scale(2, 4))


EDITS = {
    "moved": lambda item: setattr(item, "location", (0, 0, 0.1)),
    "turned": lambda item: setattr(item, "rotation_euler", (0, 0, 0.1)),
    "scaled": lambda item: setattr(item, "scale", (1.1, 1, 1)),
    "delta": lambda item: setattr(item, "delta_location", (0, 1, 0)),
    "vertex": move_vertex,
    "face": delete_face,
    "mesh": assign_mesh,
    "modifier": lambda item: item.modifiers.new("Bevel", "BEVEL"),
    "constraint": lambda item: item.constraints.new("LIMIT_LOCATION"),
    "shape key": lambda item: item.shape_key_add(name="Basis"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_edited_collider_is_kept_until_edited_ones_are_replaced(kit, edit):
    item = bpy.data.objects["UCX_Prop hull_00"]
    edit(item)
    before = world_matrix(item), [vertex.co[:] for vertex in item.data.vertices], len(item.data.polygons)
    for _ in range(2):
        result = create_colliders(kind="box")
        assert (result.colliders, result.edited) == (3, 1)
        points = [vertex.co[:] for vertex in item.data.vertices]
        assert item.name == "UCX_Prop hull_00" and points == before[1]
        assert np.array_equal(world_matrix(item), before[0]) and len(item.data.polygons) == before[2]
    result = create_colliders(kind="box", replace_edited=True)
    assert (result.colliders, result.edited) == (4, 0)
    assert "UBX_Prop hull_00" in names() and "UCX_Prop hull_00" not in names()


@pytest.mark.smoke
def test_edits_of_the_object_and_a_saved_file_are_no_edits_of_its_colliders(kit, tmp_path):
    """Independent of what is stored: the vertices are those of the cube, and an edit of it is followed."""
    for number, item in enumerate(kit):
        item.location, item.rotation_euler, item.scale = (number, 1, 2), (0.1, 0.2, 0.3), (2, 2, 2)
        item.data.vertices[0].co *= 1.5
        item.name = f"Renamed {number}"
    colliders()[0].hide_set(True)
    colliders()[1].name, colliders()[1].show_name = "My name", True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kit.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kit.blend"))
    assert not any(map(is_edited, colliders()))
    assert create_colliders(kept_kinds="unselected").edited == 0
    (box,) = (item for item in colliders() if item.name.startswith("UBX"))
    lowest = np.min([vertex.co[:] for vertex in box.data.vertices], axis=0)
    np.testing.assert_allclose(lowest, 1.5 * np.array(CUBE)[0])


@pytest.mark.smoke
def test_applying_the_transform_of_an_object_is_no_edit_of_its_colliders(kit):
    for number, item in enumerate(kit):
        item.location, item.rotation_euler, item.scale = (number, 1, 2), (0.1, 0.2, 0.3), (2, 2, 0.5)
    select_objects(*kit)
    create_colliders(kept_kinds="all")
    poses = [world_matrix(item) for item in colliders()]
    bpy.ops.object.transform_apply(location=True, rotation=True, scale=True)
    bpy.ops.object.origin_set(type="ORIGIN_CURSOR")
    np.testing.assert_allclose([world_matrix(item) for item in colliders()], poses, atol=1e-6)
    assert not any(map(is_edited, colliders()))
    for item in colliders():
        item.location.x += 0.01
    assert all(map(is_edited, colliders())), "another change counts"


def test_flat_object_has_edits_of_its_collider_across_it(add_mesh):
    add_mesh("Plate", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    create_colliders(kind="box")
    assert not is_edited(colliders()[0])
    colliders()[0].scale.z = 9
    assert is_edited(colliders()[0])


def test_all_colliders_of_an_object_are_kept_if_one_is_edited(add_mesh, object_settings):
    points = [(x + 0.5 * a, b, c) for x in (0, 5) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    item = add_mesh("Pair", points)
    item.data.clear_geometry()
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    item.data.from_pydata(points, [], quads + [tuple(8 + v for v in quad) for quad in quads])
    item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, "loose_parts"
    create_colliders()
    assert len(colliders()) == 2
    colliders()[1].location.x = 1
    other = bpy.data.objects["UBX_Pair_00"]
    item.data.vertices[0].co.x = -3
    result = create_colliders()
    assert (result.colliders, result.edited) == (0, 1)
    assert min(vertex.co.x for vertex in other.data.vertices) == 0
