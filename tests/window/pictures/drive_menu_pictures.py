"""In Blender's window: pictures of the presets, of menus, and of the file browsers of exports."""

from __future__ import annotations

import bpy
from picture_steps import Pictures, find, toggle_panel, with_look
from window_driver import Steps, WindowDriver


def menus(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the presets, of the menu below the list, and of the menu of objects."""
    region, scale = driver.region("UI"), bpy.context.preferences.system.ui_scale
    x, y = region.x + region.width - 70 * scale, region.y + region.height - 16 * scale
    yield from driver.move_mouse(x, y)
    yield from driver.click()
    yield from pictures.take("presets")
    yield from driver.press_keys("Escape")
    yield from driver.move_to_viewport()
    find(driver)
    yield from toggle_panel(driver, 0)
    yield from driver.click_button("collision_bounds.active_row")
    yield from driver.move_to_viewport()
    with driver.context():
        bpy.ops.wm.call_menu("INVOKE_DEFAULT", name="COLLISION_BOUNDS_MT_contact_list")
    yield from pictures.take("menu-below-list")
    yield from driver.press_keys("Escape")
    yield from driver.move_to_viewport()
    with driver.context():
        bpy.ops.wm.call_menu("INVOKE_DEFAULT", name="VIEW3D_MT_collision_bounds")
    yield from pictures.take("menu-of-objects")
    yield from driver.press_keys("Escape")


def exports(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the file browsers, with the proposed names."""
    preferences = bpy.context.preferences
    preferences.view.filebrowser_display_type = "SCREEN"  # in the window that the picture shows
    preferences.filepaths.show_hidden_files_datablocks = False
    for name in ("json", "csv", "tiles", "gltf", "unity", "unreal"):
        with driver.context():
            getattr(bpy.ops.collision_bounds, f"export_{name}")("INVOKE_DEFAULT")
        yield 0.8
        area = next(area for area in driver.window.screen.areas if area.type == "FILE_BROWSER")
        if name == "json":
            area.spaces.active.active_operator.preset = "custom"
            area.tag_redraw()
        driver.notes[f"proposed {name}"] = area.spaces.active.params.filename
        yield from pictures.take(f"export-{name}")
        with bpy.context.temp_override(window=driver.window, area=area, region=area.regions[-1]):
            bpy.ops.file.cancel()
        yield 0.5


@with_look
def scenario(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take all pictures of menus and file browsers."""
    yield from menus(driver, pictures)
    yield from exports(driver, pictures)
