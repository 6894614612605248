"""In Blender's window: drag an object, undo the drag, redo it, cancel one, and confirm one without motion.

After that, clicks that change nothing in the scene, which has a rigid body.
"""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

_EYE = 0.415
"""Horizontal position of the button that hides a row, as a fraction of the sidebar's width."""


def find_contacts_of_new_object(driver: WindowDriver) -> Steps:
    """Add an object away from all others, select it, and find contacts."""
    box = bpy.data.objects.new("Dragged", bpy.data.objects["Plate"].data)
    bpy.context.scene.collection.objects.link(box)
    box.location = (0, 30, 0)
    yield from driver.wait_for_redraw()
    yield from find_contacts(driver)


def find_contacts(driver: WindowDriver) -> Steps:
    """Select the added object alone, and find contacts of all."""
    box = bpy.data.objects["Dragged"]
    with driver.context():
        bpy.ops.object.select_all(action="DESELECT")
        box.select_set(True)
        bpy.context.view_layer.objects.active = box
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", True, scope="VISIBLE")
        bpy.ops.ed.undo_push(message="Found")
    yield from driver.wait_for_redraw()


def drag(driver: WindowDriver) -> Steps:
    """Drag the object along X, without an end."""
    yield from driver.press_keys("g", "x")
    region = driver.region("WINDOW")
    for part in (0.5, 0.55, 0.6):
        yield from driver.move_mouse(region.x + part * region.width, region.y + 0.2 * region.height)


def click_without_edit(driver: WindowDriver, stale: dict[str, bool]) -> Steps:
    """Sort the list, hide a row, and cancel drags before anything moves."""
    yield from driver.open_tab("Collision Bounds")
    for heading in (0.2, 0.85):
        yield from driver.click_button("sort_contacts", across=heading)
    stale["sorted"] = driver.result.stale
    yield from driver.click_row("Plate", "Projectile")
    yield from driver.click_button("hidden", across=_EYE)
    stale["row hidden"] = driver.result.stale
    yield from driver.move_to_viewport()
    for name in ("Crate", "Dragged"):
        bpy.ops.object.select_all(action="DESELECT")
        bpy.data.objects[name].select_set(True)
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        yield from driver.press_keys("g")
        yield from driver.press_keys("Escape")
        stale[f"{name} canceled at once"] = driver.result.stale


def scenario(driver: WindowDriver) -> Steps:
    """Note after each step whether results are stale."""
    yield from find_contacts_of_new_object(driver)
    stale = {"found": driver.result.stale}
    yield from driver.move_to_viewport()
    yield from drag(driver)
    stale["during drag"] = driver.result.stale
    yield from driver.press_keys("Return")
    stale["dragged"] = driver.result.stale
    dragged_x = bpy.data.objects["Dragged"].location.x
    yield from driver.press_keys("ctrl+z")
    stale["undone"] = driver.result.stale
    undone_x = bpy.data.objects["Dragged"].location.x
    yield from driver.press_keys("ctrl+shift+z")
    stale["redone"] = driver.result.stale
    yield from driver.press_keys("ctrl+z")
    stale["undone again"] = driver.result.stale
    yield from drag(driver)
    stale["during second drag"] = driver.result.stale
    yield from driver.press_keys("Escape")
    stale["canceled"] = driver.result.stale
    yield from driver.press_keys("g", "x", "0", "Return")
    stale["confirmed without motion"] = driver.result.stale
    yield from find_contacts(driver)
    yield from click_without_edit(driver, stale)
    yield from driver.note("end", screenshot=False, stale=stale, dragged_x=dragged_x, undone_x=undone_x)
