"""In Blender's window: undo, redo, changed options, and a scan that is stopped with Esc."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run


def is_running() -> bool:
    """Return whether a scan is running."""
    return sys.modules["bl_ext.user_default.collision_bounds.ui.job_state"].running() is not None


def write_document(driver: WindowDriver, name: str) -> None:
    """Write the shown result to a file; the export button has a separate test."""
    bpy.ops.collision_bounds.export_json(filepath=str(driver.folder / f"{name}.json"))


def undo_and_redo(driver: WindowDriver) -> Steps:
    """Compute bounds, undo, redo."""
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    bpy.ops.ed.undo_push(message="Objects")
    yield from driver.note("before")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed")
    write_document(driver, "computed")
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone")
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone")
    write_document(driver, "redone")


def change_options(driver: WindowDriver) -> Steps:
    """Compute bounds, and change padding and axes in the Adjust Last Operation panel."""
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.move_to_redo_option(2)  # padding
    yield from driver.click(times=2)
    yield from driver.press_keys("ctrl+a", "0", "period", "2", "5", "Return")
    yield from driver.note("padded")
    write_document(driver, "padded")
    yield from driver.move_to_redo_option(1)  # box axes
    driver.xdotool(
        "keydown", "ctrl", "click", 5, "click", 5, "keyup", "ctrl"
    )  # the wheel steps through a menu's entries
    yield from driver.wait_for_redraw()
    yield from driver.note("other axes")
    write_document(driver, "other axes")


def stop_a_scan(driver: WindowDriver) -> Steps:
    """Stop a scan of many frames with Esc, then run a scan to its end."""
    scene = bpy.context.scene
    for name in ("Crate", "Cart"):
        bpy.data.objects[name].select_set(True)
    scene.frame_set(7, subframe=0.25)
    driver.settings.use_scene_range = False
    driver.settings.frame_end = 1_000_000
    yield from driver.note("before scan")
    yield from driver.click_button("collision_bounds.find_contacts")
    # All pairs have touched by frame 60, and frames are solved in blocks of up to 256.
    yield from driver.wait_for_scan(400)
    yield from driver.note("scanning")
    yield from driver.press_keys("Escape")
    # The status bar shows hints for the region that the mouse entered last. A scan delays that update.
    yield from driver.move_mouse(driver.region("UI").x + 20, driver.region("UI").y + 20)
    yield from driver.wait_until(lambda: len(driver.settings.rows), "the scan stops")
    yield from driver.note("stopped")
    write_document(driver, "stopped")
    driver.settings.use_scene_range = True
    partial = driver.settings.result_id
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: driver.settings.result_id != partial, "the second scan ends")
    yield from driver.note("complete")


def repeat_a_scan(driver: WindowDriver) -> Steps:
    """Start a scan with Repeat Last, stop it with Esc, and undo."""
    complete = driver.settings.result_id
    driver.settings.use_scene_range, driver.settings.frame_end = False, 20_000
    yield from driver.move_to_viewport()
    yield from driver.press_keys("shift+r")
    yield from driver.wait_for_scan(60)
    driver.notes["repeating"] = {"running": is_running()}
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: not is_running(), "the repeated scan stops")
    driver.settings.use_scene_range = True
    yield from driver.note("repeated", is_new=driver.settings.result_id != complete)
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("repeat undone", is_new=driver.settings.result_id != complete)


def scenario(driver: WindowDriver) -> Steps:
    """Undo and redo, change options, stop a scan, repeat a scan."""
    yield from undo_and_redo(driver)
    yield from change_options(driver)
    yield from stop_a_scan(driver)
    yield from repeat_a_scan(driver)


run(scenario)
