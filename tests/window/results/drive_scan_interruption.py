"""In Blender's window: interrupt scans by opening a file, closing the window, and disabling the extension."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

PACKAGE = "bl_ext.user_default.collision_bounds"


def is_running() -> bool:
    """Return whether a scan is running."""
    return sys.modules[f"{PACKAGE}.ui.job_state"].running() is not None


def start_scan(window: bpy.types.Window) -> None:
    """Start a scan in a window, of too many frames to complete."""
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    settings = window.scene.collision_bounds
    settings.scope, settings.use_scene_range, settings.frame_end = "VISIBLE", False, 1_000_000
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.collision_bounds.find_contacts("INVOKE_DEFAULT")


def scenario(driver: WindowDriver) -> Steps:
    """Start a scan before each interruption."""
    start_scan(driver.window)
    yield from driver.wait_until(lambda: bpy.context.scene.frame_current > 5, "the scan has started")
    driver.notes["file opened"] = {"running": is_running()}
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield 1.0
    driver.notes["file opened"].update(running_after=is_running(), frame=bpy.context.scene.frame_current)

    bpy.ops.wm.window_new()
    yield 1.0
    window = bpy.context.window_manager.windows[-1]
    bpy.context.scene.frame_set(3)
    start_scan(window)
    yield from driver.wait_until(lambda: bpy.context.scene.frame_current > 5, "the scan has started")
    driver.notes["window closed"] = {"running": is_running()}
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield 1.0
    driver.notes["window closed"].update(running_after=is_running(), frame=bpy.context.scene.frame_current)

    with bpy.context.temp_override(window=driver.window):
        bpy.ops.screen.animation_play()
    yield 0.5
    playing = driver.window.screen.is_animation_playing
    start_scan(driver.window)
    yield 1.0
    driver.notes["playing"] = {"before": playing, "after": driver.window.screen.is_animation_playing}
    try:
        start_scan(driver.window)
    except RuntimeError as error:
        driver.notes["second scan"] = {"error": str(error)}
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    yield 1.0
    driver.notes["disabled"] = {"properties": hasattr(bpy.types.Scene, "collision_bounds")}


run(scenario)
