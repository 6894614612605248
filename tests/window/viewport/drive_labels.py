"""In Blender's window: names of many objects with long names, switched on by a click."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

SIDE, SPACING = 6, 3.0
PREFIX = "Warehouse_Shelf_Section_North_"


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds of a grid of boxes, open the Display panel, switch names on."""
    for item in bpy.data.objects[:]:
        bpy.data.objects.remove(item)
    for column in range(SIDE):
        for row in range(SIDE):
            bpy.ops.mesh.primitive_cube_add(size=1, location=(SPACING * column, SPACING * row, 0))
            bpy.context.object.name = f"{PREFIX}Upper_Platform_{column:02}_{row:02}_Left_Hand_Side"
    view = driver.area.spaces.active
    view.show_gizmo = view.overlay.show_floor = False
    view.overlay.show_axis_x = view.overlay.show_axis_y = False
    middle = SPACING * (SIDE - 1) / 2
    driver.set_view((middle, middle, 0), 28, (0, 0, 0))
    bpy.ops.object.select_all(action="DESELECT")
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.settings.result_id, "bounds are computed")
    # Fold the first panel, so that there is room for all options of Display.
    region = driver.region("UI")
    yield from driver.move_mouse(region.x + 0.4 * region.width, region.y + region.height - 16)
    yield from driver.click()
    yield from driver.wait_for_redraw()
    x, y = yield from driver.find_button(
        driver.region("UI"), "collision_bounds.display.show_overlay", across=0.12
    )
    yield from driver.move_mouse(x + 80, y)
    yield from driver.click()
    yield from driver.wait_for_redraw()
    yield from driver.note("without names")
    yield from driver.click_button("collision_bounds.display.show_names")
    middles = [driver.window_position(item.location) for item in bpy.context.scene.objects]
    back, text = (
        list(color)[:3]
        for color in (
            bpy.context.preferences.themes[0].user_interface.wcol_tooltip.inner,
            bpy.context.preferences.themes[0].user_interface.wcol_tooltip.text,
        )
    )
    yield from driver.note(
        "names", show_names=driver.settings.display.show_names, middles=middles, back=back, text=text
    )


run(scenario)
