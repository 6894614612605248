"""Preferences: colors of the overlay, default padding, and the tab of the panels."""

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
    """Return the preferences of the extension, enabled as Blender does it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    assert addon_utils.enable("addon", default_set=True) is sys.modules["addon"]
    yield bpy.context.preferences.addons["addon"].preferences
    addon_utils.disable("addon", default_set=True)


def test_defaults_are_equal_with_and_without_preferences(enabled):
    stored = preferences()
    assert stored == enabled
    kept = {name: getattr(stored, name) for name in ("free_color", "contact_color", "padding", "tab_name")}
    kept = {name: value if isinstance(value, (str, float)) else tuple(value) for name, value in kept.items()}
    addon_utils.disable("addon", default_set=True)
    defaults = preferences()
    for name, value in kept.items():
        assert value == (pytest.approx(getattr(defaults, name)) if name != "tab_name" else defaults.tab_name)


@pytest.mark.smoke
def test_panels_move_to_renamed_tab_and_back(enabled):
    def panels():
        return [panel for panel in bpy.types.Panel.__subclasses__() if issubclass(panel, tab.Tab)]

    def tabs():
        return {panel.bl_rna.identifier: panel.bl_category for panel in panels()}

    before = tabs()
    assert set(before.values()) == {tab.NAME}
    enabled.tab_name = "Item"
    assert tabs() == dict.fromkeys(before, "Item")
    assert all(panel.is_registered for panel in panels())
    assert list(tabs()) == list(before), "panels keep their order"
    enabled.tab_name = " "
    assert COLLISION_BOUNDS_PT_bounds.bl_category == tab.NAME


@pytest.mark.smoke
def test_tab_name_survives_disabling_and_enabling(enabled):
    enabled.tab_name = "Physics"
    addon_utils.disable("addon")
    assert tab.Tab.bl_category == tab.NAME
    addon_utils.enable("addon")
    assert COLLISION_BOUNDS_PT_bounds.bl_category == "Physics"
    preferences().tab_name = tab.NAME


@pytest.mark.smoke
def test_default_padding_applies_to_scenes_without_padding(enabled):
    enabled.padding = 0.25
    bpy.ops.mesh.primitive_cube_add()
    settings = bpy.context.scene.collision_bounds
    bpy.ops.collision_bounds.compute_bounds()
    assert settings.padding == 0.25
    settings.padding = 0.0
    bpy.ops.collision_bounds.find_contacts()
    assert settings.padding == 0.0, "padding that was set is kept"
    enabled.padding = 0.0
