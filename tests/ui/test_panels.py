"""The tab, drawn on a layout that writes down what it is given; Blender draws none without a window."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.options import parsed
from addon.scene.pairs import COLLECTION
from addon.ui import options, panels
from addon.ui.properties import contact_settings


class Layout:
    """Takes everything that a panel may ask of a layout, and checks that properties exist."""

    def __init__(self, page, enabled=True):
        self.page = page
        self.enabled = enabled

    def row(self, **_):
        return Layout(self.page, self.enabled)

    column = split = row

    def panel(self, _identifier, default_closed):
        assert default_closed
        return self.row(), self.row() if self.page.unfolded else None

    def prop(self, data, name, **_):
        assert name in data.bl_rna.properties
        self.page.options[name] = self.enabled

    def label(self, text="", icon="NONE"):
        self.page.labels.append(text)

    def operator(self, name, **_):
        self.page.buttons.append(name)

    def template_list(self, *_, **__):
        pass


class Page:
    """What is on a panel: options and whether they can be changed, labels, buttons."""

    def __init__(self, panel, unfolded=True):
        self.unfolded = unfolded
        self.options, self.labels, self.buttons = {}, [], []
        self.layout = Layout(self)
        panel.draw(self, bpy.context)

    def __getattr__(self, name):
        return getattr(panels.ContactsPanel, name)


@pytest.fixture
def settings():
    """The scene's settings, in an empty file with the extension switched on."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    registration.register()
    yield bpy.context.scene.collision_bounds
    registration.unregister()


def test_everything_that_find_contacts_takes_is_in_the_tab_and_in_the_operator(settings):
    shown = {**Page(panels.BoundsPanel).options, **Page(panels.ContactsPanel).options}
    for name in options.CONTACT_OPTIONS:
        assert name in shown
        of_scene = settings.bl_rna.properties[name]
        of_button = bpy.ops.collision_bounds.find_contacts.get_rna_type().properties[name]
        assert of_scene.description == of_button.description and of_scene.description
        assert of_scene.type == of_button.type


def test_pairs_are_folded_away(settings):
    shown = Page(panels.ContactsPanel, unfolded=False).options
    assert "motion" in shown and "group_a" not in shown


def test_options_without_a_meaning_are_greyed_with_a_reason(settings):
    scene = bpy.context.scene
    page = Page(panels.ContactsPanel)
    assert page.options["motion"] and page.options["static_pairs"]
    assert not page.options["ignore_collection"]
    assert not page.options["obstacles"] and "Only spheres bump into meshes" in page.labels
    settings.shape = "sphere"
    page = Page(panels.ContactsPanel)
    assert page.options["obstacles"] and not page.options["one_sided"]
    settings.obstacles = "Level*"
    assert Page(panels.ContactsPanel).options["one_sided"]
    assert page.labels.count("This scene has no collections") == 1
    scene.collection.children.link(bpy.data.collections.new("Props"))
    assert Page(panels.ContactsPanel).options["ignore_collection"]
    settings.use_scene_range = False
    settings.frame_start = settings.frame_end = 7
    page = Page(panels.ContactsPanel)
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
