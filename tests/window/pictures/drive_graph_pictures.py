"""In Blender's window: pictures of the separation over time, small and large, and of timeline bars."""

from __future__ import annotations

import bpy
from picture_steps import Pictures, reach_button, toggle_panel, with_look
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

_HEADER = 36
"""Pixels from the menu of the shape up to the header above it, at a scale of 1."""


@with_look
def scenario(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of both graphs of a pair that touches twice."""
    empty_scene(100)
    add_box("Conveyor_Section_With_A_Very_Long_Name.Wall", 0)
    mover = add_box("Conveyor_Section_With_A_Very_Long_Name.Mover", -4)
    move(mover, (10, -4, 0, 0), (40, 3, 0, 0), (70, -0.6, 0, 0), (90, -5, 0, 0))
    driver.settings.scope = "VISIBLE"
    scale = bpy.context.preferences.system.ui_scale
    yield from toggle_panel(driver, 0)
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: driver.settings.rows, "the scan ends")
    yield from driver.click_button("collision_bounds.active_row")
    x, y = yield from reach_button(driver, "collision_bounds.shape")
    yield from driver.move_mouse(x, y + _HEADER * scale)
    yield from driver.click()
    yield 2.0
    yield from driver.move_to_viewport()
    yield from pictures.take("small-graph")
    driver.settings.display.show_separation = True
    yield from driver.scroll_sidebar(4)
    yield from driver.move_to_viewport()
    yield from pictures.take("large-graph")
    bpy.context.scene.frame_set(45)
    yield from pictures.take("playhead-between-contacts")
    driver.area.ui_type = "TIMELINE"  # the one below has no room for bars at a scale of 2
    yield from pictures.take("timeline")
