"""Vertices of bones that are kept: read again after each edit of the weights, and not for other poses."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.scene.blender.parts import known_rows, mesh_parts
from addon.scene.blender.parts.weights import group_weights
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings, Selection
from tests.scene.blender.parts.rigs import add_rig, add_tube, evaluated_vertices, heaviest, rotate_bones

pytestmark = pytest.mark.usefixtures("object_settings")


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the objects whose weights are read."""
    names: list[str] = []

    def record(evaluated, *arguments):
        names.append(evaluated.name)
        return group_weights(evaluated, *arguments)

    monkeypatch.setattr(mesh_parts, "group_weights", record)
    return names


def rows_by_loop(item: bpy.types.Object, rig: bpy.types.Object) -> dict[str, np.ndarray]:
    """Heights of the vertices of each bone, by a loop over the evaluated mesh."""
    points, weights = evaluated_vertices(item)
    names = [bone.name for bone in rig.data.bones if bone.use_deform]
    owners = np.array([heaviest(each, names) for each in weights])
    return {bone: points[owners == bone] for bone in set(owners.tolist())}


def assert_bounds_are_of_the_weights(item: bpy.types.Object, rig: bpy.types.Object, **fit: object) -> None:
    """Compare boxes with those of a loop over the vertices."""
    settings = BoundsSettings(Selection(split_by_bones=True), ("aabb",), FitSettings(**fit))
    result = compute_bounds(bpy.context.scene, settings)
    found = {entry.bone: entry.world[0] for entry in result.objects if entry.name.startswith(item.name)}
    expected = rows_by_loop(item, rig)
    assert set(found) == set(expected)
    for bone, points in expected.items():
        assert found[bone].min == pytest.approx(points.min(axis=0), abs=2e-6)
        assert found[bone].max == pytest.approx(points.max(axis=0), abs=2e-6)


def character(name: str = "Tube") -> tuple[bpy.types.Object, bpy.types.Object]:
    rig = add_rig()
    tube = add_tube(rig, name)
    tube.parent = rig
    return rig, tube


@pytest.mark.smoke
def test_weights_are_read_once_for_all_poses_and_jobs(readings):
    rig, tube = character()
    for angle in (0.0, 0.4, 0.9):
        rotate_bones(rig, {1: angle})
        assert_bounds_are_of_the_weights(tube, rig)
    rotate_bones(rig, {1: 0.0}, 1)
    rotate_bones(rig, {1: 1.2}, 5)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
    compute_bounds(
        bpy.context.scene,
        BoundsSettings(Selection(split_by_bones=True), fit=FitSettings(bone_frames="all")),
    )
    assert readings == ["Tube"]


def by_adding(tube: bpy.types.Object) -> None:
    tube.vertex_groups["Bone 2"].add(list(range(60)), 1.0, "REPLACE")


def by_removing(tube: bpy.types.Object) -> None:
    tube.vertex_groups["Bone 1"].remove(list(range(180)))


def by_value(tube: bpy.types.Object) -> None:
    for vertex in list(tube.data.vertices)[:150]:
        for entry in vertex.groups:
            entry.weight = 1 - entry.weight


def by_operator(tube: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = tube
    bpy.ops.object.vertex_group_invert(group_select_mode="ALL")


def by_groups(tube: bpy.types.Object) -> None:
    tube.vertex_groups["Bone 1"].name = "Other"


def by_order(tube: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = tube
    tube.vertex_groups.active_index = 0
    bpy.ops.object.vertex_group_move(direction="DOWN")


def by_deform(tube: bpy.types.Object) -> None:
    tube.find_armature().data.bones["Bone 1"].use_deform = False


def by_mesh(tube: bpy.types.Object) -> None:
    tube.data = tube.data.copy()
    by_adding(tube)


def by_edit_mode(tube: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = tube
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    tube.vertex_groups.active_index = 2
    bpy.ops.object.vertex_group_assign()
    bpy.ops.object.mode_set(mode="OBJECT")


def by_modifier(tube: bpy.types.Object) -> None:
    modifier = tube.modifiers.new("Edit", "VERTEX_WEIGHT_EDIT")
    modifier.vertex_group, modifier.use_add, modifier.add_threshold = "Bone 2", True, 0.0
    modifier.default_weight = 1.0


def by_subdivision(tube: bpy.types.Object) -> None:
    tube.modifiers.new("Subdivision", "SUBSURF").levels = 1


EDITS = (
    by_adding,
    by_removing,
    by_value,
    by_operator,
    by_groups,
    by_order,
    by_deform,
    by_mesh,
    by_edit_mode,
    by_modifier,
    by_subdivision,
)


@pytest.mark.smoke
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("then", ["update", "frame", "nothing"])
def test_weights_are_read_again_after_an_edit(edit, then):
    rig, tube = character()
    assert_bounds_are_of_the_weights(tube, rig)
    before = {bone: len(points) for bone, points in rows_by_loop(tube, rig).items()}
    edit(tube)
    if then == "update":
        bpy.context.view_layer.update()
    elif then == "frame":
        bpy.context.scene.frame_set(7)
    assert_bounds_are_of_the_weights(tube, rig)
    if edit is not by_order:
        assert {bone: len(points) for bone, points in rows_by_loop(tube, rig).items()} != before
    # Again, from what is kept now.
    assert_bounds_are_of_the_weights(tube, rig)


def test_weights_of_an_edited_mesh_are_read_again_for_all_its_objects(readings):
    rig, tube = character()
    second = tube.copy()
    second.name, second.location = "Second", (4, 0, 0)
    bpy.context.scene.collection.objects.link(second)
    for item in (tube, second):
        assert_bounds_are_of_the_weights(item, rig)
    assert len(readings) == 1  # one mesh
    by_adding(second)
    for item in (tube, second):
        assert_bounds_are_of_the_weights(item, rig)
    assert len(readings) == 2


def test_base_mesh_is_read_again_after_an_edit():
    rig, tube = character()
    for edit in (lambda _: None, by_adding, by_value):
        edit(tube)
        assert_bounds_are_of_the_weights(tube, rig, modifiers="base")


def test_undo_of_an_edit_is_noticed():
    bpy.context.preferences.edit.use_global_undo = True
    character()
    bpy.ops.ed.undo_push(message="before")
    tube = bpy.data.objects["Tube"]
    by_adding(tube)
    bpy.ops.ed.undo_push(message="after")
    assert_bounds_are_of_the_weights(tube, bpy.data.objects["Rig"])
    bpy.ops.ed.undo()
    assert_bounds_are_of_the_weights(bpy.data.objects["Tube"], bpy.data.objects["Rig"])


def test_edit_before_the_first_evaluation_of_a_view_layer_is_noticed():
    """Nobody evaluates the mesh when it is edited, and Blender does not report it later."""
    rig, tube = character()
    scene = bpy.context.scene
    layers, home = list(scene.view_layers), bpy.context.window.view_layer
    apart = bpy.data.collections.new("Apart")
    scene.collection.children.link(apart)
    for collection in tube.users_collection:
        collection.objects.unlink(tube)
    apart.objects.link(tube)
    other = scene.view_layers.new("Other")
    assert_bounds_are_of_the_weights(tube, rig)
    layers[0].layer_collection.children["Apart"].exclude = True
    bpy.context.view_layer.update()
    by_adding(tube)
    bpy.context.window.view_layer = other
    try:
        assert bpy.context.view_layer == other
        assert_bounds_are_of_the_weights(tube, rig)
    finally:
        bpy.context.window.view_layer = home


@pytest.mark.parametrize("name", ["depsgraph_update_post", "frame_change_post"])
def test_nothing_is_kept_where_a_script_has_removed_the_handlers(readings, name):
    rig, tube = character()
    assert_bounds_are_of_the_weights(tube, rig)
    getattr(bpy.app.handlers, name).clear()
    by_adding(tube)
    assert_bounds_are_of_the_weights(tube, rig)
    assert len(readings) == 3
    known_rows.detach()
    assert not any(
        function.__module__ == known_rows.__name__
        for name in ("depsgraph_update_post", "frame_change_post", "undo_post", "redo_post", "load_post")
        for function in getattr(bpy.app.handlers, name)
    )


def test_edit_without_handlers_is_noticed_after_they_are_attached_again():
    rig, tube = character()
    assert_bounds_are_of_the_weights(tube, rig)
    bpy.app.handlers.depsgraph_update_post.clear()
    by_adding(tube)
    bpy.context.view_layer.update()
    known_rows.attach()
    assert_bounds_are_of_the_weights(tube, rig)
    assert len([each for each in bpy.app.handlers.frame_change_post if each in known_rows.HANDLERS]) == 1


def test_rows_of_few_meshes_are_kept(monkeypatch, readings):
    monkeypatch.setattr(known_rows, "_MOST_MESHES", 2)
    rig = add_rig()
    tubes = [add_tube(rig, name) for name in ("A", "B", "C")]
    for tube in (tubes[0], tubes[1], tubes[0], tubes[2], tubes[0], tubes[1]):
        evaluated = tube.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh_parts.bone_rows(evaluated, "evaluated", 1.0)
    assert readings == ["A", "B", "C", "B"]
