"""Panels of an object: settings, custom shape and fit statistics."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.ui import gizmos
from addon.ui.panels import object as object_panels
from tests.scene.building import (
    add_object,
    add_vertices,
    select_objects,
)
from tests.ui.drawn_panel import Page

pytestmark = pytest.mark.usefixtures("settings")


PANELS = [
    object_panels.COLLISION_BOUNDS_PT_object_settings,
    object_panels.COLLISION_BOUNDS_PT_custom_shape,
    object_panels.COLLISION_BOUNDS_PT_measurements,
]


@pytest.mark.smoke
@pytest.mark.parametrize("panel", PANELS)
def test_panels_without_usable_object_give_reason(panel):
    select_objects()
    assert Page(panel).labels[-1] == "No object is active: click one"
    light = add_object("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    select_objects(light)
    assert Page(panel).labels[-1] == "Lamp has no geometry"


@pytest.mark.parametrize("count", [1, 500])
def test_panels_of_one_and_of_many_objects(count):
    items = [add_vertices(f"Part {number}") for number in range(count)]
    select_objects(*items)
    settings, custom_shape, statistics = map(Page, PANELS)
    assert {"use_object_settings", "padding", "bounds_for", "axes", "depth", "modifiers"} <= set(
        settings.options
    )
    assert custom_shape.buttons.count("collision_bounds.set_custom_shape") == 3
    assert {f"collision_bounds.override_from_{source}" for source in ("fit", "selection", "group")} <= set(
        custom_shape.buttons
    )
    assert statistics.buttons == ["collision_bounds.measure_fit"]
    bpy.ops.collision_bounds.measure_fit()
    assert any("Not closed" in text for text in Page(object_panels.COLLISION_BOUNDS_PT_measurements).labels)


def test_outline_of_a_custom_shape_that_is_gone_since_the_poll_draws_nothing():
    select_objects(add_vertices("A"))
    gizmos.COLLISION_BOUNDS_GT_outline.draw(SimpleNamespace(shapes={}), bpy.context)


def test_override_panel_reports_vertices_outside():
    item = add_vertices("A")
    select_objects(item)
    bpy.ops.collision_bounds.override_from_fit()
    item.collision_bounds.half_extents[0] = 0.5
    bpy.ops.collision_bounds.measure_fit()
    assert "8 vertices lie outside" in Page(object_panels.COLLISION_BOUNDS_PT_custom_shape).labels


def test_collections_of_object_can_be_merged():
    collection = bpy.data.collections.new("Group")
    bpy.context.scene.collection.children.link(collection)
    item = add_vertices("A")
    select_objects(item)
    assert "merge_bounds" not in Page(object_panels.COLLISION_BOUNDS_PT_object_settings).options
    collection.objects.link(item)
    assert "merge_bounds" in Page(object_panels.COLLISION_BOUNDS_PT_object_settings).options


@pytest.mark.smoke
def test_panels_of_objects_that_cannot_be_edited_give_remedy(tmp_path):
    """Labels of the panels for the active object: a linked one, and an empty that shows a collection."""
    add_vertices("A")
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, requested):
        requested.objects = ["A"]
    (linked,) = requested.objects
    bpy.context.scene.collection.objects.link(linked)
    select_objects(linked)
    for panel in (
        object_panels.COLLISION_BOUNDS_PT_object_settings,
        object_panels.COLLISION_BOUNDS_PT_custom_shape,
    ):
        assert "Linked: make a library override" in Page(panel).labels
    assert not bpy.ops.collision_bounds.override_from_fit.poll()
    local = add_vertices("B")
    local.select_set(True)
    assert bpy.ops.collision_bounds.override_from_fit.poll(), "another selected object can be edited"

    props = bpy.data.collections.new("Props")
    empty = add_object("Group")
    select_objects(empty)
    assert Page(object_panels.COLLISION_BOUNDS_PT_measurements).labels == ["Group has no geometry"]
    empty.instance_type, empty.instance_collection = "COLLECTION", props
    assert Page(object_panels.COLLISION_BOUNDS_PT_measurements).labels == [
        "Group instances Props:",
        "change its objects instead",
    ]


def test_ratio_has_at_most_five_characters():
    texts = {ratio: object_panels._ratio(ratio) for ratio in (1.0, 94.804, 139.6, 51234.5, 3.1e9)}
    assert texts == {1.0: "1.00", 94.804: "94.80", 139.6: "140", 51234.5: "51234", 3.1e9: "3e+09"}


@pytest.mark.smoke
def test_only_object_settings_have_switch_in_physics_tab():
    select_objects(add_vertices("A"))
    assert not Page(object_panels.COLLISION_BOUNDS_PT_physics).options, (
        "the physics panel has no switch for bounds"
    )
    assert "padding" in Page(object_panels.COLLISION_BOUNDS_PT_physics_object_settings).options
    assert (
        object_panels.COLLISION_BOUNDS_PT_physics_object_settings.bl_parent_id
        == object_panels.COLLISION_BOUNDS_PT_physics.__name__
    )


def test_sizes_of_active_object_are_shown_with_units_and_can_be_copied():
    box = add_vertices("Box", [(x, y, z) for x in (0, 2) for y in (0, 3) for z in (0, 0.5)])
    box.location = 10, 0, 0
    select_objects(box)
    bpy.context.view_layer.update()
    bpy.ops.collision_bounds.measure_fit()
    page = Page(object_panels.COLLISION_BOUNDS_PT_measurements)
    # The box of 2 x 3 x 0.5 m has its middle at (11, 1.5, 0.25), and half of its diagonal is 1.8200275 m.
    assert page.labels[page.labels.index("Sphere") + 1] == "Radius 1.82 m"
    assert page.labels[page.labels.index("Box") + 1] == "2  3  0.5 m"
    assert "11  1.5  0.25 m" in page.labels
    bpy.context.scene.unit_settings.system = "NONE"
    assert "2  3  0.5" in Page(object_panels.COLLISION_BOUNDS_PT_measurements).labels
    bpy.ops.collision_bounds.copy_value(value="2, 3, 0.5")


@pytest.mark.parametrize(
    "name", ["COLLISION_BOUNDS_PT_collision_response", "COLLISION_BOUNDS_PT_physics_collision_response"]
)
def test_collision_response_panels_have_all_options(name):
    panel = getattr(object_panels, name)
    select_objects()
    assert Page(panel).labels[-1] == "No object is active: click one"
    select_objects(add_vertices("A"))
    page = Page(panel)
    assert {"response", "collision_group", "collision_mask", "physics_material"} == set(page.options)
    assert page.buttons == ["collision_bounds.copy_to_selected"]
