"""Colliders of a selection: sources that get colliders, and sources that are skipped with a reason."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.colliders.make import SceneError, remove_colliders
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import (
    BoundsSettings,
    ColliderSettings,
    FitSettings,
    Selection,
)
from tests.scene.building import (
    CUBE,
    add_instance,
    add_object,
    hidden_collection,
    merged_collection,
    select_objects,
)
from tests.scene.colliders.creating import (
    colliders,
    create_colliders,
    make_colliders,
    skip_reasons,
)


def test_only_colliders_of_selection_are_replaced(add_mesh):
    for name in "AB":
        add_mesh(name)
    create_colliders()
    create_colliders(kind="hull", selection=Selection(patterns=("A",)))
    assert {item.name for item in colliders()} == {"UCX_A_00", "UBX_B_00"}


def test_override_keeps_its_shape_with_any_kind(add_mesh, object_settings):
    box, ball = add_mesh("Box"), add_mesh("Ball", scale=(1, 3, 1))
    for item, override in ((box, "box"), (ball, "sphere")):
        settings = item.collision_bounds
        settings.override, settings.center, settings.half_extents = override, (1, 0, 0), (3, 2, 1)
        settings.radius = 0.5
    create_colliders(kind="hull")
    assert {item.name for item in colliders()} == {"UBX_Box_00", "USP_Ball_00"}
    points = np.array([v.co for v in bpy.data.objects["UBX_Box_00"].data.vertices])
    assert points.min(axis=0).tolist() == [-2, -2, -1] and points.max(axis=0).tolist() == [4, 2, 1]
    bpy.context.view_layer.update()
    ball = bpy.data.objects["USP_Ball_00"]
    vertices = np.array([ball.matrix_world @ v.co for v in ball.data.vertices])
    # The sphere around an ellipsoid, because the scale along Y is 3.
    assert np.linalg.norm(vertices - [1, 0, 0], axis=1) == pytest.approx(1.5 * 1.018, rel=1e-3)


def test_merged_collection_has_collider_in_world(add_mesh, object_settings):
    items = [add_mesh(name, location=(x, 1, 0)) for name, x in (("A", -4), ("B", 4))]
    merged_collection("Group", *items)
    for _ in range(2):
        create_colliders()
        (collider,) = colliders()
        assert collider.name == "UBX_Group_00" and collider.parent is None
        points = np.array([v.co for v in collider.data.vertices])
        assert points.min(axis=0).tolist() == [-5, 0, -1] and points.max(axis=0).tolist() == [5, 2, 1]


def test_instances_are_skipped_with_remedy(add_mesh):
    item = add_mesh("Part")
    inner = hidden_collection("Inner", item)
    add_instance("Instance", inner)
    result = create_colliders()
    assert result.colliders == 0 and "Make Instances Real" in skip_reasons(result)["Instance/Part.0"]
    assert not bpy.data.collections.get("Colliders"), "no collection without colliders"


def test_path_that_moves_children_is_skipped(empty_file):
    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions, data.bevel_depth = "3D", 0.1
    spline = data.splines.new("POLY")
    spline.points.add(2)
    for index, point in enumerate(spline.points):
        point.co = (index * 2 + 1, index, 0, 1)
    path = add_object("Path", data)
    assert create_colliders().colliders == 1
    # With this setting Blender moves children along the path.
    data.use_path = True
    bpy.context.view_layer.update()
    assert np.abs(np.array(colliders()[0].matrix_world) - np.array(path.matrix_world)).max() > 0.5
    assert "Path Animation" in skip_reasons(create_colliders())["Path"]


@pytest.mark.smoke
def test_linked_objects_get_local_children_and_linked_colliders_stay(add_mesh, tmp_path):
    add_mesh("Crate")
    create_colliders()
    library = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.objects = ["Crate", "UBX_Crate_00"]
    for item in into.objects:
        bpy.context.scene.collection.objects.link(item)
    create_colliders()
    local = [item for item in colliders() if not item.library]
    assert [(item.name, item.parent.library is not None) for item in local] == [("UBX_Crate_00", True)]
    assert remove_colliders(bpy.context.scene) == 1
    assert [item.name for item in colliders()] == ["UBX_Crate_00"]


def test_linked_scene_is_rejected_without_leftovers(add_mesh, tmp_path):
    add_mesh("Crate")
    bpy.context.scene.name = "Level"
    library = tmp_path / "library.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.scenes = ["Level"]
    (level,) = into.scenes
    with (
        bpy.context.temp_override(scene=level, view_layer=level.view_layers[0]),
        pytest.raises(SceneError, match="scene 'Level' is linked from another file"),
    ):
        make_colliders(level, ColliderSettings())
    assert not bpy.data.collections and [item.name for item in bpy.data.objects] == ["Crate"]


def test_objects_of_background_scene_are_skipped(add_mesh):
    add_mesh("Crate")
    background = bpy.data.scenes.new("Behind")
    background.collection.objects.link(bpy.data.objects.new("House", bpy.data.objects["Crate"].data))
    bpy.context.scene.background_set = background
    result = create_colliders()
    assert [item.name for item in colliders()] == ["UBX_Crate_00"]
    assert "background" in skip_reasons(result)["House"]


@pytest.mark.parametrize("instancing", ["VERTS", "FACES"])
def test_object_that_instances_its_children_is_skipped(add_mesh, instancing):
    grid = add_mesh("Grid")
    grid.data.clear_geometry()
    grid.data.from_pydata(CUBE.tolist(), [], [(0, 1, 3, 2), (4, 6, 7, 5)])
    create_colliders()
    # With this setting Blender shows an instance of each child on every vertex or face.
    grid.instance_type = instancing
    bpy.context.view_layer.update()
    instances = [
        instance.object.name
        for instance in bpy.context.evaluated_depsgraph_get().object_instances
        if instance.is_instance
    ]
    assert instances.count("UBX_Grid_00") == {"VERTS": 8, "FACES": 2}[instancing]
    assert "Instancing" in skip_reasons(create_colliders())["Grid"]


def test_skipped_source_changes_nothing(add_mesh):
    add_mesh("Crate")
    create_colliders()
    collider = colliders()[0]
    collider.users_collection[0].objects.unlink(collider)
    bpy.context.scene.collection.objects.link(collider)
    bpy.data.objects["Crate"].hide_viewport = True
    assert create_colliders().colliders == 0
    assert "Colliders" in bpy.data.collections


def test_colliders_are_not_subjects(add_mesh):
    add_mesh("Crate")
    create_colliders()
    bpy.context.view_layer.update()
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    assert [entry.name for entry in result.objects] == ["Crate"]
    assert {entry.name for entry in result.skipped} == {"UBX_Crate_00"}
    with pytest.raises(SceneError, match="is a collider of another object"):
        create_colliders(selection=Selection(patterns=("UBX_*",)))


def test_selected_collider_stands_for_its_object(add_mesh):
    crate = add_mesh("Crate")
    add_mesh("Other", location=(9, 0, 0))
    create_colliders()
    bpy.context.view_layer.update()
    select_objects(bpy.data.objects["UBX_Crate_00"])
    assert create_colliders(selection=Selection(selected_only=True)).sources == 1
    result = compute_bounds(bpy.context.scene, BoundsSettings(selection=Selection(selected_only=True)))
    assert [entry.name for entry in result.objects] == ["Crate"]
    assert bpy.data.objects["UBX_Crate_00"].parent == crate


def test_subjects_that_cannot_be_bounded_get_no_collider(add_mesh):
    add_mesh("Empty", [])
    add_mesh("Flattened", scale=(1, 0, 1))
    add_mesh("Padded")
    add_mesh("Broken", [(0, 0, 0), (1, float("nan"), 0), (2, 0, 0)])
    reasons = skip_reasons(create_colliders(kind="hull", fit=FitSettings(parts=1, padding=-0.1)))
    assert reasons["Empty"] == "no vertices"
    assert "scale is 0" in reasons["Flattened"]
    assert "cannot shrink" in reasons["Padded"]
    for kind in ("box", "sphere", "capsule", "hull"):
        assert skip_reasons(create_colliders(kind=kind, fit=FitSettings(parts=1, padding=-2.0)))[
            "Broken"
        ] == ("has a vertex with non-finite coordinates")
    assert (
        "larger than the shape"
        in skip_reasons(create_colliders(fit=FitSettings(parts=1, padding=-2.0)))["Padded"]
    )
    assert not colliders()
