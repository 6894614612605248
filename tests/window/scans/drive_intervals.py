"""In Blender's window: details of each time that a pair touches, and markers of all of them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

BALL, FLOOR = "Delivery Robot Left Front Bumper", "Loading Ramp Side Barrier"
PREVIOUS, NEXT = 0.755, 0.83
"""Horizontal positions of the arrows, as fractions of the sidebar's width: both are in one row."""
HEADER = 14
"""Pixels from the top of the sidebar to the middle of the first panel's header."""
ALL_INTERVALS = "alt+1"
"""Key of the eleventh entry of the menu below the list."""


def build_scene() -> None:
    """Replace the example by a box that falls on another one at frames 10, 31 and 47, deeper each time."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 5, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    for name in (BALL, FLOOR):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, mesh))
    # At height 1 the boxes touch. It falls 0.2, 0.125 and 0.05 a frame.
    heights = ((0, 3), (12, 0.6), (15, 3), (35, 0.5), (37, 1.5), (60, 0.35))
    for frame, height in heights:
        bpy.data.objects[BALL].location = 0, 0, height
        bpy.data.objects[BALL].keyframe_insert("location", frame=frame)
    for curve in curves(bpy.data.objects[BALL].animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 60


def curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    """Return the curves of an action, in Blender with layers too."""
    if hasattr(action, "fcurves"):
        return list(action.fcurves)
    return list(action.layers[0].strips[0].channelbags[0].fcurves)


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, click the row, go to the second and third time and back, and mark all of them."""
    build_scene()
    driver.set_view((0, 0, 1), 8, (1.1, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    # Fold Bounds, the panel at the top, so that all details are visible.
    region = driver.region("UI")
    yield from driver.move_mouse(region.x + 0.3 * region.width, region.y + region.height - HEADER)
    yield from driver.click()
    driver.settings.scope = "VISIBLE"
    before = driver.settings.result_id
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: driver.settings.result_id != before, "the scan ends")
    path = driver.folder / "intervals.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    yield from driver.note("found")
    yield from driver.click_row(BALL, FLOOR)
    yield from driver.note("first")
    for name in ("second", "third"):
        yield from driver.click_button("go_to_interval(direction='NEXT')", NEXT)
        yield from driver.note(name)
    yield from driver.click_button("go_to_interval(direction='PREVIOUS')", PREVIOUS)
    yield from driver.note("back")
    yield from driver.choose_from_list_menu(ALL_INTERVALS)
    markers = sorted(marker.frame for marker in bpy.context.scene.timeline_markers)
    yield from driver.note("marked", markers=markers, sidebar=(region.x, region.width))


run(scenario)
