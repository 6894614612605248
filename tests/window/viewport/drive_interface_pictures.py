"""In Blender's window: take a picture of each part of the interface, in a theme and at a scale."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

_HEADER = 26
"""Pixels from one folded heading to the next, at a scale of 1."""
LONG = ("Warehouse Conveyor Belt Left Segment", "Warehouse Conveyor Belt Right Segment")


class Pictures:
    """Takes numbered pictures."""

    def __init__(self, driver: WindowDriver) -> None:
        self._driver, self._number = driver, 0

    def take(self, name: str) -> Steps:
        """Take a picture, with the mouse where it is."""
        self._number += 1
        yield from self._driver.wait_for_redraw()
        self._driver.take_screenshot(self._driver.folder / f"{self._number:02}-{name}.png")
        self._driver.notes.setdefault("pictures", []).append(f"{self._number:02}-{name}")


def context_of(driver: WindowDriver, kind: str = "WINDOW") -> Any:
    """Return a context override for a region of the viewport."""
    return bpy.context.temp_override(
        window=driver.window, area=driver.area, region=driver.region(kind), screen=driver.window.screen
    )


def set_look(theme: str, scale: float) -> None:
    """Use a theme of Blender and a scale of the interface."""
    preferences = bpy.context.preferences
    if theme == "light":
        path = next(Path(bpy.utils.resource_path("SYSTEM")).rglob("Blender_Light.xml"), None)
        path = path or next(Path(bpy.utils.resource_path("LOCAL")).rglob("Blender_Light.xml"))
        bpy.ops.script.execute_preset(filepath=str(path), menu_idname="USERPREF_MT_interface_theme_presets")
    preferences.view.ui_scale = scale


def toggle_panel(driver: WindowDriver, number: int) -> Steps:
    """Open or fold a panel by a click on its heading, counted from the top while those above are folded."""
    region, scale = driver.region("UI"), bpy.context.preferences.system.ui_scale
    top = region.y + region.height - 16 * scale
    yield from driver.move_mouse(region.x + 0.4 * region.width, top - number * _HEADER * scale)
    yield from driver.click()


def find(driver: WindowDriver) -> None:
    """Find contacts of all visible objects in one piece."""
    with context_of(driver):
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")


def results(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take the pictures of results in the sidebar and the viewport."""
    settings, display = driver.settings, driver.settings.display
    yield from pictures.take("nothing-selected")
    with context_of(driver):
        bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    yield from pictures.take("bounds")
    yield from toggle_panel(driver, 0)
    find(driver)
    yield from pictures.take("list-and-counts")
    settings.active_row = next(k for k, row in enumerate(settings.rows) if row.frame % 1)
    yield from pictures.take("active-row-and-subframe")
    display.show_names = True
    yield from pictures.take("labels")
    display.show_names = False
    settings.active_row = -1
    yield from pictures.take("contact-and-free")
    for name, item in zip(LONG, ("Projectile", "Plate"), strict=True):
        bpy.data.objects[item].name = name
    find(driver)
    yield from pictures.take("long-names")
    settings.active_row = 0
    yield from pictures.take("long-names-active")
    region = driver.region("UI")
    yield from driver.move_mouse(region.x + 0.4 * region.width, region.y + 0.7 * region.height)
    yield 1.5
    yield from pictures.take("tooltip")


def objects(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take the pictures of panels further down."""
    item = bpy.data.objects["Crate"]
    bpy.context.view_layer.objects.active = item
    item.select_set(True)
    item.collision_bounds.use_object_settings = True
    yield from toggle_panel(driver, 1)  # Contacts, while Bounds is folded
    for number, name in enumerate(("touching-now", "display", "colliders-panel"), 2):
        yield from toggle_panel(driver, number)
        yield from pictures.take(name)
        yield from toggle_panel(driver, number)
    yield from toggle_panel(driver, 0)
    yield from pictures.take("bounds-of-active-object")
    with context_of(driver):
        bpy.ops.collision_bounds.create_colliders(scope="SELECTED", kind="hull")
    yield from pictures.take("colliders-drawn")
    yield from driver.move_to_viewport()
    with context_of(driver):
        bpy.ops.wm.call_menu_pie("INVOKE_DEFAULT", name="COLLISION_BOUNDS_MT_pie")
    yield from pictures.take("menu")
    yield from driver.press_keys("Escape")


def scenario(driver: WindowDriver) -> Steps:
    """Take all pictures, in the theme and at the scale of the command line."""
    theme, scale = sys.argv[-2], float(sys.argv[-1])
    set_look(theme, scale)
    yield from driver.wait_for_redraw()
    driver.set_view((-1.0, 0.0, 0.6), 14, (1.1, 0, 0.4))
    bpy.ops.object.select_all(action="DESELECT")
    with context_of(driver):
        driver.area.spaces.active.show_region_ui = True
    yield 1.0
    driver.region("UI").active_panel_category = "Collision Bounds"
    yield from driver.wait_for_redraw()
    pictures = Pictures(driver)
    yield from results(driver, pictures)
    yield from objects(driver, pictures)


run(scenario)
