"""In Blender's window: clicks on red and blue bounds, and on bars in the timeline."""

from __future__ import annotations

from typing import Any

import bpy
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

RED, BLUE, STATIONARY = "Red", "Blue", "Wall of a Long Name"


def add_objects() -> None:
    """Make a scene: two balls pass a wall at frames of their own, and one passes nothing."""
    empty_scene(50)
    add_box(STATIONARY, 0)
    for name, y, start in ((RED, 0.0, 10), (BLUE, 4.0, 10), ("Second", 0.3, 25)):
        move(add_box(name, -4, y), (start, -4, y, 0), (start + 20, 4, y, 0))


def locations() -> dict[str, float]:
    """Return x of each object."""
    return {item.name: item.location.x for item in bpy.context.scene.objects}


def state(driver: WindowDriver) -> dict[str, Any]:
    """Return the active row, the playhead and the selection."""
    settings, scene = driver.settings, bpy.context.scene
    row = settings.rows[settings.active_row] if settings.active_row >= 0 else None
    return {
        "row": sorted((row.a, row.b)) if row else None,
        "playhead": scene.frame_current_final,
        "chosen": sorted(item.name for item in bpy.context.view_layer.objects if item.select_get()),
    }


def move_apart(driver: WindowDriver) -> Steps:
    """Move the pair of the active row apart, and undo."""
    before = locations()
    yield from driver.choose_from_list_menu(4)
    moved = [name for name, x in locations().items() if x != before[name]]
    yield from driver.note("moved", moved=moved)
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("move undone", same=locations() == before)


def click_bars(driver: WindowDriver) -> Steps:
    """Move the mouse over a bar, click it, and click next to it."""
    area = next(area for area in driver.window.screen.areas if area.type == "DOPESHEET_EDITOR")
    edge = area.x + area.width / 3, area.y + area.height
    yield from driver.drag(edge, (edge[0], edge[1] + 150))
    region = next(region for region in area.regions if region.type == "WINDOW")
    scale = bpy.context.preferences.system.ui_scale
    frames = [region.view2d.view_to_region(frame, 0, clip=False)[0] for frame in (0, 100)]
    # Fold the panel Bounds, because the sidebar is too low for the rows below it now.
    yield from driver.scroll_sidebar(4)
    yield from driver.click_panel_headers(0)
    yield from driver.click_row("Second", STATIONARY)
    yield from driver.note("clicked row", **state(driver))
    # The deepest pair is on top. It touches around frame 20.
    middle = region.x + frames[0] + 20.5 * (frames[1] - frames[0]) / 100
    from bl_ext.user_default.collision_bounds.ui.overlay.over_time import hovered

    found = None
    for below in range(24, 44):
        yield from driver.move_mouse(middle, region.y + region.height - below * scale)
        yield from driver.wait_for_redraw()
        if hovered.bar is not None:
            found = below
            break
    driver.take_screenshot(driver.folder / "hovered.ppm")
    yield from driver.click()
    yield from driver.note("bar", found=found, **state(driver))
    yield from driver.move_mouse(middle, region.y + 8)
    yield from driver.click()
    yield from driver.note("past bars", **state(driver))


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, click bounds, click and hover bars."""
    add_objects()
    view = driver.area.spaces.active
    view.show_gizmo = view.overlay.show_floor = False
    driver.set_view((0, 1.5, 0), 16, (0, 0, 0))
    view.region_3d.view_perspective = "ORTHO"
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: len(driver.settings.rows) > 0, "contacts are found")
    bpy.context.scene.frame_set(20)
    yield from driver.wait_for_redraw()
    yield from driver.note("found", **state(driver))

    def click_edge(name: str, times: int = 1) -> Steps:
        item = bpy.data.objects[name]
        x, y, _ = item.matrix_world.translation
        corner = driver.window_position((x - 0.5, y - 0.2, 0.5))
        yield from driver.move_mouse(corner[0] + 2, corner[1])
        for _ in range(times):
            yield from driver.click()
            yield 0.7  # not a double click

    yield from click_edge(BLUE)
    yield from driver.note("blue", **state(driver))
    yield from click_edge(RED)
    yield from driver.note("red", **state(driver))
    yield from click_edge(RED)
    yield from driver.note("red again", **state(driver))
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone", **state(driver))

    yield from move_apart(driver)
    yield from click_bars(driver)
