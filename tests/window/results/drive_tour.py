"""In Blender's window: the guide's tour with mouse and keys, from installation to reopening the file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy
from mathutils import Vector
from reader_steps import export_document, install
from window_driver import Steps, WindowDriver

from example_scene import projectile_contact_frame

PAIR = ("Plate", "Projectile")
VIEW = ((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
MARKERS = 5
"""Entry of the menu below the list."""
DRAG_DISTANCE = 0.5
"""Distance by which a side of the override is dragged."""


def click_object(driver: WindowDriver, name: str) -> Steps:
    """Click an object in the viewport, and return the window position of its center."""
    item = bpy.data.objects[name]
    corners = [item.matrix_world @ Vector(corner) for corner in item.bound_box]
    position = driver.window_position(tuple(sum(corners, Vector()) / 8))
    yield from driver.move_mouse(*position)
    yield from driver.click()
    return position


def saved_state() -> dict[str, Any]:
    """Return the current override and the markers, which are saved in the file."""
    settings = bpy.data.objects["Crate"].collision_bounds
    return {
        "override": settings.override,
        "center": list(settings.center),
        "half_extents": list(settings.half_extents),
        "markers": sorted((marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers),
    }


def timeline_area(driver: WindowDriver) -> bpy.types.Area:
    """Return the area of the timeline."""
    return next(area for area in driver.window.screen.areas if area.type == "DOPESHEET_EDITOR")


def timeline_pixels(driver: WindowDriver) -> dict[str, Any]:
    """Return the rectangle of the timeline in the window, and the pixels of frames 0 and 100."""
    region = next(region for region in timeline_area(driver).regions if region.type == "WINDOW")
    frames = [region.x + region.view2d.view_to_region(frame, 0, clip=False)[0] for frame in (0, 100)]
    return {"rectangle": (region.x, region.y, region.width, region.height), "frames": frames}


def crop_sidebar(driver: WindowDriver, note: str, name: str, tall: int, below: int = 0) -> None:
    """Crop a picture of the sidebar, starting `below` pixels under its top."""
    region = driver.region("UI")
    box = (region.x, region.y + region.height - below - tall, region.width, tall)
    driver.crop_guide_picture(note, name, box)


def take_viewport_picture(driver: WindowDriver, name: str, across: float = 0.42) -> Steps:
    """Take a picture of the middle of the viewport."""
    yield from driver.take_smoothed_screenshot(driver.folder / f"{name}.ppm")
    region = driver.region("WINDOW")
    box = (region.x + across * region.width - 300, region.y + region.height / 2 - 200, 600, 400)
    driver.crop_guide_picture(name, name, box)


def compute_bounds(driver: WindowDriver) -> Steps:
    """Select, compute, change an option, undo, redo, undo, compute, export."""
    plate = yield from click_object(driver, "Plate")
    yield from driver.note("before")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("one object", plate=plate)
    driver.write_document("one object")
    yield from driver.choose_from_menu("collision_bounds.scope", "VISIBLE")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed")
    yield from take_viewport_picture(driver, "bounds")
    driver.write_document("computed")

    yield from driver.move_to_redo_option(2)  # padding
    yield from driver.click(times=2)
    yield from driver.press_keys("ctrl+a", "0", "period", "2", "5", "Return")
    yield from driver.note("padded")
    region = driver.region("HUD")
    driver.crop_guide_picture("padded", "options", (region.x, region.y, region.width, region.height))
    driver.write_document("padded")
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone")
    driver.write_document("undone")
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone")
    driver.write_document("redone")

    yield from driver.press_keys("ctrl+z")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("without padding")
    yield from export_document(driver, "bounds")


def set_override(driver: WindowDriver) -> Steps:
    """Create the crate's override, resize it by a handle, undo, redo."""
    crate = bpy.data.objects["Crate"]
    driver.set_view(tuple(crate.matrix_world.translation), 3.5, (1.1, 0, 0.6))
    yield from driver.wait_for_redraw()
    yield from click_object(driver, "Crate")
    yield from driver.toggle_panels(1)
    yield from driver.click_button("collision_bounds.override_from_fit")
    yield from driver.note("from fit", **saved_state())
    half = bpy.data.objects["Crate"].collision_bounds.half_extents[0]
    matrix = bpy.data.objects["Crate"].matrix_world
    sides = [matrix @ Vector((x, 0, 0)) for x in (half, half + DRAG_DISTANCE)]
    before, after = (driver.window_position(tuple(side)) for side in sides)
    yield from driver.drag(before, after)
    yield from driver.note("resized", **saved_state(), side=after)
    yield from take_viewport_picture(driver, "override", across=0.5)
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("resize undone", **saved_state(), side=after)
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("resize redone", **saved_state(), side=after)
    yield from driver.toggle_panels(1)
    yield from driver.fold_active_object()


def find_contacts(driver: WindowDriver) -> Steps:
    """Stop a scan of too many frames to complete, then scan the scene's frames."""
    driver.set_view(*VIEW)
    driver.settings.use_scene_range = False
    driver.settings.frame_end = 100_000
    yield from driver.note("before scan")
    yield from driver.click_button("collision_bounds.find_contacts")
    # All pairs have touched by frame 60, and frames are solved in blocks of up to 256.
    yield from driver.wait_for_scan(400)
    yield from driver.note("scanning")
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: len(driver.settings.rows), "the scan stops")
    yield from driver.note("stopped")
    driver.write_document("stopped")
    driver.settings.use_scene_range = True
    yield from driver.find_contacts()
    yield from driver.note("found", timeline=timeline_pixels(driver))


def use_contacts(driver: WindowDriver) -> Steps:
    """Click a row, add markers, export, hide and show the overlays."""
    yield from driver.click_row(*PAIR)
    location = bpy.data.objects["Projectile"].matrix_world.translation
    projectile = driver.window_position(location)
    yield from driver.note("contact", projectile=projectile, closed_form_frame=projectile_contact_frame())
    yield from take_viewport_picture(driver, "contact")
    crop_sidebar(driver, "contact", "list", 400, below=262)
    yield from driver.choose_from_list_menu(MARKERS)
    yield from driver.note("markers added", **saved_state())
    area = timeline_area(driver)
    driver.crop_guide_picture("markers added", "markers", (area.x, area.y, 700, area.height))
    yield from export_document(driver, "contacts")
    for name in ("hidden", "shown"):
        yield from driver.find_button(driver.region("HEADER"), "overlay.show_overlays", down=False)
        yield from driver.click()
        yield from driver.note(name, overlays=driver.area.spaces.active.overlay.show_overlays)


def scenario(driver: WindowDriver) -> Steps:
    """Follow the sections of the guide, then save and reopen the file."""
    # A copy of the example scene, because the other drive scripts start from the example scene too.
    bpy.ops.wm.save_as_mainfile(filepath=str(driver.folder / "saved.blend"))
    driver.set_view(*VIEW)
    yield from driver.press_keys("Escape")  # closes the splash screen of a Blender without preferences
    yield from driver.note("not installed", is_registered=hasattr(bpy.types.Scene, "collision_bounds"))
    yield from install(driver, Path(sys.argv[-1]))
    yield from driver.open_tab("Collision Bounds")
    area = timeline_area(driver)
    edge = area.y + area.height
    yield from driver.drag((area.x + 600, edge), (area.x + 600, edge + 40))  # room for markers
    yield from driver.note("tab open", version=bpy.app.version_string)
    crop_sidebar(driver, "tab open", "tab", 520)
    yield from compute_bounds(driver)
    yield from set_override(driver)
    yield from find_contacts(driver)
    yield from use_contacts(driver)

    driver.settings.box_axes = "world"
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+s")
    yield from driver.wait_until(lambda: not bpy.data.is_dirty, "the file is saved")
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield from driver.wait_for_redraw()
    yield from driver.note("reopened", **saved_state())
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed again")
