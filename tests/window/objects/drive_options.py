"""In Blender's window: choose a preset, change the overlay color, and scan with options of folded panels."""

from __future__ import annotations

import bpy
from window_driver import PACKAGE, Steps, WindowDriver

TO_SCAN, TO_PAIRS = -26, -47
"""Pixels from the shape down to the folded headings of Scan and of Pairs."""
MESHES = "7"
"""Key of the entry in the menu of shapes, which is the seventh one."""
OPTIONS = ("shape", "motion", "ignore_parents", "static_pairs")


def choose_preset(driver: WindowDriver) -> Steps:
    """Open the menu of presets and click below its button until the padding is the preset's."""
    region = driver.region("UI")
    x, y = region.x + 0.77 * region.width, region.y + region.height - 16
    for entry in range(1, 6):
        yield from driver.move_mouse(x, y)
        yield from driver.click()
        yield from driver.move_mouse(x - 20, y - 14 - 14 * entry)
        if entry == 1:
            driver.take_screenshot(driver.folder / "menu.ppm")
        yield from driver.click()
        is_chosen = driver.settings.padding > 0
        yield from driver.move_to_viewport()
        yield from driver.press_keys("Escape")  # because a chosen preset leaves the menu open
        if is_chosen:
            return
    raise LookupError("the menu of presets has no entry that sets a padding")


def set_scan_options(driver: WindowDriver) -> Steps:
    """Choose meshes as the shape, open the folded panels Scan and Pairs, and change the options in them."""
    driver.settings.shape = "aabb"  # meshes are the shape at first
    yield from driver.click_panel_headers(0)  # fold Bounds, to make room for the panels below
    yield from driver.click_button("collision_bounds.shape")
    yield from driver.press_keys(MESHES)
    yield from driver.wait_until(lambda: driver.settings.shape == "mesh", "meshes are chosen")
    yield from driver.move_to_viewport()
    for distance in (TO_PAIRS, TO_SCAN):
        x, y = yield from driver.find_button(driver.region("UI"), "collision_bounds.shape")
        yield from driver.move_mouse(x, y + distance)
        yield from driver.click()
    yield from driver.find_button(driver.region("UI"), "collision_bounds.motion")
    yield from driver.turn_wheel()  # the wheel steps through a menu's entries
    for option in ("ignore_parents", "static_pairs"):
        yield from driver.click_button(f"collision_bounds.{option}")
    yield from driver.note("options", **{name: getattr(driver.settings, name) for name in OPTIONS})


def scenario(driver: WindowDriver) -> Steps:
    """Save a preset, change its settings, change a color, choose the preset, scan with other options."""
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    settings = driver.settings
    settings.padding, settings.box_axes, settings.scope = 0.125, "smallest", "VISIBLE"
    bpy.ops.collision_bounds.preset_add(name="Padded")
    settings.padding, settings.box_axes, settings.scope = 0.0, "checked", "SELECTED"
    bpy.ops.object.select_all(action="SELECT")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("default settings")
    preferences = bpy.context.preferences.addons[PACKAGE].preferences
    blue = tuple(preferences.free_color)
    preferences.free_color = (0.0, 1.0, 0.0, 1.0)
    yield from driver.wait_for_redraw()
    yield from driver.note("green")
    preferences.free_color = blue

    yield from choose_preset(driver)
    yield from driver.move_to_viewport()
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("preset chosen")

    driver.settings.padding, driver.settings.box_axes = 0.0, "checked"
    yield from set_scan_options(driver)
    yield from driver.find_contacts()
    rows = [row for row in driver.settings.rows if not row.is_near_miss]
    result = driver.result.contacts
    contacts = [
        (row.a, row.b, result.report.contacts[row.index].first.motion == "linear", row.frame) for row in rows
    ]
    yield from driver.note("found", contacts=contacts, shape=result.scanned.shape)
