"""In Blender's window: the separation over time of a clicked row, drawn, clicked, exported and keyed."""

from __future__ import annotations

from typing import Any

import bpy
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

PREFIX = "Conveyor_Section_With_A_Very_Long_Name"
EXPORT, KEY = "alt+4", "alt+5"
"""Keys of the 14th and 15th entry of the menu below the list."""
WALL, MOVER = f"{PREFIX}.Wall", f"{PREFIX}.Mover"


def add_objects() -> None:
    """Make a scene: a cube with sides of 0.8 moves through a cube with sides of 1, and out again."""
    empty_scene(100)
    add_box(WALL, 0)
    move(add_box(MOVER, -4, size=0.8), (10, -4, 0, 0), (60, 4, 0, 0))


_HEADER = 36
"""Pixels from the menu of the shape up to the header above it."""


def regions(driver: WindowDriver) -> dict[str, Any]:
    """Return where the graph in the viewport is: left, bottom, right and top of the curve, in the window."""
    from bl_ext.user_default.collision_bounds.ui.overlay import over_time

    region = driver.region("WINDOW")
    with bpy.context.temp_override(window=driver.window, area=driver.area, region=region):
        place = over_time._Place.of(bpy.context)
    left, bottom, right, top = place.plot
    scale = bpy.context.preferences.system.ui_scale
    cross = [
        float(origin + part) for origin, part in zip((region.x, region.y), place.cross(scale), strict=True)
    ]
    return {"plot": (region.x + left, region.y + bottom, region.x + right, region.y + top), "cross": cross}


def export_and_key(driver: WindowDriver) -> Steps:
    """Export the separation and key it from the menu below the list, then choose the other object with F9."""
    yield from driver.scroll_sidebar(4)
    yield from driver.click_row(MOVER, WALL)
    yield from driver.choose_from_list_menu(EXPORT)
    yield from driver.confirm_file_browser(driver.folder / "separation.csv")
    yield from driver.choose_from_list_menu(KEY)
    yield from driver.note("keyed", keys=keys())
    yield from driver.move_to_redo_option(1)
    yield from driver.turn_wheel()  # the wheel steps through a menu's entries
    yield from driver.note("other-object", keys=keys())
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.wait_for_redraw()
    yield from driver.note("undone", keys=keys())


def keys() -> dict[str, list[tuple[float, float]]]:
    """Return frame and value of the keys of the custom property of both objects."""
    found = {}
    for name in (MOVER, WALL):
        data = bpy.data.objects[name].animation_data
        curves = [curve for curve in curves_of(data) if "separation" in curve.data_path]
        found[name] = [tuple(key.co) for curve in curves for key in curve.keyframe_points]
    return found


def curves_of(data: Any) -> list[Any]:
    """Return the F-curves of an object's action in any version of Blender."""
    if data is None or data.action is None:
        return []
    if hasattr(data.action, "fcurves"):
        return list(data.action.fcurves)
    bags = [bag for layer in data.action.layers for strip in layer.strips for bag in strip.channelbags]
    return [curve for bag in bags if bag.slot == data.action_slot for curve in bag.fcurves]


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, click the row, look at both graphs, click in the large one, export and key."""
    from bl_ext.user_default.collision_bounds.ui.overlay.over_time import active_curve

    add_objects()
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: len(driver.settings.rows) > 0, "contacts are found")
    yield from driver.click_row(MOVER, WALL)
    # The header of the closed subpanel is right above the menu of the shape.
    x, y = yield from driver.find_button(driver.region("UI"), "collision_bounds.shape")
    yield from driver.move_mouse(x, y + _HEADER)
    yield from driver.click()
    yield from driver.scroll_sidebar(5)
    yield 1.0
    yield from driver.note("unfolded", known=active_curve(driver.settings) is not None, job=bool(driver.scan))
    yield from driver.click_button("collision_bounds.compute_separation", across=0.12)
    yield from driver.wait_until(lambda: active_curve(driver.settings) is not None, "the separation is known")
    yield from driver.note("row")
    yield from driver.click_button("display.show_separation", across=0.4)
    shown = driver.settings.display.show_separation
    yield from driver.note("large", shown=shown, **regions(driver))
    left, bottom, right, top = regions(driver)["plot"]
    for name, part, height in (("inside", 0.6, 0.5), ("above", 0.6, 2.0)):
        x = int(left + part * (right - left))
        yield from driver.move_mouse(x, bottom + height * (top - bottom))
        yield from driver.click()
        yield from driver.note(name, part=(x - left) / (right - left))
        yield 0.7  # not a double click
    yield from driver.move_mouse(*regions(driver)["cross"])
    yield from driver.click()
    yield from driver.note("closed", shown=driver.settings.display.show_separation)
    yield from export_and_key(driver)
