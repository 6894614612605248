"""Create Colliders and Remove Colliders: options, reports, and everything that stays unchanged."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon import registration
from addon.scene.colliders.records import collider_state
from addon.scene.jobs import result_store
from addon.ui import job_state, kept_checks
from addon.ui.panels import colliders as colliders_panel
from addon.ui.properties.scene import COLLIDER_OPTIONS
from tests.core.compound.meshes_with_notches import L_OUTLINE, L_TRIANGLES, prism
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


@pytest.fixture
def crate(settings, add_mesh):
    """Return a selected cube."""
    item = add_mesh("Crate")
    item.select_set(True)
    bpy.context.view_layer.objects.active = item
    return item


@pytest.fixture
def add_mesh(settings):
    """Return a function that adds a cube to the file that `settings` opened."""

    def make(name: str) -> bpy.types.Object:
        bpy.ops.mesh.primitive_cube_add()
        item = bpy.context.object
        item.name, item.data.name = name, name
        return item

    return make


def names() -> set[str]:
    return {item.name for item in bpy.context.scene.objects}


def test_every_option_is_in_panel_and_operator(crate, settings):
    settings.colliders.kind, settings.colliders.naming, settings.colliders.parts = "hull", "custom", 2
    shown = Page(colliders_panel.COLLISION_BOUNDS_PT_colliders).options
    button = bpy.ops.collision_bounds.create_colliders.get_rna_type().properties
    for name in COLLIDER_OPTIONS:
        of_scene = settings.colliders.bl_rna.properties[name]
        assert name in shown and of_scene.description == button[name].description != ""
    settings.colliders.kind, settings.colliders.naming, settings.colliders.parts = "box", "unreal", 1
    assert not {"max_vertices", "pattern"} & set(
        Page(colliders_panel.COLLISION_BOUNDS_PT_colliders).options
    ), "options that do not apply are not drawn"


def test_panel_is_below_bounds_and_has_a_button_for_each_engine(crate):
    panels = [
        cls.__name__ for cls in registration._CLASSES if cls.__name__.startswith("COLLISION_BOUNDS_PT_")
    ]
    tops = [name for name in panels if not hasattr(getattr(bpy.types, name), "bl_parent_id")]
    assert tops.index("COLLISION_BOUNDS_PT_colliders") < tops.index("COLLISION_BOUNDS_PT_contacts")
    page = Page(colliders_panel.COLLISION_BOUNDS_PT_colliders)
    assert page.buttons.count("collision_bounds.preset_apply") == 3, "Godot, Unity, Unreal"


@pytest.mark.smoke
def test_passed_options_are_stored_in_scene_and_others_taken_from_it(crate, settings):
    make = bpy.ops.collision_bounds.create_colliders
    assert make(kind="hull", naming="custom", pattern="{name} {kind} {number}") == {"FINISHED"}
    assert names() == {"Crate", "Crate hull 00"}
    assert make(kind="sphere") == {"FINISHED"}
    assert names() == {"Crate", "Crate sphere 00"}
    assert (settings.colliders.kind, settings.colliders.naming) == ("sphere", "custom")
    assert make(naming="unreal", collection="Physics", padding=0.5) == {"FINISHED"}
    assert names() == {"Crate", "USP_Crate_00"} and settings.padding == 0.5
    assert bpy.data.objects["USP_Crate_00"].users_collection[0].name == "Physics"


def test_parts_of_boxes_and_their_tolerance_are_options(crate, settings):
    make = bpy.ops.collision_bounds.create_colliders
    crate.data.clear_geometry()
    triangles = prism(L_OUTLINE, L_TRIANGLES)
    crate.data.from_pydata(
        triangles.reshape(-1, 3).tolist(), [], np.arange(triangles.size // 3).reshape(-1, 3).tolist()
    )
    bpy.context.view_layer.update()
    assert make(kind="box", naming="unreal", parts=4) == {"FINISHED"}
    assert names() == {"Crate", "UBX_Crate_00", "UBX_Crate_01"}
    assert make(parts_tolerance=9.0) == {"FINISHED"}
    assert names() == {"Crate", "UBX_Crate_00"}
    assert (settings.colliders.parts, settings.colliders.parts_tolerance) == (4, 9.0)


@pytest.mark.smoke
def test_nothing_selected_keeps_the_kinds_and_what_was_edited_manually(crate, settings, add_mesh):
    make = bpy.ops.collision_bounds.create_colliders
    add_mesh("Keg")
    assert make() == {"FINISHED"}, "the keg is selected alone"
    assert names() == {"Crate", "Keg", "UBX_Keg_00"}
    bpy.ops.object.select_all(action="DESELECT")
    settings.colliders.kind = "hull"
    make()
    assert names() == {"Crate", "Keg", "UBX_Keg_00", "UCX_Crate_00"}, "the crate had no collider"
    bpy.data.objects["UCX_Crate_00"].data.vertices[0].co.x = -3
    settings.colliders.kind = "sphere"
    make()
    assert names() == {"Crate", "Keg", "UBX_Keg_00", "UCX_Crate_00"}
    assert bpy.data.objects["UCX_Crate_00"].data.vertices[0].co.x == -3
    make(keep_kinds=False)
    assert names() == {"Crate", "Keg", "USP_Keg_00", "UCX_Crate_00"}
    make(kind="capsule", replace_edited=True)
    assert names() == {"Crate", "Keg", "UCP_Keg_00", "UCP_Crate_00"}, "a kind that is passed is for all"


def test_run_that_keeps_all_is_no_error(crate):
    bpy.ops.collision_bounds.create_colliders()
    bpy.data.objects["UBX_Crate_00"].location.x = 3
    assert bpy.ops.collision_bounds.create_colliders() == {"FINISHED"}
    assert bpy.data.objects["UBX_Crate_00"].location.x == 3


@pytest.mark.smoke
def test_panel_has_the_numbers_of_each_kind_and_of_edited_ones(crate, add_mesh, monkeypatch):
    def labels() -> list[str]:
        bpy.context.view_layer.update()
        return Page(colliders_panel.COLLISION_BOUNDS_PT_colliders).labels

    assert not any("box" in text for text in labels())
    for name in "AB":
        add_mesh(name)
    make = bpy.ops.collision_bounds.create_colliders
    make(scope="VISIBLE", kind="box")
    assert "3 boxes" in labels()
    bpy.context.scene.collision_bounds.scope = "SELECTED"
    make(kind="hull", keep_kinds=True)
    assert "3 colliders: 2 boxes, 1 hull" in labels()
    compared = []
    monkeypatch.setattr(
        kept_checks, "collider_state", lambda item: compared.append(item.name) or collider_state(item)
    )
    bpy.data.objects["UCX_B_00"].scale.x = 2
    for _ in range(3):
        assert {"3 colliders: 2 boxes, 1 hull", "1 edited manually: kept"} <= set(labels())
    assert compared == ["UCX_B_00"], "others are not compared again"
    bpy.data.objects["UBX_A_00"].data.vertices[0].co.x = -3
    bpy.data.objects["UBX_A_00"].data.update()
    assert "2 edited manually: kept" in labels()
    bpy.data.objects.remove(bpy.data.objects["UBX_A_00"])
    assert {"2 colliders: 1 box, 1 hull", "1 edited manually: kept"} <= set(labels())
    bpy.ops.collision_bounds.remove_colliders()
    assert not any("edited" in text or "hull" in text for text in labels())


def test_selection_and_active_object_are_unchanged(crate):
    bpy.ops.collision_bounds.create_colliders()
    assert bpy.context.selected_objects == [crate] and bpy.context.object == crate


def test_results_stay_fresh(settings):
    scanned_scene.build()
    scanned_scene.scan()
    before = settings.result_id
    assert bpy.ops.collision_bounds.create_colliders(scope="VISIBLE") == {"FINISHED"}
    bpy.context.view_layer.update()
    assert settings.result_id == before and not result_store.get(before).stale
    assert bpy.ops.collision_bounds.remove_colliders() == {"FINISHED"}
    bpy.context.view_layer.update()
    assert not result_store.get(before).stale


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"naming": "custom", "pattern": "UBX"}, "has no {name}"),
        ({"collection": " "}, "has no name"),
        ({"padding": -5.0}, "larger than the shape"),
    ],
)
def test_invalid_options_are_reported(crate, options, message):
    with pytest.raises(RuntimeError, match=message):
        bpy.ops.collision_bounds.create_colliders(**options)
    assert names() == {"Crate"}


def test_without_selection_error_names_remedy(crate):
    crate.select_set(False)
    with pytest.raises(RuntimeError, match="No object with geometry is selected"):
        bpy.ops.collision_bounds.create_colliders(scope="SELECTED")


@pytest.mark.smoke
def test_buttons_are_greyed_out_where_they_cannot_run(crate):
    make, remove = bpy.ops.collision_bounds.create_colliders, bpy.ops.collision_bounds.remove_colliders
    assert make.poll() and not remove.poll()
    make()
    assert remove.poll()
    bpy.ops.object.mode_set(mode="EDIT")
    assert not make.poll() and not remove.poll(), "Edit Mode has undo steps of its own"
    bpy.ops.object.mode_set(mode="OBJECT")
    job_state.begin()
    try:
        assert not make.poll() and not remove.poll()
    finally:
        job_state.end()
