"""The tab: what is on its panels, what can be changed, and what of it reaches the scan."""

from __future__ import annotations

import bpy

from addon.options import parsed
from addon.scene.pairs import COLLECTION
from addon.ui import bounds_panel, contacts_panel, options
from addon.ui.properties import contact_settings
from tests.ui.drawn import Page


def test_everything_that_find_contacts_takes_is_in_the_tab_and_in_the_operator(settings):
    shown = {**Page(bounds_panel.BoundsPanel).options, **Page(contacts_panel.ContactsPanel).options}
    for name in options.CONTACT_OPTIONS:
        assert name in shown
        of_scene = settings.bl_rna.properties[name]
        of_button = bpy.ops.collision_bounds.find_contacts.get_rna_type().properties[name]
        assert of_scene.description == of_button.description and of_scene.description
        assert of_scene.type == of_button.type


def test_what_most_scans_leave_alone_is_folded_away(settings):
    shown = Page(contacts_panel.ContactsPanel, unfolded=False).options
    assert "shape" in shown and not {"motion", "clearance", "use_scene_range", "group_a"} & set(shown)


def test_options_without_a_meaning_are_greyed_with_a_reason(settings):
    scene = bpy.context.scene
    page = Page(contacts_panel.ContactsPanel)
    assert page.options["motion"] and page.options["static_pairs"]
    assert not page.options["ignore_collection"]
    assert not page.options["obstacles"] and "Only spheres bump into meshes" in page.labels
    settings.shape = "sphere"
    page = Page(contacts_panel.ContactsPanel)
    assert page.options["obstacles"] and not page.options["one_sided"]
    settings.obstacles = "Level*"
    assert Page(contacts_panel.ContactsPanel).options["one_sided"]
    assert page.labels.count("This scene has no collections") == 1
    scene.collection.children.link(bpy.data.collections.new("Props"))
    assert Page(contacts_panel.ContactsPanel).options["ignore_collection"]
    settings.use_scene_range = False
    settings.frame_start = settings.frame_end = 7
    page = Page(contacts_panel.ContactsPanel)
    assert not page.options["motion"] and not page.options["static_pairs"]
    assert [label for label in page.labels if "single frame" in label]


def test_defaults_of_the_tab_are_those_of_the_command_line(settings):
    typed = parsed(["contacts"], opens_file=False)
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
    settings.group_a, settings.group_b = "Car*", f"{COLLECTION}Road"
    settings.ignored = "Car:Kerb, Car.001:Kerb"
    settings.ignore_parents, settings.ignore_collection, settings.static_pairs = False, True, True
    told = contact_settings(settings)
    assert (told.group_a, told.group_b) == ("Car*", "collection:Road")
    assert told.ignored == ("Car:Kerb", "Car.001:Kerb")
    assert (told.ignore_parents, told.ignore_collection, told.static_pairs) == (False, True, True)


def test_group_fields_propose_collections_and_objects(settings):
    scene = bpy.context.scene
    scene.collection.children.link(bpy.data.collections.new("Props"))
    scene.collection.objects.link(bpy.data.objects.new("Crate", None))
    assert list(options.GROUP_A["search"](settings, bpy.context, "")) == ["collection:Props", "Crate"]
