"""Operators that add custom shapes to objects and remove them, and the panel that lists them."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import pytest

from addon.ui import kept_checks
from addon.ui.panels import object as object_panels
from tests.scene.building import add_vertices, select_objects
from tests.ui.drawn_panel import Page

pytestmark = pytest.mark.usefixtures("settings")


def shapes_of(item):
    """Return kind and center of each custom shape."""
    settings = item.collision_bounds
    if settings.override == "none":
        return []
    more = [(entry.shape, tuple(entry.center)) for entry in settings.more_shapes]
    return [(settings.override, tuple(settings.center)), *more]


def select_rows(item, rows):
    """Select vertices in Edit Mode."""
    mesh = bmesh.from_edit_mesh(item.data)
    for vertex in mesh.verts:
        vertex.select_set(vertex.index in rows)
    bmesh.update_edit_mesh(item.data)


@pytest.mark.smoke
def test_shapes_from_selections_are_added_and_enclose_their_vertices():
    rng = np.random.default_rng(4)
    clouds = [rng.normal(size=(20, 3)) + offset for offset in ((0, 0, 0), (9, 0, 0), (0, 9, 0))]
    item = add_vertices("A", np.concatenate(clouds))
    select_objects(item)
    bpy.ops.object.mode_set(mode="EDIT")
    for number, kind in enumerate(("box", "sphere", "box")):
        select_rows(item, range(20 * number, 20 * number + 20))
        done = bpy.ops.collision_bounds.override_from_selection(shape=kind, add=number > 0)
        assert done == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    settings = item.collision_bounds
    assert [kind for kind, _ in shapes_of(item)] == ["box", "sphere", "box"]
    entries = [settings, *settings.more_shapes]
    for cloud, entry in zip(clouds, entries, strict=True):
        offsets = cloud.astype(np.float32).astype(np.float64) - np.array(entry.center)
        if entry is entries[1]:
            assert np.linalg.norm(offsets, axis=1).max() <= entry.radius
        else:
            assert np.abs(offsets).max(axis=0) == pytest.approx(np.array(entry.half_extents), rel=1e-6)
            assert (np.abs(offsets) <= np.array(entry.half_extents)).all()
    bpy.ops.collision_bounds.measure_fit()
    measure = kept_checks.find_measurement(item, bpy.context.scene.collision_bounds)
    assert measure.quality.outside == 0
    # Without "add", the new shape replaces all.
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.collision_bounds.override_from_selection(shape="box")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(shapes_of(item)) == 1


def test_custom_shape_from_vertex_group_is_around_its_vertices_and_others_are_named():
    rng = np.random.default_rng(1)
    head = rng.normal(size=(20, 3)) + np.array([0, 0, 9])
    item = add_vertices("A", np.concatenate([rng.normal(size=(20, 3)), head]))
    other = add_vertices("B")
    group = item.vertex_groups.new(name="Head")
    group.add(list(range(20, 40)), 1.0, "REPLACE")
    group.add([0], 0.2, "REPLACE")
    select_objects(item, other)
    bpy.context.view_layer.objects.active = item
    make = bpy.ops.collision_bounds.override_from_group
    assert make(shape="box", group="Head") == {"FINISHED"}
    settings = item.collision_bounds
    offsets = head.astype(np.float32).astype(np.float64) - np.array(settings.center)
    assert np.abs(offsets).max(axis=0) == pytest.approx(np.array(settings.half_extents), rel=1e-6)
    assert other.collision_bounds.override == "none"
    # Bounds and scans use the shape.
    assert bpy.ops.collision_bounds.compute_bounds(scope="SELECTED") == {"FINISHED"}
    assert make(shape="sphere", group="Head", threshold=0.1, add=True) == {"FINISHED"}
    assert [kind for kind, _ in shapes_of(item)] == ["box", "sphere"]
    assert settings.more_shapes[0].radius > 5
    # Warnings alone: nothing is changed.
    assert make(shape="box", group="Tail") == {"CANCELLED"}
    assert make(shape="box", group="Head", threshold=1.0) == {"FINISHED"}
    assert [kind for kind, _ in shapes_of(item)] == ["box"]


def test_added_shapes_start_as_the_fitted_ones_and_are_removed_by_number():
    item = add_vertices("A", [(0, 0, 0), (2, 0, 0), (0, 4, 0)])
    select_objects(item)
    assert not bpy.ops.collision_bounds.remove_custom_shape.poll()
    for kind in ("box", "sphere", "box"):
        assert bpy.ops.collision_bounds.add_custom_shape(shape=kind) == {"FINISHED"}
    settings = item.collision_bounds
    assert [kind for kind, _ in shapes_of(item)] == ["box", "sphere", "box"]
    assert shapes_of(item)[0][1] == (1, 2, 0) and settings.more_shapes[0].radius == pytest.approx(5**0.5)
    settings.more_shapes[1].center = (7, 7, 7)
    # The next one takes the place of the first.
    bpy.ops.collision_bounds.remove_custom_shape(index=0)
    assert shapes_of(item) == [("sphere", (1, 2, 0)), ("box", (7, 7, 7))]
    assert settings.radius == pytest.approx(5**0.5)
    with pytest.raises(RuntimeError, match="A: has no custom shape 2"):
        bpy.ops.collision_bounds.remove_custom_shape(index=2)
    bpy.ops.collision_bounds.remove_custom_shape(index=1)
    bpy.ops.collision_bounds.remove_custom_shape()
    assert shapes_of(item) == [] and settings.override == "none"


def test_shapes_of_a_linked_file_are_not_removed_from_a_library_override(tmp_path):
    item = add_vertices("A")
    select_objects(item)
    for kind in ("box", "sphere"):
        bpy.ops.collision_bounds.add_custom_shape(shape=kind)
    bpy.data.libraries.write(str(tmp_path / "linked.blend"), {item})
    with bpy.data.libraries.load(str(tmp_path / "linked.blend"), link=True) as (_, loaded):
        loaded.objects = ["A"]
    override = loaded.objects[0].override_create()
    bpy.context.scene.collection.objects.link(override)
    select_objects(override)
    bpy.ops.collision_bounds.add_custom_shape(shape="box")
    assert [kind for kind, _ in shapes_of(override)] == ["box", "sphere", "box"]
    for index in (0, 1):
        with pytest.raises(RuntimeError, match="this shape is from a linked file"):
            bpy.ops.collision_bounds.remove_custom_shape(index=index)
    assert [kind for kind, _ in shapes_of(override)] == ["box", "sphere", "box"]
    # Its own shape is.
    bpy.ops.collision_bounds.remove_custom_shape(index=2)
    assert [kind for kind, _ in shapes_of(override)] == ["box", "sphere"]


def test_fitted_bounds_and_shapes_from_the_fit_replace_all_shapes():
    for replace in (
        lambda: bpy.ops.collision_bounds.set_custom_shape(shape="none"),
        lambda: bpy.ops.collision_bounds.override_from_fit(shape="box"),
    ):
        item = add_vertices("A")
        select_objects(item)
        bpy.ops.collision_bounds.add_custom_shape(shape="sphere")
        bpy.ops.collision_bounds.add_custom_shape(shape="sphere")
        replace()
        assert len(item.collision_bounds.more_shapes) == 0


def test_copying_settings_copies_all_shapes():
    source, target = add_vertices("A"), add_vertices("B")
    select_objects(source)
    bpy.ops.collision_bounds.add_custom_shape(shape="box")
    bpy.ops.collision_bounds.add_custom_shape(shape="sphere")
    source.collision_bounds.more_shapes[0].center = (1, 2, 3)
    target.collision_bounds.more_shapes.add()
    select_objects(source, target)
    bpy.ops.collision_bounds.copy_to_selected(settings=True)
    assert shapes_of(target) == []
    bpy.ops.collision_bounds.copy_to_selected(settings=False, override=True)
    assert shapes_of(target) == shapes_of(source) and len(shapes_of(target)) == 2


def test_added_shape_is_undone_and_redone():
    item = add_vertices("A")
    select_objects(item)
    bpy.ops.collision_bounds.override_from_fit(shape="box")
    bpy.ops.ed.undo_push(message="box")
    bpy.ops.collision_bounds.add_custom_shape(shape="sphere")
    bpy.ops.ed.undo_push(message="sphere")
    bpy.ops.ed.undo()
    assert [kind for kind, _ in shapes_of(bpy.data.objects["A"])] == ["box"]
    bpy.ops.ed.redo()
    assert [kind for kind, _ in shapes_of(bpy.data.objects["A"])] == ["box", "sphere"]


def test_panel_lists_shapes_with_a_button_to_remove_each():
    item = add_vertices("A")
    select_objects(item)
    panel = object_panels.COLLISION_BOUNDS_PT_custom_shape
    assert "collision_bounds.add_custom_shape" not in Page(panel).buttons
    bpy.ops.collision_bounds.override_from_fit(shape="box")
    page = Page(panel)
    assert page.buttons.count("collision_bounds.add_custom_shape") == 2
    assert "collision_bounds.remove_custom_shape" not in page.buttons
    bpy.ops.collision_bounds.add_custom_shape(shape="sphere")
    page = Page(panel)
    assert {"Box 1", "Sphere 2"} <= {*page.labels}
    assert page.buttons.count("collision_bounds.remove_custom_shape") == 2
    assert page.labels.count("Sphere 2") == 1
