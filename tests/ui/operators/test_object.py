"""Operators of an object: copying settings, overrides from the fit, and fit statistics."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest

from addon.scene.jobs import result_store
from addon.ui import kept_checks
from tests.scene.building import (
    add_vertices,
    fill_settings,
    select_objects,
    settings_values,
)

pytestmark = pytest.mark.usefixtures("settings")


def test_copy_to_selected_copies_to_all_selected_objects():
    source, *targets = [add_vertices(f"Part {number}") for number in range(5)]
    fill_settings(source.collision_bounds)
    select_objects(source, *targets[:3])
    assert bpy.ops.collision_bounds.copy_to_selected() == {"FINISHED"}
    for item in targets[:3]:
        assert item.collision_bounds.modifiers == "base" and item.collision_bounds.padding == 0.25
        assert item.collision_bounds.override == "none", "an override is copied only with override=True"
    assert not targets[3].collision_bounds.use_object_settings
    bpy.ops.collision_bounds.copy_to_selected(settings=False, override=True)
    assert settings_values(targets[0].collision_bounds) == settings_values(source.collision_bounds)


def test_copy_to_selected_is_unavailable_without_other_objects():
    select_objects(add_vertices("A"))
    assert not bpy.ops.collision_bounds.copy_to_selected.poll()
    select_objects()
    assert not bpy.ops.collision_bounds.copy_to_selected.poll()


def add_rig(name, at):
    """Add a mesh at a height, whose halves move with one of two bones each, and return it."""
    bpy.ops.object.armature_add(location=(0, 0, at))
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones[0].name = "Lower"
    upper = rig.data.edit_bones.new("Upper")
    upper.head, upper.tail = (0, 0, 1), (0, 0, 2)
    bpy.ops.object.mode_set(mode="OBJECT")
    item = add_vertices(name, [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 0.5, 1.5, 2)])
    item.location.z = at
    for vertex in item.data.vertices:
        bone = "Lower" if vertex.co.z < 1 else "Upper"
        group = item.vertex_groups.get(bone) or item.vertex_groups.new(name=bone)
        group.add([vertex.index], 1.0, "REPLACE")
    item.modifiers.new("Armature", "ARMATURE").object = rig
    return item


def test_two_clicks_give_all_characters_bounds_for_each_bone_and_leave_props_whole():
    characters, prop = [add_rig("Anna", 0), add_rig("Ben", 5)], add_vertices("Table")
    select_objects()
    assert bpy.ops.collision_bounds.split_objects(bounds_for="bones") == {"FINISHED"}
    assert not prop.collision_bounds.use_object_settings
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    result = result_store.get(bpy.context.scene.collision_bounds.result_id).bounds
    names = sorted(entry.name for entry in result.objects)
    assert names == [
        *(f"{name}/bone.{bone}" for name in ("Anna", "Ben") for bone in ("Lower", "Upper")),
        "Table",
    ]
    select_objects(characters[0])
    assert bpy.ops.collision_bounds.split_objects(bounds_for="object") == {"FINISHED"}
    assert [item.collision_bounds.bounds_for for item in characters] == ["object", "bones"]


def test_split_without_such_parts_changes_nothing():
    select_objects(add_vertices("Table"))
    assert bpy.ops.collision_bounds.split_objects(bounds_for="bones") == {"CANCELLED"}


@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_start_from_fit_encloses_every_vertex_of_selected_objects(shape):
    rng = np.random.default_rng(2)
    items = [add_vertices(f"Cloud {n}", rng.normal(size=(50, 3)) * 3 + 7, scale=(1, 2, 3)) for n in range(3)]
    select_objects(*items)
    assert bpy.ops.collision_bounds.override_from_fit(shape=shape) == {"FINISHED"}
    for item in items:
        settings = item.collision_bounds
        points = np.array([tuple(vertex.co) for vertex in item.data.vertices], dtype=np.float64)
        offsets = points - np.array(settings.center, dtype=np.float64)
        assert settings.override == shape
        if shape == "sphere":
            assert (np.linalg.norm(offsets, axis=1) <= settings.radius).all()
        else:
            assert (np.abs(offsets) <= np.array(settings.half_extents)).all()
    measure = kept_checks.find_measurement(items[0], bpy.context.scene.collision_bounds)
    assert measure.quality.outside == 0


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_vertex_that_is_not_finite_is_reported(number, capfd):
    select_objects(add_vertices("Broken", [(0, 0, 0), (1, number, 0), (2, 0, 0)]))
    message = "Broken: has a vertex with non-finite coordinates"
    for shape in ("box", "sphere"):
        assert bpy.ops.collision_bounds.override_from_fit(shape=shape) == {"CANCELLED"}
        assert message in capfd.readouterr().out
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.collision_bounds.measure_fit()


def test_compute_reports_vertices_outside_override():
    item = add_vertices("A")
    item.collision_bounds.override, item.collision_bounds.half_extents = "box", (0.5, 0.5, 0.5)
    select_objects(item)
    bpy.ops.collision_bounds.compute_bounds()
    result = result_store.get(bpy.context.scene.collision_bounds.result_id).bounds
    assert result.objects_outside_override == ("A",)
    assert result.document()["objects"][0]["override"] == "box"


def test_fit_statistics_are_stale_after_object_or_settings_change():
    item = add_vertices("A")
    select_objects(item)
    settings = bpy.context.scene.collision_bounds

    def measure():
        return kept_checks.find_measurement(item, settings)

    assert measure() is None
    bpy.ops.collision_bounds.measure_fit()
    assert not measure().stale
    settings.padding = 1.0
    assert measure().stale
    settings.padding = 0.0
    assert not measure().stale
    item.location.x = 3.0
    bpy.context.view_layer.update()
    assert measure().stale
    bpy.ops.collision_bounds.measure_fit()
    assert not measure().stale


def test_vertices_of_the_group_of_compute_bounds_are_measured():
    item = add_vertices("A", [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 4)], [(0, 2, 6, 4)])
    group = item.vertex_groups.new(name="Bottom")
    group.add([0, 2, 4, 6], 1.0, "REPLACE")
    group.add([1], 0.2, "REPLACE")
    select_objects(item)
    settings = bpy.context.scene.collision_bounds
    bpy.ops.collision_bounds.measure_fit()
    settings.vertex_group, settings.group_threshold = "Bottom", 0.5
    assert kept_checks.find_measurement(item, settings).stale
    bpy.ops.collision_bounds.measure_fit()
    found = kept_checks.find_measurement(item, settings)
    assert not found.stale and found.quality.vertices == 4 and found.quality.volume is None
    (box,) = (shape for shape in found.quality.shapes if shape.label == "Box")
    assert box.center.tolist() == [0.5, 0.5, 0] and box.touching == 4
    settings.group_threshold = 0.1
    bpy.ops.collision_bounds.measure_fit()
    assert kept_checks.find_measurement(item, settings).quality.vertices == 5
    settings.vertex_group = "Missing"
    with pytest.raises(RuntimeError, match=r"A: has no vertices of weight .* in vertex group"):
        bpy.ops.collision_bounds.measure_fit()


def test_copy_to_selected_copies_collision_responses_alone():
    source, target = add_vertices("A"), add_vertices("B")
    settings = source.collision_bounds
    settings.response, settings.collision_group, settings.physics_material = "trigger", 5, "Ice"
    settings.collision_mask = [True, False] * 8
    settings.modifiers = "base"
    select_objects(source, target)
    bpy.ops.collision_bounds.copy_to_selected()
    assert target.collision_bounds.response == "solid"
    target.collision_bounds.modifiers = "evaluated"
    bpy.ops.collision_bounds.copy_to_selected(settings=False, collision=True)
    copied = target.collision_bounds
    assert (copied.response, copied.collision_group, copied.physics_material) == ("trigger", 5, "Ice")
    assert list(copied.collision_mask) == [True, False] * 8
    assert copied.modifiers == "evaluated"


@pytest.mark.smoke
@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_custom_shape_from_selection_encloses_the_selected_vertices_of_each_edited_mesh(shape):
    rng = np.random.default_rng(4)
    clouds = {name: rng.normal(size=(30, 3)) * 3 + 7 for name in "ABC"}
    items = {name: add_vertices(name, points, scale=(-1, 2, 3)) for name, points in clouds.items()}
    select_objects(*items.values())
    bpy.ops.object.mode_set(mode="EDIT")
    rows = {"A": range(0, 12), "B": range(20, 25), "C": ()}
    for name, item in items.items():
        mesh = bmesh.from_edit_mesh(item.data)
        for vertex in mesh.verts:
            vertex.select_set(vertex.index in rows[name])
        bmesh.update_edit_mesh(item.data)
    count = len(bpy.data.texts)
    assert bpy.ops.collision_bounds.override_from_selection(shape=shape) == {"FINISHED"}
    assert bpy.context.mode == "EDIT_MESH" and len(bpy.data.texts) == count
    for name in "AB":
        settings = items[name].collision_bounds
        points = clouds[name][list(rows[name])].astype(np.float32).astype(np.float64)
        offsets = points - np.array(settings.center, dtype=np.float64)
        assert settings.override == shape
        if shape == "box":
            assert np.abs(offsets).max(axis=0) == pytest.approx(np.array(settings.half_extents), rel=1e-6)
            assert (np.abs(offsets) <= np.array(settings.half_extents)).all()
        else:
            distances = np.linalg.norm(offsets, axis=1)
            assert (distances <= settings.radius).all() and distances.max() > 0.999 * settings.radius
    assert items["C"].collision_bounds.override == "none"


def test_custom_shape_from_selection_needs_edit_mode_and_a_selection():
    item = add_vertices("A")
    select_objects(item)
    with pytest.raises(RuntimeError, match="Go to Edit Mode of a mesh"):
        bpy.ops.collision_bounds.override_from_selection()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="nothing is selected: select vertices, edges or faces"):
        bpy.ops.collision_bounds.override_from_selection()
    assert item.collision_bounds.override == "none"
