"""The tab: contents of its panels, greyed-out settings, and settings that reach the scan."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.cli.parser import parse_arguments
from addon.scene.jobs import result_store
from addon.scene.subjects.scan_settings import COLLECTION_PREFIX
from addon.ui.panels import bounds as bounds_panel
from addon.ui.panels import contacts as contacts_panel
from addon.ui.panels import menus
from addon.ui.properties import shared_options as options
from addon.ui.properties.scene import contact_settings
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


@pytest.mark.smoke
def test_every_option_of_find_contacts_is_in_panels_and_operator(settings):
    shown = {
        **Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).options,
        **Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options,
    }
    for name in options.CONTACT_OPTIONS:
        assert name in shown
        of_scene = settings.bl_rna.properties[name]
        of_button = bpy.ops.collision_bounds.find_contacts.get_rna_type().properties[name]
        assert of_scene.description == of_button.description and of_scene.description
        assert of_scene.type == of_button.type


def test_rarely_changed_options_are_folded(settings):
    shown = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts, unfolded=False).options
    assert "shape" in shown and not {"motion", "clearance", "use_scene_range", "group_a"} & set(shown)


@pytest.mark.smoke
def test_options_without_effect_are_greyed_out_with_reason(settings):
    scene = bpy.context.scene
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert page.options["motion"] and page.options["static_pairs"]
    assert not page.options["ignore_collection"]
    assert not page.options["obstacles"] and "Needs Spheres or Sphere Trees" in page.labels
    settings.shape = "sphere"
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert page.options["obstacles"] and not page.options["one_sided"]
    settings.obstacles = "Level*"
    assert Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options["one_sided"]
    assert page.labels.count("This scene has no collections") == 1
    scene.collection.children.link(bpy.data.collections.new("Props"))
    assert Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).options["ignore_collection"]
    settings.use_scene_range = False
    settings.frame_start = settings.frame_end = 7
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert not page.options["motion"] and not page.options["static_pairs"]
    assert [label for label in page.labels if "Single frame" in label]


def test_defaults_equal_those_of_command_line(settings):
    typed = parse_arguments(["contacts"], opens_file=False)
    converted = contact_settings(settings)
    assert (converted.shape, converted.motion, converted.clearance) == (
        typed.shape,
        typed.motion,
        typed.clearance,
    )
    assert (converted.group_a, converted.group_b, converted.ignored) == (
        typed.a,
        typed.b,
        tuple(typed.ignore),
    )
    assert (converted.ignore_parents, converted.ignore_collection, converted.static_pairs) == (
        typed.ignore_parents,
        typed.ignore_collection,
        typed.static_pairs,
    )
    assert converted.frames is typed.frames is None


def test_fields_of_tab_reach_scan(settings):
    settings.group_a, settings.group_b = "Car*", f"{COLLECTION_PREFIX}Road"
    settings.ignored = "Car:Kerb, Car.001:Kerb"
    settings.ignore_parents, settings.ignore_collection, settings.static_pairs = False, True, True
    converted = contact_settings(settings)
    assert (converted.group_a, converted.group_b) == ("Car*", "collection:Road")
    assert converted.ignored == ("Car:Kerb", "Car.001:Kerb")
    assert (converted.ignore_parents, converted.ignore_collection, converted.static_pairs) == (
        False,
        True,
        True,
    )


ON_OBJECTS = ("compute_bounds", "compute_envelope", "find_contacts")


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_without_selection_buttons_work_on_all_visible_objects(settings, name):
    scanned_scene.build()
    settings.scope = "SELECTED"
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds)
    assert "Nothing selected: all visible" in page.labels
    assert not page.greyed + Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).greyed
    assert getattr(bpy.ops.collision_bounds, name)() == {"FINISHED"}
    results = result_store.get(settings.result_id)
    found = results.bounds or results.envelopes
    assert {subject.name for subject in found.subjects} == {item.name for item in bpy.data.objects}
    assert settings.scope == "SELECTED"


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_with_selection_buttons_work_on_selected_objects(settings, name):
    scanned_scene.build()
    settings.scope = "SELECTED"
    for item in ("Near", "Slider"):
        bpy.data.objects[item].select_set(True)
    labels = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels
    assert "2 selected" in labels and "Nothing selected: all visible" not in labels
    assert getattr(bpy.ops.collision_bounds, name)() == {"FINISHED"}
    results = result_store.get(settings.result_id)
    found = results.bounds or results.envelopes
    assert {subject.name for subject in found.subjects} == {"Near", "Slider"}


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_without_selection_script_gets_error_unless_it_passes_visible(settings, name):
    scanned_scene.build()
    operator = getattr(bpy.ops.collision_bounds, name)
    with pytest.raises(RuntimeError, match="No object with geometry is selected: select a mesh, or set"):
        operator(scope="SELECTED")
    assert operator(scope="VISIBLE") == {"FINISHED"}


def test_clear_results_is_next_to_compute_bounds_and_below_list(settings):
    clear = "collision_bounds.clear_results"
    assert clear in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).buttons
    assert clear not in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons
    assert not bpy.ops.collision_bounds.clear_results.poll()
    scanned_scene.build()
    scanned_scene.scan()
    assert clear in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons
    assert bpy.ops.collision_bounds.clear_results() == {"FINISHED"}
    assert not settings.rows and not bpy.ops.collision_bounds.clear_results.poll()


def test_details_of_active_row_have_both_full_names(settings):
    scanned_scene.build()
    bpy.data.objects["Far"].name = long = "Something With A Name That No List Has Room For"
    scanned_scene.scan()
    settings.active_row = scanned_scene.row_of(settings, "Slider", long)
    assert {long, "Slider"} <= set(Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels)


def test_line_below_list_has_subframe_of_playhead_and_is_always_there(settings):
    scanned_scene.build()
    scanned_scene.scan()
    for frame, subframe, text in ((7, 0.25, "7.25"), (3, 0.0, "3"), (4, 0.3125, "4.3125")):
        bpy.context.scene.frame_set(frame, subframe=subframe)
        labels = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels
        assert [label for label in labels if label.startswith("Playhead")] == [f"Playhead at frame {text}"]


@pytest.mark.smoke
def test_every_operator_is_in_menu_and_so_in_search(settings):
    operators = {
        cls.bl_idname
        for cls in registration._CLASSES
        if issubclass(cls, bpy.types.Operator) and "INTERNAL" not in cls.bl_options
    }
    there = set(Page(menus.VIEW3D_MT_collision_bounds).buttons)
    assert there == operators - {"collision_bounds.preset_add"}


def test_group_fields_suggest_collections_and_objects(settings):
    scene = bpy.context.scene
    scene.collection.children.link(bpy.data.collections.new("Props"))
    scene.collection.objects.link(bpy.data.objects.new("Crate", None))
    assert list(options.GROUP_A["search"](settings, bpy.context, "")) == ["collection:Props", "Crate"]
