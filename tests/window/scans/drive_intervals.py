"""In Blender's window: details of each time that a pair touches, and markers of all of them."""

from __future__ import annotations

import bpy
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

BALL, FLOOR = "Delivery Robot Left Front Bumper", "Loading Ramp Side Barrier"
PREVIOUS, NEXT = 0.755, 0.83
"""Horizontal positions of the arrows, as fractions of the sidebar's width: both are in one row."""
ALL_INTERVALS = 6
"""Key of the entry of the menu below the list."""


def build_scene() -> None:
    """Replace the example by a box that falls on another one at frames 10, 31 and 47, deeper each time."""
    empty_scene(60)
    add_box(FLOOR, 0)
    # At height 1 the boxes touch. It falls 0.2, 0.125 and 0.05 a frame.
    heights = ((0, 3), (12, 0.6), (15, 3), (35, 0.5), (37, 1.5), (60, 0.35))
    move(add_box(BALL, 0), *((frame, 0, 0, height) for frame, height in heights))
    for curve in curves(bpy.data.objects[BALL].animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    bpy.context.scene.frame_start = 0


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
    yield from driver.click_panel_headers(0)  # fold Bounds, so that all details are visible
    driver.settings.scope = "VISIBLE"
    yield from driver.find_contacts()
    driver.write_document("intervals")
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
    yield from driver.note(
        "marked", markers=markers, sidebar=(driver.region("UI").x, driver.region("UI").width)
    )
