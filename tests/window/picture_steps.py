"""Steps of the scripts that take pictures of the interface, in a theme and at a scale."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bpy
from window_driver import Steps, WindowDriver

_HEADER = 26
"""Pixels from one folded heading to the next, at a scale of 1."""
_EDGE, _TABS = 8, 28
"""Pixels at a scale of 1 to the left and to the right of the panels of the sidebar."""


class Pictures:
    """Takes numbered pictures."""

    def __init__(self, driver: WindowDriver) -> None:
        self._driver, self._number = driver, 0

    def take(self, name: str) -> Steps:
        """Take a picture of the screen, with the mouse where it is."""
        self._number += 1
        yield from self._driver.wait_for_redraw()
        numbered = f"{self._number:02}-{name}"
        self._driver.take_screenshot(self._driver.folder / f"{numbered}.png")
        self._driver.notes.setdefault("pictures", []).append(numbered)

    def crop_panel(self, name: str, below: float, tall: float) -> None:
        """Crop a panel of the sidebar from the picture that was taken last.

        Parameters
        ----------
        name
            name of the cropped picture
        below, tall
            pixels between the top of the sidebar and the panel, and its height, at a scale of 1
        """
        driver, scale = self._driver, bpy.context.preferences.system.ui_scale
        region = driver.region("UI")
        top = driver.window.height - region.y - region.height + below * scale
        left, width = region.x + _EDGE * scale, region.width - (_EDGE + _TABS) * scale
        geometry = f"{width:.0f}x{tall * scale:.0f}+{left:.0f}+{top:.0f}"
        taken = driver.folder / f"{driver.notes['pictures'][-1]}.png"
        cropped = driver.folder / f"{name}.png"
        palette = ["+dither", "-colors", "64", "-strip", f"png8:{cropped}"]
        subprocess.run(["convert", taken, "-crop", geometry, "+repage", *palette], check=True)
        driver.notes.setdefault("panels", []).append(name)


def set_look(theme: str, scale: float) -> None:
    """Use a theme of Blender and a scale of the interface."""
    preferences = bpy.context.preferences
    if theme == "light":
        path = next(Path(bpy.utils.resource_path("SYSTEM")).rglob("Blender_Light.xml"), None)
        path = path or next(Path(bpy.utils.resource_path("LOCAL")).rglob("Blender_Light.xml"))
        bpy.ops.script.execute_preset(filepath=str(path), menu_idname="USERPREF_MT_interface_theme_presets")
    preferences.view.ui_scale = scale


def with_look(scenario: Callable[[WindowDriver, Pictures], Steps]) -> Callable[[WindowDriver], Steps]:
    """Return the scenario with the look of the command line, the tab open, and without a selection."""

    def prepared(driver: WindowDriver) -> Steps:
        set_look(sys.argv[-2], float(sys.argv[-1]))
        driver.draw_details(True)
        yield from driver.wait_for_redraw()
        driver.set_view((-1.0, 0.0, 0.6), 14, (1.1, 0, 0.4))
        bpy.ops.object.select_all(action="DESELECT")
        with driver.context():
            driver.area.spaces.active.show_region_ui = True
        yield 1.0
        driver.region("UI").active_panel_category = "Collision Bounds"
        yield from driver.wait_for_redraw()
        yield from scenario(driver, Pictures(driver))

    return prepared


def toggle_panel(driver: WindowDriver, number: int) -> Steps:
    """Open or fold a panel by a click on its heading, counted from the top while those above are folded."""
    region, scale = driver.region("UI"), bpy.context.preferences.system.ui_scale
    top = region.y + region.height - 16 * scale
    yield from driver.move_mouse(region.x + 0.4 * region.width, top - number * _HEADER * scale)
    yield from driver.click()


def reach_button(driver: WindowDriver, wanted: str) -> Steps:
    """Find a button of the sidebar, wherever it has to be scrolled to, and return its position."""
    for notches in range(3, 30, 3):
        try:
            return (yield from driver.find_button(driver.region("UI"), wanted, rounds=[(0, 0.05)]))
        except LookupError:
            yield from driver.scroll_sidebar(4)
            driver.xdotool("click", "--repeat", notches, 5)
            yield from driver.wait_for_redraw()
    raise LookupError(f"{wanted} is nowhere in the sidebar")


def find(driver: WindowDriver) -> None:
    """Find contacts of all visible objects in one piece."""
    with driver.context():
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")
