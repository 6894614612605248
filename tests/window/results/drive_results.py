"""In Blender's window: scans stopped by Esc and by button, list rows, markers, sorting, a loaded report."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

PAIR = ("Plate", "Projectile")
NEXT, FRAME, STOP = 0.14, 0.24, 0.82
"""Horizontal positions of buttons, as fractions of the sidebar's width: several are in one row."""
MARKERS, COPY = 5, 7
"""Entries of the menu below the list."""

LATE = 400
"""Frame by which the first contacts of all pairs of the example are found.

They have touched by frame 60, and frames are solved in blocks of up to 256. The first blocks are shorter.
"""


def markers() -> list[tuple[str, int]]:
    """Return name and frame of all markers of the timeline."""
    return sorted((marker.name, marker.frame) for marker in bpy.context.scene.timeline_markers)


def active_name() -> str | None:
    """Return the name of the active object."""
    item = bpy.context.view_layer.objects.active
    return item.name if item else None


def stop_a_scan(driver: WindowDriver, name: str, stop: Steps) -> Steps:
    """Start a scan of too many frames to complete, and stop it with the steps `stop`."""
    driver.settings.use_scene_range = False
    driver.settings.frame_end = 100_000
    before = driver.settings.result_id
    yield from driver.click_button("collision_bounds.find_contacts")
    # Blender is busy now, so start the search for the button at its expected position.
    driver.expect_button("collision_bounds.stop_scan", at="collision_bounds.find_contacts")
    yield from driver.wait_for_scan(LATE)
    yield from driver.note(f"{name}, scanning")
    yield from stop
    # The status bar shows hints for the region that the mouse entered last. A scan delays that update.
    yield from driver.move_mouse(driver.region("UI").x + 20, driver.region("UI").y + 20)
    yield from driver.wait_until(lambda: driver.settings.result_id != before, "the scan stops")
    yield from driver.note(name)
    driver.write_document(name)
    driver.settings.use_scene_range = True


def scenario(driver: WindowDriver) -> Steps:
    """Stop two scans, complete one, click a row, add markers, copy, frame the pair, sort, load a report."""
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    scene = bpy.context.scene
    bpy.data.objects["Crate"].select_set(True)
    scene.frame_set(7, subframe=0.25)
    yield from driver.note("before")
    yield from stop_a_scan(driver, "by Esc", driver.press_keys("Escape"))
    yield from stop_a_scan(driver, "by button", driver.click_button("collision_bounds.stop_scan", STOP))

    yield from driver.find_contacts()
    yield from driver.note("found")
    path = driver.folder / "found.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path), preset="gltf")
    yield from driver.click_row(*PAIR)
    location = bpy.data.objects["Projectile"].matrix_world.translation
    yield from driver.note("clicked", projectile=driver.window_position(location), active=active_name())

    yield from driver.choose_from_list_menu(MARKERS)
    yield from driver.note("markers added", markers=markers())
    scene.timeline_markers.new("mine", frame=24)
    yield from driver.choose_from_list_menu(MARKERS)
    yield from driver.note("markers removed", markers=markers())

    yield from driver.choose_from_list_menu(COPY)
    driver.notes["copied"] = {"text": bpy.context.window_manager.clipboard}
    yield from driver.click_button("collision_bounds.frame_pair", FRAME)
    yield 0.6
    location = tuple(driver.area.spaces.active.region_3d.view_location)
    yield from driver.note("framed", view_location=location)

    driver.settings.contact_list.sort_by = "NAME"
    driver.settings.contact_list.reverse = True
    row_before = driver.settings.active_row
    yield from driver.click_button("collision_bounds.go_to_contact", NEXT)
    yield from driver.note("sorted", row_before=row_before, active=active_name())

    bpy.ops.collision_bounds.clear_results()
    bpy.ops.collision_bounds.load_report(filepath=str(path))
    yield from driver.note("loaded")
