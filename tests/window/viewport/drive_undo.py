"""In Blender's window: undo, redo, changed options, and a scan that is repeated and stopped with Esc."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver


def undo_and_redo(driver: WindowDriver) -> Steps:
    """Compute bounds, undo, redo."""
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    bpy.ops.ed.undo_push(message="Objects")
    yield from driver.note("before")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed")
    driver.write_document("computed")
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone")
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone")
    driver.write_document("redone")


def change_options(driver: WindowDriver) -> Steps:
    """Compute bounds, and change padding and axes in the Adjust Last Operation panel."""
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.move_to_redo_option(2)  # padding
    yield from driver.click(times=2)
    yield from driver.press_keys("ctrl+a", "0", "period", "2", "5", "Return")
    yield from driver.note("padded")
    driver.write_document("padded")
    yield from driver.move_to_redo_option(1)  # box axes
    for _ in range(2):
        yield from driver.turn_wheel()
    yield from driver.note("other axes")
    driver.write_document("other axes")


def repeat_a_scan(driver: WindowDriver) -> Steps:
    """Run a scan, start another one with Repeat Last, stop it with Esc, and undo."""
    yield from driver.find_contacts()
    complete = driver.settings.result_id
    driver.settings.use_scene_range, driver.settings.frame_end = False, 20_000
    yield from driver.move_to_viewport()
    yield from driver.press_keys("shift+r")
    yield from driver.wait_for_scan(60)
    driver.notes["repeating"] = {"running": driver.scan is not None}
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the repeated scan stops")
    driver.settings.use_scene_range = True
    yield from driver.note("repeated", is_new=driver.settings.result_id != complete)
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("repeat undone", is_new=driver.settings.result_id != complete)


def scenario(driver: WindowDriver) -> Steps:
    """Undo and redo, change options, repeat a scan."""
    yield from undo_and_redo(driver)
    yield from change_options(driver)
    yield from repeat_a_scan(driver)
