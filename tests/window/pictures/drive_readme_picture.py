"""In Blender's window: take the README's picture, the example scene at a contact between two frames."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver


def scenario(driver: WindowDriver) -> Steps:
    """Maximize the viewport, find contacts of all but the floor, and show how two of the objects overlap."""
    with driver.context():
        bpy.ops.screen.screen_full_area()
    yield from driver.wait_for_redraw()
    view = driver.area.spaces.active
    view.show_gizmo = False
    view.show_region_toolbar = False
    for clutter in ("cursor", "extras", "floor", "axis_x", "axis_y", "text", "object_origins"):
        setattr(view.overlay, f"show_{clutter}", False)
    view.shading.show_cavity = True
    yield from driver.open_tab("Collision Bounds")
    for item in bpy.context.view_layer.objects:
        item.select_set(item.name != "Floor")
    driver.settings.scope = "SELECTED"
    with driver.context():
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT")
        bpy.ops.object.select_all(action="DESELECT")
    rows = [(row.a, row.b) for row in driver.settings.rows]
    driver.settings.active_row = [a for a, _ in rows].index("Cart")
    with driver.context():
        bpy.ops.collision_bounds.go_to_deepest()
    cart = bpy.context.scene.objects["Cart"].matrix_world.translation
    view.lens = 80
    driver.set_view(tuple(cart), 5.2, (1.12, 0.0, -0.42))
    yield 10  # until the report in the status bar disappears
    yield from driver.move_to_viewport()
    yield from driver.take_smoothed_screenshot(driver.folder / "window.png")
    yield from driver.note("picture")
