"""In Blender's window: names of many objects with long names, switched on by a click."""

from __future__ import annotations

import bpy
from scenes import add_box, empty_scene
from window_driver import Steps, WindowDriver

SIDE, SPACING = 6, 3.0
PREFIX = "Warehouse_Shelf_Section_North_"


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds of a grid of boxes, open the Display panel, switch names on."""
    empty_scene(250)
    for column in range(SIDE):
        for row in range(SIDE):
            name = f"{PREFIX}Upper_Platform_{column:02}_{row:02}_Left_Hand_Side"
            add_box(name, SPACING * column, SPACING * row)
    view = driver.area.spaces.active
    view.show_gizmo = view.overlay.show_floor = False
    view.overlay.show_axis_x = view.overlay.show_axis_y = False
    middle = SPACING * (SIDE - 1) / 2
    driver.set_view((middle, middle, 0), 28, (0, 0, 0))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.settings.result_id, "bounds are computed")
    yield from driver.click_panel_headers(0)  # fold Bounds, so that there is room for all options of Display
    x, y = yield from driver.find_button(
        driver.region("UI"), "collision_bounds.display.show_overlay", across=0.12
    )
    yield from driver.move_mouse(x + 80, y)
    yield from driver.click()
    yield from driver.wait_for_redraw()
    yield from driver.note("without names")
    yield from driver.click_button("collision_bounds.display.show_names")
    middles = [driver.window_position(item.location) for item in bpy.context.scene.objects]
    tooltip = bpy.context.preferences.themes[0].user_interface.wcol_tooltip
    back, text = (list(color)[:3] for color in (tooltip.inner, tooltip.text))
    yield from driver.note(
        "names", show_names=driver.settings.display.show_names, middles=middles, back=back, text=text
    )
