"""Property groups of objects and collections: copied, saved, undone, animated and overridden."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon import registration
from addon.scene.jobs import result_store
from addon.scene.live.live_shapes import LiveSubjects
from addon.scene.subjects.subject import identify_subjects
from addon.ui.properties.scene import fit_settings
from tests.scene.building import (
    add_vertices,
    fill_settings,
    merged_collection,
    open_empty_file,
    select_objects,
    settings_values,
)


@pytest.fixture(autouse=True)
def extension():
    """Enable the extension in an empty file."""
    open_empty_file()
    registration.register()
    yield
    registration.unregister()


@pytest.mark.smoke
def test_settings_are_copied_with_object():
    item = add_vertices("A")
    fill_settings(item.collision_bounds)
    select_objects(item)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != item and settings_values(copy.collision_bounds) == settings_values(item.collision_bounds)
    copy.collision_bounds.padding = 1.0
    assert item.collision_bounds.padding == 0.25


@pytest.mark.smoke
def test_settings_are_saved_in_file(tmp_path):
    item = add_vertices("A")
    fill_settings(item.collision_bounds)
    before = settings_values(item.collision_bounds)
    merged_collection("Group")
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert settings_values(bpy.data.objects["A"].collision_bounds) == before
    assert bpy.data.collections["Group"].collision_bounds.merge_bounds


def test_settings_are_undone_and_redone():
    select_objects(add_vertices("A"))
    bpy.ops.ed.undo_push(message="start")
    fill_settings(bpy.context.object.collision_bounds)
    before = settings_values(bpy.context.object.collision_bounds)
    bpy.ops.ed.undo_push(message="settings")
    bpy.ops.ed.undo()
    assert not bpy.data.objects["A"].collision_bounds.use_object_settings
    bpy.ops.ed.redo()
    assert settings_values(bpy.data.objects["A"].collision_bounds) == before


def test_only_padding_can_be_animated():
    settings = add_vertices("A").collision_bounds
    assert settings.keyframe_insert("padding", frame=1)
    for name in ("modifiers", "use_object_settings", "override", "center", "half_extents", "radius", "depth"):
        with pytest.raises(TypeError, match="not animatable"):
            settings.keyframe_insert(name, frame=1)


@pytest.mark.smoke
def test_settings_can_be_overridden_in_linked_files(tmp_path):
    fill_settings(add_vertices("A").collision_bounds)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, requested):
        requested.objects = ["A"]
    linked = requested.objects[0]
    assert linked.collision_bounds.padding == 0.25
    override = linked.override_create()
    override.collision_bounds.padding = 0.5
    main = str(tmp_path / "main.blend")
    bpy.context.scene.collection.objects.link(override)
    bpy.ops.wm.save_as_mainfile(filepath=main)
    bpy.ops.wm.open_mainfile(filepath=main)
    loaded = next(item for item in bpy.data.objects if item.override_library)
    assert loaded.collision_bounds.padding == 0.5 and loaded.collision_bounds.modifiers == "base"


@pytest.mark.smoke
def test_changed_setting_marks_results_stale_and_updates_overlay():
    item = add_vertices("A")
    select_objects(item)
    bpy.ops.collision_bounds.compute_bounds()
    scene = bpy.context.scene
    assert np.allclose(overlay_box_x(scene), 1.0)
    item.collision_bounds.use_object_settings, item.collision_bounds.padding = True, 0.5
    bpy.context.view_layer.update()
    assert result_store.get(scene.collision_bounds.result_id).stale
    assert np.allclose(overlay_box_x(scene), 1.5)


def overlay_box_x(scene):
    """Return the largest x of each box that the overlay shows."""
    results = result_store.get(scene.collision_bounds.result_id)
    fit = fit_settings(scene.collision_bounds)
    live = LiveSubjects(results.bounds, identify_subjects(results.bounds.subjects))
    update = live.update(bpy.context.evaluated_depsgraph_get(), fit, ["aabb"], "aabb", False)
    return update.shapes["aabb"].shape.max[:, 0]
