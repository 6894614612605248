"""In Blender's window: pictures of overlaps at rest, of a scan in progress, warnings, Touching Now."""

from __future__ import annotations

import bpy
from picture_steps import Pictures, toggle_panel, with_look
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver


def static_overlaps(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of two boxes at rest that overlap, skipped and included."""
    empty_scene(50)
    add_box("Warehouse Floor Left", -0.3)
    add_box("Warehouse Floor Right", 0.3)
    move(add_box("Mover", 9, 9), (1, 9, 9, 0), (50, 9, -9, 0))
    driver.set_view((0.8, 0, 0), 7, (1.1, 0, 0.5))
    driver.settings.scope = "VISIBLE"
    yield from toggle_panel(driver, 0)
    yield from driver.find_contacts()
    yield from pictures.take("static-overlaps-skipped")
    yield from driver.find_contacts("static_pairs=True")
    yield from pictures.take("static-overlaps-included")
    yield from driver.click_button("collision_bounds.active_row")
    yield from pictures.take("static-overlap-active")


def change(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the warning after an object has moved, and of all warnings in full."""
    yield from driver.move_to_viewport()
    yield from driver.press_keys("g", "x", "1", "Return")
    driver.settings.padding = 0.1
    yield from pictures.take("scene-changed")
    region, scale = driver.region("UI"), bpy.context.preferences.system.ui_scale
    x, y = yield from driver.find_button(region, "collision_bounds.find_contacts")
    yield from driver.move_mouse(x, y - 32 * scale)
    yield from driver.click()
    yield from pictures.take("warnings-in-full")
    yield from driver.move_to_viewport()


def progress(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures while a scan runs, while it stops, and of a partial result."""
    settings = driver.settings
    settings.use_scene_range, settings.frame_end = False, 100_000
    yield from driver.click_button("collision_bounds.find_contacts")
    yield 2.5
    yield from pictures.take("scan-in-progress")
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the scan ends")
    yield from pictures.take("partial")
    settings.use_scene_range, settings.padding = True, 0.0


def touching(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of Touching Now with few and with many pairs, of long names."""
    yield from toggle_panel(driver, 3)
    yield from toggle_panel(driver, 4)
    yield from pictures.take("touching-now-few")
    for number in range(12):
        add_box(f"Warehouse_Shelf_Section_North_Box_{number:02}", 0.9 * number, 3)
    yield from driver.wait_for_redraw()
    with bpy.context.temp_override(window=driver.window):
        bpy.ops.collision_bounds.compute_bounds()
    driver.set_view((4, 2, 0), 18, (1.0, 0, 0.5))
    yield from pictures.take("touching-now-many")
    yield from driver.click_button("collision_bounds.select_touching", across=0.2)
    yield from pictures.take("touching-now-clicked")


@with_look
def scenario(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take all pictures of scans."""
    yield from static_overlaps(driver, pictures)
    yield from change(driver, pictures)
    yield from progress(driver, pictures)
    yield from touching(driver, pictures)
