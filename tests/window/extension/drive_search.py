"""In Blender's window: type common terms into the operator search, and run the first result."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

TERMS = ("compute bounds", "find contacts")


def count_operators() -> int:
    """Return the number of operators that Blender lists as run."""
    return len(bpy.context.window_manager.operators)


def scenario(driver: WindowDriver) -> Steps:
    """Search for each of the terms and press Return."""
    settings = driver.settings
    settings.scope, settings.use_scene_range, settings.frame_end = "VISIBLE", False, 3
    for term in TERMS:
        # The list opens below, so the mouse rests on the text field and highlights none of the results.
        region = driver.region("WINDOW")
        yield from driver.move_mouse(region.x + 0.45 * region.width, region.y + 0.6 * region.height)
        # Its key, F3, is reserved by some window managers.
        with driver.context():
            bpy.ops.wm.search_menu("INVOKE_DEFAULT")
        yield from driver.wait_for_redraw()
        driver.xdotool("type", "--delay", 60, term)
        yield 0.6

        wanted = count_operators() + 1
        yield from driver.press_keys("Return")
        # A scan is listed when it ends.
        yield from driver.wait_until(
            lambda least=wanted: count_operators() >= least, f"an operator has run for {term}"
        )
        yield from driver.note(term, screenshot=False)
