"""The tab: what is on its panels, what can be changed, and what of it reaches the scan."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.cli.parser import parse_arguments
from addon.scene.subjects.pair_filters import COLLECTION_PREFIX
from addon.ui.operators.bounds import COLLISION_BOUNDS_OT_compute_bounds, COLLISION_BOUNDS_OT_compute_envelope
from addon.ui.operators.contacts import COLLISION_BOUNDS_OT_find_contacts
from addon.ui.panels import bounds as bounds_panel
from addon.ui.panels import contacts as contacts_panel
from addon.ui.panels import menus
from addon.ui.properties import shared as options
from addon.ui.properties.scene import contact_settings
from tests.ui import results
from tests.ui.drawn import Page


@pytest.mark.smoke
def test_everything_that_find_contacts_takes_is_in_the_tab_and_in_the_operator(settings):
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


def test_what_most_scans_leave_alone_is_folded_away(settings):
    shown = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts, unfolded=False).options
    assert "shape" in shown and not {"motion", "clearance", "use_scene_range", "group_a"} & set(shown)


@pytest.mark.smoke
def test_options_without_a_meaning_are_greyed_with_a_reason(settings):
    scene = bpy.context.scene
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert page.options["motion"] and page.options["static_pairs"]
    assert not page.options["ignore_collection"]
    assert not page.options["obstacles"] and "Needs the shape Spheres or Sphere Trees" in page.labels
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


def test_defaults_of_the_tab_are_those_of_the_command_line(settings):
    typed = parse_arguments(["contacts"], opens_file=False)
    told = contact_settings(settings)
    assert (told.shape, told.motion, told.clearance) == (typed.shape, typed.motion, typed.clearance)
    assert (told.group_a, told.group_b, told.ignored) == (typed.a, typed.b, tuple(typed.ignore))
    assert (told.ignore_parents, told.ignore_collection, told.static_pairs) == (
        typed.ignore_parents,
        typed.ignore_collection,
        typed.static_pairs,
    )
    assert told.frames is typed.frames is None


def test_fields_of_the_tab_reach_the_scan(settings):
    settings.group_a, settings.group_b = "Car*", f"{COLLECTION_PREFIX}Road"
    settings.ignored = "Car:Kerb, Car.001:Kerb"
    settings.ignore_parents, settings.ignore_collection, settings.static_pairs = False, True, True
    told = contact_settings(settings)
    assert (told.group_a, told.group_b) == ("Car*", "collection:Road")
    assert told.ignored == ("Car:Kerb", "Car.001:Kerb")
    assert (told.ignore_parents, told.ignore_collection, told.static_pairs) == (False, True, True)


ON_OBJECTS = ("compute_bounds", "compute_envelope", "find_contacts")


def test_buttons_are_grey_while_nothing_is_selected_and_say_why(settings):
    results.build()
    settings.scope = "SELECTED"
    greyed = {
        *Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).greyed,
        *Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).greyed,
    }
    assert greyed == {f"collision_bounds.{name}" for name in ON_OBJECTS}
    for operator in (
        COLLISION_BOUNDS_OT_compute_bounds,
        COLLISION_BOUNDS_OT_compute_envelope,
        COLLISION_BOUNDS_OT_find_contacts,
    ):
        properties = getattr(bpy.ops.collision_bounds, operator.bl_idname.split(".")[1]).get_rna_type()
        told = operator.description(bpy.context, Given())
        assert properties.description in told and "Nothing is selected" in told
        assert "Nothing" not in operator.description(bpy.context, Given("scope")), "a script has said what"
    for change in ("select", "scope"):
        bpy.data.objects["Near"].select_set(change == "select")
        settings.scope = "VISIBLE" if change == "scope" else "SELECTED"
        assert (
            not Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).greyed
            + Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).greyed
        )
        assert "Nothing" not in COLLISION_BOUNDS_OT_compute_bounds.description(bpy.context, Given())


class Given:
    """An operator's properties, of which some were given."""

    def __init__(self, *names):
        self.names = names

    def is_property_set(self, name):
        return name in self.names


@pytest.mark.parametrize("name", ON_OBJECTS)
def test_with_nothing_selected_a_script_is_told_so_unless_it_means_all(settings, name):
    results.build()
    operator = getattr(bpy.ops.collision_bounds, name)
    with pytest.raises(RuntimeError, match="No object with geometry is selected: select a mesh, or set"):
        operator(scope="SELECTED")
    assert operator(scope="VISIBLE") == {"FINISHED"}


def test_results_are_cleared_where_they_are_made_and_where_they_are_listed(settings):
    clear = "collision_bounds.clear_results"
    assert clear in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).buttons
    assert clear not in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons
    assert not bpy.ops.collision_bounds.clear_results.poll()
    results.build()
    results.scan()
    assert clear in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons
    assert bpy.ops.collision_bounds.clear_results() == {"FINISHED"}
    assert not settings.rows and not bpy.ops.collision_bounds.clear_results.poll()


def test_of_the_row_that_was_clicked_both_names_are_told_in_full(settings):
    results.build()
    bpy.data.objects["Far"].name = long = "Something With A Name That No List Has Room For"
    results.scan()
    settings.active_row = results.row_of(settings, "Slider", long)
    assert {long, "Slider"} <= set(Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels)
    settings.active_row = results.row_of(settings, "Slider", "Near")
    assert {"Near – Slider", "Slider – Near"} & set(Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels)


@pytest.mark.smoke
def test_everything_that_can_be_pressed_is_in_the_menu_and_so_in_the_search(settings):
    operators = {
        cls.bl_idname
        for cls in registration._CLASSES
        if issubclass(cls, bpy.types.Operator) and "INTERNAL" not in cls.bl_options
    }
    there = set(Page(menus.VIEW3D_MT_collision_bounds).buttons)
    assert there == operators - {"collision_bounds.preset_add"}


def test_group_fields_propose_collections_and_objects(settings):
    scene = bpy.context.scene
    scene.collection.children.link(bpy.data.collections.new("Props"))
    scene.collection.objects.link(bpy.data.objects.new("Crate", None))
    assert list(options.GROUP_A["search"](settings, bpy.context, "")) == ["collection:Props", "Crate"]
