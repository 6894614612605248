"""In Blender's window: take pictures of all panels in a language, at the default width of the sidebar."""

from __future__ import annotations

import sys

import bpy
from picture_steps import Pictures, find, toggle_panel
from window_driver import PACKAGE, Steps, WindowDriver, module

PANELS = ("bounds", "active-object", "colliders", "contacts", "touching-now", "display", "export")
"""Panels of the tab, in its order."""


def open_subpanels() -> None:
    """Open all subpanels, before Blender draws them for the first time."""
    panels = module("ui.panels.sidebar")
    panels.folded.__defaults__ = (False, *panels.folded.__defaults__[1:])
    found = [cls for cls in bpy.types.Panel.__subclasses__() if cls.__module__.startswith(f"{PACKAGE}.ui")]
    for cls in found:
        if getattr(cls, "bl_parent_id", "").endswith(("_bounds", "_active_object")):
            bpy.utils.unregister_class(cls)
            cls.bl_options = set(cls.bl_options) - {"DEFAULT_CLOSED"}
            bpy.utils.register_class(cls)


def prepare(driver: WindowDriver) -> Steps:
    """Switch the language, show results and the tab, and fold all panels."""
    view = bpy.context.preferences.view
    view.language = sys.argv[-1]
    open_subpanels()
    view.use_translate_interface = view.use_translate_tooltips = view.use_translate_reports = True
    item = bpy.data.objects["Crate"]
    bpy.context.view_layer.objects.active = item
    settings = item.collision_bounds
    settings.use_object_settings, settings.override = True, "box"
    with driver.context():
        driver.area.spaces.active.show_region_ui = True
    yield 1.0
    driver.region("UI").active_panel_category = "Collision Bounds"
    yield from driver.wait_for_redraw()
    find(driver)
    driver.settings.active_row = 0
    with driver.context():
        bpy.ops.collision_bounds.create_colliders(scope="SELECTED")
        bpy.ops.collision_bounds.check_colliders()
        bpy.ops.collision_bounds.measure_fit()


def scenario(driver: WindowDriver) -> Steps:
    """Take a picture of each panel alone, and of a tooltip."""
    pictures = Pictures(driver)
    yield from prepare(driver)
    driver.notes["locale"] = bpy.app.translations.locale
    driver.notes["width"] = driver.region("UI").width
    yield from pictures.take("first")
    # Bounds and Contacts are open at first.
    yield from toggle_panel(driver, 0)
    yield from pictures.take("contacts")
    yield from driver.scroll_sidebar(5)
    yield from pictures.take("contacts-below")
    yield from driver.scroll_sidebar(4)
    yield from toggle_panel(driver, 3)
    for number, name in enumerate(PANELS):
        if name != "contacts":
            yield from toggle_panel(driver, number)
            yield from pictures.take(name)
            yield from driver.scroll_sidebar(5)
            yield from pictures.take(f"{name}-below")
            yield from driver.scroll_sidebar(4)
            yield from toggle_panel(driver, number)
