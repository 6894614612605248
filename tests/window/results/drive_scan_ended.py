"""In Blender's window: what else ends a scan: another file, its window closed, the extension off."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

PACKAGE = "bl_ext.user_default.collision_bounds"


def is_running() -> bool:
    """Whether a scan is under way."""
    return sys.modules[f"{PACKAGE}.ui.job_state"].running() is not None


def start(window: bpy.types.Window) -> None:
    """Begin a scan in a window, of far more frames than there is time for."""
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    settings = window.scene.collision_bounds
    settings.scope, settings.use_scene_range, settings.frame_end = "VISIBLE", False, 1_000_000
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.collision_bounds.find_contacts("INVOKE_DEFAULT")


def story(hands: Hands) -> Steps:
    """Each while a scan runs."""
    start(hands.window)
    yield from hands.until(lambda: bpy.context.scene.frame_current > 5, "the scan is on its way")
    hands.notes["another file"] = {"running": is_running()}
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield 1.0
    hands.notes["another file"].update(after=is_running(), frame=bpy.context.scene.frame_current)

    bpy.ops.wm.window_new()
    yield 1.0
    window = bpy.context.window_manager.windows[-1]
    bpy.context.scene.frame_set(3)
    start(window)
    yield from hands.until(lambda: bpy.context.scene.frame_current > 5, "the scan is on its way")
    hands.notes["closed window"] = {"running": is_running()}
    with bpy.context.temp_override(window=window):
        bpy.ops.wm.window_close()
    yield 1.0
    hands.notes["closed window"].update(after=is_running(), frame=bpy.context.scene.frame_current)

    with bpy.context.temp_override(window=hands.window):
        bpy.ops.screen.animation_play()
    yield 0.5
    playing = hands.window.screen.is_animation_playing
    start(hands.window)
    yield 1.0
    hands.notes["playing"] = {"before": playing, "after": hands.window.screen.is_animation_playing}
    try:
        start(hands.window)
    except RuntimeError as refused:
        hands.notes["second"] = {"refused": str(refused)}
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    yield 1.0
    hands.notes["disabled"] = {"properties": hasattr(bpy.types.Scene, "collision_bounds")}


run(story)
