"""In Blender's window: drag an object, undo the drag, redo it, cancel one, and confirm one without motion.

After that, clicks that change nothing in the scene, which has a rigid body.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

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
    context = {"window": driver.window, "area": driver.area, "region": driver.region("WINDOW")}
    with bpy.context.temp_override(**context):
        bpy.ops.object.select_all(action="DESELECT")
        box.select_set(True)
        bpy.context.view_layer.objects.active = box
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", True, scope="VISIBLE")
        bpy.ops.ed.undo_push(message="Found")
    yield from driver.wait_for_redraw()


def click_without_edit(driver: WindowDriver, stale: dict[str, bool], is_stale: Callable[[], bool]) -> Steps:
    """Sort the list, hide a row, and cancel drags before anything moves."""
    yield from driver.open_tab("Collision Bounds")
    for heading in (0.2, 0.85):
        yield from driver.click_button("sort_contacts", across=heading)
    stale["sorted"] = is_stale()
    yield from driver.click_row("Plate", "Projectile")
    yield from driver.click_button("hidden", across=_EYE)
    stale["row hidden"] = is_stale()
    yield from driver.move_to_viewport()
    for name in ("Crate", "Dragged"):
        bpy.ops.object.select_all(action="DESELECT")
        bpy.data.objects[name].select_set(True)
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
        yield from driver.press_keys("g")
        yield from driver.press_keys("Escape")
        stale[f"{name} canceled at once"] = is_stale()


def scenario(driver: WindowDriver) -> Steps:
    """Note after each step whether results are stale."""
    from bl_ext.user_default.collision_bounds.scene.jobs import result_store

    def is_stale() -> bool:
        return result_store.get(driver.settings.result_id).stale

    yield from find_contacts_of_new_object(driver)
    stale = {"found": is_stale()}
    yield from driver.move_to_viewport()
    yield from driver.press_keys("g", "x")
    region = driver.region("WINDOW")
    for part in (0.5, 0.55, 0.6):
        yield from driver.move_mouse(region.x + part * region.width, region.y + 0.2 * region.height)
    stale["during drag"] = is_stale()
    yield from driver.press_keys("Return")
    stale["dragged"] = is_stale()
    dragged_x = bpy.data.objects["Dragged"].location.x
    yield from driver.press_keys("ctrl+z")
    stale["undone"] = is_stale()
    undone_x = bpy.data.objects["Dragged"].location.x
    yield from driver.press_keys("ctrl+shift+z")
    stale["redone"] = is_stale()
    yield from driver.press_keys("ctrl+z")
    stale["undone again"] = is_stale()
    yield from driver.press_keys("g", "x")
    for part in (0.5, 0.55, 0.6):
        yield from driver.move_mouse(region.x + part * region.width, region.y + 0.2 * region.height)
    stale["during second drag"] = is_stale()
    yield from driver.press_keys("Escape")
    stale["canceled"] = is_stale()
    yield from driver.press_keys("g", "x", "0", "Return")
    stale["confirmed without motion"] = is_stale()
    yield from find_contacts(driver)
    yield from click_without_edit(driver, stale, is_stale)
    yield from driver.note("end", screenshot=False, stale=stale, dragged_x=dragged_x, undone_x=undone_x)


run(scenario)
