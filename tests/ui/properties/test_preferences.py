"""Preferences: colours that the overlay takes, the tab that the panels are in."""

from __future__ import annotations

import sys

import addon_utils
import bpy
import pytest

from addon.ui.panels import sidebar as tab
from addon.ui.panels.bounds import COLLISION_BOUNDS_PT_bounds
from addon.ui.properties.preferences import preferences


@pytest.fixture
def enabled():
    """The extension switched on as Blender does it, which gives it preferences."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert addon_utils.enable("addon", default_set=True) is sys.modules["addon"]
    yield bpy.context.preferences.addons["addon"].preferences
    addon_utils.disable("addon", default_set=True)


def test_defaults_without_blender_are_those_with_it(enabled):
    within = preferences()
    assert within == enabled
    kept = {name: getattr(within, name) for name in ("free_color", "contact_color", "padding", "tab_name")}
    kept = {name: value if isinstance(value, (str, float)) else tuple(value) for name, value in kept.items()}
    addon_utils.disable("addon", default_set=True)
    without = preferences()
    for name, value in kept.items():
        assert value == (pytest.approx(getattr(without, name)) if name != "tab_name" else without.tab_name)


@pytest.mark.smoke
def test_panels_move_to_the_tab_of_that_name_and_back(enabled):
    def tabs():
        return {panel.bl_rna.identifier: panel.bl_category for panel in tab.Tab.__subclasses__()}

    before = tabs()
    assert set(before.values()) == {tab.NAME}
    enabled.tab_name = "Item"
    assert tabs() == dict.fromkeys(before, "Item")
    assert all(panel.is_registered for panel in tab.Tab.__subclasses__())
    assert list(tabs()) == list(before), "panels keep their order"
    enabled.tab_name = " "
    assert COLLISION_BOUNDS_PT_bounds.bl_category == tab.NAME


@pytest.mark.smoke
def test_the_chosen_tab_is_there_after_switching_off_and_on(enabled):
    enabled.tab_name = "Physics"
    addon_utils.disable("addon")
    assert tab.Tab.bl_category == tab.NAME
    addon_utils.enable("addon")
    assert COLLISION_BOUNDS_PT_bounds.bl_category == "Physics"
    preferences().tab_name = tab.NAME


@pytest.mark.smoke
def test_padding_of_the_preferences_is_that_of_scenes_without_one(enabled):
    enabled.padding = 0.25
    bpy.ops.mesh.primitive_cube_add()
    settings = bpy.context.scene.collision_bounds
    bpy.ops.collision_bounds.compute_bounds()
    assert settings.padding == 0.25
    settings.padding = 0.0
    bpy.ops.collision_bounds.find_contacts()
    assert settings.padding == 0.0, "what was set stays"
    enabled.padding = 0.0
