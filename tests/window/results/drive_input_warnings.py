"""In Blender's window: compute bounds and find contacts while a driver needs scripts, which are blocked."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

NAME = "Warehouse_Gate_With_A_Long_Name"


def scenario(driver: WindowDriver) -> Steps:
    """Open a file with a blocked driver, dismiss Blender's question, and press both buttons."""
    bpy.ops.mesh.primitive_cube_add()
    item = bpy.context.object
    item.name = NAME
    item.driver_add("location", 2).driver.expression = "len(bpy.data.scenes) + frame"
    path = str(driver.folder / "driven.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path, use_scripts=False)
    yield 2
    yield from driver.press_keys("Escape")
    driver.settings.scope = "VISIBLE"
    yield from driver.open_tab("Collision Bounds")
    for button, note in (("compute_bounds", "bounds"), ("find_contacts", "contacts")):
        yield from driver.click_button(f"collision_bounds.{button}")
        yield from driver.wait_until(lambda: bool(driver.settings.result_id), "results")
        shown = driver.result.contacts or driver.result.bounds
        yield from driver.note(note, warnings=[entry.name for entry in shown.warnings])
