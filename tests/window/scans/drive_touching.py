"""In Blender's window: the panel of what touches now, a click on a pair, and a move."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

LONG = "Warehouse_Shelf_Section_North_"


def add_objects() -> None:
    """Make a scene: a long cart moves past boxes, several of which it touches at a time."""
    scene = bpy.context.scene
    for item in bpy.data.objects[:]:
        bpy.data.objects.remove(item)
    scene.frame_start, scene.frame_end = 1, 50
    for number in range(12):
        bpy.ops.mesh.primitive_cube_add(size=1, location=(2 * number, 0, 0))
        bpy.context.object.name = f"{LONG}Box_{number:02}"
    bpy.ops.mesh.primitive_cube_add(size=1, location=(-10, 0.6, 0))
    cart = bpy.context.object
    cart.name, cart.scale.x = f"{LONG}Cart", 5
    cart.keyframe_insert("location", frame=1)
    cart.location.x = 22
    cart.keyframe_insert("location", frame=50)
    bpy.ops.object.select_all(action="DESELECT")
    scene.frame_set(1)


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds, open the panel, play, click a pair, move an object."""
    add_objects()
    view = driver.area.spaces.active
    view.show_gizmo = view.overlay.show_floor = False
    driver.set_view((8, 0, 0), 40, (0, 0, 0))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.settings.result_id, "bounds are computed")
    # The panel has no button while it is closed. It is above Display.
    x, y = yield from driver.find_button(
        driver.region("UI"), "collision_bounds.display.show_overlay", across=0.12
    )
    yield from driver.move_mouse(x + 80, y + 27)
    yield from driver.click()
    yield from driver.note("nothing")
    bpy.context.scene.frame_set(26)
    yield from driver.note("at 26")
    yield from driver.click_button("collision_bounds.select_touching", across=0.2)
    yield from driver.note("clicked")
    yield from driver.press_keys("g", "y", "9", "Return")
    yield from driver.wait_for_redraw()
    yield from driver.note("moved")


run(scenario)
