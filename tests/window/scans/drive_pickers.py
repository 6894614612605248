"""In Blender's window: pick the object of group A with the eyedropper, and find contacts."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

EYEDROPPER = 0.865
"""Horizontal position of the eyedropper, as a fraction of the sidebar's width."""
TO_PAIRS = 45
"""Pixels from the shape down to the heading of the options of pairs."""


def scenario(driver: WindowDriver) -> Steps:
    """Open the options of pairs, use the eyedropper on the plate, find contacts."""
    driver.area.spaces.active.show_gizmo = False
    driver.set_view((-2.75, -0.7, 0.6), 12, (1.12, 0.0, -0.42))
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    x, y = yield from driver.find_button(driver.region("UI"), "collision_bounds.shape")
    yield from driver.move_mouse(x, y - TO_PAIRS)
    yield from driver.click()
    yield from driver.wait_for_redraw()
    region = driver.region("UI")
    _, y = yield from driver.find_button(region, "pickers.group_a.object")
    yield from driver.note("pairs")
    yield from driver.move_mouse(region.x + EYEDROPPER * region.width, y)
    yield from driver.click()
    plate = bpy.data.objects["Plate"].matrix_world.translation
    yield from driver.move_mouse(*driver.window_position(plate))
    yield from driver.wait_for_redraw()
    yield from driver.click()
    chosen = driver.settings.pickers.group_a.object
    yield from driver.note("chosen", chosen=chosen.name if chosen else None)
    yield from driver.find_contacts()
    yield from driver.note("found")
