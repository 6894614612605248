"""In Blender's window: run Compute Envelope with its button, stop it with Esc, and run it to its end."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

PACKAGE = "bl_ext.user_default.collision_bounds"
BUTTON = "collision_bounds.compute_envelope"


def is_running() -> bool:
    """Return whether a job is running."""
    return sys.modules[f"{PACKAGE}.ui.job_state"].running() is not None


def count_envelopes() -> int:
    """Return the number of objects with an envelope."""
    result = sys.modules[f"{PACKAGE}.scene.jobs.result_store"].get(
        bpy.context.scene.collision_bounds.result_id
    )
    return 0 if result.envelopes is None else sum(bool(entry.envelope) for entry in result.envelopes.objects)


def adjust_last_operation(driver: WindowDriver) -> Steps:
    """Open Adjust Last Operation, which has a hint, and turn the wheel where other operators have options."""
    before = driver.settings.result_id
    for row in (0, 1):
        yield from driver.move_to_redo_option(row)
        driver.xdotool("keydown", "ctrl", "click", 5, "keyup", "ctrl")
        yield from driver.wait_for_redraw()
    height = driver.region("HUD").height
    yield from driver.note(
        "adjusted", height=height, is_same=driver.settings.result_id == before, envelopes=count_envelopes()
    )


def scenario(driver: WindowDriver) -> Steps:
    """Stop a job of many frames, complete a job of the scene's frames, hide the envelopes, undo, redo."""
    scene = bpy.context.scene
    driver.settings.scope = "VISIBLE"
    bpy.data.objects["Floor"].hide_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Plate"]
    driver.settings.display.show_spheres = False
    driver.settings.display.line_width = 4.0
    yield from driver.open_tab("Collision Bounds")
    end, scene.frame_end = scene.frame_end, 100_000
    bpy.ops.ed.undo_push(message="Long")
    yield from driver.open_bounds_panel("Swept Bounds")
    yield from driver.find_button(driver.region("UI"), BUTTON)
    yield from driver.click()
    yield from driver.wait_until(lambda: scene.frame_current > 8, "the job has started")
    yield from driver.note("running")
    driver.notes["stopped"] = {"running": is_running()}
    yield from driver.move_to_viewport()
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: not is_running(), "the job has stopped")
    driver.notes["stopped"].update(
        running_after=is_running(), frame=scene.frame_current, envelopes=count_envelopes()
    )

    scene.frame_end = end
    bpy.ops.ed.undo_push(message="Short")
    yield from driver.find_button(driver.region("UI"), BUTTON)
    yield from driver.click()
    yield from driver.wait_until(lambda: count_envelopes() > 0 and not is_running(), "the job is done")
    driver.notes["done"] = {"envelopes": count_envelopes(), "frame": scene.frame_current}
    yield from driver.note("shown")
    driver.settings.display.show_envelopes = False
    yield from driver.note("hidden")
    yield from adjust_last_operation(driver)
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    driver.notes["undone"] = {"envelopes": count_envelopes()}
    yield from driver.press_keys("ctrl+shift+z")
    driver.notes["redone"] = {"envelopes": count_envelopes()}


run(scenario)
